"""Round published numbers and clip them to bounds; no guarantee by itself."""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.errors import ParameterError, falling_bounds_error, not_numeric_error

ROUNDING_DECIMALS = 12
"""Decimals to which a multiple of the base is rounded."""


@dataclass(frozen=True, kw_only=True)
class Coding:
    """Rounds numbers to multiples of a base, then clips them to the bounds."""

    low: float | None = None
    high: float | None = None
    base: float | None = None

    def __post_init__(self) -> None:
        if None not in (self.low, self.high) and self.low > self.high:  # type: ignore[operator]
            raise falling_bounds_error(self.low, self.high)
        if self.base is not None and not self.base > 0:
            raise ParameterError(
                "the base of rounding must be above 0", remedy="use a number such as 10"
            )

    def __call__(self, column: pd.Series) -> pd.Series:
        """Return the rounded and clipped column.

        Whole numbers stay whole if the bounds and the base are whole.

        Raises: SchemaError for a column that does not hold numbers.
        """
        types = pd.api.types
        if not types.is_numeric_dtype(column) or types.is_bool_dtype(column):
            raise not_numeric_error(column.name)
        coded = column
        if self.base is not None:
            coded = (np.floor(coded / self.base + 0.5) * self.base).round(
                ROUNDING_DECIMALS
            )
        coded = coded.clip(self.low, self.high)
        parameters = (self.low, self.high, self.base)
        is_whole = all(
            float(parameter).is_integer()
            for parameter in parameters
            if parameter is not None
        )
        if types.is_integer_dtype(column) and is_whole:
            return coded.astype(column.dtype)
        return coded
