"""Four invented tables to try the program, and a list that an attacker may have.

No person in them exists. Columns depend on each other, so that there is something to
find.
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, kw_only=True)
class Sample:
    """Invented table that a person can start with.

    Attributes:
        key: short and stable.
        title: for people; what is in it is said in their language by the interface.
        build: reads the table.
        rows: about how many it has; a sample is public.
        id_column: tells whose row it is; None when each row is one person.
        max_rows: rows of one person that a release should keep.
    """

    key: str
    title: str
    build: Callable[[], pd.DataFrame]
    rows: int
    id_column: str | None = None
    max_rows: int = 1


def census() -> pd.DataFrame:
    """Read an invented census like the Adult table; `?` stands for no answer.

    Education leads to occupation and both to income, age to marital status and that to
    relationship, region to ethnic group. One person is 97, older than all others;
    everyone born on the Islands with a master's degree earns more than 50K.
    """
    return _read("census")


def hospital() -> pd.DataFrame:
    """Read invented hospital visits of two years, one to eight per person; some costs
    are missing.

    Diagnosis follows age and sex and comes back in the same person. One patient is 97,
    older than all others; everyone from one hamlet has tuberculosis, so that knowing
    the zip code is knowing the diagnosis.
    """
    return _read("hospital")


def customers() -> pd.DataFrame:
    """Read a company's customers: age, occupation and marital status, which depend on
    each other.
    """
    return _read("customers")


def voter_list() -> pd.DataFrame:
    """Read the voter list of the hospital's town, with most adults; some have moved
    since.
    """
    return _read("voter_list")


def patients() -> pd.DataFrame:
    """Read inpatients of a hospital in China, one row per person.

    Ids have right check digits, and codes of provinces in place of counties, with which
    none is issued. One person is 97; everyone from one village has tuberculosis.
    """
    return _read("patients")


def _read(name: str) -> pd.DataFrame:
    return pd.read_csv(_FOLDER / f"{name}.csv.xz", dtype={"zip": "str"})


SAMPLES = (
    Sample(key="census", title="Census", build=census, rows=20_000),
    Sample(
        key="hospital",
        title="Hospital visits",
        build=hospital,
        rows=5_000,
        id_column="patient_id",
        max_rows=3,
    ),
    Sample(key="customers", title="Customers", build=customers, rows=12_000),
    Sample(
        key="patients",
        title="住院患者",
        build=patients,
        rows=2_000,
        id_column="身份证号",
    ),
)
