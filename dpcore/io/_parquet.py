"""Read Parquet files; the footer is checked before anything is unpacked.

A few packed bytes can unpack to any size: a column of one repeated value costs next to
nothing in the file. So the footer's rows, columns and unpacked bytes are checked first.
Then, because a footer may lie, rows are decoded in batches, and what they really take
is measured after each. Texts are read as dictionaries and measured before they are
spread over the rows. What pandas or others wrote beside the data is not looked at.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.errors import LimitError, ReadError, damaged_file_error
from dpcore.io.checks import (
    Limits,
    check_cell_length,
    check_header,
    check_rows,
    check_size,
    empty_table_error,
    shorten_name,
)
from dpcore.schema.order import CATEGORY_ORDERS, ORDERED_COLUMNS
from dpcore.tables.arrow import (
    exact_dtype,
    is_supported,
    is_text,
    nullable_dtypes,
    to_plain,
)
from dpcore.text import Text

_BATCH_ROWS = 65_536
# Memory that a table may take, as a multiple of the file limit: a number of 8 bytes may
# be packed into less than one, and decoding makes a copy.
_MAX_MEMORY_RATIO = 10


def read_parquet(data: bytes, *, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    """Read the table of a Parquet file; return it with notes on its columns.

    Numbers, booleans, dates, texts, times of day and durations are taken. Other
    columns, such as lists, are left out and named.

    Raises: LimitError, ReadError.
    """
    try:
        return _read_checked(data, limits)
    except (pa.ArrowException, OSError, ValueError) as error:
        if isinstance(error, LimitError | ReadError | MemoryError):
            raise
        raise damaged_file_error("parquet") from None


def _read_checked(data: bytes, limits: Limits) -> tuple[pd.DataFrame, list[str]]:
    import pyarrow.parquet as pq

    footer = pq.read_metadata(pa.BufferReader(data))
    groups = [footer.row_group(index) for index in range(footer.num_row_groups)]
    rows = max(footer.num_rows, sum(group.num_rows for group in groups))
    check_rows(rows, limits=limits)
    schema = footer.schema.to_arrow_schema()
    all_names, notes = check_header(schema.names, limits=limits)
    taken = [
        (name, field)
        for name, field in zip(all_names, schema, strict=True)
        if is_supported(field.type) or _is_time_or_duration(field.type)
    ]
    names = [name for name, _ in taken]
    left_out = [shorten_name(name) for name in all_names if name not in names]
    if not taken:
        raise ReadError(
            "column {column!r} holds values that are neither numbers nor dates nor "
            "texts",
            remedy="leave it out, or write it as text",
            column=left_out[0],
        )
    if left_out:
        notes.append(
            Text(
                (
                    "columns left out because their values are not numbers, dates "
                    "or texts: {columns}"
                ),
                columns=", ".join(left_out),
            )
        )
    clocks = [name for name, field in taken if _is_time_or_duration(field.type)]
    if clocks:
        notes.append(
            Text(
                "times of day and durations were read as seconds: {columns}",
                columns=", ".join(map(shorten_name, clocks)),
            )
        )
    # As text, every cell would take at least one byte, so a table with more cells than
    # the limit has bytes is refused.
    check_size(rows * len(names), limits=limits)
    check_size(sum(group.total_byte_size for group in groups), limits=limits)

    fields = [field for _, field in taken]
    texts = [field.name for field in fields if is_text(field.type)]
    file = pq.ParquetFile(
        pa.BufferReader(data), read_dictionary=texts, pre_buffer=False
    )
    start = pa.total_allocated_bytes()
    text_bytes = 0
    count = 0
    batches: list[list[Any]] = []
    orders: dict[str, tuple[str, ...]] = {}
    batches_of_file = file.iter_batches(
        batch_size=_BATCH_ROWS,
        columns=[field.name for field in fields],
        use_threads=False,
    )
    for batch in batches_of_file:
        batch.validate(full=True)
        count += batch.num_rows
        check_rows(count, limits=limits)  # the footer may say less than there is
        for column in batch.columns:
            if pa.types.is_dictionary(column.type):
                text_bytes += _count_text_bytes(column, limits)
        check_size(text_bytes, limits=limits)
        check_size(
            (pa.total_allocated_bytes() - start) // _MAX_MEMORY_RATIO, limits=limits
        )
        shown_orders = _ordered_labels(names, fields, batch)
        if not batches:
            orders = shown_orders
        orders = {
            name: labels
            for name, labels in orders.items()
            if shown_orders.get(name) == labels
        }
        batches.append(
            [
                _to_seconds(column)
                if _is_time_or_duration(column.type)
                else to_plain(column)
                for column in batch.columns
            ]
        )
    if not count:
        raise empty_table_error()
    orders = {
        name: labels
        for name, labels in orders.items()
        if _has_dictionaries(groups, fields[names.index(name)].name)
    }
    columns = [pa.chunked_array(chunks) for chunks in zip(*batches, strict=True)]
    table = pa.table(columns, names=names)
    frame: pd.DataFrame = table.to_pandas(
        ignore_metadata=True, date_as_object=False, types_mapper=exact_dtype
    )
    for name, column in zip(names, columns, strict=True):
        if (
            column.null_count
            and pa.types.is_integer(column.type)
            and not _fits_float(column)
        ):
            frame[name] = column.to_pandas(types_mapper=nullable_dtypes().get)
    frame.attrs[CATEGORY_ORDERS] = orders
    frame.attrs[ORDERED_COLUMNS] = tuple(orders)
    return frame, notes


def _is_time_or_duration(arrow_type: Any) -> bool:
    """Return whether an Arrow type is a time of day or a duration."""
    return bool(pa.types.is_time(arrow_type) or pa.types.is_duration(arrow_type))


def _to_seconds(column: Any) -> Any:
    """Convert times of day or durations to seconds."""
    per_second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[column.type.unit]
    whole = column.cast(
        pa.int32() if pa.types.is_time32(column.type) else pa.int64()
    ).cast(pa.int64())
    if per_second == 1:
        return whole
    return pc.divide(whole.cast(pa.float64(), safe=False), float(per_second))


def _ordered_labels(
    names: Sequence[str], schema: Any, batch: Any
) -> dict[str, tuple[str, ...]]:
    """Return the labels of each column that the file describes as ordered."""
    return {
        name: tuple(label for label in column.dictionary.to_pylist() if label)
        for name, field, column in zip(names, schema, batch.columns, strict=True)
        if pa.types.is_dictionary(field.type)
        and field.type.ordered
        and pa.types.is_dictionary(column.type)
        and is_text(column.type.value_type)
    }


def _has_dictionaries(groups: Sequence[Any], name: str) -> bool:
    """Return whether a file stores the labels of a column in dictionaries.

    Without a dictionary of its own a column gets one as it is read, in the order of its
    first rows.
    """
    chunks = (
        group.column(place) for group in groups for place in range(group.num_columns)
    )
    return all(
        chunk.has_dictionary_page for chunk in chunks if chunk.path_in_schema == name
    )


def _fits_float(column: Any) -> bool:
    """Return whether float64 holds every whole number of a column exactly."""
    return all(
        end is None or abs(end) <= 2**53 for end in pc.min_max(column).as_py().values()
    )


def _count_text_bytes(column: Any, limits: Limits) -> int:
    """Return how many bytes a dictionary column takes with one text per row."""
    check_cell_length(
        pc.max(pc.utf8_length(column.dictionary)).as_py() or 0, limits=limits
    )
    return pc.sum(pc.binary_length(column.dictionary).take(column.indices)).as_py() or 0
