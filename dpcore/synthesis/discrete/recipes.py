"""Recipes for synthetic tables that keep the relations between columns.

Both measure the number of rows and one-way counts, and merge rare values. Tree then
measures the edges of a spanning tree of the strongest pairs. Adaptive goes a round at a
time: noisy distances between the model and the wanted cliques, the set of cliques whose
measurement gains most under a limit on junction-tree cells, then measured with the
optimal split of the loss, and a warm-started fit.

Source: Tree follows MST (see `spanning_tree`). The one-shot choice of Adaptive follows
SWIFT (Google dpsynth, 2026), the rounds AIM (McKenna, Mullins, Sheldon, Miklau 2022).
What differs, and why, is written in docs/decisions/0010.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any, ClassVar, TypedDict

from dpcore.accounting.loss import Loss, PureDP, split_loss
from dpcore.errors import ParameterError, UsageError
from dpcore.mechanisms.measurer import Measurer
from dpcore.mechanisms.sensitivity import selection_scale
from dpcore.model import Model
from dpcore.progress import OnProgress
from dpcore.release import Guarantee, Release
from dpcore.schema.column import Column
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.schema import ROW_FACTS_MARK
from dpcore.synthesis.base import ExpectedError, Recipe
from dpcore.synthesis.discrete._columns import (
    HALFWAY_CLARITY,
    ColumnMeasurements,
    check_columns_and_constraints,
    check_earlier_model,
    expect_columns,
    expect_target_share,
    measure_columns,
    publish_model,
)
from dpcore.synthesis.discrete._learner import TARGET_CHOICE_SHARE, Learner
from dpcore.synthesis.discrete._workload import candidate_weights, workload
from dpcore.synthesis.discrete.constraints import Constraints, FunctionalDependency
from dpcore.synthesis.discrete.copies import copy_candidates
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.tables.counts import MAX_CELLS, Marginal
from dpcore.text import Text

TARGET_CHANCE = 0.95  # told of the choice of a target's strongest pair
# Share of the loss that then remains, for columns that predict the target only jointly.
INTERACTION_SHARE = Fraction(3, 10)
CELLS_PER_CLARITY = 8_000  # most cells of the junction tree per unit of clarity
ALWAYS_ALLOWED_TREE_CELLS = 50_000  # cells of the junction tree that are always allowed


class TableRecipeArguments(TypedDict):
    """The keyword arguments of a table recipe that follow from the columns."""

    ordered: frozenset[str]
    with_missing: frozenset[str]
    copies: tuple[FunctionalDependency, ...]


def table_recipe_arguments(columns: Iterable[Column]) -> TableRecipeArguments:
    """Return the ordered columns, those with missing values, and likely copies."""
    columns = list(columns)
    ordered = [column for column in columns if column.is_interval]
    return {
        "ordered": frozenset(column.name for column in ordered),
        "with_missing": frozenset(column.name for column in ordered if column.missing),
        "copies": copy_candidates(columns),
    }


@dataclass(frozen=True, kw_only=True)
class TableRecipe(Recipe):
    """Base class of recipes for synthetic tables.

    Attributes:
        ordered: columns whose neighboring cells are similar; rare ones are merged with
            neighbors only.
        with_missing: ordered columns whose last cell, of missing values, has no place
            in the order.
        copies: columns that may repeat another one, see `find_copies`.
        constraints: facts from outside that every row keeps.
    """

    ordered: frozenset[str] = frozenset()
    with_missing: frozenset[str] = frozenset()
    copies: tuple[FunctionalDependency, ...] = ()
    constraints: Constraints = field(default_factory=Constraints)

    def __post_init__(self) -> None:
        object.__setattr__(self, "ordered", frozenset(self.ordered))
        object.__setattr__(self, "with_missing", frozenset(self.with_missing))

    @property
    def chooses_pairs(self) -> bool:
        return True

    @property
    def facts_from_data(self) -> Mapping[str, tuple[str, ...]]:
        return dict.fromkeys(self.constraints.from_data, (ROW_FACTS_MARK,))

    @property
    def with_concordances(self) -> bool:
        """Whether a part of the loss goes to `Concordances`."""
        return False

    @property
    def with_target(self) -> bool:
        """Whether a part of the loss goes to a target's strongest pair."""
        return False

    def check(self, domain: Domain) -> None:
        """Refuse unknown columns, and constraints that cannot be kept."""
        check_columns_and_constraints(
            domain, self.constraints, self.ordered | self.with_missing
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, without `with_missing` and `copies` if they are empty.

        Versions before these fields wrote the same.
        """
        return {
            name: value
            for name, value in super().to_dict().items()
            if name not in ("with_missing", "copies") or value
        }

    def expect(
        self, domain: Domain, loss: Loss, max_rows: int, table_rows: float = 0
    ) -> tuple[ExpectedError, ...]:
        """Return the expected error of the one-way counts.

        That of pairs depends on the private choice.
        """
        return expect_columns(
            domain,
            self.constraints,
            self.ordered,
            loss,
            max_rows,
            table_rows,
            with_concordances=self.with_concordances,
            with_target=self.with_target,
            copies=self.copies,
        )

    def _measure_columns(
        self, measurer: Measurer, earlier: SyntheticModel | None = None
    ) -> ColumnMeasurements:
        """Measure the number of rows and the single columns."""
        return measure_columns(
            measurer,
            self.constraints
            if earlier is None
            else earlier.add_found_copies(self.constraints),
            self.ordered,
            earlier,
            with_missing=self.with_missing,
            with_concordances=self.with_concordances,
            with_target=self.with_target,
            copies=self.copies,
        )

    def _make_learner(
        self,
        measurer: Measurer,
        columns: ColumnMeasurements,
        *,
        weights: Mapping[Clique, float],
        limit: int,
        joint: Sequence[Marginal] = (),
    ) -> Learner:
        """Return a learner that starts from the measured columns."""
        groups = columns.grouping.groups
        factors = columns.constraints.factors(measurer.domain, groups)
        return Learner(
            measurer.coarsen(groups),
            columns,
            factors=factors,
            weights=weights,
            limit=limit,
            joint=joint,
        )


def _move_weights_to_originals(
    weights: Mapping[Clique, float], columns: ColumnMeasurements
) -> dict[Clique, float]:
    """Return the weights with each copied column replaced by its original."""
    originals = dict(columns.copies)
    renamed: dict[Clique, float] = {}
    for clique, weight in weights.items():
        names = tuple(dict.fromkeys(originals.get(name, name) for name in clique))
        if len(names) == len(clique):
            renamed[names] = max(weight, renamed.get(names, 0.0))
    return renamed


@dataclass(frozen=True, kw_only=True)
class Tree(TableRecipe):
    """A quick synthetic table that keeps the strongest relations between columns.

    Costs the stated loss, all of it, under pure epsilon (Laplace noise) or rho
    (Gaussian noise).
    """

    kind: ClassVar[str] = "tree"

    def fit(
        self, measurer: Measurer, on_progress: OnProgress
    ) -> tuple[dict[Clique, Marginal], Model]:
        """Measure the columns, choose a tree, measure its edges, and fit the model."""
        on_progress("measuring", 0.0)
        columns = self._measure_columns(measurer)
        pairs = workload(columns.grouping.domain.names, 2, {})
        learner = self._make_learner(measurer, columns, weights=pairs, limit=MAX_CELLS)
        on_progress("measuring", 0.3)
        learner.measure_tree(measurer.loss.share(1 - columns.spent_share))
        on_progress("fit", 0.6)
        fitted = learner.refit(quick=False)
        losses = (measurer.loss,)
        return publish_model(
            measurer.domain,
            columns,
            fitted.model,
            learner.joint,
            losses,
        )

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the recipe by its name; `SomeColumns` adds the columns."""
        return Text("Synthetic table (Tree)")

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Tree:
        """Read the output of `to_dict`."""
        return cls(
            ordered=fields["ordered"],
            with_missing=fields.get("with_missing", ()),
            copies=tuple(
                FunctionalDependency(**copy) for copy in fields.get("copies", ())
            ),
            constraints=Constraints.from_dict(fields["constraints"]),
        )


@dataclass(frozen=True, kw_only=True)
class Adaptive(TableRecipe):
    """A synthetic table that keeps the relations of columns as the loss allows.

    Costs the stated loss, all of it, under pure epsilon (Laplace noise) or rho
    (Gaussian noise).

    Attributes:
        degree: 2 if all pairs of columns should come out right, 3 for all triples.
        weights: pair or triple -> how much its error counts, if it is not 1.
        rounds: how often the choice of cliques is made anew, at least 1; once under
            pure epsilon if columns do not stand out from their noise.
        max_cells: most cells of the junction tree; memory and time grow with it. Fewer
            are used if noise leaves nothing to put into them.
        target: a column to be predicted: its strongest pair is measured first, by one
            private choice; if that tells nothing, columns that tell the target only
            together are looked for (`find_interactions`). Empty for none.
        earlier: an earlier release of the same table. The measurements of its model are
            used again, except `outside_pairs` and `concordances`, so that the guarantee
            of the new release names the loss of both. The new release measures no
            concordances.
    """

    kind: ClassVar[str] = "adaptive"

    degree: int = 2
    weights: Mapping[Clique, float] = field(default_factory=dict)
    rounds: int = 2
    max_cells: int = 4_000_000
    target: str = ""
    earlier: Release | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.degree not in (2, 3):
            raise UsageError(
                f"degree ({self.degree}) must be 2 or 3",
                remedy="ask for pairs or triples",
            )
        if not 1 <= self.rounds <= 10:
            raise UsageError(
                f"rounds ({self.rounds}) must be 1 to 10", remedy="ask for 2"
            )
        if self.max_cells < 1:
            raise UsageError(
                f"max_cells ({self.max_cells}) must be at least 1",
                remedy="raise max_cells",
            )

    @property
    def stands_on(self) -> tuple[Guarantee, ...]:
        return (self.earlier.guarantee,) if self.earlier else ()

    @property
    def _earlier_model(self) -> SyntheticModel | None:
        model = self.earlier.model if self.earlier else None
        return model if isinstance(model, SyntheticModel) else None

    @property
    def with_concordances(self) -> bool:
        return self.earlier is None  # groups of an earlier model may be in no order

    @property
    def with_target(self) -> bool:
        return bool(self.target)

    def check(self, domain: Domain) -> None:
        """Refuse columns, weights, constraints and earlier models that do not fit."""
        super().check(domain)
        if self.earlier is not None:
            check_earlier_model(domain, self.constraints, self.earlier.model)
        if self.target and domain.size(self.target) < 2:
            raise ParameterError(
                "column {name!r} has one cell, so nothing can be predicted",
                remedy="choose another column to predict",
                name=self.target,
            )
        workload(
            self.constraints.columns_to_measure(domain.names), self.degree, self.weights
        )

    def sufficient_lead(
        self, domain: Domain, loss: Loss, max_rows: int, table_rows: float
    ) -> float:
        """Return the lead in rows that makes a pair almost sure to be chosen.

        A pair whose score leads every other one by so much is chosen with a chance of
        TARGET_CHANCE at least, whatever the rows are: the exponential mechanism takes
        one of m candidates with chance 1 / (1 + (m - 1) exp(-lead / scale)) at least.

        Args:
            domain: of all columns.
            loss: of the run.
            max_rows: most rows of a person.
            table_rows: approximate number of rows, above 0.
        """
        share = expect_target_share(
            domain,
            self.constraints,
            self.ordered,
            loss,
            max_rows,
            table_rows,
            with_concordances=self.with_concordances,
            copies=self.copies,
        )
        spent = loss.share(share * TARGET_CHOICE_SHARE)
        others = max(1, len(self.constraints.columns_to_measure(domain.names)) - 2)
        odds = others * TARGET_CHANCE / (1 - TARGET_CHANCE)
        return selection_scale(max_rows=max_rows, loss=spent) * math.log(odds)

    def fit(
        self, measurer: Measurer, on_progress: OnProgress
    ) -> tuple[dict[Clique, Marginal], Model]:
        """Measure the columns, then choose, measure and fit in rounds."""
        on_progress("measuring", 0.0)
        earlier = self._earlier_model
        columns = self._measure_columns(measurer, earlier)
        learner = self._make_learner(
            measurer,
            columns,
            weights=candidate_weights(
                workload(
                    columns.grouping.domain.names,
                    self.degree,
                    _move_weights_to_originals(self.weights, columns),
                )
            ),
            limit=min(
                self.max_cells,
                max(
                    ALWAYS_ALLOWED_TREE_CELLS,
                    round(CELLS_PER_CLARITY * columns.clarity),
                ),
            ),
            joint=[m for m in earlier.measurements if len(m.clique) > 1]
            if earlier
            else [],
        )
        # Under Laplace noise and with unclear columns, a second round would have too
        # little loss.
        rounds = (
            1
            if isinstance(measurer.loss, PureDP) and columns.clarity < HALFWAY_CLARITY
            else self.rounds
        )
        if columns.concordance_share:
            learner.measure_concordances(measurer.loss.share(columns.concordance_share))
        rest = 1 - columns.spent_share
        starts_as_tree = isinstance(measurer.loss, PureDP) and learner.fitted is None
        if self.target:
            decided = {f.target: f.column for f in columns.constraints.determines}
            target = decided.get(self.target, self.target)
            learner.measure_target(target, measurer.loss.share(columns.target_share))
            if not isinstance(
                measurer.loss, PureDP
            ) and not learner.has_informative_pair(target):
                spent = learner.measure_interactions(
                    target, measurer.loss.share(rest * INTERACTION_SHARE)
                )
                rest *= 1 - INTERACTION_SHARE * spent
        for turn, loss in enumerate(split_loss(measurer.loss.share(rest), rounds)):
            on_progress("measuring", (turn + 0.2) / rounds)
            if starts_as_tree and not turn:
                learner.measure_tree(loss)
            else:
                learner.measure_most_useful(
                    loss,
                    is_last=turn + 1 == rounds and columns.clarity >= HALFWAY_CLARITY,
                )
            on_progress("fit", (turn + 0.5) / rounds)
            learner.refit(quick=turn + 1 < rounds)
        outside_pairs = learner.measure_outside_pairs()
        fitted, concordances = learner.fit_concordances()
        losses = (*(earlier.losses if earlier else ()), measurer.loss)
        marginals, model = publish_model(
            measurer.domain,
            columns,
            fitted.model,
            learner.joint,
            losses,
        )
        return marginals, replace(
            model, outside_pairs=outside_pairs, concordances=concordances
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain data, with `kind` and the digest of an earlier release."""
        fields = dataclasses.replace(self, earlier=None)
        earlier = self.earlier.to_json().encode() if self.earlier else None
        plain = super(Adaptive, fields).to_dict()
        if not self.target:  # as versions before that field wrote it
            del plain["target"]
        return plain | {
            "weights": [
                [list(clique), weight] for clique, weight in self.weights.items()
            ],
            "earlier": hashlib.sha256(earlier).hexdigest() if earlier else None,
        }

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the recipe by its name; `SomeColumns` adds the columns."""
        return Text("Synthetic table (Adaptive)")

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> Adaptive | None:
        """Read the output of `to_dict`; None if the recipe used an earlier release.

        An earlier release is written as a digest only.
        """
        if fields.get("earlier"):
            return None
        return cls(
            degree=fields["degree"],
            weights={tuple(clique): weight for clique, weight in fields["weights"]},
            rounds=fields["rounds"],
            max_cells=fields["max_cells"],
            target=fields.get("target", ""),
            ordered=fields["ordered"],
            with_missing=fields.get("with_missing", ()),
            copies=tuple(
                FunctionalDependency(**copy) for copy in fields.get("copies", ())
            ),
            constraints=Constraints.from_dict(fields["constraints"]),
        )
