"""Weighted least squares in closed form for overlapping noisy marginals.

A table over a clique is the sum of one residual for each subset of its columns: the
part of the subset's marginal that does not follow from its smaller marginals. Residuals
of different subsets have uncorrelated noise, and every clique around a subset
measures the same residual. So the least-squares answer is the inverse-variance mean of
each shared residual, put back into every clique.

Source: Xiao, He, Zhang, Kifer (2023), "An optimal and scalable matrix mechanism for
noisy marginals", section 4, whose residual basis this applies to marginals measured
directly.
"""

import itertools
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpcore.errors import too_many_columns_error
from dpcore.schema.domain import Clique, Domain
from dpcore.tables.counts import Marginal, Noise, Values, align_axes, project

MAX_SUBSETS = 5_000  # of the columns that cliques share


def make_consistent(
    domain: Domain, marginals: Sequence[Marginal]
) -> tuple[Marginal, ...]:
    """Adjust marginals by weighted least squares so that they agree.

    Squares are weighted by inverse variances.

    Args:
        domain: of the columns.
        marginals: noisy, each with the same variance in all its cells, independent of
            each other.

    Returns: in the same order, with the remaining variance.
    """
    cliques = [marginal.clique for marginal in marginals]
    values = [marginal.values.copy() for marginal in marginals]
    # Replace each shared residual by its mean over all cliques that contain the subset.
    for shared, holders in _shared_subsets(cliques).items():
        residuals, mean, _ = _average_residuals(
            domain, [marginals[i] for i in holders], shared
        )
        if mean is None:
            continue
        for i, residual in zip(holders, residuals, strict=True):
            rest = domain.cells(cliques[i]) // domain.cells(shared)
            values[i] += align_axes((mean - residual) / rest, shared, cliques[i])
    variances = consistent_variances(
        domain,
        cliques,
        [marginal.measured_variance for marginal in marginals],
        [marginal.signed for marginal in marginals],
    )
    return tuple(
        Marginal(
            clique=marginal.clique,
            values=table,
            variance=variance,
            noise=marginal.noise,
            pooled=len(marginals) > 1,
        )
        for marginal, table, variance in zip(marginals, values, variances, strict=True)
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Evidence:
    """The estimate of a marginal from all independent noisy tables.

    The marginal is the sum of one residual for each subset of its columns. Every
    measurement around a subset estimates its residual; their inverse-variance mean is
    the best linear unbiased estimate. Residuals of different subsets have uncorrelated
    noise, so that the variance of any sum of cells is exact.

    Attributes:
        clique: the columns, one an axis.
        shape: cells of each.
        residuals: subset -> centered table, and variance of one cell of the marginal
            over the subset if it were measured as well, in rows squared.
        noise: the law of the noise, the widest if there are several.
        pooled: whether several draws are averaged.
    """

    clique: Clique
    shape: tuple[int, ...]
    residuals: Mapping[Clique, tuple[Values, float]]
    noise: Noise
    pooled: bool

    def table(self) -> Marginal:
        """Return the estimate of every cell, with its remaining variance."""
        values = np.zeros(self.shape)
        variance = 0.0
        size = dict(zip(self.clique, self.shape, strict=True))
        for part, (table, cell_variance) in self.residuals.items():
            rest = values.size // math.prod(size[name] for name in part)
            values += align_axes(table, part, self.clique) / rest
            # Centering along a column with n cells multiplies the variance by 1 - 1 /
            # n.
            centered = math.prod(1 - 1 / size[name] for name in part)
            variance += cell_variance * centered / rest**2
        return Marginal(
            clique=self.clique,
            values=values,
            variance=variance,
            noise=self.noise,
            pooled=self.pooled,
        )

    def sum(self, masks: Mapping[str, npt.NDArray[np.bool_]]) -> Marginal:
        """Return the number of rows whose cell is marked in every column.

        Args:
            masks: column -> (cells,) which of its cells are added; all cells of a
                column that is not named.

        Returns: a table without columns.
        """
        value = variance = 0.0
        full_masks = {
            name: masks.get(name, np.ones(size, dtype=np.bool_))
            for name, size in zip(self.clique, self.shape, strict=True)
        }
        for part, (table, cell_variance) in self.residuals.items():
            # A residual is spread evenly over the columns that its subset does not
            # contain.
            share = math.prod(
                float(full_masks[name].mean())
                for name in self.clique
                if name not in part
            )
            marked = table[np.ix_(*(full_masks[name] for name in part))]
            value += share * float(marked.sum())
            # Add the variance of the sum of the marked cells of a centered table.
            inside = math.prod(
                full_masks[name].sum() * (1 - full_masks[name].mean()) for name in part
            )
            variance += share**2 * cell_variance * float(inside)
        return Marginal(
            clique=(),
            values=np.array(value),
            variance=variance,
            noise=self.noise,
            pooled=self.pooled,
        )


def combine_evidence(
    domain: Domain, measured: Sequence[Marginal], clique: Clique
) -> Evidence | None:
    """Return the best linear unbiased estimate of a marginal.

    Args:
        domain: of the columns.
        measured: noisy, each with the same variance in all its cells, independent of
            each other.
        clique: whose marginal is estimated.

    Returns: None if a part was not measured.

    Raises: LimitError for a clique with too many subsets.
    """
    if 2 ** len(clique) > MAX_SUBSETS:
        raise too_many_columns_error()
    residuals: dict[Clique, tuple[Values, float]] = {}
    used: dict[int, Marginal] = {}
    for size in range(len(clique) + 1):
        for part in itertools.combinations(clique, size):
            holders = [
                marginal for marginal in measured if set(part) <= set(marginal.clique)
            ]
            _, mean, total = _average_residuals(domain, holders, part)
            if mean is None:
                return None
            residuals[part] = (mean, 1 / total)
            used |= {
                id(marginal): marginal
                for marginal in holders
                if set(marginal.signed) <= set(part)
            }
    laws = {marginal.noise for marginal in used.values()}
    return Evidence(
        clique=clique,
        shape=domain.shape(clique),
        residuals=residuals,
        noise=laws.pop() if len(laws) == 1 else "max norm",
        pooled=len(used) > 1 or any(marginal.pooled for marginal in used.values()),
    )


def consistent_variances(
    domain: Domain,
    cliques: Sequence[Clique],
    variances: Sequence[float],
    signed: Sequence[Clique] = (),
) -> tuple[float, ...]:
    """Return the cell variance of each clique after `make_consistent`.

    It follows from public facts alone.

    Args:
        domain: of the columns.
        cliques: as they are measured.
        variances: of one cell of each; of a contrast its own.
        signed: for each clique, the columns of which only differences were measured.
    """
    signed = signed or [()] * len(cliques)
    remaining = [
        variance / math.prod(domain.size(name) for name in columns)
        for variance, columns in zip(variances, signed, strict=True)
    ]
    for shared, holders in _shared_subsets(cliques).items():
        share = math.prod(1 - 1 / size for size in domain.shape(shared))
        precision = sum(
            _inverse_variance(domain, cliques[i], variances[i], signed[i], shared)
            for i in holders
        )
        # Replace the residual's own variance by the variance of the mean.
        for i in holders if precision else ():
            rest = domain.cells(cliques[i]) // domain.cells(shared)
            own_variance = variances[i] if set(signed[i]) <= set(shared) else 0.0
            remaining[i] += share * (1 / precision / rest**2 - own_variance / rest)
    return tuple(max(0.0, variance) for variance in remaining)


def _average_residuals(
    domain: Domain,
    holders: Sequence[Marginal],
    part: Clique,
) -> tuple[list[Values], Values | None, float]:
    """Return each table's residual, their weighted mean, and the mean's precision.

    The mean is None if no table measures the residual.
    """
    weights = [
        _inverse_variance(
            domain, marginal.clique, marginal.measured_variance, marginal.signed, part
        )
        for marginal in holders
    ]
    residuals = [
        _residual(marginal.values, marginal.clique, part) for marginal in holders
    ]
    total = sum(weights)
    if not total:
        return residuals, None, 0.0
    mean = np.zeros(domain.shape(part))
    for weight, residual in zip(weights, residuals, strict=True):
        mean += weight / total * residual
    return residuals, mean, total


def _inverse_variance(
    domain: Domain, clique: Clique, variance: float, signed: Clique, shared: Clique
) -> float:
    """Return the inverse variance of a noisy table's marginal over `shared`.

    It is 0 if nothing was measured of it.
    """
    if not set(signed) <= set(shared):
        return 0.0
    return 1 / (max(variance, 1e-12) * (domain.cells(clique) // domain.cells(shared)))


def _shared_subsets(cliques: Sequence[Clique]) -> dict[Clique, list[int]]:
    """Return all sets of columns that two or more cliques have in common.

    Returns: columns -> positions of the cliques around them.
    """
    distinct = list(dict.fromkeys(map(frozenset, cliques)))
    commons = {a & b for a, b in itertools.combinations(distinct, 2)}
    commons |= {
        clique
        for clique, times in Counter(map(frozenset, cliques)).items()
        if times > 1
    }
    if 2 ** max(map(len, commons), default=0) > MAX_SUBSETS:
        raise too_many_columns_error()
    parts = {
        frozenset(part)
        for common in commons
        for size in range(len(common) + 1)
        for part in itertools.combinations(sorted(common), size)
    }
    return {
        tuple(sorted(part)): [
            i for i, clique in enumerate(cliques) if part <= set(clique)
        ]
        for part in parts
    }


def _residual(values: Values, clique: Clique, shared: Clique) -> Values:
    """Return the marginal over `shared`, centered along each of its axes."""
    table: Values = project(values, clique, shared)
    for axis in range(len(shared)):
        table = table - table.mean(axis=axis, keepdims=True)
    return table
