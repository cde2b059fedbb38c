"""The verdict on two linked tables: the worst of both, of keys and of what links them."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.evaluation import EventPairsReport, SimilarityQuestion
from dpcore.tables.rows import PublicTable
from tests.linked_tables import linked_schema
from tests.test_linked_curator import opened, tables
from workbench.evaluate import document
from workbench.evaluate.form import count_broken_links
from workbench.evaluate.linked_report import (
    LinkedSimilarity,
    across_table,
    judge_halves,
    relations_across,
    relations_within_person,
    verdict_of_pair,
    within_person_table,
)
from workbench.evaluate.relations import Relation, mean_kept_share
from workbench.ui.verdict import Verdict

LINKED = linked_schema()
MOST = LINKED.events.unit.max_rows
PEOPLE = 30_000
"""So many that chance hides no relation."""


@pytest.fixture(scope="module")
def curator() -> dp.LinkedCurator:
    return opened(LINKED, of=tables(PEOPLE))


def views(seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both views of another sample of the same people."""
    people, events = tables(PEOPLE, seed=seed)
    events = events.groupby("person").head(MOST)
    numbers = events["person"].value_counts().reindex(people["id"], fill_value=0)
    people = people.assign(**{"number of events": numbers.to_numpy()})
    joined = events.merge(people, left_on="person", right_on="id")
    of_events = joined[["age", "sex", "number of events", "town", "pay"]]
    return people.drop(columns="id"), of_events


def compare(
    curator: dp.LinkedCurator, people: pd.DataFrame, events: pd.DataFrame
) -> LinkedSimilarity:
    of_people, of_events = (
        half.evaluate(SimilarityQuestion(table=PublicTable(frame))).content
        for half, frame in ((curator.people, people), (curator.events, events))
    )
    return LinkedSimilarity(
        people=of_people,
        events=of_events,
        across=relations_across(of_events, curator.linked),
        within_person=(),
    )


def judge(
    curator: dp.LinkedCurator, similarity: LinkedSimilarity, broken: int = 0
) -> Verdict:
    halves = judge_halves(curator, similarity, is_from_recipe=True)
    return verdict_of_pair(halves, similarity, broken)


def relation(*columns: str, lost: float, strength: float, limit: float = 0) -> Relation:
    return Relation(
        columns=columns,
        value=lost,
        floor=0.0,
        independent=strength,
        unrelated_limit=limit,
        is_lost=False,
    )


def test_one_strong_relation_does_not_drown_in_columns_without(
    curator: dp.LinkedCurator,
) -> None:
    """Half of the only relation would be lost, and the pair be called fit."""
    none = [
        relation(name, "ward", lost=0.2, strength=0.01) for name in ("sex", "town", "b")
    ]
    strong = relation("age", "ward", lost=0.1, strength=0.2)
    similarity = dataclasses.replace(
        compare(curator, *views(1)), across=(strong, *none)
    )
    assert similarity.kept_across == pytest.approx(0.5)
    good = Verdict(level="good", sentence="Good.")
    halves = {"people": good, "events": good}
    found = verdict_of_pair(halves, similarity, 0)
    assert "Weakest: relations between people and events" in found.sentence
    assert (
        "Across both tables: 50\u202f% of the relation of age with ward is kept; other "
        "columns have hardly any."
    ) in found.reasons
    # of two, the one is named of which more is lost, and a strong one counts more
    small = relation("sex", "ward", lost=0.05, strength=0.05)
    two = dataclasses.replace(similarity, across=(strong, small, *none))
    assert two.kept_across == pytest.approx(0.4)
    (said,) = (
        each
        for each in verdict_of_pair(halves, two, 0).reasons
        if each.startswith("Across")
    )
    assert said.endswith("Most is lost of age with ward: 50\u202f% is kept.")
    # without any, there is nothing to lose
    nothing = dataclasses.replace(similarity, across=tuple(none))
    assert nothing.kept_across is None
    assert verdict_of_pair(halves, nothing, 0).level == "good"


def test_what_chance_explains_is_no_relation() -> None:
    """Noise of many cells would pass for a relation that the release loses."""
    real = relation("nights", lost=0.2, strength=0.25, limit=0.24)
    noise = relation("nights", lost=0.2, strength=0.25, limit=0.26)
    assert real.kept == pytest.approx(0.2)
    assert noise.kept is None


def test_a_column_of_one_label_keeps_nothing(curator: dp.LinkedCurator) -> None:
    """A column that was wiped out would be called fit, as its values are spread."""
    of_events = compare(curator, *views(1)).events
    both = [
        relations_across(of_events, curator.linked, lost) for lost in ((), ("town",))
    ]
    (kept, lost) = (
        {each.columns: each.kept for each in relations} for relations in both
    )
    assert kept["sex", "town"] > 0.8
    assert lost["sex", "town"] == 0
    assert lost == {
        pair: 0.0 if share is not None and "town" in pair else share
        for pair, share in kept.items()
    }
    report = EventPairsReport(
        columns=("town",),
        distances=np.array([[0.0], [0.0], [0.4]]),
        unrelated_limits=np.array([0.1]),
    )
    assert [each.kept for each in relations_within_person(report)] == [1]
    assert [each.kept for each in relations_within_person(report, ["town"])] == [0]
    similarity = dataclasses.replace(
        compare(curator, *views(1)), columns_of_one_label=("town",)
    )
    halves = judge_halves(curator, similarity, is_from_recipe=True)
    assert [halves[view].level for view in ("people", "events")] == ["good", "mixed"]
    found = verdict_of_pair(halves, similarity, 0)
    assert found.level == "mixed"
    assert "Weakest: events" in found.sentence
    said = "town says nothing any more: every row has the same label."
    assert found.reasons[1].endswith(said)
    assert said not in found.reasons[0]


def test_another_sample_is_good(curator: dp.LinkedCurator) -> None:
    """A pair as good as a second sample would be warned of."""
    similarity = compare(curator, *views(1))
    found = judge(curator, similarity)
    assert found.level == "good"
    assert found.sentence.startswith("Fit as a pair")
    assert similarity.kept_across is not None
    assert similarity.kept_across > 0.8
    assert any("every event belongs to one person" in each for each in found.reasons)


def test_events_that_know_nothing_of_their_person_are_poor(
    curator: dp.LinkedCurator,
) -> None:
    """Both tables are right by themselves, and only what links them is lost."""
    people, events = views(1)
    rng = np.random.default_rng(3)
    mixed = events.copy()
    order = rng.permutation(len(events))
    for name in ("town", "pay"):
        mixed[name] = events[name].to_numpy()[order]
    similarity = compare(curator, people, mixed)
    assert similarity.kept_across is not None
    assert similarity.kept_across < 0.1
    # the twin: relations within either table are as they were
    twin = compare(curator, people, events)
    assert twin.kept_across is not None
    assert twin.kept_across > 0.8
    good = Verdict(level="good", sentence="Good.")
    found = verdict_of_pair({"people": good, "events": good}, similarity, 0)
    assert found.level == "poor"
    assert "relations between people and events" in found.sentence
    assert verdict_of_pair({"people": good, "events": good}, twin, 0).level == "good"


@pytest.mark.parametrize("weak", ["people", "events"])
def test_the_worse_half_decides(curator: dp.LinkedCurator, weak: str) -> None:
    """A good half would hide a bad one."""
    similarity = compare(curator, *views(1))
    halves = {
        view: Verdict(level="mixed" if view == weak else "good", sentence=f"{view}!")
        for view in ("people", "events")
    }
    found = verdict_of_pair(halves, similarity, 0)
    assert (found.level, found.reasons[0]) == ("mixed", "People: people!")
    assert found.sentence == f"Fit as a pair, with care. Weakest: {weak}."


def test_wrong_numbers_of_events_are_poor(curator: dp.LinkedCurator) -> None:
    """A person would have two stays where most have none."""
    people, events = views(1)
    wrong = people.assign(**{"number of events": 0})
    found = judge(curator, compare(curator, wrong, events))
    assert found.level == "poor"
    assert "the number of events of a person" in found.sentence


def test_keys_that_do_not_fit_are_poor(curator: dp.LinkedCurator) -> None:
    """Tables that cannot be joined would be called fit as a pair."""
    found = judge(curator, compare(curator, *views(1)), broken=3)
    assert found.level == "poor"
    assert found.sentence == "Not fit as a pair. Weakest: keys."
    assert "Keys: 3 rows do not fit the other table." in found.reasons


@pytest.mark.parametrize(
    ("kept", "level"), [(0.95, "good"), (0.7, "mixed"), (0.0, "mixed")]
)
def test_events_of_one_person_that_differ_are_said(
    curator: dp.LinkedCurator, kept: float, level: str
) -> None:
    """Stays of a patient in one ward would be drawn in three, without a word."""
    similarity = dataclasses.replace(
        compare(curator, *views(1)),
        within_person=(relation("town", lost=0.4 * (1 - kept), strength=0.4),),
    )
    assert similarity.kept_within_person == pytest.approx(kept)
    good = Verdict(level="good", sentence="Good.")
    found = verdict_of_pair({"people": good, "events": good}, similarity, 0)
    assert found.level == level
    assert ("events of one person" in found.sentence) == (level != "good")
    table = within_person_table(similarity)
    assert table["relation kept"].tolist() == [f"{100 * kept:.0f}\u202f%"]


def test_people_who_are_left_out_are_said(curator: dp.LinkedCurator) -> None:
    """Whoever is missing in an anonymized pair would be missed by nobody."""
    similarity = compare(curator, *views(1))
    good = Verdict(level="good", sentence="Good.")
    halves = {"people": good, "events": good}
    (said,) = [
        reason
        for reason in verdict_of_pair(halves, similarity, 0, 0.02).reasons
        if reason.startswith("Left out: 2")
    ]
    assert said not in verdict_of_pair(halves, similarity, 0).reasons


def test_relations_across_are_listed_worst_first(curator: dp.LinkedCurator) -> None:
    """The relation that is lost would stand below those that are kept."""
    people, events = views(1)
    rng = np.random.default_rng(3)
    similarity = compare(
        curator, people, events.assign(town=rng.permutation(events["town"]))
    )
    table = across_table(similarity)
    pairs = [*zip(table["column of people"], table["column of events"], strict=True)]
    assert pairs[0] == ("sex", "town")
    assert len(pairs) == len(set(pairs)) == 3 * 2
    assert table["relation kept"][0] == "0\u202f%"


def test_broken_links_are_counted(curator: dp.LinkedCurator) -> None:
    """An event of nobody, a person twice or an event too many would not be seen."""
    release = curator.synthesize(dp.ApproxDP(epsilon=8, delta="1e-9"))
    people, events = release.sample(200, seed=0)
    assert count_broken_links(release, people, events) == 0
    assert count_broken_links(release, pd.concat([people, people.head(2)]), events) == 2
    nobody = events.copy()
    nobody.loc[:4, "person"] = [1_000, 1_001, 1_002, 1_003, 1_004]
    assert count_broken_links(release, people, nobody) == 5
    full = events["person"].value_counts().idxmax()
    more = pd.concat([events, events[events["person"] == full]])
    counts = events["person"].value_counts()
    assert count_broken_links(release, people, more) == 2 * counts[full] - MOST


def test_a_column_of_events_alone_has_no_relation_across() -> None:
    """An average of nothing would be a number."""
    people, events = tables(500)
    schema = dataclasses.replace(
        LINKED,
        people=dataclasses.replace(LINKED.people, columns=LINKED.people.columns[:1]),
    )
    alone = opened(schema, of=(people[["id", "age"]], events))
    frame = pd.DataFrame({"age": [1, 2] * 50, "number of events": [1, 2] * 50})
    report = alone.events.evaluate(SimilarityQuestion(table=PublicTable(frame))).content
    assert mean_kept_share(relations_across(report, schema)) is None


def test_means_are_those_of_the_pairs(curator: dp.LinkedCurator) -> None:
    """Columns would be taken for others."""
    report = compare(curator, *views(1)).events
    names = report.marginals.columns
    of_release = report.pair_distances[0]
    by_hand = of_release[names.index("sex"), names.index("pay")]
    assert report.distances_of_pair("sex", "pay")[0] == by_hand
    mean = of_release[names.index("pay")].sum() / (len(names) - 1)
    assert report.relations[0][names.index("pay")] == pytest.approx(mean)


def test_the_printed_verdict_has_both_tables(curator: dp.LinkedCurator) -> None:
    """A printed page would lack a table, or a reason."""
    similarity = compare(curator, *views(1))
    found = judge(curator, similarity, broken=1)
    page = document.evaluation_html(
        "both",
        {
            "People": (curator.people, similarity.people),
            "Events": (curator.events, similarity.events),
        },
        found,
    ).decode()
    assert re.findall(r"<h2>(People|Events)</h2>", page) == ["People", "Events"]
    assert "Not fit as a pair" in page
    assert "Keys: 1 row does not fit" in page
