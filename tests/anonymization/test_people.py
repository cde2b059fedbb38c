"""People, not rows: no group below k people by any method, and no secret in a group
that hides nobody.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.anonymization.apply import apply
from dpcore.anonymization.choices import SUPPRESSED_TREATMENTS
from dpcore.anonymization.fulldomain.search import find_optimal_node
from dpcore.anonymization.fulldomain.tuples import Tuples
from dpcore.anonymization.hierarchies.builders import build_flat
from dpcore.anonymization.hierarchies.suggest import suggest_hierarchy
from dpcore.anonymization.methods import Method
from dpcore.anonymization.models import DistinctL, EntropyL, KAnonymity
from dpcore.anonymization.partition.microaggregation import microaggregate
from dpcore.anonymization.plan import Plan
from dpcore.errors import InfeasibleError, LimitError, SchemaError
from dpcore.evaluation.table.audit import AuditQuestion
from dpcore.evaluation.table.trial import TrialQuestion
from dpcore.tables.rows import Microdata
from tests.anonymization.oracle import gate
from workbench import samples

KNOWN = ("zip", "birth_date", "sex")
WHOSE = "patient_id"


@pytest.fixture(scope="module")
def hospital() -> pd.DataFrame:
    return next(sample for sample in samples.SAMPLES if sample.id_column).build()


def plan_for(frame: pd.DataFrame, **changes: object) -> Plan:
    """5-anonymity of the hospital sample, people counted."""
    roles = dict.fromkeys(frame.columns, "insensitive") | dict.fromkeys(
        KNOWN, "quasi-identifier"
    )
    roles |= {WHOSE: "identifier", "name": "identifier", "diagnosis": "sensitive"}
    plan = Plan(
        roles=roles,
        hierarchies={name: suggest_hierarchy(frame[name]) for name in KNOWN},
        models=(KAnonymity(k=5),),
        limit=0.02,
        person=WHOSE,
    )
    return replace(plan, **changes)


def fewest(frame: pd.DataFrame, made: pd.DataFrame, *columns: str) -> int:
    """People of the smallest group of the table that was made, suppressed rows and
    all.
    """
    groups = frame.loc[made.index, WHOSE].groupby(
        [made[name] for name in columns or KNOWN]
    )
    return int(groups.nunique().min())


@pytest.mark.parametrize("limit", [0.0, 0.02])
@pytest.mark.parametrize("method", ["full-domain", "local recoding", "mondrian"])
def test_no_group_of_the_hospital_sample_has_fewer_people_than_k(
    hospital: pd.DataFrame,
    method: str,
    limit: float,
) -> None:
    """35 of 180 groups had fewer than five people, and 1,870 rows were one patient
    each, under a green box (PEOPLE D1).
    """
    assert (
        fewest(
            hospital, apply(hospital, plan_for(hospital, method=method, limit=limit))
        )
        >= 5
    )


def test_microaggregation_counts_people(hospital: pd.DataFrame) -> None:
    """Five visits of one patient would be a cluster, with the mean of that patient."""
    hospital = hospital.assign(cost=hospital["cost"].fillna(0))
    roles = dict.fromkeys(hospital.columns, "insensitive") | {
        "cost": "quasi-identifier"
    }
    plan = plan_for(hospital, roles=roles, method="microaggregation", hierarchies={})
    assert fewest(hospital, apply(hospital, plan), "cost") >= 5


@pytest.mark.parametrize("method", ["full-domain", "local recoding", "mondrian"])
def test_l_counts_people_too(hospital: pd.DataFrame, method: str) -> None:
    """A value that one patient has five times would count as held by five."""
    models = (
        KAnonymity(k=5),
        DistinctL(column="diagnosis", l=2),
        EntropyL(column="diagnosis", l=1.5),
    )
    made = apply(hospital, plan_for(hospital, models=models, limit=0.1, method=method))
    held = made.assign(whose=hospital[WHOSE]).drop_duplicates(
        [*KNOWN, "whose", "diagnosis"]
    )
    shares = held.groupby(list(KNOWN))["diagnosis"].value_counts(normalize=True)
    entropy = -(shares * np.log(shares)).groupby(level=list(range(len(KNOWN)))).sum()
    assert entropy.min() >= np.log(1.5) - 1e-9


def test_audit_and_trial_give_the_same_number(hospital: pd.DataFrame) -> None:
    """One page said 99 % of people are unique, the next 19 % of rows."""
    unit = dp.PrivacyUnit(max_rows=3, id_column=WHOSE)
    schema = dp.Schema(
        columns=(dp.Categorical("sex", categories=("F", "M")),), unit=unit
    )
    audit = AuditQuestion(quasi_identifiers=KNOWN, sensitive=("diagnosis",)).compute(
        Microdata(hospital), schema
    )
    trial = TrialQuestion(plan=plan_for(hospital, person=None)).compute(
        Microdata(hospital), schema
    )
    assert trial.before.risk.uniques == audit.risk.uniques
    assert trial.before.secret_risks["diagnosis"] == audit.secrets["diagnosis"]
    assert trial.after.risk.k == trial.quality.k >= 5
    assert trial.plan.person == WHOSE


def test_the_limit_counts_people_who_lose_a_row() -> None:
    """One person with many rows would use up the share of everybody, or a share of rows
    hide many people.
    """
    frame = pd.DataFrame(
        {"q": ["a"] * 50 + ["b"] * 50, "id": [0] * 50 + list(range(1, 51))}
    )
    table = Tuples.build(frame, {"q": build_flat(["a", "b"])}, person="id")
    found = find_optimal_node(table, [KAnonymity(k=2)], limit=0.02)
    assert (found.node, found.suppressed_rows, found.suppressed_people) == ((0,), 50, 1)
    assert find_optimal_node(table, [KAnonymity(k=2)], limit=0.01).node == (1,)


def test_the_curator_counts_people_whatever_the_plan_says(
    hospital: pd.DataFrame,
) -> None:
    """A plan without the id column would publish groups of one patient."""
    unit = dp.PrivacyUnit(max_rows=3, id_column=WHOSE)
    schema = dp.Schema(
        columns=(dp.Categorical("department", categories=("none",), other=True),),
        unit=unit,
    )
    curator = dp.Curator.open(
        hospital, schema, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    made = curator.anonymize(plan_for(hospital, person=None))
    assert Plan.from_json(made.plan).person == WHOSE
    assert made.guarantee.unit == "people"


def few_suppressed() -> pd.DataFrame:
    """98 people who look alike, and two who do not."""
    return pd.DataFrame(
        {"q": ["a"] * 98 + ["b"] * 2, "s": ["flu", "cold"] * 49 + ["rare", "rare"]}
    )


def of_few(**changes: object) -> Plan:
    plan = Plan(
        roles={"q": "quasi-identifier", "s": "sensitive"},
        hierarchies={"q": build_flat(["a", "b"])},
        models=(KAnonymity(k=5),),
        limit=0.02,
    )
    return replace(plan, **changes)


def test_suppressed_rows_do_not_keep_their_secret_in_a_group_below_k() -> None:
    """In 52 of 180 samples of Adult the suppressed rows were fewer than k, their
    secrets printed.
    """
    frame = few_suppressed()
    made = {how: apply(frame, of_few(suppressed=how)) for how in SUPPRESSED_TREATMENTS}
    assert of_few().suppressed == "checked"
    assert [len(made[how]) for how in SUPPRESSED_TREATMENTS] == [98, 98, 100, 100]
    assert set(made["blanked"].tail(2)["s"]) == {"*"}
    assert set(made["kept"].tail(2)["s"]) == {"rare"}
    assert "rare" not in set(made["checked"]["s"]) | set(made["dropped"]["s"])


def test_a_suppressed_group_that_meets_the_models_is_published() -> None:
    """Rows would be lost for nothing."""
    frame = pd.DataFrame(
        {
            "q": ["a"] * 95 + ["b", "c", "d", "e", "f"],
            "s": ["flu", "cold"] * 47 + ["flu"] + list("uvwxy"),
        },
    )
    trees = {"q": build_flat(list("abcdef"))}
    assert len(apply(frame, of_few(hierarchies=trees, limit=0.05))) == 100
    strict = (KAnonymity(k=5), DistinctL(column="s", l=2))
    assert (
        len(apply(frame, of_few(hierarchies=trees, limit=0.05, models=strict))) == 100
    )
    frame.loc[95:, "s"] = "flu"
    assert len(apply(frame, of_few(hierarchies=trees, limit=0.05, models=strict))) == 95


def test_everything_suppressed_is_an_answer() -> None:
    """A limit of 100 % with k above the number of people was refused where a plan
    keeps suppressed rows, as ARX does; without them the table would be empty.
    """
    frame = few_suppressed()
    assert (
        apply(frame, of_few(models=(KAnonymity(k=200),), limit=1.0, suppressed="kept"))[
            "q"
        ]
        == "*"
    ).all()
    for limit in (0.5, 1.0):
        with pytest.raises(InfeasibleError, match="larger than the number of rows"):
            apply(frame, of_few(models=(KAnonymity(k=200),), limit=limit))


@pytest.mark.parametrize(
    "method", ["full-domain", "local recoding", "cell suppression", "mondrian"]
)
def test_fewer_rows_than_k_are_refused_alike(method: str) -> None:
    """One of the methods returned an empty table."""
    plan = of_few(models=(KAnonymity(k=5),), limit=1.0, method=method)
    with pytest.raises(InfeasibleError, match="larger than the number of rows"):
        apply(few_suppressed().head(3), plan)


def test_models_on_a_column_of_many_values_take_little_memory() -> None:
    """60,000 rows with 42,000 different incomes asked for 12 GB."""
    rows = 60_000
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {f"q{j}": rng.integers(0, 12, rows).astype(str) for j in range(4)}
    )
    frame["income"] = rng.integers(0, 42_000, rows)
    table = Tuples.build(
        frame,
        {f"q{j}": suggest_hierarchy(frame[f"q{j}"]) for j in range(4)},
        sensitive=["income"],
    )
    for model in (DistinctL(column="income", l=2), EntropyL(column="income", l=2)):
        assert (
            find_optimal_node(
                table, [KAnonymity(k=5), model], limit=0.02
            ).suppressed_people
            <= 1200
        )


def test_leaves_that_do_not_occur_need_no_bits() -> None:
    """Eight columns were refused because their hierarchy files list values that the
    table lacks.
    """
    values = [f"{i:04d}" for i in range(5_000)]
    tree = build_flat(values)
    frame = pd.DataFrame({f"q{j}": values[:40] * 3 for j in range(8)})
    assert (
        find_optimal_node(
            Tuples.build(frame, dict.fromkeys(frame, tree)), [KAnonymity(k=3)]
        ).node
        == (0,) * 8
    )


def test_people_with_too_many_different_rows_are_refused_in_words(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """2 ** n corrections for somebody with n rows would take all memory."""
    monkeypatch.setattr("dpcore.anonymization.fulldomain._people.MAX_CORRECTIONS", 100)
    rng = np.random.default_rng(8)
    frame = pd.DataFrame(
        {f"q{j}": rng.integers(0, 50, 200).astype(str) for j in range(5)}
    )
    frame["id"] = np.arange(200) % 10
    trees = {
        name: suggest_hierarchy(frame[name]) for name in frame.columns if name != "id"
    }
    with pytest.raises(LimitError, match="too many different rows"):
        find_optimal_node(
            Tuples.build(frame, trees, person="id"), [KAnonymity(k=2)], limit=0.05
        )


def test_mdav_does_not_follow_the_order_of_the_rows() -> None:
    """190 of 200 small tables of whole numbers changed when their rows were
    shuffled.
    """
    for seed in range(60):
        rng = np.random.default_rng(seed)
        frame = pd.DataFrame(
            {
                "x": rng.integers(0, 4, 30),
                "y": rng.integers(0, 4, 30),
                "s": np.arange(30),
            }
        )
        shuffled = frame.sample(frac=1, random_state=seed)
        one = microaggregate(frame, ["x", "y"], gate=gate(frame, 3))
        back = microaggregate(shuffled, ["x", "y"], gate=gate(shuffled, 3))
        two = pd.Series(back, shuffled.index).sort_index()
        assert pd.Series(one).groupby(two.to_numpy()).nunique().eq(1).all()
        assert len(set(one)) == len(set(two))


def test_methods_say_what_they_need() -> None:
    """A page would ask for hierarchies that nobody reads, or offer suppression that is
    ignored.
    """
    needs = {
        name for name, method in Method.kinds().items() if method.needs_hierarchies
    }
    assert needs == {"full-domain", "local recoding", "cell suppression"}
    assert [name for name, method in Method.kinds().items() if method.searches] == [
        "full-domain"
    ]
    assert [
        name for name, method in Method.kinds().items() if method.groups_row_by_row
    ] == [
        "local recoding",
        "cell suppression",
        "mondrian",
    ]


def homes(frame: pd.DataFrame) -> pd.DataFrame:
    """Every three patients live together; one family shares all that others may
    know.
    """
    codes = pd.factorize(frame[WHOSE], sort=True)[0]
    frame = frame.assign(home=codes // 3, cost=frame["cost"].fillna(0))
    family = frame["home"].isin([0, 1])
    return frame.assign(
        zip=frame["zip"].mask(family, "99999"),
        birth_date=frame["birth_date"].mask(family, "1950-01-01"),
    )


@pytest.mark.parametrize(
    "method", ["full-domain", "local recoding", "mondrian", "microaggregation"]
)
def test_groups_count_households(hospital: pd.DataFrame, method: str) -> None:
    """A group of five people of one family is found with any of them, and was called
    5-anonymous.
    """
    frame = homes(hospital)
    plan = plan_for(frame, household="home", method=method)
    if method == "microaggregation":
        roles = dict.fromkeys(frame.columns, "insensitive") | {
            "cost": "quasi-identifier"
        }
        plan = plan_for(
            frame, household="home", method=method, roles=roles, hierarchies={}
        )
    assert plan.counted_unit == "households"
    made = apply(frame, plan)
    assert "home" not in made.columns
    assert WHOSE not in made.columns
    known = list(plan.quasi_identifiers)
    groups = frame.loc[made.index, "home"].groupby([made[name] for name in known])
    assert int(groups.nunique().min()) >= 5
    unit = dp.PrivacyUnit(max_rows=5, id_column=WHOSE)
    schema = dp.Schema(
        columns=(dp.Categorical("sex", categories=("F", "M")),), unit=unit
    )
    report = TrialQuestion(plan=plan).compute(Microdata(frame), schema)
    assert (
        report.after.risk.people == frame["home"].nunique()
        or report.quality.suppressed_row_share
    )
    assert report.quality.k >= 5
    if method == "mondrian":  # the household is dropped: nobody is unique by it
        without = {name: role for name, role in plan.roles.items() if name != "home"}
        other = TrialQuestion(plan=replace(plan, roles=without)).compute(
            Microdata(frame), schema
        )
        assert report.after.uniques_with_others == other.after.uniques_with_others


def test_the_curator_keeps_the_household_and_says_so(hospital: pd.DataFrame) -> None:
    """The id column of the schema took the household's place, or the table said that it
    counts people.
    """
    frame = homes(hospital)
    schema = dp.Schema(
        columns=(dp.Categorical("department", categories=("none",), other=True),),
        unit=dp.PrivacyUnit(max_rows=20, id_column=WHOSE),
    )
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    made = curator.anonymize(plan_for(frame, household="home", person=None))
    assert made.guarantee.unit == "households"
    assert Plan.from_json(made.plan).household == "home"
    assert "home" not in made.table.frame


def test_households_that_make_no_sense_are_refused(hospital: pd.DataFrame) -> None:
    """A person of two households would be two of the k."""
    frame = homes(hospital)
    with pytest.raises(SchemaError, match="two households"):
        apply(frame.assign(home=range(len(frame))), plan_for(frame, household="home"))
    with pytest.raises(SchemaError, match="two roles"):
        apply(frame, plan_for(frame, household=WHOSE))
    with pytest.raises(SchemaError, match="two roles"):
        plan_for(frame, household="zip")
    with pytest.raises(SchemaError, match="no column"):
        apply(frame, plan_for(frame, household="house"))
    with pytest.raises(InfeasibleError, match="households"):
        apply(frame.assign(home=1), plan_for(frame, household="home"))
