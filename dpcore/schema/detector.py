"""Identifiers in columns: names, numbers, contact data and dates, by values and by the column's name.

The one place that tells them, for schemas, audits and anonymization alike, in several languages and scripts.
A column is of a kind when most of its distinct values are valid. Kinds with a check digit convince by
themselves (python-stdnum knows their rules; a random number passes in 1 of 10 to 1 of 97 cases). Weak shapes
(a five-digit number is not always a zip code) count only under a fitting column name.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

LOOKED_AT = 1_000
"""Distinct values of a column that are looked at, evenly spaced."""

MOST = 0.8
"""Share of the distinct values that must be valid for a kind to be named."""

LONGEST_NAME = 200
"""Characters of a column's name that are looked at."""

PLACES = ("postal code", "address or place")
"""Kinds that are about a person's place, and that many people share."""

_PLAIN, _NAMED, _CHECKED = "", ", and its name fits", ", with valid check digits"
_CHINESE = re.compile(r"\d{6}(18|19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])\d{3}[\dX]", re.ASCII)
_CARD = re.compile(r"[2-6]\d{12,18}", re.ASCII)


@dataclass(frozen=True, kw_only=True)
class Detection:
    """A kind of identifier that a column holds.

    Attributes:
        kind: a word such as "e-mail".
        share: of the distinct values looked at, those of this kind.
        evidence: what else speaks for it, as the end of a sentence; may be empty.
    """

    kind: str
    share: float
    evidence: str


def detect(name: str, values: Sequence[str]) -> Detection | None:
    """Detect the kind of a column from its name and its distinct values, None where it has none."""
    looked_at = [text.strip() for text in values[:: len(values) // LOOKED_AT + 1]]
    words = name_words(name)
    for kind in _KINDS:
        if not looked_at or not _fits(kind, words):
            continue
        if not any(map(kind.valid, looked_at[:10])):
            continue
        share = sum(bool(kind.valid(text)) for text in looked_at) / len(looked_at)
        if share >= MOST:
            return Detection(kind=kind.name, share=share, evidence=kind.evidence)
    return None


def may_be_id(name: str) -> bool:
    """Return whether the name of a column says that it may name people, or number them."""
    words = name_words(name)
    return re.search(rf"\b({_ID_WORDS})\b", words) is not None or any(
        _fits(kind, words) for kind in _KINDS if kind.name in ("name of a person", "personal number")
    )


def name_words(name: str) -> str:
    """Return a column's name in lower case, the same for `PatientName`, `patient_name`, `patient.name`."""
    apart = re.sub(r"(?<=[a-zß-ÿ])(?=[A-ZÀ-Þ])", " ", str(name)[:LONGEST_NAME])
    return re.sub(r"[\W_]+", " ", apart).lower()


def _fits(kind: IdentifierKind, words: str) -> bool:
    if kind.other_words and re.search(rf"\b({kind.other_words})\b", words):
        return False
    return not kind.words or re.search(rf"\b({kind.words})\b", words) is not None


def _has_check_digit(*modules: str) -> Callable[[str], object]:
    """Return a check that accepts what one of these modules of python-stdnum does."""

    def valid(text: str) -> bool:
        checks = (importlib.import_module(f"stdnum.{module}") for module in modules)
        return text.isascii() and any(module.is_valid(text) for module in checks)

    return valid


def _is_chinese_id(text: str) -> bool:
    """Region, birth date, sequence, and a digit or X by ISO 7064 mod 11-2.

    Regions that were renamed still begin the numbers of their people, so no list of regions is used.
    """
    from stdnum.iso7064 import mod_11_2

    number = re.sub(r"[ -]", "", text).upper()
    return bool(_CHINESE.fullmatch(number)) and bool(mod_11_2.is_valid(number))


def _is_payment_card(text: str) -> bool:
    """13 to 19 digits of a card network, with a Luhn digit (ISO/IEC 7812)."""
    from stdnum import luhn

    number = re.sub(r"[ -]", "", text)
    return bool(_CARD.fullmatch(number)) and bool(luhn.is_valid(number))


@dataclass(frozen=True)
class IdentifierKind:
    """A kind of identifier. Where `words` are given, the column's name must hold one of them."""

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
    r"country|county|region|district|department|city|state|"
    r"product|brand|company|file|user agent|category|course|school|drug|event|group|class|"
    r"job|(produkt|artikel|datei|firmen|orts|stra(ss|ß)en|haus|zimmer|seiten|kurs|schul)\w*|"
    r"\w*(产品|公司|学校|城市|国家)\w*"
)

_ID_WORDS = r"user|subject|household|haushalt|no|nr|num|number|nummer|key|code|ref|\w*id"

_KINDS = (
    IdentifierKind("e-mail", _shape(r"[^\s@]+@[^\s@]+\.[a-z]{2,}")),
    IdentifierKind("URL", _shape(r"(https?|ftp)://\S+", r"www\.\S+\.\S+")),
    IdentifierKind("IP address", _shape(rf"({_OCTET}\.){{3}}{_OCTET}", r"(?=.*::|(.*:){7})[0-9a-f:]{2,39}")),
    IdentifierKind("IBAN", _has_check_digit("iban"), _CHECKED),
    IdentifierKind("Italian codice fiscale", _has_check_digit("it.codicefiscale"), _CHECKED),
    IdentifierKind("Chinese resident id", _is_chinese_id, _CHECKED),
    IdentifierKind("French NIR", _has_check_digit("fr.nir"), _CHECKED),
    IdentifierKind("German Steuer-ID", _has_check_digit("de.idnr"), _CHECKED),
    IdentifierKind("Spanish DNI", _has_check_digit("es.dni", "es.nie"), _CHECKED),
    IdentifierKind("Swedish personnummer", _has_check_digit("se.personnummer"), _CHECKED),
    IdentifierKind("payment card number", _is_payment_card, _CHECKED),
    IdentifierKind(
        "UK national insurance number",
        _shape(r"(?!BG|GB|KN|NK|NT|TN|ZZ)[A-CEGHJ-PR-TW-Z][A-CEGHJ-NPR-TW-Z] ?\d\d ?\d\d ?\d\d ?[A-D]"),
    ),
    IdentifierKind("US social security number", _shape(r"(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}")),
    IdentifierKind(
        "date",
        _shape(
            rf"\d{{4}}[-/.]{_MONTH}[-/.]{_DAY}{_TIME}",
            rf"{_DAY}[-/.]{_MONTH}[-/.]{_YEAR}",
            rf"{_MONTH}/{_DAY}/{_YEAR}",
            rf"{_DAY}[ -]{_MONTH_NAME},?[ -]{_YEAR}",
            rf"{_MONTH_NAME} {_DAY},? \d{{4}}",
        ),
    ),
    IdentifierKind(
        "date",
        _shape(r"(18|19|20)\d\d(0[1-9]|1[0-2])(0[1-9]|[12]\d|3[01])"),
        _NAMED,
        words=r"date|birth|birthday|dob|born|admission|discharge|death|\w*datum|\w*geburt\w*|naissance|nacimiento|"
        r"nascita|\w*(日期|生日|出生)\w*",
    ),
    IdentifierKind(
        "phone number", _shape(rf"(\+|00)[1-9]{_DIGIT_GROUPS}", r"(\(\d{3}\) ?|\d{3}[-.])\d{3}[-. ]\d{4}")
    ),
    IdentifierKind(
        "phone number",
        _shape(rf"(?=(\D*\d){{6,15}}\D*$)(\+|00)?(\(\d{{1,5}}\) ?)?{_DIGIT_GROUPS}"),
        _NAMED,
        words=r"phone|telephone|tel|mobile|cell|cellphone|fax|handy\w*|telefon\w*|mobil\w*|tel[eé]fono|portable|m[oó]vil|"
        r"\w*(电话|手机|联系方式)\w*",
    ),
    IdentifierKind(
        "postal code",
        _shape(
            r"[a-z]{1,2}\d[a-z\d]? ?\d[a-z]{2}",  # United Kingdom
            r"[a-z]\d[a-z][ -]?\d[a-z]\d",  # Canada
            r"\d{3,6}(-\d{3,4})?|\d{3} \d\d|\d{4} ?[a-z]{2}",  # also numbers that lost their leading zeros
        ),
        _NAMED,
        words=r"zip|zipcode|zip code|postal|postal code|post code|postcode|plz|postleitzahl|pin code|cp|cap|"
        r"c[oó]digo postal|\w*(邮编|邮政编码)\w*",
    ),
    IdentifierKind(
        "name of a person",
        _shape(r"[^\W\d_][^\d_@/:;]{0,60}"),
        _NAMED,
        words=r"names?|surname|firstname|lastname|fullname|vorname|nachname|familienname|(user|login|nick|middle|given|maiden|ruf|geburts)name|pr[eé]noms?|noms?|"
        r"nombres?|apellidos?|nome|cognome|\w*(姓名|名字|姓氏)\w*",
        other_words=_MISTAKABLE,
    ),
    IdentifierKind(
        "name of a person",
        _shape(r"[^\W\d_]+([ '-][^\W\d_]+){1,4}"),
        _NAMED,
        words=r"person|patient(in)?|kunde|kundin|customer|client|employee|mitarbeiter(in)?|student|member|teilnehmer|"
        r"paciente|empleado|患者|客户|员工|学生",
        other_words=_MISTAKABLE,
    ),
    IdentifierKind(
        "address or place",
        _shape(r".*[^\W\d_].*"),
        _NAMED,
        words=r"address|street|city|town|village|county|adresse|anschrift|\w*strasse|\w*straße|str|rue|calle|indirizzo|"
        r"ort|wohnort|stadt|ville|ciudad|direcci[oó]n|domicilio|\w*(地址|住址|城市)\w*",
    ),
    IdentifierKind(
        "personal number",
        _shape(r"(?=.*\d)(?!-?\d*\.\d+$)[\w\-./ ]{1,40}"),  # no number with decimals
        _NAMED,
        words=r"id|uuid|ssn|social security|passport|licen[cs]e|account|mrn|medical record|(tax|nhs) number|"
        r"\w+(nummer|nr)|identifiant|matricule|dni|nie|nif|c[eé]dula|\w*(身份证|编号|学号|工号|病历号|证件|护照|账号|卡号)\w*",
        other_words=_MISTAKABLE,
    ),
)
