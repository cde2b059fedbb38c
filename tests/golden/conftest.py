"""The Adult table, and what is publicly known about its columns."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import dpcore as dp

WORKCLASS = (
    "Federal-gov",
    "Local-gov",
    "Never-worked",
    "Private",
    "Self-emp-inc",
    "Self-emp-not-inc",
    "State-gov",
    "Without-pay",
)
EDUCATION = (
    "10th",
    "11th",
    "12th",
    "1st-4th",
    "5th-6th",
    "7th-8th",
    "9th",
    "Assoc-acdm",
    "Assoc-voc",
    "Bachelors",
    "Doctorate",
    "HS-grad",
    "Masters",
    "Preschool",
    "Prof-school",
    "Some-college",
)
MARITAL = (
    "Divorced",
    "Married-AF-spouse",
    "Married-civ-spouse",
    "Married-spouse-absent",
    "Never-married",
    "Separated",
    "Widowed",
)
OCCUPATION = (
    "Adm-clerical",
    "Armed-Forces",
    "Craft-repair",
    "Exec-managerial",
    "Farming-fishing",
    "Handlers-cleaners",
    "Machine-op-inspct",
    "Other-service",
    "Priv-house-serv",
    "Prof-specialty",
    "Protective-serv",
    "Sales",
    "Tech-support",
    "Transport-moving",
)
UNKNOWN = {"missing": True, "missing_tokens": ("?",)}


def adult_schema(*names: str, low: int = 0, high: int = 99) -> dp.Schema:
    """The declared columns of these names; ages from `low` to `high`, one cell each."""
    columns = {
        "age": dp.Integer("age", low=low, high=high),
        "workclass": dp.Categorical("workclass", categories=WORKCLASS, **UNKNOWN),
        "education": dp.Categorical("education", categories=EDUCATION),
        "marital-status": dp.Categorical("marital-status", categories=MARITAL),
        "occupation": dp.Categorical("occupation", categories=OCCUPATION, **UNKNOWN),
        "sex": dp.Categorical("sex", categories=("Female", "Male")),
    }
    return dp.Schema(
        columns=tuple(columns[name] for name in names), unit=dp.PrivacyUnit(max_rows=1)
    )


@pytest.fixture(scope="session")
def adult(shared: Path) -> pd.DataFrame:
    """The UCI training file, 32,561 rows, as it is read with pandas alone."""
    return pd.read_csv(shared / "data" / "adult.csv")
