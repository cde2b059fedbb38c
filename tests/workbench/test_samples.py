"""The samples are the same everywhere, and there is something to find in them."""

from __future__ import annotations

import hashlib
import math

import numpy as np
import pandas as pd
import pytest
from stdnum.cn import ric

from dpcore.io import read_table, to_csv
from dpcore.schema import suggest_schema
from dpcore.tables.rows import PublicTable
from workbench.samples import SAMPLES, census, customers, hospital, patients, voter_list

KNOWN_TO_ANYONE = ["zip", "birth_date", "sex"]


@pytest.fixture(scope="module")
def people() -> pd.DataFrame:
    return census()


@pytest.fixture(scope="module")
def visits() -> pd.DataFrame:
    return hospital()


def cramers_v(first: pd.Series, second: pd.Series) -> float:
    """0 for independent columns, 1 when one tells the other."""
    counts = pd.crosstab(first, second).to_numpy(dtype=float)
    expected = np.outer(counts.sum(axis=1), counts.sum(axis=0)) / counts.sum()
    chi_square = ((counts - expected) ** 2 / expected).sum()
    return math.sqrt(chi_square / counts.sum() / (min(counts.shape) - 1))


@pytest.mark.parametrize(
    ("first", "second", "bound"),
    [
        ("education", "occupation", 0.2),
        ("education", "income", 0.3),
        ("occupation", "income", 0.2),
        ("marital", "relationship", 0.5),
        ("marital", "income", 0.2),
        ("native_region", "ethnic_group", 0.25),
        ("occupation", "workclass", 0.2),
        ("sex", "occupation", 0.2),
        ("decade", "marital", 0.25),
        ("decade", "income", 0.15),
    ],
)
def test_census_columns_depend_on_each_other(
    people: pd.DataFrame,
    first: str,
    second: str,
    bound: float,
) -> None:
    """A synthesizer that ignores dependence would look as good as one that keeps it."""
    table = people.assign(decade=people["age"] // 10)
    assert cramers_v(table[first], table[second]) > bound
    shuffled = np.random.default_rng(7).permutation(table[second])
    assert cramers_v(table[first], pd.Series(shuffled)) < bound / 2


def test_the_census_has_the_shape_it_promises(people: pd.DataFrame) -> None:
    """The walk in the README, and the pages' texts, would be wrong about it."""
    assert people.shape == (20_000, 13)
    assert people["age"].between(17, 97).all()
    assert (people["age"] == 97).sum() == 1
    assert people["age"].nlargest(2).iloc[1] <= 92
    assert (people.groupby("education")["education_years"].nunique() == 1).all()
    assert 0.1 < (people["income"] == ">50K").mean() < 0.3
    assert people["hours_per_week"].between(1, 99).all()


def test_the_census_has_missing_answers(people: pd.DataFrame) -> None:
    """Missing values would first be met on a person's own data."""
    missing = (people == "?").sum()
    assert set(missing[missing > 0].index) == {
        "workclass",
        "occupation",
        "native_region",
    }
    assert (
        0.01
        < missing["native_region"] / len(people)
        < missing["occupation"] / len(people)
        < 0.1
    )
    for column in suggest_schema(people).columns:
        assert column.check(people[column.name]).missing == missing[column.name], (
            column.name
        )


def test_a_small_group_gives_its_income_away(people: pd.DataFrame) -> None:
    """An audit would find no sensitive value that a group gives away."""
    group = people[
        (people["native_region"] == "Islands") & (people["education"] == "Master")
    ]
    assert 3 <= len(group) <= 30
    assert set(group["income"]) == {">50K"}


def test_customers_depend_on_their_age() -> None:
    """A company that asks about its customers would find nothing."""
    people = customers()
    assert people.shape == (12_000, 3)
    assert people["age"].between(18, 95).all()
    decade = people["age"] // 10
    for name in ("occupation", "marital_status"):
        assert cramers_v(decade, people[name]) > 0.2
        assert (
            cramers_v(
                decade,
                people[name].sample(frac=1, random_state=1).reset_index(drop=True),
            )
            < 0.1
        )


def test_several_visits_of_one_person(visits: pd.DataFrame) -> None:
    """The privacy unit would have nothing to bound, or a person would change from visit
    to visit.
    """
    assert visits.shape == (5_000, 10)
    per_person = visits.groupby("patient_id").size()
    assert per_person.min() == 1
    assert per_person.max() == 8
    assert (per_person > 1).mean() > 0.4
    assert per_person.median() < per_person.mean()
    assert (
        visits.groupby("patient_id")[["name", *KNOWN_TO_ANYONE]].nunique() == 1
    ).all(axis=None)
    assert visits["zip"].str.fullmatch(r"0\d{4}").all()
    assert (visits["birth_date"] < visits["admission_date"]).all()
    assert 0 < visits["cost"].isna().mean() < 0.03


def test_diagnosis_follows_age_and_sex(visits: pd.DataFrame) -> None:
    """The hospital's columns would be noise."""
    born = visits["birth_date"].str[:4].astype(int) // 20
    assert cramers_v(born, visits["diagnosis"]) > 0.25
    assert cramers_v(visits["sex"], visits["diagnosis"]) > 0.3
    assert set(visits.loc[visits["diagnosis"] == "Pregnancy", "sex"]) == {"Female"}
    assert set(visits.loc[visits["diagnosis"] == "Prostate disease", "sex"]) == {"Male"}


def test_an_attacker_with_the_voter_list_finds_patients(visits: pd.DataFrame) -> None:
    """The linkage attack would find nobody, or everybody."""
    voters = voter_list()
    assert list(voters.columns) == ["name", *KNOWN_TO_ANYONE]
    patients = visits.drop_duplicates("patient_id")
    found = patients.merge(voters, on=KNOWN_TO_ANYONE, suffixes=("", "_listed"))
    assert 0.5 < len(found) / len(patients) < 0.9
    assert (found["name"] == found["name_listed"]).mean() > 0.97
    assert len(voters) > 2 * len(found)


def test_what_an_audit_should_find_in_the_hospital(visits: pd.DataFrame) -> None:
    """The oldest patient would not stand out, or the hamlet hide its diagnosis."""
    oldest = visits.loc[visits["birth_date"].str[:4].astype(int) <= 1929]
    assert oldest["patient_id"].nunique() == 1
    hamlet = visits[visits["zip"] == "01099"]
    assert 3 <= hamlet["patient_id"].nunique() <= 20
    assert set(hamlet["diagnosis"]) == {"Tuberculosis"}


def test_names_and_ids_of_the_patients_in_china_are_found() -> None:
    """A table with Chinese headings would be released with the names and resident ids
    of people.
    """
    frame = patients()
    assert all(map(ric.is_valid, frame["身份证号"]))
    # a province and no county: nobody has such a number
    assert set(frame["身份证号"].str[2:6]) == {"0000"}
    schema = suggest_schema(frame)
    assert {each.name for each in schema.excluded} == {"姓名", "身份证号"}
    assert set(schema.domain.names) == {
        "性别",
        "出生日期",
        "邮编",
        "科室",
        "诊断",
        "费用",
    }
    assert (
        pd.to_datetime(frame["出生日期"]).dt.strftime("%Y%m%d")
        == frame["身份证号"].str[6:14]
    ).all()
    assert set(frame.loc[frame["邮编"] == 215_600, "诊断"]) == {"肺结核"}


@pytest.mark.parametrize(
    ("build", "digest"),
    [
        (census, "2579808de820b07b"),
        (hospital, "2ad89c9da76a216b"),
        (voter_list, "201dcbaad193a428"),
        (customers, "a16f1e23983a1b2c"),
        (patients, "1473e182ec4471e6"),
    ],
)
def test_a_sample_is_the_same_everywhere(build: object, digest: str) -> None:
    """Figures in the texts, and budgets filed under a table's content, would change
    with a library.
    """
    data = to_csv(PublicTable(build()))  # type: ignore[operator]
    assert hashlib.sha256(data).hexdigest()[:16] == digest


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.key)
def test_a_sample_is_like_an_upload(sample: object) -> None:
    """A sample would pass where the same table as a file does not."""
    frame = sample.build()  # type: ignore[attr-defined]
    back = read_table(to_csv(PublicTable(frame)), "sample.csv").frame
    pd.testing.assert_frame_equal(back, frame)
    unit = suggest_schema(frame).unit
    assert unit.id_column == sample.id_column  # type: ignore[attr-defined]
    assert sample.max_rows >= 1  # type: ignore[attr-defined]
