"""Fit a graphical model to noisy marginals by maximum likelihood with a little entropy.

Noisy tables y_c with noise variance v_c were measured of a table with expected counts
mu. The model sought minimizes

    sum over c, over cells x of  (mu_c(x) - y_c(x))^2 / (2 v_c)   +   strength * KL(mu
    || start)

The first term is minus the logarithm of the likelihood of the measurements under normal
noise: a cell counts by 1 / variance, and since the noise of different cells is
independent the terms add up. (For Laplace noise it is weighted least squares, best
among linear estimators by Gauss and Markov.) The second, the generalized
Kullback-Leibler divergence from independent columns, decides between the many models
that fit equally well, and takes the one that claims least. Its weight is tied to the
noise alone, strength = SMOOTHNESS / (mean noise deviation): a cell that lies one
deviation off its measurement may do so for a factor of e against independence. It
vanishes with the noise, and then the measurements are met.

The minimum has the form mu = start * exp(sum of potentials theta_c), with theta_c =
(y_c - mu_c) / (strength * v_c), and maximizes a concave dual that is solved one clique
at a time: with all other potentials fixed, the new counts n of clique c and its
potential satisfy, cell by cell,

    strength * v * theta + n = y,     log n - theta = log mu - old theta (fixed)

which is one increasing convex equation in log n: Newton's method solves all cells at
once. The belief of one node of the junction tree is multiplied by n / mu, and walking
the tree depth first carries it on. With variance 0 this is iterative proportional
fitting; a sweep costs about as much as one gradient, and tens of sweeps do what takes
mirror descent a thousand steps.

Source: Dudik, Phillips, Schapire (2007), relaxed maximum entropy; Darroch, Ratcliff
(1972); Jirousek, Preucil (1995), proportional fitting on junction trees; McKenna,
Sheldon, Miklau (2019), the problem.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.consistency import consistent
from dpcore.synthesis.graph.junction_tree import JunctionTree
from dpcore.synthesis.graph.model import GraphicalModel
from dpcore.synthesis.graph.propagation import Part, State, divide, product_potentials
from dpcore.tables.counts import Marginal, Values, project

SMOOTHNESS = 1.0
MAX_SWEEPS = 200
MIN_SWEEPS = 15
# cells read or written by one fit, unless it takes MIN_SWEEPS to get anywhere
MAX_WORK = 1_500_000_000
# of a noise deviation, root mean square over the cells of the worst clique
TOLERANCE = 0.05
MIN_COUNT = 1e-250
MAX_POTENTIAL = 300.0  # of a potential, so that products of factors stay finite
MAX_CLUSTER_CELLS = 4096  # cells of a part of a node whose cliques are updated together


@dataclass(frozen=True, kw_only=True, eq=False)
class Fit:
    """A fitted model with the potentials to continue from.

    Attributes:
        potentials: clique -> theta, the start of a later fit with more measurements.
        sweeps: how many were made.
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
    warm: Mapping[Clique, Values] | None = None,
    max_sweeps: int = MAX_SWEEPS,
    strongest: Mapping[Clique, float] | None = None,
) -> Fit:
    """Fit the model that best explains the measurements, as post-processing of public
    numbers.

    What overlapping measurements say twice is first averaged in closed form
    (`consistent`), which is the same least-squares problem without the demand that
    counts be at least 0; the sweeps add that.

    Sweeps end when no measured table moved by more than TOLERANCE of its noise
    deviation, after `max_sweeps`, or when they have touched WORK cells: only noisy
    measurements and public sizes steer it.

    Args:
        domain: of the columns.
        max_sweeps: at most.
        measurements: noisy tables with independent noise, one or more; a clique may be
            there twice, and the empty clique is the number of rows.
        start: column -> expected counts or shares of its cells, at least 0: the
            independent model that the fit departs from; above 0 wherever rows may be.
        factors: (clique, table) multiplied into the start: 0 where no row may be, 1
            elsewhere.
        nodes: of a junction tree that covers measurements and factors, where one is
            known already.
        warm: potentials of an earlier fit with the same start and factors.
        strongest: clique -> what `strength` is at most where its own table is
            concerned.
    """
    agreed = {
        frozenset(marginal.clique): marginal
        for marginal in consistent(domain, measurements)
    }
    total = max(1.0, next(iter(agreed.values())).total)
    tables = [marginal for marginal in agreed.values() if marginal.clique]
    tree = JunctionTree.over(
        domain, nodes or [m.clique for m in tables] + [clique for clique, _ in factors]
    )
    given = [
        *(((name,), start[name] / start[name].sum()) for name in domain.names),
        *factors,
    ]
    clusters = _assign_to_nodes(tree, tables, warm or {}, strongest or {})
    blocks = [
        block for held in clusters for cluster in held for block in cluster.blocks
    ]
    begun = [
        (block.clique, _factor_of(block.theta)) for block in blocks if block.theta.any()
    ]
    state = State(tree, product_potentials(tree, [*given, *begun]))
    _scale_tables(state, total)
    joint = [m for m in tables if len(m.clique) > 1] or tables
    deviation = sum(math.sqrt(m.variance) for m in joint) / max(1, len(joint))
    strength = SMOOTHNESS / max(deviation, 1e-9)
    touched = sum(
        table.size * (4 + 2 * len(held))
        for table, held in zip(state.tables, clusters, strict=True)
    )
    max_sweeps = min(max_sweeps, max(MIN_SWEEPS, MAX_WORK // touched))
    sweeps = 0
    moved = math.inf
    while sweeps < max_sweeps and moved > TOLERANCE:
        moved = _sweep(state, clusters, strength)
        sweeps += 1
    thetas = {block.clique: block.theta for block in blocks}
    learned = tuple((clique, _factor_of(theta)) for clique, theta in thetas.items())
    return Fit(
        model=GraphicalModel(tree=tree, factors=(*given, *learned), total=total),
        potentials=thetas,
        sweeps=sweeps,
    )


class _Cluster:
    """Some measured cliques of a node, updated on the marginal of their columns.

    The node is read and written once for all of them. This is exact, since what they
    multiply into the node depends on these columns alone.

    """

    def __init__(self, domain: Domain, node: Clique, columns: Clique) -> None:
        self.columns = columns
        self.blocks: list[_Block] = []
        self.part = None if columns == node else Part(domain, node, columns)

    def update(self, table: Values, strength: float) -> float:
        """Update every clique on the node's table, and return the largest move in noise
        deviations.
        """
        if self.part is None:
            return max(block.update(table, strength) for block in self.blocks)
        own = self.part.sum(table)
        before = own.copy()
        moved = max(block.update(own, strength) for block in self.blocks)
        self.part.multiply(table, divide(own, before))
        return moved


class _Block:
    """One measured clique inside its cluster, the unit of the dual ascent."""

    def __init__(
        self,
        domain: Domain,
        node: Clique,
        marginal: Marginal,
        warm: Values | None,
        strongest: float,
    ) -> None:
        self.strongest = strongest
        self.clique = tuple(name for name in node if name in marginal.clique)
        self.goal = project(marginal.values, marginal.clique, self.clique)
        self.variance = max(marginal.variance, 1e-12)
        self.theta = np.zeros(self.goal.shape) if warm is None else warm
        self.part = Part(domain, node, self.clique)

    def update(self, table: Values, strength: float) -> float:
        """Solve this clique's equations and multiply the change into the table.

        Returns: how far the cells moved, root mean square, in noise deviations.
        """
        counts = self.part.sum(table)
        before = np.log(np.maximum(counts, MIN_COUNT))
        pull = min(strength, self.strongest) * self.variance
        right = self.goal + pull * (before - self.theta)
        # Root of pull * v + exp(v) = right. `above` is at or over it, and from there
        # Newton descends.
        above = np.minimum(right / pull, np.log(np.maximum(right, 1.0)))
        after = np.minimum(before, above)
        for _ in range(3):
            grown = np.exp(after)
            after = np.minimum(
                after - (pull * after + grown - right) / (pull + grown), above
            )
        change = np.where(counts > 0, after - before, 0.0)
        self.theta = self.theta + change
        factor = np.exp(change)
        # Before the table is multiplied: where this clique is the whole node, `counts`
        # is a view of it.
        moved = float(np.sqrt(np.mean((counts * (factor - 1)) ** 2) / self.variance))
        self.part.multiply(table, factor)
        return moved


def _assign_to_nodes(
    tree: JunctionTree,
    measurements: Sequence[Marginal],
    warm: Mapping[Clique, Values],
    strongest: Mapping[Clique, float],
) -> list[list[_Cluster]]:
    """Return the measured cliques by the smallest node that holds them, small ones
    first.
    """
    by_columns = {frozenset(clique): (clique, theta) for clique, theta in warm.items()}
    inside: list[list[Marginal]] = [[] for _ in tree.nodes]
    for marginal in sorted(measurements, key=lambda table: len(table.clique)):
        i = tree.node_of(marginal.clique)
        assert i is not None
        inside[i].append(marginal)
    clusters: list[list[_Cluster]] = []
    for node, marginals in zip(tree.nodes, inside, strict=True):
        groups = _column_groups(
            tree.domain, node, [marginal.clique for marginal in marginals]
        )
        own = [_Cluster(tree.domain, node, columns) for columns in groups]
        for marginal in marginals:
            cluster = next(
                cluster
                for cluster in own
                if set(marginal.clique) <= set(cluster.columns)
            )
            clique, theta = by_columns.get(frozenset(marginal.clique), ((), None))
            if theta is not None:
                theta = project(
                    theta, clique, tuple(name for name in node if name in clique)
                )
            most = strongest.get(marginal.clique, math.inf)
            cluster.blocks.append(
                _Block(tree.domain, cluster.columns, marginal, theta, most)
            )
        clusters.append([cluster for cluster in own if cluster.blocks])
    return clusters


def _column_groups(
    domain: Domain, node: Clique, cliques: Sequence[Clique]
) -> list[Clique]:
    """Cover the cliques by sets of columns with at most CLUSTER cells, if no clique has
    more.
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


def _sweep(
    state: State, clusters: Sequence[Sequence[_Cluster]], strength: float
) -> float:
    """Update every clique once, depth first, and return the largest move in noise
    deviations.
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


def _factor_of(theta: Values) -> Values:
    """Return a factor, of finite numbers also where rows break a stated fact at next to
    no noise.
    """
    factor: Values = np.exp(np.clip(theta, -MAX_POTENTIAL, MAX_POTENTIAL))
    return factor


def _scale_tables(state: State, total: float) -> None:
    """Let every table add up to `total`."""
    for table in [*state.tables, *state.separators[1:]]:
        table *= total / table.sum()
