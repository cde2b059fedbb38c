"""What is taken from the table, as questions to its owner: plainly public, round bounds, or one by one."""

from __future__ import annotations

import dataclasses
import unicodedata
from collections.abc import Iterable
from typing import Literal

import pandas as pd

from dpcore.schema import Boolean, Categorical, Column, IntervalColumn, Schema
from dpcore.schema.values import as_text, texts_of
from dpcore.schema.words import SEXES
from workbench.session.draft import Draft
from workbench.ui.columns import rounded

FEW = 10
"""People; a label that fewer hold may be about one that others know."""
_BOUNDS = {"low", "high", "bin_width", "cuts", "step", "special"}


@dataclasses.dataclass(frozen=True, kw_only=True)
class Question:
    """What the owner of a table is asked next.

    Attributes:
        kind: "public" of what is the same for every such table, "round" of round bounds in place of the
            table's own, "one" of one column by itself.
        columns: about which.
        more: how many columns are asked about after these.
    """

    kind: Literal["public", "round", "one"]
    columns: tuple[Column, ...]
    more: int = 0


def next_question(draft: Draft, schema: Schema) -> Question | None:
    """The first question that is open; None where all is known from outside or was left as it is."""
    unsaid = [column for column in schema.columns if column.from_data and column.name not in draft.left]
    public = tuple(column for column in unsaid if is_public(column, rare(draft, schema, column)))
    if public:
        return Question(kind="public", columns=public, more=len(unsaid) - len(public))
    wide = tuple(column for column in unsaid if rounded(column) is not None)
    if wide and not draft.singly:
        return Question(kind="round", columns=wide, more=len(unsaid) - len(wide))
    return Question(kind="one", columns=(unsaid[0],), more=len(unsaid) - 1) if unsaid else None


def is_public(column: Column, rare_labels: tuple[str, ...]) -> bool:
    """Whether what is declared is nothing that this table alone has.

    So are yes and no, sexes, bounds that were not read from it, and lists of labels that ten people share.
    """
    if isinstance(column, Categorical):
        return not rare_labels or all(label.lower() in SEXES for label in texts_of(column.categories))
    return isinstance(column, Boolean) or not _BOUNDS.intersection(column.from_data)


def rare(draft: Draft, schema: Schema, column: Column) -> tuple[str, ...]:
    """Listed labels that fewer than ten people hold; found once per declaration. Private."""
    if not isinstance(column, Categorical):
        return ()
    key = (column, schema.unit.id_column)
    if key not in draft.rare:
        any_value = dataclasses.replace(column, other=True, missing=True)
        rows = pd.DataFrame({"code": any_value.encode(draft.frame[column.name])})
        if schema.unit.id_column is not None:
            who = draft.frame[schema.unit.id_column].to_numpy()
            rows = rows.assign(who=who).drop_duplicates()
        held = rows["code"].value_counts()
        labels = enumerate(texts_of(column.categories))
        draft.rare[key] = tuple(label for code, label in labels if held.get(code, 0) < FEW)
    return draft.rare[key]


def twins(columns: Iterable[Column]) -> dict[str, Categorical]:
    """Columns with labels that differ in case, blanks or Unicode form alone, by name, with those joined."""
    joined = {}
    for column in columns:
        if not isinstance(column, Categorical):
            continue
        alike: dict[str, list[str]] = {}
        for label in map(str, column.categories):
            alike.setdefault(" ".join(unicodedata.normalize("NFKC", label).casefold().split()), []).append(
                label
            )
        kept = [
            min(labels, key=lambda label: (label.isupper() or label.islower(), label))
            for labels in alike.values()
        ]
        pairs = [
            (label, one)
            for one, labels in zip(kept, alike.values(), strict=True)
            for label in labels
            if label != one
        ]
        if pairs:
            categories = tuple(label for label in column.categories if str(label) in kept)
            synonyms = (*column.synonyms, *pairs)
            joined[column.name] = dataclasses.replace(column, categories=categories, synonyms=synonyms)
    return joined


def without(column: Categorical, labels: tuple[str, ...]) -> Categorical:
    """The column with these labels counted as other."""
    kept = zip(column.categories, texts_of(column.categories), strict=True)
    return dataclasses.replace(
        column, categories=tuple(each for each, text in kept if text not in labels), other=True
    )


def unread(draft: Draft, column: Column) -> tuple[str, ...]:
    """Texts of cells that are no number or day, and count as missing; found once per declaration. Private."""
    if not isinstance(column, IntervalColumn) or not column.unreadable_is_missing:
        return ()
    key = (column, None)
    if key not in draft.rare:
        values = draft.frame[column.name]
        texts = as_text(values)[column.encode(values) == column.values_size].dropna()
        draft.rare[key] = tuple(texts[~texts.isin(texts_of(column.missing_tokens))])
    return draft.rare[key]
