"""Suggested public facts about rows, for a person to confirm.

They follow from names of columns and their declared categories, never from rows. So
they cost nothing and reveal nothing about the table.
"""

import re
from dataclasses import dataclass

import numpy as np

from dpcore.schema.column import Column
from dpcore.schema.interval import IntervalColumn
from dpcore.schema.schema import Schema
from dpcore.synthesis.discrete.constraints import (
    FunctionalDependency,
    ImpossibleCombination,
)
from dpcore.text import Text

_EDUCATION_LEVELS = (
    "preschool",
    "1st 4th",
    "5th 6th",
    "7th 8th",
    "9th",
    "10th",
    "11th",
    "12th",
    "hs grad",
    "some college",
    "assoc voc",
    "assoc acdm",
    "bachelors",
    "masters",
    "prof school",
    "doctorate",
)
"""The census codebook's education levels, numbered from 1."""
_SPOUSES = {"husband": ("female", "f", "woman"), "wife": ("male", "m", "man")}
_ADULT_AGE = 15


@dataclass(frozen=True, kw_only=True)
class SuggestedFact:
    """A proposed fact with its reason."""

    fact: ImpossibleCombination | FunctionalDependency
    reason: str


def suggest_facts(schema: Schema) -> tuple[SuggestedFact, ...]:
    """Propose facts from the names and categories of columns."""
    facts = []
    named = {column.name: _normalize(column.name) for column in schema.columns}
    for column in schema.columns:
        for other in schema.columns:
            if named[other.name] in (
                f"{named[column.name]} num",
                f"{named[column.name]}al num",
            ):
                facts += _suggest_education_number(column, other)
            if named[column.name] == "relationship" and named[other.name] in (
                "sex",
                "gender",
            ):
                facts += _suggest_spouse_sexes(column, other)
            if re.search(r"\bage\b", named[column.name]) and named[
                other.name
            ].startswith("marital"):
                facts += _suggest_unmarried_children(column, other)
    return tuple(facts)


def _suggest_education_number(column: Column, target: Column) -> list[SuggestedFact]:
    """Suggest that the education level determines its number."""
    labels = [_normalize(label) for label in _value_labels(column)]
    numbers = _value_labels(target)
    if not labels or not all(
        label in _EDUCATION_LEVELS
        and str(_EDUCATION_LEVELS.index(label) + 1) in numbers
        for label in labels
    ):
        return []
    cells = [numbers.index(str(_EDUCATION_LEVELS.index(label) + 1)) for label in labels]
    if column.missing and not target.missing:
        return []
    cells += [target.size - 1] * (column.size - len(labels))
    fact = FunctionalDependency(
        column=column.name, target=target.name, cells=tuple(cells)
    )
    return [
        SuggestedFact(
            fact=fact, reason=Text("because of what these words mean in this codebook")
        )
    ]


def _suggest_spouse_sexes(relationship: Column, sex: Column) -> list[SuggestedFact]:
    facts = []
    for spouse, others in _SPOUSES.items():
        first = _cells_with_words(relationship, (spouse,))
        second = _cells_with_words(sex, others)
        if first and second:
            fact = ImpossibleCombination(
                columns=(relationship.name, sex.name), cells=(first, second)
            )
            facts.append(
                SuggestedFact(
                    fact=fact,
                    reason=Text("because of what these words mean in this codebook"),
                )
            )
    return facts


def _suggest_unmarried_children(age: Column, marital: Column) -> list[SuggestedFact]:
    if not isinstance(age, IntervalColumn):
        return []
    young = tuple(np.flatnonzero(age.ends <= _ADULT_AGE).tolist())
    labels = _value_labels(marital)
    once = tuple(
        place
        for place, label in enumerate(labels)
        if re.match("married|divorced|widowed|separated", _normalize(label))
    )
    if not young or not once:
        return []
    fact = ImpossibleCombination(columns=(age.name, marital.name), cells=(young, once))
    return [
        SuggestedFact(
            fact=fact, reason=Text("nobody marries under {age}", age=_ADULT_AGE)
        )
    ]


def _cells_with_words(column: Column, words: tuple[str, ...]) -> tuple[int, ...]:
    return tuple(
        place
        for place, label in enumerate(_value_labels(column))
        if _normalize(label) in words
    )


def _value_labels(column: Column) -> list[str]:
    """Return the labels of all cells except that of missing values."""
    return list(column.labels[: column.values_size])


def _normalize(text: str) -> str:
    return re.sub(r"[\W_]+", " ", text).strip().lower()
