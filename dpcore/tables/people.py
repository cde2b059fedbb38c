"""Numbers of people, if a person may have several rows."""

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpcore.errors import missing_column_error, no_rows_error
from dpcore.schema.values import canonicalize
from dpcore.tables.classes import IntArray, class_index, class_sizes


def person_codes(frame: pd.DataFrame, column: str | None) -> IntArray | None:
    """Return each row's person as a number; None if every row is another person.

    Ids are texts as they were written, as for the guarantee. Rows without an id count
    as one person together, since nothing is known about them.

    Raises: SchemaError when the frame has no such column or no rows.
    """
    if column is None:
        return None
    if column not in frame.columns:
        raise missing_column_error(column)
    if frame.empty:
        raise no_rows_error()
    codes = canonicalize(frame[column]).persons()
    return None if int(codes.max()) + 1 == len(codes) else codes


def select_one_row_per_person(groups: IntArray, person: IntArray | None) -> IntArray:
    """Return ascending indices of one row for each person in each group."""
    if person is None:
        return np.arange(len(groups))
    pair = class_index([groups, person])
    first = np.empty(int(pair.max(initial=-1)) + 1, dtype=np.int64)
    first[pair[::-1]] = np.arange(len(pair))[::-1]
    return np.sort(first)


def people_per_class(classes: IntArray, person: IntArray | None) -> IntArray:
    """Count the distinct people of each class, shape (classes,)."""
    number = int(classes.max(initial=-1)) + 1
    if person is not None:
        classes = classes[select_one_row_per_person(classes, person)]
    return np.bincount(classes, minlength=number)


def count_people_and_unique_share(
    keys: IntArray, person: IntArray | None, counts: IntArray | None = None
) -> tuple[IntArray, float]:
    """Count the people of each class; return also the share of unique people.

    Args:
        keys: (rows,) equal within a class.
        person: (rows,) number of the person, None if every row is one.
        counts: how many rows, all of different people, each row stands for; 1 by
            default.
    """
    if person is not None:
        classes = class_index([keys])
        sizes = people_per_class(classes, person)
        return sizes, float(max_per_person(sizes[classes] == 1, person).mean())
    sizes = (
        class_sizes(keys)
        if counts is None
        else np.bincount(class_index([keys]), counts).astype(np.int64)
    )
    return sizes, int((sizes == 1).sum()) / int(sizes.sum())


def max_per_person(values: NDArray[Any], person: IntArray | None) -> NDArray[Any]:
    """Return the largest value of each person's rows, at least 0, shape (people,)."""
    if person is None:
        return values
    largest = np.zeros(int(person.max()) + 1, dtype=values.dtype)
    np.maximum.at(largest, person, values)
    return largest
