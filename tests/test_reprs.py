"""What a notebook prints of the objects that scripts hold."""

from __future__ import annotations

import pandas as pd
import pytest

import dpcore as dp

PEOPLE = pd.DataFrame({"age": [30, 30, 41] * 20, "sex": ["F", "F", "M"] * 20})
SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=99, bin_width=10),
        dp.Categorical("sex", categories=("F", "M")),
    ),
    unit=dp.PrivacyUnit(max_rows=1),
)


def opened() -> dp.Curator:
    """A curator with a budget of 3."""
    budget = dp.PureDP(epsilon=3)
    return dp.Curator.open(PEOPLE, SCHEMA, budget=budget, ledger=dp.MemoryLedger())


def test_reprs_are_short_and_hold_no_counts() -> None:
    """A notebook would fill a screen with arrays when somebody looks at a release."""
    curator = opened()
    recipe = dp.Marginals(cliques=[("age",), ("age", "sex")])
    loss = dp.PureDP(epsilon=1)
    quote = curator.quote(recipe, loss)
    release = curator.run(recipe, loss)
    assert repr(SCHEMA) == (
        "Schema(cells of age: 10, sex: 2; add or remove one person (one row))"
    )
    assert repr(curator.balance()) == "Balance(left=2, spent=1, reserved=0, budget=3)"
    assert repr(quote) == "Quote(charge=1, left_after=2, 2 expected errors)"
    assert repr(release) == "Release('marginals', epsilon=1, tables: age age x sex)"


@pytest.mark.parametrize("number", [3, 0.5, "1"])
def test_a_number_is_no_loss(number: object) -> None:
    """Whoever writes `budget=3` would read of a missing attribute."""
    with pytest.raises(dp.ParameterError, match=r"budget must be a privacy loss"):
        dp.Curator.open(PEOPLE, SCHEMA, budget=number, ledger=dp.MemoryLedger())  # type: ignore[arg-type]
    with pytest.raises(dp.ParameterError, match=r"loss must be a privacy loss"):
        opened().run(dp.Histogram("sex"), number)  # type: ignore[arg-type]
