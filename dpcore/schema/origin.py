"""Where each fact of a declaration comes from, and the public rules that declare some
of them.

A rule is the same for every table, so that no row can change what it says. Its name
carries a version: a declaration means the same values tomorrow as today.
"""

import re
import unicodedata
from enum import StrEnum

from dpcore.schema.words import means_missing as means_missing


class Origin(StrEnum):
    """Where a fact is from."""

    RULE = "public rule"
    TOLD = "told by the owner"
    DATA = "from the data"
    FOUND = "found privately"


WORDS = "words for missing 1"
"""Texts of the public list (`words.toml`) are missing values, whichever of them
occur.
"""
SPELLINGS = "spellings 1"
"""Texts that differ in case, blanks or Unicode form alone are one value."""
CENSORED = "limits of detection 1"
"""`<x` counts as x / 2 and `>x` as x, for every number x."""
ONLY_NUMBERS = "only numbers 1"
"""What is no number is missing, in a list of numbers."""
AGES = "ages 1"
"""Ages go from 0 to 119, or to 99 where the owner prefers that, in steps of one
year.
"""

DECLARES = {
    WORDS: ("missing", "unreadable_is_missing"),
    SPELLINGS: ("spellings",),
    CENSORED: (),
    ONLY_NUMBERS: (),
    AGES: ("low", "high", "bin_width"),
}
"""The facts that each rule declares.

Those of `WORDS` hold while a column has a cell for missing values.
"""

CELLS = ("low", "high", "bin_width", "cuts", "special")
"""Facts of a column of numbers that can be found privately."""
VALUES = (
    "kind",
    "categories",
    "ordered",
    "true_label",
    "false_label",
    "step",
    *CELLS,
)
"""Facts that say which values a column has, and are told together."""
MISSING_FACTS = ("missing", "missing_tokens", "unreadable_is_missing")
"""Facts about values that are missing."""
TEXTS = ("missing_tokens", "synonyms")
"""Facts whose texts stay in the account: no release, link or shared file holds them."""

LARGEST = 1e300
"""Numbers from which on nothing is counted as a number."""
_CENSORED = re.compile(r"([<>≤≥]=?) ?(-?[0-9]+(?:[.,][0-9]+)?)")


def loss_of_search_in(found: str) -> str:
    """Return the loss in a text of `Column.found`, without the search that cost it."""
    return found.partition(" #")[0]


def censored_number(text: str) -> float | None:
    """Return what a text such as `<0.5` counts as; None for any other text.

    >>> censored_number("<0.5"), censored_number("> 40"), censored_number("0.5")
    (0.25, 40.0, None)
    """
    match = _CENSORED.fullmatch(text)
    if match is None:
        return None
    return float(match[2].replace(",", ".")) / (2 if match[1][0] in "<≤" else 1)


def fold(text: str) -> str:
    """Return the one spelling of all texts that differ in case, blanks or Unicode form
    alone.

    >>> fold("  sURGERY ") == fold("Surgery")
    True
    """
    folded = unicodedata.normalize(
        "NFKC", unicodedata.normalize("NFKC", text).casefold()
    )
    return " ".join(folded.casefold().split())


def label_of(folded: str) -> str:
    """Return what is printed for a folded text, whichever of its spellings occur.

    >>> label_of("surgery"), label_of("a1")
    ('Surgery', 'A1')
    """
    raised = folded[:1].upper() + folded[1:]
    # the Turkish letter without a dot would be another one
    return raised if fold(raised) == folded else folded
