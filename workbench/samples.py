"""Two invented tables to try everything on, and the public list that an attacker could hold.

No person in them exists and no file is behind them: a seeded generator makes the same rows every time.
Each column is drawn with chances that depend on columns before it, so that there is something to find.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

Floats = npt.NDArray[np.float64]
Labels = npt.NDArray[Any]
Chances = Sequence[float] | Floats


@dataclass(frozen=True, kw_only=True)
class Sample:
    """A table to start with.

    Attributes:
        key: short and stable.
        title: for people; what is in it is said in their language by the interface.
        build: makes the table.
        id_column: tells whose row it is; None when each row is one person.
        max_rows: rows of one person that a release should keep.
    """

    key: str
    title: str
    build: Callable[[], pd.DataFrame]
    id_column: str | None = None
    max_rows: int = 1


class _Draws:
    """Chance for a number of rows.

    Uses only uniform numbers of NumPy's legacy generator, whose stream is promised never to change. Each row
    has its own, so a smaller table is the beginning of a larger one.
    """

    def __init__(self, rows: int, *, seed: int) -> None:
        self._columns = iter(np.random.RandomState(seed).random_sample((rows, 50)).T)

    def uniform(self) -> Floats:
        return next(self._columns)

    def bell(self) -> Floats:
        """About standard normal: six uniform numbers added up."""
        total: Floats = np.sum([self.uniform() for _ in range(6)], axis=0)
        return math.sqrt(2) * (total - 3)

    def choose(self, labels: Sequence[object] | Labels, chances: Chances) -> Labels:
        """One label per row. Chances need not add up to 1; one list for all rows, or one row each."""
        steps = np.cumsum(np.atleast_2d(np.asarray(chances, dtype=float)), axis=1)
        below = self.uniform()[:, None] * steps[:, -1:] >= steps
        chosen: Labels = np.asarray(labels)[below.sum(axis=1)]
        return chosen


def _by(column: Labels, chances: Mapping[str, Sequence[float]]) -> Floats:
    """The chances that go with each row's value, shape (rows, labels)."""
    values, positions = np.unique(column, return_inverse=True)
    return np.array([chances[value] for value in values], dtype=float)[positions]


# A census ------------------------------------------------------------------------------------------------

_YEARS_OF_EDUCATION = {
    "Primary": 6,
    "Lower secondary": 9,
    "Secondary": 12,
    "Vocational": 13,
    "Some college": 14,
    "Bachelor": 16,
    "Master": 18,
    "Doctorate": 21,
}
_GROUPS = ("Aren", "Belmar", "Corin", "Daven", "Other")
_GROUPS_BY_REGION = {
    "North": (70, 15, 8, 5, 2),
    "Coast": (35, 45, 10, 6, 4),
    "Valley": (50, 20, 22, 6, 2),
    "Highlands": (25, 8, 60, 5, 2),
    "Islands": (40, 50, 5, 3, 2),
    "Abroad": (8, 6, 10, 51, 25),
}
_MARITAL = ("Never married", "Married", "Divorced", "Separated", "Widowed")
_MARITAL_BY_AGE = {
    "17-22": (95, 4, 0.5, 0.5, 0),
    "23-29": (66, 28, 4, 2, 0),
    "30-44": (24, 57, 14, 4, 1),
    "45-64": (9, 64, 19, 3, 5),
    "65-": (5, 53, 10, 1, 31),
}
_RELATIONSHIPS = ("Own child", "Not in family", "Single parent", "Other relative")
_RELATIONSHIPS_BY_MARITAL = {
    "Never married": (38, 46, 8, 8),
    "Married": (0, 1, 0, 1),
    "Divorced": (6, 58, 32, 4),
    "Separated": (8, 48, 40, 4),
    "Widowed": (1, 66, 25, 8),
}
_OCCUPATIONS = (
    "Management",
    "Professional",
    "Technical",
    "Office",
    "Sales",
    "Craft",
    "Service",
    "Transport",
    "Farming",
)
_OCCUPATIONS_BY_EDUCATION = {
    "Primary": (1, 0, 1, 3, 5, 25, 32, 20, 13),
    "Lower secondary": (3, 0.5, 1, 8, 10, 26, 27, 18, 6.5),
    "Secondary": (7, 1, 3, 18, 13, 22, 19, 13, 4),
    "Vocational": (8, 4, 14, 14, 8, 32, 11, 7, 2),
    "Some college": (13, 6, 8, 27, 18, 10, 12, 5, 1),
    "Bachelor": (28, 31, 8, 12, 14, 2.5, 3, 1, 0.5),
    "Master": (30, 54, 4, 5, 4, 1, 1, 0.5, 0.5),
    "Doctorate": (17, 78, 2, 1, 1, 0, 1, 0, 0),
}
_WORKCLASSES = ("Private", "Self-employed", "Government")
_WORKCLASSES_BY_OCCUPATION = {
    "Management": (68, 20, 12),
    "Professional": (54, 12, 34),
    "Technical": (78, 4, 18),
    "Office": (73, 3, 24),
    "Sales": (84, 15, 1),
    "Craft": (77, 19, 4),
    "Service": (80, 7, 13),
    "Transport": (88, 6, 6),
    "Farming": (48, 50, 2),
}


def census(rows: int = 20_000) -> pd.DataFrame:
    """A census in the manner of the Adult table, one row per person; `?` stands for no answer.

    Education leads to occupation and both to income, age to marital status and that to relationship, region
    to ethnic group. One person is 97, older than all others; everyone born on the Islands with a master's
    degree earns more than 50K.
    """
    draw = _Draws(rows, seed=1)
    ages = np.arange(17, 93)
    age = draw.choose(ages, np.interp(ages, [17, 24, 38, 60, 80, 92], [0.8, 1.15, 1.25, 0.65, 0.1, 0.01]))
    age[np.arange(rows) == 700] = 97
    band = np.array(list(_MARITAL_BY_AGE))[np.searchsorted([23, 30, 45, 65], age, side="right")]
    sex = draw.choose(("Female", "Male"), (0.5, 0.5))
    region = draw.choose(list(_GROUPS_BY_REGION), (30, 27, 22, 12, 1, 8))
    group = draw.choose(_GROUPS, _by(region, _GROUPS_BY_REGION))

    ability = draw.bell() - 0.012 * (age - 40) - 0.4 * np.isin(region, ("Highlands", "Abroad"))
    level = np.searchsorted([-1.9, -1.2, -0.1, 0.35, 0.8, 1.5, 2.3], ability)
    level = np.minimum(level, np.array([2, 4, 6, 7])[np.searchsorted([19, 22, 27], age, side="right")])
    education = np.array(list(_YEARS_OF_EDUCATION))[level]
    education_years = np.array(list(_YEARS_OF_EDUCATION.values()))[level]

    marital = draw.choose(_MARITAL, _by(band, _MARITAL_BY_AGE))
    relationship = draw.choose(_RELATIONSHIPS, _by(marital, _RELATIONSHIPS_BY_MARITAL))
    relationship = np.where(marital == "Married", np.where(sex == "Female", "Wife", "Husband"), relationship)

    leaning = np.where((sex == "Female")[:, None], (0.8, 1.2, 0.8, 2.2, 1, 0.2, 1.4, 0.2, 0.5), 1.0)
    occupation = draw.choose(_OCCUPATIONS, leaning * _by(education, _OCCUPATIONS_BY_EDUCATION))
    workclass = draw.choose(_WORKCLASSES, _by(occupation, _WORKCLASSES_BY_OCCUPATION))
    irregular = draw.uniform() < 0.55
    hours = 40 + irregular * (8 * draw.bell() - 5 * (sex == "Female") + 5 * (occupation == "Management"))
    hours = hours - 15 * ((age < 22) | (age > 66))

    merit = 0.35 * (education_years - 13) + 1.6 * (marital == "Married") + 0.05 * (hours - 40)
    merit += (
        0.8 * np.isin(occupation, ("Management", "Professional", "Technical")) + np.minimum(age - 45, 0) / 12
    )
    rich = draw.uniform() < 1 / (1 + np.exp(2.2 - merit))
    rich |= (region == "Islands") & (education == "Master")
    gains = draw.uniform() < np.where(rich, 0.2, 0.04)
    gain = np.minimum(np.exp(7.6 + 0.8 * draw.bell() + 1.1 * rich), 99_999) * gains

    silent = draw.uniform() < np.where((age < 20) | (age > 68), 0.25, 0.04)
    return pd.DataFrame(
        {
            "age": age,
            "workclass": np.where(silent, "?", workclass),
            "education": education,
            "education_years": education_years,
            "marital": marital,
            "occupation": np.where(silent, "?", occupation),
            "relationship": relationship,
            "ethnic_group": group,
            "sex": sex,
            "capital_gain": gain.astype(np.int64),
            "hours_per_week": np.clip(hours, 1, 99).astype(np.int64),
            "native_region": np.where(draw.uniform() < 0.018, "?", region),
            "income": np.where(rich, ">50K", "<=50K"),
        }
    )


# A hospital in a small town ------------------------------------------------------------------------------

_TOWN_SIZE = 6_000
_TODAY = np.datetime64("2026-01-01")
_HAMLET = "01099"
_ZIPS = ("01010", "01012", "01015", "01020", "01024", "01030", "01031", "01040", "01044", "01050", _HAMLET)
_FIRST_NAMES = {
    "Female": "Anna Zoë Aïcha Małgorzata Inés Noor Ebba Giulia Yuki Olha Mei Amara Léonie Søs 李娜 王芳",
    "Male": "Jonas José Łukasz Omar René Björn Kofi Matteo Haruto Taras Wei Idris Émile Søren 张伟 陈杰",
}
_FAMILY_NAMES = (
    "Albrecht Almeida Bełz Benali Carvalho Dąbrowska Eriksen Fabre Goto Hüttner Ibáñez Jansen Kovalenko "
    "Lindqvist Mensah Moreau Nakano Okafor Petit Quiroga Rossini Schäfer Tanaka Ueda Vandersteen Weiß "
    "Xylander Yılmaz Zhao"
)
_DIAGNOSES = {  # department, mean days beyond the first, chances of a visit for it by age and sex
    "Asthma": ("Internal medicine", 2, (22, 24, 7, 5, 4, 4, 3, 3)),
    "Appendicitis": ("Surgery", 3, (14, 14, 8, 8, 2, 2, 1, 1)),
    "Fracture": ("Surgery", 4, (18, 28, 7, 20, 9, 9, 16, 7)),
    "Pneumonia": ("Internal medicine", 5, (16, 16, 4, 5, 6, 7, 10, 12)),
    "Pregnancy": ("Obstetrics", 2, (0, 0, 44, 0, 0.5, 0, 0, 0)),
    "Depression": ("Psychiatry", 12, (3, 2, 14, 10, 11, 8, 5, 4)),
    "Hepatitis": ("Internal medicine", 4, (1, 1, 2, 3, 2, 3, 1, 1)),
    "Tuberculosis": ("Internal medicine", 14, (0.2, 0.2, 0.3, 0.5, 0.3, 0.6, 0.4, 0.7)),
    "Diabetes": ("Internal medicine", 4, (3, 3, 4, 6, 14, 16, 14, 14)),
    "Hypertension": ("Cardiology", 2, (0, 0, 3, 5, 15, 18, 18, 16)),
    "Heart failure": ("Cardiology", 7, (0.2, 0.2, 0.5, 1, 5, 10, 19, 22)),
    "Breast cancer": ("Oncology", 5, (0, 0, 2, 0, 14, 0.2, 8, 0.2)),
    "Prostate disease": ("Urology", 3, (0, 0, 0, 0.3, 0, 12, 0, 22)),
}
_PEOPLE = tuple(f"{ages} {sex}" for ages in ("0-14", "15-44", "45-64", "65-") for sex in ("Female", "Male"))
_CHANCES = dict(zip(_PEOPLE, np.array([chances for *_, chances in _DIAGNOSES.values()]).T, strict=True))


def hospital(rows: int = 5_000) -> pd.DataFrame:
    """Hospital visits of two years in order of admission, one to eight a person; some costs are unknown.

    Diagnosis follows age and sex and comes back in the same person. One patient is 97, older than all
    others; everyone from one hamlet has tuberculosis, so that knowing the zip code is knowing the diagnosis.
    """
    town = _town(max(_TOWN_SIZE, rows))
    person = np.repeat(np.arange(len(town)), town["visits"])[:rows]
    visit = town.iloc[person].reset_index(drop=True)
    draw = _Draws(rows, seed=3)
    diagnosis = draw.choose(list(_DIAGNOSES), _by(visit["people"].to_numpy(dtype=str), _CHANCES))
    diagnosis = np.where(draw.uniform() < 0.65, visit["diagnosis"].to_numpy(dtype=str), diagnosis)
    diagnosis[visit["zip"] == _HAMLET] = "Tuberculosis"
    department = np.array([_DIAGNOSES[name][0] for name in diagnosis])
    mean_days = np.array([_DIAGNOSES[name][1] for name in diagnosis])
    days = 1 + np.floor(-mean_days * np.log(1 - draw.uniform())).astype(np.int64)
    surcharge = np.isin(department, ("Surgery", "Oncology", "Cardiology"))
    cost = np.round((300 + 480 * days + 2_600 * surcharge) * (1 + 0.12 * draw.bell()), -1)
    admission = np.datetime64("2024-01-01") + np.floor(730 * draw.uniform()).astype("timedelta64[D]")
    table = pd.DataFrame(
        {
            "patient_id": [f"P{number * 7_919 % 100_000:05}" for number in person],
            "name": visit["name"],
            "zip": visit["zip"],
            "birth_date": visit["birth_date"],
            "sex": visit["sex"],
            "admission_date": admission.astype(str),
            "department": department,
            "diagnosis": diagnosis,
            "length_of_stay_days": days,
            "cost": np.where(draw.uniform() < 0.012, np.nan, cost),
        }
    )
    return table.sort_values("admission_date", kind="stable", ignore_index=True)


def voter_list() -> pd.DataFrame:
    """Who may vote in the town, as anyone can buy it: most adults, patients or not; some have moved since."""
    town = _town(_TOWN_SIZE)
    draw = _Draws(_TOWN_SIZE, seed=4)
    town["zip"] = np.where(draw.uniform() < 0.05, draw.choose(_ZIPS[:-1], [1] * 10), town["zip"])
    listed = (town["birth_date"] < "2008-01-01") & (draw.uniform() < 0.85)
    columns = ["name", "zip", "birth_date", "sex"]
    return town.loc[listed, columns].sort_values(columns, ignore_index=True)


def _town(size: int) -> pd.DataFrame:
    """Its people, with the number of hospital visits each would make and the diagnosis that comes back."""
    draw = _Draws(size, seed=2)
    ages = np.arange(2, 93)
    age = draw.choose(ages, np.interp(ages, [2, 20, 60, 75, 92], [0.7, 0.8, 1.4, 1.3, 0.1]))
    age[np.arange(size) == 400] = 97
    sex = draw.choose(("Female", "Male"), (0.52, 0.48))
    women, men = (draw.choose(_FIRST_NAMES[one].split(), [1] * 16) for one in ("Female", "Male"))
    first = np.where(sex == "Female", women, men)
    family = draw.choose(_FAMILY_NAMES.split(), [1] * 29)
    days_old = np.floor(365.25 * (age + draw.uniform())).astype("timedelta64[D]")
    band = 2 * np.searchsorted([15, 45, 65], age, side="right") + (sex == "Male")
    people = np.array(_PEOPLE)[band]
    older = np.where((age >= 65)[:, None], (0.5, 0.9, 1.3, 1.6, 2, 2.4, 3, 3), 1.0)
    return pd.DataFrame(
        {
            "name": [f"{one} {two}" for one, two in zip(first, family, strict=True)],
            "zip": draw.choose(_ZIPS, (18, 16, 14, 12, 10, 9, 7, 6, 5, 2.7, 0.3)),
            "birth_date": (_TODAY - days_old).astype(str),
            "sex": sex,
            "people": people,
            "visits": draw.choose(range(1, 9), older * (50, 20, 11, 7, 5, 3, 2, 2)),
            "diagnosis": draw.choose(list(_DIAGNOSES), _by(people, _CHANCES)),
        }
    )


SAMPLES = (
    Sample(
        key="census",
        title="Census",
        build=census,
    ),
    Sample(
        key="hospital",
        title="Hospital visits",
        build=hospital,
        id_column="patient_id",
        max_rows=3,
    ),
)
