"""An anonymized table as one page to print or send: what it is, and what it does not promise."""

from __future__ import annotations

from collections.abc import Sequence

from dpcore.release import AnonymizedTable
from workbench.report.document import Document, Picture, Table, page
from workbench.ui.language import _
from workbench.ui.wording import printable, unmarked

SHOWN_ROWS = 100


def html(made: AnonymizedTable, warnings: Sequence[str]) -> bytes:
    """The page as a file. The box is on it wherever the table goes."""
    frame = made.table.frame
    left_out = len(frame) - SHOWN_ROWS
    note = _("{rows} more rows are in the table.").format(rows=f"{left_out:,}") if left_out > 0 else ""
    document = Document(
        title=_("Anonymized table"),
        badge="syntactic",
        about=(
            _("Rows of a table of personal data, made coarser until people look alike: {models}.").format(
                models=printable(", ".join(made.guarantee.models), at_most=400)
            ),
            _("Protected: {unit}. There is no epsilon: this promise is about the shape of the table.").format(
                unit=_("people") if made.guarantee.unit == "people" else _("rows")
            ),
        ),
        boxes=((_("What this does not promise"), tuple(map(unmarked, warnings))),),
        pictures=(
            Picture(
                title=_("{rows} rows of {columns} columns").format(
                    rows=f"{len(frame):,}", columns=len(frame.columns)
                ),
                table=Table.of(frame.head(SHOWN_ROWS), note=note),
                folded=False,
            ),
        ),
        reading=(
            _("A value such as 20 to 29, or one that was suppressed, stands for everybody in its group."),
        ),
    )
    return page(document).html().encode()
