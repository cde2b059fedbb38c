"""Origins of declared facts, and the public rules that declare some of them.

A rule is the same for every table, so that no row can change what it says. Its name
carries a version: a declaration means the same values tomorrow as today.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dpcore.errors import ParameterError
from dpcore.schema.words import means_missing as means_missing


class Origin(StrEnum):
    """Where a declared fact is known from."""

    RULE = "public rule"
    TOLD = "told by the owner"
    DATA = "from the data"
    FOUND = "found privately"


MISSING_WORDS_RULE = "words for missing 1"
"""Texts of the public list (`words.toml`) are missing values, whichever of them
occur.
"""
SPELLINGS_RULE = "spellings 1"
"""Texts that differ in case, blanks or Unicode form alone are one value."""
CENSORED_RULE = "limits of detection 1"
"""`<x` counts as x / 2 and `>x` as x, for every number x."""
ONLY_NUMBERS_RULE = "only numbers 1"
"""What is no number is missing, in a list of numbers."""
AGES_RULE = "ages 1"
"""Ages go from 0 to 119 in steps of one year.

An owner may say 99 instead; then that bound is told.
"""
HIGHEST_AGE = 119
"""Years, of the rule for ages."""

FACTS_BY_RULE = {
    MISSING_WORDS_RULE: ("missing", "unreadable_is_missing"),
    SPELLINGS_RULE: ("spellings",),
    CENSORED_RULE: (),
    ONLY_NUMBERS_RULE: (),
    AGES_RULE: ("low", "high", "bin_width"),
}
"""The facts that each rule declares.

Those of `WORDS` hold while a column has a cell for missing values.
"""

CELL_FACTS = ("low", "high", "bin_width", "cuts", "special")
"""Facts of a column of numbers that can be found privately."""
VALUE_FACTS = (
    "kind",
    "categories",
    "ordered",
    "true_label",
    "false_label",
    "step",
    "decimals",
    "written",
    "start",
    "unit",
    *CELL_FACTS,
)
"""Facts that say which values a column has, and are told together."""
MISSING_FACTS = ("missing", "missing_tokens", "unreadable_is_missing")
"""Facts about values that are missing."""
READING_MARK = "reading"
"""The mark of single columns in files of before; `Schema.reading_from_data` is for all."""
TEXT_FACTS = ("missing_tokens", "synonyms")
"""Facts whose texts stay in the account: no release, link or shared file holds them."""

NUMBER_LIMIT = 1e300
"""Numbers from which on nothing is counted as a number."""
_CENSORED_NUMBER = re.compile(r"([<>≤≥]=?) ?(-?[0-9]+(?:[.,][0-9]+)?)")


@dataclass(frozen=True, kw_only=True)
class CellSearch:
    """A private search that found cells, and its cost.

    Attributes:
        measure: of its loss: epsilon or rho.
        amount: of its loss, an exact number such as "1/20".
        id: a digest of its request; empty in earlier files, which do not name it.
        columns: all columns that it covered, as their kinds decided; empty in earlier
            files.
    """

    measure: str
    amount: str
    id: str = ""
    columns: tuple[str, ...] = ()

    @property
    def loss(self) -> dict[str, str]:
        """The loss of the search, as plain data."""
        return {self.measure: self.amount}

    @property
    def without_id(self) -> CellSearch:
        """The search reduced to its loss, as earlier files and request ids have it."""
        return CellSearch(measure=self.measure, amount=self.amount)

    def to_json(self) -> str | dict[str, str | list[str]]:
        """Return plain data, or the text of earlier files if there is no id."""
        if not self.id:
            return f"{self.measure} {self.amount}"
        fields: dict[str, str | list[str]] = {**self.loss, "search": self.id}
        if self.columns:
            fields["columns"] = list(self.columns)
        return fields

    @classmethod
    def from_json(cls, written: Any, column: str) -> CellSearch:
        """Read the output of `to_json`, or an earlier text "epsilon 1/20 #id".

        Raises: ParameterError with the column's name.
        """
        text = written
        columns: list[str] = []
        if isinstance(written, Mapping):
            losses = [
                f"{name} {written[name]}"
                for name in written
                if name not in ("search", "columns")
            ]
            text = f"{' '.join(losses)} #{written.get('search')}"
            columns = written.get("columns", [])
        match = _CELL_SEARCH_TEXT.fullmatch(text) if isinstance(text, str) else None
        if (
            match is None
            or (columns and column not in columns)
            or not all(isinstance(name, str) for name in columns)
        ):
            raise cell_search_error(column, written)
        return cls(**match.groupdict(default=""), columns=tuple(columns))


_CELL_SEARCH_TEXT = re.compile(
    r"(?P<measure>epsilon|rho) (?P<amount>[1-9]\d{0,29}(/[1-9]\d{0,29})?)"
    r"( #(?P<id>[0-9a-f]{16}))?"
)


def cell_search_error(column: str, written: Any) -> ParameterError:
    """Return the error for a file whose private cell search is not valid."""
    return ParameterError(
        (
            "column {name!r} states that its cells were found privately, but the "
            "statement is not valid: {found!r}"
        ),
        remedy="find the cells again, or mark them as taken from the data",
        name=column,
        found=written,
    )


def censored_number(text: str) -> float | None:
    """Return the number that a text such as `<0.5` counts as; None for other texts.

    >>> censored_number("<0.5"), censored_number("> 40"), censored_number("0.5")
    (0.25, 40.0, None)
    """
    match = _CENSORED_NUMBER.fullmatch(text)
    if match is None:
        return None
    return float(match[2].replace(",", ".")) / (2 if match[1][0] in "<≤" else 1)


def fold_text(text: str) -> str:
    """Return a text without differences in case, blanks and Unicode form.

    >>> fold_text("  sURGERY ") == fold_text("Surgery")
    True
    """
    folded = unicodedata.normalize(
        "NFKC", unicodedata.normalize("NFKC", text).casefold()
    )
    return " ".join(folded.casefold().split())


def label_of_folded(folded: str) -> str:
    """Return the label to show for a folded text, independent of the spellings in use.

    >>> label_of_folded("surgery"), label_of_folded("a1")
    ('Surgery', 'A1')
    """
    raised = folded[:1].upper() + folded[1:]
    # the Turkish dotless i would become another letter
    return raised if fold_text(raised) == folded else folded
