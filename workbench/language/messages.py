"""Translate messages and write numbers and dates in the interface language.

It is the language of one session or request.
"""

import contextlib
import re
import string
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from decimal import Decimal, localcontext
from numbers import Real
from typing import Any

from babel.dates import format_date
from babel.lists import format_list
from babel.numbers import format_decimal

from dpcore.errors import DpcoreError
from dpcore.text import Text
from workbench.language.catalogues import (
    ENGLISH,
    catalogue,
    cldr,
    language_of,
    languages,
)

_SPACED_PERCENT = "\u202f%"
"""After a number: a narrow blank at which no line ends, as in charts."""
_PERCENT_AFTER_SPACE = re.compile(r"(?<=[0-9}]) %")
_NUMERAL = re.compile(r"(-?\d+(?:\.(\d+))?)(e.*)?")
_REQUEST_LANGUAGE: ContextVar[str] = ContextVar("speaking", default="")
_language_of_tab: Callable[[], str] = str
"""Return the language of the browser tab that runs this code; empty outside of any."""


@contextlib.contextmanager
def use_language(language: str) -> Iterator[None]:
    """Use a language outside of any tab, for example in the answer to a request."""
    before = _REQUEST_LANGUAGE.set(language)
    try:
        yield
    finally:
        _REQUEST_LANGUAGE.reset(before)


def set_language_of_tab(language: Callable[[], str]) -> None:
    """Register the function that returns the language of the current tab.

    It is asked if no request has set a language.
    """
    global _language_of_tab
    _language_of_tab = language


def language_code() -> str:
    """Return the code of the current language, as HTML writes it."""
    return language_of(_REQUEST_LANGUAGE.get() or _language_of_tab()) or ENGLISH


def localize_number(text: str, *, grouped: bool = False) -> str:
    """Write a number with the decimal and grouping signs of the current language.

    Args:
        text: as Python writes it, ungrouped.
    """
    if (number := _NUMERAL.fullmatch(text)) is None:  # such as inf
        return text
    value, decimals, power = number.groups("")
    pattern = ("#,##0" if grouped else "0") + (decimals and "." + "0" * len(decimals))
    with localcontext(prec=len(value) + 1):  # else 28 digits are the most
        return (
            format_decimal(Decimal(value), pattern, locale=cldr(language_code()))
            + power
        )


def decimal_sign() -> str:
    """Return the sign before the decimals in the current language."""
    return str(number_signs()["decimal"])


def percent_sign() -> str:
    """Return the percent sign, after a narrow space if the language puts one there."""
    wide = language_code() == ENGLISH or "\xa0" in str(
        cldr(language_code()).percent_formats[None].pattern
    )
    return _SPACED_PERCENT if wide else "%"


def number_signs() -> dict[str, Any]:
    """Return the number signs of the language in the form that Vega expects."""
    signs = cldr(language_code()).number_symbols["latn"]
    numbers = {
        "decimal": signs["decimal"],
        "thousands": signs["group"],
        "percent": percent_sign(),
    }
    return numbers | {"grouping": [3], "currency": ["", ""]}


def day(moment: datetime | str) -> str:
    """Write a day, such as 2026-11-23, 23.11.2026 or 2026年11月23日.

    Args:
        moment: as of `minute`.
    """
    width: Any = "short" if language_code() == ENGLISH else "medium"
    return format_date(
        datetime.fromisoformat(str(moment)), width, locale=cldr(language_code())
    )


def minute(moment: datetime | str) -> str:
    """Write a day and its hour and minute.

    Args:
        moment: UTC, also as the ledger writes it.
    """
    return f"{day(moment)} {datetime.fromisoformat(str(moment)):%H:%M}"


def join(names: Sequence[object]) -> str:
    """Write a list as in a sentence: a, b and c."""
    return format_list([str(name) for name in names], locale=cldr(language_code()))


def name_and_text(name: str, text: object) -> str:
    """Write a name with a description."""
    return _("{name}: {text}").format(name=name, text=text)


def join_with_commas(names: Iterable[object]) -> str:
    """Write a list without an "and"."""
    return str(
        cldr(language_code()).list_patterns["standard"]["middle"].format("", "")
    ).join(map(str, names))


class Sentence(str):
    """Message that writes its number fields in the current language."""

    def format(self, *given: object, **fields: object) -> str:
        """Fill in the fields."""
        return _SENTENCE_FORMATTER.vformat(self, given, fields)


class _SentenceFormatter(string.Formatter):
    def format_field(self, value: Any, format_spec: str) -> str:
        """Format one field by its format spec; numbers follow the current language."""
        if isinstance(value, bool) or not isinstance(value, Real):
            return str(super().format_field(value, format_spec))
        text = format(value, format_spec.replace(",", ""))
        grouped = "," in format_spec
        number = localize_number(text.removesuffix("%"), grouped=grouped)
        return number + percent_sign() if text.endswith("%") else number


_SENTENCE_FORMATTER = _SentenceFormatter()


def _make_sentence(text: str) -> Sentence:
    return Sentence(_PERCENT_AFTER_SPACE.sub(lambda _match: percent_sign(), text))


def _(message: str) -> str:
    """Translate a message into the language of this session or request."""
    return _make_sentence(catalogue(language_code()).gettext(message))


def ngettext(one: str, many: str, number: int, **fields: object) -> str:
    """Translate a message in the plural form of a number, and fill in its fields."""
    return _plural(one, many, number).format(number=number, **fields)


def _plural(one: str, many: str, number: int) -> str:
    return _make_sentence(catalogue(language_code()).ngettext(one, many, number))


def capital(message: str) -> str:
    """Translate a message, and begin it with a capital letter, as labels do."""
    return Sentence(_(message)[:1].upper() + _(message)[1:])


def N_(message: str) -> str:  # noqa: N802 - the name that gettext's tools know
    """Mark a message for the catalogues; it is translated when it is shown."""
    return message


def translate_table(messages: Mapping[str, str]) -> dict[str, str]:
    """Translate a table of messages marked with `N_`."""
    return {key: _(message) for key, message in messages.items()}


def translate(text: str) -> str:
    """Translate a sentence of the library into this session's language."""
    if not text or not isinstance(text, Text):
        return text and _(text)
    message = (
        _plural(text.template, text.many, next(iter(text.fields.values())))
        if text.many
        else _(text.template)
    )
    fields = {
        name: translate(value) if isinstance(value, Text) else value
        for name, value in text.fields.items()
    }
    return message.format(**fields)


STORED_SENTENCES = (
    N_("add or remove one person (one row)"),
    N_("add or remove one person (at most {rows} rows, declared and not checked)"),
    N_("add or remove one person (one row, named by {column})"),
    N_("add or remove one person (at most {rows} rows, named by {column})"),
    N_(
        "add or remove one person (one row, a number that was taken from the data, "
        "named by {column})"
    ),
    N_(
        "add or remove one person (at most {rows} rows, a number that was taken from "
        "the data, named by {column})"
    ),
    N_(
        "add or remove one person (one row, a number that was found privately for "
        "another epsilon of {epsilon}, named by {column})"
    ),
    N_(
        "add or remove one person (at most {rows} rows, a number that was found "
        "privately for another epsilon of {epsilon}, named by {column})"
    ),
    N_("{k}-anonymity"),
    N_("{k}-map"),
    N_("({lowest}, {highest})-presence"),
    N_("distinct {l}-diversity of {column}"),
    N_("entropy {l}-diversity of {column}"),
    N_("recursive ({c}, {l})-diversity of {column}"),
    N_("{t}-closeness of {column} ({distance} distance)"),
    N_("{beta}-likeness of {column}"),
    N_("average risk of at most {most}"),
)
"""Units and models of guarantees, which are stored in English."""


def translate_stored(*texts: str) -> str:
    """Translate descriptions of units or models that a guarantee stores in English."""
    return "; ".join(map(_translate_stored, texts))


def retranslate(text: str, message: str) -> str:
    """Return a message in the current language if a text is it in any language."""
    said = {catalogue(language).gettext(message) for language in languages()}
    return _(message) if text in said else text


def _translate_stored(text: str) -> str:
    for template in STORED_SENTENCES:
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>.+)", re.escape(template))
        if fields := re.fullmatch(pattern, text):
            return _(template).format(**fields.groupdict())
    return text


def parse_number(number: str) -> float:
    """Read a number as a person types it in the language of the page.

    Raises: ValueError.
    """
    signs = number_signs()
    plain = (
        number.replace(signs["thousands"], "")
        if signs["decimal"] == "." or "," in number
        else number
    )
    return float(plain.replace(signs["decimal"], "."))


def problem_and_remedy(error: DpcoreError) -> tuple[str, str]:
    """Translate the problem and the remedy of an error into this session's language."""
    templates = error.problem_template, error.remedy_template
    problem, remedy = (
        translate(Text(template, **error.details) if error.details else template)
        for template in templates
    )
    return problem, remedy
