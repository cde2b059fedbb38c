"""Labels and bounds of cells in the language of the reader.

Releases and files name cells in English, so that programs can read them. What people
read is translated here: charts, tables and sentences.
"""

import re
from collections.abc import Iterable

from dpcore.release import Release
from dpcore.schema import Column
from dpcore.schema.values import MISSING, OTHER_LABEL
from dpcore.suppression.layout import TOTAL_LABEL
from dpcore.tables.answer import CliqueCounts
from workbench.language.catalogues import ENGLISH
from workbench.language.messages import N_, _, language_code, localize_number

CELL_NAMES = {
    MISSING: N_("(missing)"),
    OTHER_LABEL: N_("(other)"),
    TOTAL_LABEL: N_("Total"),
}
"""Names of cells that are no value of a column."""
_ABOVE = re.compile("above (.+)")
_BELOW = re.compile("below (.+)")


def cell_labels(column: Column) -> list[str]:
    """Return the label of each cell of a column in the current language."""
    return translate_labels(column, column.labels)


def translate_labels(column: Column, labels: Iterable[str]) -> list[str]:
    """Return labels of cells of a column in the current language."""
    if language_code() == ENGLISH:
        return list(labels)
    return [
        _translate_interval(label)
        if column.is_interval and label not in CELL_NAMES
        else translate_name(label)
        for label in labels
    ]


def translate_name(label: str) -> str:
    """Return the name of a cell that is no value; other labels are left as they are."""
    return _(CELL_NAMES[label]) if label in CELL_NAMES else label


def translate_run(column: Column, label: str) -> str:
    """Return the label of a run of cells, "first … last", in the current language."""
    return " … ".join(translate_labels(column, label.split(" … ")))


def chart_cells(
    release: Release, counts: CliqueCounts
) -> tuple[list[list[str]], CliqueCounts]:
    """Return labels and counts as `Release.chart_cells` does, the labels translated."""
    labels, shown = release.chart_cells(counts)
    columns = map(release.schema.column, counts.clique)
    return list(map(translate_labels, columns, labels)), shown


def bound_text(bound: float | str) -> str:
    """Return a bound of a range in the current language, such as "above 0"."""
    text = f"{bound:.12g}" if isinstance(bound, float) else str(bound)
    if above := _ABOVE.fullmatch(text):
        return _("above {bound}").format(bound=localize_number(above[1]))
    return localize_number(text)


def from_words(bound: float | str) -> str:
    """Return "from" a bound in the current language."""
    if _is_above(bound):
        return bound_text(bound)
    return _("from {bound}").format(bound=bound_text(bound))


def below_words(bound: float | str) -> str:
    """Return "below" a bound in the current language."""
    if _is_above(bound):
        last = str(bound).removeprefix("above ")
        return _("up to {bound}").format(bound=localize_number(last))
    return _("below {bound}").format(bound=bound_text(bound))


def range_words(column: str, low: float | str, high: float | str) -> str:
    """Return the words for the rows of a range.

    Args:
        column: name of the column, as people see it.
        low: first bound.
        high: last bound, which is not in the range.
    """
    if _is_above(low) or _is_above(high):
        return _("{column} {low} and {high}").format(
            column=column, low=from_words(low), high=below_words(high)
        )
    return _("{column} from {low} to below {high}").format(
        column=column, low=bound_text(low), high=bound_text(high)
    )


def _is_above(bound: float | str) -> bool:
    return _ABOVE.fullmatch(str(bound)) is not None


def _translate_interval(label: str) -> str:
    low, to, high = label.partition(" to ")
    if to:
        return _("{low} to {high}").format(low=bound_text(low), high=bound_text(high))
    if below := _BELOW.fullmatch(label):
        return _("below {bound}").format(bound=localize_number(below[1]))
    return bound_text(label)
