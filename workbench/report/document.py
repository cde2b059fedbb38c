"""Parts of a page about one result, as HTML without scripts or other requests."""

from __future__ import annotations

import base64
import functools
import hashlib
import itertools
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import pandas as pd

from workbench.language import labels
from workbench.language.catalogues import languages
from workbench.language.messages import N_, _, capital, language_code
from workbench.language.wording import make_printable
from workbench.report.drawing import Drawing

TEMPLATES = Path(__file__).parent
STYLE, SCRIPT = (
    (TEMPLATES / name).read_text(encoding="utf-8")
    for name in ("page.css", "explore.js")
)
STYLE_DIGEST, SCRIPT_DIGEST = (
    f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
    for text in (STYLE, SCRIPT)
)
"""By which a content policy knows the style and the script of a page."""
_QUESTIONS_MARK = "\x00"
FILE_LABELS = {
    "explore": N_("Explore"),
    "explore-people": N_("Explore people"),
    "explore-events": N_("Explore events"),
    "people": N_("drawn people"),
    "events": N_("drawn events"),
    "people-counts": N_("counts of people with their intervals"),
    "events-counts": N_("counts of events with their intervals"),
    "counts": N_("counts with their intervals"),
    "datapackage": N_("description of the count files, for programs"),
    "rows": N_("drawn rows"),
    "table": N_("the table"),
    "guarantee": N_("the guarantee"),
    "release": N_("the release with its model, to open in this program"),
    "linked-release": N_("both releases with their models, for programs"),
}
OFFERED_FILES = (
    "explore.html",
    "counts.csv",
    "counts.xlsx",
    "counts.parquet",
    "counts.json",
    "datapackage.json",
    "rows.csv",
    "rows.xlsx",
    "rows.parquet",
    "guarantee.json",
    "release.json",
)
"""The files that a page may offer."""
OFFERED_LINKED_FILES = (
    "explore-people.html",
    "explore-events.html",
    "people.csv",
    "events.csv",
    "people.parquet",
    "events.parquet",
    "people-counts.csv",
    "events-counts.csv",
    "people-counts.parquet",
    "events-counts.parquet",
    "guarantee.json",
    "linked-release.json",
)
"""The files that a page of two linked tables may offer."""
Badge = Literal["private", "syntactic", "internal"]
BADGES = {
    "private": N_("differentially private"),
    "syntactic": N_("syntactic, no epsilon"),
    "internal": N_("internal: based on the original, do not publish"),
}


@dataclass(frozen=True, kw_only=True)
class TextTable:
    """Table whose headings and cells are texts to show.

    Attributes:
        note: what is left out of it, if anything.
    """

    headings: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    note: str = ""

    @classmethod
    def from_frame(cls, frame: pd.DataFrame, *, note: str = "") -> TextTable:
        """Return a frame of aggregates or of public rows as texts."""
        return cls(
            headings=tuple(map(make_printable, frame.columns)),
            lines=tuple(
                tuple(map(make_printable, line))
                for line in frame.itertuples(index=False, name=None)
            ),
            note=note,
        )


@dataclass(frozen=True, kw_only=True)
class Picture:
    """One section of a page: a sentence, a title, a drawing and a table.

    Attributes:
        sentence: what the drawing shows beyond doubt, if anything.
        section: heading of the pictures that it belongs to; the usual one if empty.
    """

    title: str
    sentence: str = ""
    drawing: Drawing | None = None
    table: TextTable | None = None
    folded: bool = True
    section: str = ""


@dataclass(frozen=True, kw_only=True)
class Download:
    """File that a page offers for download."""

    href: str
    name: str
    label: str


@dataclass(frozen=True, kw_only=True)
class Document:
    """Content of a page, in reading order.

    Attributes:
        lead: the one sentence that everybody should read.
        note: of the person who shares it.
        about: what it is and for whom it is protected.
        boxes: title and sentences of what must not be overlooked.
        promise: the guarantee, and what it does not cover.
        explanations: names of the explanations in `page.html` that it needs.
        takes_questions: whether questions can be asked.
        citation: how to cite it.
        preview: what a chat shows below the title of the link.
        notice: the first line of a file that may have left everybody's control.
    """

    title: str
    badge: Badge | None = None
    badge_text: str = ""
    lead: str = ""
    note: str = ""
    about: tuple[str, ...] = ()
    boxes: tuple[tuple[str, tuple[str, ...]], ...] = ()
    pictures: tuple[Picture, ...] = ()
    promise: tuple[str, ...] = ()
    explanations: frozenset[str] = frozenset()
    downloads: tuple[Download, ...] = ()
    takes_questions: bool = False
    citation: str = ""
    preview: str = ""
    notice: str = ""

    @property
    def sections(self) -> list[tuple[str, list[Picture]]]:
        """The pictures below their headings, in their order."""
        groups = itertools.groupby(self.pictures, lambda picture: picture.section)
        return [
            (heading or _("What came out"), list(pictures))
            for heading, pictures in groups
        ]


@dataclass(frozen=True, kw_only=True)
class Page:
    """Document as HTML, in two parts between which its question form is inserted."""

    html_before_questions: str
    html_after_questions: str

    def html(self, questions: str = "") -> str:
        """Return the whole page.

        Args:
            questions: HTML from `asking.section`.
        """
        return f"{self.html_before_questions}{questions}{self.html_after_questions}"


def link_files(names: Collection[str]) -> tuple[Download, ...]:
    """Return download links that are relative to the address of the page."""
    return tuple(
        Download(href=f"?file={name}", name=name, label=file_label(name))
        for name in names
    )


def file_label(name: str) -> str:
    """Name the content of a file and its format."""
    what, _dot, ending = name.partition(".")
    formats = {"csv": "CSV", "xlsx": "Excel", "parquet": "Parquet", "json": "JSON"}
    label = capital(_(FILE_LABELS[what]))
    return f"{label} ({formats[ending]})" if ending in formats else label


def render_page(document: Document, explore: str = "", explored: str = "") -> Page:
    """Render a document as a page of HTML.

    Args:
        explore: HTML from `explore.section`, with its script.
        explored: name of the file that the page with `explore` is.
    """
    text = fill_template(
        "page.html",
        document=document,
        badge=document.badge_text
        or (_(BADGES[document.badge]) if document.badge else ""),
        style=STYLE,
        style_digest=STYLE_DIGEST,
        script_digest=SCRIPT_DIGEST,
        script=SCRIPT,
        explore=explore,
        explored=explored,
        questions=_QUESTIONS_MARK,
    )
    before, _mark, after = text.partition(_QUESTIONS_MARK)
    return Page(html_before_questions=before, html_after_questions=after)


def fill_template(name: str, folder: Path = TEMPLATES, **fields: Any) -> str:
    """Fill in a template of a folder; every field is escaped."""
    text: str = (
        _template_environment(folder)
        .get_template(name)
        .render(language=language_code(), **fields)
    )
    return text


@functools.cache
def _template_environment(folder: Path) -> Any:
    import jinja2

    made = jinja2.Environment(
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        loader=jinja2.FileSystemLoader(folder),
    )
    made.globals |= {
        "_": _,
        "languages": languages,
        "from_words": labels.from_words,
        "below_words": labels.below_words,
    }
    return made
