"""The language of the interface: that of one session, looked up when a sentence is needed and not before."""

from __future__ import annotations

import functools
import gettext
import re
import string
import tomllib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from dpcore.errors import DpcoreError
from dpcore.text import Text
from workbench import session

LOCALE = Path(__file__).parents[1] / "locale"
PERCENT = "\u202f%"
"""After a number: a narrow blank at which no line ends, as in charts."""
_WIDE = re.compile(r"(?<=[0-9}]) %")


class _Sentences(string.Formatter):
    """Fills in the fields of the library's sentences; shares are written as everywhere on the pages."""

    def format_field(self, value: Any, format_spec: str) -> str:
        """One field as its template wants it."""
        text = str(super().format_field(value, format_spec))
        return text.removesuffix("%") + PERCENT if format_spec.endswith("%") else text


_SENTENCES = _Sentences()


@functools.cache
def _tables() -> dict[str, dict[str, dict[str, str]]]:
    return tomllib.loads((LOCALE / "words.toml").read_text(encoding="utf-8"))


@functools.cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the messages of a language such as "de-AT", else of "de"; English where there are none."""
    languages = [language.replace("-", "_")]  # as gettext writes them
    return gettext.translation("workbench", localedir=LOCALE, languages=languages, fallback=True)


def code() -> str:
    """Return the language of this session as HTML names it."""
    return session.language().split("-")[0]


def _(message: str) -> str:
    """Translate a message into the language of this session."""
    return _WIDE.sub(PERCENT, catalogue(session.language()).gettext(message))


def capital(message: str) -> str:
    """Translate a message, and begin it with a capital letter, as labels do."""
    return _(message)[:1].upper() + _(message)[1:]


def N_(message: str) -> str:  # noqa: N802 - the name that gettext's tools know
    """Mark a message for the catalogues where it is written, to be translated where it is shown."""
    return message


def said(text: str) -> str:
    """Translate a sentence of the library into the language of this session."""
    if not isinstance(text, Text) or not text:
        return text and _(text)
    fields = {name: said(value) if isinstance(value, Text) else value for name, value in text.fields.items()}
    return _SENTENCES.vformat(_(text.template), (), fields)


def problem_and_remedy(error: DpcoreError) -> tuple[str, str]:
    """Translate the problem and the remedy of an error into the language of this session."""
    problem, remedy = error.problem_template, error.remedy_template
    if error.details:
        problem, remedy = Text(problem, **error.details), Text(remedy, **error.details)
    return said(problem), said(remedy)


class Words(Mapping[str, str]):
    """One table of `locale/words.toml`: messages by key, translated when they are read.

    Args: table: its name, such as "ui.units".
    """

    def __init__(self, table: str) -> None:
        package, _dot, name = table.partition(".")
        self._messages: Mapping[str, str] = _tables()[package][name]

    def __getitem__(self, key: str) -> str:
        return _(self._messages[key])

    def __iter__(self) -> Iterator[str]:
        return iter(self._messages)

    def __len__(self) -> int:
        return len(self._messages)

    def say(self, key: str, /, **fields: Any) -> str:
        """Fill in a message."""
        return self[key].format(**fields)
