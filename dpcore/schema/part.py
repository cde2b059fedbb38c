"""A part of a table: the rows with one category of one column, which is publicly declared."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping

from dpcore.errors import BudgetError, ParameterError
from dpcore.schema.schema import Schema

Part = tuple[str, str]
"""Name of the column, and its category."""


def declared_part(schema: Schema, part: Mapping[str, str] | None) -> Part | None:
    """Check a part, {column: category}, against public facts; None is the whole table.

    Raises: ParameterError for several columns; SchemaError for an unknown one; BudgetError for a column whose
        categories were taken from the data.
    """
    if not part:
        return None
    if len(part) != 1:
        raise ParameterError(
            "a part is named by one column and one of its categories", remedy='write {"sex": "Female"}'
        )
    ((column, category),) = part.items()
    schema.part_code(column, category)
    if schema.column(column).from_data:
        raise BudgetError(
            "the cells of column {column!r} were taken from the data, so its parts are not public",
            remedy="confirm its facts as known from outside, or read the whole table",
            column=column,
        )
    return column, category


def with_digest(schema: Schema, part: Part) -> Part:
    """Return the part with a digest of its column's cells.

    Parts of one declaration are disjoint; those of another may overlap, and add up, as those of different
    columns do.
    """
    column, category = part
    text = json.dumps(schema.column(column).to_dict(), sort_keys=True)
    return f"{column} #{hashlib.sha256(text.encode()).hexdigest()[:16]}", category
