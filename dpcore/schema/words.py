"""Words of many languages for missing values, for yes and no, and for the sexes."""

import tomllib
from importlib.resources import files

_WORDS = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
_MARKS = frozenset[str](_WORDS["marks"])
_MISSING = frozenset[str](_WORDS["missing"])
_UNKNOWN = frozenset[str](_WORDS["unknown"])
YES_AND_NO: tuple[tuple[str, str], ...] = tuple(
    (yes, no) for yes, no in _WORDS["yes_and_no"]
)
ORDERS = tuple(tuple(order) for order in _WORDS["orders"])
"""Lists of words in their order."""
ANSWERS = frozenset[str](_WORDS["answers"])
"""Marks for missing that may be answers."""
SAME = tuple(frozenset[str](words) for words in _WORDS["same"])
"""Groups of spellings of one answer."""
SEXES = frozenset[str](_WORDS["sexes"])


def means_missing(text: str) -> bool:
    """Return whether a text is a common mark or word for a missing value."""
    text = text.strip()
    return text in _MARKS or text.lower() in _MISSING


def says_unknown(text: str) -> bool:
    """Return whether a word such as "unknown" may be an answer as well as missing."""
    return text.strip().lower() in _UNKNOWN
