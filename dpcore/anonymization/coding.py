"""Coarser numbers in a column that is published beside the quasi-identifiers; no
guarantee by itself.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.errors import ParameterError, falling_bounds, not_all_numbers

DIGITS = 12
"""Decimals of a rounded number."""


@dataclass(frozen=True, kw_only=True)
class Coding:
    """Rounding to a multiple of a base, then top and bottom coding: what lies beyond a
    bound becomes it.
    """

    low: float | None = None
    high: float | None = None
    base: float | None = None

    def __post_init__(self) -> None:
        if None not in (self.low, self.high) and self.low > self.high:  # type: ignore[operator]
            raise falling_bounds(self.low, self.high)
        if self.base is not None and not self.base > 0:
            raise ParameterError(
                "the base of rounding must be above 0", remedy="use a number such as 10"
            )

    def __call__(self, column: pd.Series) -> pd.Series:
        """Return the coded column; whole numbers stay whole where the bounds and the
        base are.

        Raises: SchemaError for a column that does not hold numbers.
        """
        types = pd.api.types
        if not types.is_numeric_dtype(column) or types.is_bool_dtype(column):
            raise not_all_numbers(column.name)
        coded = column
        if self.base is not None:
            coded = (np.floor(coded / self.base + 0.5) * self.base).round(DIGITS)
        coded = coded.clip(self.low, self.high)
        given = (each for each in (self.low, self.high, self.base) if each is not None)
        if types.is_integer_dtype(column) and all(
            float(each).is_integer() for each in given
        ):
            return coded.astype(column.dtype)
        return coded
