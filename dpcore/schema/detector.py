"""Detect identifiers in columns: names, numbers, contact data, dates.

It looks at values and at the column's name, in several languages and scripts, for
schemas, audits and anonymization alike. A column is of a kind when most of its distinct
values are valid. Kinds with a check digit convince by themselves (python-stdnum knows
their rules; a random number passes in 1 of 10 to 1 of 97 cases). Weak shapes (a
five-digit number is not always a zip code) count only under a fitting column name.
Words for people are in `people.toml`. Many different full names are a finding under any
name.
"""

from __future__ import annotations

import importlib
import re
import tomllib
import unicodedata
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

PLACE_KINDS = ("postal code", "address or place")
"""Kinds that are about a person's place, and that many people share."""

MAX_NAME_OF_A_PERSON = 60
"""Characters of a cell up to which it may be somebody's name."""

_FOLDER = files(__package__)
_DETECTOR_WORDS = tomllib.loads(_FOLDER.joinpath("detector.toml").read_text("utf-8"))
_PEOPLE = tomllib.loads(_FOLDER.joinpath("people.toml").read_text("utf-8"))
_WORDS_NOT_OF_PEOPLE = frozenset(_PEOPLE["not_people"]["words"].split())
_NAME_PARTICLES = frozenset(_PEOPLE["not_people"]["particles"].split())
_LETTERS_WITHOUT_MARKS = str.maketrans("łøđıæœ", "lodiao")
_NAME_WORD = re.compile(r"[^\W\d_]+(['’\-][^\W\d_]+)*\.?")
_EAST_ASIAN_NAME = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]{2,8}")
_WORDS_WITHOUT_CASE = re.compile(r"[\u0590-\u0dff]+( [\u0590-\u0dff]+){1,4}")
"""Hebrew, Arabic, and the scripts of India: two to five words."""
_CHINESE_ID = re.compile(
    r"\d{6}(18|19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\d{3}[\dX]", re.ASCII
)
_CARD_NUMBER = re.compile(r"[2-6]\d{12,18}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Detection:
    """The kind of identifier found in a column.

    Attributes:
        kind: a word such as "e-mail".
        share: of the distinct values looked at, those of this kind.
    """

    kind: str
    share: float


def detect_identifier(name: str, values: Sequence[str]) -> Detection | None:
    """Return the kind of identifier in a column, or None.

    The column's name and its distinct values decide.
    """
    looked_at = [
        text.strip() for text in values[:: len(values) // MAX_DISTINCT_VALUES + 1]
    ]
    words = name_words(name)
    for kind in _KINDS:
        if len(looked_at) < kind.min_distinct or not kind.fits(words):
            continue
        if not any(map(kind.is_valid, looked_at[:10])):
            continue
        share = sum(bool(kind.is_valid(text)) for text in looked_at) / len(looked_at)
        if share >= MIN_VALID_SHARE:
            return Detection(kind=kind.name, share=share)
    return None


def is_id_column_name(name: str) -> bool:
    """Return whether a column's name suggests that it identifies people."""
    words = name_words(name)
    return re.search(rf"\b({_DETECTOR_WORDS['id_words']})\b", words) is not None or any(
        kind.fits(words)
        for kind in _KINDS
        if kind.name in ("name of a person", "personal number")
    )


def is_person_number_name(name: str) -> bool:
    """Return whether a column's name says that it numbers people."""
    words = strip_accents(name_words(name)).strip()
    return _PERSON_NUMBER_AT_END.search(words) is not None


def may_hold_lookup_values(name: str, values: Sequence[str]) -> bool:
    """Return whether a column may hold places, codes or names, of which many exist.

    A table has some of many such values. A label with a digit may be a code.
    """
    words = name_words(name)
    return (
        re.search(rf"\b({_DETECTOR_WORDS['lookup_words']})\b", words) is not None
        or is_id_column_name(name)
        or any(character.isdigit() for text in values for character in text)
        or detect_identifier(name, values) is not None
    )


def name_words(name: str) -> str:
    """Return a column's name as lower-case words.

    The same for `PatientName`, `patient_name`, `patient.name`. Vowel signs and other
    marks belong to their words.
    """
    text = unicodedata.normalize("NFKC", str(name)[:MAX_NAME_LENGTH])
    characters: list[str] = []
    for before, character in zip(" " + text, text, strict=False):
        if before.islower() and character.isupper():
            characters.append(" ")
        is_word = character.isalnum() or unicodedata.category(character)[0] == "M"
        characters.append(character if is_word else " ")
    return re.sub(r" +", " ", "".join(characters)).lower()


def strip_accents(text: str) -> str:
    """Return a text without the accents of Latin, Greek and Cyrillic letters."""
    apart = unicodedata.normalize("NFD", text)
    bare = "".join(letter for letter in apart if not "\u0300" <= letter <= "\u036f")
    return unicodedata.normalize("NFC", bare).translate(_LETTERS_WITHOUT_MARKS)


def _is_full_name(text: str, *, in_any_case: bool = True) -> bool:
    """Return whether a cell may be somebody's full name.

    That is two to four words with initials and particles, capitalized if
    `in_any_case` is false; "Smith, Mary A." too. In scripts without capitals it is a
    few characters, or two to five words.
    """
    if len(text) > MAX_NAME_OF_A_PERSON or text.count(",") > 1:
        return False
    if in_any_case and (
        _EAST_ASIAN_NAME.fullmatch(text.replace(" ", ""))
        or _WORDS_WITHOUT_CASE.fullmatch(text)
    ):
        return True
    words = [word for word in re.split(r"[\s,]+", text) if word not in _NAME_PARTICLES]
    return (
        2 <= len(words) <= 4
        and any(len(word) > 2 for word in words)
        and all(map(_NAME_WORD.fullmatch, words))
        and (in_any_case or all(word[0].isupper() for word in words))
        and not any(word.casefold() in _WORDS_NOT_OF_PEOPLE for word in words)
    )


def _is_capitalized_full_name(text: str) -> bool:
    """Return whether a cell may be a full name, whatever its column is called."""
    return _is_full_name(text, in_any_case=False)


def _is_capitalized(text: str) -> bool:
    """Return whether a cell is one or two words that are capitalized like a name."""
    words = text.split()
    return 1 <= len(words) <= 2 and all(
        _NAME_WORD.fullmatch(word) and not word[0].islower() for word in words
    )


def _check_digit_test(modules: Sequence[str]) -> Callable[[str], object]:
    """Return a test that accepts a text if one of the python-stdnum modules does."""

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
    return bool(_CHINESE_ID.fullmatch(number)) and bool(mod_11_2.is_valid(number))


def _is_payment_card(text: str) -> bool:
    """Return whether a text is a payment card number.

    13 to 19 digits of a card network, with a Luhn digit (ISO/IEC 7812).
    """
    from stdnum import luhn

    number = re.sub(r"[ -]", "", text)
    return bool(_CARD_NUMBER.fullmatch(number)) and bool(luhn.is_valid(number))


@dataclass(frozen=True)
class IdentifierKind:
    """A kind of identifier.

    Attributes:
        words: of which the column's name must hold one, if any are given.
        other_words: names with one of these are about something else.
        min_distinct: different values that a column must have at least.
    """

    name: str
    is_valid: Callable[[str], object]
    words: Callable[[str], object] | None
    other_words: Callable[[str], object]
    min_distinct: int

    def fits(self, words: str) -> bool:
        """Return whether a column whose name has these words may be of this kind."""
        if self.other_words(words):
            return False
        return self.words is None or bool(self.words(words))


def _word_test(pattern: str) -> Callable[[str], object]:
    """Return a test that looks for words in a column's name, ignoring accents."""
    compiled = re.compile(rf"(?<!\S)({strip_accents(pattern)})(?!\S)")
    return lambda words: compiled.search(strip_accents(re.sub(r"\d+", " ", words)))


def _whole_name_test(pattern: str) -> Callable[[str], object]:
    """Return a test that accepts a column's name if it matches the pattern as a
    whole.
    """
    return lambda words: re.fullmatch(pattern, re.sub(r"\d+", " ", words).strip())


def _people_pattern(section: str) -> str:
    """Return a pattern for the words, in all languages, of a section in
    `people.toml`.
    """
    return "|".join(_PEOPLE[section].values())


_PERSON_NUMBER_AT_END = re.compile(
    rf"(?<!\S)({strip_accents(_people_pattern('person_numbers'))})$"
)


def _shape_test(patterns: Sequence[str]) -> Callable[[str], object]:
    parts = [
        re.sub(r"<(\w+)>", lambda part: _DETECTOR_WORDS["parts"][part[1]], pattern)
        for pattern in patterns
    ]
    return re.compile("|".join(parts), re.IGNORECASE).fullmatch


_RULES: dict[str, Callable[[str], object]] = {
    "Chinese resident id": _is_chinese_id,
    "payment card number": _is_payment_card,
    "full name": _is_full_name,
    "capitalized full name": _is_capitalized_full_name,
    "capitalized words": _is_capitalized,
}


def _build_kind(
    name: str,
    *,
    shapes: Sequence[str] = (),
    check_digits: Sequence[str] = (),
    rule: str = "",
    words: str = "",
    people: str | None = None,
    is_mistakable: bool = False,
    min_distinct: int = 1,
) -> IdentifierKind:
    """Build an identifier kind from its entry in `detector.toml`."""
    if rule:
        valid = _RULES[rule]
    else:
        valid = _shape_test(shapes) if shapes else _check_digit_test(check_digits)
    required: Callable[[str], object] | None = None
    if people == "whole":
        required = _whole_name_test(_people_pattern(people))
    elif people or words:
        required = _word_test(_people_pattern(people) if people else words)
    others = "(?!)"
    if is_mistakable:
        is_number = people == "numbers"
        others = (
            _DETECTOR_WORDS["mistakable"] if is_number else _people_pattern("things")
        )
        if people == "":
            others = f"{others}|{_DETECTOR_WORDS['lookup_words']}"
    return IdentifierKind(Text(name), valid, required, _word_test(others), min_distinct)


_KINDS = [_build_kind(**fields) for fields in _DETECTOR_WORDS["kinds"]]
