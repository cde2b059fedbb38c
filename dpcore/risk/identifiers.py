"""Which columns look like identifiers: by the detector, or since nearly every row has its own value."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.schema.detector import detect
from dpcore.schema.values import MISSING, SUPPRESSED
from dpcore.tables.classes import IntArray, leaves_of
from dpcore.text import Text

NEARLY_ALL = 0.95
"""Share of rows with a value of their own from which a text or a whole number looks like a key."""

FEW_ROWS = 10
"""In smaller tables uniqueness says nothing."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A column that looks like an identifier.

    Attributes:
        kind: a word such as "e-mail"; "unique values" when nothing but uniqueness speaks.
        share: of the distinct values looked at, those of this kind; of the rows, for "unique values".
        reason: a sentence for people; it never shows a value.
    """

    column: str
    kind: str
    share: float
    reason: str


def find_identifiers(frame: pd.DataFrame) -> list[Finding]:
    """The columns that look like identifiers, in the order of the table.

    Raises: SchemaError for a table without rows.
    """
    found = (_look(frame, name) for name in frame.columns)
    return [finding for finding in found if finding is not None]


def _look(frame: pd.DataFrame, name: str) -> Finding | None:
    leaves = leaves_of(frame, name)
    values = [text for text in leaves.labels if text not in (MISSING, SUPPRESSED)]
    detection = detect(name, values)
    if detection is None:
        return _unique(frame, name, np.bincount(leaves.codes))
    reason = Text(
        "{share:.0%} of its distinct values have the shape of this kind{evidence}.",
        share=detection.share,
        evidence=detection.evidence,
    )
    return Finding(column=name, kind=detection.kind, share=detection.share, reason=reason)


def _unique(frame: pd.DataFrame, name: str, counts: IntArray) -> Finding | None:
    """Texts and whole numbers of which nearly every row has its own; fractions are so without being keys."""
    share = float((counts == 1).sum() / len(frame))
    if share < NEARLY_ALL or len(frame) < FEW_ROWS or _is_amount(frame[name]):
        return None
    reason = Text("{share:.0%} of the rows have a value of their own.", share=share)
    return Finding(column=name, kind="unique values", share=share, reason=reason)


def _is_amount(values: pd.Series) -> bool:
    """Numbers that are measured, not given out: fractions, and whole numbers of few digits with wide gaps."""
    if pd.api.types.is_bool_dtype(values.dtype) or not pd.api.types.is_numeric_dtype(values.dtype):
        return False
    if not pd.api.types.is_integer_dtype(values.dtype):
        return True
    low, high = int(values.min()), int(values.max())
    given_out = high - low < 2 * len(values) or len(str(low)) == len(str(high)) >= 6
    return not given_out
