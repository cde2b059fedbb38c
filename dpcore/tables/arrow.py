"""Conversion of Arrow tables to frames of numbers, dates and texts.

The result for a value depends on the value and the declared type of its column, never
on other values, so that a table read in batches equals the table read at once.
"""

import contextlib
import decimal
import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.errors import SchemaError, unsupported_values_error
from dpcore.schema.values import NUMBER_PATTERN, is_arrow_decimal, list_texts

_MAX_INT64_DIGITS = 18
"""Digits of whole decimals that always fit into int64."""


def is_text(kind: Any) -> bool:
    """Return whether an Arrow type holds texts."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or (pa.types.is_dictionary(kind) and is_text(kind.value_type)),
    )


def is_uuid(kind: Any) -> bool:
    """Return whether an Arrow type holds UUIDs, written as hexadecimal digits."""
    return getattr(kind, "extension_name", "") == "arrow.uuid"


def is_postgres_numeric(kind: Any) -> bool:
    """Return whether a type is PostgreSQL's NUMERIC, which is read as exact texts."""
    return (
        getattr(kind, "extension_name", "") == "arrow.opaque"
        and kind.type_name == "numeric"
    )


def is_supported(kind: Any) -> bool:
    """Return whether an Arrow type holds numbers, booleans, dates or texts."""
    if pa.types.is_dictionary(kind):
        return is_supported(kind.value_type)
    return bool(
        is_text(kind)
        or is_uuid(kind)
        or is_postgres_numeric(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
        or pa.types.is_null(kind),
    )


def value_type(kind: Any) -> Any:
    """Return the Arrow type of a column's values, ignoring dictionary encoding."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if is_text(kind) else kind


def check_types(fields: Iterable[tuple[str, Any]]) -> None:
    """Refuse columns of lists, structs, bytes and the like, and repeated names."""
    seen = set()
    for name, kind in fields:
        if not is_supported(kind):
            raise unsupported_values_error(name)
        if name in seen:
            raise SchemaError(
                "the table has more than one column {column!r}",
                remedy="rename one of them",
                column=name,
            )
        seen.add(name)


def column_types(schema: Any) -> dict[str, Any]:
    """Return the Arrow type of each column.

    Raises: as `check_types`.
    """
    check_types(zip(schema.names, schema.types, strict=True))
    return dict(zip(schema.names, schema.types, strict=True))


def to_plain(column: Any) -> Any:
    """Cast a column to a type that pandas reads as numbers, dates or texts.

    Whole decimals of up to 18 digits are int64; other decimals keep all their digits.
    Times with a zone are in UTC, in which each instant has a time of its own, and which
    all engines know.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if is_uuid(kind):
        return pa.array(
            [value and list_texts([value])[0] for value in column.to_pylist()],
            pa.string(),
        )
    if is_text(kind) or pa.types.is_null(kind):
        return column.cast(pa.string())
    # Arrow's functions do not take decimals of 32 and 64 bits
    if pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
        kind = pa.decimal128(kind.precision, kind.scale)
        column = column.cast(kind)
    if (
        pa.types.is_decimal(kind)
        and kind.scale <= 0
        and kind.precision - kind.scale <= _MAX_INT64_DIGITS
    ):
        return column.cast(pa.int64())
    if pa.types.is_timestamp(kind) and kind.tz:
        return column.cast(pa.timestamp(kind.unit, "UTC"))
    return column


def to_frame(batch: Any) -> pd.DataFrame:
    """Convert a record batch to a frame, with texts as categories."""
    columns = [_encode_column(column) for column in batch.columns]
    kinds = {column.type for column in columns if column.null_count}
    table = pa.Table.from_arrays(columns, names=batch.schema.names)
    frame: pd.DataFrame = table.to_pandas(
        ignore_metadata=True,
        date_as_object=False,
        split_blocks=True,
        types_mapper=lambda kind: (
            exact_dtype(kind)
            or (nullable_dtypes().get(kind) if kind in kinds else None)
        ),
    )
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if is_postgres_numeric(column.type):
            frame[name] = frame[name].cat.rename_categories(
                [decimal.Decimal(text) for text in frame[name].cat.categories],
            )
    return frame


def encode_texts(batch: Any) -> Any:
    """Return a record batch with its text columns dictionary-encoded."""
    columns = [
        _encode_column(column) if is_text(column.type) else column
        for column in batch.columns
    ]
    return pa.record_batch(columns, names=batch.schema.names)


def is_dictionary(kind: Any) -> bool:
    """Return whether an Arrow type is dictionary-encoded."""
    return bool(pa.types.is_dictionary(kind))


def distinct_texts(batches: list[Any]) -> Any:
    """Return a one-column batch that holds each text of the coded batches once.

    The last line is missing if a row is.
    """
    columns = [batch.column(0) for batch in batches]
    texts = pa.chunked_array([column.dictionary for column in columns]).unique()
    lines = pa.array(range(len(texts)), pa.int32())
    if any(column.null_count for column in columns):
        lines = pa.concat_arrays([lines, pa.nulls(1, pa.int32())])
    coded = pa.DictionaryArray.from_arrays(lines, texts)
    return pa.record_batch([coded], names=batches[0].schema.names)


def find_text_lines(batches: list[Any], distinct: Any) -> Iterator[Any]:
    """Yield, for each batch, the line of each row's text in `distinct_texts`."""
    texts = distinct.column(0).dictionary
    for batch in batches:
        column = batch.column(0)
        lines = pc.index_in(column.dictionary, value_set=texts)
        yield lines.take(column.indices).fill_null(len(texts)).to_numpy()


def parse_texts(batches: list[Any], *, is_date: bool) -> list[Any]:
    """Convert batches of one coded text column to numbers, or times, if all parse."""
    columns = [batch.column(0) for batch in batches]
    texts = pa.chunked_array([column.dictionary for column in columns])
    if (
        is_date
        or pc.all(pc.match_substring_regex(texts, f"^(?:{NUMBER_PATTERN})$")).as_py()
        is not False
    ):
        for kind in (pa.timestamp("us"),) if is_date else (pa.int64(), pa.float64()):
            with contextlib.suppress(pa.ArrowInvalid):
                values = [
                    column.dictionary.cast(kind).take(column.indices)
                    for column in columns
                ]
                return [
                    pa.record_batch([array], names=batches[0].schema.names)
                    for array in values
                ]
    return batches


def exact_dtype(kind: Any) -> Any:
    """Return the pandas type for exact decimals, None for other Arrow types."""
    dtype = pd.ArrowDtype(kind)
    return dtype if is_arrow_decimal(dtype) else None


@functools.cache
def nullable_dtypes() -> Mapping[Any, Any]:
    """Return nullable pandas types of integers and booleans, by Arrow type."""
    signed = (pd.Int8Dtype(), pd.Int16Dtype(), pd.Int32Dtype(), pd.Int64Dtype())
    unsigned = (pd.UInt8Dtype(), pd.UInt16Dtype(), pd.UInt32Dtype(), pd.UInt64Dtype())
    return {
        pa.from_numpy_dtype(dtype.type): dtype
        for dtype in (*signed, *unsigned, pd.BooleanDtype())
    }


def decode_categories(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert categories of a frame back to values.

    A list of categories outlives the rows that had them, and its order tells whose row
    came first.
    """
    kinds = {
        name: column.dtype.categories.dtype
        if not (column.hasnans and column.dtype.categories.dtype.kind in "biu")
        else object
        for name, column in frame.items()
        if isinstance(column.dtype, pd.CategoricalDtype)
    }
    return frame.astype(kinds) if kinds else frame


def _encode_column(column: Any) -> Any:
    if is_postgres_numeric(column.type):
        column = column.storage
    if not is_text(column.type):
        return to_plain(column)
    coded = (
        column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    )
    return coded.cast(pa.dictionary(pa.int32(), pa.string()))
