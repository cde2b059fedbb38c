"""Detection of identifiers in columns: names, numbers, contact data, dates.

It looks at values and at the column's name, in several languages and scripts, for
schemas, audits and anonymization alike. A column is of a kind when most of its distinct
values are valid. Kinds with a check digit convince by themselves (python-stdnum knows
their rules; a random number passes in 1 of 10 to 1 of 97 cases). Weak shapes (a
five-digit number is not always a zip code) count only under a fitting column name.
"""

from __future__ import annotations

import importlib
import re
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.resources import files

from dpcore.text import Text

MAX_DISTINCT_VALUES = 1_000
"""Distinct values of a column that are looked at, evenly spaced."""

MIN_VALID_SHARE = 0.8
"""Share of the distinct values that must be valid for a kind to be named."""

MAX_NAME_LENGTH = 200
"""Characters of a column's name that are looked at."""

PLACES = ("postal code", "address or place")
"""Kinds that are about a person's place, and that many people share."""

_DATA = tomllib.loads(files(__package__).joinpath("detector.toml").read_text("utf-8"))
_CHINESE = re.compile(
    r"\d{6}(18|19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\d{3}[\dX]", re.ASCII
)
_CARD = re.compile(r"[2-6]\d{12,18}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Detection:
    """The kind of identifier found in a column.

    Attributes:
        kind: a word such as "e-mail".
        share: of the distinct values looked at, those of this kind.
    """

    kind: str
    share: float


def detect(name: str, values: Sequence[str]) -> Detection | None:
    """Return the kind of identifier in a column, or None.

    The column's name and its distinct values decide.
    """
    looked_at = [
        text.strip() for text in values[:: len(values) // MAX_DISTINCT_VALUES + 1]
    ]
    words = name_words(name)
    for kind in _KINDS:
        if not looked_at or not _fits(kind, words):
            continue
        if not any(map(kind.valid, looked_at[:10])):
            continue
        share = sum(bool(kind.valid(text)) for text in looked_at) / len(looked_at)
        if share >= MIN_VALID_SHARE:
            return Detection(kind=kind.name, share=share)
    return None


def may_be_id(name: str) -> bool:
    """Return whether a column's name may stand for people or their numbers."""
    words = name_words(name)
    return re.search(rf"\b({_DATA['id_words']})\b", words) is not None or any(
        _fits(kind, words)
        for kind in _KINDS
        if kind.name in ("name of a person", "personal number")
    )


def may_be_lookup(name: str, values: Sequence[str]) -> bool:
    """Return whether a column may hold places, codes or names.

    A table has some of many such values. A label with a digit may be a code.
    """
    words = name_words(name)
    return (
        re.search(rf"\b({_DATA['lookup_words']})\b", words) is not None
        or may_be_id(name)
        or any(character.isdigit() for text in values for character in text)
        or detect(name, values) is not None
    )


def name_words(name: str) -> str:
    """Return a column's name as lower-case words.

    The same for `PatientName`, `patient_name`, `patient.name`.
    """
    apart = re.sub(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])", " ", str(name)[:MAX_NAME_LENGTH])
    return re.sub(r"[\W_]+", " ", apart).lower()


def _fits(kind: IdentifierKind, words: str) -> bool:
    if kind.other_words and re.search(rf"\b({kind.other_words})\b", words):
        return False
    return not kind.words or re.search(rf"\b({kind.words})\b", words) is not None


def _has_check_digit(modules: Sequence[str]) -> Callable[[str], object]:
    """Return a validity check by these modules of python-stdnum."""

    def valid(text: str) -> bool:
        checks = (importlib.import_module(f"stdnum.{module}") for module in modules)
        return text.isascii() and any(module.is_valid(text) for module in checks)

    return valid


def _is_chinese_id(text: str) -> bool:
    """Return whether a text is a Chinese identity number.

    Region, birth date, sequence, and a digit or X by ISO 7064 mod 11-2. Regions that
    were renamed still begin the numbers of their people, so no list of regions is used.
    """
    from stdnum.iso7064 import mod_11_2

    number = re.sub(r"[ -]", "", text).upper()
    return bool(_CHINESE.fullmatch(number)) and bool(mod_11_2.is_valid(number))


def _is_payment_card(text: str) -> bool:
    """Return whether a text is a payment card number.

    13 to 19 digits of a card network, with a Luhn digit (ISO/IEC 7812).
    """
    from stdnum import luhn

    number = re.sub(r"[ -]", "", text)
    return bool(_CARD.fullmatch(number)) and bool(luhn.is_valid(number))


@dataclass(frozen=True)
class IdentifierKind:
    """A kind of identifier.

    If `words` are given, the column's name must hold one of them.
    """

    name: str
    valid: Callable[[str], object]
    words: str
    other_words: str  # names with one of these are about something else


def _shape(patterns: Sequence[str]) -> Callable[[str], object]:
    parts = [
        re.sub(r"<(\w+)>", lambda part: _DATA["parts"][part[1]], pattern)
        for pattern in patterns
    ]
    return re.compile("|".join(parts), re.IGNORECASE).fullmatch


_RULES = {
    "Chinese resident id": _is_chinese_id,
    "payment card number": _is_payment_card,
}


def _kind(
    name: str,
    *,
    shapes: Sequence[str] = (),
    check_digits: Sequence[str] = (),
    words: str = "",
    is_mistakable: bool = False,
) -> IdentifierKind:
    """Return a kind listed in `detector.toml`."""
    valid = (
        _shape(shapes) if shapes else _RULES.get(name) or _has_check_digit(check_digits)
    )
    return IdentifierKind(
        Text(name), valid, words, _DATA["mistakable"] if is_mistakable else ""
    )


_KINDS = [_kind(**fields) for fields in _DATA["kinds"]]
