"""Columns that look like identifiers: by kind, free text, or unique values."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.schema.detector import detect_identifier
from dpcore.schema.values import MISSING, SUPPRESSED
from dpcore.tables.classes import IntArray, leaves_of
from dpcore.text import Text

MIN_UNIQUE_SHARE_OF_KEY = 0.95
"""Share of rows with a value of their own from which a text or a whole number looks
like a key.
"""

MIN_ROWS = 10
"""In smaller tables uniqueness says nothing."""

FREE_TEXT = Text("free text")
RUNNING_NUMBER = Text("running number")
MIN_SENTENCE_SHARE = 0.3
"""Share of the distinct values that are sentences in a column of free text; some
answers are short.
"""
_SENTENCE_PATTERN = re.compile(
    r"\S+(\s+\S+){4,}|(?=(.*[\u4e00-\u9fff]){12}).*", re.DOTALL
)
"""Five words, or a dozen Chinese characters."""


@dataclass(frozen=True, kw_only=True)
class Finding:
    """A column that looks like an identifier.

    Attributes:
        kind: a word such as "e-mail"; `FREE_TEXT` for sentences; "unique values" if
            only uniqueness speaks for it, `RUNNING_NUMBER` if the values count the rows.
        share: of the distinct values looked at, those of this kind; of the rows, for
            the last two.
        reason: a sentence for people; it never shows a value.
    """

    column: str
    kind: str
    share: float
    reason: str


def find_identifiers(frame: pd.DataFrame) -> list[Finding]:
    """Return the columns that look like identifiers, in the table's order.

    Raises: SchemaError for a table without rows.
    """
    findings = (_examine_column(frame, name) for name in frame.columns)
    return [finding for finding in findings if finding is not None]


def _examine_column(frame: pd.DataFrame, name: str) -> Finding | None:
    leaves = leaves_of(frame, name)
    values = [text for text in leaves.labels if text not in (MISSING, SUPPRESSED)]
    detection = detect_identifier(name, values)
    if detection is None or detection.kind in ("address or place", "personal number"):
        text = _find_free_text(name, values, len(frame))
        if text is not None or detection is None:
            return text or _find_unique_values(frame, name, np.bincount(leaves.codes))
    reason = Text(
        (
            "{share:.0%} of its distinct values have the form that is typical of "
            "this kind."
        ),
        share=detection.share,
    )
    return Finding(
        column=name, kind=detection.kind, share=detection.share, reason=reason
    )


def _find_free_text(name: str, values: Sequence[str], rows: int) -> Finding | None:
    """Return a finding if many of a column's distinct texts are sentences.

    They are mostly long, and hardly one comes twice.
    """
    share = sum(
        _SENTENCE_PATTERN.fullmatch(text.strip()) is not None for text in values
    ) / max(1, len(values))
    if len(values) < max(MIN_ROWS, rows / 10) or share < MIN_SENTENCE_SHARE:
        return None
    reason = Text(
        "{share:.0%} of its distinct values are sentences, which may hold names.",
        share=share,
    )
    return Finding(column=name, kind=FREE_TEXT, share=share, reason=reason)


def _find_unique_values(
    frame: pd.DataFrame, name: str, counts: IntArray
) -> Finding | None:
    """Return a finding if nearly every row has its own text or whole number.

    Fractions often are unique without being keys.
    """
    share = float((counts == 1).sum() / len(frame))
    if (
        share < MIN_UNIQUE_SHARE_OF_KEY
        or len(frame) < MIN_ROWS
        or is_amount(frame[name])
    ):
        return None
    reason = Text("{share:.0%} of the rows have a value of their own.", share=share)
    kind = RUNNING_NUMBER if _counts_rows(frame[name]) else Text("unique values")
    return Finding(column=name, kind=kind, share=share, reason=reason)


def _counts_rows(values: pd.Series) -> bool:
    """Return whether a column only numbers the rows."""
    return pd.api.types.is_integer_dtype(values.dtype) and bool(
        (values.diff().iloc[1:] == 1).all()
    )


def is_amount(values: pd.Series, rows: int | None = None) -> bool:
    """Return whether numbers are measured values.

    They are fractions, or numbers of few digits with wide gaps.

    Args:
        rows: of the table, if the values are given once each.
    """
    if pd.api.types.is_bool_dtype(values.dtype) or not pd.api.types.is_numeric_dtype(
        values.dtype
    ):
        return False
    present = values.dropna()
    if (
        not pd.api.types.is_integer_dtype(values.dtype)
        and (present.astype("float64") % 1 != 0).any()
    ):
        return True
    if present.empty:
        return False
    low = int(present.min())
    high = int(present.max())
    given_out = (
        high - low < 2 * (rows or len(values)) or len(str(low)) == len(str(high)) >= 6
    )
    return not given_out
