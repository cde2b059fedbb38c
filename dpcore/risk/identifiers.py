"""Which columns look like identifiers: by the shape and check digits of their values, helped by their names.

A column is of a kind when most of its distinct values are valid. Kinds with a check digit convince by
themselves; weak shapes (a five-digit number is not always a zip code) count only under a fitting column name.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.risk.checkdigits import (
    is_chinese_id,
    is_codice_fiscale,
    is_dni,
    is_iban,
    is_nir,
    is_payment_card,
    is_personnummer,
    is_steuer_id,
)
from dpcore.schema.values import MISSING, SUPPRESSED
from dpcore.tables.classes import IntArray, leaves_of
from dpcore.text import Text

LOOKED_AT = 1_000
"""Distinct values of a column that are looked at, evenly spaced."""

MOST = 0.8
"""Share of the distinct values that must be valid for a kind to be named."""

NEARLY_ALL = 0.95
"""Share of rows with a value of their own from which a text or a whole number looks like a key."""

FEW_ROWS = 10
"""In smaller tables uniqueness says nothing."""

_PLAIN, _NAMED, _CHECKED = "", ", and its name fits", ", with valid check digits"


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A column that looks like an identifier.

    Attributes:
        kind: a word such as "e-mail"; "unique values" when nothing but uniqueness speaks.
        share: of the distinct values looked at, those of this kind; of the rows, for "unique values".
        reason: a sentence for people; it never shows a value.
    """

    column: str
    kind: str
    share: float
    reason: str


@dataclass(frozen=True)
class _Kind:
    """A kind of identifier; where `words` are given, the column's name must hold one of them."""

    name: str
    valid: Callable[[str], object]
    evidence: str = _PLAIN
    words: str = ""
    other_words: str = ""  # names with one of these are about something else


def _shape(*patterns: str) -> Callable[[str], object]:
    return re.compile("|".join(patterns), re.IGNORECASE).fullmatch


_OCTET = r"(25[0-5]|2[0-4]\d|1?\d?\d)"
_DAY, _MONTH, _YEAR = r"(0?[1-9]|[12]\d|3[01])", r"(0?[1-9]|1[0-2])", r"(\d{4}|\d\d)"
_MONTH_NAME = r"(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*"
_TIME = r"([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?"
_DIGIT_GROUPS = r"(\d{1,5}[ .\-/]?){2,6}( ?(x|ext\.?) ?\d{1,5})?"
_MISTAKABLE = (
    "country|city|state|product|brand|company|file|category|course|school|drug|event|group|class|job"
)

_KINDS = (
    _Kind("e-mail", _shape(r"[^\s@]+@[^\s@]+\.[a-z]{2,}")),
    _Kind("URL", _shape(r"(https?|ftp)://\S+", r"www\.\S+\.\S+")),
    _Kind("IP address", _shape(rf"({_OCTET}\.){{3}}{_OCTET}", r"(?=.*::|(.*:){7})[0-9a-f:]{2,39}")),
    _Kind("IBAN", is_iban, _CHECKED),
    _Kind("Italian codice fiscale", is_codice_fiscale, _CHECKED),
    _Kind("Chinese resident id", is_chinese_id, _CHECKED),
    _Kind("French NIR", is_nir, _CHECKED),
    _Kind("German Steuer-ID", is_steuer_id, _CHECKED),
    _Kind("Spanish DNI", is_dni, _CHECKED),
    _Kind("Swedish personnummer", is_personnummer, _CHECKED),
    _Kind("payment card number", is_payment_card, _CHECKED),
    _Kind(
        "UK national insurance number",
        _shape(r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]"),
    ),
    _Kind("US social security number", _shape(r"(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}")),
    _Kind(
        "date",
        _shape(
            rf"\d{{4}}[-/.]{_MONTH}[-/.]{_DAY}{_TIME}",
            rf"{_DAY}[-/.]{_MONTH}[-/.]{_YEAR}",
            rf"{_MONTH}/{_DAY}/{_YEAR}",
            rf"{_DAY}[ -]{_MONTH_NAME},?[ -]{_YEAR}",
            rf"{_MONTH_NAME} {_DAY},? \d{{4}}",
        ),
    ),
    _Kind(
        "date",
        _shape(r"(18|19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"),
        _NAMED,
        words="date|birth|birthday|dob|born|admission|discharge|death|geburtsdatum|naissance|nacimiento|nascita",
    ),
    _Kind("phone number", _shape(rf"(\+|00)[1-9]{_DIGIT_GROUPS}", r"(\(\d{3}\) ?|\d{3}[-.])\d{3}[-. ]\d{4}")),
    _Kind(
        "phone number",
        _shape(rf"(?=(\D*\d){{6,15}}\D*$)(\+|00)?(\(\d{{1,5}}\) ?)?{_DIGIT_GROUPS}"),
        _NAMED,
        words="phone|telephone|tel|mobile|cell|cellphone|fax|handy|telefon|telefono|telephone number",
    ),
    _Kind(
        "postal code",
        _shape(
            r"[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2}",  # United Kingdom
            r"[a-z]\d[a-z][ -]?\d[a-z]\d",  # Canada
            r"\d{3,6}(-\d{3,4})?|\d{3} \d\d|\d{4} ?[a-z]{2}",  # also numbers that lost their leading zeros
        ),
        _NAMED,
        words="zip|zipcode|zip code|postal|postal code|post code|postcode|plz|postleitzahl|pin code",
    ),
    _Kind(
        "name of a person",
        _shape(r"[^\W\d_][^\d_@/:;]{0,60}"),
        _NAMED,
        words="names?|surname|firstname|lastname|fullname|vorname|nachname|prenom|nom|nombre|apellidos?|nome|cognome",
        other_words=_MISTAKABLE,
    ),
    _Kind(
        "address or place",
        _shape(r".*[^\W\d_].*"),
        _NAMED,
        words="address|street|city|town|village|county|adresse|strasse|straße|rue|calle|indirizzo|ort|ville",
    ),
    _Kind(
        "personal number",
        _shape(r"(?=.*\d)[\w\-./ ]{1,40}"),
        _NAMED,
        words="id|uuid|ssn|social security|passport|licen[cs]e|account|mrn|medical record|(tax|nhs) number",
        other_words=_MISTAKABLE,
    ),
)


def find_identifiers(frame: pd.DataFrame) -> list[Finding]:
    """The columns that look like identifiers, in the order of the table.

    Raises: SchemaError for a table without rows.
    """
    found = (_look(frame, name) for name in frame.columns)
    return [finding for finding in found if finding is not None]


def _look(frame: pd.DataFrame, name: str) -> Finding | None:
    leaves = leaves_of(frame, name)
    values = [text for text in leaves.labels if text not in (MISSING, SUPPRESSED)]
    looked_at = [text.strip() for text in values[:: len(values) // LOOKED_AT + 1]]
    words = _words(name)
    for kind in _KINDS:
        if not looked_at or not _fits(kind, words):
            continue
        share = sum(bool(kind.valid(text)) for text in looked_at) / len(looked_at)
        if share >= MOST:
            reason = Text(
                "{share:.0%} of its distinct values have the shape of this kind{evidence}.",
                share=share,
                evidence=kind.evidence,
            )
            return Finding(column=name, kind=kind.name, share=share, reason=reason)
    return _unique(frame, name, np.bincount(leaves.codes))


def _unique(frame: pd.DataFrame, name: str, counts: IntArray) -> Finding | None:
    """Texts and whole numbers of which nearly every row has its own; fractions are so without being keys."""
    share = float((counts == 1).sum() / len(frame))
    if share < NEARLY_ALL or len(frame) < FEW_ROWS or pd.api.types.is_float_dtype(frame[name]):
        return None
    reason = Text("{share:.0%} of the rows have a value of their own.", share=share)
    return Finding(column=name, kind="unique values", share=share, reason=reason)


def _words(name: str) -> str:
    """A column's name as lower-case words: `PatientName`, `patient_name` and `patient.name` read alike."""
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", str(name))
    return re.sub(r"[\W_]+", " ", apart).lower()


def _fits(kind: _Kind, words: str) -> bool:
    if kind.other_words and re.search(rf"\b({kind.other_words})\b", words):
        return False
    return not kind.words or re.search(rf"\b({kind.words})\b", words) is not None
