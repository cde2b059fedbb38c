"""Jobs, which describe one release each as JSON, to be run next to the data."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from dpcore.accounting.loss import AnyLoss, loss_fields, loss_from_fields
from dpcore.json_text import parse_json, refuse_malformed_fields
from dpcore.schema.linked import LinkedSchema
from dpcore.schema.schema import Schema
from dpcore.synthesis import load_recipe
from dpcore.synthesis.base import Recipe
from dpcore.synthesis.discrete.recipes import TableRecipe


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
            _refuse_other_version(content)
            return cls(
                table=content["table"],
                schema=Schema.from_json(json.dumps(content["schema"])),
                budget=loss_from_fields(content["budget"]),
                recipe=_read_recipe(content["recipe"]),
                loss=loss_from_fields(content["loss"]),
                part=None
                if content["part"] is None
                else (content["part"][0], content["part"][1]),
            )


@dataclass(frozen=True, kw_only=True)
class LinkedJob:
    """One release of two linked tables.

    Attributes:
        tables: of the people and of the events, each as `Job.table`.
        budget: all that may ever be spent on both tables, fixed when they were first
            opened together.
        people_recipe, events_recipe: of each view.
        loss: what this release spends on both.
    """

    tables: tuple[str, str]
    schema: LinkedSchema
    budget: AnyLoss
    people_recipe: TableRecipe
    events_recipe: TableRecipe
    loss: AnyLoss

    def to_json(self) -> str:
        """Return the job as JSON text."""
        content = {
            "job": 1,
            "tables": list(self.tables),
            "linked": json.loads(self.schema.without_private_texts().to_json()),
            "budget": loss_fields(self.budget),
            "recipes": [self.people_recipe.to_dict(), self.events_recipe.to_dict()],
            "loss": loss_fields(self.loss),
        }
        return json.dumps(content, ensure_ascii=False, indent=1)

    @classmethod
    def from_json(cls, text: str) -> LinkedJob:
        """Read the output of `to_json`.

        Raises: ReadError, LimitError, ParameterError, SchemaError.
        """
        content = parse_json(text)
        with refuse_malformed_fields():
            _refuse_other_version(content)
            people, events = content["tables"]
            of_people, of_events = map(_read_table_recipe, content["recipes"])
            return cls(
                tables=(people, events),
                schema=LinkedSchema.from_json(json.dumps(content["linked"])),
                budget=loss_from_fields(content["budget"]),
                people_recipe=of_people,
                events_recipe=of_events,
                loss=loss_from_fields(content["loss"]),
            )


def read_job(text: str) -> Job | LinkedJob:
    """Read the job of one table, or of two linked ones.

    Raises: ReadError, LimitError, ParameterError, SchemaError.
    """
    with refuse_malformed_fields():
        is_linked = "linked" in parse_json(text)
    return LinkedJob.from_json(text) if is_linked else Job.from_json(text)


def _refuse_other_version(content: dict[str, Any]) -> None:
    if content["job"] != 1:
        raise KeyError("job")


def _read_recipe(fields: dict[str, Any]) -> Recipe:
    recipe = load_recipe(fields)
    if recipe is None:
        raise KeyError("recipe")
    return recipe


def _read_table_recipe(fields: dict[str, Any]) -> TableRecipe:
    recipe = _read_recipe(fields)
    if not isinstance(recipe, TableRecipe):
        raise KeyError("recipe")
    return recipe
