"""Small worlds for the tests of synthesis: random models and tables, spied-on
measurers, brute force.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

import dpcore as dp
from dpcore.accounting.loss import Loss
from dpcore.mechanisms.measurer import Measurer
from dpcore.release import Guarantee
from dpcore.schema import Clique, Domain
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.synthesis.graph.junction_tree import JunctionTree
from dpcore.synthesis.graph.model import GraphicalModel
from dpcore.tables.counts import Counts, Marginal, align_axes, project
from dpcore.tables.sums import Entry, multiply_levels

NAMES = tuple("abcdefgh")


def as_release(model: SyntheticModel) -> dp.Release:
    """The model as a release of its own, for recipes that stand on one."""
    unit = dp.PrivacyUnit(max_rows=1)
    columns = tuple(
        dp.Categorical(name, categories=tuple(map(str, range(size))))
        for name, size in zip(model.domain.names, model.domain.sizes, strict=True)
    )
    return dp.Release(
        request_id="earlier",
        recipe={"kind": "adaptive"},
        schema=dp.Schema(columns=columns, unit=unit),
        guarantee=Guarantee(
            kind="differential privacy", loss={"rho": "1"}, unit=str(unit)
        ),
        marginals={},
        model=model,
        created="",
    )


class Table:
    """Coded rows that note every clique whose exact counts were read."""

    def __init__(self, codes: Mapping[str, np.ndarray], domain: Domain) -> None:
        self.codes = codes
        self.domain = domain
        self.read: list[tuple[Clique, ...]] = []

    def __call__(
        self,
        cliques: Sequence[Clique],
        *,
        groups: Mapping[str, np.ndarray] | None = None,
    ) -> list[Counts]:
        self.read.append(tuple(cliques))
        return [
            Counts(clique=clique, values=self.count(clique, groups or {}))
            for clique in cliques
        ]

    def count(self, clique: Clique, groups: Mapping[str, np.ndarray]) -> np.ndarray:
        rows = len(next(iter(self.codes.values())))
        flat = np.zeros(rows, dtype=np.int64)
        shape = []
        for name in clique:
            group = groups.get(name, np.arange(self.domain.size(name)))
            shape.append(int(group.max()) + 1)
            flat = flat * shape[-1] + group[self.codes[name]]
        cells = int(np.prod(shape, dtype=np.int64))
        return np.bincount(flat, minlength=cells).astype(np.int64).reshape(shape)

    def measurer(self, loss: Loss, rows: int = 1) -> Measurer:
        return Measurer(
            self, domain=self.domain, loss=loss, max_rows=rows, sums=self.sums
        )

    def sums(self, by: Clique, entries: Sequence[Entry]) -> np.ndarray:
        self.read.append(
            tuple(tuple(dict.fromkeys((*by, *entry))) for entry in entries)
        )
        rows = len(next(iter(self.codes.values())))
        line = np.zeros(rows, dtype=np.int64)
        for name in by:
            line = line * self.domain.size(name) + self.codes[name]
        found = np.zeros((self.domain.cells(by), len(entries)), dtype=np.int64)
        for i, entry in enumerate(entries):
            np.add.at(
                found[:, i],
                line,
                multiply_levels(
                    [each[self.codes[name]] for name, each in entry.items()], rows
                ),
            )
        return found


def random_domain(rng: np.random.Generator, columns: int, most: int = 5) -> Domain:
    """So many columns of 1 to `most` cells."""
    return Domain(
        names=NAMES[:columns],
        sizes=tuple(int(size) for size in rng.integers(1, most + 1, columns)),
    )


def random_table(rng: np.random.Generator, rows: int, sizes: Sequence[int]) -> Table:
    """Rows in which every column depends on the two before it."""
    domain = Domain(names=tuple(f"c{i}" for i in range(len(sizes))), sizes=tuple(sizes))
    codes: dict[str, np.ndarray] = {}
    state = np.zeros(rows, dtype=np.int64)
    for name, size in zip(domain.names, sizes, strict=True):
        own = rng.integers(0, size, rows)
        codes[name] = np.where(rng.random(rows) < 0.6, (state * 7) % size, own)
        state = state // 2 + codes[name]
    return Table(codes, domain)


def random_model(
    rng: np.random.Generator, domain: Domain, cliques: Sequence[Clique]
) -> GraphicalModel:
    """A model with random factors over the cliques."""
    return GraphicalModel(
        tree=JunctionTree.build(domain, cliques),
        factors=tuple(
            (clique, rng.random(domain.shape(clique)) + 0.01) for clique in cliques
        ),
        total=1000.0,
    )


def brute_force(
    domain: Domain, factors: Sequence[tuple[Clique, np.ndarray]], total: float
) -> np.ndarray:
    """The whole table, multiplied out."""
    whole = np.ones(domain.sizes)
    for clique, table in factors:
        whole = whole * align_axes(table, clique, domain.names)
    return whole * (total / whole.sum())


def exact(
    domain: Domain, whole: np.ndarray, cliques: Sequence[Clique], variance: float
) -> list[Marginal]:
    """Marginals of a whole table, said to have this variance."""
    return [
        Marginal(
            clique=clique,
            values=project(whole, domain.names, clique).astype(float),
            variance=variance,
            noise="gaussian",
        )
        for clique in cliques
    ]


def random_cliques(rng: np.random.Generator, domain: Domain) -> list[Clique]:
    """Up to six cliques of one to three columns, loops and repetitions of columns
    allowed.
    """
    found = {}
    for _ in range(rng.integers(1, 7)):
        size = int(rng.integers(1, min(3, len(domain.names)) + 1))
        clique = tuple(str(name) for name in rng.permutation(domain.names)[:size])
        found[frozenset(clique)] = clique
    return list(found.values())


def total_variation(first: np.ndarray, second: np.ndarray) -> float:
    """Distance of two tables of counts, each scaled to 1."""
    return float(np.abs(first / first.sum() - second / second.sum()).sum()) / 2


def counted(
    codes: Mapping[str, np.ndarray], domain: Domain, clique: Clique
) -> np.ndarray:
    """Counts of drawn rows over a clique."""
    return Table(codes, domain).count(clique, {})


def models_equal(
    one: SyntheticModel, other: SyntheticModel, cliques: Sequence[Clique]
) -> bool:
    """Whether two models say the same about the cliques."""
    return all(
        np.allclose(one.marginal(clique), other.marginal(clique)) for clique in cliques
    )
