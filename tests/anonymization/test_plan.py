"""Plans: what they refuse, their JSON, and that applying one gives what it promises."""

from __future__ import annotations

import json
from dataclasses import dataclass, replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dpcore.anonymization._groups import ClassStatistics
from dpcore.anonymization.apply import apply, carry_out
from dpcore.anonymization.closeness import TCloseness
from dpcore.anonymization.fulldomain.metrics import Discernibility, InformationLoss
from dpcore.anonymization.hierarchies import hierarchy as hierarchies
from dpcore.anonymization.hierarchies.builders import build_flat
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.hierarchies.suggest import suggest_hierarchy
from dpcore.anonymization.models import (
    DeltaPresence,
    DistinctL,
    EntropyL,
    KAnonymity,
    KMap,
    PrivacyModel,
    RecursiveCL,
)
from dpcore.anonymization.plan import Plan
from dpcore.errors import (
    DpcoreError,
    HierarchyError,
    InfeasibleError,
    ParameterError,
    ReadError,
    SchemaError,
)
from tests.anonymization.oracle import (
    METRICS,
    MODELS,
    SECRET,
    SECRET_HIERARCHY,
    Case,
    cases,
)
from tests.tiers import examples

often = examples(60, suppress_health_check=list(HealthCheck))


def people(rows: int = 200) -> pd.DataFrame:
    """Invented people: a name, two quasi-identifiers, a diagnosis, a comment."""
    rng = np.random.default_rng(11)
    return pd.DataFrame(
        {
            "name": [f"person {i}" for i in range(rows)],
            "age": rng.integers(20, 80, rows),
            "zip": rng.choice(["33617", "33620", "23620", "23622"], rows),
            "diagnosis": rng.choice(["flu", "cold", "cancer"], rows),
            "comment": "none",
        },
        index=pd.RangeIndex(1000, 1000 + rows),
    )


def plan_for(frame: pd.DataFrame, **changes: object) -> Plan:
    """A plan for these people."""
    first = Plan(
        roles={
            "name": "identifier",
            "age": "quasi-identifier",
            "zip": "quasi-identifier",
            "diagnosis": "sensitive",
            "comment": "insensitive",
        },
        hierarchies={name: suggest_hierarchy(frame[name]) for name in ("age", "zip")},
        models=(KAnonymity(k=5), DistinctL(column="diagnosis", l=2)),
        limit=0.05,
    )
    return replace(first, **changes)


def test_json_gives_the_same_plan_and_the_same_table() -> None:
    """Else a published table cannot be reproduced from its plan."""
    frame = people()
    plan = carry_out(frame, plan_for(frame)).plan
    again = Plan.from_json(plan.to_json())
    assert again == plan
    pd.testing.assert_frame_equal(apply(frame, again), apply(frame, plan))


@pytest.mark.parametrize("model", MODELS, ids=str)
@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: type(metric).__name__)
def test_json_holds_every_model_and_metric(model: object, metric: object) -> None:
    """Else one kind of plan can be made and not read back."""
    plan = Plan(
        roles={"q0": "quasi-identifier", SECRET: "sensitive", "in": "insensitive"},
        hierarchies={"q0": SECRET_HIERARCHY, SECRET: SECRET_HIERARCHY},
        models=(model,),
        metric=metric,
        subset="in",
        node={"q0": 1},
    )
    assert Plan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize("text", ["", "{}", "[]", '{"roles": {}}', "null"])
def test_what_is_no_plan_is_refused(text: str) -> None:
    """Else a wrong file fails with an error nobody can read."""
    with pytest.raises(ReadError, match="another kind of file"):
        Plan.from_json(text)


@pytest.mark.parametrize("levels", ["FM", ["FM", "**"]])
def test_levels_that_are_texts_are_refused(levels: object) -> None:
    """Each sign of a long text would be a value."""
    fields = json.loads(plan_for(people()).to_json())
    fields["hierarchies"] = dict.fromkeys(fields["hierarchies"], levels)
    with pytest.raises(ReadError):
        Plan.from_json(json.dumps(fields))


def test_a_model_that_could_not_be_read_back_is_refused() -> None:
    """Else its table is made, and the plan that made it is lost: its class lacks a
    kind, or has another's.
    """

    @dataclass(frozen=True, kw_only=True)
    class Crowd(PrivacyModel):
        monotone = True

        def violations(self, classes: ClassStatistics) -> np.ndarray:
            return classes.people < 2

    class Stricter(KAnonymity):
        pass

    for model in (Crowd(), Stricter(k=2)):
        with pytest.raises(
            ParameterError, match=r"no registered PrivacyModel; derive .* a `kind`"
        ):
            plan_for(people(), models=(model,))
    with pytest.raises(ReadError, match="another kind of file"):
        Plan.from_json(plan_for(people()).to_json().replace('"k-anonymity"', '"crowd"'))


def test_result_keeps_its_promise() -> None:
    """Else a class below k, or one that reveals a diagnosis, is published; or a name
    is.
    """
    frame = people()
    result = apply(frame, plan_for(frame))
    assert list(result.columns) == ["age", "zip", "diagnosis", "comment"]
    assert result.index.equals(frame.index)
    kept = result[result["age"] != "*"]
    assert kept.groupby(["age", "zip"]).size().min() >= 5
    assert kept.groupby(["age", "zip"])["diagnosis"].nunique().min() >= 2
    starred = (result[["age", "zip"]] == "*").all(axis=1)
    assert starred.sum() <= 0.05 * len(frame)
    pd.testing.assert_series_equal(result["diagnosis"], frame["diagnosis"])


@often
@given(case=cases(with_subset=True), data=st.data())
def test_suppressed_rows_are_those_of_the_search(
    case: Case, data: st.DataObject
) -> None:
    """Else the table that leaves is another one than the one that was scored."""
    frame = case.frame.assign(published=case.subset)
    plan = Plan(
        roles=dict.fromkeys(case.hierarchies, "quasi-identifier")
        | {SECRET: "sensitive"},
        hierarchies=case.hierarchies | {SECRET: SECRET_HIERARCHY},
        models=(KAnonymity(k=2), data.draw(st.sampled_from(MODELS))),
        limit=data.draw(st.sampled_from((0.0, 0.4, 1.0))),
        metric=Discernibility(),
        subset="published",
    )
    try:
        plan = replace(carry_out(frame, plan).plan, suppressed="kept")
    except InfeasibleError:
        return
    result = apply(frame, plan)
    assert len(result) == sum(case.subset)
    names = list(case.hierarchies)
    visible = result[~(result[names] == "*").all(axis=1)]
    assert visible.empty or visible.groupby(names).size().min() >= 2
    for name, hierarchy in case.hierarchies.items():
        labels = set(hierarchy.labels(plan.node[name])) | {"*"}
        assert set(result[name]) <= labels


def test_applying_again_changes_nothing_more() -> None:
    """Else a file that was anonymized before is refused, or its stars count as
    people.
    """
    frame = people()
    plan = plan_for(frame)
    once = apply(frame, plan)
    roles = {name: role for name, role in plan.roles.items() if name != "name"}
    again = replace(
        plan,
        roles=roles,
        hierarchies={name: suggest_hierarchy(once[name]) for name in ("age", "zip")},
    )
    twice = apply(once, again)
    assert ((once["age"] == "*") <= (twice["age"] == "*")).all()


def test_local_methods_obey_the_same_models() -> None:
    """Else a model that was asked for is silently not checked."""
    frame = people()
    for method in ("local recoding", "mondrian"):
        for model in (
            DistinctL(column="diagnosis", l=3),
            EntropyL(column="diagnosis", l=2.5),
            RecursiveCL(column="diagnosis", c=2.0, l=2),
            TCloseness(column="diagnosis", t=0.25),
            TCloseness(column="diagnosis", t=0.25, distance="hierarchical"),
        ):
            plan = plan_for(frame, models=(KAnonymity(k=5), model), method=method)
            words = Hierarchy(
                values=("cancer", "flu", "cold"),
                levels=(
                    ("cancer", "flu", "cold"),
                    ("bad", "light", "light"),
                    ("*",) * 3,
                ),
            )
            plan = replace(
                plan, hierarchies=dict(plan.hierarchies) | {"diagnosis": words}
            )
            result = apply(frame, plan)
            sizes = result.groupby(["age", "zip"]).size()
            assert sizes.min() >= 5
            assert len(sizes) > 1
            counts = (
                result.groupby(["age", "zip"])["diagnosis"]
                .value_counts()
                .unstack(fill_value=0)
            )
            shares = counts.div(counts.sum(axis=1), axis=0)
            whole = frame["diagnosis"].value_counts(normalize=True)
            if isinstance(model, DistinctL):
                assert (counts > 0).sum(axis=1).min() >= 3
            if isinstance(model, TCloseness) and model.distance == "equal":
                assert (shares - whole).abs().sum(axis=1).max() / 2 <= 0.25
            if isinstance(model, TCloseness) and model.distance == "hierarchical":
                gap = shares - whole
                light = gap["flu"] + gap["cold"]
                distance = (
                    gap.abs().sum(axis=1) + light.abs() + gap["cancer"].abs()
                ) / 4
                assert distance.max() <= 0.25 + 1e-12


def test_models_a_method_cannot_check_are_refused() -> None:
    """Else the result claims a model that nobody looked at."""
    frame = people()
    for model in (KMap(k=2), DeltaPresence(lowest=0, highest=1)):
        with pytest.raises(ParameterError, match="full-domain"):
            apply(
                frame,
                plan_for(frame, models=(KAnonymity(k=2), model), method="mondrian"),
            )
        with pytest.raises(ParameterError, match="microaggregation does not check"):
            apply(
                frame,
                plan_for(
                    frame, models=(KAnonymity(k=2), model), method="microaggregation"
                ),
            )


def test_microaggregation_through_a_plan() -> None:
    """Else the fourth method is offered and cannot be applied."""
    frame = people()
    roles = {"name": "identifier", "age": "quasi-identifier", "zip": "insensitive"}
    roles |= {"diagnosis": "insensitive", "comment": "insensitive"}
    plan = plan_for(
        frame,
        roles=roles,
        models=(KAnonymity(k=5),),
        method="microaggregation",
        hierarchies={},
    )
    assert apply(frame, plan).groupby("age").size().min() >= 5


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    [
        ({"roles": {"age": "insensitive"}}, SchemaError, "no quasi-identifier"),
        (
            {"roles": {"age": "quasi-identifier", "word": "undecided"}},
            SchemaError,
            "nobody has decided whether word may be published",
        ),
        ({"roles": {"age": "secret"}}, ParameterError, "no role secret"),
        ({"models": ()}, ParameterError, "needs a privacy model"),
        ({"limit": 2.0}, ParameterError, "limit"),
        ({"hierarchies": {}}, HierarchyError, "age has no hierarchy"),
        ({"models": (DistinctL(column="zip", l=2),)}, SchemaError, "zip has two roles"),
        (
            {"models": (DistinctL(column="comment", l=2),)},
            SchemaError,
            "needs comment to be sensitive",
        ),
        (
            {
                "metric": InformationLoss(),
                "models": (DistinctL(column="nothing", l=2),),
            },
            SchemaError,
            "nothing",
        ),
    ],
    ids=[
        "no quasi",
        "undecided",
        "role",
        "no model",
        "limit",
        "no hierarchy",
        "both roles",
        "insensitive",
        "unknown",
    ],
)
def test_plans_that_make_no_sense_are_refused(
    changes: dict[str, object],
    error: type[DpcoreError],
    message: str,
) -> None:
    """Else the mistake shows up later, or not at all."""
    with pytest.raises(error, match=message):
        plan_for(people(), **changes)


def test_tables_that_do_not_fit_are_refused() -> None:
    """Else a column that nobody thought of is published as it is."""
    frame = people()
    with pytest.raises(SchemaError, match="no role to extra"):
        apply(frame.assign(extra=1), plan_for(frame))
    with pytest.raises(SchemaError, match="no column 'zip'"):
        apply(frame.drop(columns="zip"), plan_for(frame))
    with pytest.raises(InfeasibleError, match="larger than the number of rows"):
        apply(frame.head(3), plan_for(frame))
    with pytest.raises(SchemaError, match="true and false"):
        apply(frame, plan_for(frame, subset="age", models=(KMap(k=2),)))


@pytest.mark.parametrize(
    "words", [(True, False), (1, 0), ("True", "False"), ("ja", "nein"), ("YES", "no")]
)
def test_the_rows_to_be_published_are_marked_in_words(
    words: tuple[object, object],
) -> None:
    """A file has texts: no table that was uploaded could be taken out of its population
    (k-map).
    """
    frame = people()
    marks = [words[place % 2] for place in range(len(frame))]
    made = apply(
        frame.assign(mine=marks), plan_for(frame, subset="mine", models=(KMap(k=2),))
    )
    assert made.index.tolist() == frame.index[::2].tolist()
    with pytest.raises(SchemaError, match="true and false only"):
        apply(frame.assign(mine=["maybe", *marks[1:]]), plan_for(frame, subset="mine"))


def test_nodes_that_do_not_hold_are_refused() -> None:
    """Else an old node is applied to a new table on which it protects nobody."""
    frame = people()
    with pytest.raises(InfeasibleError, match="does not meet"):
        apply(frame, plan_for(frame, node={"age": 0, "zip": 0}))
    with pytest.raises(ParameterError, match="every quasi-identifier"):
        apply(frame, plan_for(frame, node={"age": 0}))
    with pytest.raises(ParameterError, match="every quasi-identifier"):
        apply(frame, plan_for(frame, node={"age": 9, "zip": 0}))


def test_a_question_reads_each_column_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    """For the tuples, and for the rows that are recoded: it was four times, a third of
    a small question.
    """
    read: list[str] = []
    cells = hierarchies._read_cells

    def told(series: pd.Series) -> object:
        read.append(str(series.name))
        return cells(series)

    monkeypatch.setattr(hierarchies, "_read_cells", told)
    frame = pd.DataFrame({"a": list("xxyy"), "b": list("uvuv")})
    plan = Plan(
        roles={"a": "quasi-identifier", "b": "quasi-identifier"},
        hierarchies={name: build_flat(frame[name]) for name in frame},
        models=(KAnonymity(k=2),),
    )
    read.clear()
    assert len(apply(frame, plan)) == 4
    assert sorted(read) == ["a", "a", "b", "b"]
