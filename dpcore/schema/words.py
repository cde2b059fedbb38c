"""Words of many languages for missing values, for yes and no, and for the sexes."""

import tomllib
from importlib.resources import files

_WORDS = tomllib.loads(files(__package__).joinpath("words.toml").read_text("utf-8"))
_MISSING_MARKS = frozenset[str](_WORDS["marks"])
_MISSING_WORDS = frozenset[str](_WORDS["missing"])
_UNKNOWN_WORDS = frozenset[str](_WORDS["unknown"])
YES_AND_NO: tuple[tuple[str, str], ...] = tuple(
    (yes, no) for yes, no in _WORDS["yes_and_no"]
)
WORD_ORDERS = tuple(tuple(order) for order in _WORDS["orders"])
"""Lists of words in their order."""
POSSIBLE_ANSWERS = frozenset[str](_WORDS["answers"])
"""Marks for missing that may be answers."""
SAME_ANSWERS = tuple(frozenset[str](words) for words in _WORDS["same"])
"""Groups of spellings of one answer."""
SEX_WORDS = frozenset[str](_WORDS["sexes"])


def means_missing(text: str) -> bool:
    """Return whether a text is a common mark or word for a missing value."""
    text = text.strip()
    return text in _MISSING_MARKS or text.lower() in _MISSING_WORDS


def is_word_for_unknown(text: str) -> bool:
    """Return whether a word such as "unknown" may be an answer as well as missing."""
    return text.strip().lower() in _UNKNOWN_WORDS
