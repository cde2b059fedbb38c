"""Languages with a catalogue, and the choice of one for a visitor."""

import functools
import gettext
import io
import re
from pathlib import Path

from babel import Locale
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

CATALOGUES_FOLDER = Path(__file__).parent
CATALOGUE_FILE = Path("LC_MESSAGES") / "workbench.po"
ENGLISH = "en"
"""The language of the code, which has no catalogue."""
_LANGUAGE_PREFERENCE = re.compile(r"([A-Za-z]+)[\w-]*\s*(?:;\s*q=([01](?:\.\d*)?))?")


@functools.cache
def languages() -> dict[str, str]:
    """Return the interface languages as {HTML code: name in that language}."""
    names = [
        ENGLISH,
        *sorted(
            path.parents[1].name
            for path in CATALOGUES_FOLDER.glob(f"*/{CATALOGUE_FILE}")
        ),
    ]
    return {name.replace("_", "-"): Locale.parse(name).language_name for name in names}


@functools.lru_cache(maxsize=256)
def language_of(code: str) -> str | None:
    """Return the language of a code such as "zh-CN" or "de_AT.UTF-8"; None if unknown."""
    primary = re.split("[-_.]", code.lower())[0]
    return next(
        (language for language in languages() if language.split("-")[0] == primary),
        None,
    )


@functools.lru_cache(maxsize=256)
def choose_language(lang_parameter: str | None, accept_language: str) -> str:
    """Return the language of a request.

    The address decides, then the Accept-Language header; otherwise English.
    """
    ranked = sorted(
        _LANGUAGE_PREFERENCE.findall(accept_language[:500]),
        key=lambda each: -float(each[1] or 1),
    )
    wanted = (lang_parameter or "", *(code for code, _weight in ranked))
    return next(filter(None, map(language_of, wanted)), ENGLISH)


@functools.cache
def catalogue(language: str) -> gettext.NullTranslations:
    """Return the messages of a language of `languages`, compiled from its file."""
    file = CATALOGUES_FOLDER / language.replace("-", "_") / CATALOGUE_FILE
    if language == ENGLISH:
        return gettext.NullTranslations()
    compiled = io.BytesIO()
    with file.open("rb") as messages:
        write_mo(compiled, read_po(messages))
    compiled.seek(0)
    return gettext.GNUTranslations(compiled)


@functools.cache
def cldr(language: str) -> Locale:
    """Return the number, date and list formats of a language.

    English writes 2026-11-23, and "a, b and c".
    """
    return Locale.parse("en-CA" if language == ENGLISH else language, sep="-")
