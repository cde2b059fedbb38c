"""Simple coding of one column: extremes cut off, numbers rounded, identifiers replaced by pseudonyms.

None of these makes a table anonymous by itself. Pseudonyms least of all: whoever holds the key can undo
them, and the rest of the row still tells who it is. They are a step of their own, named as such.
"""

from __future__ import annotations

import hashlib
import hmac
import math

import numpy as np
import pandas as pd

from dpcore.errors import ParameterError, SchemaError
from dpcore.schema.values import is_exact, texts

KEY_BYTES = 16


def top_bottom_coded(
    column: pd.Series, *, bottom: float | None = None, top: float | None = None
) -> pd.Series:
    """Numbers below `bottom` become `bottom`, numbers above `top` become `top`; missing values stay missing.

    Raises: ParameterError when bottom is above top; SchemaError when the column does not hold numbers.
    """
    _check_numbers(column)
    if bottom is not None and top is not None and bottom > top:
        raise ParameterError(
            "bottom ({bottom}) must not be above top ({top})",
            remedy="exchange the two",
            bottom=bottom,
            top=top,
        )
    coded: pd.Series = column.clip(lower=bottom, upper=top)
    return coded


def rounded(column: pd.Series, *, base: float) -> pd.Series:
    """Numbers become the nearest multiple of `base`, halves away from 0; missing values stay missing.

    Raises: ParameterError for a base that is not above 0; SchemaError when the column does not hold numbers.
    """
    _check_numbers(column)
    if not (base > 0 and math.isfinite(base)):
        raise ParameterError("base ({base}) must be above 0", remedy="give a width such as 5", base=base)
    if is_exact(column.dtype):
        column = column.astype("float64")
    multiples: pd.Series = np.sign(column) * np.floor(column.abs() / base + 0.5) * base
    whole = pd.api.types.is_integer_dtype(column) and float(base).is_integer()
    return multiples.astype(column.dtype) if whole else multiples


def pseudonyms(column: pd.Series, *, key: bytes) -> pd.Series:
    """Each value becomes 32 hexadecimal digits that only the key's holder can compute; missing stays missing.

    Equal values get equal pseudonyms under one key (HMAC-SHA256, first 128 bits). This is not anonymization.

    Raises: ParameterError for a key of fewer than 16 bytes: a short one can be guessed, and with it every
        value.
    """
    if len(key) < KEY_BYTES:
        raise ParameterError(
            "the key must have at least {key_bytes} bytes",
            remedy="draw one with secrets.token_bytes(32)",
            key_bytes=KEY_BYTES,
        )
    rows, values = pd.factorize(column)
    drawn = [hmac.new(key, text.encode(), hashlib.sha256).hexdigest()[:32] for text in texts(values)]
    return pd.Series(np.array([*drawn, None], dtype=object)[rows], index=column.index, name=column.name)


def _check_numbers(column: pd.Series) -> None:
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        raise SchemaError(
            "{column} does not hold numbers", remedy="choose a column of numbers", column=column.name
        )
