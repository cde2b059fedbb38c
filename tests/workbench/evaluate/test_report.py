"""The verdict: a sentence that a person may act on, for releases whose quality is
known.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpcore.evaluation.utility import measures
from dpcore.evaluation.utility.similarity import measure_similarity
from dpcore.schema import Categorical, PrivacyUnit, Schema
from tests.evaluation.people import SCHEMA, independent, people
from workbench.evaluate.relations import kept_relations
from workbench.evaluate.report import (
    LearningScore,
    column_with_changed_zeros,
    place_measures,
    verdict_of_learning,
    verdict_of_similarity,
)

ORIGINAL = people(2_000, 1)
MEASURES = [
    each for each in vars(measures).values() if isinstance(each, measures.Measure)
]


def judged(release: pd.DataFrame, *, ours: bool = True):
    return verdict_of_similarity(
        measure_similarity(ORIGINAL, release, SCHEMA), is_from_recipe=ours
    )


def test_another_sample_is_good() -> None:
    """A release as good as a second sample would be warned of."""
    found = judged(people(2_000, 2))
    assert found.level == "good"
    assert found.actions == ()
    assert "relations between columns" in found.sentence


def test_independent_columns_are_poor() -> None:
    """A release that lost every relation would pass, because each column is right."""
    found = judged(independent(ORIGINAL, 2_000, 2))
    assert found.level == "poor"
    assert (
        "columns drawn independently would be as good" in found.sentence
        or "single columns only" in found.sentence
    )
    assert any("larger share of the budget" in action for action in found.actions)


def test_a_wrong_column_is_named() -> None:
    """Half of a column would be wrong, and nobody told not to use it."""
    release = people(2_000, 2)
    release.loc[:999, "age"] = 20
    found = judged(release)
    assert found.level != "good"
    assert any("Do not use figures about age" in action for action in found.actions)


def test_a_lost_spike_at_zero_is_named() -> None:
    """A mean that doubled because zeros were spread out would be praised."""
    release = people(2_000, 2)
    release["children"] = release["children"].clip(lower=1)
    report = measure_similarity(ORIGINAL, release, SCHEMA)
    zeros = column_with_changed_zeros(report)
    assert zeros is not None
    assert zeros.column == "children"
    assert any(
        "Do not use the mean of children" in action
        for action in verdict_of_similarity(report, is_from_recipe=True).actions
    )


def test_a_foreign_file_has_no_budget() -> None:
    """Somebody would be told to spend more on a file that no release of ours made."""
    found = judged(independent(ORIGINAL, 2_000, 2), ours=False)
    assert not any("budget" in action for action in found.actions)


def test_an_original_without_relations() -> None:
    """Columns that are independent in the original would count as lost."""
    flat = independent(ORIGINAL, 4_000, 5)
    report = measure_similarity(flat.iloc[:2_000], flat.iloc[2_000:], SCHEMA)
    assert kept_relations(report) is None
    assert (
        "almost independent"
        in verdict_of_similarity(report, is_from_recipe=True).sentence
    )


def test_one_strong_relation_is_not_drowned_by_unrelated_columns() -> None:
    """A release that lost the only relation of a wide table was judged good."""
    rng = np.random.default_rng(3)
    schema = Schema(
        columns=tuple(
            Categorical(name=f"c{place}", categories=("a", "b", "c"))
            for place in range(12)
        ),
        unit=PrivacyUnit(max_rows=1),
    )
    original, drawn = (
        pd.DataFrame(
            {name: rng.choice(list("abc"), 4_000) for name in schema.domain.names}
        )
        for _ in range(2)
    )
    original["c1"] = original["c0"]
    lost = measure_similarity(original, drawn, schema)
    assert kept_relations(lost) == pytest.approx(0, abs=0.05)
    assert verdict_of_similarity(lost, is_from_recipe=True).level == "poor"
    drawn["c1"] = drawn["c0"]
    kept = kept_relations(measure_similarity(original, drawn, schema))
    assert kept == pytest.approx(1, abs=0.05)


def test_ends_do_not_spoil_a_release_of_single_columns() -> None:
    """Forty right counts were "fit for few questions", because drawn ends follow drawn
    begins that they do not belong to.
    """
    release = people(2_000, 2)
    release["city"] = release["city"].sort_values(ignore_index=True).iloc[0]
    similarity = measure_similarity(ORIGINAL, release, SCHEMA)
    given = {"is_from_recipe": True, "counts_columns_alone": True}
    spoilt = verdict_of_similarity(similarity, **given)
    assert spoilt.level == "poor"
    found = verdict_of_similarity(similarity, **given, dependent=["city"])
    assert found.level == "mixed"
    assert found.sentence.startswith("Fit for counting one column at a time")
    assert found.actions[0].startswith("Use the counts of city")


def test_one_column_is_judged_by_itself() -> None:
    """A histogram has no relations to keep."""
    found = judged(people(2_000, 2)[["city"]])
    assert found.level == "good"
    assert "one column at a time" in found.sentence


@pytest.mark.parametrize(
    ("of", "level", "begins"),
    [
        (
            (0.75, 0.77, 0.65),
            "good",
            "Fit for learning label. A model trained on the release is right in 75\u202f% of "
            "cases. ",
        ),
        ((0.71, 0.77, 0.65), "mixed", "Fit for learning label, with losses. "),
        ((0.66, 0.77, 0.65), "poor", "Not fit for learning label. "),
        ((0.60, 0.77, 0.65), "poor", "Not fit for learning label. "),
        (
            (0.65, 0.66, 0.65),
            "mixed",
            "This release was made for learning label, but even the original says "
            "almost nothing about it.",
        ),
    ],
)
def test_a_release_for_learning_is_judged_by_learning(
    of: tuple[float, ...], level: str, begins: str
) -> None:
    """A release whose classifier is nearly as good as without privacy was "not fit for
    questions about two columns", and no word of what it was made for.
    """
    counting = judged(independent(ORIGINAL, 2_000, 2), ours=False)
    sides = dict(zip(("release", "original", "majority"), of, strict=True))
    found = verdict_of_learning(
        LearningScore(target="label", measure="accuracy", score_of_source=sides),
        counting,
    )
    assert found.level == level
    assert found.sentence.startswith(begins)
    assert any(action.endswith(counting.sentence) for action in found.actions)
    has_more = any("larger share of the budget" in action for action in found.actions)
    assert has_more == begins.startswith(("Not fit", "Fit for learning label, with")), (
        "it would pay for nothing"
    )


def test_a_number_that_is_learned_is_judged_by_its_fit() -> None:
    """An R² would be called a share of right answers."""
    sides = {"release": 0.31, "original": 0.35, "majority": -0.01}
    found = verdict_of_learning(
        LearningScore(target="age", measure="r2", score_of_source=sides),
        judged(people(2_000, 2)),
    )
    assert found.level == "good"
    assert found.sentence == (
        "Fit for learning age. A model trained on the release has R² 0.31; training on "
        "the original gives 0.35."
    )


def test_places_between_perfect_and_independent() -> None:
    """A dot on the chart would not be where its figure is."""
    copy = place_measures(measure_similarity(ORIGINAL, ORIGINAL, SCHEMA))
    assert copy["release"].tolist() == pytest.approx([0] * len(copy))
    rng = np.random.default_rng(1)
    shuffled = pd.DataFrame(
        {name: rng.permutation(ORIGINAL[name].to_numpy()) for name in ORIGINAL}
    )
    lost = place_measures(measure_similarity(ORIGINAL, shuffled, SCHEMA))
    assert lost["release"].tolist() == pytest.approx([1] * len(lost), abs=0.4)
    keys = {
        measure.key
        for measure in vars(measures).values()
        if isinstance(measure, measures.Measure) and measure.independent is None
    }
    assert len(lost) == len(keys) - 1  # telling apart is asked for by itself
