"""Files that a page offers: their bytes as the page makes them, and the figures of
those in HTML.
"""

from __future__ import annotations

import html
import re
from typing import Any

import pytest
import streamlit as st

from dpcore.progress import compute_here
from tests.truth.figures import DIGIT, Figure, Marking, bare, of_text, template
from workbench.server.workers import process

PARTS = re.compile(r"<(h1|h2|figcaption|p|li|table)\b[^>]*>(.*?)</\1>", re.DOTALL)


def downloads(monkeypatch: pytest.MonkeyPatch) -> dict[str, bytes]:
    """The content of every file that pages offer from now on, by the label of its
    button.
    """
    made: dict[str, bytes] = {}
    button = st.download_button

    def remember(label: str, data: Any, *given: Any, **named: Any) -> bool:
        content = data() if callable(data) else data
        made[bare(label)] = content if isinstance(content, bytes) else content.encode()
        return button(label, data, *given, **named)

    monkeypatch.setattr(st, "download_button", remember)
    return made


def in_this_process(monkeypatch: pytest.MonkeyPatch) -> None:
    """Evaluations are computed here: another process would not see what a test
    plants.
    """

    monkeypatch.setattr(process, "compute", compute_here)


def of_report(page: bytes, marks: Marking) -> list[Figure]:
    """Every figure of a page of HTML: fields of sentences, and columns of tables below
    their headings.
    """
    seen: list[Figure] = []
    heading = ""
    for tag, inside in PARTS.findall(page.decode()):
        if tag == "table":
            seen += _of_table(inside, heading, marks)
            continue
        words = _words(inside)
        seen += of_text(words, marks, heading or "title")
        if tag != "p" and tag != "li":
            heading = template(words, marks)
    return list(dict.fromkeys(seen))


def _of_table(inside: str, heading: str, marks: Marking) -> list[Figure]:
    rows = [
        re.findall(r"<t[hd]\b[^>]*>(.*?)</t[hd]>", row, re.DOTALL)
        for row in inside.split("<tr>")[1:]
    ]
    names = [template(_words(cell), marks) for cell in rows[0]]
    columns = zip(names, zip(*rows[1:], strict=True), strict=True)
    shown = [
        Figure(f"{heading} > {name}", tuple(bare(_words(cell)) for cell in each))
        for name, each in columns
    ]
    return [each for each in shown if any(DIGIT.search(cell) for cell in each.shown)]


def _words(text: str) -> str:
    return html.unescape(re.sub(r"</?bdi>", "", text)).strip()
