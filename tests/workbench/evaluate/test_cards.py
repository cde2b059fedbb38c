"""Cards of the verdict: what each says and where its marks are, for tables whose
quality is known.
"""

from __future__ import annotations

import re

import numpy as np

from dpcore.evaluation.utility.similarity import measure_similarity
from tests.evaluation.people import SCHEMA, independent, people
from workbench.evaluate import cards
from workbench.language.messages import use_language

ORIGINAL = people(2_000, 1)


def test_a_wrong_column_is_the_first_card_and_says_so() -> None:
    """Six dots would have to be read to learn which column must not be used."""
    release = people(2_000, 2)
    release.loc[:999, "age"] = 20
    found = cards.column_cards(measure_similarity(ORIGINAL, release, SCHEMA))
    assert (found[0].title, found[0].level, found[0].word) == (
        "age",
        "poor",
        "do not use",
    )
    assert {each.level for each in found if each.title in ("city", "married")} == {
        "good"
    }
    assert all(each.independent is None for each in found), (
        "no competitor for a single column"
    )
    assert len(found) == len(SCHEMA.columns)


def test_pairs_have_perfect_chance_and_independent_on_one_scale() -> None:
    """Whether a relation is lost could not be seen without knowing what independent
    columns would score.
    """
    lost = cards.pair_cards(
        measure_similarity(ORIGINAL, independent(ORIGINAL, 2_000, 2), SCHEMA)
    )
    kept = cards.pair_cards(measure_similarity(ORIGINAL, people(2_000, 2), SCHEMA))
    for name in ("age", "married", "income"):
        bad, good = (
            next(each for each in found if each.title == name) for found in (lost, kept)
        )
        assert bad.level == "poor"
        assert good.level == "good"
        assert bad.independent is not None
        assert bad.floor < good.value < bad.value
        assert abs(bad.value - bad.independent) < 0.3 * bad.independent
    alone = next(each for each in lost if each.title == "city")
    assert alone.word == "relations kept: –"
    end = cards.scale_end(lost)
    assert end >= max(each.value for each in lost)
    places = [
        float(each)
        for each in re.findall(r"calc\(([\d.]+)%", cards.cards_html(lost, end=end))
    ]
    assert len(places) == 3 * len(lost)
    assert 0 <= min(places) <= max(places) <= 100


def test_rare_values_that_went_are_counted() -> None:
    """A release that lost every rare value would look like the original."""
    original = people(2_000, 1)
    original["children"] = np.where(
        np.arange(2_000) < 10, 9, original["children"].clip(upper=5)
    )
    found = measure_similarity(original, original[original["children"] != 9], SCHEMA)
    assert next(
        each for each in found.columns if each.column == "children"
    ).rare_values == (
        1,
        0,
    )


def test_names_are_no_markup() -> None:
    """A column's name could run a script on the page."""
    card = cards.Card(
        title="<img src=x onerror=alert(1)>",
        level="good",
        word="good",
        value=0.1,
        floor=0.1,
    )
    assert "<img" not in cards.cards_html([card], end=1.0)
    assert cards.filter_cards([card], "IMG") == [card]
    assert cards.filter_cards([card], "age") == []


def test_marks_have_their_place_in_every_language() -> None:
    """A decimal comma is no style: in German every mark would stand at the left end."""
    card = cards.Card(title="age", level="good", word="good", value=0.333, floor=0.111)
    with use_language("de"):
        assert re.findall(r"calc\((.*?)%", cards.cards_html([card], end=1.0)) == [
            "11.1",
            "33.3",
        ]
