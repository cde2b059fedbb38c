"""Find the order of categories: number ranges, and words with a natural order.

Each label has a place by itself, so that no row changes the order of others.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from dpcore.schema.origin import fold_text
from dpcore.schema.words import WORD_ORDERS

CATEGORY_ORDERS = "category orders"
"""Key of `DataFrame.attrs`: column -> its labels in the order of their codes."""
ORDERED_COLUMNS = "ordered columns"
"""Key of `DataFrame.attrs`: columns whose file says that this order means something."""

MIN_ORDERED_LABELS = 3
"""Labels from which on an order is told; two may be anything, unless both are words."""
_BELOW_WORDS = r"<|<=|≤|under|below|less than|up to|unter|bis|moins de|menos de|meno di"
_ABOVE_WORDS = r">|>=|≥|over|above|more than|from|über|ab|plus de|más de|oltre|\$|€|£"
_NUMBER = r"-?\d{1,3}(?:[ ,.']\d{3})+|-?\d+(?:[.,]\d+)?"
_BRACKETED_RANGE = re.compile(
    r"[\[(](?P<first>-?(?:\d+(?:\.\d+)?|inf)) ?[,;] ?-?[\d.inf]+[\])]"
)
_RANGE_PATTERN = re.compile(
    rf"[\[(]?(?P<below>{_BELOW_WORDS})? ?(?P<above>{_ABOVE_WORDS})? ?(?P<first>{_NUMBER})"
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
    if len(labels) < MIN_ORDERED_LABELS and (
        len(labels) < 2 or any(len(label) < MIN_ORDERED_LABELS for label in labels)
    ):
        return None
    for order in WORD_ORDERS:
        places = {fold_text(word): place for place, word in enumerate(order)}
        if all(fold_text(label) in places for label in labels):
            return tuple(
                sorted(labels, key=lambda label: (places[fold_text(label)], label))
            )
    bands = {}
    for label in labels:
        place = _range_sort_key(label)
        if place is None:
            return None
        bands[label] = place
    if not any(map(_names_both_ends, labels)):
        return None
    return tuple(sorted(labels, key=lambda label: (bands[label], label)))


def _names_both_ends(label: str) -> bool:
    """Return whether a label names both ends of a range, as 5-9 does."""
    if _BRACKETED_RANGE.fullmatch(fold_text(label)):
        return True
    match = _RANGE_PATTERN.fullmatch(fold_text(label))
    return match is not None and match["range"] is not None


def _range_sort_key(label: str) -> tuple[float, int] | None:
    """Return the sort key of a range such as 5-9, <5 or 85+; None for other texts."""
    between = _BRACKETED_RANGE.fullmatch(fold_text(label))
    if between is not None:
        return float(between["first"]), 0
    match = _RANGE_PATTERN.fullmatch(fold_text(label))
    if match is None:
        return None
    text = match["first"]
    grouped = re.fullmatch(r"-?\d{1,3}(?:[ ,.']\d{3})+", text)
    number = float(re.sub(r"[ ,.']", "", text) if grouped else text.replace(",", "."))
    if match["below"]:
        return number, -1
    return number, 1 if match["above"] or match["open"] else 0
