"""Many releases of the same recipe, and releases without noise."""

from __future__ import annotations

import numpy as np
import pandas as pd

import dpcore as dp
from dpcore.engines.frame import FrameEngine
from dpcore.release import Guarantee
from dpcore.schema import Clique
from dpcore.synthesis import ChainModel, Recipe
from dpcore.tables.counts import Marginal
from dpcore.tables.nearest import nearest_distribution


def opened(
    frame: pd.DataFrame, schema: dp.Schema, epsilon: int | str = 100_000
) -> dp.Curator:
    """A curator over the schema's columns alone, with a ledger of its own."""
    columns = list(schema.domain.names)
    return dp.Curator.open(
        frame[columns],
        schema,
        budget=dp.PureDP(epsilon=epsilon),
        ledger=dp.MemoryLedger(),
    )


def draws(
    curator: dp.Curator, recipe: Recipe, times: int, epsilon: int | str = 1
) -> list[dp.Release]:
    """`times` independent releases of one recipe."""
    taken = len(curator.lines())
    return [
        curator.run(recipe, dp.PureDP(epsilon=epsilon), request_id=f"draw {taken + i}")
        for i in range(times)
    ]


def exact_counts(frame: pd.DataFrame, schema: dp.Schema, *clique: str) -> np.ndarray:
    """Exact counts over a clique."""
    return FrameEngine(frame, schema, key=b"test").counts([clique])[0].values


def noiseless(frame: pd.DataFrame, schema: dp.Schema, *clique: str) -> dp.Release:
    """A release whose only marginal holds the exact counts; the library never makes
    one.
    """
    return made(
        schema, clique, exact_counts(frame, schema, *clique).astype(float), variance=0.0
    )


def made(
    schema: dp.Schema, clique: Clique, values: np.ndarray, variance: float
) -> dp.Release:
    """A release of these values."""
    marginal = Marginal(
        clique=clique, values=values, variance=variance, noise="laplace"
    )
    return dp.Release(
        request_id="by hand",
        recipe={},
        schema=schema,
        guarantee=Guarantee(kind="none"),
        marginals={clique: marginal},
        model=ChainModel(domain=schema.domain, marginals=(marginal,)),
        created="",
    )


def total_variation(first: np.ndarray, second: np.ndarray) -> float:
    """Distance of two tables of counts, each scaled to 1."""
    return float(np.abs(first / first.sum() - second / second.sum()).sum()) / 2


def clipped(values: np.ndarray) -> np.ndarray:
    """What the seeds do to noisy counts: cut at 0, then scale to 1."""
    cut = np.clip(values, 0, None)
    return cut / cut.sum()


def projected(values: np.ndarray) -> np.ndarray:
    """What the library does to noisy counts: the nearest table with the noisy total,
    scaled to 1.
    """
    table = nearest_distribution(values, values.sum())
    return table / table.sum()
