"""Plans that count people, decided by distinct tuples and who holds them: the same as
with all rows at hand.

People who hold the same tuples are one entry there. Each answer is compared with that
of the rows, and the sizes of classes with sets of people, made row by row.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections import Counter as Bag
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.anonymization.apply import apply
from dpcore.anonymization.choices import SUPPRESSED_TREATMENTS
from dpcore.anonymization.fulldomain import _people as people
from dpcore.anonymization.fulldomain._grouper import Grouper
from dpcore.anonymization.fulldomain.counter import Counter
from dpcore.anonymization.fulldomain.search import Solution, find_optimal_node
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.hierarchies.suggest import suggest_hierarchy
from dpcore.anonymization.levels import read_distinct, searched_columns
from dpcore.anonymization.models import DistinctL, EntropyL, KAnonymity, PrivacyModel
from dpcore.anonymization.plan import Plan
from dpcore.anonymization.streamed import PERSON_COLUMN, ExpectedClasses, RowRecoder
from dpcore.engines.frame import FrameEngine
from dpcore.engines.tuples import holders
from dpcore.errors import InfeasibleError
from dpcore.schema.values import list_texts
from dpcore.tables.hashes import person_hashes, tuple_hashes
from dpcore.tables.people import person_codes
from dpcore.tables.rows import DistinctRows
from tests.anonymization.oracle import (
    MODELS,
    SECRET,
    SECRET_HIERARCHY,
    Case,
    classes_at,
    held,
)
from tests.anonymization.test_brute_force import LIMITS, METRICS, table
from tests.tiers import but_first

SCHEMA = dp.Schema(
    columns=(dp.Categorical("person", categories=("nobody",), other=True),),
    unit=dp.PrivacyUnit(max_rows=1),
)
SEEDS = [seed for seed in range(400) if seed % 2]  # those with people


def frame_of(case: Case) -> pd.DataFrame:
    subset = [True] * len(case.frame) if case.subset is None else case.subset
    return case.frame.assign(person=case.people, shown=subset)


def distinct(frame: pd.DataFrame, *columns: str) -> DistinctRows:
    return FrameEngine(frame, SCHEMA, key=b"k" * 32).tuples(columns, by="person")


def streamed(case: Case) -> Tuples:
    """The tuples of a case by those who hold them."""
    found = distinct(frame_of(case), *case.hierarchies, SECRET, "shown")
    return Tuples.build(
        found.frame,
        case.hierarchies,
        sensitive={SECRET: SECRET_HIERARCHY},
        subset=None if case.subset is None else found.frame["shown"].to_numpy(),
        rows=found.rows,
        owners=found.owners,
    )


@pytest.mark.parametrize("part", range(4))
def test_classes_hold_the_people_that_a_set_holds(part: int) -> None:
    """A person of two tuples, counted twice in a class that has both, would make two of
    one.
    """
    for seed in SEEDS[part::8]:
        case = table(seed)
        made = streamed(case)
        assert made.people == case.tuples().people
        grouper = Grouper(made)
        counter = Counter(made)
        flags = case.subset or [True] * len(case.frame)
        for node in itertools.product(*(range(top + 1) for top in made.lattice.top)):
            classes = classes_at(case, node).values()
            shown = [[row for row in rows if flags[row]] for rows in classes]
            expected = Bag(
                (len(inside), len(case.whose(inside)), len(case.whose(rows)))
                for inside, rows in zip(shown, classes, strict=True)
            )
            secrets = sorted(
                count for rows in shown for count in held(case, rows).values()
            )
            counted = counter.count_classes(node)
            for found in (grouper.group_node(node), counted):
                figures = (found.sizes, found.people, found.population)
                assert (
                    Bag(zip(*(each.tolist() for each in figures), strict=True))
                    == expected
                )
                assert sorted(found.histogram(SECRET).count.tolist()) == secrets
            those = [row for rows in shown if len(case.whose(rows)) < 3 for row in rows]
            assert counted.count_people_in(counted.people < 3) == len(case.whose(those))


def test_the_search_ends_where_that_of_the_rows_does() -> None:
    """Another node would be published than the same plan publishes in memory."""
    for turn, seed in enumerate(SEEDS[::3]):
        case = table(seed)
        models = (MODELS[turn % len(MODELS)], KAnonymity(k=1 + seed % 4))
        found: list[Solution | None] = [None, None]
        for place, made in enumerate((case.tuples(), streamed(case))):
            with suppress(InfeasibleError):
                found[place] = find_optimal_node(
                    made,
                    models,
                    limit=LIMITS[turn % len(LIMITS)],
                    metric=METRICS[turn % len(METRICS)],
                )
        one, other = found
        assert (one is None) == (other is None)
        if one is not None and other is not None:
            assert replace(one, checked_nodes=0) == replace(other, checked_nodes=0), (
                seed
            )


def visits(rows: int) -> pd.DataFrame:
    """Several rows of most people; where somebody lives changes for some."""
    rng = np.random.default_rng(rows)
    person = rng.integers(0, rows // 3, rows)
    home = np.where(rng.random(rows) < 0.2, rng.integers(0, 6, rows), person % 6)
    return pd.DataFrame(
        {
            "person": [f"p{each}" for each in person],
            "zip": [f"12{each}" for each in home],
            "sex": np.where(person % 2, "F", "M"),
            "ill": rng.choice(["a", "b", "c"], rows, p=[0.7, 0.2, 0.1]),
            "cost": rng.integers(0, 5, rows),
            "shown": rng.random(rows) < 0.8,
        },
    )


def plan_of(**changes: object) -> Plan:
    roles = {
        "zip": "quasi-identifier",
        "sex": "quasi-identifier",
        "ill": "sensitive",
        "cost": "insensitive",
    }
    zips = [f"12{each}" for each in range(6)]
    trees = {
        "zip": tree(zips, [each[:2] + "*" for each in zips]),
        "sex": tree(["F", "M"]),
    }
    plan = Plan(
        roles=roles, hierarchies=trees, models=(KAnonymity(k=4),), person="person"
    )  # type: ignore[arg-type]
    return replace(plan, **changes)


def tree(values: list[str], *levels: list[str]) -> Hierarchy:
    return Hierarchy(
        values=tuple(values),
        levels=(tuple(values), *map(tuple, levels), ("*",) * len(values)),
    )


KNOWN = ("zip", "sex")


def rows_of(frame: pd.DataFrame) -> Bag[tuple[str, ...]]:
    return Bag(zip(*(list_texts(frame[name]) for name in frame), strict=True))


def counted(frame: pd.DataFrame, plan: Plan) -> DistinctRows:
    return read_distinct(FrameEngine(frame, SCHEMA, key=b"k" * 32).tuples, plan)


def written(first: pd.DataFrame, second: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """The second table by a plan that was decided on the first one."""
    return carried_out(counted(first, plan), second, plan)


def carried_out(found: DistinctRows, second: pd.DataFrame, plan: Plan) -> pd.DataFrame:
    """A table by a plan that was decided on what was counted."""
    recoding = RowRecoder.from_tuples(found, plan)
    tally = ExpectedClasses(recoding, found)
    at_once = len(second) // 4 + 1
    writing = tally.make_writer(lambda rows: rows)
    parts = [
        writing(second.iloc[start : start + at_once])
        for start in range(0, len(second), at_once)
    ]
    published = functools.reduce(operator.add, parts)
    tally.check(published)
    made = pd.concat(published.locations)
    assert len(made) == recoding.row_count
    assert PERSON_COLUMN not in made
    return made


MODELS_ASKED = (
    (KAnonymity(k=4),),
    (KAnonymity(k=3), DistinctL(column="ill", l=2)),
    (EntropyL(column="ill", l=1.8),),
)


@pytest.mark.parametrize("models", but_first(1, MODELS_ASKED), ids=str)
@pytest.mark.parametrize("subset", but_first(1, ["shown", None]))
@pytest.mark.parametrize(
    ("rows", "household"), [(40, None), (400, None), (400, "home")]
)
def test_what_is_written_is_what_is_made_in_memory(
    rows: int,
    household: str | None,
    subset: str | None,
    models: tuple[PrivacyModel, ...],
) -> None:
    """Rows that the check in memory hides, or a whole table that it refuses, would be
    written.
    """
    frame = visits(rows)
    if household is not None:
        frame[household] = [f"h{int(person[1:]) // 3}" for person in frame["person"]]
    if subset is None:
        frame = frame.drop(columns="shown")
    found = counted(frame, plan_of(models=models, subset=subset, household=household))
    for limit, suppressed in itertools.product(
        (0.0, 0.1, 0.3, 1.0), SUPPRESSED_TREATMENTS
    ):
        plan = plan_of(
            limit=limit,
            models=models,
            subset=subset,
            household=household,
            suppressed=suppressed,
        )
        made: list[Bag[tuple[str, ...]] | str] = []
        for make in (
            lambda: apply(frame, plan),  # noqa: B023
            lambda: carried_out(found, frame, plan),  # noqa: B023
        ):
            try:
                made.append(rows_of(make()))
            except InfeasibleError as error:
                made.append(str(error))
        assert made[0] == made[1], (limit, suppressed)


def test_somebody_of_two_households_is_refused() -> None:
    """k households in a group would not be k people."""
    frame = visits(400).drop(columns="shown").assign(home=lambda rows: rows["person"])
    plan = plan_of(limit=0.1, household="home")
    assert len(written(frame, frame, plan)) > 300
    frame.loc[7, "home"] = "elsewhere"
    for make in (lambda: apply(frame, plan), lambda: written(frame, frame, plan)):
        with pytest.raises(dp.SchemaError, match="two households"):
            make()
    alone = replace(plan, person=None, roles=plan.roles | {"person": "identifier"})
    assert rows_of(written(frame, frame, alone)) == rows_of(apply(frame, alone))


def test_each_class_is_written_of_the_people_that_it_was_checked_with() -> None:
    """As many rows in each class, but of one person, would be k-anonymous on paper
    alone.
    """
    frame = visits(400).drop(columns="shown")
    plan = plan_of(limit=0.1)
    assert len(written(frame, frame.sample(frac=1, random_state=1), plan)) > 300
    tree = suggest_hierarchy(frame["person"])
    roles = (
        plan.roles
        | dict.fromkeys(KNOWN, "insensitive")
        | {"person": "quasi-identifier"}
    )
    named = replace(
        plan, hierarchies={"person": tree}, roles=roles, models=(KAnonymity(k=1),)
    )
    assert rows_of(written(frame, frame, named)) == rows_of(apply(frame, named))
    same = frame.assign(person=np.where(frame["zip"] == "121", "p1", frame["person"]))
    swapped = frame.assign(person=frame["person"].iloc[::-1].to_numpy())
    for other in (same, swapped):
        with pytest.raises(dp.ReadError, match="has changed"):
            written(frame, other, plan)
    without = replace(
        FrameEngine(frame, SCHEMA, key=b"k" * 32).tuples(searched_columns(plan)),
        owners=None,
    )
    with pytest.raises(dp.ParameterError, match="not known who holds"):
        RowRecoder.from_tuples(without, plan)


def test_holdings_in_many_slices_and_some_at_a_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A person cut in two by a slice, or groups that are not united, would count
    twice.
    """
    frame = visits(400)
    whole = distinct(frame, "zip", "ill")
    assert whole.owners is not None
    by_hand: Bag[frozenset[tuple[str, str]]] = Bag(
        frozenset(zip(rows["zip"], rows["ill"], strict=True))
        for _, rows in frame.groupby("person")
    )
    monkeypatch.setattr("dpcore.engines.tuples.slices._ROWS_PER_SLICE", 13)
    monkeypatch.setattr(holders, "_PENDING_PAIRS", 1)
    monkeypatch.setattr(people, "MAX_OWNERS_PER_BATCH", 3)
    cut = distinct(frame, "zip", "ill")
    for found in (whole, cut):
        assert found.owners is not None
        tuples = [*zip(found.frame["zip"], found.frame["ill"], strict=True)]
        sets: list[set[tuple[str, str]]] = [set() for _ in found.owners.people]
        for group, place in zip(
            found.owners.group, found.owners.tuple_index, strict=True
        ):
            sets[group].add(tuples[place])
        assert len({*map(frozenset, sets)}) == len(sets)
        assert (
            dict(zip(map(frozenset, sets), found.owners.people.tolist(), strict=True))
            == by_hand
        )
    assert Bag(cut.owners.sums.tolist()) == Bag(whole.owners.sums.tolist())  # type: ignore[union-attr]
    assert len(written(frame, frame, plan_of(limit=0.1, subset="shown"))) > 200
    monkeypatch.setattr(holders, "MAX_PAIRS", 20)
    with pytest.raises(dp.LimitError, match="too many different rows"):
        distinct(frame, "zip", "ill")


def test_people_are_told_apart_by_the_texts_of_their_ids() -> None:
    """Two columns of one person, or missing ids taken for a person with an odd name,
    would move k.
    """
    whole = pd.Series([1, 2, -1, 2, 0], dtype="int64")
    same = [
        whole,
        whole.astype("category"),
        whole.astype("Int64"),
        whole.astype("int8"),
    ]
    assert len({person_hashes(each).tobytes() for each in same}) == 1
    some = whole.astype("Int64").mask([False, True, False, True, False])
    for column in (some, some.astype("category")):
        hashes = [tuple(each) for each in person_hashes(column).tolist()]
        assert len({*hashes}) == 4
        assert hashes[1] == hashes[3]
    words = pd.Series(
        ["a", " a", "", "(missing)", "nan", "None", None, "t", "12.1", "12.10"],
        dtype=object,
    )
    for column in (words, words.astype("category")):
        hashes = [tuple(each) for each in person_hashes(column).tolist()]
        assert len({*hashes}) == 10  # as for the promise: texts as they were written
        # each its own person
        assert person_codes(pd.DataFrame({"x": column}), "x") is None
    found, index = tuple_hashes(words.to_frame("x"), ["x"])
    assert len({*found[index].tolist()}) == 8
