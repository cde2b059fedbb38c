"""Published labels by class and column, with the values they may stand for.

Full-domain generalization, local recoding, Mondrian and microaggregation all end here,
so that one function measures them all on one scale.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import pandas as pd

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.schema.values import SUPPRESSED
from dpcore.tables.classes import (
    BoolArray,
    FloatArray,
    IntArray,
    TextArray,
    class_index,
)


@dataclass(frozen=True, kw_only=True)
class PublishedColumn:
    """One column of a recoded table: its labels, their loss and its distribution.

    Attributes:
        label: (classes,) index of the label of each class.
        text: (labels,) the labels as printed.
        ncp: (labels,) normalized certainty penalty: 0 for one value, 1 for all.
        loss: (labels,) the same on the declared domain, including values of no row.
        rows_before: (leaves,) rows of each value of the domain of the labels.
        expected_rows_after: (leaves,) rows expected there by a reader who takes all values of a label
            for equally likely.
    """

    name: str
    label: IntArray
    text: TextArray
    ncp: FloatArray
    loss: FloatArray
    rows_before: IntArray
    expected_rows_after: FloatArray


@dataclass(frozen=True, kw_only=True)
class Recoded:
    """A recoded table; rows have the same labels if and only if they share a class.

    Attributes:
        classes: (rows,) class of each.
        node: the level of every column, if all rows that are not suppressed share them.
        gap: relative gap to the bound of what was minimized; 0 without one.
    """

    columns: tuple[PublishedColumn, ...]
    classes: IntArray
    node: Mapping[str, int] | None = None
    gap: float = 0.0

    @classmethod
    def from_columns(
        cls, columns: Sequence[PublishedColumn], classes: IntArray
    ) -> Recoded:
        """Merge classes with the same labels, since a reader cannot tell them apart."""
        merged = class_index([column.label for column in columns])
        _, first = np.unique(merged, return_index=True)
        united = [replace(column, label=column.label[first]) for column in columns]
        return cls(columns=tuple(united), classes=merged[classes])

    @cached_property
    def sizes(self) -> IntArray:
        """Number of rows in each class, shape (classes,)."""
        return np.bincount(self.classes)

    def mean(self, figures: FloatArray) -> float:
        """Return the mean over rows of a value given per class."""
        return float(figures @ self.sizes / len(self.classes))

    @property
    def ncp(self) -> float:
        """Normalized certainty penalty, mean over columns and rows.

        Source: Xu et al. (2006), section 3.
        """
        return float(
            np.mean([self.mean(column.ncp[column.label]) for column in self.columns])
        )

    def replace_columns(self, original: pd.DataFrame) -> pd.DataFrame:
        """Replace the recoded columns of the original by their published labels."""
        printed = {
            column.name: column.text[column.label[self.classes]]
            for column in self.columns
        }
        return original.assign(
            **pd.DataFrame(printed, index=original.index).infer_objects()
        )


def read_leaves(
    frame: pd.DataFrame,
    hierarchies: Mapping[str, Hierarchy],
) -> tuple[dict[str, Hierarchy], dict[str, IntArray]]:
    """Return, by name, hierarchies that cover all cells, and each row's leaf.

    Special cells are missing and suppressed ones.

    Raises: HierarchyError for a value without a path.
    """
    covering = {}
    leaf = {}
    for name in sorted(hierarchies):
        covering[name], leaf[name] = hierarchies[name].read_column(frame[name])
    return covering, leaf


def recode(
    hierarchies: Mapping[str, Hierarchy],
    leaf: Mapping[str, IntArray],
    *,
    classes: IntArray,
    levels: IntArray,
) -> Recoded:
    """Recode a table: class c has level levels[c, q] in the q-th column.

    Args:
        hierarchies: as from `read_leaves`.
        leaf: as from `read_leaves`; the rows of a class share their labels at the
            class's levels.
        classes: (rows,) class of each row.
        levels: (classes, columns); one level above the hierarchy's last prints `*`,
            whatever its top label is.

    A label that is at several levels for different leaves may stand for all of them,
    and
    `*` for any: that is what a reader knows. Its NCP is (observed leaves it may stand
    for - 1) / (observed leaves - 1).
    """
    _, first, sizes = np.unique(classes, return_index=True, return_counts=True)
    columns = []
    for place, name in enumerate(leaf):
        hierarchy = hierarchies[name]
        leaves = len(hierarchies[name].values)
        table = np.array((*hierarchy.levels, (SUPPRESSED,) * leaves), dtype=object)
        # Number the labels, and pair each with the leaves that it may stand for
        flat, text = pd.factorize(table.ravel(), sort=True)
        codes = flat.reshape(table.shape)
        cover_label, cover_leaf = np.divmod(
            np.unique(codes * leaves + np.arange(leaves)), leaves
        )
        before = np.bincount(leaf[name], minlength=leaves)
        observed = before[cover_leaf] > 0
        covered = np.bincount(cover_label, minlength=len(text))
        covered_observed = np.bincount(cover_label[observed], minlength=len(text))
        # Find each class's label, and the rows that a reader expects at each leaf
        label = codes[levels[:, place], leaf[name][first]]
        share = np.bincount(label, sizes, len(text)) / np.maximum(1, covered_observed)
        columns.append(
            PublishedColumn(
                name=name,
                label=label,
                text=text,
                ncp=np.maximum(covered_observed - 1, 0)
                / max(1, np.count_nonzero(before) - 1),
                loss=(covered - 1) / max(1, leaves - 1),
                rows_before=before,
                expected_rows_after=np.bincount(
                    cover_leaf, share[cover_label] * observed, leaves
                ).astype(np.float64),
            ),
        )
    return Recoded.from_columns(columns, classes)


def recode_full_domain(
    hierarchies: Mapping[str, Hierarchy],
    leaf: Mapping[str, IntArray],
    levels: Mapping[str, int],
    *,
    suppressed: BoolArray,
) -> Recoded:
    """Publish one level per column for the whole table, and `*` in suppressed rows.

    Args:
        hierarchies, leaf: as from `read_leaves`; columns in any order.
        levels: by column.
        suppressed: (rows,) booleans.
    """
    leaf = {name: leaf[name] for name in sorted(leaf)}
    codes = [hierarchies[name].codes(levels[name])[leaf[name]] for name in leaf]
    classes = class_index(
        [
            *(np.where(suppressed, 0, code) for code in codes),
            suppressed.astype(np.int64),
        ]
    )
    _, first = np.unique(classes, return_index=True)
    kept = [levels[name] for name in leaf]
    hidden = [hierarchies[name].height + 1 for name in leaf]
    where = suppressed[first][:, None]
    recoded = recode(
        hierarchies, leaf, classes=classes, levels=np.where(where, hidden, kept)
    )
    return replace(recoded, node=levels)
