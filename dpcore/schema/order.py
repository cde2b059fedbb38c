"""Find the order of categories: number ranges, and words with a natural order.

Each label has a place by itself, so that no row changes the order of others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpcore.schema.origin import fold
from dpcore.schema.words import ORDERS

CATEGORY_ORDERS = "category orders"
"""Key of `DataFrame.attrs`: column -> its labels in the order of their codes."""
ORDERED_COLUMNS = "ordered columns"
"""Key of `DataFrame.attrs`: columns whose file says that this order means something."""

MIN_ORDERED = 3
"""Labels from which on an order is told; two may be anything, unless both are words."""
_BELOW = r"<|<=|≤|under|below|less than|up to|unter|bis|moins de|menos de|meno di"
_ABOVE = r">|>=|≥|over|above|more than|from|über|ab|plus de|más de|oltre|\$|€|£"
_NUMBER = r"-?\d{1,3}(?:[ ,.']\d{3})+|-?\d+(?:[.,]\d+)?"
_BRACKETS = re.compile(
    r"[\[(](?P<first>-?(?:\d+(?:\.\d+)?|inf)) ?[,;] ?-?[\d.inf]+[\])]"
)
_BAND = re.compile(
    rf"[\[(]?(?P<below>{_BELOW})? ?(?P<above>{_ABOVE})? ?(?P<first>{_NUMBER})"
    rf"(?P<range> ?(?:-|–|—|to|bis|à|a|,|;|\.\.) ?[$€£]?(?:{_NUMBER}))?"
    r"(?P<open> ?(?:\+|and (?:over|older|more)|or (?:over|older|more)|und (?:mehr|älter)))?"
    r"[\])]?(?P<unit> ?[^\W\d_%]{1,12}|%)?"
)


def order_labels(labels: Sequence[str]) -> tuple[str, ...] | None:
    """Return labels in the order that their texts imply; None if they imply none.

    >>> order_labels(["10-14", "0-4", "5-9"])
    ('0-4', '5-9', '10-14')
    >>> order_labels(["high", "low", "medium"])
    ('low', 'medium', 'high')
    """
    if len(labels) < MIN_ORDERED and (
        len(labels) < 2 or any(len(label) < MIN_ORDERED for label in labels)
    ):
        return None
    for order in ORDERS:
        places = {fold(word): place for place, word in enumerate(order)}
        if all(fold(label) in places for label in labels):
            return tuple(sorted(labels, key=lambda label: (places[fold(label)], label)))
    bands = {}
    for label in labels:
        place = _place_of_band(label)
        if place is None:
            return None
        bands[label] = place
    if not any(map(_is_range, labels)):
        return None
    return tuple(sorted(labels, key=lambda label: (bands[label], label)))


def _is_range(label: str) -> bool:
    """Return whether a label names both ends of a range, as 5-9 does."""
    if _BRACKETS.fullmatch(fold(label)):
        return True
    match = _BAND.fullmatch(fold(label))
    return match is not None and match["range"] is not None


def _place_of_band(label: str) -> tuple[float, int] | None:
    """Return the sort key of a range such as 5-9, <5 or 85+; None for other texts."""
    between = _BRACKETS.fullmatch(fold(label))
    if between is not None:
        return float(between["first"]), 0
    match = _BAND.fullmatch(fold(label))
    if match is None:
        return None
    text = match["first"]
    grouped = re.fullmatch(r"-?\d{1,3}(?:[ ,.']\d{3})+", text)
    number = float(re.sub(r"[ ,.']", "", text) if grouped else text.replace(",", "."))
    if match["below"]:
        return number, -1
    return number, 1 if match["above"] or match["open"] else 0
