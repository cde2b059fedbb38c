"""Size limits and checks of column names, shared by all file readers."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass, fields

from dpcore.errors import LimitError, ReadError, UsageError
from dpcore.text import Text

_MEGABYTE = 2**20
_INVISIBLE_CATEGORIES = {"Cc", "Zl", "Zp"}
_TEXT_DIRECTION_CONTROLS = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits on the size of a table.

    Attributes:
        bytes: of the file; a Parquet file must keep to it unpacked as well.
        rows: without the header.
        columns: of the table.
        cell_length: in characters, for names too.
    """

    bytes: int = 50 * _MEGABYTE
    rows: int = 2_000_000
    columns: int = 1_000
    cell_length: int = 10_000

    def __post_init__(self) -> None:
        for limit in fields(self):
            value = getattr(self, limit.name)
            if value < 1:
                raise UsageError(
                    f"the limit of {limit.name} ({value}) must be at least 1"
                )


DEFAULT_LIMITS = Limits()


def _table_too_large_error(limits: Limits) -> LimitError:
    return LimitError(
        (
            "the table has more than {megabytes:,.10g} MB, {rows:,} rows or "
            "{columns:,} "
            "columns"
        ),
        remedy="keep only the columns and rows that you need, or read the file in "
        "place: start with make app FILES=folder, or ask whoever runs the "
        "server to connect it",
        megabytes=limits.bytes / _MEGABYTE,
        rows=limits.rows,
        columns=limits.columns,
    )


def empty_table_error() -> ReadError:
    """Return the error for a file without rows."""
    return ReadError(
        "the table has no rows", remedy="choose a table with at least one row"
    )


def check_size(size: int, *, limits: Limits = DEFAULT_LIMITS) -> None:
    """Refuse a file by its size in bytes alone, before it is read.

    Raises: LimitError.
    """
    if size > limits.bytes:
        raise _table_too_large_error(limits)


def check_rows(rows: int, *, limits: Limits) -> None:
    if rows > limits.rows:
        raise _table_too_large_error(limits)


def check_cell_length(length: int, *, limits: Limits) -> None:
    if length > limits.cell_length:
        raise long_cell_error(limits)


def long_cell_error(limits: Limits) -> LimitError:
    return LimitError(
        "a cell has more than {limit:,} characters",
        remedy=(
            "leave out columns of long free text, or look for a quotation mark that "
            "is not closed"
        ),
        limit=limits.cell_length,
    )


def check_header(
    header: Sequence[str], *, limits: Limits
) -> tuple[list[str], list[str]]:
    """Return the column names of a header, and notes on names made up here.

    Blanks around a name are cut off and an empty name becomes column_N. All else is
    kept as it is, markup and formulas included: harmless as data, and whoever shows or
    writes them escapes them.

    Raises: LimitError for too many columns or too long a name; ReadError for a control
        character in a name

    and for two columns of one name.
    """
    if len(header) > limits.columns:
        raise _table_too_large_error(limits)
    names = [
        name.strip(" ") or f"column_{position}"
        for position, name in enumerate(header, start=1)
    ]
    invented = [
        name for name, given in zip(names, header, strict=True) if not given.strip(" ")
    ]
    seen: set[str] = set()
    for position, name in enumerate(names, start=1):
        if len(name) > limits.cell_length or any(
            unicodedata.category(sign) in _INVISIBLE_CATEGORIES
            or sign in _TEXT_DIRECTION_CONTROLS
            for sign in name
        ):
            raise ReadError(
                (
                    "the name of column {position} is too long, or contains a line "
                    "break or another control character"
                ),
                remedy="give the column a short name without invisible characters",
                position=position,
            )
        if name in seen:
            raise ReadError(
                "the table has more than one column {column!r}",
                remedy="rename one of them",
                column=shorten_name(name),
            )
        seen.add(name)
    if not invented:
        return names, []
    note = Text(
        "{cells:,} header cell was empty; its column is now named {names}",
        many="{cells:,} header cells were empty; their columns are now named {names}",
        cells=len(invented),
        names=", ".join(invented[:5]) + (", ..." if len(invented) > 5 else ""),
    )
    return names, [note]


def shorten_name(name: str) -> str:
    """Shorten a column's name for messages to at most 60 characters."""
    return name if len(name) <= 60 else name[:59] + "…"
