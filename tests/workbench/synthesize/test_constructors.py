"""Generated code makes the very value that it was written of."""

from __future__ import annotations

import datetime
from typing import Any

import pandas as pd
import pytest

import dpcore as dp
from dpcore.schema.schema import Schema
from dpcore.synthesis.base import Recipe
from dpcore.synthesis.discrete.constraints import (
    Constraints,
    FunctionalDependency,
    ImpossibleCombination,
)
from tests.contracts.test_recipes import RECIPES
from workbench.samples import SAMPLES
from workbench.synthesize.constructors import LINE_LENGTH, ConstructorWriter

HOSTILE = (
    '"',
    "'",
    "\"'",
    "a\nb",
    "\\",
    "\u2028",
    "\u202e",
    "{x}",
    "\ud800",
    "'''",
    "",
)


def made(value: Any) -> Any:
    """The value that the code of another makes."""
    writer = ConstructorWriter()
    code = writer.write(value, prefix="value = ")
    names: dict[str, Any] = {}
    exec("\n".join(["import dpcore as dp", *writer.imports, code]), names)
    assert code.isprintable() or "\n" in code
    return names["value"]


@pytest.mark.parametrize("recipe", RECIPES.values(), ids=RECIPES.keys())
def test_every_recipe_is_made_again(recipe: Recipe) -> None:
    """A script would make another release than the one that was clicked."""
    assert made(recipe) == recipe
    assert type(made(recipe)) is type(recipe)
    assert made(recipe).to_dict() == recipe.to_dict()


def test_recipes_with_rules_are_made_again() -> None:
    """Rules of whole rows, weights and columns would be lost in a script."""
    rules = Constraints(
        impossible=(
            ImpossibleCombination(columns=("sex", "pay"), cells=((0, 9), (1, 0))),
        ),
        determines=(FunctionalDependency(column="sex", target="pay", cells=(0, 1)),),
    )
    recipe = dp.SomeColumns(
        columns=("sex", "pay", "age"),
        recipe=dp.Adaptive(
            constraints=rules, weights={("age", "sex"): 2.0}, ordered=frozenset({"age"})
        ),
    )
    assert made(recipe) == recipe


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.key)
def test_every_suggested_schema_is_made_again(sample: Any) -> None:
    """A script would open another declaration than the page did."""
    schema = dp.suggest_schema(sample.build().head(2_000)).without_private_texts()
    again = made(schema)
    assert again == schema
    assert again.to_json() == schema.to_json()
    assert again.from_data == schema.from_data


def test_names_and_categories_are_texts_and_nothing_else() -> None:
    """A header or a cell would run as code on the computer of whoever runs the
    script.
    """
    for text in HOSTILE[:-1]:
        columns = (dp.Categorical(text, categories=("plain", f"{text}x")),)
        schema = Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
        assert made(schema) == schema, text


def test_lines_are_short_and_in_our_style() -> None:
    """A schema of 3,000 characters on one line can be read by nobody."""
    towns = tuple(f"town number {number}" for number in range(300))
    schema = Schema(
        columns=(
            dp.Integer("age", low=0, high=99, bin_width=10),
            dp.Categorical("town", categories=towns),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    code = ConstructorWriter().write(schema, prefix="schema = ")
    assert code.startswith(
        "schema = dp.Schema(\n"
        "    columns=(\n"
        '        dp.Integer("age", low=0, high=99, bin_width=10),\n'
        "        dp.Categorical(\n"
        '            "town",\n'
        "            categories=(\n"
        '                "town number 0", "town number 1",'
    )
    assert max(map(len, code.splitlines())) <= LINE_LENGTH
    assert code.endswith("    unit=dp.PrivacyUnit(max_rows=1),\n)")


def test_a_value_that_no_call_makes_is_refused() -> None:
    """Code would be written that does not run."""
    with pytest.raises(TypeError, match="date"):
        ConstructorWriter().write(datetime.date(2020, 1, 1))
    with pytest.raises(TypeError, match="DataFrame"):
        ConstructorWriter().write([pd.DataFrame()])
