"""What a method publishes: one label per class and column, and the values each label may stand for.

Full-domain generalization, local recoding, Mondrian and microaggregation all end here, which is what lets one
function measure them all on one scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd

from dpcore.anonymize.encoding import FloatArray, IntArray, TextArray, class_index
from dpcore.anonymize.hierarchy import SUPPRESSED, Hierarchy
from dpcore.errors import HierarchyError, SchemaError


@dataclass(frozen=True, kw_only=True)
class PublishedColumn:
    """One column before and after.

    Attributes:
        leaf: (rows,) code of each row's original value.
        leaves: number of values in the domain the labels are made from.
        label: (classes,) index of the label each class publishes.
        text: (labels,) the labels as printed.
        ncp: (labels,) normalized certainty penalty: 0 says all, 1 says nothing.
        cover_label, cover_leaf: the pairs (label, leaf) where the label may stand for the leaf.
    """

    name: str
    leaf: IntArray
    leaves: int
    label: IntArray
    text: TextArray
    ncp: FloatArray
    cover_label: IntArray
    cover_leaf: IntArray

    @cached_property
    def cover_sizes(self) -> IntArray:
        """(labels,) number of leaves a label may stand for."""
        return np.bincount(self.cover_label, minlength=len(self.text))


@dataclass(frozen=True, kw_only=True)
class Recoded:
    """A recoded table: rows of one class print the same labels, and no two classes print the same."""

    columns: tuple[PublishedColumn, ...]
    classes: IntArray

    @classmethod
    def of(cls, columns: Sequence[PublishedColumn], classes: IntArray) -> Recoded:
        """Unite the classes that print the same labels: a reader cannot tell them apart."""
        merged = class_index([column.label for column in columns])
        _, first = np.unique(merged, return_index=True)
        united = [PublishedColumn(**{**_fields(column), "label": column.label[first]}) for column in columns]
        return cls(columns=tuple(united), classes=merged[classes])

    @cached_property
    def sizes(self) -> IntArray:
        """(classes,) rows of each class."""
        return np.bincount(self.classes)

    @cached_property
    def column_ncp(self) -> FloatArray:
        """(columns,) mean normalized certainty penalty over the rows."""
        weights = self.sizes / self.sizes.sum()
        return np.array([weights @ column.ncp[column.label] for column in self.columns])

    @property
    def ncp(self) -> float:
        """Normalized certainty penalty, mean over columns and rows. Source: Xu et al. (2006), section 3."""
        return float(self.column_ncp.mean())

    def frame(self, original: pd.DataFrame) -> pd.DataFrame:
        """The original with the recoded columns replaced by their labels; other columns are left as they are."""
        return original.assign(
            **{column.name: column.text[column.label[self.classes]] for column in self.columns}
        )


def _fields(column: PublishedColumn) -> dict[str, object]:
    return {name: getattr(column, name) for name in PublishedColumn.__dataclass_fields__}


def leaf_codes(
    frame: pd.DataFrame, hierarchies: Mapping[str, Hierarchy]
) -> tuple[dict[str, Hierarchy], dict[str, IntArray]]:
    """The hierarchies with leaves for missing and suppressed cells, and each row's leaf; columns sorted by name.

    Raises: SchemaError for an unknown column or no rows; HierarchyError for a value without a path.
    """
    covering, leaf = {}, {}
    for name in sorted(hierarchies):
        if name not in frame.columns:
            raise SchemaError(f"the table has no column {name}", remedy="check the names", column=name)
        covering[name] = hierarchies[name].covering(frame[name])
        leaf[name] = covering[name].encode(frame[name])
        if (leaf[name] < 0).any():
            raise HierarchyError(
                f"the hierarchy of {name} has no path for some values of the column",
                remedy="add a line for every value that check_coverage names",
                column=name,
            )
    return covering, leaf


def recode(
    hierarchies: Mapping[str, Hierarchy], leaf: Mapping[str, IntArray], *, classes: IntArray, levels: IntArray
) -> Recoded:
    """Publish hierarchy labels: class c prints its label at level levels[c, q] in the q-th column.

    Args:
        hierarchies, leaf: as from `leaf_codes`; the rows of a class share their labels at the class's levels.
        classes: (rows,) class of each row.
        levels: (classes, columns); a suppressed class has the last level in every column.

    A label that stands at several levels for different leaves may stand for all of them, and `*` for any: that is
    what a reader knows. Its NCP is (observed leaves it may stand for - 1) / (observed leaves - 1).
    """
    _, first = np.unique(classes, return_index=True)
    columns = []
    for place, name in enumerate(leaf):
        table = np.array(hierarchies[name].levels, dtype=object)
        codes, text = pd.factorize(table.ravel(), sort=True)
        codes, leaves = codes.reshape(table.shape), table.shape[1]
        stars = np.flatnonzero(text == SUPPRESSED) * leaves
        pairs = np.concatenate(
            [(codes * leaves + np.arange(leaves)).ravel(), *(stars[:, None] + np.arange(leaves))]
        )
        cover_label, cover_leaf = np.divmod(np.unique(pairs), leaves)
        observed = np.bincount(leaf[name], minlength=leaves) > 0
        below = np.bincount(cover_label, observed[cover_leaf], minlength=len(text))
        columns.append(
            PublishedColumn(
                name=name,
                leaf=leaf[name],
                leaves=leaves,
                label=codes[levels[:, place], leaf[name][first]],
                text=text,
                ncp=np.maximum(below - 1, 0) / max(1, observed.sum() - 1),
                cover_label=cover_label,
                cover_leaf=cover_leaf,
            )
        )
    return Recoded.of(columns, classes)
