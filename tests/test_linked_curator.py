"""Two linked tables behind one account, and what is drawn of them together."""

from __future__ import annotations

import dataclasses
import pickle
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpcore as dp
from dpcore.accounting.loss import UNIT
from dpcore.errors import UsageError
from dpcore.evaluation import SimilarityQuestion
from dpcore.evaluation.table.cells_of_numbers import search_loss
from dpcore.schema.source import Source
from dpcore.synthesis import LinkedRelease, SyntheticModel
from dpcore.synthesis.discrete.constraints import Constraints, FunctionalDependency
from dpcore.tables.digests import combine_tables
from dpcore.tables.rows import PublicTable
from tests.linked_tables import linked_schema

LOSS = dp.ApproxDP(epsilon=8, delta="1e-9")
BUDGET = dp.ApproxDP(epsilon=20, delta="1e-9")


def tables(people: int = 3_000, seed: int = 0) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The town of an event follows the sex of its person, and the number the age."""
    rng = np.random.default_rng(seed)
    of_people = pd.DataFrame(
        {
            "id": [f"{place:05d}" for place in range(people)],
            "age": rng.integers(0, 20, people),
            "sex": rng.choice(["F", "M"], people),
        }
    )
    owner = np.repeat(np.arange(people), rng.poisson(0.4 + of_people["age"] / 10))
    sex = of_people["sex"].to_numpy()[owner]
    stays = rng.random(len(owner)) < 0.8
    of_events = pd.DataFrame(
        {
            "person": of_people["id"].to_numpy()[owner],
            "town": np.where(
                stays, np.where(sex == "F", "a", "b"), rng.choice([*"cde"], len(owner))
            ),
            "pay": rng.integers(0, 10, len(owner)),
        }
    )
    return of_people, of_events


def opened(
    linked: dp.LinkedSchema | None = None,
    *,
    ledger: dp.MemoryLedger | None = None,
    of: tuple[pd.DataFrame, pd.DataFrame] | None = None,
    budget: Any = BUDGET,
) -> dp.LinkedCurator:
    people, events = of or tables()
    return dp.LinkedCurator.open(
        people,
        events,
        linked or linked_schema(),
        budget=budget,
        ledger=ledger or dp.MemoryLedger(),
    )


@pytest.fixture(scope="module")
def release() -> LinkedRelease:
    return opened(linked_schema(order_by="pay")).synthesize(LOSS)


def test_every_event_has_a_person(release: LinkedRelease) -> None:
    """A drawn event would belong to nobody, or to two people."""
    people, events = release.sample(2_000, seed=1)
    assert people["id"].is_unique
    assert list(people) == ["id", "age", "sex"]
    assert list(events) == ["person", "town", "pay"]
    assert set(events["person"]) <= set(people["id"])
    assert events["person"].is_monotonic_increasing
    assert events.groupby("person").size().max() <= 3


def test_views_are_the_same_rows(release: LinkedRelease) -> None:
    """An evaluation would look at other rows than those that leave."""
    drawn = release.draw_tables(500, seed=2)
    people = drawn.people.set_index("id")
    numbers = drawn.events.groupby("person").size().reindex(people.index).fillna(0)
    assert (drawn.people_view["number of events"].to_numpy() == numbers).all()
    for name in ("age", "sex"):
        repeated = people[name].loc[drawn.events["person"]]
        assert repeated.tolist() == drawn.events_view[name].tolist()
    pd.testing.assert_frame_equal(
        drawn.events_view[["town", "pay"]], drawn.events[["town", "pay"]]
    )


def test_events_are_sorted_by_their_order(release: LinkedRelease) -> None:
    """The third stay of a person would come before the first one."""
    _, events = release.sample(500, seed=3)
    assert (
        events.groupby("person")["pay"]
        .apply(lambda pay: pay.is_monotonic_increasing)
        .all()
    )


def town_share(release: LinkedRelease) -> float:
    """The p-value of the towns of women, drawn and expected."""
    view = release.draw_tables(3_000, seed=4).events_view
    of_women = view.loc[view["sex"] == "F", "town"]
    found = int((of_women == "a").sum())
    return float(stats.binomtest(found, len(of_women), 0.8).pvalue)


def test_events_follow_their_person(
    release: LinkedRelease, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Events would be drawn as for anybody."""
    assert town_share(release) > 1e-6

    def forget(self: SyntheticModel, known: Any, rng: Any) -> Any:
        rows = len(next(iter(known.values())))
        codes, _ = self.sample_ranked(rows, rng)
        return codes | known, {}

    monkeypatch.setattr(SyntheticModel, "sample_known", forget)
    assert town_share(release) < 1e-6


def test_the_number_of_events_is_drawn_with_the_person(release: LinkedRelease) -> None:
    """Old people would have as many events as young ones."""
    view = release.draw_tables(3_000, seed=5).people_view
    old = view["age"] >= 10
    means = view["number of events"].groupby(old).mean()
    people, events = tables()
    numbers = events.groupby("person").size().clip(upper=3)
    numbers = numbers.reindex(people["id"]).fillna(0).to_numpy()
    truth = pd.Series(numbers).groupby(people["age"] >= 10).mean()
    assert (means - truth).abs().max() < 0.15 < truth[True] - truth[False]


def test_a_release_is_stored_as_text(release: LinkedRelease) -> None:
    """A release could not be handed on, or would draw other rows."""
    read = LinkedRelease.from_json(release.to_json())
    for one, other in zip(
        read.sample(50, seed=6), release.sample(50, seed=6), strict=True
    ):
        pd.testing.assert_frame_equal(one, other)
    assert read.guarantee == release.guarantee
    with pytest.raises(dp.ParameterError, match="altered"):
        LinkedRelease.from_json(release.to_json().replace('"sex"', '"sox"'))


def test_releases_of_other_tables_are_refused(release: LinkedRelease) -> None:
    """Events would be drawn for cells that mean something else."""
    other = opened(linked_schema(4), of=tables(300)).synthesize(LOSS)
    with pytest.raises(dp.UsageError, match="not the releases of two linked"):
        LinkedRelease(people=other.people, events=release.events)


def test_no_people_have_no_events(release: LinkedRelease) -> None:
    """Somebody's loop over sizes would end in an error."""
    people, events = release.sample(0)
    assert (len(people), len(events)) == (0, 0)
    assert list(events) == ["person", "town", "pay"]


def test_the_guarantee_adds_up_both_views(release: LinkedRelease) -> None:
    """A guarantee of one view would say less than was spent."""
    rho = {"rho": str(LOSS.rho)}
    assert release.guarantee.loss == rho
    assert "all rows in both tables" in release.guarantee.unit
    assert "at most 3 rows" in release.guarantee.unit
    assert release.people.guarantee.loss != rho


@pytest.mark.parametrize(
    ("budget", "loss"),
    [
        (dp.PureDP(epsilon=1), dp.PureDP(epsilon=1)),
        (dp.PureDP(epsilon="1/3"), dp.PureDP(epsilon="1/3")),
        (LOSS, LOSS),
        (dp.ZCDP(rho="1/7"), dp.ZCDP(rho="1/7")),
    ],
)
def test_the_whole_budget_can_be_spent(budget: Any, loss: Any) -> None:
    """Two rounded charges would be more than one."""
    curator = opened(of=tables(300), budget=budget)
    curator.synthesize(loss)
    assert 0 <= curator.balance().remaining_units <= 1


def test_both_views_are_refused_together() -> None:
    """People would be paid for, and the events be too dear."""
    curator = opened(of=tables(300), budget=dp.PureDP(epsilon=1))
    with pytest.raises(dp.BudgetExceeded):
        curator.synthesize(dp.PureDP(epsilon="1.5"))
    with pytest.raises(dp.BudgetExceeded):
        curator.synthesize(dp.PureDP(epsilon="1.5"), request_id="click")
    assert curator.balance().spent == 0
    quotes = curator.quote(dp.PureDP(epsilon=1))
    assert sum(quote.charge for quote in quotes) == curator.balance().budget


def test_a_recipe_without_known_columns_is_refused_before_the_charge() -> None:
    """The charge would be for a release of which no events can be drawn."""
    curator = opened(of=tables(300))
    with pytest.raises(dp.UsageError, match="does not draw events"):
        curator.synthesize(LOSS, events_recipe=dp.Histogram("sex"))  # type: ignore[arg-type]
    assert curator.balance().spent == 0
    released = curator.events.run(dp.Independent(columns=("sex", "pay")), LOSS)
    with pytest.raises(dp.UsageError, match="for given values"):
        released.model.sample_known(
            {"sex": np.zeros(1, np.int64)}, np.random.default_rng(0)
        )


def test_a_view_that_cannot_be_measured_is_refused_before_the_other_is_paid() -> None:
    """People would be paid for, and the events be refused."""
    curator = opened(of=tables(300))
    recipe = dp.Adaptive(ordered=frozenset({"no column"}))
    for request_id in (None, "click"):
        with pytest.raises(dp.DpcoreError):
            curator.synthesize(LOSS, events_recipe=recipe, request_id=request_id)
    assert curator.balance().spent == 0


def test_a_rule_that_drawn_events_would_break_is_refused() -> None:
    """Half of the drawn events would break it: their person is drawn before."""
    curator = opened(of=tables(300))
    rule = FunctionalDependency(
        column="town", target="sex", cells=(0, 0, 1, 1, 1, 0, 0)
    )
    recipe = dp.Adaptive(constraints=Constraints(determines=(rule,)))
    with pytest.raises(dp.UsageError, match="cannot determine"):
        curator.synthesize(LOSS, events_recipe=recipe)
    assert curator.balance().spent == 0


def test_other_rules_are_another_release() -> None:
    """The release of the old rules would come back for the new ones, as if free."""
    ledger = dp.MemoryLedger()
    people, events = tables(300)
    orphans = pd.DataFrame({**events.iloc[:40].to_dict("list"), "id": ["x1"] * 40})
    of = (people, pd.concat([events, orphans], ignore_index=True))
    loss = dp.ApproxDP(epsilon=2, delta="1e-9")
    released, orders = [], []
    for facts in ({}, {"orphans": "own person"}, {"order_by": "pay"}):
        schema = linked_schema(with_missing=True, **facts)
        curator = opened(schema, ledger=ledger, of=of)
        released.append(curator.synthesize(loss).people.request_id)
        lines = [line for line in curator.people.lines() if line.state == "reserved"]
        orders.append(lines[-1].content["linked"]["order_by"])
    assert len(set(released)) == 3
    assert orders == ["", "", "pay"]


def test_the_same_tables_find_their_account() -> None:
    """What was spent on two tables would be forgotten."""
    ledger = dp.MemoryLedger()
    people, events = tables(300)
    first = opened(ledger=ledger, of=(people, events))
    released = first.synthesize(LOSS)
    shuffled = (people.iloc[::-1], events.sample(frac=1, random_state=1))
    again = opened(ledger=ledger, of=shuffled)
    spent = again.balance().spent
    assert again.synthesize(LOSS).to_json() == released.to_json()
    assert again.balance().spent == spent > 0
    clicked = again.synthesize(LOSS, request_id="one more")
    assert again.synthesize(LOSS, request_id="one more").to_json() == clicked.to_json()
    # a table alone has an account of its own
    alone = dp.Curator.open(
        people, linked_schema().people, budget=BUDGET, ledger=ledger
    )
    assert alone.account.dataset != again.people.account.dataset
    assert alone.balance().spent == 0


def test_the_fingerprint_has_no_order() -> None:
    """The same two files in another order would have a new budget."""
    one = combine_tables(["ab", "cd"], b"k")
    assert one == combine_tables(["cd", "ab"], b"k")
    assert one != combine_tables(["ab", "ce"], b"k")
    assert one != combine_tables(["ab", "cd"], b"l")


@pytest.mark.parametrize(
    "other", [linked_schema(4), linked_schema(keys="as numbers")], ids=["m", "keys"]
)
def test_who_is_a_person_never_changes(other: dp.LinkedSchema) -> None:
    """Two releases about different units would be added up as one."""
    ledger = dp.MemoryLedger()
    of = tables(300)
    opened(ledger=ledger, of=of)
    with pytest.raises(dp.BudgetFixed):
        opened(other, ledger=ledger, of=of)


def test_the_number_of_events_can_be_found_privately() -> None:
    """An owner who does not know it would look, and tell it."""
    linked = linked_schema()
    unit = dp.PrivacyUnit(max_rows=1, id_column="person", found="1")
    ledger = dp.MemoryLedger()
    people, _ = tables()
    # so clear that one in a million searches finds another number
    events = pd.DataFrame({"person": [*people["id"]] * 3, "town": "a", "pay": 1})
    of = (people, events)
    curator = opened(linked.with_unit(unit), ledger=ledger, of=of)
    assert curator.linked.events.unit.max_rows == 3
    assert curator.people.schema.domain.size("number of events") == 4
    spent = curator.balance().spent
    assert spent > 0
    again = opened(linked.with_unit(unit), ledger=ledger, of=of)
    assert again.balance().spent == spent
    assert {"epsilon": "1"} in again.synthesize(LOSS).events.losses_paid


def test_the_total_loss_has_each_search_once() -> None:
    """A reader of both halves would be told of less than was spent on them."""
    found = dp.PrivacyUnit(max_rows=1, id_column="person", found="1/20")
    curator = opened(linked_schema().with_unit(found), budget=dp.PureDP(epsilon=9))
    release = curator.synthesize(dp.PureDP(epsilon=4))
    parts = [view.guarantee.loss for view in (release.people, release.events)]
    assert sum(Fraction(loss["epsilon"]) for loss in parts) == 4
    assert release.total_loss == dp.PureDP(epsilon=Fraction(81, 20))
    assert curator.balance().spent == release.total_loss.epsilon * UNIT


def test_counts_are_internal_and_noted() -> None:
    """What linking met would be shown without a line in the ledger."""
    curator = opened(of=tables(300))
    report = curator.count_rows()
    assert report.content.people == 300
    line = curator.people.lines()[-1]
    assert (line.state, line.content["about"]) == ("outside", ["id", "person"])
    assert curator.balance().spent == 0
    with pytest.raises(dp.DisclosureError):
        pickle.dumps(report)
    with pytest.raises(dp.DisclosureError):
        pickle.dumps(curator)
    assert "300" not in repr(curator)


def test_views_are_evaluated_as_any_table(release: LinkedRelease) -> None:
    """There would be no distance within, across, or of the number of events."""
    curator = opened(linked_schema(order_by="pay"))
    drawn = release.draw_tables(seed=7)
    for view, rows in (
        (curator.people, drawn.people_view),
        (curator.events, drawn.events_view),
    ):
        found = view.evaluate(SimilarityQuestion(table=PublicTable(rows))).content
        assert {each.column for each in found.columns} == {*view.schema.domain.names}
        assert max(each.distance for each in found.columns) < 0.2


def in_parquet(folder: Path) -> list[Source]:
    sources = []
    for name, table in zip(("people", "events"), tables(300), strict=True):
        table.to_parquet(folder / f"{name}.parquet")
        sources.append(
            Source(name=name, kind="parquet", location=str(folder / f"{name}.parquet"))
        )
    return sources


def test_connected_tables_go_by_their_names(tmp_path: Path) -> None:
    """A source that grew would have a new budget."""
    people, events = in_parquet(tmp_path)
    curator = dp.LinkedCurator.open(
        people, events, linked_schema(), budget=BUDGET, ledger=dp.MemoryLedger()
    )
    assert curator.people.account.source == "events + people"
    assert len(curator.synthesize(LOSS).sample(10)[0]) == 10
    with pytest.raises(dp.UsageError, match="both are connected"):
        dp.LinkedCurator.open(
            people,
            tables()[1],
            linked_schema(),
            budget=BUDGET,
            ledger=dp.MemoryLedger(),
        )


def test_how_a_file_was_read_marks_both_views() -> None:
    """One of two files that was guessed at would be called read as told."""
    people, events = tables(300)
    events.attrs["reading from data"] = True
    curator = opened(of=(people, events))
    for view in (curator.people, curator.events):
        assert view.schema.reading_from_data
        assert view.run(dp.Histogram("sex"), LOSS).guarantee.reading_from_data


def test_recipes_can_be_chosen() -> None:
    """Somebody in a hurry could not use the quick recipe."""
    curator = opened(of=tables(300))
    made = curator.synthesize(LOSS, people_recipe=dp.Tree(), events_recipe=dp.Tree())
    assert made.people.recipe["kind"] == made.events.recipe["kind"] == "tree"
    assert dataclasses.asdict(curator.linked.rules)["keys"] == "as written"


def with_numbers(people: int = 20_000) -> tuple[tuple[Any, Any], dp.LinkedSchema]:
    """Two tables with a number in each, of which nothing is declared."""
    of_people, of_events = tables(people)
    rng = np.random.default_rng(5)
    of_people["income"] = rng.integers(1_000, 9_000, len(of_people))
    of_events["cost"] = rng.integers(40, 60, len(of_events))
    plain = linked_schema()
    unknown = {
        name: dp.Integer(name, low=0, high=1, bin_width=1)
        for name in ("income", "cost")
    }
    return (of_people, of_events), dataclasses.replace(
        plain,
        people=dataclasses.replace(
            plain.people, columns=(*plain.people.columns, unknown["income"])
        ),
        events=dataclasses.replace(
            plain.events, columns=(*plain.events.columns, unknown["cost"])
        ),
    )


@pytest.mark.parametrize(
    "columns", [("income",), ("cost",), ("income", "cost"), ("cost", "income")]
)
def test_cells_of_both_tables_are_found_for_one_charge(
    columns: tuple[str, ...],
) -> None:
    """Bounds would be read from the rows, or each table charge the whole search."""
    (of_people, of_events), linked = with_numbers()
    ledger = dp.MemoryLedger()
    given = {"budget": BUDGET, "ledger": ledger}
    curator = dp.open_linked_with_cells(of_people, of_events, linked, columns, **given)
    paid = curator.balance().spent
    rule = curator.people.rule
    assert paid == rule.to_units(rule.convert(search_loss(BUDGET)))
    for name, schema, low, high in (
        ("income", curator.linked.people, 2_000, 8_000),
        ("cost", curator.linked.events, 42, 57),
    ):
        column = schema.column(name)
        if name in columns:
            assert column.found
            assert column.from_data == ()
            assert column.low <= low < high <= column.high < 10 * high
            assert column.values_size > 4
        else:
            assert not column.found
    # the same tables find the answer on file, and both views know the cells
    again = dp.open_linked_with_cells(of_people, of_events, linked, columns, **given)
    assert again.linked == curator.linked
    assert again.balance().spent == paid
    if columns == ("income", "cost"):
        release = again.synthesize(dp.ApproxDP(epsilon=1, delta="1e-9"))
        assert set(release.guarantee.found) == {"income", "cost"}
        assert again.balance().spent == rule.to_units(release.total_loss)


def test_a_search_of_both_tables_that_cannot_be_paid_charges_nothing() -> None:
    """The people would be searched and paid for, and the events then be refused."""
    (of_people, of_events), linked = with_numbers(500)
    given = {"budget": dp.PureDP(epsilon=1), "ledger": dp.MemoryLedger()}
    opened_before = dp.LinkedCurator.open(of_people, of_events, linked, **given)
    opened_before.people.run(dp.Histogram("sex"), dp.PureDP(epsilon="0.96"))
    of_people_alone = opened_before.split_loss(search_loss(given["budget"]))[0]
    left = opened_before.balance().remaining_units
    rule = opened_before.people.rule
    assert rule.to_units(of_people_alone) < left < UNIT // 20
    with pytest.raises(dp.BudgetExceeded):
        dp.open_linked_with_cells(
            of_people, of_events, linked, ["income", "cost"], **given
        )
    assert opened_before.balance().remaining_units == left
    # one table alone cannot be paid either, as it takes the whole loss
    with pytest.raises(dp.BudgetExceeded):
        dp.open_linked_with_cells(of_people, of_events, linked, ["income"], **given)
    assert opened_before.balance().remaining_units == left


def test_cells_that_cannot_be_searched() -> None:
    """A category would be searched as a number, or a typing error pass in silence."""
    (of_people, of_events), linked = with_numbers(500)
    given = {"budget": BUDGET, "ledger": dp.MemoryLedger()}
    for columns, error, words in (
        (["town"], UsageError, "columns of numbers"),
        ([], UsageError, "columns of numbers"),
        (["nowhere"], UsageError, "nowhere"),
    ):
        with pytest.raises(error, match=words):
            dp.open_linked_with_cells(of_people, of_events, linked, columns, **given)
