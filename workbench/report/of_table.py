"""Page of an anonymized table, with what it does not promise."""

import dataclasses
import json
from collections.abc import Collection, Sequence

from dpcore.release import Guarantee
from dpcore.tables.rows import PublicTable
from workbench.language.messages import _, ngettext, translate_stored
from workbench.language.wording import (
    COUNTED_WORDS,
    exact_tables_words,
    make_printable,
    strip_markdown,
    unchecked_source_words,
)
from workbench.report.document import (
    Document,
    Picture,
    TextTable,
    link_files,
    render_page,
)
from workbench.report.downloads import MAX_XLSX_CELLS, ROWS, table_content

SHOWN_ROWS = 100


def document(
    table: PublicTable,
    guarantee: Guarantee,
    not_promised: Sequence[str],
    *,
    title: str = "",
    note: str = "",
    contents: Collection[str] = (),
) -> Document:
    """Return the page of a table.

    Args:
        not_promised: sentences of its box, as Markdown.
    """
    frame = table.frame
    left_out = len(frame) - SHOWN_ROWS
    more = (
        ngettext(
            "{number:,} more row is in the table.",
            "{number:,} more rows are in the table.",
            left_out,
        )
        if left_out > 0
        else ""
    )
    return Document(
        title=make_printable(title, max_length=120) or _("Anonymized table"),
        badge="syntactic",
        note="\n".join(
            make_printable(line, max_length=2_000) for line in note.splitlines()
        ),
        about=(
            _(
                "Rows of a table of personal data, made coarser until people look "
                "alike: {models}."
            ).format(
                models=make_printable(
                    translate_stored(*guarantee.models), max_length=800
                ),
            ),
            _(
                "Protected: {unit}. There is no epsilon: the promise only concerns "
                "how alike the rows of this table look."
            ).format(
                unit=_(COUNTED_WORDS[guarantee.unit]),
            ),
            *unchecked_source_words(guarantee, escape=make_printable),
            *exact_tables_words(guarantee),
        ),
        boxes=(
            (_("What this does not promise"), tuple(map(strip_markdown, not_promised))),
        ),
        pictures=(
            Picture(
                title=ngettext(
                    "{number:,} row of {columns} columns",
                    "{number:,} rows of {columns} columns",
                    len(frame),
                    columns=len(frame.columns),
                ),
                table=TextTable.from_frame(frame.head(SHOWN_ROWS), note=more),
                folded=False,
            ),
        ),
        explanations=frozenset({"groups"}),
        downloads=link_files(file_names(table, contents)),
    )


def file_names(table: PublicTable, contents: Collection[str]) -> list[str]:
    """Return the names of the files that the page offers.

    Args:
        contents: what may be given.
    """
    rows = ["rows.csv", "rows.xlsx", "rows.parquet"]
    if table.frame.size > MAX_XLSX_CELLS:
        rows.remove("rows.xlsx")
    return [*(rows if ROWS in contents else []), "guarantee.json"]


def file_content(table: PublicTable, guarantee: Guarantee, name: str) -> bytes:
    """Return the bytes of one file that the page offers."""
    promise = json.dumps({"guarantee": guarantee.to_dict()}, indent=1)
    if name == "guarantee.json":
        return promise.encode()
    return table_content(table, name.rpartition(".")[2], {"guarantee": promise})


def stand_alone_page(
    table: PublicTable, guarantee: Guarantee, not_promised: Sequence[str]
) -> bytes:
    """Return the page as one file that needs no server."""
    whole = dataclasses.replace(document(table, guarantee, not_promised), downloads=())
    return render_page(whole).html().encode()
