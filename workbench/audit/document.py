"""The audit as one file to print."""

from __future__ import annotations

import html
from collections.abc import Iterable

import pandas as pd

from dpcore.curator import Curator
from dpcore.evaluation.audit import AuditReport
from workbench.audit.findings import SHOWN_SETS, attackers, identifiers, linkage_words, secrets, verdict
from workbench.ui.language import _
from workbench.ui.wording import percent

STYLE = (
    "body{font:15px/1.5 sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#222}"
    "table{border-collapse:collapse;width:100%}.v{font-size:1.4rem}.i{color:#a33f00}"
    "td,th{border:1px solid #bbb;padding:.3rem .5rem;text-align:left;overflow-wrap:anywhere}"
)


def to_html(curator: Curator, found: AuditReport, columns: list[str]) -> str:
    """The audit as one self-contained file to print; it holds no row of the table."""
    sets = pd.DataFrame(
        [
            {
                _("columns"): ", ".join(each.columns),
                _("unique people"): percent(each.uniques),
                _("distinction"): percent(each.distinction),
                _("separation"): percent(each.separation),
            }
            for each in found.sets[:SHOWN_SETS]
        ]
    )
    parts = [
        (_("Columns that look like identifiers"), _table(identifiers(found))),
        (_("Risk by set of columns"), _table(sets)),
        (_("What attackers can expect"), _list([linkage_words(found), *attackers(found)])),
        (_("What groups give away"), _table(secrets(found))),
    ]
    body = "".join(f"<h2>{html.escape(title)}</h2>{part}" for title, part in parts if part)
    name, text = html.escape(curator.name), html.escape(verdict(found, columns))
    internal = html.escape(_("Internal: this report reads the original. Do not publish it."))
    terms = html.escape(
        _("Distinction: groups per row. Separation: share of pairs of rows that the columns tell apart.")
    )
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        "<meta http-equiv='Content-Security-Policy' "
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{name}</title><style>{STYLE}</style>"
        f"<h1>{name}</h1><p class='i'>{internal}</p><p class='v'>{text}</p>{body}<p>{terms}</p></html>"
    )


def _table(frame: pd.DataFrame) -> str:
    if frame.empty:
        return ""
    head = _cells("th", frame.columns)
    return f"<table>{head}{''.join(_cells('td', row) for row in frame.to_numpy())}</table>"


def _cells(tag: str, cells: Iterable[object]) -> str:
    return f"<tr>{''.join(f'<{tag}>{html.escape(str(cell))}</{tag}>' for cell in cells)}</tr>"


def _list(sentences: list[str]) -> str:
    return f"<ul>{''.join(f'<li>{html.escape(each)}</li>' for each in sentences if each)}</ul>"
