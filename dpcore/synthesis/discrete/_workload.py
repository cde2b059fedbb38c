"""The workload of cliques, and the choice of cliques to measure at a given loss.

Measuring clique c with s cells at loss a_c leaves an expected L1 error of s * u *
a_c^(-h) in place of its present error e_c, where for Gaussian noise (loss rho) h = 1/2
and u = m / sqrt(pi), and for Laplace noise (loss epsilon) h = 1 and u = m; m is the
number of rows a person may have. For a fixed set of cliques with weights w the sum of
w_c * error is smallest when a_c is proportional to z_c = (w_c s_c)^(1 / (1 + h)), and
is then u * (sum z)^(1 + h) * a^(-h). So cliques are taken in the order of w e / z while
the gain rises.

Under Laplace noise the chosen cliques are then joined if one larger table estimates
them all better: for example four binary columns together instead of their six pairs.
Under Gaussian noise joining gains only for binary columns, and there contrasts
(`binary_contrasts`) gain more.

Source: the optimal split is the known one of weighted marginals; the greedy choice is
that of SWIFT (Google dpsynth, 2026). Ours counts cells by the junction tree itself.
"""

import heapq
import itertools
import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from dpcore.accounting.loss import Loss, PureDP
from dpcore.errors import UsageError
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.discrete._binary_contrasts import effective_cells
from dpcore.synthesis.graph.junction_tree import (
    BoundedTree,
    clique_to_mask,
    mask_to_clique,
)
from dpcore.tables.counts import Values

FIT_NOISE_FACTOR = 0.5
"""Approximate fraction of a table's noise that remains after the fit."""
SIZE_POWERS = (0.3, 0.5)
"""Powers tried: cliques enter the tree in the order of error / cells^power."""
PAIR_SHARES = (
    Fraction(1),
    Fraction(1, 2),
    Fraction(1, 4),
    Fraction(1, 8),
    Fraction(1, 16),
)
"""Shares of a loss tried for pairs and triples; single columns get the rest."""
MAX_SEARCHED_CLIQUES = 500
"""Up to this number all cliques are tried in the tree; of more, those of largest error."""
PRIOR_POINTS = 200  # grid points of the prior of the errors
EM_STEPS = 200  # of the maximum-likelihood fit of that prior
MAX_PRIOR_ERRORS = 2_000  # errors that the prior is fitted to, evenly spread over all
TRIED_CLIQUES_PER_COLUMN = 4  # cliques per column tried in the tree, if they are many


def workload(
    names: Sequence[str], degree: int, weights: Mapping[Clique, float]
) -> dict[Clique, float]:
    """Return weight 1 for all cliques of `degree` columns, updated by given weights.

    Returns: clique, its columns in the order of `names` -> weight.

    Raises: ParameterError for a clique that is no pair or triple of them, or a weight
        not above 0.
    """
    place = {name: at for at, name in enumerate(names)}
    wanted = dict.fromkeys(itertools.combinations(names, degree), 1.0)
    for clique, weight in weights.items():
        if (
            len(set(clique)) not in (2, 3)
            or len(set(clique)) != len(clique)
            or not set(clique) <= set(place)
        ):
            raise UsageError(
                (
                    f"({', '.join(clique)}) must be a pair or triple of columns that "
                    "are "
                    "measured"
                ),
                remedy=f"choose among {', '.join(map(repr, names))}",
            )
        if not (math.isfinite(weight) and weight > 0):
            raise UsageError(
                f"the weight ({weight}) of {', '.join(clique)} must be above 0",
                remedy="raise the weight",
            )
        wanted[tuple(sorted(clique, key=place.__getitem__))] = float(weight)
    return wanted


def candidate_weights(wanted: Mapping[Clique, float]) -> dict[Clique, float]:
    """Return the weights of the wanted triples and of all pairs inside wanted cliques.

    A pair has the sum of the weights of the cliques around it; pairs and triples have
    mean weight 1 each.
    """
    pairs: dict[Clique, float] = {}
    for clique, weight in wanted.items():
        for pair in itertools.combinations(clique, 2):
            pairs[pair] = pairs.get(pair, 0.0) + weight
    triples: dict[Clique, float] = {
        clique: weight for clique, weight in wanted.items() if len(clique) == 3
    }
    return _scale_to_mean_one(pairs) | _scale_to_mean_one(triples)


def _scale_to_mean_one(weights: dict[Clique, float]) -> dict[Clique, float]:
    mean = sum(weights.values()) / max(1, len(weights))
    return {clique: weight / mean for clique, weight in weights.items()}


def expected_error(cells: int, loss: Loss, max_rows: int) -> float:
    """Return the expected L1 norm of a table's noise at this loss, in rows.

    Args:
        cells: of the table.
        max_rows: most rows of a person.
    """
    if isinstance(loss, PureDP):
        return cells * max_rows / float(loss.amount)
    return cells * max_rows / math.sqrt(math.pi * float(loss.amount))


def split_over_cliques(
    domain: Domain, cliques: Sequence[Clique], loss: Loss
) -> list[float]:
    """Return loss shares of equally weighted cliques that minimize the total error."""
    return [
        domain.cells(clique) ** (1 / _allocation_exponent(loss)) for clique in cliques
    ]


def split_over_columns(
    domain: Domain, names: Sequence[str], loss: Loss
) -> dict[Clique, float]:
    """Return loss shares of single columns that minimize the total error.

    Every column is in equally many pairs, so that they matter alike; a large one has
    more cells to err in.
    """
    cliques: list[Clique] = [(name,) for name in names]
    return {
        clique: effective_cells(domain, clique, loss)
        ** (1 / _allocation_exponent(loss))
        for clique in cliques
    }


def denoise_errors(
    errors: Mapping[Clique, float],
    expected_distances: Mapping[Clique, float],
    deviations: Mapping[Clique, float],
) -> dict[Clique, float]:
    """Return the posterior mean of each error's excess over its expected distance.

    The largest of many noisy errors are large by chance, and would be measured for
    nothing. The prior of the excess is estimated from all errors together (empirical
    Bayes): one strong relation among many pairs without one stands out, and many weak
    relations are not mistaken for noise.

    Args:
        errors: clique -> noisy L1 error, in rows.
        expected_distances: clique -> the error that a correct model would show, in
            rows.
        deviations: clique -> standard deviation of the noise of its error, in rows.

    Source: the nonparametric maximum likelihood of Kiefer and Wolfowitz (1956), on the
    observed points by the EM steps of Laird (1978); as an estimate of normal means
    Jiang and Zhang (2009).
    """
    excess = np.array(
        [error - expected_distances[clique] for clique, error in errors.items()]
    )
    noise = np.maximum([deviations[clique] for clique in errors], 1e-9)
    # 1. Choose the support of the prior, and the errors to which it is fitted.
    points = np.quantile(excess, np.linspace(0, 1, min(len(excess), PRIOR_POINTS)))
    chosen = np.argsort(excess, kind="stable")
    if len(chosen) > MAX_PRIOR_ERRORS:
        spread = np.linspace(0, len(chosen) - 1, MAX_PRIOR_ERRORS)
        chosen = chosen[spread.astype(np.int64)]
    # 2. EM steps: compute each error's posterior over the points; their mean is the new
    # prior.
    likelihood = _normal_likelihood(excess[chosen], noise[chosen], points)
    prior = np.full(len(points), 1 / len(points))
    for _ in range(EM_STEPS):
        posterior = likelihood * prior
        posterior /= posterior.sum(axis=1, keepdims=True)
        prior = posterior.mean(axis=0)
    # 3. Compute the posterior mean of each error.
    posterior = _normal_likelihood(excess, noise, points) * prior
    posterior /= posterior.sum(axis=1, keepdims=True)
    return dict(zip(errors, (posterior @ points).tolist(), strict=True))


def _normal_likelihood(excess: Values, noise: Values, points: Values) -> Values:
    """Return the normal likelihood of each error at each point, up to a factor."""
    exponent = ((excess[:, None] - points) / noise[:, None]) ** 2 / 2
    likelihood: Values = np.exp(exponent.min(axis=1, keepdims=True) - exponent)
    return likelihood


def choose_cliques(
    domain: Domain,
    errors: Mapping[Clique, float],
    weights: Mapping[Clique, float],
    *,
    loss: Loss,
    max_rows: int,
    limit: int,
    nodes: Sequence[Clique] = (),
    gain_elsewhere: Callable[[Loss, Collection[Clique]], float] = lambda _, __: 0.0,
) -> tuple[dict[Clique, float], Fraction, tuple[Clique, ...]]:
    """Choose the cliques worth measuring, with their shares and a junction tree.

    All of it follows from noisy errors and public sizes. A clique that would not be
    worth its noise even at the whole loss is not tried.

    Args:
        domain: of the groups.
        errors: clique -> present L1 error, in rows, noisy.
        weights: clique -> weight in the workload.
        loss: for all measurements together.
        max_rows: most rows of a person.
        limit: most cells of the junction tree.
        nodes: of the tree of earlier measurements.
        gain_elsewhere: gain of spending a loss on something else while these cliques
            are measured.

    Returns: clique -> share, adding up to 1; the part of the loss for all of them, as
        the rest of it gains more elsewhere; and the nodes of a junction tree over
        these cliques and the given nodes.
    """
    best: dict[Clique, float] = {}
    tree = BoundedTree(domain, limit, nodes)
    share = Fraction(0)
    best_gain = gain_elsewhere(loss, ())
    # 1. Leave out cliques that are not worth their noise even at the whole loss.
    least_noise = FIT_NOISE_FACTOR * expected_error(1, loss, max_rows)
    worthwhile = [
        clique
        for clique, error in errors.items()
        if error > least_noise * effective_cells(domain, clique, loss)
    ]
    # 2. Try several orders of adding cliques to the tree, and several shares of the
    # loss.
    for power in SIZE_POWERS:
        density = {
            clique: weights[clique]
            * errors[clique]
            / float(domain.cells(clique)) ** power
            for clique in worthwhile
        }
        larger = BoundedTree(domain, limit, nodes)
        order = sorted(density, key=density.__getitem__, reverse=True)
        order = order[
            : max(MAX_SEARCHED_CLIQUES, TRIED_CLIQUES_PER_COLUMN * len(domain.names))
        ]
        fitting = [clique for clique in order if larger.add(clique)]
        for part in PAIR_SHARES:
            gain, parts = split_over_best(
                domain, fitting, errors, weights, loss.share(part), max_rows
            )
            gain += gain_elsewhere(loss.share(1 - part), parts) if part < 1 else 0.0
            if parts and gain > best_gain:
                best_gain = gain
                best = parts
                tree = larger
                share = part
    if not best:
        return best, share, tuple(nodes)
    # 3. Shrink the tree to the chosen cliques; under Laplace noise, join their tables.
    tree.keep_only([*nodes, *best])
    if isinstance(loss, PureDP):
        best = join_cliques(domain, best, weights, tree, _allocation_exponent(loss))
        tree.keep_only([*nodes, *best])
    return best, share, tree.cliques


def join_cliques(
    domain: Domain,
    chosen: Iterable[Clique],
    weights: Mapping[Clique, float],
    tree: BoundedTree,
    power: float,
) -> dict[Clique, float]:
    """Join cliques into larger tables where that lowers the error at the same loss.

    A table of S cells gives a clique of s cells inside it an error of sqrt(s S) instead
    of s, but the loss is divided among fewer tables. The expected error in all is (sum
    W^(1 / power))^power, where W is the weighted sum of sqrt(s S) over the cliques that
    a table answers for. Tables are joined greedily, by the largest saving.

    Returns: table -> share of the loss, adding up to 1.
    """
    wanted = {
        clique_to_mask(domain, clique): weights[clique]
        * math.sqrt(domain.cells(clique))
        for clique in chosen
    }
    # Maps a bit mask of columns to the weighted sum of the cliques answered by that
    # table.
    tables: dict[int, float] = {}
    # A heap of (-saving, union, table, table) for pairs of tables that could be joined.
    waiting: list[tuple[float, int, int, int]] = []

    def cost(table: int, weighted: float) -> float:
        cells = math.prod(size for i, size in enumerate(domain.sizes) if table >> i & 1)
        return float((math.sqrt(cells) * weighted) ** (1 / power))

    def inside(union: int) -> list[int]:
        return [table for table in tables if table & union == table]

    def saving(union: int) -> float:
        parts = inside(union)
        return sum(cost(part, tables[part]) for part in parts) - cost(
            union, sum(tables[p] for p in parts)
        )

    def add_table(new: int, weighted: float) -> None:
        tables[new] = weighted
        for other in tables:
            if other & new and other != new and (gain := saving(other | new)) > 0:
                heapq.heappush(waiting, (-gain, other | new, other, new))

    for clique, weight in wanted.items():
        add_table(clique, weight)
    while waiting:
        _, union, i, j = heapq.heappop(waiting)
        if not (
            i in tables
            and j in tables
            and saving(union) > 0
            and tree.add(mask_to_clique(domain, union))
        ):
            continue
        add_table(union, sum(tables.pop(table) for table in inside(union)))
    costs = {
        mask_to_clique(domain, table): cost(table, weighted)
        for table, weighted in tables.items()
    }
    return {clique: share / sum(costs.values()) for clique, share in costs.items()}


def split_over_best(
    domain: Domain,
    candidates: Iterable[Clique],
    errors: Mapping[Clique, float],
    weights: Mapping[Clique, float],
    loss: Loss,
    max_rows: int,
) -> tuple[float, dict[Clique, float]]:
    """Choose the most useful candidates; return the gain and their loss shares."""
    power = _allocation_exponent(loss)
    unit = FIT_NOISE_FACTOR * expected_error(1, loss, max_rows)
    # z holds the optimal shares before they are scaled to sum to 1 (see the module
    # docstring).
    z = {
        clique: (weights[clique] * effective_cells(domain, clique, loss)) ** (1 / power)
        for clique in candidates
    }
    cliques: list[Clique] = []
    gain = removed = spread = 0.0
    # Take cliques in the order of removed error per unit of z, while the gain
    # increases.
    for clique in sorted(
        z, key=lambda clique: weights[clique] * errors[clique] / z[clique], reverse=True
    ):
        now = (
            removed
            + weights[clique] * errors[clique]
            - unit * (spread + z[clique]) ** power
        )
        if now < gain:
            break
        removed = removed + weights[clique] * errors[clique]
        spread = spread + z[clique]
        gain = now
        cliques.append(clique)
    return gain, {clique: z[clique] / spread for clique in cliques}


def _allocation_exponent(loss: Loss) -> float:
    """Return the exponent 1 + h of the module's docstring."""
    return 2.0 if isinstance(loss, PureDP) else 1.5
