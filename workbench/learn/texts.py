"""Table that maps the source texts to the pages that show their content."""

import tomllib
from pathlib import Path
from typing import Any

import pandas as pd

from workbench.language.messages import _, capital, name_and_text
from workbench.learn.lessons import LESSONS

TEXTS: list[dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("texts.toml").read_text(encoding="utf-8")
)["text"]
"""Sections, listings and functions of the texts, as in the table of docs/seeds.md."""
_LESSON_TITLES = {
    lesson["title"].partition(" ")[0]: lesson["title"] for lesson in LESSONS.values()
}


def texts_table() -> pd.DataFrame:
    """Return where each section, listing and function of the texts is shown."""
    return pd.DataFrame(
        [
            {
                _("text"): _(line["text"]),
                _("place in the text"): _(line["place"]),
                _("what it shows"): _(line["shows"]),
                _("page and what to click"): "; ".join(
                    map(page_and_part, line["shown"])
                ),
            }
            for line in TEXTS
        ]
    )


def page_and_part(place: str) -> str:
    """Return the title of a page and its part, such as "Synthesize: One column".

    Args:
        place: such as "Synthesize, One column", "Ledger" or "Learn 3".
    """
    page, _comma, part = place.partition(", ")
    if page.startswith("Learn "):
        page, _blank, lesson = page.partition(" ")
        part = _LESSON_TITLES[lesson]
    return name_and_text(_(page), _translate_title(part)) if part else _(page)


def _translate_title(part: str) -> str:
    """Translate a title; if it has no translation, try it with a small first letter."""
    translated = _(part)
    return translated if translated != part else capital(part[0].lower() + part[1:])
