"""Evaluations that are charged: right on average, exact in their noise, and paid for
first.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable
from functools import cache

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.loss import UNIT
from dpcore.engines.frame import FrameEngine
from dpcore.errors import BudgetExceeded, ParameterError, RequestConflict, SchemaError
from dpcore.evaluation.utility._learners import ConstantModel, train_logistic
from dpcore.evaluation.utility.marginal_error import measure_marginal_error
from dpcore.evaluation.utility.private import (
    PrivateAccuracyQuestion,
    PrivateMarginalErrorQuestion,
    _model_answers,
)
from dpcore.mechanisms import measurer
from dpcore.mechanisms.rehearsal import Rehearsal
from dpcore.release import PrivateReport
from dpcore.synthesis import Recipe, Tree
from tests.evaluation.people import SCHEMA, people
from tests.statistical import laws

ORIGINAL = people(3_000, 1)


def released(frame: pd.DataFrame, recipe: Recipe) -> dp.Release:
    """A release of other people of the same law, nearly without noise."""
    opened = dp.Curator.open(
        frame, SCHEMA, budget=dp.PureDP(epsilon=1_000), ledger=dp.MemoryLedger()
    )
    return opened.run(recipe, dp.PureDP(epsilon=1_000))


OTHERS = people(2_000, 2)
TREE = Tree()


@cache
def of_others(recipe: Recipe) -> dp.Release:
    """The release of the others, made when a test first asks for it."""
    return released(OTHERS, recipe)


def curator(
    epsilon: float = 1_000, schema: dp.Schema = SCHEMA, frame: pd.DataFrame = ORIGINAL
) -> dp.Curator:
    return dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=epsilon), ledger=dp.MemoryLedger()
    )


@pytest.mark.parametrize("way", [1, 2])
def test_marginal_error_is_right_within_its_interval(way: int) -> None:
    """The figure that is shared would be about something else than the internal one."""
    exact = measure_marginal_error(
        ORIGINAL, of_others(TREE).sample(seed=0), SCHEMA, (way,)
    ).ways[0]
    report = curator().evaluate_privately(
        PrivateMarginalErrorQuestion(release=of_others(TREE), way=way),
        dp.PureDP(epsilon=500),
    )
    half = report.content["half_width"]
    assert report.content["compared"] == exact.cliques
    told = {
        tuple(line["columns"]): line["distance"] for line in report.content["distances"]
    }
    assert len(told) == exact.cliques
    assert max(told, key=told.__getitem__) == exact.worst_clique
    assert np.mean([*told.values()]) == pytest.approx(report.content["mean"])
    assert report.content["mean"] == pytest.approx(exact.mean, abs=0.005)
    assert report.content["worst"] == pytest.approx(exact.worst, abs=0.005)
    assert tuple(report.content["columns"]) == exact.worst_clique
    assert half < 0.005


def test_the_interval_widens_with_less_to_spend() -> None:
    """A noisy figure would look as sure as an exact one; at 95 % it must hold the truth
    nearly always.
    """
    asked = PrivateMarginalErrorQuestion(
        release=of_others(dp.Histogram("married")), way=1
    )
    truth = (
        measure_marginal_error(
            ORIGINAL, of_others(dp.Histogram("married")).sample(seed=0), SCHEMA, (1,)
        )
        .ways[0]
        .mean
    )
    opened = curator()
    loss = dp.PureDP(epsilon="0.2")
    reports = [
        opened.evaluate_privately(asked, loss, request_id=str(i)).content
        for i in range(100)
    ]
    inside = sum(abs(each["mean"] - truth) <= each["half_width"] for each in reports)
    assert laws.at_least(inside, 100, 0.95)
    assert reports[0]["half_width"] > 0.005


def test_accuracy_is_right_within_its_interval() -> None:
    """Accuracy with noise must be that of the same model counted exactly."""
    asked = PrivateAccuracyQuestion(release=of_others(TREE), target="married")
    sure = curator().evaluate_privately(asked, dp.PureDP(epsilon=100)).content
    assert sure["accuracy"] > sure["majority"] + 0.05
    opened = curator()
    loss = dp.PureDP(epsilon="0.05")
    drawn = [
        opened.evaluate_privately(asked, loss, request_id=str(i)).content
        for i in range(30)
    ]
    assert all(each["low"] <= each["accuracy"] <= each["high"] for each in drawn)
    assert laws.at_least(
        sum(each["low"] <= sure["accuracy"] <= each["high"] for each in drawn), 30, 0.95
    )
    assert drawn[0]["high"] - drawn[0]["low"] > 0.01
    useless = PrivateAccuracyQuestion(
        release=of_others(dp.Independent(columns=SCHEMA.domain.names)),
        target="married",
    )
    found = curator().evaluate_privately(useless, dp.PureDP(epsilon=100)).content
    assert found["accuracy"] < sure["accuracy"] - 0.05


def test_paid_before_anything_is_read() -> None:
    """An evaluation that may be shared would cost nothing, or read first and pay
    afterwards.
    """
    opened = curator(epsilon=1)
    asked = PrivateAccuracyQuestion(release=of_others(TREE), target="married")
    report = opened.evaluate_privately(asked, dp.PureDP(epsilon="0.6"))
    assert opened.balance().spent == 0.6 * UNIT
    assert [line.state for line in opened.lines()] == [
        "opened",
        "reserved",
        "committed",
    ]
    events = opened.lines()[-1].content["events"]
    assert [event["mechanism"] for event in events] == ["discrete laplace"]
    assert set(events[0]["reads"][0]) == set(SCHEMA.domain.names)
    with pytest.raises(BudgetExceeded):
        opened.evaluate_privately(asked, dp.PureDP(epsilon="0.5"))
    assert opened.balance().spent == 0.6 * UNIT
    # stored, and free
    assert opened.evaluate_privately(asked, dp.PureDP(epsilon="0.6")) == report
    assert opened.report(report.request_id) == report
    assert opened.balance().spent == 0.6 * UNIT
    other = PrivateAccuracyQuestion(release=of_others(TREE), target="city")
    with pytest.raises(RequestConflict):
        opened.evaluate_privately(
            other, dp.PureDP(epsilon="0.1"), request_id=report.request_id
        )


def test_all_who_ask_a_question_make_one_request(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Two tabs that ask it at once would both pay; or nobody could ask again after a
    failure.
    """
    opened = curator()
    loss = dp.PureDP(epsilon=1)
    asked = PrivateMarginalErrorQuestion(release=of_others(TREE), way=1)
    first = opened.find_request_id(asked, loss)
    seen: list[str] = []

    def measure(
        self: PrivateMarginalErrorQuestion,
        measurer: measurer.Measurer,
        schema: dp.Schema,
    ) -> dict[str, object]:
        if not isinstance(measurer, Rehearsal):
            seen.append(opened.find_request_id(asked, loss))
            raise ParameterError("no answer", remedy="wait")
        return {}

    with monkeypatch.context() as patched:
        patched.setattr(PrivateMarginalErrorQuestion, "measure", measure)
        with pytest.raises(ParameterError, match="no answer"):
            opened.evaluate_privately(asked, loss, request_id=first)
    second = opened.find_request_id(asked, loss)
    assert seen == [first]
    assert second == opened.find_request_id(asked, loss) != first
    assert opened.find_request_id(asked, dp.PureDP(epsilon=2)) not in (first, second)
    report = opened.evaluate_privately(asked, loss, request_id=second)
    assert opened.evaluate_privately(asked, loss) == report
    assert opened.find_request_id(asked, loss) == second
    assert opened.balance().spent == 2 * UNIT
    by_itself = opened.evaluate_privately(asked, dp.PureDP(epsilon=2))
    assert opened.find_request_id(asked, dp.PureDP(epsilon=2)) == by_itself.request_id


def test_another_release_is_another_question() -> None:
    """The stored answer about one table would be given for another one with the same
    columns.
    """
    opened = curator()
    loss = dp.PureDP(epsilon=1)
    first = opened.evaluate_privately(
        PrivateMarginalErrorQuestion(release=of_others(TREE)), loss
    )
    other = PrivateMarginalErrorQuestion(
        release=of_others(dp.Independent(columns=SCHEMA.domain.names))
    )
    assert opened.evaluate_privately(other, loss).request_id != first.request_id
    assert opened.balance().spent == 2 * UNIT


def test_a_release_with_conditions_is_another_question() -> None:
    """The stored answer about all rows would be given for one about some of them."""
    opened = curator()
    loss = dp.PureDP(epsilon=1)
    for release in (of_others(TREE), of_others(TREE).given({"married": 0})):
        opened.evaluate_privately(PrivateMarginalErrorQuestion(release=release), loss)
    assert opened.balance().spent == 2 * UNIT


def test_rows_without_a_class_are_left_out() -> None:
    """A perfect model would look as bad as a constant one where two of five rows have
    no class.
    """
    frame = ORIGINAL.assign(city=np.where(ORIGINAL["age"] > 50, "A", "B"))
    release = released(frame, Tree())
    asked = PrivateAccuracyQuestion(release=release, target="city")
    holes = frame.assign(city=frame["city"].where(np.arange(len(frame)) % 5 < 3))
    found = [
        curator(frame=each).evaluate_privately(asked, dp.PureDP(epsilon=500))
        for each in (frame, holes)
    ]
    assert found[0].content["accuracy"] > 0.9
    assert found[1].content["accuracy"] == pytest.approx(
        found[0].content["accuracy"], abs=0.02
    )


def test_a_row_is_answered_whichever_others_there_are() -> None:
    """A model's scores are rounded by the place of a row: one person more could flip
    the answers to ties.
    """
    rng = np.random.default_rng(1)
    features = rng.normal(size=(200, 40))
    model = train_logistic(features, (features[:, 0] > 0).astype(np.int64))
    row = rng.normal(size=40)
    model.intercept_ = -(row * model.coef_[0]).sum(keepdims=True)  # a tie
    for rows in range(1, 40):
        answers = _model_answers(model, np.repeat(row[None, :], rows, axis=0))
        assert (answers == answers[0]).all()
        other = rng.normal(size=(rows, 40))
        assert (
            _model_answers(model, other)[rows // 2]
            == _model_answers(model, other[rows // 2 :][:1])
        ).all()
    assert (_model_answers(model, features) == model.predict(features)).all()
    for row in rng.normal(
        size=(50, 40),
    ):  # a product of matrices adds up in another order, and breaks the ties
        model.intercept_ = -(row * model.coef_[0]).sum(keepdims=True)
        assert _model_answers(model, row[None, :]) == model.classes_[0]
    three = train_logistic(features, rng.integers(0, 3, 200))
    assert (_model_answers(three, features) == three.predict(features)).all()
    assert (_model_answers(ConstantModel(2), features) == 2).all()


def test_it_may_be_shared() -> None:
    """The report must travel as text, with its guarantee, and hold no rows."""
    report = curator().evaluate_privately(
        PrivateMarginalErrorQuestion(release=of_others(TREE)), dp.PureDP(epsilon=1)
    )
    assert PrivateReport.from_json(report.to_json()) == report
    assert report.guarantee.kind == "differential privacy"
    # its rows are in the question and the answer
    assert report.guarantee.stands_on == ({"epsilon": "1000"},)
    assert report.guarantee.loss == {"epsilon": "1001"}
    assert set(json.loads(report.to_json())["report"]["content"]) == {
        "mean",
        "worst",
        "columns",
        "half_width",
        "compared",
        "distances",
    }
    opened = curator()
    release = opened.run(dp.Histogram("city"), dp.PureDP(epsilon=1))
    with pytest.raises(ParameterError, match="not a report"):
        opened.report(release.request_id)


def test_gaussian_noise_under_zcdp() -> None:
    """A budget in rho could not pay for an evaluation."""
    opened = dp.Curator.open(
        ORIGINAL,
        SCHEMA,
        budget=dp.ApproxDP(epsilon=3, delta=1e-9),
        ledger=dp.MemoryLedger(),
    )
    for asked in (
        PrivateAccuracyQuestion(release=of_others(TREE), target="married"),
        PrivateMarginalErrorQuestion(release=of_others(TREE), way=1),
    ):
        opened.evaluate_privately(asked, dp.ApproxDP(epsilon=1, delta=1e-9))
        events = opened.lines()[-1].content["events"]
        assert {event["mechanism"] for event in events} == {"discrete gaussian"}


def drawn_noise() -> np.ndarray:
    """Noise on 50,000 cells that a rule puts one row of 7 into."""
    schema = dp.Schema(
        columns=(dp.Integer("a", low=0, high=9),), unit=dp.PrivacyUnit(max_rows=2)
    )
    frame = pd.DataFrame({"a": [1] * 7})
    engine = FrameEngine(frame, schema, key=b"k")
    loss = dp.PureDP(epsilon=1)
    own = measurer.Measurer(
        engine.counts,
        domain=schema.domain,
        loss=loss,
        max_rows=2,
        count_rule=engine.count_by_rule,
    )
    noisy = own.count_by_rule(
        lambda rows: np.zeros(len(rows), dtype=np.int64), 50_000, ("a",), loss
    )
    assert noisy.variance == pytest.approx(0.5 / np.sinh(0.25) ** 2)
    noise = noisy.values.astype(np.int64)
    noise[0] -= 7
    return noise


def test_the_law_of_the_noise() -> None:
    """Counts of a public rule need discrete Laplace noise of scale rows / epsilon, one
    draw per cell.
    """
    noise = drawn_noise()
    assert laws.chi_square_p(noise, laws.discrete_laplace_pmf(2.0)) > laws.FALSE_ALARM
    # the twin
    assert laws.chi_square_p(noise, laws.discrete_laplace_pmf(1.8)) < laws.FALSE_ALARM


def test_several_rows_of_a_person() -> None:
    """Where a person may have more rows than the unit says, the rest must not be
    counted.
    """
    schema = dp.Schema(
        columns=SCHEMA.columns, unit=dp.PrivacyUnit(max_rows=1, id_column="person")
    )
    frame = pd.concat([ORIGINAL.iloc[:500]] * 4).assign(person=lambda each: each.index)
    engine = FrameEngine(frame, schema, key=b"k")
    assert engine.count_by_rule(
        lambda rows: np.zeros(len(rows), dtype=np.int64), 1, ("age",)
    ).values.tolist() == [
        500,
    ]


def test_a_rule_sees_the_columns_that_are_charged() -> None:
    """The record would name two columns, and the answer follow from all."""
    seen: list[list[str]] = []

    def rule(rows: pd.DataFrame) -> np.ndarray:
        seen.append(list(rows.columns))
        return np.zeros(len(rows), dtype=np.int64)

    FrameEngine(ORIGINAL, SCHEMA, key=b"k").count_by_rule(rule, 1, ("married", "age"))
    assert seen == [["married", "age"]]


@pytest.mark.parametrize("cell", [-1, 2])
def test_a_rule_must_stay_inside_its_cells(cell: int) -> None:
    """Rows that no cell takes would vanish silently."""
    engine = FrameEngine(ORIGINAL, SCHEMA, key=b"k")
    with pytest.raises(ParameterError, match="one of 2 cells"):
        engine.count_by_rule(lambda rows: np.full(len(rows), cell), 2, ("age",))


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (
            lambda: PrivateMarginalErrorQuestion(release=of_others(TREE), way=3),
            "1 or 2",
        ),
        (
            lambda: PrivateMarginalErrorQuestion(
                release=of_others(dp.Histogram("age"))
            ),
            "too few columns",
        ),
        (
            lambda: PrivateAccuracyQuestion(release=of_others(TREE), target="age"),
            "numbers, not classes",
        ),
        (
            lambda: PrivateAccuracyQuestion(
                release=dataclasses.replace(of_others(TREE), part=("married", "yes")),
                target="city",
            ),
            "one part",
        ),
        (
            lambda: PrivateMarginalErrorQuestion(
                release=dataclasses.replace(of_others(TREE), part=("married", "yes")),
            ),
            "one part",
        ),
        (
            lambda: PrivateAccuracyQuestion(
                release=of_others(dp.Histogram("city")), target="city"
            ),
            "no column 'city'",
        ),
    ],
)
def test_refused_before_it_is_charged(
    asked: Callable[[], PrivateMarginalErrorQuestion | PrivateAccuracyQuestion],
    said: str,
) -> None:
    """What cannot be asked would cost something all the same."""
    opened = curator()
    with pytest.raises((ParameterError, SchemaError), match=said):
        opened.evaluate_privately(asked(), dp.PureDP(epsilon=1))
    assert opened.balance().spent == 0
