"""Adaptive: measure the best pairs in one shot, fit, and spend the rest where the fitted model errs most.

The steps: number of rows and one-way counts; rare values merged; then, a round at a time, noisy distances
between the model and the wanted cliques, the set of cliques whose measurement gains most under a limit on
junction-tree cells, their measurement with the optimal split of the loss, and a warm-started fit.

Source: the one-shot choice follows SWIFT (Google dpsynth, 2026), the rounds AIM (McKenna, Mullins, Sheldon,
Miklau 2022). What differs, and why, is written in docs/decisions/0010.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import ClassVar

from dpcore.errors import ParameterError
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.constraints import Constraints
from dpcore.synthesis.synthetic import SyntheticModel
from dpcore.synthesis.workload import Workload

SELECTION_SHARE = Fraction(7, 100)  # of a round's loss
RESCORED = 6  # cliques a column whose error is asked again after the first round


@dataclass(frozen=True, kw_only=True)
class Adaptive:
    """A synthetic table that keeps the relations between columns as well as the loss allows.

    Costs the stated loss, all of it, under pure epsilon (Laplace noise) or rho (Gaussian noise).

    Attributes:
        degree: 2 when all pairs of columns should come out right, 3 for all triples.
        weights: clique -> how much its error counts, where it is not 1.
        rounds: how often the fitted model is asked where it errs, at least 1.
        ordered: columns whose neighboring cells are alike; rare ones are merged with neighbors only.
        constraints: facts from outside that every row keeps.
        max_cells: most cells of the junction tree; memory and time grow with it.
        earlier: a model of an earlier release of the same table under the same schema; its measurements
            are used again.
    """

    kind: ClassVar[str] = "adaptive"

    degree: int = 2
    weights: Mapping[Clique, float] = field(default_factory=dict)
    rounds: int = 2
    ordered: frozenset[str] = frozenset()
    constraints: Constraints = field(default_factory=Constraints)
    max_cells: int = 4_000_000
    earlier: SyntheticModel | None = None

    def __post_init__(self) -> None:
        if self.degree not in (2, 3):
            raise ParameterError(f"degree ({self.degree}) must be 2 or 3", remedy="ask for pairs or triples")
        if not 1 <= self.rounds <= 10:
            raise ParameterError(f"rounds ({self.rounds}) must be 1 to 10", remedy="ask for 2")
        if self.max_cells < 1:
            raise ParameterError(f"max_cells ({self.max_cells}) must be at least 1", remedy="raise max_cells")

    def check(self, domain: Domain) -> None:
        """Refuse unknown columns, constraints that contradict each other, and trees that cannot fit."""
        check_synthesis(domain, self.constraints, self.ordered)
        for clique in self.weights:
            domain.clique(clique)
        Workload.of(domain.names, self.degree, self.weights)
