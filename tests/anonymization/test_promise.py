"""What a table is labelled with: every claim is counted again in the table that leaves,
row by row.

The reader here has the printed rows and who each is about, and knows no plan: classes
are rows that print the same, values are those that are printed, and the distribution of
t-closeness is that of the printed table.
"""

from __future__ import annotations

import dataclasses
import itertools
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest

import dpcore as dp
from dpcore.anonymization.apply import (
    Anonymization,
    carry_out,
    publishable_table,
    publishes_suppressed_rows,
)
from dpcore.anonymization.choices import SUPPRESSED_TREATMENTS, SuppressedTreatment
from dpcore.anonymization.closeness import TCloseness
from dpcore.anonymization.hierarchies.builders import build_flat
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.levels import read_distinct
from dpcore.anonymization.methods import Method
from dpcore.anonymization.models import (
    AverageRisk,
    BetaLikeness,
    DeltaPresence,
    DistinctL,
    EntropyL,
    KAnonymity,
    KMap,
    PrivacyModel,
    RecursiveCL,
)
from dpcore.anonymization.plan import Plan
from dpcore.anonymization.streamed import RowRecoder
from dpcore.engines import base
from dpcore.engines.frame import FrameEngine
from dpcore.errors import InfeasibleError, SchemaError
from dpcore.evaluation.table.residual_risk import ResidualRiskQuestion
from dpcore.evaluation.table.trial import TrialQuestion
from dpcore.schema.source import Source
from tests.anonymization.oracle import MODELS, RISKS, SECRET, SECRET_HIERARCHY
from workbench.anonymize.document import method_sentences
from workbench.report import of_table

OF_SECRET = (
    DistinctL(column=SECRET, l=2),
    EntropyL(column=SECRET, l=1.5),
    RecursiveCL(column=SECRET, c=2.0, l=2),
    TCloseness(column=SECRET, t=0.3),
    TCloseness(column=SECRET, t=0.25),
    TCloseness(column=SECRET, t=0.2, distance="ordered"),
    TCloseness(column=SECRET, t=0.3, distance="hierarchical"),
    BetaLikeness(column=SECRET, beta=0.5),
    BetaLikeness(column=SECRET, beta=1.0),
)
Pairs = set[tuple[object, object]]
"""Whose, and the value."""


def meets(model: object, inside: Pairs, everybody: Pairs) -> bool:
    """Whether a class meets a model, from the textbook."""
    people = len({whose for whose, _ in inside})
    if isinstance(model, KAnonymity | KMap):
        return people >= model.k
    if isinstance(model, DeltaPresence):
        return model.highest >= 1  # the printed table knows no other people
    if isinstance(model, AverageRisk):
        # of one class; see `check` for all
        return Fraction(1, people) <= Fraction(str(model.most))
    counts, total = (
        Counter(value for _, value in pairs) for pairs in (inside, everybody)
    )
    ordered = sorted(counts.values(), reverse=True)
    if isinstance(model, DistinctL):
        return len(counts) >= model.l
    if isinstance(model, EntropyL):
        n = counts.total()
        spread = sum(r * math.log(r) for r in ordered)
        return spread <= n * (math.log(n) - math.log(model.l)) and len(
            counts
        ) >= math.ceil(model.l)
    if isinstance(model, RecursiveCL):
        return ordered[0] < Fraction(str(model.c)) * sum(ordered[model.l - 1 :])
    if isinstance(model, BetaLikeness):
        most = 1 + Fraction(str(model.beta))
        return all(
            Fraction(n, counts.total()) <= most * Fraction(total[v], total.total())
            for v, n in counts.items()
        )
    assert isinstance(model, TCloseness)
    values = (
        SECRET_HIERARCHY.values if model.distance == "hierarchical" else sorted(total)
    )
    gap = {
        v: Fraction(counts[v], counts.total()) - Fraction(total[v], total.total())
        for v in values
    }
    if model.distance == "equal":
        distance = sum(map(abs, gap.values())) / 2
    elif model.distance == "ordered":
        distance = sum(map(abs, itertools.accumulate(gap.values()))) / max(
            len(gap) - 1, 1
        )
    else:
        joined = [gap["a"] + gap["b"], gap["c"] + gap["d"]]
        distance = (sum(map(abs, gap.values())) + sum(map(abs, joined))) / 4
    return distance <= Fraction(str(model.t))


def people_of(frame: pd.DataFrame, rows: Iterable[int], plan: Plan) -> list[object]:
    return [
        row if plan.unit_column is None else frame.at[row, plan.unit_column]
        for row in rows
    ]


def check(
    frame: pd.DataFrame, plan: Plan, made: pd.DataFrame, models: tuple[str, ...]
) -> Counter[str]:
    """Hold every claim against the printed table; how often each kind of claim was
    made.
    """
    kinds: Counter[str] = Counter()
    classes: dict[tuple[str, ...], Pairs] = defaultdict(set)
    rows_of: Counter[tuple[str, ...]] = Counter()
    known = list(plan.quasi_identifiers)
    whose = people_of(frame, made.index, plan)
    for labels, person, value in zip(
        made[known].itertuples(index=False), whose, made[SECRET], strict=True
    ):
        classes[tuple(labels)].add((person, value))
        rows_of[tuple(labels)] += 1
    star = ("*",) * len(known)
    came_so = int((frame.loc[made.index, known] == "*").all(axis=1).sum())
    before = frame[frame["shown"]] if plan.subset else frame
    original = set(
        zip(people_of(frame, before.index, plan), before[SECRET], strict=True)
    )
    for model, text in zip(plan.models, models, strict=True):
        assert text.startswith(str(model))
        said = text.removeprefix(str(model))
        together = re.search(
            r", but for (\d+) suppressed rows that leave as a group of (\d+)$", said
        )
        without = re.search(
            r", but for (\d+) suppressed rows that leave without its values", said
        )
        earlier = ", against the table before rows or values were left out" in said
        assert (" of the research subset" in said) == (
            earlier and plan.subset is not None
        )
        assert bool(said) == bool(together or without or earlier)
        told = dict(classes)
        # the others of this class came with `*` everywhere, and have their values
        if without:
            told[star] = {
                (person, value) for person, value in classes[star] if value != "*"
            }
        told = {labels: pairs for labels, pairs in told.items() if pairs}
        everybody = {pair for pairs in told.values() for pair in pairs}
        held = {
            labels: meets(model, pairs, everybody)
            for labels, pairs in told.items()
            if not (together and labels == star)
        }
        if isinstance(model, KMap | DeltaPresence):
            held = {labels: met for labels, met in held.items() if labels == star}
        if isinstance(model, AverageRisk) and held:
            crowds = [len({person for person, _ in classes[labels]}) for labels in held]
            held = {
                star: Fraction(len(crowds), sum(crowds)) <= Fraction(str(model.most))
            }
        if earlier:
            assert model.compares_with_table
            assert not all(held.values())
            assert all(
                meets(model, classes[labels], original)
                for labels in held
                if labels != star
            )
        else:
            assert all(held.values()), (text, classes)
        if together:
            assert int(together[1]) in (rows_of[star], rows_of[star] - came_so)
            assert int(together[2]) == len({person for person, _ in classes[star]})
            assert not meets(model, classes[star], everybody)
        if without:
            assert int(without[1]) in (rows_of[star], rows_of[star] - came_so)
            assert int(without[1]) == sum(made[SECRET] == "*")
        kinds.update(
            [
                ("together" if together else "without" if without else "")
                + " earlier" * earlier
            ]
        )
    return kinds


def random_case(seed: int) -> tuple[pd.DataFrame, Plan]:
    """A table of up to 40 rows, some of them people's second ones, and demands on
    it.
    """
    rng = np.random.default_rng(seed)
    rows = int(rng.integers(8, 40))
    places = [f"p{i}" for i in range(4)]
    frame = pd.DataFrame(
        {
            "place": rng.choice(places, rows, p=[0.5, 0.3, 0.15, 0.05]).astype(object),
            "age": rng.integers(0, 3, rows).astype(object),
            SECRET: rng.choice([*"abcd"], rows, p=rng.dirichlet(np.ones(4))),
            "who": rng.integers(0, max(4, rows // 2), rows),
            "shown": rng.random(rows) < 0.8,
        },
    )
    # rows that print nothing, as they came: not every `*` was suppressed
    if seed % 7 == 0:
        frame.loc[rng.random(rows) < 0.2, ["place", "age"]] = "*"
    if seed % 3 == 0:
        frame[SECRET] = frame[SECRET].astype("category")
    person = "who" if seed % 2 else None
    subset = "shown" if seed % 5 == 0 else None
    models: list[object] = [KAnonymity(k=int(rng.integers(2, 5)))]
    models += [OF_SECRET[i] for i in rng.choice(len(OF_SECRET), 2, replace=False)]
    method = [*Method.kinds()][seed % 5]
    if method == "full-domain":
        models += [KMap(k=3)] * (seed % 3 == 0) + [
            DeltaPresence(lowest=0, highest=0.9)
        ] * (seed % 5 == 0)
        models += [AverageRisk(most=0.34)] * (seed % 4 == 1)
    trees = {"place": build_flat(places), "age": build_flat(["0", "1", "2"])}
    if any(
        isinstance(model, TCloseness) and model.distance == "hierarchical"
        for model in models
    ):
        models = [
            m
            for m in models
            if not (isinstance(m, TCloseness) and m.distance == "ordered")
        ]
        trees[SECRET] = SECRET_HIERARCHY
    roles = {
        "place": "quasi-identifier",
        "age": "quasi-identifier",
        SECRET: "sensitive",
    }
    roles |= {"who": "identifier" if person else "insensitive", "shown": "insensitive"}
    plan = Plan(
        roles=roles,  # type: ignore[arg-type]
        hierarchies=trees,
        models=tuple(models),  # type: ignore[arg-type]
        limit=float(rng.choice([0.1, 0.3, 1.0])),
        method=Method.of_kind(method)(),
        suppressed=SUPPRESSED_TREATMENTS[seed // 4 % 4],
        person=person,
        subset=subset if method == "full-domain" else None,
    )
    return frame, plan


def test_every_claim_is_met_by_the_table_that_leaves() -> None:
    """A table would be called 5-anonymous that holds a group of two, both with the same
    secret.
    """
    kinds: Counter[str] = Counter()
    claimed: Counter[str] = Counter()
    streamed = twins = 0
    for seed in range(400):
        frame, plan = random_case(seed)
        try:
            made, models = publishable_table(frame, plan)
        except (InfeasibleError, SchemaError):
            continue
        kinds += check(frame, plan, made, models)
        claimed.update(model.kind for model in plan.models)
        demands = tuple(map(str, plan.models))
        if twins < 6 and any(
            " as a group of " in text or ", against" in text for text in models
        ):
            twins += 1
            with pytest.raises(AssertionError):  # twin: the demands as they were made
                check(frame, plan, made, demands)
        if plan.method.searches:
            age = dp.Categorical("age", categories=("0", "1", "2"), other=True)
            schema = dp.Schema(columns=(age,), unit=dp.PrivacyUnit(max_rows=1))
            engine = FrameEngine(frame, schema, key=b"k" * 32)
            assert (
                RowRecoder.from_tuples(read_distinct(engine.tuples, plan), plan).models
                == models
            )
            streamed += 1
    ours = {
        kind
        for kind, each in PrivacyModel.kinds().items()
        if each.__module__.startswith("dpcore.")
    }
    assert set(claimed) == ours & {each.kind for each in (*MODELS, *RISKS)}
    assert min(claimed.values()) > 8, claimed
    assert min(kinds[kind] for kind in ("", "together", "without")) > 15, kinds
    assert kinds[" earlier"] > 0, kinds
    assert streamed > 30
    assert twins == 6


FEW = pd.DataFrame(
    {"q": ["a"] * 98 + ["b"] * 2, "s": ["flu", "cold"] * 49 + ["rare", "rare"]}
)
GROUP = ", but for 2 suppressed rows that leave as a group of 2"
SAID = {
    "kept": ("5-anonymity" + GROUP, "distinct 2-diversity of s" + GROUP),
    "blanked": (
        "5-anonymity" + GROUP,
        (
            "distinct 2-diversity of s, but for 2 suppressed rows that leave without "
            "its "
            "values"
        ),
    ),
    "checked": ("5-anonymity", "distinct 2-diversity of s"),
    "dropped": ("5-anonymity", "distinct 2-diversity of s"),
}


@pytest.mark.parametrize("suppressed", SUPPRESSED_TREATMENTS)
def test_all_that_leaves_says_the_same(
    suppressed: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A folder, a page or the report to sign would promise what the table does not
    keep.
    """
    plan = Plan(
        roles={"q": "quasi-identifier", "s": "sensitive"},
        hierarchies={"q": build_flat(["a", "b"])},
        models=(KAnonymity(k=5), DistinctL(column="s", l=2)),
        limit=0.02,
        suppressed=suppressed,  # type: ignore[arg-type]
    )
    schema = dp.Schema(
        columns=(dp.Categorical("q", categories=("a", "b")),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    FEW.to_parquet(tmp_path / "few.parquet")
    source = Source(name="Few", kind="parquet", location=str(tmp_path / "few.parquet"))
    budget = dp.PureDP(epsilon="1")
    told = []
    for number, table in enumerate((FEW, source)):
        curator = dp.Curator.open(
            table, schema, budget=budget, ledger=dp.MemoryLedger()
        )
        with monkeypatch.context() as patch:
            patch.setattr(base, "MAX_ROWS_IN_MEMORY", 1 if number else len(FEW))
            curator.anonymize_to(tmp_path / f"folder-{number}", plan)
        for file in (tmp_path / f"folder-{number}").glob("*.parquet"):
            told.append(
                json.loads(pq.read_metadata(file).metadata[b"guarantee"])["models"]
            )
    curator = dp.Curator.open(FEW, schema, budget=budget, ledger=dp.MemoryLedger())
    made = curator.anonymize(plan)
    outcome = curator.evaluate(
        ResidualRiskQuestion(plan=Plan.from_json(made.plan))
    ).content
    trial = curator.evaluate(TrialQuestion(plan=plan)).content
    told += [list(made.guarantee.models), list(outcome.models)]
    assert len(told) >= 4
    assert {tuple(models) for models in told} == {SAID[suppressed]}
    smallest = 2 if suppressed in ("kept", "blanked") else 98
    assert outcome.published_side.risk.k == trial.after.risk.k == smallest
    html = of_table.stand_alone_page(made.table, made.guarantee, ()).decode()
    assert (GROUP[2:] in html) == (smallest == 2)
    assert method_sentences(outcome)[0].startswith(
        "; ".join(SAID[suppressed]) + ", counted in "
    )


def test_an_average_risk_holds_for_all_that_leaves_or_is_refused() -> None:
    """Else the groups of a local method, or a suppressed one, lift the average that was
    promised.
    """
    frame = pd.DataFrame({"q": ["a"] * 40 + ["b"] * 3 + ["c", "d"]})
    values = ("a", "b", "c", "d")
    tree = Hierarchy(values=values, levels=(values, ("*",) * 4))
    demand = AverageRisk(most=0.04)

    def made(method: str, suppressed: SuppressedTreatment, k: int) -> Anonymization:
        models = (KAnonymity(k=k), demand)
        plan = Plan(
            roles={"q": "quasi-identifier"},
            hierarchies={"q": tree},
            models=models,
            limit=0.2,
            method=method,  # type: ignore[arg-type]
            suppressed=suppressed,
        )
        return carry_out(frame, plan)

    kept = made("full-domain", "kept", 2)
    # 2 of 45 is above 4 %
    assert kept.frame["q"].value_counts().to_dict() == {"a": 40, "*": 5}
    assert (
        kept.models[1]
        == f"{demand}, but for 5 suppressed rows that leave as a group of 5"
    )
    assert made("full-domain", "dropped", 2).models[1] == str(demand)
    with pytest.raises(InfeasibleError, match="raise k"):
        made("mondrian", "dropped", 2)
    assert made("mondrian", "dropped", 26).models == ("26-anonymity", str(demand))


def test_a_row_that_came_with_a_star_in_every_column_was_not_suppressed() -> None:
    """Ten people whose cells are `*` in the file would be dropped, or lose their
    values.
    """
    schema = dp.Schema(
        columns=(dp.Categorical("q", categories=("a", "b"), other=True),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    for stars, stay in ((10, True), (3, False)):
        frame = pd.DataFrame(
            {
                "q": ["*"] * stars + ["a"] * 20 + ["b"],
                "s": ["x", "y"] * 10 + ["x"] * (stars + 1),
            },
        )
        for suppressed in ("dropped", "blanked"):
            plan = Plan(
                roles={"q": "quasi-identifier", "s": "sensitive"},
                hierarchies={"q": build_flat(["a", "b"])},
                models=(KAnonymity(k=5), DistinctL(column="s", l=1)),
                limit=0.2,
                suppressed=suppressed,  # type: ignore[arg-type]
                node={"q": 0},
            )
            made, models = publishable_table(frame, plan)
            hidden = 1 if stay else 1 + stars
            if suppressed == "dropped":
                assert made["q"].value_counts().to_dict() == (
                    {"a": 20, "*": 10} if stay else {"a": 20}
                )
                assert models == tuple(map(str, plan.models))
            else:
                assert (made["s"] == "*").sum() == hidden
                assert models[1].endswith(
                    f"but for {hidden} suppressed rows that leave without its values"
                )
            engine = FrameEngine(frame, schema, key=b"k" * 32)
            recoding = RowRecoder.from_tuples(read_distinct(engine.tuples, plan), plan)
            streamed = recoding(frame)
            assert recoding.models == models
            assert recoding.row_count == len(made) == len(streamed)
            assert (
                streamed.sort_index().astype(str).equals(made.sort_index().astype(str))
            )


def test_ranks_of_a_subset_are_those_of_its_own_values() -> None:
    """Values that only others have would lie between those of the subset, and make all
    distances smaller.
    """
    frame = pd.DataFrame(
        {
            "q": ["g", "g", "h", "h", "h"],
            "s": [1, 1, 9, 5, 6],
            "shown": [True, True, True, False, False],
        },
    )
    roles = {"q": "quasi-identifier", "s": "sensitive", "shown": "insensitive"}
    # of 1, 1, 9: a third of the people are one rank off
    for t, met in ((0.34, True), (0.3, False)):
        plan = Plan(
            roles=roles,  # type: ignore[arg-type]
            hierarchies={"q": build_flat(["g", "h"])},
            models=(KAnonymity(k=1), TCloseness(column="s", t=t, distance="ordered")),
            limit=0.4,
            subset="shown",
            suppressed="dropped",
            node={"q": 0},
        )
        try:
            made, models = publishable_table(frame, plan)
        except InfeasibleError:
            assert not met
            continue
        assert met
        assert made["q"].tolist() == ["g", "g"]
        # alone, the two are the whole table; beside h, 1/3 off
        assert models[1] == str(plan.models[1])


@pytest.mark.parametrize(
    "method", ["full-domain", "local recoding", "cell suppression"]
)
def test_left_out_rows_keep_to_the_limit(method: str) -> None:
    """Six different rows at limit 0 would all vanish, though a group of `*` meets k."""
    frame = pd.DataFrame({"q": list("abcdef"), "s": [1, 2, 3, 4, 5, 6]})
    plan = Plan(
        roles={"q": "quasi-identifier", "s": "insensitive"},
        hierarchies={"q": build_flat(list("abcdef"))},
        models=(KAnonymity(k=3),),
        limit=0.0,
        suppressed="dropped",
        method=Method.of_kind(method)(),
    )
    made, models = publishable_table(frame, plan)
    assert made["q"].tolist() == ["*"] * 6
    assert models == ("3-anonymity",)
    # where the limit allows it, they are left out as before
    within, _models = publishable_table(frame, dataclasses.replace(plan, limit=1.0))
    assert len(within) in (0, 6)


def test_rows_within_the_limit_are_left_out() -> None:
    """The choice would do nothing: a rare row would be published."""
    frame = pd.DataFrame({"q": ["a"] * 9 + ["b"]})
    plan = Plan(
        roles={"q": "quasi-identifier"},
        hierarchies={"q": build_flat(["a", "b"])},
        models=(KAnonymity(k=3),),
        limit=0.1,
        suppressed="dropped",
    )
    made, _models = publishable_table(frame, plan)
    assert made["q"].tolist() == ["a"] * 9


def test_a_group_over_the_limit_that_fails_a_model_is_refused() -> None:
    """More rows than the limit would be left out in silence, or a secret be published."""
    frame = pd.DataFrame({"q": list("aabbc"), "s": ["x", "y", "x", "x", "x"]})
    plan = Plan(
        roles={"q": "quasi-identifier", "s": "sensitive"},
        hierarchies={"q": build_flat(["a", "b", "c"])},
        models=(KAnonymity(k=2), DistinctL(column="s", l=2)),
        limit=0.3,
        suppressed="dropped",
    )
    inputs = carry_out(
        frame, dataclasses.replace(plan, limit=1.0, node={"q": 0})
    ).inputs
    few = dataclasses.replace(inputs, plan=plan)
    hidden = (frame["q"] != "a").to_numpy()
    with pytest.raises(InfeasibleError, match="more rows would be left out") as raised:
        publishes_suppressed_rows(few, hidden, hidden)
    assert "limit" in raised.value.remedy
    assert not publishes_suppressed_rows(inputs, hidden, hidden)
