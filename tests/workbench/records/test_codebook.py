"""The Codebook page shows the values of each column, and where they are from."""

from __future__ import annotations

import dpcore as dp
from workbench.records.codebook_view import codebook_table
from workbench.store.ledger.datasets import Declaration


def test_values_stand_beside_where_they_are_from() -> None:
    """The page would show an origin in the place of labels and bounds."""
    schema = dp.Schema(
        columns=(
            dp.Categorical("sex", categories=("F", "M"), from_data=("categories",)),
            dp.Integer("age", low=0, high=99, known_from="a law"),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    shown = codebook_table(Declaration(name="t", schema=schema))
    assert shown["values"].tolist() == ["F, M", "0 – 99"]
    assert shown["source of the values"].tolist() == [
        "from the data",
        "told by the owner",
    ]
