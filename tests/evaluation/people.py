"""Invented people with relations to find, for tests of evaluations."""

from __future__ import annotations

import numpy as np
import pandas as pd

import dpcore as dp

SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=99),
        dp.Categorical("city", categories=("A", "B", "C", "D"), missing=True),
        dp.Categorical("married", categories=("yes", "no")),
        dp.Real("income", low=0, high=100, bin_width=1),
        dp.Integer("children", low=0, high=9),
        dp.Real("weight", low=0, high=150, bin_width=0.5),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)


def people(rows: int, seed: int) -> pd.DataFrame:
    """Rows of one law: age leads to marriage, children and income, the city is
    alone.
    """
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, rows)
    married = rng.random(rows) < np.where(age > 40, 0.8, 0.2)
    return pd.DataFrame(
        {
            "age": age,
            "city": rng.choice(
                ["A", "B", "C", "D", None], rows, p=[0.4, 0.3, 0.2, 0.05, 0.05]
            ),
            "married": np.where(married, "yes", "no"),
            "income": np.clip(
                age / 2 + 20 * married + rng.normal(0, 8, rows), 0, 100
            ).round(2),
            "children": np.where(married, rng.integers(0, 5, rows), 0),
            "weight": np.clip(rng.normal(75, 12, rows), 0, 150).round(1),
        },
    )


def independent(
    frame: pd.DataFrame, rows: int, seed: int, schema: dp.Schema = SCHEMA
) -> pd.DataFrame:
    """Columns drawn one by one, each from the cells of its own: no relation, and no
    exact value, is kept.
    """
    rng = np.random.default_rng(seed)
    codes = schema.encode(frame)
    return pd.DataFrame(
        {
            column.name: column.decode(
                rng.choice(codes[column.name], rows), rng
            ).to_numpy()
            for column in schema.columns
        },
    )
