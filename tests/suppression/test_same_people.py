"""Exact tables of other accounts about the same people are attacked, or compared."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.curator import Curator
from dpcore.errors import DisclosureError, InfeasibleError
from dpcore.release import InternalReport
from dpcore.suppression import (
    ExactTable,
    HidingRule,
    PublishedTable,
    ShownColumn,
    TablePlan,
)
from dpcore.suppression.protect import protect_table
from dpcore.suppression.versions import match_close_counts
from tests.suppression.accounts import name_account, open_account, rows_of
from tests.suppression.tables import attack_one, count, groups, plan_of, show
from workbench.report.of_exact_table import list_checks, not_promised

STRICT = HidingRule(threshold=10)
LAX = HidingRule(threshold=2)
DISTRICTS = ("north", "south", "east", "west", "isle")


def people(last: tuple[int, int] = (44, 6)) -> pd.DataFrame:
    """Return people of five districts; few on the isle."""
    sizes = (100, 90, 60, *last)
    districts = np.repeat(DISTRICTS, sizes)
    return pd.DataFrame(
        {"district": districts, "pay": np.arange(len(districts)) % 3}
    ).astype({"pay": str})


def opened(frame: pd.DataFrame) -> Curator:
    values = {name: tuple(sorted(frame[name].unique())) for name in frame.columns} | {
        "district": DISTRICTS
    }
    return Curator.open(
        frame,
        dp.Schema(
            columns=tuple(
                dp.Categorical(name, categories=values[name]) for name in frame.columns
            ),
            unit=dp.PrivacyUnit(max_rows=1),
        ),
        budget=dp.PureDP(epsilon=3),
        ledger=dp.MemoryLedger(),
    )


def by(rule: HidingRule, *columns: str, unrelated: tuple[str, ...] = ()) -> TablePlan:
    return TablePlan(
        columns=tuple(ShownColumn(column=name) for name in columns),
        rule=rule,
        unrelated=unrelated,
    )


def published(frame: pd.DataFrame, rule: HidingRule, *columns: str) -> PublishedTable:
    """Publish a table from an account of its own, under its name."""
    curator = opened(frame)
    table = curator.publish_table(curator.exact_table(by(rule, *columns)))
    return dataclasses.replace(table, account="spring.csv")


def label_of(table: PublishedTable, *labels: str) -> int | None:
    return table.counts[table.layout.find_cell(labels)]


def test_a_count_that_another_account_hides_stays_hidden() -> None:
    """The same people with another column have an account of their own: its table
    would show the count that the first one hides.
    """
    first = published(people()[["district"]], STRICT, "district")
    assert label_of(first, "isle") is None
    curator = opened(people())
    alone = curator.exact_table(by(LAX, "district"))
    assert label_of(alone.content.published, "isle") == 6
    made = curator.exact_table(by(LAX, "district"), others=[first])
    table = made.content.published
    assert table.counts == first.counts
    assert made.content.earlier_tables == ("district (spring.csv)",)
    assert (table.attacked, table.compared) == (1, 0)
    with pytest.raises(DisclosureError, match="together with the exact") as refused:
        curator.publish_table(alone, others=[first])
    assert refused.value.details["tables"] == "district (spring.csv)"
    assert curator.publish_table(made, others=[first]).counts == table.counts
    assert curator.exact_tables()[0].attacked == 1


def test_a_column_that_only_the_other_account_has_takes_part() -> None:
    """Its table hides the isle through a column that is unknown here."""
    first = published(people(), STRICT, "district", "pay")
    assert label_of(first, "isle", "Total") is None
    curator = opened(people()[["district"]])
    plan = by(LAX, "district", unrelated=("pay",))
    made = curator.exact_table(plan, others=[first])
    assert label_of(made.content.published, "isle") is None
    assert made.content.earlier_tables == ("district × pay (spring.csv)",)


@pytest.mark.parametrize("how", ["lacking", "renamed", "recoded"])
def test_a_column_that_cannot_be_attacked_is_refused_by_name(how: str) -> None:
    """The map of towns and districts was lost between two files of the same people."""
    first = published(people(), STRICT, "district", "pay")
    frame = people()
    if how == "lacking":
        frame = frame[["district"]]
    elif how == "renamed":
        frame = frame.rename(columns={"pay": "income"})
    else:
        frame["pay"] = frame["pay"].map({"0": "low", "1": "middle", "2": "high"})
    curator = opened(frame)
    with pytest.raises(InfeasibleError, match="open a file that has all") as refused:
        curator.exact_table(by(STRICT, "district"), others=[first])
    assert refused.value.details["columns"] == "pay"
    assert refused.value.details["tables"] == first.name
    plan = by(STRICT, "district", unrelated=("pay",))
    assert TablePlan.from_json(plan.to_json()) == plan
    made = curator.exact_table(plan, others=[first])
    table = curator.publish_table(made, others=[first])
    assert table.unrelated == ("pay",)
    assert PublishedTable.from_record(table.to_record()) == table
    assert "nothing to do with this table: pay" in " ".join(not_promised(table))
    verdicts = {check.verdict for check in list_checks(made.content)}
    assert "review" in verdicts


ILL = {"none": 300, "flu": 60, "cold": 40, "hiv": 24}
CODES = {"flu": "J11", "cold": "J00", "hiv": "B24"}


def compare_illnesses(today: Mapping[str, int]) -> InternalReport[ExactTable]:
    """Make a table of today's illnesses together with one of `ILL`."""
    plan = by(STRICT, "ill")
    then, now = (
        open_account(rows_of({(ill,): n for ill, n in cells.items()}, "ill"))
        for cells in (ILL, today)
    )
    first = name_account(then.publish_table(then.exact_table(plan)))
    return now.exact_table(plan, others=[first])


@pytest.mark.parametrize("renamed", [("flu", "cold", "hiv"), ("flu", "hiv"), ("flu",)])
def test_values_of_few_people_that_are_written_in_another_way_are_refused(
    renamed: tuple[str, ...],
) -> None:
    """Most people have "none" in both files, so the codes passed as other people."""
    today = {CODES[ill] if ill in renamed else ill: n for ill, n in ILL.items()}
    with pytest.raises(InfeasibleError, match="writes with other values") as refused:
        compare_illnesses(today)
    assert refused.value.details["columns"] == "ill"


@pytest.mark.parametrize("spelled", ["FLU", "Flu"])
def test_a_value_that_some_rows_write_in_another_way_is_refused(spelled: str) -> None:
    """Those rows passed as people who left while others came with a new value."""
    today = {**ILL, "none": 330, "flu": 40, spelled: 20}
    with pytest.raises(InfeasibleError, match="writes with other values") as refused:
        compare_illnesses(today)
    assert refused.value.details["columns"] == "ill"
    # the twin: a value of its own
    assert compare_illnesses({**today, spelled: 0, "flow": 20}).content is not None


@pytest.mark.parametrize(
    "today",
    [
        {"none": 300, "cold": 40, "hiv": 24},  # nobody has the flu any more
        {**ILL, "measles": 80},  # a new value, and all old ones
        {"none": 300, "measles": 95, "cold": 40, "hiv": 24},  # too many for the flu
    ],
)
def test_people_who_came_or_left_are_no_other_way_to_write_values(
    today: Mapping[str, int],
) -> None:
    """The twin: a file would be refused as soon as a value comes or goes."""
    assert compare_illnesses(today).content.published.compared == 1


def test_without_a_common_column_the_totals_are_compared() -> None:
    first = published(people()[["district"]], STRICT, "district")
    pay = opened(people()[["pay"]])
    plan = by(STRICT, "pay", unrelated=("district",))
    made = pay.exact_table(plan, others=[first])
    assert made.content.earlier_tables == ("district (spring.csv)",)
    fewer = opened(people()[["pay"]].iloc[1:])
    with pytest.raises(InfeasibleError, match="total is within 10") as refused:
        fewer.exact_table(plan, others=[first])
    assert refused.value.details["tables"] == "district (spring.csv)"


def test_a_total_that_tells_who_came_is_refused_with_table_and_account() -> None:
    """Three people came: the difference of two exact tables would say where they are."""
    first = published(people((44, 16)), STRICT, "district")
    later = opened(people((47, 16)))
    with pytest.raises(InfeasibleError, match="same people") as refused:
        later.exact_table(by(STRICT, "district"), others=[first])
    assert refused.value.details["tables"] == "district (spring.csv)"
    assert not later.exact_tables()


def test_a_cell_that_few_people_changed_is_hidden_and_not_told() -> None:
    """Twelve came to the west and two to the isle; only the first may be seen."""
    first = published(people((44, 16)), STRICT, "district")
    later = opened(people((56, 18)))
    made = later.exact_table(by(STRICT, "district"), others=[first])
    table = made.content.published
    isle = table.layout.find_cell(("isle",))
    assert made.content.reasons[isle] == "few changed"
    assert made.content.bounds[isle].high >= 18 + 10
    assert made.content.compared == ("district (spring.csv)",)
    assert (table.attacked, table.compared) == (0, 1)
    # the twin that was made without the other table shows it, and may not leave
    alone = later.exact_table(by(STRICT, "district"))
    assert label_of(alone.content.published, "isle") == 18
    with pytest.raises(DisclosureError) as refused:
        later.publish_table(alone, others=[first])
    assert refused.value.details["tables"] == "district (spring.csv)"
    later.publish_table(made, others=[first])


@pytest.mark.parametrize("seed", range(40))
def test_no_shown_or_sharply_bounded_count_is_close_to_the_other_one(seed: int) -> None:
    draw = np.random.default_rng(seed)
    plan = plan_of(HidingRule(threshold=3), a=groups("a", 2, 2, 1), b=groups("b", 1, 1))
    before = draw.integers(0, 12, (5, 2))
    after = before + draw.integers(0, 3, (5, 2)) * (draw.random((5, 2)) < 0.4)
    old = count(plan, before.tolist())
    new = count(plan, after.tolist())
    try:
        other = protect_table(plan, old).published
        made = protect_table(plan, new, [(other, new)])
    except InfeasibleError:
        return
    shown_both = 0
    for cell, (was, now) in enumerate(
        zip(other.counts, made.published.counts, strict=True)
    ):
        if was is not None and now is not None:
            shown_both += 1
            assert was == now or abs(was - now) >= 3
        elif was is not None and 0 < abs(was - new[cell]) < 3:
            bound = made.bounds.get(cell)  # none where the whole total is hidden
            assert bound is None or bound.high >= max(was, new[cell]) + 3
    assert shown_both


def test_the_attack_sees_a_count_that_is_close() -> None:
    """The twin: a table that shows such a count does not pass."""
    plan = plan_of(HidingRule(threshold=3), a=groups("a", 1, 1, 1))
    old = show(plan, count(plan, [9, 9, 9]), [])
    counts = count(plan, [10, 13, 9])
    earlier = [(old, counts)]
    assert match_close_counts(plan.build_layout(), 3, earlier) == {1: 13}
    told = attack_one(show(plan, counts, []), counts, earlier).revealed_cells
    assert (0, 1) in {(one.table, one.cell) for one in told}
    # hidden, but what is shown still gives it away
    told = attack_one(show(plan, counts, [1]), counts, earlier).revealed_cells
    assert {one.cell for one in told} == {1}
    assert not attack_one(show(plan, counts, [1, 2]), counts, earlier).revealed_cells
