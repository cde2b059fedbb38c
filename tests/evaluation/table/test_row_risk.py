"""The risk of each row: people instead of rows, weights, households, suppressed rows,
and what is refused.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpcore.errors import ParameterError, SchemaError
from dpcore.evaluation.table.row_risk import RowRiskQuestion, RowRiskReport
from dpcore.schema import Integer, PrivacyUnit, Schema
from dpcore.tables.rows import Microdata

ROWS = pd.DataFrame(
    {
        "id": ["a", "a", "b", "c", "d", "e"],
        "age": [30, 30, 30, 40, 40, 50],
        "home": [1, 1, 2, 2, 3, 3],
        "weight": [10.0, 10, 5, 4, 6, 20],
    },
    index=[7, 7, 3, 2, 1, 0],
)


def risk(
    frame: pd.DataFrame = ROWS, *, person: str | None = "id", **asked: object
) -> RowRiskReport:
    schema = Schema(
        columns=(Integer("age", low=0, high=99, bin_width=1),),
        unit=PrivacyUnit(max_rows=2, id_column=person),
    )
    return RowRiskQuestion(**{"quasi_identifiers": ("age",), **asked}).compute(
        Microdata(frame), schema
    )


def test_a_group_is_as_large_as_its_people() -> None:
    """Broken: two rows of one person hide them from each other, or the lines are in
    another order.
    """
    found = risk()
    assert found.rows["people"].tolist() == [2, 2, 2, 2, 2, 1]
    assert found.rows["risk"].tolist() == [0.5] * 5 + [1]
    assert found.rows["score"].tolist() == [0] * 5 + [1]
    assert found.score_shares == {"age": 1}
    assert found.special_share == 1 / 5
    assert risk(person=None).rows["people"].tolist() == [3, 3, 3, 2, 2, 1]


def test_weights_and_households() -> None:
    """Broken: estimates count rows, or a household is only as exposed as each alone."""
    found = risk(weight_column="weight", household_column="home")
    assert found.rows["population"].tolist() == [15, 15, 15, 10, 10, 20]
    alone = found.rows["individual"].to_numpy()
    assert alone[5] == pytest.approx((1 / 19) * np.log(20))
    assert found.rows["household"][0] == pytest.approx(alone[0])
    assert found.rows["household"][2] == pytest.approx(
        1 - (1 - alone[2]) * (1 - alone[3])
    )
    assert found.sampled_risk.population == 45
    assert found.sampled_risk.smallest_group == 10
    of_people = alone[[0, 2, 3, 4, 5]]
    assert found.sampled_risk.expected_found == pytest.approx(of_people.sum())
    assert found.sampled_risk.average_risk == pytest.approx(of_people.mean())
    assert found.households.households == 3
    assert found.households.average_individual_risk == pytest.approx(of_people.mean())
    assert found.households.average_risk > found.households.average_individual_risk
    without = risk(household_column="home")
    assert without.rows["household"].tolist() == [0.5, 0.5, 0.75, 0.75, 1, 1]


def test_suppressed_rows_have_no_risk() -> None:
    """Broken: a row that says nothing is counted, or shifts the lines of the others."""
    frame = pd.DataFrame({"age": ["*", "30", "40", "40"]})
    found = risk(frame, person=None)
    assert np.isnan(found.rows["risk"][0])
    assert found.rows["risk"].tolist()[1:] == [1, 0.5, 0.5]
    with pytest.raises(SchemaError):
        risk(pd.DataFrame({"age": ["*"]}), person=None)


def test_bad_input() -> None:
    """Broken: a weight that others know, or no column at all, is taken."""
    with pytest.raises(SchemaError, match="two roles"):
        risk(household_column="age")
    with pytest.raises(ParameterError):
        risk(quasi_identifiers=())
    with pytest.raises(ParameterError):
        risk(sampling_fraction=0.0)
    with pytest.raises(SchemaError):
        risk(weight_column="id")
