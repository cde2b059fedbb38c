"""Labels of values in files of SPSS and Stata: their order, and scales."""

from __future__ import annotations

import io
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dpcore.schema.words import means_missing

SCALE_STEPS = 3
"""Steps between two labelled whole numbers from which on they are ends of a scale."""


@dataclass(frozen=True, kw_only=True)
class LabelOrders:
    """The order of labels in a file, by its own description.

    Attributes:
        labels: place of a column -> its labels by their codes.
        ordered: places of columns whose order means something, as the file says.
    """

    labels: Mapping[int, tuple[str, ...]]
    ordered: frozenset[int]


def category_labels(labels: Mapping[Any, str]) -> Mapping[Any, str]:
    """Return the labels that stand for values; of a scale those for missing alone.

    A scale from 1 (never) to 7 (always) has labels at its ends, and is a number. The
    description decides, not which values occur.
    """
    codes = [code for code, label in labels.items() if not means_missing(str(label))]
    is_scale = (
        len(codes) == 2
        and all(
            isinstance(code, int | float) and float(code).is_integer() for code in codes
        )
        and max(codes) - min(codes) >= SCALE_STEPS
    )
    if not is_scale:
        return labels
    return {code: label for code, label in labels.items() if code not in codes}


def read_label_orders(data: bytes, name: str) -> LabelOrders:
    """Read the order of labels from the description of an SPSS or Stata file."""
    import pyreadstat

    if name.lower().endswith(".sas7bdat"):
        return LabelOrders(labels={}, ordered=frozenset())
    is_stata = name.lower().endswith(".dta")
    read = pyreadstat.read_dta if is_stata else pyreadstat.read_sav
    about = read(io.BytesIO(data), metadataonly=True)[1]
    orders = {}
    ordered = set()
    for place, column in enumerate(about.column_names):
        labels = category_labels(about.variable_value_labels.get(column, {}))
        present = {
            code: str(label)
            for code, label in labels.items()
            if isinstance(code, int | float) and not means_missing(str(label))
        }
        if present:
            orders[place] = tuple(
                dict.fromkeys(present[code] for code in sorted(present))
            )
            if about.variable_measure.get(column) == "ordinal":
                ordered.add(place)
    return LabelOrders(labels=orders, ordered=frozenset(ordered))
