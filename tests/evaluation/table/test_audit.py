"""The audit: figures by brute force, people with several rows, suppressed rows, and
what it refuses.
"""

from __future__ import annotations

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from dpcore.errors import ParameterError, SchemaError
from dpcore.evaluation.table.audit import MAX_SET_COLUMNS, AuditQuestion, AuditReport
from dpcore.risk.column_sets import max_set_size
from dpcore.risk.uniqueness import (
    pitman_uniqueness,
    shifted_binomial_uniqueness,
    zayatz_uniqueness,
)
from dpcore.schema import Integer, PrivacyUnit, Schema
from dpcore.tables.classes import equivalence_classes
from dpcore.tables.rows import Microdata

NAMES = ("age", "sex", "zip")


def people(rows: int = 60) -> pd.DataFrame:
    """Invented people."""
    rng = np.random.default_rng(3)
    return pd.DataFrame(
        {
            "id": [f"p{i // 2}" for i in range(rows)],
            "age": rng.integers(20, 30, rows),
            "sex": rng.choice(["F", "M"], rows),
            "zip": rng.choice(["33617", "33620", None], rows),
            "disease": rng.choice(["flu", "cold"], rows),
        },
    )


def audit(
    frame: pd.DataFrame, *, person: str | None = None, **asked: object
) -> AuditReport:
    unit = PrivacyUnit(max_rows=2, id_column=person)
    schema = Schema(columns=(Integer("age", low=0, high=99, bin_width=1),), unit=unit)
    return AuditQuestion(**{"quasi_identifiers": NAMES, **asked}).compute(
        Microdata(frame), schema
    )


def uniques(frame: pd.DataFrame, names: tuple[str, ...]) -> float:
    """Share of rows that no other row is like, counted one by one."""
    rows = list(
        frame[list(names)].astype(object).fillna("?").itertuples(index=False, name=None)
    )
    seen = Counter(rows)
    return sum(seen[row] == 1 for row in rows) / len(rows)


def test_figures_are_those_of_a_count_by_hand() -> None:
    """The verdict would be about another table."""
    frame = people()
    found = audit(frame, sensitive=("disease",), others=("id",))
    assert found.people == 60
    assert found.risk.uniques == pytest.approx(uniques(frame, NAMES))
    sets = {each.columns: each.uniques for each in found.column_sets}
    for size in (1, 2, 3):
        for names in combinations(NAMES, size):
            assert sets[names] == pytest.approx(uniques(frame, names))
    assert [each.uniques for each in found.column_sets] == sorted(
        sets.values(), reverse=True
    )
    for name in NAMES:
        rest = tuple(each for each in NAMES if each != name)
        assert found.uniques_after_change[name] == pytest.approx(uniques(frame, rest))
    assert found.uniques_after_change["id"] == pytest.approx(
        uniques(frame, (*NAMES, "id"))
    )
    assert found.secrets["disease"].distinct_l == 1
    assert found.suppressed == 0


def test_a_person_with_several_rows_is_one_person() -> None:
    """Two visits of one patient would hide each other, and nobody would look unique."""
    frame = pd.DataFrame(
        {"id": ["a", "a", "b"], "age": [30, 30, 40], "sex": "F", "zip": "1"}
    )
    found = audit(frame, person="id")
    assert (found.people, found.risk.uniques) == (2, 1.0)
    assert found.uniques_after_change["age"] == 0
    assert audit(frame).risk.uniques == pytest.approx(1 / 3)


def several(seed: int) -> pd.DataFrame:
    """Ten people with nine rows that all of them have and one of their own, among
    others.
    """
    rng = np.random.default_rng(seed)
    shared = [(f"p{i}", 30 + row, "F", "1") for i in range(10) for row in range(9)]
    own = [(f"p{i}", 60 + i, "F", "1") for i in range(10)]
    others = [
        (f"q{i // 3}", int(rng.integers(20, 26)), "FM"[i % 2], "12"[i % 3 % 2])
        for i in range(30)
    ]
    frame = pd.DataFrame(
        shared + own + (others if seed else []), columns=["id", "age", "sex", "zip"]
    )
    return frame.sample(frac=1, random_state=seed).reset_index(drop=True)


def unique_people(frame: pd.DataFrame, names: list[str]) -> float:
    """Share of people with a combination that nobody else has, person by person."""
    holders = frame.groupby(names)["id"].unique()
    return len({each[0] for each in holders if len(each) == 1}) / frame["id"].nunique()


@pytest.mark.parametrize("seed", range(4))
def test_shares_of_people_are_shares_of_people(seed: int) -> None:
    """Ten people of whom each has a row of their own were said to be 10 % unique: one
    of ten rows.
    """
    frame = several(seed).assign(disease="flu", other="x")
    found = audit(frame, person="id", sensitive=("disease",), others=("other",))
    assert found.people == found.risk.people == frame["id"].nunique()
    assert found.risk.uniques == pytest.approx(unique_people(frame, list(NAMES)))
    assert seed or found.risk.uniques == found.risk.above == found.risk.average == 1.0
    for each in found.column_sets:
        assert each.uniques == pytest.approx(unique_people(frame, list(each.columns)))
    assert found.uniques_after_change["zip"] == pytest.approx(
        unique_people(frame, ["age", "sex"])
    )
    assert found.uniques_after_change["other"] == found.risk.uniques
    assert found.secrets["disease"].homogeneous_people == 1.0
    # the twin: where each row is a person, shares are of rows
    rows = frame.assign(id=range(len(frame)))
    assert audit(frame).risk.uniques == pytest.approx(unique_people(rows, list(NAMES)))
    assert seed or audit(frame).risk.uniques == pytest.approx(0.1)


def test_the_population_is_compared_with_people() -> None:
    """Ten people with a hundred rows were refused as more than a town of fifty, or one
    of nine was taken.
    """
    found = audit(several(0), person="id", population=50)
    assert (found.people, found.appearances) == (10, 100)
    assert all(
        0 <= share <= 1
        for share in (found.estimates.uniques, found.estimates.marketer_risk)
    )
    with pytest.raises(ParameterError, match="number of people"):
        audit(several(0), person="id", population=9)


def test_people_of_changed_columns_are_counted_anew() -> None:
    """A person who moved would count twice where the zip is not known."""
    frame = pd.DataFrame(
        {
            "id": ["a", "a", "b"],
            "age": [30, 30, 30],
            "sex": ["F", "F", "M"],
            "zip": list("123"),
        },
    )
    assert audit(frame, person="id").uniques_after_change["zip"] == 1.0


def test_suppressed_rows_say_nothing() -> None:
    """In a file that was anonymized before, one suppressed row would be reported as a
    unique person.
    """
    frame = pd.DataFrame(
        {"age": ["20-29"] * 4 + ["*"], "sex": list("FFFF*"), "zip": ["1"] * 4 + ["*"]}
    )
    found = audit(frame)
    assert (found.people, found.risk.k, found.risk.uniques) == (4, 4, 0.0)
    assert found.suppressed == pytest.approx(0.2)


def test_a_row_with_some_stars_still_counts() -> None:
    """A row of which only the zip is hidden would be taken for a suppressed one."""
    frame = pd.DataFrame(
        {"age": [20, 20, 30], "sex": list("FFM"), "zip": ["1", "1", "*"]}
    )
    found = audit(frame)
    assert (found.people, found.suppressed) == (3, 0.0)
    assert found.risk.uniques == pytest.approx(1 / 3)


def test_linkage_and_population_are_there_when_asked_for() -> None:
    """An attacker's list would be read and ignored."""
    frame = people()
    listed = frame[["age", "sex"]].head(10).assign(name="n")
    found = audit(frame, attacker=listed, population=10_000)
    assert found.linkage.people == 10
    assert found.linkage.matched_people == 10
    assert all(
        0 <= share <= 1
        for share in (found.estimates.uniques, found.estimates.marketer_risk)
    )
    assert audit(frame).linkage is None
    assert audit(frame, attacker=pd.DataFrame({"other": [1]})).linkage is None


@pytest.mark.parametrize("rows", [1, 5])
def test_one_row_and_constant_columns(rows: int) -> None:
    """The smallest tables would end in a division by zero."""
    found = audit(
        pd.DataFrame(
            {"age": [30] * rows, "sex": "F", "zip": [None] * rows, "disease": "flu"}
        )
    )
    assert (found.risk.k, found.risk.uniques) == (rows, float(rows == 1))


@pytest.mark.parametrize(
    ("asked", "error", "message"),
    [
        ({"quasi_identifiers": ()}, ParameterError, "no quasi-identifier"),
        ({"quasi_identifiers": ("height",)}, SchemaError, "no column 'height'"),
        ({"sensitive": ("height",)}, SchemaError, "no column 'height'"),
        ({"sensitive": ("age",)}, SchemaError, "age has two roles at once"),
        ({"threshold": 0.0}, ParameterError, "threshold"),
    ],
)
def test_what_makes_no_sense_is_refused(
    asked: dict, error: type[Exception], message: str
) -> None:
    """A wrong question would get an answer."""
    with pytest.raises(error, match=message):
        audit(people(), **asked)


def test_a_table_without_a_visible_row_is_refused() -> None:
    """Shares of nobody would be shown as 0 %: perfectly safe."""
    with pytest.raises(SchemaError, match="every row is suppressed"):
        audit(pd.DataFrame({"age": ["*"], "sex": ["*"], "zip": ["*"]}))


def test_an_estimate_is_of_the_model_that_can_be_trusted() -> None:
    """Two estimates stood side by side, .87 and .99, without a word which holds."""
    frame = people().drop(columns="id")
    classes = equivalence_classes(frame, NAMES)
    small = audit(frame, population=10_000).estimates
    large = audit(frame, population=300).estimates
    assert (small.model, large.model) == ("Pitman", "SNB")
    assert small.uniques == pitman_uniqueness(classes, population=10_000)
    assert large.uniques == shifted_binomial_uniqueness(classes, population=300)
    assert large.uniques < zayatz_uniqueness(classes, population=300)
    everybody = audit(frame, population=len(frame)).estimates
    assert (everybody.model, everybody.uniques) == ("Zayatz", audit(frame).risk.uniques)
    # no class of two people
    pairs = pd.DataFrame({"age": [1, 1, 1, 2], "sex": "F", "zip": "1"})
    assert audit(pairs, population=1_000).estimates.model == "Zayatz"


def test_journalist_and_marketer_are_expected_over_the_population() -> None:
    """They were the prosecutor by another name, however large the population was said
    to be.
    """
    frame = pd.DataFrame({"age": [1] * 3 + [2], "sex": "F", "zip": "1"})
    found = audit(frame, population=40)

    def expected(people: int) -> float:
        """The mean of 1 / F of the negative binomial law of F, added up."""
        share = 0.1
        return sum(
            math.comb(size - 1, people - 1)
            * share**people
            * (1 - share) ** (size - people)
            / size
            for size in range(people, 2_000)
        )

    assert found.estimates.journalist_risk == pytest.approx(expected(1))
    assert found.estimates.marketer_risk == pytest.approx(
        (3 * expected(3) + expected(1)) / 4
    )
    assert found.risk.highest == 1.0
    assert found.estimates.k_map == 1
    assert audit(pd.concat([frame] * 4), population=160).estimates.k_map > 4
    everybody = audit(frame, population=4)
    assert everybody.estimates.k_map == 1
    assert everybody.estimates.marketer_risk == pytest.approx(everybody.risk.average)


def test_a_list_of_the_population_is_the_population() -> None:
    """A list was uploaded, and the journalist stayed the prosecutor."""
    frame = people().drop(columns="id")
    listed = pd.concat([frame, frame, frame.head(20)])[[*NAMES]]
    found = audit(frame, attacker=listed).list_risk
    crowd = listed.astype(object).fillna("?").value_counts()
    risks = [
        1 / crowd[row]
        for row in frame[[*NAMES]]
        .astype(object)
        .fillna("?")
        .itertuples(index=False, name=None)
    ]
    assert found.marketer == pytest.approx(np.mean(risks))
    assert found.journalist == pytest.approx(max(risks))
    assert audit(frame, attacker=listed[["age"]]).list_risk is None


@pytest.mark.parametrize(
    ("columns", "largest"), [(49, 3), (50, 2), (199, 2), (200, 1), (2_000, 1)]
)
def test_many_known_columns_are_looked_at_in_smaller_sets(
    columns: int, largest: int
) -> None:
    """Fifty known columns were refused whole, with a remedy that did not exist."""
    assert max_set_size(columns, MAX_SET_COLUMNS) == largest


def test_an_audit_of_many_columns_has_all_figures() -> None:
    """k, uniques and secrets, which cost nothing, were refused with the sets."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({f"q{i}": rng.integers(0, 2, 40) for i in range(60)}).assign(
        age=1, sex="F", zip="1"
    )
    names = tuple(name for name in frame if name.startswith("q"))
    found = audit(frame, quasi_identifiers=names, others=("sex",))
    assert max(len(each.columns) for each in found.column_sets) == 2
    assert found.risk.uniques == uniques(frame, names)
    assert found.uniques_after_change["sex"] == found.risk.uniques
    assert found.uniques_after_change["q7"] == pytest.approx(
        uniques(frame, tuple(n for n in names if n != "q7"))
    )
