"""Write public tables as the bytes of CSV or Parquet files.

Private rows do not pass, as only a `PublicTable` is taken.

A spreadsheet runs a cell of a CSV file that begins like a formula. Such texts get an
apostrophe in front, in cells and in the header. Parquet is not opened by spreadsheets
that way and keeps every text as it is.
"""

import io
from collections.abc import Mapping
from typing import Any

import pandas as pd
import pyarrow as pa

from dpcore.errors import DisclosureError, UsageError
from dpcore.io._numbers import DECIMAL_SIGNS
from dpcore.schema.formulas import disarm
from dpcore.tables.rows import PublicTable


def to_csv(table: PublicTable, *, spreadsheet_decimal: str = "") -> bytes:
    """Return a table as CSV: UTF-8 text with commas, CRLF (RFC 4180) and a header.

    Missing cells are empty, formulas disarmed. Free post-processing.

    Args:
        table: the public table.
        spreadsheet_decimal: for a spreadsheet, the sign before its decimals: the file
            begins with a byte order mark, by which it knows UTF-8, and has semicolons
            between cells where the sign is a comma. Empty for other programs.

    Raises: DisclosureError for anything but a PublicTable.
    """
    frame = public_frame(table)
    texts = frame.select_dtypes(exclude=["number", "bool", "datetime"]).columns
    # pandas quotes cells that hold CR or LF only if lines end with CRLF; an unquoted CR
    # would begin a new row.
    disarmed = frame.assign(
        **{name: frame[name].map(_disarm_cell, na_action="ignore") for name in texts}
    )
    header = [_disarm_cell(name) for name in frame.columns]
    _check_decimal_sign(spreadsheet_decimal)
    text = disarmed.to_csv(
        index=False,
        header=header,
        lineterminator="\r\n",
        sep=";" if spreadsheet_decimal == "," else ",",
        decimal=spreadsheet_decimal or ".",
    )
    return text.encode("utf-8-sig" if spreadsheet_decimal else "utf-8")


def to_parquet(table: PublicTable, metadata: Mapping[str, str] | None = None) -> bytes:
    """Return a table as the bytes of a Parquet file, with its column types.

    `metadata`, such as its guarantee, goes into the footer.

    Free post-processing.

    Raises: DisclosureError for anything but a PublicTable.
    """
    frame = public_frame(table)
    import pyarrow.parquet as pq

    arrow = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(
        metadata
    )
    out = io.BytesIO()
    pq.write_table(arrow, out)
    return out.getvalue()


def _check_decimal_sign(sign: str) -> None:
    if sign not in ("", *DECIMAL_SIGNS):
        raise UsageError(
            f"spreadsheet_decimal ({sign!r}) must be one of {' '.join(DECIMAL_SIGNS)}",
            remedy="leave it out, or give the sign of the reader's country",
        )


def public_frame(table: PublicTable) -> pd.DataFrame:
    """Return the rows of a public table. Raises: DisclosureError for anything else."""
    if not isinstance(table, PublicTable):
        raise DisclosureError(
            "a {kind} is not a public table and cannot be exported",
            remedy="release or anonymize it first, and export what comes out",
            kind=type(table).__name__,
        )
    return table.frame


def _disarm_cell(value: Any) -> Any:
    return disarm(value) if isinstance(value, str) else value
