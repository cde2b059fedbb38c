"""Public tables to the bytes of a file.

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

from dpcore.errors import DisclosureError
from dpcore.schema.formulas import disarm
from dpcore.tables.rows import PublicTable


def to_csv(table: PublicTable) -> bytes:
    """UTF-8 text with commas, CRLF (RFC 4180) and a header.

    Missing cells are empty, formulas disarmed.

    Free post-processing.

    Raises: DisclosureError for anything but a PublicTable.
    """
    frame = _public(table)
    texts = frame.select_dtypes(exclude=["number", "bool", "datetime"]).columns
    # With CRLF as the end, a cell with either sign is quoted; a bare CR would start a
    # row of its own.
    disarmed = frame.assign(
        **{name: frame[name].map(_disarm, na_action="ignore") for name in texts}
    )
    header = [_disarm(name) for name in frame.columns]
    return disarmed.to_csv(index=False, header=header, lineterminator="\r\n").encode(
        "utf-8"
    )


def to_parquet(table: PublicTable, metadata: Mapping[str, str] | None = None) -> bytes:
    """Parquet with the types of the table.

    `metadata`, such as its guarantee, goes into the footer.

    Free post-processing.

    Raises: DisclosureError for anything but a PublicTable.
    """
    frame = _public(table)
    import pyarrow.parquet as pq

    arrow = pa.Table.from_pandas(frame, preserve_index=False).replace_schema_metadata(
        metadata
    )
    out = io.BytesIO()
    pq.write_table(arrow, out)
    return out.getvalue()


def _public(table: PublicTable) -> pd.DataFrame:
    if not isinstance(table, PublicTable):
        raise DisclosureError(
            "a {kind} is not a public table and cannot be exported",
            remedy="release or anonymize it first, and export what comes out",
            kind=type(table).__name__,
        )
    return table.frame


def _disarm(value: Any) -> Any:
    return disarm(value) if isinstance(value, str) else value
