"""The number of rows of a person that count, found privately: its law, its charge, and
what tells of it.
"""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.accounting.ledger import Ledger
from dpcore.engines.frame import FrameEngine
from dpcore.evaluation.table import rows_of_people
from dpcore.evaluation.table.rows_of_people import (
    QUANTILE_ORDER,
    ROW_CAPS,
    RowsPerPersonQuestion,
    measurer_of_people,
    read_privacy_unit,
)
from dpcore.mechanisms import measurer
from tests.statistical import laws

EPSILON = Fraction(1, 20)
UNIT = dp.PrivacyUnit(max_rows=1, id_column="who", found="1/20")
SCHEMA = dp.Schema(columns=(dp.Integer("age", low=0, high=9),), unit=UNIT)
SEARCH = RowsPerPersonQuestion(column="who")


def law(scores: np.ndarray, epsilon: Fraction) -> np.ndarray:
    """Permute and flip at 2 / epsilon: candidates come at times between 0 and 1, the
    first head is taken.
    """
    heads = np.exp((scores - scores.max()) * float(epsilon) / 2)
    chances = []
    for i, head in enumerate(heads):
        earlier = np.polynomial.Polynomial([1.0])
        for other in np.delete(heads, i):
            earlier *= np.polynomial.Polynomial([1.0, -other])
        chances.append(head * (earlier.integ()(1.0) - earlier.integ()(0.0)))
    return np.array(chances)


def scores_by_hand(rows: list[int]) -> np.ndarray:
    """Minus the number of people by which the quantile lies outside of (cap before,
    cap].
    """
    goal = float(QUANTILE_ORDER) * len(rows)
    scores = []
    for place, cap in enumerate(ROW_CAPS):
        below = sum(number <= ROW_CAPS[place - 1] for number in rows) if place else 0
        upto = (
            len(rows)
            if place == len(ROW_CAPS) - 1
            else sum(number <= cap for number in rows)
        )
        scores.append(-max(0.0, below - goal, goal - upto))
    return np.array(scores)


def scores_of(
    people: dict[int, int],
    of: Callable[..., measurer.Measurer] = measurer_of_people,
) -> np.ndarray:
    """The scores that the search hands to the choice, in units of its noise."""
    taken: list[np.ndarray] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            measurer,
            "select_high_score",
            lambda scores, *, noise_scale, is_pure: (
                taken.append(scores / noise_scale) or 0
            ),
        )
        SEARCH.measure(of("who", lambda: people, dp.PureDP(epsilon=EPSILON)), SCHEMA)
    return taken[0] * 2 / float(EPSILON)


def by_rows(
    column: str, people: Callable[[], dict[int, int]], loss: dp.PureDP
) -> measurer.Measurer:
    """The planted fault: each person counts as often as they have rows."""
    return measurer_of_people(
        column, lambda: {rows: rows * n for rows, n in people().items()}, loss
    )


def spread(numbers: list[int]) -> dict[int, int]:
    return {rows: numbers.count(rows) for rows in numbers}


NUMBERS = st.lists(
    st.sampled_from([1, 2, 3, 4, 6, 9, 30, 200, 999, 5_000]), max_size=40
)


@given(NUMBERS, st.integers(1, 10_000))
def test_one_person_changes_no_chance_by_more_than_the_charge(
    numbers: list[int], more: int
) -> None:
    """Whoever has many rows would be seen in the number that is found."""
    before = law(scores_of(spread(numbers)), EPSILON)
    after = law(scores_of(spread([*numbers, more])), EPSILON)
    assert before.sum() == pytest.approx(1)
    most = np.exp(float(EPSILON)) * (1 + 1e-9)
    assert (after <= most * before).all()
    assert (before <= most * after).all()
    assert scores_of(spread(numbers)) == pytest.approx(
        scores_by_hand(numbers), abs=1e-6
    )


def test_a_search_over_rows_would_be_seen() -> None:
    """The check above would let a search pass in which one person counts a thousand
    times.
    """
    numbers = [1] * 30
    before = law(scores_of(spread(numbers), by_rows), EPSILON)
    after = law(scores_of(spread([*numbers, 999]), by_rows), EPSILON)
    assert (after / before).max() > np.exp(float(EPSILON)) * 2


def test_what_is_found_follows_the_law() -> None:
    """A choice by another law would cost another loss than the ledger says."""
    numbers = [1] * 600 + [2] * 270 + [4] * 90 + [15] * 40
    frame = pd.DataFrame({"who": np.repeat(np.arange(len(numbers)), numbers)}).assign(
        age=1
    )
    engine = FrameEngine(frame, SCHEMA, key=b"k" * 32)
    loss = dp.PureDP(epsilon=EPSILON)
    people = engine.people()
    drawn = [
        SEARCH.measure(measurer_of_people("who", lambda: people, loss), SCHEMA)[
            "max_rows"
        ]
        for _ in range(1_000)
    ]
    seen = np.array([drawn.count(cap) for cap in ROW_CAPS])
    expected = law(scores_by_hand(numbers), EPSILON) * len(drawn)
    rare_first = np.argsort(expected, kind="stable")
    assert (
        laws.chi_square_of_counts(seen[rare_first], expected[rare_first])
        > laws.FALSE_ALARM
    )
    twin = law(scores_by_hand(numbers), EPSILON * 2) * len(drawn)
    assert (
        laws.chi_square_of_counts(seen[rare_first], twin[rare_first]) < laws.FALSE_ALARM
    )
    off = rows_of_people.largest_quantile_error(loss)
    within = np.isin(
        drawn,
        [
            c
            for c, s in zip(ROW_CAPS, scores_by_hand(numbers), strict=True)
            if s >= -off
        ],
    )
    assert (
        laws.clopper_pearson(int((~within).sum()), len(drawn), laws.FALSE_ALARM)[0]
        <= 0.05
    )


def frame() -> pd.DataFrame:
    return pd.DataFrame({"who": np.repeat(np.arange(12_000), 3)}).assign(age=1)


@pytest.mark.parametrize(
    "budget", [dp.PureDP(epsilon=1), dp.ApproxDP(epsilon=1, delta="1e-9")], ids=str
)
def test_it_is_charged_once_and_said_everywhere(
    budget: dp.PureDP | dp.ApproxDP,
) -> None:
    """Opening again would pay again, or the number pass for one that everybody
    knows.
    """
    ledger = dp.MemoryLedger()
    curator = dp.Curator.open(frame(), SCHEMA, budget=budget, ledger=ledger)
    assert curator.schema.unit == dp.PrivacyUnit(
        max_rows=3,
        id_column="who",
        found="1/20",
    )  # others are 1,200 people off, or 30 times the noise
    assert read_privacy_unit(curator.account, ledger) == curator.schema.unit
    spent = curator.balance().spent
    assert spent == curator.rule.to_units(
        curator.rule.convert(dp.PureDP(epsilon=EPSILON))
    )
    again = dp.Curator.open(frame(), SCHEMA, budget=budget, ledger=ledger)
    assert (again.schema, again.balance().spent) == (curator.schema, spent)
    with pytest.raises(dp.BudgetFixed):
        dp.Curator.open(
            frame(),
            dp.Schema(
                columns=SCHEMA.columns, unit=dp.PrivacyUnit(max_rows=3, id_column="who")
            ),
            budget=budget,
            ledger=ledger,
        )
    release = curator.run(dp.Histogram("age"), dp.PureDP(epsilon="0.1"))
    assert "found privately for another epsilon of 0.05" in release.guarantee.unit
    assert (
        dp.read_release(release.to_json().encode()).schema.unit == curator.schema.unit
    )
    (event,) = curator.lines()[2].content["events"]
    assert (event["rows"], event["reads"]) == (1, [["who"]])
    curator.verify()


class Broken(Exception):
    """The rows could not be read."""


def test_a_search_that_fails_keeps_its_charge_and_another_is_charged_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A search that is broken off until it suits would be free."""
    ledger = dp.MemoryLedger()
    lines = []

    def broken(engine: FrameEngine) -> dict[int, int]:
        lines.extend(ledger.lines(engine.fingerprint))
        raise Broken

    with monkeypatch.context() as patch:
        patch.setattr(FrameEngine, "people", broken)
        with pytest.raises(Broken):
            dp.Curator.open(
                frame(), SCHEMA, budget=dp.PureDP(epsilon="0.12"), ledger=ledger
            )
    # before the rows were read
    assert [line.state for line in lines] == ["opened", "reserved"]
    curator = dp.Curator.open(
        frame(), SCHEMA, budget=dp.PureDP(epsilon="0.12"), ledger=ledger
    )
    assert curator.balance().spent == 10**11
    assert [line.state for line in curator.lines()] == [
        "opened",
        "reserved",
        "failed",
        "reserved",
        "committed",
    ]


def test_a_budget_too_small_reads_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rows would be searched although the account cannot pay."""
    monkeypatch.setattr(FrameEngine, "people", lambda engine: pytest.fail("read"))
    ledger: Ledger = dp.MemoryLedger()
    with pytest.raises(dp.BudgetExceeded):
        dp.Curator.open(
            frame(), SCHEMA, budget=dp.PureDP(epsilon="0.04"), ledger=ledger
        )
    (dataset,) = ledger.datasets()
    assert [line.state for line in ledger.lines(dataset)] == ["opened"]


def test_an_engine_keeps_to_the_number_that_was_found() -> None:
    """Noise for 3 rows would be drawn on rows of which others were left out."""
    ledger = dp.MemoryLedger()
    with pytest.raises(dp.ParameterError, match="keeps to another number"):
        dp.Curator.open(
            FrameEngine(frame(), SCHEMA, key=ledger.key),
            SCHEMA,
            budget=dp.PureDP(epsilon=1),
            ledger=ledger,
        )


@pytest.mark.parametrize("found", ["0", "-1/20", "0.05", "1e9", "one", "1/0"])
def test_what_is_no_epsilon_is_refused(found: str) -> None:
    """A codebook could bring a loss that nothing can be charged for."""
    with pytest.raises(dp.ParameterError):
        dp.PrivacyUnit(max_rows=1, id_column="who", found=found)
