"""What a form says of a recipe before paying."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import dpcore as dp
from dpcore.schema.domain import Domain
from workbench.synthesize.recipe_form import RecipeForm


def sentence(columns: int) -> str:
    """The last sentence about `Adaptive` on so many columns."""
    domain = Domain(
        names=tuple(f"c{number}" for number in range(columns)), sizes=(5,) * columns
    )
    curator: Any = SimpleNamespace(schema=SimpleNamespace(domain=domain))
    return RecipeForm.expectation_sentences(dp.Adaptive(), curator, dp.ZCDP(rho=1), 0)[
        -1
    ]


def test_a_wide_table_says_how_long_the_choice_takes() -> None:
    """Whoever waits a minute for "seconds" takes the page for broken."""
    assert sentence(387).endswith("This takes about 60 seconds.")
    assert sentence(15).endswith("This takes seconds.")
