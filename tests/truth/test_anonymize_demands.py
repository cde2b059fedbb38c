"""Demands beyond k on the Anonymize page, and numbers that become means: every figure
again, by group.
"""

from __future__ import annotations

import dataclasses
import io
import itertools
import json
from collections import Counter
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpcore.anonymization import closeness, methods, models
from dpcore.anonymization.coding import Coding
from dpcore.anonymization.partition.microaggregation import publish_means
from dpcore.evaluation.table import trial
from tests.tiers import but_first
from tests.truth.anonymized import Averaged, Truth
from tests.truth.demands import words
from tests.truth.figures import Figure, Marking, check, figures
from tests.truth.reports import in_this_process
from tests.truth.tables import Odd
from tests.truth.test_anonymize import (
    BEFORE,
    LOSES,
    PAGE,
    STATIC,
    TIMES,
    after_making,
    compared,
    of_cells,
    walked,
)

DEMANDS: dict[str, tuple[str, dict[str, Any]]] = {
    "distinct 8-diversity of days": ("visits", {"secret": "distinct", "l": 8}),
    "entropy 7-diversity of days": ("visits", {"secret": "entropy", "l": 7}),
    "recursive (0.5, 4)-diversity of days": (
        "visits",
        {"secret": "recursive", "l": 4, "c": 0.5},
    ),
    "0.2-closeness of days (equal distance)": ("visits", {"secret": "t", "t": 0.2}),
    "0.15-closeness of days (ordered distance)": (
        "visits",
        {"secret": "t-ordered", "t": 0.15},
    ),
    "0.2-closeness of days (hierarchical distance)": (
        "visits",
        {"secret": "t-hierarchical", "t": 0.2},
    ),
    "1.5-likeness of days": ("visits", {"secret": "likeness", "beta": 1.5}),
    "average risk of at most 0.04": ("visits", {"average": 4.0}),
    "5-map; (0.1, 0.6)-presence": (
        "booleans",
        {"subset": "smoker", "presence": (0.1, 0.6)},
    ),
}

LEFT_OUT = {"0.15-closeness of days (ordered distance)"}
"""Rows are left out, and what leaves alone is no longer close to itself: the promise
has to say so.
"""


@pytest.mark.parametrize("demand", but_first(2, DEMANDS))
def test_demands_beyond_k(
    demand: str, marking: Marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table would be said to keep to a demand that some group breaks, or another one
    be searched for.
    """
    in_this_process(monkeypatch)
    name, demanded = DEMANDS[demand]
    seen, files, t = walked(name, marking, monkeypatch, **demanded)
    assert "; ".join(map(words, t.demands)) == demand
    heights = [range(len(t.plan["hierarchies"][known])) for known in t.known]
    nodes = list(itertools.product(*heights))
    # beyond k
    assert any((t.hidden(node, t.k) & (t.of_rows(node) >= t.k)).any() for node in nodes)
    assert Counter(t.csv.itertuples(index=False, name=None)) == Counter(
        t.made.itertuples(index=False, name=None),
    )
    assert ("against the table before rows" in t.promised[-1]) == (demand in LEFT_OUT)
    compared(seen, files, marking, t)


def _measured() -> Odd:
    rng = np.random.default_rng(20_261_001)
    people = np.repeat(np.arange(70), rng.integers(1, 4, 70))
    height, weight = (
        np.round(rng.normal(mean, spread, len(people)), 1)
        for mean, spread in ((170, 9), (70, 12))
    )
    alone = np.round(rng.permutation(len(people)) / 7, 3)
    frame = pd.DataFrame(
        {
            "patient_id": 1000 + people,
            "height": height,
            "weight": weight,
            "ward": rng.choice(["surgery", "medicine", "eyes"], len(people)),
            "level": alone,
        },
    )
    return Odd(
        "measured",
        "numbers, and one that no two rows share",
        frame,
        id="patient_id",
        cap=3,
    )


def averaged(
    marks: Marking,
    monkeypatch: pytest.MonkeyPatch,
) -> tuple[list[Figure], dict[str, bytes], Averaged]:
    """The same as `walked` of numbers that became means."""
    tab, files = after_making(_measured(), monkeypatch, method="microaggregation")
    return figures(tab, marks), files, Averaged(_measured(), files, "level")


def test_numbers_that_become_means(
    marking: Marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A number would be no mean of its group, or a group smaller or wider than the page
    says.
    """
    seen, files, t = averaged(marking, monkeypatch)
    assert np.allclose(t.made[t.known].astype(float), t.means, rtol=1e-12)
    assert len(t.csv) == len(t.rows)
    assert t.after.sizes.min() >= t.k
    assert t.after.groups_each == 1  # the rows of a person stay together
    found = compared(seen, files, marking, t)
    assert found >= {
        f"{BEFORE} > generalized",
        f"{BEFORE} > moved",
        LOSES + "loss",
        f"{TIMES}|t",
    }


STEPS = {"coarser": ["days"], "days step": 5.0, "days high": 12.0}
SHOWN_OF_STEPS = {
    f"{BEFORE} > {figure}, {side}"
    for figure in ("mean", "standard deviation")
    for side in ("before", "after")
}


def test_coarser_numbers(marking: Marking, monkeypatch: pytest.MonkeyPatch) -> None:
    """Mean and spread of a rounded and top-coded column would be of other numbers than
    those that leave.
    """
    seen, files, t = walked("visits", marking, monkeypatch, **STEPS)
    assert {*t.csv["days"]} == {"0", "5", "10", "12"}
    assert Counter(t.csv.itertuples(index=False, name=None)) == Counter(
        t.made.itertuples(index=False, name=None),
    )
    assert compared(seen, files, marking, t) >= SHOWN_OF_STEPS


@pytest.mark.proof
def test_other_numbers_than_those_that_leave_are_caught(
    marking: Marking,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The test above would not see the spread of the raw column after coding."""
    in_this_process(monkeypatch)
    monkeypatch.setattr(
        Coding, "__call__", lambda coding, column: column.clip(coding.low, coding.high)
    )
    seen, files, t = walked("visits", marking, monkeypatch, **STEPS)
    with pytest.raises(AssertionError, match="not true"):
        compared(seen, files, marking, t)


def _changed() -> Odd:
    rng = np.random.default_rng(20_261_002)
    frame = pd.DataFrame(
        {
            "age": 20 + 10 * rng.integers(0, 3, 240),
            "sex": rng.choice(["F", "M"], 240),
            "ward": rng.choice(["surgery", "medicine", "eyes"], 240, p=[0.6, 0.3, 0.1]),
            "pay": 100 * rng.integers(9, 90, 240),
            "level": np.round(rng.permutation(240) / 7, 3),
        },
    )
    return Odd(
        "changed",
        "a number that tells the rows apart, by which cells are found again",
        frame,
    )


SHARES = {"ward": 0.3, "pay": 0.2}


def of_changed(raw: pd.DataFrame, after: pd.DataFrame) -> dict[str, Any]:
    """What is true of the cells of both columns, from the raw rows, and those that
    left, in one order.
    """
    before = raw.assign(pay=raw["pay"].clip(upper=6000))
    tables: dict[str, list[Any]] = {"value": []}
    for name, share in SHARES.items():
        own = before[name].astype(str)
        other = after[name].astype(str)
        counts = Counter(own)
        values = sorted(counts, key=lambda value: (-counts[value], value))
        lines = {value: own == value for value in values}
        expected = {value: share * (1 - has.mean()) for value, has in lines.items()}
        figures = {
            "share of rows, before": [1, *(has.mean() for has in lines.values())],
            "moved, chance": [
                sum(has.mean() * expected[v] for v, has in lines.items()),
                *expected.values(),
            ],
            "moved, after": [
                (own != other).mean(),
                *((own != other)[has].mean() for has in lines.values()),
            ],
            "share of rows, after": [1, *((other == value).mean() for value in values)],
        }
        tables["value"] += ["all rows", *values[:50]]
        for title, cells in figures.items():
            tables.setdefault(title, []).extend(map(float, cells[:51]))
    pays = raw["pay"].astype(float), after["pay"].astype(float)
    for side, pay in zip(("before", "after"), pays, strict=True):
        tables |= {
            f"mean, {side}": [pay.mean()],
            f"standard deviation, {side}": [pay.std()],
        }
    tables["IL1s"] = [(pays[0] - pays[1]).abs().mean() / (2**0.5 * pays[0].std())]
    return {
        f"{BEFORE} > {title}": lambda _t, cells=cells: cells
        for title, cells in tables.items()
    }


def changed(marks: Marking, monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The page after cells of two columns were drawn anew, compared; the ids that
    were.
    """
    odd = _changed()
    tab, files = after_making(
        odd, monkeypatch, coarser=["ward", "pay"], ward=30.0, pay=20.0, high=6000.0
    )
    left = pd.read_csv(io.BytesIO(files["CSV"])).set_index("level")
    assert len(left) == len(odd.frame)
    after = left.loc[odd.frame["level"]].reset_index()
    t = Truth(
        dataclasses.replace(
            odd, frame=odd.frame.assign(**{n: after[n] for n in SHARES})
        ),
        files,
    )
    assert json.loads(files["Plan (JSON, internal)"])["randomized"] == SHARES
    seen = figures(tab, marks)
    return check(seen, PAGE | of_cells(t) | of_changed(odd.frame, after), STATIC, t)


def test_cells_that_are_drawn_anew(
    marking: Marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More cells would move than the page says, or another share of a value leave."""
    assert changed(marking, monkeypatch) >= {
        f"{BEFORE} > moved, chance",
        f"{BEFORE} > IL1s",
    }


@pytest.mark.proof
def test_a_wrong_chance_is_caught(
    marking: Marking, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above would not see that the share drawn anew is told as the share that
    moves.
    """
    in_this_process(monkeypatch)
    moved = trial._randomized_figures
    monkeypatch.setattr(
        trial,
        "_randomized_figures",
        lambda *given: moved(*given).assign(chance=SHARES[given[2]]),
    )
    with pytest.raises(AssertionError, match=r"not true.*moved, chance"):
        changed(marking, monkeypatch)


def _never(_model: Any, classes: Any, *_kept: Any) -> Any:
    """No group breaks a demand."""
    return np.zeros(len(classes.people), dtype=bool)


def _flat(counts: Any, secret: Any) -> Any:
    """The flow through a hierarchy in which all values meet at the top."""
    return len(secret.parents) * counts.scaled_distance(secret.counts)


def _narrow(columns: Any, *given: Any) -> Any:
    """Means of which each is said to stand for itself."""
    recoded = publish_means(columns, *given)
    alone = [dataclasses.replace(each, ncp=0 * each.ncp) for each in recoded.columns]
    return dataclasses.replace(recoded, columns=tuple(alone))


@pytest.mark.parametrize(
    ("demand", "place", "named", "wrong"),
    [
        ("entropy 7-diversity of days", models.EntropyL, "violations", _never),
        (
            "recursive (0.5, 4)-diversity of days",
            models.RecursiveCL,
            "violations",
            _never,
        ),
        (
            "0.2-closeness of days (hierarchical distance)",
            closeness,
            "_tree_flow",
            _flat,
        ),
        pytest.param(
            "1.5-likeness of days",
            models.BetaLikeness,
            "violations",
            _never,
            marks=pytest.mark.proof,
        ),
        pytest.param(
            "average risk of at most 0.04",
            models.AverageRisk,
            "violations_among",
            _never,
            marks=pytest.mark.proof,
        ),
        ("5-map; (0.1, 0.6)-presence", models.DeltaPresence, "violations", _never),
        ("means", methods, "publish_means", _narrow),
    ],
)
def test_a_wrong_demand_is_caught(
    demand: str,
    place: Any,
    named: str,
    wrong: Any,
    marking: Marking,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The tests above would not see a demand that is not kept, another distance, or
    means without a range.
    """
    in_this_process(monkeypatch)
    monkeypatch.setattr(place, named, wrong)
    if demand == "means":
        seen, files, t = averaged(marking, monkeypatch)
    else:
        name, demanded = DEMANDS[demand]
        seen, files, t = walked(name, marking, monkeypatch, **demanded)
    with pytest.raises(AssertionError, match="not true"):
        compared(seen, files, marking, t)
