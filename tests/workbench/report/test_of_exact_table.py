"""What the owner and a checker are told of an exact table, and what its readers are."""

from __future__ import annotations

import dataclasses

import pytest

from dpcore.suppression import ExactTable, HidingRule, PublishedTable
from dpcore.suppression.plan import ExceptedCell
from dpcore.suppression.protect import protect_table
from tests.suppression.tables import count, groups, plan_of
from workbench.report import of_exact_table


def made(people: list[int], **changes: object) -> ExactTable:
    plan = plan_of(HidingRule(threshold=5), a=groups("a", *[1] * len(people)))
    plan = dataclasses.replace(plan, **changes)  # type: ignore[arg-type]
    return protect_table(plan, count(plan, people))


def test_a_table_that_hides_little_and_excepts_nothing_passes() -> None:
    checks = of_exact_table.list_checks(made([20, 30, 3, 7, 40]))
    assert [check.verdict for check in checks] == ["pass", "pass"]
    assert checks[0].sentence == "The rule hides 1 count, and it is hidden."
    assert of_exact_table.find_verdict(checks) == "pass"


def test_exceptions_and_much_that_is_hidden_are_for_a_person() -> None:
    excepted = ExceptedCell(labels=("a.0",), reason="they said so in public")
    table = made([3, 3, 3, 4, 2, 40], exceptions=(excepted,))
    checks = of_exact_table.list_checks(table)
    assert [check.verdict for check in checks] == ["pass", "pass", "review", "review"]
    assert "1 count is shown" in checks[2].sentence
    assert checks[3].sentence.endswith("Coarser groups would show more.")
    assert of_exact_table.find_verdict(checks) == "review"
    page = of_exact_table.report_page(table).decode()
    assert "Summary: review" in page
    assert "Summary" not in of_exact_table.public_page(table.published).decode()


@pytest.mark.parametrize("compared", [0, 2])
def test_tables_of_changed_people_are_named_to_readers(compared: int) -> None:
    table = dataclasses.replace(
        made([20, 30, 3, 7, 40]).published, attacked=1, compared=compared
    )
    words = " ".join(of_exact_table.not_promised(table))
    assert "together with 1 earlier exact table about the same people" in words
    assert ("came or left since 2 exact tables" in words) == bool(compared)
    assert ("differs by 1 to 4 people" in words) == bool(compared)
    assert "readers who know which values" not in words


@pytest.mark.parametrize("compared", [0, 2])
def test_no_earlier_table_is_denied_beside_a_compared_one(compared: int) -> None:
    """Readers were told that no earlier table was known, and of two of them."""
    table = dataclasses.replace(made([20, 30, 3, 7, 40]).published, compared=compared)
    words = " ".join(of_exact_table.not_promised(table))
    assert ("No earlier exact table" in words) == (not compared)
    assert "other servers or other owners" in words


def test_columns_with_a_map_are_named_and_no_others() -> None:
    """The page spoke of a map though none was assumed."""
    table = made([20, 30, 3, 7, 40]).published
    pairs = (("town", "district"), ("town", "zone"))
    words = " ".join(
        of_exact_table.not_promised(dataclasses.replace(table, related=pairs))
    )
    assert "are exceptions: town × district, town × zone." in words


def test_owners_and_readers_hear_that_sums_may_tell_who_came_or_left() -> None:
    table = made([20, 30, 3, 7, 40])
    changed = dataclasses.replace(
        table, published=dataclasses.replace(table.published, compared=1)
    )
    warning = "may still tell that a few"
    checks = of_exact_table.list_checks(changed)
    assert [one.verdict for one in checks if warning in one.sentence] == ["review"]
    assert warning in " ".join(of_exact_table.not_promised(changed.published))
    assert warning not in " ".join(of_exact_table.not_promised(table.published))


def test_unrelated_columns_do_not_contradict_the_attack() -> None:
    """One check said that two tables were attacked together, the next one that not."""
    table = made([20, 30, 3, 7, 40])
    published = dataclasses.replace(table.published, attacked=1, unrelated=("town",))
    checks = of_exact_table.list_checks(dataclasses.replace(table, published=published))
    sentences = [one.sentence for one in checks]
    assert any("together with 1 other exact table" in one for one in sentences)
    assert any("the attack left them out: town" in one for one in sentences)
    assert not any("not attacked together" in one for one in sentences)


def test_a_table_without_earlier_ones_says_nothing_of_relations() -> None:
    """A reader would look for tables that do not exist."""
    words = " ".join(of_exact_table.not_promised(made([20, 30, 3, 7, 40]).published))
    assert "readers who know which values" not in words


def test_a_rounded_table_says_how_far_its_counts_are_off() -> None:
    """Readers would take the counts for exact, or look for hidden ones."""
    one = made([20, 30, 3, 7, 40], rounding_base=10)
    words = " ".join(of_exact_table.not_promised(one.published))
    assert "6 counts are shown, each at most 9 people off" in words
    assert "always rounded down" in words
    assert "hidden" not in words
    page = of_exact_table.public_page(one.published).decode()
    assert "Rounded table: a" in page
    assert "Readers cannot tell that a count is only 1 to 4." in page
    checks = of_exact_table.list_checks(one)
    assert [check.verdict for check in checks] == ["pass", "pass"]
    assert "multiple of 10, and all sums hold" in checks[0].sentence
    assert "could not tell that a count" in checks[1].sentence
    assert "Counts before they were rounded" in of_exact_table.report_page(one).decode()
    frame = of_exact_table.workbook_frame(one.published)
    assert frame.columns[0] == "a (rounded to multiples of 10)"
    assert set(map(type, frame["people"])) == {int}
    again = PublishedTable.from_json(one.published.to_json())
    assert again.rounding_base == 10
    assert again.people == 0
