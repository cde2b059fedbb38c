"""The guided example: what stands beside each table is what can be counted in it."""

from __future__ import annotations

import pytest

from workbench.ui.examples import STEPS, TABLES

COUNTS = {
    "6.1": ["By zip, age: k = 2."],
    "6.2": ["By zip, age: k = 1."],
    "6.3": ["By zip, age: k = 2."],
    "6.4": ["By zip, age: k = 1."],
    "6.5": ["By zip, age: k = 2, l = 1, entropy l = 1."],
    "6.6": ["By zip: k = 4, l = 3, entropy l = 2.83.", "By zip, age: k = 2, l = 1, entropy l = 1."],
    "6.6, repaired": ["By zip, age: k = 4, l = 3, entropy l = 2.83."],
}
"""SEEDS B5 to B7 and B9 to B11."""


def test_the_tables_stand_in_the_order_of_the_book() -> None:
    """Somebody who reads along would look for a table."""
    assert [step.table for step in STEPS] == list(TABLES) == list(COUNTS)


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.table)
def test_counts_are_those_of_the_table(step) -> None:
    """The example would teach a wrong k or l."""
    assert step.counted() == COUNTS[step.table]


def test_the_mistakes_of_the_book_are_said() -> None:
    """A reader would believe that 6.6 is diverse, and that 33620 becomes 236**."""
    said = {step.table: step.says for step in STEPS}
    assert "33620 would become 336**" in said["6.2"]
    assert "calls this table diverse" in said["6.6"]
