"""Which cliques are wanted right, and which of them to measure for a given loss.

Measuring clique c with s cells at loss a_c leaves an expected L1 error of s * u * a_c^(-h) in place of its
present error e_c, where for Gaussian noise (loss rho) h = 1/2 and u = m / sqrt(pi), and for Laplace noise
(loss epsilon) h = 1 and u = m; m is the number of rows a person may have. For a fixed set of cliques with
weights w the sum of w_c * error is smallest when a_c is proportional to z_c = (w_c s_c)^(1 / (1 + h)), and is
then u * (sum z)^(1 + h) * a^(-h). So cliques are taken in the order of w e / z while the gain rises.

Source: the optimal split is the known one of weighted marginals; the greedy choice is that of SWIFT
(Google dpsynth, 2026). Ours counts room by the junction tree itself.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from dpcore.accounting.loss import Loss, PureDP
from dpcore.errors import ParameterError
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.junction_tree import Room

LEFT_NOISE = 0.5
"""What is left of a table's noise after the fit has made it agree with all others, about."""
PENALTIES = (0.0, 0.5, 1.0, 2.0, 4.0)


@dataclass(frozen=True, kw_only=True)
class Workload:
    """Cliques that should come out right, with weights.

    Attributes:
        cliques: of two or more columns.
        weights: one number above 0 a clique: how much its error counts.
    """

    cliques: tuple[Clique, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        if len(self.weights) != len(self.cliques) or not all(
            math.isfinite(weight) and weight > 0 for weight in self.weights
        ):
            raise ParameterError(
                "a workload needs one weight above 0 a clique", remedy="check cliques and weights"
            )

    @classmethod
    def of(cls, names: Sequence[str], degree: int, extra: Mapping[Clique, float]) -> Workload:
        """All cliques of `degree` of the columns with weight 1, and those of `extra` with their own."""
        weights = {frozenset(clique): 1.0 for clique in itertools.combinations(names, degree)}
        weights |= {frozenset(clique): float(weight) for clique, weight in extra.items()}
        place = {name: at for at, name in enumerate(names)}
        return cls(
            cliques=tuple(tuple(sorted(clique, key=place.__getitem__)) for clique in weights),
            weights=tuple(weights.values()),
        )

    def pairs(self) -> dict[Clique, float]:
        """Every pair inside a clique, with the mean weight 1: what a pair's error means to the workload."""
        found: dict[Clique, float] = {}
        for clique, weight in zip(self.cliques, self.weights, strict=True):
            for pair in itertools.combinations(clique, 2):
                found[pair] = found.get(pair, 0.0) + weight
        mean = sum(found.values()) / max(1, len(found))
        return {pair: weight / mean for pair, weight in found.items()}


def expected_error(cells: int, loss: Loss, rows: int) -> float:
    """Expected L1 norm of the noise of a table of so many cells measured at this loss, in rows."""
    if isinstance(loss, PureDP):
        return cells * rows / float(loss.amount)
    return cells * rows / math.sqrt(math.pi * float(loss.amount))


def choose(
    domain: Domain,
    errors: Mapping[Clique, float],
    weights: Mapping[Clique, float],
    *,
    loss: Loss,
    rows: int,
    limit: int,
    fixed: Sequence[Clique] = (),
) -> dict[Clique, float]:
    """The cliques worth measuring together at this loss, with their parts of it.

    Several orders are tried, which differ in how much a large clique is held back; the one with the
    largest expected gain is taken. All of it follows from noisy errors and public sizes.

    Args:
        errors: clique -> present L1 error, in rows, noisy.
        weights: clique -> weight in the workload.
        limit: cells the junction tree of `fixed` and the chosen cliques may have.
        fixed: cliques that are in the tree already.
    Returns: clique -> part, adding up to 1; empty when nothing is worth its noise.
    """
    per_cell = expected_error(1, loss, rows) * math.sqrt(len(domain.names))
    worth = [clique for clique in errors if errors[clique] > 0]
    best: dict[Clique, float] = {}
    most = 0.0
    orders = set()
    for penalty in PENALTIES:
        def value(clique: Clique, penalty: float = penalty) -> float:
            return weights[clique] * errors[clique] - penalty * per_cell * domain.cells(clique)

        order = tuple(sorted(worth, key=value, reverse=True))
        if order in orders:
            continue
        orders.add(order)
        room = Room(domain, limit, fixed)
        gain, parts = _affordable(
            domain, [clique for clique in order if room.add(clique)], errors, weights, loss, rows
        )
        if gain > most:
            most, best = gain, parts
    return best


def _affordable(
    domain: Domain,
    candidates: Iterable[Clique],
    errors: Mapping[Clique, float],
    weights: Mapping[Clique, float],
    loss: Loss,
    rows: int,
) -> tuple[float, dict[Clique, float]]:
    """The gain of measuring the best of the candidates, and their parts of the loss."""
    power = 2.0 if isinstance(loss, PureDP) else 1.5
    unit = LEFT_NOISE * expected_error(1, loss, rows)
    z = {clique: (weights[clique] * domain.cells(clique)) ** (1 / power) for clique in candidates}
    chosen: list[Clique] = []
    gain = removed = spread = 0.0
    for clique in sorted(z, key=lambda each: weights[each] * errors[each] / z[each], reverse=True):
        now = removed + weights[clique] * errors[clique] - unit * (spread + z[clique]) ** power
        if now < gain:
            break
        removed, spread, gain = removed + weights[clique] * errors[clique], spread + z[clique], now
        chosen.append(clique)
    return gain, {clique: z[clique] / spread for clique in chosen}
