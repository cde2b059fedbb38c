"""Arrow tables as frames of numbers, dates and texts.

What a value becomes follows from the value and the declared type of its column, never
from the other values, so that a table read in batches is the table read at once.
"""

import contextlib
import decimal
import functools
from collections.abc import Iterable, Mapping
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc

from dpcore.errors import SchemaError, no_values
from dpcore.schema.values import NUMBER, is_exact, texts

_DIGITS = 18
"""Digits that fit into int64 in any whole number."""


def is_text(kind: Any) -> bool:
    """Return True if a type of Arrow holds texts."""
    return bool(
        pa.types.is_string(kind)
        or pa.types.is_large_string(kind)
        or pa.types.is_string_view(kind)
        or (pa.types.is_dictionary(kind) and is_text(kind.value_type)),
    )


def is_uuid(kind: Any) -> bool:
    """Return True if a type of Arrow holds UUIDs, whose texts are their hexadecimal
    digits.
    """
    return getattr(kind, "extension_name", "") == "arrow.uuid"


def is_numeric(kind: Any) -> bool:
    """Return True if a type is NUMERIC of PostgreSQL, which its driver returns as texts
    of all digits.
    """
    return (
        getattr(kind, "extension_name", "") == "arrow.opaque"
        and kind.type_name == "numeric"
    )


def is_taken(kind: Any) -> bool:
    """Return True if a type of Arrow holds numbers, booleans, dates or texts."""
    if pa.types.is_dictionary(kind):
        return is_taken(kind.value_type)
    return bool(
        is_text(kind)
        or is_uuid(kind)
        or is_numeric(kind)
        or pa.types.is_integer(kind)
        or pa.types.is_floating(kind)
        or pa.types.is_decimal(kind)
        or pa.types.is_boolean(kind)
        or pa.types.is_date(kind)
        or pa.types.is_timestamp(kind)
        or pa.types.is_null(kind),
    )


def kind_of(kind: Any) -> Any:
    """Return the type of the values, however they are stored."""
    if pa.types.is_dictionary(kind):
        kind = kind.value_type
    return pa.string() if is_text(kind) else kind


def check_types(fields: Iterable[tuple[str, Any]]) -> None:
    """Refuse columns of lists, structs, bytes and the like, and a name that is there
    twice.
    """
    seen = set()
    for name, kind in fields:
        if not is_taken(kind):
            raise no_values(name)
        if name in seen:
            raise SchemaError(
                "the table has more than one column {column!r}",
                remedy="rename one of them",
                column=name,
            )
        seen.add(name)


def kinds_of(schema: Any) -> dict[str, Any]:
    """Return the types of a table by column.

    Raises: as `check_types`.
    """
    check_types(zip(schema.names, schema.types, strict=True))
    return dict(zip(schema.names, schema.types, strict=True))


def plain(column: Any) -> Any:
    """Cast a column to one of the types that pandas takes over as numbers, dates or
    texts.

    Whole decimals of up to 18 digits are int64; other decimals stay what they are, in
    all their digits. Times with a zone are in UTC, in which each instant has a time of
    its own, and which all engines know.
    """
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    kind = column.type
    if is_uuid(kind):
        return pa.array(
            [each and texts([each])[0] for each in column.to_pylist()], pa.string()
        )
    if is_text(kind) or pa.types.is_null(kind):
        return column.cast(pa.string())
    # of which Arrow counts and finds nothing
    if pa.types.is_decimal32(kind) or pa.types.is_decimal64(kind):
        kind = pa.decimal128(kind.precision, kind.scale)
        column = column.cast(kind)
    if (
        pa.types.is_decimal(kind)
        and kind.scale <= 0
        and kind.precision - kind.scale <= _DIGITS
    ):
        return column.cast(pa.int64())
    if pa.types.is_timestamp(kind) and kind.tz:
        return column.cast(pa.timestamp(kind.unit, "UTC"))
    return column


def frame_of(batch: Any) -> pd.DataFrame:
    """Convert a record batch to a frame, with texts as categories and whole numbers as
    such.
    """
    columns = [_coded(column) for column in batch.columns]
    kinds = {column.type for column in columns if column.null_count}
    table = pa.Table.from_arrays(columns, names=batch.schema.names)
    frame: pd.DataFrame = table.to_pandas(
        ignore_metadata=True,
        date_as_object=False,
        split_blocks=True,
        types_mapper=lambda kind: (
            exact(kind) or (nullable().get(kind) if kind in kinds else None)
        ),
    )
    for name, column in zip(batch.schema.names, batch.columns, strict=True):
        if is_numeric(column.type):
            frame[name] = frame[name].cat.rename_categories(
                [decimal.Decimal(text) for text in frame[name].cat.categories],
            )
    return frame


def texts_coded(batch: Any) -> Any:
    """Return a record batch with dictionaries in place of texts."""
    columns = [
        _coded(column) if is_text(column.type) else column for column in batch.columns
    ]
    return pa.record_batch(columns, names=batch.schema.names)


def parsed(batches: list[Any], *, is_date: bool) -> list[Any]:
    """Return batches of one column of coded texts with numbers, or times, in place if
    all are written so.
    """
    columns = [batch.column(0) for batch in batches]
    texts = pa.chunked_array([column.dictionary for column in columns])
    if (
        is_date
        or pc.all(pc.match_substring_regex(texts, f"^(?:{NUMBER})$")).as_py()
        is not False
    ):
        for kind in (pa.timestamp("us"),) if is_date else (pa.int64(), pa.float64()):
            with contextlib.suppress(pa.ArrowInvalid):
                values = [
                    column.dictionary.cast(kind).take(column.indices)
                    for column in columns
                ]
                return [
                    pa.record_batch([each], names=batches[0].schema.names)
                    for each in values
                ]
    return batches


def exact(kind: Any) -> Any:
    """Return the pandas type for decimals with all their digits, or None for other
    types.
    """
    dtype = pd.ArrowDtype(kind)
    return dtype if is_exact(dtype) else None


@functools.cache
def nullable() -> Mapping[Any, Any]:
    """Return the nullable pandas types of whole numbers and truth values by type of
    Arrow.
    """
    signed = (pd.Int8Dtype(), pd.Int16Dtype(), pd.Int32Dtype(), pd.Int64Dtype())
    unsigned = (pd.UInt8Dtype(), pd.UInt16Dtype(), pd.UInt32Dtype(), pd.UInt64Dtype())
    return {
        pa.from_numpy_dtype(each.type): each
        for each in (*signed, *unsigned, pd.BooleanDtype())
    }


def uncoded(frame: pd.DataFrame) -> pd.DataFrame:
    """Convert categories of a frame back to texts.

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


def _coded(column: Any) -> Any:
    if is_numeric(column.type):
        column = column.storage
    if not is_text(column.type):
        return plain(column)
    coded = (
        column if pa.types.is_dictionary(column.type) else column.dictionary_encode()
    )
    return coded.cast(pa.dictionary(pa.int32(), pa.string()))
