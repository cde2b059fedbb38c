"""The recipe for a labelled numeric table, from noisy sums within each class.

**Proof.** (1) Public: bounds of every column (values are clipped to them and lie at
positions in [-1, 1]), the cells of the label, and the feature groups, unless a paid
first stage finds them. (2) A row adds to the sums of its own class only, and to each of
them a number in [-1, 1]: 1, x, later 2 x^2 - 1 and x_i x_j inside feature groups, and 0
or 1 for a category. (3) So a person's m rows move all sums together by at most m in the
max norm (for rho: each entry is one query). `Measurer.sums` adds the noise for that.
(4) Classes are disjoint, and so are two cells inside each; what is measured next
depends on noisy numbers only, and on the choice of a pair by `Measurer.select`, among
counts at noisy cuts. (5) The rest is computed from these sums.

Source: the K-norm mechanism of Hardt and Talwar (2010). The plan "sums by class, then
normal laws" is what a textbook chapter on feature-level microaggregation meant; its
published code is private for no epsilon.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from dpcore.accounting.loss import Loss, PureDP
from dpcore.errors import LimitError, ParameterError, UsageError
from dpcore.mechanisms.max_norm import (
    check_entries,
    max_norm_density,
    max_norm_variance,
)
from dpcore.mechanisms.measurer import Measurer
from dpcore.mechanisms.sensitivity import sums_deviation, sums_noise_kind
from dpcore.model import Model
from dpcore.progress import OnProgress
from dpcore.schema.column import Categorical, Column
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.origin import Origin
from dpcore.schema.schema import Schema
from dpcore.synthesis.base import ExpectedError, Recipe
from dpcore.synthesis.gaussian._class_means import Density
from dpcore.synthesis.gaussian._moments import fit_moments
from dpcore.synthesis.gaussian._split_classes import ClassSplit, choose_split, fit_split
from dpcore.synthesis.gaussian.feature_groups import choose_related_pair, find_groups
from dpcore.synthesis.gaussian.model import (
    GaussianModel,
    cell_positions,
    upper_half_indicator,
)
from dpcore.tables.counts import Marginal, Values, check_cells
from dpcore.tables.sums import Entry, NoisySums, to_levels
from dpcore.text import Text

Detail = Literal["means", "variances", "products", "cells", "pair"]

ROW_COUNT_SHARE = Fraction(1, 50)
"""Share of the loss for the number of rows, which decides the detail."""
GROUP_SHARE = Fraction(1, 5)
"""Share of the loss for finding groups of features."""
DETAIL_SHARES: dict[Detail, tuple[Fraction, ...]] = {
    "means": (Fraction(1),),
    "variances": (Fraction(4, 5), Fraction(1, 5)),
    "products": (Fraction(1, 2), Fraction(1, 2)),
    "cells": (Fraction(3, 5), Fraction(1, 5), Fraction(1, 5)),
}
"""Shares of the rest for the means, the second moments, and the means of cells inside
classes.
"""
PAIR_SHARES = Fraction(1, 2), Fraction(2, 5), Fraction(1, 10)
"""The same for the detail "pair": the last share is for the choice of its two features,
see docs/decisions/0015.
"""
MAX_VARIANCE_NOISE = 0.04
MAX_COVARIANCE_NOISE = 0.02
"""Noise SDs of the variances and covariances of all classes together up to which they
are measured, on the scale of [-1, 1] squared.
"""
MAX_CELL_NOISE = 0.03
"""Noise SD of the mean of a cell of average size up to which cells are measured."""
TYPICAL_DISTANCE = 0.3
"""Typical distance of values from their mean, on the scale of [-1, 1]."""


@dataclass(frozen=True, kw_only=True)
class Gaussian(Recipe):
    """A table for machine learning: normal features in each class of the label.

    Attributes:
        label: the column whose cells are the classes.
        features: columns whose cells are in the order of numbers.
        one_hot: columns without an order; each of their cells is counted per class.
        groups: sets of features whose products are measured if the noise allows it;
            None to find them in a first stage, for a fifth of the loss.
        detail: what is measured; None to decide it by the noisy number of rows, for a
            fiftieth of the loss: means, then also variances, and then products if
            groups have any, or else the means in two cells of each class. With "pair",
            better for regression and clusters and worse for classifiers, variances and
            the product of the two features with the strongest relation inside classes.
        with_missing: features whose last cell is that of missing values. These count as
            the middle of the bounds, and no drawn row has them.
    """

    kind: ClassVar[str] = "gaussian"

    label: str
    features: tuple[str, ...]
    one_hot: tuple[str, ...] = ()
    groups: tuple[tuple[str, ...], ...] | None = ()
    detail: Detail | None = None
    with_missing: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "features", tuple(self.features))
        object.__setattr__(self, "with_missing", tuple(self.with_missing))
        object.__setattr__(self, "one_hot", tuple(self.one_hot))
        if not self.features + self.one_hot:
            raise UsageError(
                "there must be at least one feature",
                remedy="name a column besides the label",
            )
        if self.detail not in (None, *get_args(Detail)):
            raise UsageError(
                f"detail ({self.detail}) must be one of {', '.join(get_args(Detail))}",
                remedy="choose one, or leave it open",
            )
        if self.groups is not None:
            object.__setattr__(self, "groups", tuple(map(tuple, self.groups)))
            grouped = [name for group in self.groups for name in group]
            for name in grouped:
                if name not in self.features or grouped.count(name) > 1:
                    raise UsageError(
                        f"column {name!r} must be a feature and in one group only",
                        remedy="correct the groups",
                    )

    @classmethod
    def for_schema(
        cls,
        schema: Schema,
        *,
        label: str,
        columns: Sequence[str] | None = None,
        one_hot: Sequence[str] = (),
        groups: Sequence[Sequence[str]] | None = (),
        detail: Detail | None = None,
    ) -> Gaussian:
        """Return the recipe for a schema, with all numeric columns as features.

        Numbers, dates, ordered and two-valued columns count as numbers.

        Args:
            schema: of the table.
            label: the column of the classes.
            columns: features and categories; None for all but the label.
            one_hot: columns without an order to be drawn by their categories.
            groups: sets of features whose products are measured; None to find them.
            detail: what is measured; None to decide it by the noisy number of rows.

        Raises: ParameterError for a column that holds no numbers and is not in
            `one_hot`.
        """
        schema.domain.size(label)
        names = (
            [name for name in schema.domain.names if name != label]
            if columns is None
            else list(columns)
        )
        features = [name for name in names if name not in one_hot]
        for name in (label, *names):
            column = schema.column(name)
            if column.values_size < 2 <= column.size:  # of one value and missing ones
                raise _one_cell_error(name)
        for name in features:
            column = schema.column(name)
            if not has_numbers(column):
                raise ParameterError(
                    "column {column!r} holds no numbers, or not in every row",
                    remedy=(
                        "leave it out, or draw it by its {cells} public categories "
                        "(one-hot)"
                    ),
                    column=name,
                    cells=column.size,
                )
        return cls(
            label=label,
            features=tuple(features),
            one_hot=tuple(name for name in names if name in one_hot),
            groups=None if groups is None else tuple(map(tuple, groups)),
            detail=detail,
            with_missing=tuple(
                name for name in features if schema.column(name).missing
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without `with_missing` if it is empty.

        Versions before that field wrote the same.
        """
        return {
            name: value
            for name, value in super().to_dict().items()
            if name != "with_missing" or value
        }

    def check(self, domain: Domain) -> None:
        """Refuse unknown, repeated or one-cell columns, and too many sums."""
        domain.clique((self.label, *self.features, *self.one_hot))
        for name in (self.label, *self.features, *self.one_hot):
            if domain.size(name) < 2:
                raise _one_cell_error(name)
        check_entries(len(self._first_moment_entries(domain)))
        if self.groups is None:
            check_entries(len(_pairs_inside((self.features,))) + 2 * len(self.features))
        check_entries(
            len(self.features) + max(1, len(_pairs_inside(self.groups or ())))
        )
        if self.detail == "cells":
            self._check_split(domain)

    def expect(
        self, domain: Domain, loss: Loss, max_rows: int, table_rows: float = 0
    ) -> tuple[ExpectedError, ...]:
        """Return the expected error of the class sizes.

        The error of means is `mean_noise` over the size.
        """
        deviation = self.mean_noise(domain, loss, max_rows)
        cells = domain.size(self.label)
        return (
            ExpectedError(
                clique=(self.label,),
                cells=cells,
                variance=deviation**2,
                noise=sums_noise_kind(loss),
            ),
        )

    def mean_noise(self, domain: Domain, loss: Loss, max_rows: int) -> float:
        """Return the largest standard deviation of the noise of a sum, in rows.

        If detail is open, it is that of a table with all the detail this recipe can
        measure. Public.
        """
        groups = (self.features,) if self.groups is None else self.groups
        share = (
            self._sums_share()
            * self._detail_shares(
                self.detail or self._richest_detail(domain, _pairs_inside(groups))
            )[0]
        )
        return sums_deviation(
            max_rows=max_rows,
            entries=len(self._first_moment_entries(domain)),
            loss=loss.share(share),
        )

    def signal_to_noise(
        self, domain: Domain, loss: Loss, max_rows: int, people: int
    ) -> float:
        """Return the signal-to-noise ratio of class means for `people` rows.

        It follows from public facts.
        """
        return TYPICAL_DISTANCE * people / self.mean_noise(domain, loss, max_rows)

    def fit(
        self, measurer: Measurer, on_progress: OnProgress
    ) -> tuple[dict[Clique, Marginal], Model]:
        """Measure as many sums as the number of rows allows, and fit the model."""
        loss = measurer.loss
        domain = measurer.domain
        by = (self.label,)
        on_progress("measuring", 0.0)
        # 1. Measure the number of rows, which decides the detail.
        count = (
            None
            if self.detail
            else measurer.measure_sums((), [{}], loss.share(ROW_COUNT_SHARE))
        )
        # 2. Find groups of related features.
        groups = self.groups
        if groups is None:
            on_progress("measuring", 0.1)
            share = loss.share(GROUP_SHARE)
            groups = find_groups(
                measurer, self.features, share, with_missing=self.with_missing
            )
        pairs = _pairs_inside(groups)
        left = loss.share(self._sums_share())
        detail: Detail = self.detail or "means"
        if count is not None:
            total = max(float(count.values[0, 0]), 1.0)
            detail = self._affordable_detail(
                total, domain, len(pairs), left, measurer.rows
            )
        on_progress("measuring", 0.3)
        # 3. Measure class sizes and means, then second moments.
        parts = self._detail_shares(detail)
        wanted = pairs if detail == "products" else []
        first = measurer.measure_sums(
            by, self._first_moment_entries(domain), left.share(parts[0])
        )
        if detail == "pair" and len(parts) > 2:
            law = self._build_model(domain, first, None, [], loss)[1]
            share = left.share(parts[2])
            pair = choose_related_pair(
                measurer,
                self.features,
                law.moments,
                law.counts,
                share,
                with_missing=self.with_missing,
            )
            wanted = [pair]
        second = None
        if len(parts) > 1:
            second = measurer.measure_sums(
                by, self._second_moment_entries(domain, wanted), left.share(parts[1])
            )
        on_progress("fit", 0.6)
        # 4. Fit the distributions, and measure the means in two cells of each class.
        marginals, model = self._build_model(domain, first, second, wanted, loss)
        if detail == "cells" and len(parts) > 2:
            on_progress("measuring", 0.8)
            model = replace(
                model, split=self._measure_split(measurer, model, left.share(parts[2]))
            )
        return marginals, model

    def reads(self, domain: Domain) -> Clique:
        """Return the label, the features and the categories."""
        return (self.label, *self.features, *self.one_hot)

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the recipe by its label."""
        return Text("Table for learning {column}", column=fields["label"])

    def _sums_share(self) -> Fraction:
        """Return the share of the loss that is left for sums within classes."""
        used = Fraction(0) if self.detail else ROW_COUNT_SHARE
        return 1 - used - (GROUP_SHARE if self.groups is None else 0)

    def _detail_shares(self, detail: Detail) -> tuple[Fraction, ...]:
        """Return each stage's share of the loss; one stage if there are no features."""
        if detail == "pair":
            return (
                PAIR_SHARES
                if len(self.features) > 1
                else self._detail_shares("variances")
            )
        return DETAIL_SHARES[detail] if self.features else DETAIL_SHARES["means"]

    def _richest_detail(self, domain: Domain, pairs: Sequence[Any]) -> Detail:
        """Return the richest detail open to this recipe."""
        if pairs:
            return "products"
        if len(self.features) < 2:
            return "variances"
        try:
            self._check_split(domain)
        except LimitError:
            return "variances"
        return "cells"

    def _check_split(self, domain: Domain) -> None:
        """Refuse to split classes if one of the features has too many cells."""
        for name in self.features:
            check_cells(domain, [(self.label, name)] * len(self.features))

    def _affordable_detail(
        self, total: float, domain: Domain, pairs: int, loss: Loss, max_rows: int
    ) -> Detail:
        """Return the richest detail for which noise stays below its limits.

        Args:
            total: noisy number of rows.
            pairs: number of products.
            loss: for the sums.
            max_rows: most rows of a person.
        """
        features = max(len(self.features), 1)
        classes = domain.size(self.label)
        most = self._richest_detail(domain, range(pairs))

        def noise(entries: int, detail: Detail, lines: float) -> float:
            part = loss.share(DETAIL_SHARES[detail][-1])
            return (
                sums_deviation(max_rows=max_rows, entries=entries, loss=part)
                * lines
                / total
            )

        together = math.sqrt(classes)
        if (
            most == "products"
            and noise(features + pairs, most, together) <= MAX_COVARIANCE_NOISE
        ):
            return most
        if most == "cells" and noise(features, most, 2 * classes) <= MAX_CELL_NOISE:
            return most
        return (
            "variances"
            if noise(features, "variances", together) / 2 <= MAX_VARIANCE_NOISE
            else "means"
        )

    def _measure_split(
        self, measurer: Measurer, model: GaussianModel, loss: Loss
    ) -> ClassSplit:
        """Split each class in two cells, and measure other features' means there."""
        number, edge = choose_split(model.moments, model.counts)
        split = self.features[number]
        entries = self._first_moment_entries(measurer.domain)[: 1 + len(self.features)]
        del entries[1 + number]
        cells = upper_half_indicator(
            measurer.domain.size(split), edge, missing=split in self.with_missing
        )
        view = measurer.coarsen({split: cells})
        return fit_split(
            view.measure_sums((self.label, split), entries, loss),
            model.moments,
            number,
            edge,
        )

    def _first_moment_entries(self, domain: Domain) -> list[Entry]:
        """Return the quantities to sum for class sizes, features and categories."""
        places = self._positions(domain)
        entries: list[Entry] = [
            {},
            *({name: to_levels(places[name])} for name in self.features),
        ]
        for name in self.one_hot:
            entries += [{name: to_levels(cell)} for cell in np.eye(domain.size(name))]
        return entries

    def _positions(self, domain: Domain) -> dict[str, Values]:
        return {
            name: cell_positions(domain.size(name), missing=name in self.with_missing)
            for name in self.features
        }

    def _second_moment_entries(
        self, domain: Domain, pairs: Sequence[tuple[str, str]]
    ) -> list[Entry]:
        """Return the quantities to sum for squares and for products of pairs."""
        place = self._positions(domain)
        squares: list[Entry] = [
            {name: to_levels(2 * place[name] ** 2 - 1)} for name in self.features
        ]
        return squares + [
            {name: to_levels(place[name]) for name in pair} for pair in pairs
        ]

    def _build_model(
        self,
        domain: Domain,
        first_sums: NoisySums,
        second_sums: NoisySums | None,
        pairs: Sequence[Any],
        loss: Loss,
    ) -> tuple[dict[Clique, Marginal], GaussianModel]:
        """Return the noisy class sizes, and the model fitted to these sums."""
        end = 1 + len(self.features)
        index = {name: number for number, name in enumerate(self.features)}
        numeric = NoisySums(
            by=first_sums.by,
            values=first_sums.values[:, :end],
            deviation=first_sums.deviation,
        )
        shares = {}
        for name in self.one_hot:
            shares[name] = np.maximum(
                first_sums.values[:, end : end + domain.size(name)], 0.0
            )
            end += domain.size(name)
        drawn = {self.label, *self.features, *self.one_hot}
        model = GaussianModel(
            domain=domain.project(
                tuple(name for name in domain.names if name in drawn)
            ),
            label=self.label,
            counts=np.maximum(first_sums.values[:, 0], 0.0),
            features=self.features,
            moments=fit_moments(
                numeric,
                second_sums,
                _noise_density(first_sums.values.shape[1], first_sums.deviation, loss),
                [(index[a], index[b]) for a, b in pairs],
            ),
            shares=shares,
            with_missing=self.with_missing,
        )
        sizes = Marginal(
            clique=first_sums.by,
            values=first_sums.values[:, 0],
            variance=first_sums.deviation**2,
            noise=sums_noise_kind(loss),
        )
        return {sizes.clique: sizes}, model


def _one_cell_error(name: str) -> ParameterError:
    return ParameterError(
        "column {column!r} has only one cell, so it tells nothing apart",
        remedy="choose another column",
        column=name,
    )


def has_numbers(column: Column) -> bool:
    """Return whether a column can serve as a numeric feature.

    A column with missing values has no numbers, unless a rule declared their cell: then
    nobody said that values are missing.
    """
    many = (
        isinstance(column, Categorical)
        and not column.ordered
        and column.values_size > 2
    )
    return not many and (not column.missing or column.origin("missing") == Origin.RULE)


def _pairs_inside(groups: Sequence[Sequence[str]]) -> list[tuple[str, str]]:
    """Return all pairs of features within the same group."""
    return [pair for group in groups for pair in itertools.combinations(group, 2)]


def _noise_density(entries: int, deviation: float, loss: Loss) -> Density:
    """Return the noise density of one sum, if one draw covers `entries` sums."""
    if isinstance(loss, PureDP):
        scale = deviation / math.sqrt(max_norm_variance(entries, 1.0))
        return lambda rows: max_norm_density(rows, entries, scale)
    return lambda rows: np.exp(-((rows / deviation) ** 2) / 2)
