"""Exact tables in words and files: the public page, and the owner's report."""

from __future__ import annotations

import pandas as pd

from dpcore.suppression.attack import Bounds
from dpcore.suppression.published import HIDDEN, ExactTable, PublishedTable
from dpcore.suppression.rules import Rule
from workbench.language.messages import N_, _, commas, ngettext
from workbench.language.wording import number, printable
from workbench.report.document import Document, Picture, TextTable, render_page

REASONS = {
    "small": N_("fewer people than the rule wants"),
    "empty": N_("nobody, and the rule hides empty cells"),
    "full": N_("everybody of a group is in this cell"),
    "protects others": N_("else another hidden count could be told"),
    "earlier table": N_("hidden in an earlier exact table"),
}
PRESET_NAMES = {
    "acro": N_("ACRO: at least 10, empty and full cells too"),
    "cms": N_("CMS cell size: at least 11"),
    "nhs": N_("NHS-like: at least 5"),
    "": N_("a rule of your own"),
}


def rule_words(rule: Rule) -> str:
    """Describe a rule in a sentence."""
    words = [
        ngettext(
            "A count is shown if it is {number} person or more",
            "A count is shown if it is {number} people or more",
            rule.threshold,
        )
    ]
    if not rule.hide_zeros:
        words.append(_("empty cells are shown"))
    if rule.hide_full:
        words.append(_("nobody can tell that a whole group is in one cell"))
    if rule.members:
        words.append(_("also if the readers know who is in which cell"))
    return commas(words) + "."


def bounds_words(bound: Bounds | None) -> str:
    """Say how closely a hidden count can be told."""
    if bound is None:
        return _("not bounded")
    words = _("{low} to {high}") if bound.exact else _("at least {low} to {high}")
    return words.format(low=number(bound.low), high=number(bound.high))


def hidden_cells(made: ExactTable) -> pd.DataFrame:
    """Return one line per hidden cell: its count, why it is hidden, what can be told.

    For the owner alone.
    """
    layout = made.published.layout
    lines = [
        {
            **dict(zip(layout.columns, layout.labels(cell), strict=True)),
            _("people"): made.truth[cell],
            _("hidden because"): _(REASONS[reason]),
            _("readers can tell"): bounds_words(made.bounds.get(cell)),
        }
        for cell, reason in made.reasons.items()
    ]
    return pd.DataFrame(lines)


def crosstab(table: PublishedTable) -> pd.DataFrame:
    """Return the table as texts, with the mark of hidden cells."""
    heading, *lines = table.crosstab()
    return pd.DataFrame(lines, columns=heading)


def exceptions(table: PublishedTable) -> list[str]:
    """Return a sentence for each cell that is shown though the rule would hide it."""
    return [
        _("Shown by way of exception: {cell}. {reason}").format(
            cell=printable(" × ".join(table.layout.labels(cell))),
            reason=printable(reason, at_most=500),
        )
        for cell, reason in table.exceptions.items()
    ]


def not_promised(table: PublishedTable, earlier: int) -> list[str]:
    """Return what an exact table does not promise, with numbers.

    Args:
        earlier: exact tables that it was attacked with.
    """
    hidden = sum(count is None for count in table.counts)
    return [
        _(
            "There is no epsilon. {shown} exact counts are shown, and {hidden} are "
            "hidden; whoever knows some people can compare."
        ).format(shown=number(len(table.counts) - hidden), hidden=number(hidden)),
        ngettext(
            "The table was attacked together with {number} earlier exact table of this "
            "data set. Tables from other servers, other owners or later files about "
            "the same people were not known.",
            "The table was attacked together with {number} earlier exact tables of "
            "this data set. Tables from other servers, other owners or later files "
            "about the same people were not known.",
            earlier,
        ),
        _(
            "A hidden count below {threshold} may be told up to an interval that also "
            "holds {threshold}; it may still be much likelier at one end."
        ).format(threshold=number(table.rule.threshold)),
        _(
            "Somebody who knows the counts of several cells from elsewhere may tell "
            "the others."
        ),
    ]


def public_page(table: PublishedTable, earlier: int, *, title: str = "") -> bytes:
    """Return the published table as one HTML file.

    Args:
        earlier: exact tables that it was attacked with.
    """
    return render_page(_document(table, earlier, title)).html().encode()


def report_page(made: ExactTable, *, title: str = "") -> bytes:
    """Return the owner's report as one HTML file: reasons, and what can be told."""
    table = made.published
    extra = ngettext(
        "{number} cell is hidden; why, and how closely it can be told",
        "{number} cells are hidden; why, and how closely they can be told",
        len(made.reasons),
    )
    public = _document(table, len(made.attacked), title)
    cells = Picture(title=extra, table=TextTable.of(hidden_cells(made)), folded=False)
    document = Document(
        title=public.title,
        badge="internal",
        about=public.about,
        boxes=public.boxes,
        pictures=(*public.pictures, cells),
    )
    return render_page(document).html().encode()


def _document(table: PublishedTable, earlier: int, title: str) -> Document:
    return Document(
        title=printable(title, at_most=120)
        or _("Exact table: {columns}").format(columns=printable(table.name)),
        badge="syntactic",
        about=(
            _("Exact counts of people. {mark} marks a hidden count.").format(
                mark=HIDDEN
            ),
            rule_words(table.rule),
            *exceptions(table),
        ),
        boxes=((_("What this does not promise"), (*not_promised(table, earlier),)),),
        pictures=(
            Picture(
                title=printable(table.name),
                table=TextTable.of(crosstab(table)),
                folded=False,
            ),
        ),
    )
