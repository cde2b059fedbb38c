"""The guarantee itself, of every recipe, paid question and search: see `coupling` for
what is compared.

A new recipe or question needs no word here: it is taken from the contract of recipes,
or it is missed by `test_every_paid_question_is_here`.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.loss import AnyLoss
from dpcore.engines.base import Engine
from dpcore.engines.sql.duckdb_source import DuckDBSource
from dpcore.evaluation.base import PrivateEvaluation
from dpcore.evaluation.table.cells_of_numbers import (
    NumberCellsQuestion,
    with_public_cells,
)
from dpcore.evaluation.table.rows_of_people import RowsPerPersonQuestion
from dpcore.evaluation.utility.private import (
    PrivateAccuracyQuestion,
    PrivateMarginalErrorQuestion,
)
from dpcore.mechanisms import measurer as drawing
from dpcore.mechanisms.measurer import Measurer
from dpcore.schema.interval import NumberColumn
from tests.contracts.coupling import Ask, Pair, compare
from tests.contracts.engine_kinds import ENGINES, duckdb_engine
from tests.contracts.test_recipes import RECIPES, SCHEMA

UNIT = dp.PrivacyUnit(max_rows=2, id_column="person")
WIDE = tuple(
    with_public_cells(each) if isinstance(each, NumberColumn) else each
    for each in SCHEMA.columns
)
PURE = dp.PureDP(epsilon=1_000)
MIXED = dp.ApproxDP(epsilon=500, delta="1e-6", threshold_delta="1e-4")
RULES: dict[str, tuple[AnyLoss, AnyLoss]] = {
    "epsilon": (PURE, dp.PureDP(epsilon=2)),
    "rho": (MIXED, dp.ZCDP(rho="1/10")),
    "epsilon in an account of rho": (MIXED, dp.PureDP(epsilon=1)),
    "epsilon and delta": (MIXED, dp.ApproxDP(epsilon=1, delta="1e-6")),
}
"""Budget and loss, by the way in which a loss is spent."""


def recipe(name: str) -> Callable[[AnyLoss], Callable[[dp.Curator], Ask]]:
    def of(loss: AnyLoss) -> Callable[[dp.Curator], Ask]:
        return lambda _: (
            lambda curator, request: curator.run(
                RECIPES[name], loss, request_id=request
            )
        )

    return of


def question(
    make: Callable[[dp.Release], PrivateEvaluation],
) -> Callable[[AnyLoss], Callable[..., Ask]]:
    """A question about a release, which is public; it is drawn once for both."""

    def of(loss: AnyLoss) -> Callable[[dp.Curator], Ask]:
        def on(first: dp.Curator) -> Ask:
            asked = make(
                first.run(dp.Marginals(cliques=[("age", "sex"), ("pay",)]), loss)
            )
            return lambda curator, request: curator.evaluate_privately(
                asked, loss, request_id=request
            )

        return on

    return of


ASKED: dict[str, Callable[[AnyLoss], Callable[[dp.Curator], Ask]]] = {
    **{name: recipe(name) for name in RECIPES},
    "marginal error, single columns": question(
        lambda made: PrivateMarginalErrorQuestion(release=made, way=1)
    ),
    "marginal error, pairs": question(
        lambda made: PrivateMarginalErrorQuestion(release=made, way=2)
    ),
    "accuracy": question(
        lambda made: PrivateAccuracyQuestion(release=made, target="sex")
    ),
    "cells of numbers": question(lambda _: NumberCellsQuestion(columns=("age", "pay"))),
    "rows of people": question(lambda _: RowsPerPersonQuestion(column="person")),
}


def test_every_paid_question_is_here() -> None:
    """A question that nobody compares on neighbours could spend more than its
    charge.
    """
    kinds = {
        kind
        for kind, each in PrivateEvaluation.kinds().items()
        if each.__module__.startswith("dpcore.")
    }
    asked = {
        PrivateMarginalErrorQuestion,
        PrivateAccuracyQuestion,
        NumberCellsQuestion,
        RowsPerPersonQuestion,
    }
    assert kinds == {each.kind for each in asked}


def tables(seed: int, rows: int = 40) -> tuple[pd.DataFrame, pd.DataFrame, bool]:
    """A table, and the same with one person more, in an order of its own; which of them
    is asked first.
    """
    rng = np.random.default_rng(seed)
    named = bool(rng.random() < 0.7)
    number = (
        int(rng.integers(1, 7)) if named else int(rng.integers(1, UNIT.max_rows + 1))
    )
    drawn = pd.DataFrame(
        {
            "age": rng.integers(0, 20, rows + number),
            "sex": rng.choice(["F", "M"], rows + number, p=[0.3, 0.7]),
            "town": pd.Series(
                rng.choice([*"abcdexyz", None], rows + number), dtype=object
            ),  # type: ignore[list-item]
            "pay": np.where(
                rng.random(rows + number) < 0.5, 0, rng.integers(0, 10, rows + number)
            ),
            "person": [
                *(f"p{each}" for each in rng.integers(0, rows, rows)),
                *["her"] * number,
            ],
        },
    )
    if rng.random() < 0.3:  # she alone is somewhere
        drawn.loc[rows:, ["town", "age"]] = ["only hers", 19]
        drawn.loc[: rows - 1, "age"] = drawn.loc[: rows - 1, "age"].clip(upper=18)
    without = drawn.iloc[:rows].reset_index(drop=True)
    order = rng.permutation(len(drawn))
    return without, drawn.iloc[order].reset_index(drop=True), named


def in_csv(
    folder: Path, frame: pd.DataFrame, schema: dp.Schema, *, key: bytes
) -> Engine:
    place = folder / f"{len(list(folder.iterdir()))}.csv"
    frame.to_csv(place, index=False)
    return duckdb_engine(DuckDBSource(kind="csv", location=str(place)), schema, key=key)


ENGINE_OF: dict[str, Callable[..., Engine]] = {
    name: make for name, (_, make) in ENGINES.items()
} | {
    "csv": in_csv,
}


def coupled(
    name: str,
    rule: str,
    seed: int,
    folder: Path,
    *,
    kind: str = "frame",
    part: dict[str, str] | None = None,
) -> Pair:
    """The pair of one seed, for what is asked, on an engine."""
    without, with_her, named = tables(seed)
    budget, loss = RULES[rule]
    unit = (
        UNIT
        if named or name == "rows of people"
        else dataclasses.replace(UNIT, id_column=None)
    )
    columns = WIDE if name == "cells of numbers" else SCHEMA.columns
    schema = dp.Schema(columns=columns, unit=unit)
    ledgers = [dp.MemoryLedger(), dp.MemoryLedger()]
    ledgers[1].key = ledgers[0].key
    frames = [without, with_her] if seed % 2 else [with_her, without]
    curators = [
        dp.Curator.open(
            ENGINE_OF[kind](folder, frame, schema, key=ledger.key),
            schema,
            budget=budget,
            ledger=ledger,
            identity="people",
        )
        for frame, ledger in zip(frames, ledgers, strict=True)
    ]
    ask = ASKED[name](loss)(curators[0])
    if part is not None:
        of_part = RECIPES[name]

        def ask(curator: dp.Curator, request: str) -> Any:
            return curator.run(of_part, loss, part=part, request_id=request)

    # what the question is about was paid for on the first one
    if len(curators[0].lines()) > 1:
        curators[1].run(dp.Marginals(cliques=[("age", "sex"), ("pay",)]), loss)
    return compare(curators[0], curators[1], ask, f"request {seed}")


def can_be_asked(name: str, rule: str) -> bool:
    """Thresholds need a delta; rows of people are found for an epsilon."""
    if name == "Categories":
        return rule != "epsilon"
    return name != "rows of people" or rule in (
        "epsilon",
        "epsilon in an account of rho",
    )


CASES = [
    (name, rule)
    for name, rule in itertools.product(ASKED, RULES)
    if can_be_asked(name, rule)
]


@pytest.mark.parametrize(("name", "rule"), CASES)
def test_neighbours_are_told_apart_by_no_more_than_the_charge(
    name: str, rule: str, tmp_path: Path
) -> None:
    """One person could be found in what is published, in how a run goes, or by a loss
    above its charge.
    """
    seed = CASES.index((name, rule))
    pair = coupled(name, rule, seed, tmp_path)
    assert pair.faults == []
    assert (pair.draws > 0) == (pair.end == "published"), pair.end


PARTS = [
    ("Histogram", {"sex": "F"}),
    ("Marginals", {"town": "a"}),
    ("Adaptive", {"sex": "M"}),
]


@pytest.mark.parametrize(("name", "part"), PARTS)
@pytest.mark.parametrize("rule", ["epsilon", "rho"])
def test_parts_too(name: str, part: dict[str, str], rule: str, tmp_path: Path) -> None:
    """The rows of a person in one part could show in another one."""
    for seed in range(2):
        assert coupled(name, rule, seed, tmp_path, part=part).faults == []


@pytest.mark.proof
@pytest.mark.parametrize(("name", "rule"), CASES)
def test_on_many_pairs(name: str, rule: str, tmp_path: Path) -> None:
    """What one pair of tables does not show, another one may."""
    pairs = [coupled(name, rule, seed, tmp_path) for seed in range(100, 112)]
    assert [pair.faults for pair in pairs if pair.faults] == []
    assert max(pair.share for pair in pairs) > 0


@pytest.mark.proof
@pytest.mark.parametrize(
    ("kind", "name"),
    [
        *itertools.product(["parquet", "duckdb", "csv", "postgres"], ASKED),
        *(
            ("spark", name)
            for name in ("Histogram", "Adaptive", "Gaussian", "cells of numbers")
        ),
    ],
)
def test_on_every_engine(kind: str, name: str, tmp_path: Path) -> None:
    """A batch, a file or a machine could show whose row came first."""
    rules = [rule for rule in RULES if can_be_asked(name, rule)][:2]
    for seed, rule in enumerate(rules[: 1 if kind == "spark" else 2]):
        assert coupled(name, rule, 200 + seed, tmp_path, kind=kind).faults == []


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["parquet", "duckdb", "csv"])
def test_parts_on_engines(kind: str, tmp_path: Path) -> None:
    """The same of parts."""
    for (name, part), rule in itertools.product(PARTS, ("epsilon", "rho")):
        assert coupled(name, rule, 300, tmp_path, kind=kind, part=part).faults == []


Plant = Callable[[pytest.MonkeyPatch], None]


def half(function: str) -> Plant:
    """Noise of half the scale that the charge pays for."""

    def plant(patch: pytest.MonkeyPatch) -> None:
        right = getattr(drawing, function)
        patch.setattr(drawing, function, lambda **given: right(**given) / 2)

    return plant


def twice_the_epsilon(patch: pytest.MonkeyPatch) -> None:
    """Texts are named for an epsilon that a rho does not pay for."""
    within = drawing.epsilon_within
    patch.setattr(drawing, "epsilon_within", lambda rho: 2 * within(rho))


def exact_total(measurer: Measurer) -> int:
    return int(measurer._counts([()])[0].values.sum())


def another_question(patch: pytest.MonkeyPatch) -> None:
    """A table is measured in two halves where an even number of rows counts."""
    measure = Measurer.measure

    def measured(self: Measurer, cliques: Any, loss: Any, weights: Any = None) -> Any:
        if type(self) is Measurer and exact_total(self) % 2:
            for _ in range(2):
                made = measure(self, cliques, loss.share(Fraction(1, 2)), weights)
            return made
        return measure(self, cliques, loss, weights)

    patch.setattr(Measurer, "measure", measured)


def another_scale(patch: pytest.MonkeyPatch) -> None:
    """Noise grows with the number of rows, so that it tells of it."""
    noisy = Measurer._add_noise
    patch.setattr(
        Measurer,
        "_add_noise",
        lambda self, counts, scale: noisy(
            self, counts, scale * (1 + counts.values.sum())
        ),
    )


def another_end(patch: pytest.MonkeyPatch) -> None:
    """A run fails after its charge where an even number of rows counts."""
    noisy = Measurer._add_noise

    def fails(self: Measurer, counts: Any, scale: float) -> Any:
        if type(self) is Measurer and counts.values.sum() % 2:
            raise dp.LimitError("too many rows", remedy="choose fewer")
        return noisy(self, counts, scale)

    patch.setattr(Measurer, "_add_noise", fails)


def exact_bytes(patch: pytest.MonkeyPatch) -> None:
    """The ledger says how many rows were counted."""
    from dpcore.curator import curator as door

    events = door.list_events
    patch.setattr(
        door, "list_events", lambda made: {**events(made), "rows": exact_total(made)}
    )


def a_purse_of_its_own(patch: pytest.MonkeyPatch) -> None:
    """A recipe measures in a view and beside it, each with the whole loss."""
    measure = Measurer.measure

    def measured(self: Measurer, cliques: Any, loss: Any, weights: Any = None) -> Any:
        if type(self) is Measurer:
            purse = dataclasses.replace(self._purse)
            measure(self, cliques, loss, weights)
            self._purse = purse
        return measure(self, cliques, loss, weights)

    patch.setattr(Measurer, "measure", measured)


FAULTS: dict[str, tuple[str, str, Plant, str]] = {
    "Laplace noise": ("Histogram", "epsilon", half("noise_scale"), "of the charge"),
    "Gaussian noise": ("Histogram", "rho", half("noise_scale"), "of the charge"),
    "sums in the max norm": (
        "Gaussian",
        "epsilon",
        half("sums_scale"),
        "of the charge",
    ),
    "sums in rho": ("Gaussian", "rho", half("sums_scale"), "of the charge"),
    "choices": ("rows of people", "epsilon", half("selection_scale"), "of the charge"),
    "thresholds": ("Categories", "rho", twice_the_epsilon, "of the charge"),
    "another question": ("Histogram", "epsilon", another_question, "they end as"),
    "another scale": ("Histogram", "epsilon", another_scale, "they end as"),
    "another end": ("Histogram", "epsilon", another_end, "they end as"),
    "exact bytes": ("Histogram", "epsilon", exact_bytes, "what is published differs"),
    "a second purse": ("Histogram", "epsilon", a_purse_of_its_own, "of the charge"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_seen(
    fault: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The comparison would find nothing, whatever is wrong."""
    name, rule, plant, words = FAULTS[fault]

    def faults(pairs: int) -> Iterator[str]:
        for seed in range(400, 400 + pairs):
            yield from coupled(name, rule, seed, tmp_path).faults

    assert list(faults(12)) == []
    plant(monkeypatch)
    # whether one pair shows it depends on the key that orders rows
    assert any(words in each for each in faults(60))
