"""The pipeline as one record (SEEDS B1 to B4): every step with its charge, no free loop
against real data.
"""

from __future__ import annotations

import inspect
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.synthesis import (
    Closeness,
    Figures,
    closeness_step,
    combinations_step,
    model_steps,
    run_sample_test,
    sample_steps,
)
from dpcore.synthesis import closeness as module
from dpcore.tables.rows import Microdata, PublicTable

SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=19, from_data=("bounds",)),
        dp.Categorical("sex", categories=("F", "M")),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)
RECIPE = dp.Joint(columns=("age", "sex"))


def table(rows: int = 2_000) -> pd.DataFrame:
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {"age": rng.binomial(19, 0.4, rows), "sex": rng.choice(["F", "M"], rows)}
    )


def opened(budget: str = "10", frame: pd.DataFrame | None = None) -> dp.Curator:
    frame = table() if frame is None else frame
    return dp.Curator.open(
        frame, SCHEMA, budget=dp.PureDP(epsilon=budget), ledger=dp.MemoryLedger()
    )


def spent(curator: dp.Curator) -> Fraction:
    return Fraction(curator.balance().spent, 10**12)


ONE = dp.PureDP(epsilon=1)
TENTH = dp.PureDP(epsilon="0.1")


def test_the_record_holds_every_step_and_its_charge() -> None:
    """B1: preprocess, model, sample, test: each there, in order, and the charges are
    those of the ledger.
    """
    curator = opened()
    release = curator.run(RECIPE, ONE)
    sample = release.sample_table()
    answer = curator.run(Closeness.for_sample(release, sample, ("age", "sex")), ONE)
    steps = (
        *model_steps(release),
        *sample_steps(sample.frame),
        closeness_step(answer, ONE),
    )
    assert [step.name for step in steps] == [
        "preprocess",
        "model",
        "sample",
        "privacy test",
        "privacy test",
    ]
    assert [step.loss for step in steps] == ["", "epsilon 1", "", "", "epsilon 1"]
    assert spent(curator) == 2
    assert "age" in steps[0].result["bounds"]  # taken from the data, and said so
    assert all(step.passed for step in steps)
    assert len(sample.frame) == steps[2].result["rows"]
    assert len([line for line in curator.lines() if line.state == "committed"]) == 2


def test_the_test_on_the_sample_is_free_and_sees_no_table() -> None:
    """B4: minimum distances and copies of public records cost nothing and need no
    curator.
    """
    assert "curator" not in inspect.signature(run_sample_test).parameters
    sample = pd.DataFrame({"x": [0.0, 0.5, 1.0, 1.0], "kind": list("abcc")})
    assert run_sample_test(sample) == {
        "repeated rows": 2,
        "smallest distance": 0.5,
        "copies of public records": 0,
        "passed": True,
    }
    found = run_sample_test(sample, pd.DataFrame({"x": [1.0, 7.0], "kind": ["c", "z"]}))
    assert found["copies of public records"] == 2
    assert not found["passed"]
    # 1 and 1.0 are one number, and a missing value repeats a missing one
    whole = run_sample_test(
        pd.DataFrame({"x": [1.0, None, 2.5]}),
        pd.DataFrame({"x": [1, 7]}, dtype="Int64"),
    )
    assert whole["copies of public records"] == 1
    with pytest.raises(dp.ParameterError, match="too few columns"):
        run_sample_test(sample, pd.DataFrame({"y": [1]}))
    numbers = pd.DataFrame({"x": [0.0], "y": [1.0]})
    for empty in (sample.head(0), sample.head(1), sample[["kind"]], numbers.head(0)):
        assert run_sample_test(empty)["smallest distance"] == 0


def test_the_rarest_combination_is_counted() -> None:
    """SEEDS G1: a combination with too few rows, or with a missing value, would
    pass.
    """
    sample = pd.DataFrame(
        {"x": [1, 1, 1, 2, 2, None], "kind": ["a", "a", "b", "c", "c", "d"]}
    )
    for columns, rarest in ((["kind"], 1), (["x"], 1), (["x", "kind"], 1)):
        step = combinations_step(sample, columns, 2)
        assert (step.result["rarest combination"], step.passed, step.loss) == (
            rarest,
            False,
            "",
        )
    whole = combinations_step(sample.iloc[3:5], ["x", "kind"], 2)
    assert whole.passed
    assert whole.result["rarest combination"] == 2
    assert not combinations_step(sample.head(0), ["x"], 2).passed


def test_a_loop_of_ones_own_pays_for_every_turn() -> None:
    """B4: asking about another drawn table is another charge; when the budget is gone,
    it is refused.
    """
    curator = opened("1.25")
    release = curator.run(RECIPE, ONE)
    for turn in range(2):
        curator.run(
            Closeness.for_sample(
                release, release.sample_table(1_001 + turn), ("age", "sex")
            ),
            TENTH,
        )
    assert spent(curator) == Fraction(12, 10)
    with pytest.raises(dp.BudgetExceeded):
        curator.run(
            Closeness.for_sample(release, release.sample_table(999), ("age", "sex")),
            TENTH,
        )
    public = [
        name
        for name, each in vars(module).items()
        if inspect.isfunction(each) and each.__module__ == module.__name__
    ]
    assert not any(
        "frame" in inspect.signature(vars(module)[name]).parameters for name in public
    )


def test_the_answer_is_noisy() -> None:
    """B4: the test's own answer is private: the same question asked anew has another
    answer.
    """
    curator = opened()
    release = curator.run(RECIPE, ONE)
    asked = Closeness.for_sample(release, release.sample_table(seed=1), ("age", "sex"))
    answers = set()
    for turn in range(5):
        model = curator.run(asked, TENTH, request_id=f"turn{turn}").model
        assert isinstance(model, Figures)
        answers.add(model.figures[0].value)
    assert len(answers) > 1
    stored = curator.run(asked, TENTH)
    # the same question without a new id costs nothing
    assert stored.model.figures[0].value in answers
    # the drawn rows are in the question
    assert stored.guarantee.stands_on == (release.guarantee.loss,)
    assert stored.guarantee.loss == {"epsilon": "11/10"}


def test_a_planted_copy_fails_and_drawn_rows_pass() -> None:
    """B4: a sample that repeats the table must fail, one from elsewhere must pass."""
    frame = table(5_000)
    curator = opened("100", frame)
    release = curator.run(RECIPE, dp.PureDP(epsilon=50))
    loss = dp.PureDP(epsilon=10)
    copy = curator.run(
        Closeness.for_sample(release, PublicTable(frame), ("age", "sex")), loss
    )
    assert not closeness_step(copy, loss).passed
    other = table(5_000).sample(5_000, replace=True, random_state=1)
    fresh = curator.run(
        Closeness.for_sample(release, PublicTable(other), ("age", "sex")), loss
    )
    assert closeness_step(fresh, loss).passed


def test_a_private_table_is_no_question() -> None:
    """Its exact counts would be in the question, and a digest without a key of them in
    ledger and release.
    """
    curator = opened()
    release = curator.run(RECIPE, ONE)
    for private in (table(50), Microdata(table(50)), release.sample()):
        with pytest.raises(dp.DisclosureError, match="needs a public table"):
            Closeness.for_sample(release, private, ("age", "sex"))  # type: ignore[arg-type]


def test_a_table_of_other_cells_is_refused() -> None:
    """A table of other cells is refused in a sentence, without a charge."""
    curator = opened()
    with pytest.raises(dp.ParameterError, match="cells"):
        curator.run(Closeness(columns=("age",), counts=(1.0, 2.0)), TENTH)
    assert spent(curator) == 0


@pytest.mark.parametrize("rows", [2, 63, 64, 65, 300])
def test_the_smallest_distance_is_that_of_all_pairs(rows: int) -> None:
    """B4: a search that is kept short would miss the nearest pair."""
    numbers = np.unique(
        np.random.default_rng(rows).integers(0, 40, (rows, 4)), axis=0
    ).astype(float)
    scaled = numbers / np.ptp(numbers, axis=0)
    gaps = np.linalg.norm(scaled[:, None] - scaled[None], axis=2) + 9 * np.eye(
        len(scaled)
    )
    found = run_sample_test(pd.DataFrame(numbers, columns=[*"abcd"]))[
        "smallest distance"
    ]
    assert found == pytest.approx(gaps.min())
