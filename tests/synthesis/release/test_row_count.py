"""Questions to a release: the interval against exact counts, the value against the
model's own rows.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.errors import LimitError, ParameterError, SchemaError
from dpcore.synthesis import chain, count_rows, queryable_columns
from tests.statistical import laws

SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=79, bin_width=10),
        dp.Categorical("sex", categories=("F", "M")),
        dp.Categorical("city", categories=("A", "B", "C"), missing=True),
        dp.Date("day", low="2020-01-01", high="2020-12-31", step="month"),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)
LOUD = "1/2"
QUIET = "2000"
MARGINALS = dp.Marginals(cliques=[("age", "sex"), ("sex", "city"), ("day",)])


def people(seed: int, rows: int = 1_000) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["F", "M"], rows)
    days = pd.Timestamp("2020-01-01") + pd.to_timedelta(
        rng.integers(0, 366, rows), unit="D"
    )
    return pd.DataFrame(
        {
            "age": np.where(
                sex == "F", rng.integers(20, 80, rows), rng.integers(0, 40, rows)
            ),
            "sex": sex,
            "city": np.where(
                rng.random(rows) < 0.1, None, rng.choice(list("ABC"), rows)
            ),
            "day": days.strftime("%Y-%m-%d"),
        },
    )


def released(
    recipe: Any, *, epsilon: str, seed: int = 0
) -> tuple[pd.DataFrame, dp.Release]:
    frame = people(seed)
    curator = dp.Curator.open(
        frame, SCHEMA, budget=dp.PureDP(epsilon=epsilon), ledger=dp.MemoryLedger()
    )
    return frame, curator.run(recipe, dp.PureDP(epsilon=epsilon))


QUESTIONS: list[dict[str, Any]] = [
    {},
    {"age": (20, 50)},
    {"sex": "F"},
    {"age": (0, 40), "sex": ["M"]},
    {"city": ["A", "C"]},
    {"age": (20, 50), "city": ["A"]},
    {"age": (0, 80), "sex": "F", "city": ["B", "(missing)"]},
    {"day": ("2020-03-01", "2020-07-01")},
    {"day": ("2020-03-01", "2020-07-01"), "sex": "F"},
    {"age": (60, 80), "sex": "M"},
    {"age": (20, 30), "sex": "F", "city": "A", "day": ("2020-01-01", "2020-02-01")},
]


def true_count(frame: pd.DataFrame, where: dict[str, Any]) -> int:
    """By hand, row by row."""
    fits = pd.Series(True, index=frame.index)
    for name, asked in where.items():
        if isinstance(asked, tuple):
            fits &= (frame[name] >= asked[0]) & (frame[name] < asked[1])
        else:
            labels = [asked] if isinstance(asked, str) else asked
            fits &= frame[name].isin(labels) | (
                ("(missing)" in labels) & frame[name].isna()
            )
    return int(fits.sum())


def test_missing_values_are_called_so() -> None:
    """The questions below would ask for a category that is not there."""
    assert SCHEMA.column("city").labels[-1] == "(missing)"


@pytest.mark.parametrize(
    "recipe", [MARGINALS, dp.Adaptive(), dp.Tree()], ids=lambda recipe: recipe.kind
)
def test_without_noise_answers_are_exact(recipe: Any) -> None:
    """Cells of a range or category would be summed wrongly; bounds would not hold even
    without noise.
    """
    frame, release = released(recipe, epsilon=QUIET)
    assert set(queryable_columns(release)) == set(SCHEMA.domain.names)
    for where in QUESTIONS:
        found = count_rows(release, where)
        assert found.low - 1 <= true_count(frame, where) <= found.high + 1, where
        assert found.low <= found.value <= found.high
        if found.is_measured and recipe is MARGINALS:
            assert found.value == pytest.approx(true_count(frame, where), abs=2)
            assert found.high - found.low < 8


def test_intervals_hold_and_a_narrow_one_would_not() -> None:
    """An interval that is called 95 % and holds less often would mislead every reader.

    5 questions of 300 releases each. The twin, a quarter as wide, must be caught.
    """
    asked = [
        {"age": (20, 50)},
        {"age": (0, 40), "sex": ["M"]},
        {"city": ["A", "C"]},
        {"day": ("2020-03-01", "2020-07-01")},
        {"age": (20, 50), "city": ["A"]},
    ]
    held = np.zeros(len(asked), dtype=int)
    narrow = np.zeros(len(asked), dtype=int)
    frame = people(5)
    curator = dp.Curator.open(
        frame, SCHEMA, budget=dp.PureDP(epsilon="1000"), ledger=dp.MemoryLedger()
    )
    true = [true_count(frame, where) for where in asked]
    for number in range(300):
        release = curator.run(
            MARGINALS, dp.PureDP(epsilon=LOUD), request_id=f"r{number}"
        )
        for i, where in enumerate(asked):
            found = count_rows(release, where)
            held[i] += found.low <= true[i] <= found.high
            middle = (found.low + found.high) / 2
            half = (found.high - found.low) / 8
            narrow[i] += abs(true[i] - middle) <= half
    assert laws.at_least(int(held.min()), 300, 0.95), held
    assert not laws.at_least(int(narrow[:4].max()), 300, 0.95), narrow


def test_the_value_is_what_the_model_draws() -> None:
    """The form would say another number than the rows on the same page."""
    for recipe in (MARGINALS, dp.Adaptive()):
        _, release = released(recipe, epsilon="20")
        drawn = release.sample(200_000, seed=1)
        drawn["day"] = drawn["day"].astype(str).str[:10]
        for where in QUESTIONS:
            share = true_count(drawn, where) / len(drawn)
            found = count_rows(release, where)
            if not found.is_measured:
                assert found.value / release.model.total == pytest.approx(
                    share, abs=0.01
                ), where


def test_the_lower_end_is_that_of_frechet() -> None:
    """Two conditions that most rows fit must overlap: an interval from 0 would tell
    less than is known.
    """
    frame, release = released(dp.Independent(["age", "sex"]), epsilon=QUIET)
    where = {"age": (10, 80), "sex": ["F", "M"]}
    found = count_rows(release, where)
    assert not found.is_measured
    assert found.low > 800
    assert found.low <= true_count(frame, where) <= found.high


@pytest.mark.parametrize(
    ("where", "says"),
    [
        ({"salary": (1, 2)}, "has no column 'salary'"),
        ({"age": (0, 85)}, "is not a boundary between cells"),
        ({"age": (-10, 20)}, "is not a boundary between cells"),
        ({"age": (40, 20)}, "must end above its start"),
        ({"age": (20, 20)}, "must end above its start"),
        ({"age": (float("nan"), 20)}, "is not a boundary between cells"),
        ({"age": (float("-inf"), 20)}, "is not a boundary between cells"),
        ({"age": "F"}, "needs numbers"),
        ({"age": (1, 2, 3)}, "needs numbers"),
        ({"day": ("soon", "2020-07-01")}, "needs numbers"),
        ({"sex": []}, "no such category"),
        ({"sex": "X"}, "no such category"),
        ({"sex": (1, 2)}, "no such category"),
    ],
)
def test_what_cannot_be_asked(where: dict[str, Any], says: str) -> None:
    """A question outside the domain would be answered with some number."""
    _, release = released(MARGINALS, epsilon="1")
    with pytest.raises((ParameterError, SchemaError), match=says):
        count_rows(release, where)


def test_a_thousand_conditions() -> None:
    """A question could take any amount of work."""
    _, release = released(MARGINALS, epsilon="1")
    with pytest.raises(LimitError, match="too many columns to compute together"):
        count_rows(release, {f"column {i}": "x" for i in range(1_000)})


def test_tables_that_are_joined_too_closely(monkeypatch: pytest.MonkeyPatch) -> None:
    """Tables with loops would be multiplied out into one table of all columns."""
    _, release = released(MARGINALS, epsilon="1")
    monkeypatch.setattr(chain, "MAX_CELLS", 10)
    with pytest.raises(LimitError, match="too many columns to compute together"):
        count_rows(release, {"age": (20, 50), "city": "A"})
    assert count_rows(release, {"age": (20, 50), "sex": "F"}).is_measured
