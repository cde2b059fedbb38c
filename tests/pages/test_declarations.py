"""The Data page: what its owner says yes to is the same with and without any person, or
stays marked.
"""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

import dpcore as dp
from dpcore.schema.schema import LEFT_OUT_MARK
from tests.contracts.declarations import (
    CHANGES,
    COLUMN,
    EPSILON,
    READINGS,
    ROWS,
    Change,
    Outcome,
    check,
    check_reading,
    check_texts,
    same_noise,
    surfaces,
)
from tests.pages.tab import Tab
from tests.pages.test_cells import bring_codebook
from tests.tiers import but_first
from workbench.session.draft import Draft
from workbench.upload import facts

YES = (
    "Join them",
    "Yes, this is plainly public",
    "Use the round bounds",
    "No, keep the warning",
)
"""What a person in a hurry presses, as long as it is there."""
FIRST = ("words for missing", "printed labels", "limits of detection")
ORDERED = sorted(CHANGES, key=lambda change: change.name not in FIRST)


def through_the_page(
    tab: Tab,
    change: Change,
    *,
    with_her: bool,
    describe: Callable[[Tab], None] | None = None,
) -> Outcome:
    """Upload, say yes to all that is proposed, open, release.

    Args:
        describe: what is done with the form of the columns before that.
    """
    tab.go("upload").upload(change.file(with_her=with_her), "table.csv")
    if describe is not None:
        tab.set("button_group", "Describe the columns", "one")
        describe(tab)
    for _step in range(12):
        labels = [button.label for button in tab.at.button]
        answer = next((label for label in YES if label in labels), None)
        if answer is None:
            break
        tab.press(answer)
    caps = [
        group
        for group in tab.at.get("button_group")
        if group.label.startswith("Maximum number of rows")
    ]
    if caps and caps[0].value is None:
        caps[0].set_value(1).run()
    for field in tab.at.radio:
        if field.label.startswith("Are both tables about the same people?"):
            field.set_value("the same").run()
    tab.press("Open the data set")
    assert not tab.errors
    release = tab.curator.run(change.recipe(), EPSILON)
    made = surfaces(release, tab.curator.schema)
    return Outcome(release=release, surfaces=made)


@pytest.mark.parametrize(
    "change", but_first(len(FIRST), ORDERED), ids=lambda change: change.name
)
def test_a_yes_is_the_same_without_her_or_marked(
    change: Change, new_tab: Callable[[], Tab]
) -> None:
    """An answer about labels would make public a word that nobody was shown."""
    with same_noise() as again:
        without = through_the_page(new_tab(), change, with_her=False)
        again()
        with_her = through_the_page(new_tab(), change, with_her=True)
    check(change, without, with_her)
    check_texts(change, with_her)


CODES = [f"w{place:03d}" for place in range(ROWS)]


def take_in(tab: Tab) -> None:
    """Take in a column that was left out; do what the box says of its values."""
    tab.set("selectbox", "Kind", "categorical")
    tab.at.text_area[0].set_value(" | ".join(CODES)).run()
    if tab.errors:
        tab.set("checkbox", "Cell for missing", True)


def trust_a_list(tab: Tab) -> None:
    """Type a list and its source; do what the box says of other values."""
    tab.at.text_area[0].set_value("good | bad").run()
    tab.set("text_input", "Known from", "the questionnaire")
    if tab.errors:
        tab.at.text_area[0].set_value("good | bad | Zzyzx").run()


def bring_two_codebooks(tab: Tab) -> None:
    """Bring a codebook; where the box says what it lacks, another one with it."""

    def declare(*labels: str) -> None:
        answer = dp.Categorical(
            COLUMN, categories=labels, missing=True, known_from="the questionnaire"
        )
        unit = dp.PrivacyUnit(max_rows=1)
        codebook = dp.Schema(columns=(answer,), unit=unit)
        bring_codebook(tab, json.loads(codebook.to_json()))

    declare("good", "bad")
    if tab.errors:
        declare("good", "bad", "Zzyzx")


CORRECTIONS = [
    (
        take_in,
        Change(
            name="taken in", values=CODES, hers="NA", marks=("missing", LEFT_OUT_MARK)
        ),
    ),
    (
        trust_a_list,
        Change(
            name="a list with a source",
            values=["good", "bad"] * (ROWS // 2),
            hers="Zzyzx",
            marks=("categories",),
        ),
    ),
    (
        bring_two_codebooks,
        Change(
            name="a second codebook",
            values=["good", "bad"] * (ROWS // 2),
            hers="Zzyzx",
            marks=("categories",),
        ),
    ),
]
"""What is changed in the form because of the check, and the value that the check met."""


@pytest.mark.parametrize(
    ("describe", "change"),
    CORRECTIONS,
    ids=["taken in", "a list with a source", "a second codebook"],
)
def test_what_is_changed_because_of_the_check_is_marked(
    describe: Callable[[Tab], None], change: Change, new_tab: Callable[[], Tab]
) -> None:
    """The page showed that one value had no cell, and her cell passed as known."""
    with same_noise() as again:
        without = through_the_page(new_tab(), change, with_her=False, describe=describe)
        again()
        with_her = through_the_page(new_tab(), change, with_her=True, describe=describe)
    assert check(change, without, with_her)
    assert without.release.guarantee.from_data.get(change.column, ()) == ()


def bring_codebook_of_all(tab: Tab) -> None:
    """Declare both columns by a codebook, whatever was proposed."""
    answer = dp.Categorical(
        COLUMN, categories=("good",), other=True, missing=True, known_from="a law"
    )
    sex = dp.Categorical("sex", categories=("F", "M"), known_from="a law")
    codebook = dp.Schema(columns=(answer, sex), unit=dp.PrivacyUnit(max_rows=1))
    bring_codebook(tab, json.loads(codebook.to_json()))


def tell_reading(tab: Tab) -> None:
    """Say that files of this kind are always written so."""
    bring_codebook_of_all(tab)
    label = (
        "I know from another source that files of this kind are always written this way"
    )
    tab.set("checkbox", label, True)


READ_AS_GUESSED = [READINGS[0], READINGS[-1]]


@pytest.mark.parametrize("with_her", [False, True])
@pytest.mark.parametrize("change", READ_AS_GUESSED, ids=lambda change: change.name)
def test_how_a_file_was_read_is_said_whatever_the_codebook_says(
    change: Change, with_her: bool, new_tab: Callable[[], Tab]
) -> None:
    """A codebook took the mark of the proposal away."""
    outcome = through_the_page(
        new_tab(), change, with_her=with_her, describe=bring_codebook_of_all
    )
    check_reading(outcome)


def test_who_knows_how_files_are_written_takes_the_mark_away(
    new_tab: Callable[[], Tab],
) -> None:
    """The owner's word would be asked for and not be kept."""
    tab = new_tab()
    outcome = through_the_page(tab, READINGS[0], with_her=True, describe=tell_reading)
    check_reading(outcome, is_guessed=False)
    declaration = tab.session.data_set.declaration
    assert declaration.reading.is_known
    assert not declaration.schema.reading_from_data


def test_an_answer_that_clears_every_mark_is_seen(
    new_tab: Callable[[], Tab],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The fault of before: a yes to the labels took every mark off, also what nobody
    was shown.
    """

    def planted(
        draft: Draft,
        items: list[facts.FactItem],
        question: facts.FactQuestion,
        known_from: str,
    ) -> None:
        every = facts.items_of(draft, draft.schema, question)
        clear(draft, every, question, known_from)

    clear = facts.put_public
    monkeypatch.setattr(facts, "put_public", planted)
    change = next(change for change in CHANGES if change.name == "categories")
    with same_noise() as again:
        without = through_the_page(new_tab(), change, with_her=False)
        again()
        with_her = through_the_page(new_tab(), change, with_her=True)
    with pytest.raises(AssertionError, match="categories"):
        check(change, without, with_her)
