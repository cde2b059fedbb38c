"""Fit a graphical model to noisy marginals by entropy-regularized likelihood.

Noisy tables y_c with noise variance v_c were measured of a table with expected counts
mu. The wanted model minimizes

    sum over c, over cells x of  (mu_c(x) - y_c(x))^2 / (2 v_c)   +   strength * KL(mu
    || start)

The first term is minus the logarithm of the likelihood of the measurements under normal
noise: a cell counts by 1 / variance, and since the noise of different cells is
independent the terms add up. (For Laplace noise it is weighted least squares, best
among linear estimators by Gauss and Markov.) The second, the generalized
Kullback-Leibler divergence from independent columns, decides between the many models
that fit equally well, and takes the one with the weakest relations. Its weight depends
on the noise alone, strength = SMOOTHNESS / (mean noise standard deviation): a cell that
is one standard deviation off its measurement may be so for a factor of e against
independence. It vanishes with the noise, and then the measurements are met.

The minimum has the form mu = start * exp(sum of potentials theta_c), with theta_c =
(y_c - mu_c) / (strength * v_c), and maximizes a concave dual that is solved one clique
at a time: with all other potentials fixed, the new counts n of clique c and its
potential satisfy, cell by cell,

    strength * v * theta + n = y,     log n - theta = log mu - old theta (fixed)

which is one increasing convex equation in log n: Newton's method solves all cells at
once. The belief of one node of the junction tree is multiplied by n / mu, and walking
the tree depth first carries the change to other nodes. With variance 0 this is
iterative proportional fitting; a sweep costs about as much as one gradient, and tens of
sweeps do what takes mirror descent a thousand steps.

Source: Dudik, Phillips, Schapire (2007), relaxed maximum entropy; Darroch, Ratcliff
(1972); Jirousek, Preucil (1995), proportional fitting on junction trees; McKenna,
Sheldon, Miklau (2019), the problem.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis._consistency import make_consistent
from dpcore.synthesis.graph.junction_tree import JunctionTree
from dpcore.synthesis.graph.model import GraphicalModel
from dpcore.synthesis.graph.propagation import (
    NodeSubset,
    TreeState,
    divide_or_zero,
    product_potentials,
)
from dpcore.tables.counts import Marginal, Values, project

SMOOTHNESS = 1.0  # weight of the divergence, in units of 1 / noise SD
MAX_SWEEPS = 200
MIN_SWEEPS = 15  # made even if they exceed MAX_WORK
MAX_CELLS_TOUCHED = 1_500_000_000  # cells read or written by one fit
# Sweeps end when the worst clique's cells move by less than this, as a root mean square
# in noise SDs.
TOLERANCE = 0.05
MIN_COUNT = 1e-250  # rows; smaller counts have no logarithm
MAX_POTENTIAL = 300.0  # absolute, so that products of factors stay finite
MAX_CLUSTER_CELLS = 4096  # of a part of a node whose cliques are updated together


@dataclass(frozen=True, kw_only=True, eq=False)
class FittedModel:
    """A fitted model, with the potentials from which a later fit can continue.

    Attributes:
        potentials: clique -> theta, the start of a later fit with more measurements.
        sweeps: number of sweeps made.
    """

    model: GraphicalModel
    potentials: Mapping[Clique, Values]
    sweeps: int


def fit(
    domain: Domain,
    measurements: Sequence[Marginal],
    *,
    start: Mapping[str, Values],
    factors: Sequence[tuple[Clique, Values]] = (),
    nodes: Sequence[Clique] | None = None,
    warm_start: Mapping[Clique, Values] | None = None,
    max_sweeps: int = MAX_SWEEPS,
) -> FittedModel:
    """Fit a graphical model to noisy measurements, as post-processing.

    Overlapping measurements are first averaged in closed form (`consistent`), which is
    the same least-squares problem without the condition that counts are at least 0; the
    sweeps add it.

    Sweeps end when no measured table moved by more than TOLERANCE of its noise standard
    deviation, after `max_sweeps`, or after MAX_WORK touched cells: only noisy
    measurements and public sizes decide.

    Args:
        domain: of the columns.
        measurements: noisy tables with independent noise, one or more; a clique may
            occur twice, and the empty clique is the number of rows.
        start: column -> expected counts or shares of its cells, at least 0: the
            independent model at which the fit begins; above 0 in all possible cells.
        factors: (clique, table) multiplied into the start: 0 in impossible cells, 1
            elsewhere.
        nodes: of a junction tree that covers measurements and factors, if one is known
            already.
        warm_start: potentials of an earlier fit with the same start and factors.
        max_sweeps: at most.
    """
    # 1. Average overlapping measurements in closed form.
    consistent_tables = {
        frozenset(marginal.clique): marginal
        for marginal in make_consistent(domain, measurements)
    }
    total = max(1.0, next(iter(consistent_tables.values())).total)
    tables = [marginal for marginal in consistent_tables.values() if marginal.clique]
    # 2. Start from independent columns, the constraints and any earlier potentials.
    tree = JunctionTree.build(
        domain, nodes or [m.clique for m in tables] + [clique for clique, _ in factors]
    )
    base_factors = [
        *(((name,), start[name] / start[name].sum()) for name in domain.names),
        *factors,
    ]
    clusters = _assign_to_nodes(tree, tables, warm_start or {})
    blocks = [
        block
        for node_clusters in clusters
        for cluster in node_clusters
        for block in cluster.blocks
    ]
    warm_factors = [
        (block.clique, _bounded_exp(block.theta))
        for block in blocks
        if block.theta.any()
    ]
    state = TreeState(tree, product_potentials(tree, [*base_factors, *warm_factors]))
    _scale_tables(state, total)
    # 3. Sweep over the tree until its tables hardly change.
    joint = [m for m in tables if len(m.clique) > 1] or tables
    deviation = sum(math.sqrt(m.variance) for m in joint) / max(1, len(joint))
    strength = SMOOTHNESS / max(deviation, 1e-9)
    touched = sum(
        table.size * (4 + 2 * len(node_clusters))
        for table, node_clusters in zip(state.tables, clusters, strict=True)
    )
    max_sweeps = min(max_sweeps, max(MIN_SWEEPS, MAX_CELLS_TOUCHED // touched))
    sweeps = 0
    moved = math.inf
    while sweeps < max_sweeps and moved > TOLERANCE:
        moved = _update_all_cliques(state, clusters, strength)
        sweeps += 1
    thetas = {block.clique: block.theta for block in blocks}
    learned = tuple((clique, _bounded_exp(theta)) for clique, theta in thetas.items())
    return FittedModel(
        model=GraphicalModel(tree=tree, factors=(*base_factors, *learned), total=total),
        potentials=thetas,
        sweeps=sweeps,
    )


class _CliqueCluster:
    """Measured cliques of one node, updated together on a marginal of the node.

    The node is read and written once for all of them. This is exact, as their factors
    depend on these columns alone.
    """

    def __init__(self, domain: Domain, node: Clique, columns: Clique) -> None:
        self.columns = columns
        self.blocks: list[_MeasuredClique] = []
        self.part = None if columns == node else NodeSubset(domain, node, columns)

    def update(self, table: Values, strength: float) -> float:
        """Update every clique on the node's table; return the largest change.

        It is in noise standard deviations.
        """
        if self.part is None:
            return max(block.update(table, strength) for block in self.blocks)
        marginal = self.part.sum(table)
        before = marginal.copy()
        moved = max(block.update(marginal, strength) for block in self.blocks)
        self.part.multiply(table, divide_or_zero(marginal, before))
        return moved


class _MeasuredClique:
    """One measured clique, the unit that the dual ascent updates."""

    def __init__(
        self,
        domain: Domain,
        node: Clique,
        marginal: Marginal,
        warm: Values | None,
    ) -> None:
        self.clique = tuple(name for name in node if name in marginal.clique)
        self.goal = project(marginal.values, marginal.clique, self.clique)
        self.variance = max(marginal.variance, 1e-12)
        self.theta = np.zeros(self.goal.shape) if warm is None else warm
        self.part = NodeSubset(domain, node, self.clique)

    def update(self, table: Values, strength: float) -> float:
        """Solve this clique's equations and multiply the change into the table.

        Returns: root mean square change of the cells, in noise standard deviations.
        """
        counts = self.part.sum(table)
        before = np.log(np.maximum(counts, MIN_COUNT))
        pull = strength * self.variance
        right = self.goal + pull * (before - self.theta)
        # Newton's method for pull * v + exp(v) = right, where v = log n. `above` is at
        # or above the root, so that the steps descend to it.
        above = np.minimum(right / pull, np.log(np.maximum(right, 1.0)))
        after = np.minimum(before, above)
        for _ in range(3):
            new_counts = np.exp(after)
            after = np.minimum(
                after - (pull * after + new_counts - right) / (pull + new_counts),
                above,
            )
        change = np.where(counts > 0, after - before, 0.0)
        self.theta = self.theta + change
        factor = np.exp(change)
        # Compute the change before the table is multiplied, because `counts` may be a
        # view of it.
        moves = (counts * (factor - 1)).ravel()
        moved = math.sqrt(moves.dot(moves) / moves.size / self.variance)
        self.part.multiply(table, factor)
        return moved


def _assign_to_nodes(
    tree: JunctionTree,
    measurements: Sequence[Marginal],
    warm: Mapping[Clique, Values],
) -> list[list[_CliqueCluster]]:
    """Return the clusters of each node; each clique goes to its smallest node."""
    by_columns = {frozenset(clique): (clique, theta) for clique, theta in warm.items()}
    inside: list[list[Marginal]] = [[] for _ in tree.nodes]
    for marginal in sorted(measurements, key=lambda table: len(table.clique)):
        i = tree.find_node(marginal.clique)
        assert i is not None
        inside[i].append(marginal)
    clusters: list[list[_CliqueCluster]] = []
    for node, marginals in zip(tree.nodes, inside, strict=True):
        groups = _column_groups(
            tree.domain, node, [marginal.clique for marginal in marginals]
        )
        node_clusters = [
            _CliqueCluster(tree.domain, node, columns) for columns in groups
        ]
        for marginal in marginals:
            cluster = next(
                cluster
                for cluster in node_clusters
                if set(marginal.clique) <= set(cluster.columns)
            )
            clique, theta = by_columns.get(frozenset(marginal.clique), ((), None))
            if theta is not None:
                theta = project(
                    theta, clique, tuple(name for name in node if name in clique)
                )
            cluster.blocks.append(
                _MeasuredClique(tree.domain, cluster.columns, marginal, theta)
            )
        clusters.append([cluster for cluster in node_clusters if cluster.blocks])
    return clusters


def _column_groups(
    domain: Domain, node: Clique, cliques: Sequence[Clique]
) -> list[Clique]:
    """Cover the cliques by sets of columns of at most MAX_CLUSTER_CELLS cells.

    A single larger clique is a set of its own.
    """
    if domain.cells(node) <= MAX_CLUSTER_CELLS:
        return [node]
    groups: list[set[str]] = []
    for clique in sorted(
        cliques, key=lambda clique: (-len(clique), sorted(map(node.index, clique)))
    ):
        grown = [(domain.cells(tuple(group | set(clique))), group) for group in groups]
        fitting = [
            (cells / domain.cells(tuple(group)), place)
            for place, (cells, group) in enumerate(grown)
            if cells <= MAX_CLUSTER_CELLS or cells == domain.cells(tuple(group))
        ]
        if fitting:
            groups[min(fitting)[1]] |= set(clique)
        else:
            groups.append(set(clique))
    return [tuple(name for name in node if name in group) for group in groups]


def _update_all_cliques(
    state: TreeState, clusters: Sequence[Sequence[_CliqueCluster]], strength: float
) -> float:
    """Update every clique once, in depth-first order; return the largest change.

    It is in noise standard deviations.
    """
    tree = state.tree
    moved = 0.0
    path = [0]
    for i in range(len(tree.nodes)):
        while i and path[-1] != tree.parents[i]:
            state.pass_up(path.pop())
        if i:
            state.pass_down(i)
            path.append(i)
        for cluster in clusters[i]:
            moved = max(moved, cluster.update(state.tables[i], strength))
    while len(path) > 1:
        state.pass_up(path.pop())
    return moved


def _bounded_exp(theta: Values) -> Values:
    """Return exp(theta), kept finite.

    Theta may be extreme if rows contradict a stated fact at next to no noise.
    """
    factor: Values = np.exp(np.clip(theta, -MAX_POTENTIAL, MAX_POTENTIAL))
    return factor


def _scale_tables(state: TreeState, total: float) -> None:
    """Scale every table to add up to `total`."""
    for table in [*state.tables, *state.separators[1:]]:
        table *= total / table.sum()
