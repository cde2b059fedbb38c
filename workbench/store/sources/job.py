"""Jobs, which describe one release each as JSON, to be run next to the data."""

from __future__ import annotations

import json
from dataclasses import dataclass

from dpcore.accounting.loss import AnyLoss, loss_fields, loss_from_fields
from dpcore.json_text import parse_json, refuse_malformed_fields
from dpcore.schema.schema import Schema
from dpcore.synthesis import load_recipe
from dpcore.synthesis.base import Recipe


@dataclass(frozen=True, kw_only=True)
class Job:
    """One release of one table.

    Attributes:
        table: the name of a connected source, or the path of a file.
        budget: all that may ever be spent on the table, fixed when it was first opened.
        loss: what this release spends.
        part: the one part that is read; None for the whole table.
    """

    table: str
    schema: Schema
    budget: AnyLoss
    recipe: Recipe
    loss: AnyLoss
    part: tuple[str, str] | None = None

    def to_json(self) -> str:
        """Return the job as JSON text."""
        content = {
            "job": 1,
            "table": self.table,
            "schema": json.loads(self.schema.without_private_texts().to_json()),
            "budget": loss_fields(self.budget),
            "recipe": self.recipe.to_dict(),
            "loss": loss_fields(self.loss),
            "part": self.part,
        }
        return json.dumps(content, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Job:
        """Read the output of `to_json`.

        Raises: ReadError, LimitError, ParameterError, SchemaError.
        """
        content = parse_json(text)
        with refuse_malformed_fields():
            recipe = load_recipe(content["recipe"])
            if content["job"] != 1 or recipe is None:
                raise KeyError("job")
            return cls(
                table=content["table"],
                schema=Schema.from_json(json.dumps(content["schema"])),
                budget=loss_from_fields(content["budget"]),
                recipe=recipe,
                loss=loss_from_fields(content["loss"]),
                part=None
                if content["part"] is None
                else (content["part"][0], content["part"][1]),
            )
