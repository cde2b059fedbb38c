"""Cells drawn anew (PRAM), by the promised matrix, again by the same plan, and by
nobody without the key.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2_contingency

import dpcore as dp
from dpcore.anonymization import _pram as pram
from dpcore.anonymization._pram import check_no_copy, post_randomize
from dpcore.anonymization.apply import apply, carry_out
from dpcore.anonymization.coding import Coding
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.models import DistinctL, KAnonymity
from dpcore.anonymization.plan import Plan
from dpcore.anonymization.streamed import check_can_stream
from dpcore.errors import ParameterError, RowsError, SchemaError
from dpcore.evaluation.table.residual_risk import ResidualRiskQuestion
from dpcore.evaluation.table.trial import TrialQuestion
from dpcore.tables.digests import row_digests, uniform_draws
from dpcore.tables.rows import Microdata
from tests.statistical import laws

KEY = b"k" * 32
ROWS = 30_000
SHARE = 0.3
WARDS = {"eyes": 0.1, "heart": 0.05, "medicine": 0.35, "surgery": 0.5}


def wards(rows: int = ROWS) -> pd.DataFrame:
    """Rows of which thousands are equal."""
    rng = np.random.default_rng(7)
    drawn = rng.choice(list(WARDS), rows, p=list(WARDS.values()))
    return pd.DataFrame({"ward": drawn, "sex": rng.choice(["F", "M"], rows)})


def p_value(before: pd.Series, after: pd.Series, share: float) -> float:
    """The least p-value of a row of the matrix: a value stays, or becomes that of a row
    drawn uniformly.
    """
    whole = before.value_counts(normalize=True).sort_index()
    seen = pd.crosstab(before, after).reindex(columns=whole.index, fill_value=0)
    least = 1.0
    for value, counts in seen.iterrows():
        law = share * whole + (1 - share) * (whole.index == value)
        least = min(
            least,
            laws.chi_square_of_counts(
                counts.to_numpy(), (law * counts.sum()).to_numpy()
            ),
        )
    return least * len(whole)


def equal_rows_alike(frame: pd.DataFrame, key: bytes) -> list[bytes]:
    """A fault: equal rows get the same draws."""
    return [row.tobytes() for row in row_digests(frame, key)]


def test_cells_move_by_the_matrix_that_was_promised(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Shares would drift, or fewer cells move than a person was shown."""
    frame = wards()
    after = post_randomize(Microdata(frame, KEY), {"ward": SHARE})
    assert p_value(frame["ward"], after["ward"], SHARE) > laws.FALSE_ALARM
    # twin: another matrix
    assert p_value(frame["ward"], after["ward"], SHARE * 0.9) < laws.FALSE_ALARM
    assert after["sex"].equals(frame["sex"])
    monkeypatch.setattr(pram, "row_messages", equal_rows_alike)
    twin = post_randomize(Microdata(frame, KEY), {"ward": SHARE})
    assert p_value(frame["ward"], twin["ward"], SHARE) < laws.FALSE_ALARM


def test_cells_of_two_columns_move_by_themselves() -> None:
    """Whoever saw one cell change would know that the other did."""
    frame = wards().assign(again=lambda rows: rows["ward"])
    after = post_randomize(Microdata(frame, KEY), {"ward": SHARE, "again": SHARE})
    moved = [(after[name] != frame[name]).to_numpy() for name in ("ward", "again")]
    both = SHARE * (1 - frame["ward"].map(frame["ward"].value_counts(normalize=True)))
    spread = np.sqrt((both**2 * (1 - both**2)).sum())
    assert abs((moved[0] & moved[1]).sum() - (both**2).sum()) < laws.Z * spread
    # twin: one draw for both
    assert abs(moved[0].sum() - (both**2).sum()) > laws.Z * spread


def test_draws_follow_the_rows_and_the_key_alone() -> None:
    """Another order would be another draw, and the mean of several versions the
    original.
    """
    frame = wards(2_000)
    once = post_randomize(Microdata(frame, KEY), {"ward": SHARE})
    turned = frame.iloc[::-1].set_axis(frame.index)
    again = post_randomize(Microdata(turned, KEY), {"ward": SHARE})
    pd.testing.assert_series_equal(
        once.value_counts().sort_index(), again.value_counts().sort_index()
    )
    other = post_randomize(Microdata(frame, b"o" * 32), {"ward": SHARE})
    assert (other["ward"] != once["ward"]).any()


def told_by_the_second(
    frame: pd.DataFrame, first: pd.Series, second: pd.Series
) -> float:
    """The least p-value of: where the first version shows this, the second tells
    nothing of the original.
    """
    least = 1.0
    tests = 0
    for _, rows in frame["ward"].groupby(first.to_numpy()):
        seen = pd.crosstab(rows, second.loc[rows.index])
        least = min(least, chi2_contingency(seen).pvalue)
        tests = tests + 1
    return least * tests


def one_draw_for_all_shares(
    messages: list[bytes], known: np.ndarray, key: bytes, name: str, share: float
):
    """A fault: a cell is drawn once, and shown in every version whose share is above
    its number.
    """
    rows = np.arange(len(messages))
    anew, which = uniform_draws(messages, key, f"draws of {name}").T
    moved = np.isin(rows, known) & (anew < share)
    rows[moved] = known[(which[moved] * len(known)).astype(np.int64)]
    return rows


def test_two_shares_tell_no_more_than_the_smaller_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where versions of .3 and .6 differ, the cell of the first one would be the true
    one for sure.
    """
    frame = wards()
    shares = (0.1, 0.3, 0.6, 1.0)

    def versions() -> list[pd.Series]:
        table = Microdata(frame, KEY)
        return [post_randomize(table, {"ward": share})["ward"] for share in shares]

    made = versions()
    for share, version in zip(shares, made, strict=True):
        assert p_value(frame["ward"], version, share) > laws.FALSE_ALARM
    pairs = list(itertools.combinations(made, 2))
    assert all(told_by_the_second(frame, *pair) > laws.FALSE_ALARM for pair in pairs)
    assert made[0].eq(made[1]).mean() > 0.8  # they are drawn from each other
    differ = made[1] != made[2]
    assert (made[1] == frame["ward"])[differ].mean() < 0.9
    monkeypatch.setattr(pram, "_draw_source_rows", one_draw_for_all_shares)
    twins = versions()
    assert told_by_the_second(frame, twins[1], twins[2]) < laws.FALSE_ALARM
    assert (twins[1] == frame["ward"])[twins[1] != twins[2]].all()


@pytest.mark.parametrize(
    "column",
    [
        pd.Series([3.5, np.nan, 7.0, 3.5] * 50),
        pd.Series(["a", None, "b", "c"] * 50),
        pd.Series([None] * 200, dtype=object),
        pd.Series(["a", None, "b", "c"] * 50, dtype="category"),
        pd.Series([1, pd.NA, 2, 3] * 50, dtype="Int64"),
    ],
)
def test_missing_cells_stay_and_types_too(column: pd.Series) -> None:
    """A gap would become a value that nobody has, or whole numbers texts."""
    frame = pd.DataFrame({"x": column, "row": range(200)})
    after = post_randomize(Microdata(frame, KEY), {"x": 1.0})["x"]
    assert after.dtype == column.dtype
    assert after.isna().equals(column.isna())
    assert set(after.dropna()) <= set(column.dropna())
    assert column.dropna().empty or (after.dropna() != column.dropna()).any()


FLAT = Hierarchy(values=("F", "M"), levels=(("F", "M"), ("*", "*")))


def planned(*models: Any, **others: Any) -> Plan:
    return Plan(
        roles={
            "ward": "sensitive",
            "sex": "quasi-identifier",
            "days": "insensitive",
            "id": "identifier",
        },
        hierarchies={"sex": FLAT},
        models=(KAnonymity(k=2), *models),
        **others,
    )


def stays(rows: int = 400) -> pd.DataFrame:
    days = np.random.default_rng(9).integers(1, 90, rows)
    return wards(rows).assign(days=days, id=range(rows))


def opened(ledger: dp.MemoryLedger) -> dp.Curator:
    schema = dp.suggest_schema(wards(400)[["ward", "sex"]])
    return dp.Curator.open(stays(), schema, budget=dp.PureDP(epsilon=1), ledger=ledger)


def test_a_plan_makes_the_same_table_again() -> None:
    """Figures before would be of another table, or the command line would make one."""
    ledger = dp.MemoryLedger()
    plan = planned(
        randomized={"ward": 0.4, "days": 1.0}, coded={"days": Coding(base=10)}
    )
    made = opened(ledger).anonymize(plan)
    assert Plan.from_json(made.plan).randomized == plan.randomized
    again = opened(ledger).anonymize(Plan.from_json(made.plan))
    pd.testing.assert_frame_equal(made.table.frame, again.table.frame)
    stranger = opened(dp.MemoryLedger()).anonymize(plan)
    assert not stranger.table.frame.equals(made.table.frame)
    # plans from before are written as they were
    assert '"randomized"' not in planned().to_json()
    shares = (
        opened(ledger)
        .evaluate(TrialQuestion(plan=plan))
        .content.randomized_figures["ward"]["after"]
    )
    expected = made.table.frame["ward"].value_counts(normalize=True)
    pd.testing.assert_series_equal(
        shares.sort_index(), expected.sort_index(), check_names=False
    )
    alike = opened(ledger).evaluate(ResidualRiskQuestion(plan=plan)).content.linkable
    assert alike == pytest.approx((~made.table.frame.duplicated(keep=False)).mean())


def test_how_cells_were_to_move_and_did() -> None:
    """A page would promise another change than the matrix, or show another than there
    was.
    """
    curator = opened(dp.MemoryLedger())
    frame = stays()
    plan = planned(
        randomized={"ward": 0.4, "days": 0.2}, coded={"days": Coding(high=60)}
    )
    report = curator.evaluate(TrialQuestion(plan=plan)).content
    whole = post_randomize(Microdata(frame, curator.ledger.key), plan.randomized)
    before = frame["days"].clip(upper=60)
    after = whole["days"].clip(upper=60)
    for value, line in report.randomized_figures["days"].iterrows():
        has = before == int(str(value))
        assert line.tolist() == pytest.approx(
            [
                has.mean(),
                0.2 * (1 - has.mean()),
                (after != before)[has].mean(),
                (after == before[has].iloc[0]).mean(),
            ],
        )
    assert list(report.coded_figures.index) == ["days"]  # numbers alone
    il1s = (frame["days"] - after).abs().mean() / (np.sqrt(2) * frame["days"].std())
    assert report.coded_figures.iloc[0].tolist() == pytest.approx(
        [frame["days"].mean(), frame["days"].std(), after.mean(), after.std(), il1s],
    )


@pytest.mark.parametrize(
    ("copy", "refused"),
    [
        (lambda rows: rows["ward"], True),
        (lambda rows: rows["ward"].map({name: name[0] for name in WARDS}), True),
        (lambda rows: rows["ward"].iloc[::-1].to_numpy(), False),
        (lambda rows: "one for all", False),
        (lambda rows: range(len(rows)), False),
    ],
)
def test_a_column_that_another_one_tells_is_not_drawn_anew(
    copy: Callable[[pd.DataFrame], object], *, refused: bool
) -> None:
    """Cells of two equal columns that still agree would be true for sure, and one that
    stays would tell the other.
    """
    frame = stays().assign(copy=copy)
    plan = planned(randomized={"ward": 0.4})
    plan = dataclasses.replace(plan, roles={**plan.roles, "copy": "insensitive"})
    for columns in (("ward",), ("copy",), ("ward", "copy")):
        every = dataclasses.replace(plan, randomized=dict.fromkeys(columns, 0.4))
        if not refused:
            carry_out(Microdata(frame, KEY), every)
            continue
        with pytest.raises(ParameterError, match=r"'(ward|copy)' and '(ward|copy)'"):
            carry_out(Microdata(frame, KEY), every)
    inner = dataclasses.replace(plan, roles={**plan.roles, "copy": "identifier"})
    carry_out(Microdata(frame, KEY), inner)  # it does not leave


def test_columns_in_which_all_rows_differ_are_copies_by_their_values_alone() -> None:
    """Two numbers that were measured of the same people would be called copies."""
    numbers = pd.DataFrame(
        {"pay": [1.5, 2.5, np.nan, np.nan], "age": [8, 9, *[None] * 2]}
    )
    check_no_copy(numbers, ["pay"])
    with pytest.raises(ParameterError, match="'pay' and 'again'"):
        check_no_copy(numbers.assign(again=numbers["pay"]), ["pay"])


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        (lambda: planned(randomized={"sex": 0.1}), SchemaError, "published unchanged"),
        (lambda: planned(randomized={"id": 0.1}), SchemaError, "published unchanged"),
        (
            lambda: planned(DistinctL(column="ward", l=2), randomized={"ward": 0.1}),
            SchemaError,
            "published unchanged",
        ),
        (lambda: planned(randomized={"ward": 0.0}), ParameterError, "above 0"),
        (lambda: planned(randomized={"ward": 1.1}), ParameterError, "above 0"),
        (
            lambda: apply(stays(), planned(randomized={"ward": 0.1})),
            ParameterError,
            "the key of a ledger",
        ),
        (
            lambda: post_randomize(Microdata(stays(), KEY), {"nowhere": 0.1}),
            SchemaError,
            "nowhere",
        ),
        (
            lambda: check_can_stream(planned(randomized={"ward": 0.1})),
            RowsError,
            "PRAM",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused(
    wrong: Callable[[], object],
    error: type[Exception],
    text: str,
) -> None:
    """A demand would be kept by chance alone, or a column leave as it was though the
    plan says otherwise.
    """
    with pytest.raises(error, match=text):
        wrong()
