"""Numbers of people where a person may have several rows."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpcore.errors import no_column, no_rows
from dpcore.schema.values import canonical
from dpcore.tables.classes import IntArray, class_index


def person_of(frame: pd.DataFrame, column: str | None) -> IntArray | None:
    """Return a number per person for each row, or None where every row is another person.

    Ids are texts as they were written, as for the promise. Rows without an id count as one person together:
    that they are more is not known.

    Raises: SchemaError when the frame has no such column or no rows.
    """
    if column is None:
        return None
    if column not in frame.columns:
        raise no_column(column)
    if frame.empty:
        raise no_rows()
    codes = canonical(frame[column]).persons()
    return None if int(codes.max()) + 1 == len(codes) else codes


def once_each(groups: IntArray, person: IntArray | None) -> IntArray:
    """Return the ascending places of one row per person and group."""
    if person is None:
        return np.arange(len(groups))
    pair = class_index([groups, person])
    first = np.empty(int(pair.max(initial=-1)) + 1, dtype=np.int64)
    first[pair[::-1]] = np.arange(len(pair))[::-1]
    return np.sort(first)


def people_per_class(classes: IntArray, person: IntArray | None) -> IntArray:
    """Return the distinct people of each class, of shape (classes,)."""
    return np.bincount(classes[once_each(classes, person)], minlength=int(classes.max(initial=-1)) + 1)


def largest_each(values: NDArray[Any], person: IntArray | None) -> NDArray[Any]:
    """Return the largest value, at least 0, of each person's rows, of shape (people,)."""
    if person is None:
        return values
    largest = np.zeros(int(person.max()) + 1, dtype=values.dtype)
    np.maximum.at(largest, person, values)
    return largest
