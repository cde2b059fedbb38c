"""Values as texts: the one place where a value becomes text."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt
import pandas as pd

MISSING_LABEL = "(missing)"


OTHER_LABEL = "(other)"


_WHOLE = r"-?(?:0|[1-9][0-9]*)"  # no leading zeros: 01234 is a code


_DECIMAL = rf"{_WHOLE}[eE][+-]?[0-9]+|(?:{_WHOLE}\.[0-9]*|-?\.[0-9]+)(?:[eE][+-]?[0-9]+)?|-0"


def as_text(values: pd.Series) -> pd.Series:
    """Every value as trimmed text; missing stays missing.

    A number has one text, however it was written: 1, 1.0 and "1.00" are "1", but "01" is a code. A time at
    midnight is a date. The text of a value depends on nothing but that value: were it otherwise, one person
    could change how the rows of all others are counted.
    """
    if pd.api.types.is_bool_dtype(values.dtype):
        return values.astype("str")
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return _times_as_text(values)
    if pd.api.types.is_float_dtype(values.dtype):
        numbers = values.to_numpy(dtype=np.float64, na_value=np.nan)
        whole = (np.abs(numbers) < 2**53) & (numbers == np.floor(numbers))
        texts = values.astype("str").astype(object)
        texts[whole] = numbers[whole].astype(np.int64).astype("str")
        return texts.astype("str")
    texts = values.astype("str")
    if pd.api.types.is_numeric_dtype(values.dtype):
        return texts
    texts = texts.str.strip()
    decimal = texts.str.fullmatch(_DECIMAL).fillna(False).to_numpy(dtype=bool)
    if decimal.any():
        texts = texts.where(~decimal, as_text(texts.where(decimal).astype("float64")))
    return texts


def texts_of(labels: Iterable[object]) -> list[str]:
    """Declared texts or numbers in the form in which `as_text` gives values."""
    return as_text(pd.Series([str(label) for label in labels], dtype="str")).tolist()


def numbers_in(texts: pd.Series) -> npt.NDArray[np.float64]:
    """The numbers among texts of `as_text`; NaN for all else, such as the code 01."""
    return texts.where(texts.str.fullmatch(f"{_WHOLE}|{_DECIMAL}").fillna(False)).to_numpy(
        np.float64, na_value=np.nan
    )


def _times_as_text(values: pd.Series) -> pd.Series:
    local = values if getattr(values.dt, "tz", None) is None else values.dt.tz_localize(None)
    stamps = np.datetime_as_string(local.to_numpy(dtype="datetime64[us]"))
    texts = pd.Series(stamps, index=values.index, dtype="str").str.replace("T", " ", regex=False)
    return texts.str.removesuffix(".000000").str.removesuffix(" 00:00:00").where(values.notna())


MISSING = "(missing)"


SUPPRESSED = "*"


def texts(values: Iterable[object]) -> list[str]:
    """Cells as hierarchies write them: 39.0 is `39`, midnight is a date, nothing is `(missing)`."""
    return [_text(value) for value in values]


def _text(value: object) -> str:
    if isinstance(value, str):
        return value
    if pd.isna(value):  # type: ignore[call-overload]
        return MISSING
    if isinstance(value, float | np.floating) and value.is_integer():
        return str(int(value))
    if isinstance(value, pd.Timestamp | np.datetime64):
        moment = pd.Timestamp(value)
        return str(moment.date()) if moment == moment.normalize() else moment.isoformat()
    return str(value)
