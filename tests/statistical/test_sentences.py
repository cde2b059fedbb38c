"""Sentences of a page hold together: over many draws at most one page in twenty says
anything false.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.release import Release
from dpcore.synthesis._consistency import make_consistent
from dpcore.tables.counts import Marginal
from tests.statistical.laws import at_least
from workbench.report import compare, of_release, sentences

WARDS = tuple("abcdefghijkl")
STAYS = 6
COLUMNS = 4
PEOPLE = np.array([5050, *[450] * 11])
DAYS = np.array([3000, 3300, 1800, 1100, 500, 300])
QUICK = 400
ALL = 10_000
HALF_WIDTH = sentences.half_width
SCALES = {"": 1.0, "ward": 250.0, "days": 120.0}
FINE = {"": 1.0, "ward": 5.0, "days": 5.0}


def noise(rng: np.random.Generator, scale: float, cells: int) -> np.ndarray:
    """Draws of the discrete Laplace law, by numpy."""
    chance = 1 - math.exp(-1 / scale)
    return rng.geometric(chance, cells) - rng.geometric(chance, cells) + 0.0


def with_noise_of(
    release: Release,
    true: Mapping[str, np.ndarray],
    seed: int,
    scales: Mapping[str, float] = SCALES,
) -> Release:
    """The same release with other noise: the number of rows is known well, the columns
    are not.
    """
    rng = np.random.default_rng(seed)
    tables = []
    for clique in [(), *((name,) for name in true)]:
        counts = (
            true[clique[0]] if clique else np.array(next(iter(true.values())).sum())
        )
        scale = scales[clique[0].split()[0] if clique else ""]
        variance = 2 * math.exp(-1 / scale) / (1 - math.exp(-1 / scale)) ** 2
        values = counts + noise(rng, scale, counts.size).reshape(counts.shape)
        tables.append(
            Marginal(clique=clique, values=values, variance=variance, noise="laplace")
        )
    agreed = make_consistent(release.schema.domain, tables)
    model = dataclasses.replace(release.model, marginals=agreed)
    return dataclasses.replace(
        release, marginals={each.clique: each for each in agreed}, model=model
    )


TRUE = {**{f"ward {i}": PEOPLE for i in range(COLUMNS)}, "days": DAYS}


@pytest.fixture(scope="module")
def release() -> Release:
    """A release of 10,000 people with wards and days."""
    wards = [dp.Categorical(f"ward {i}", categories=WARDS) for i in range(COLUMNS)]
    columns = (*wards, dp.Integer("days", low=0, high=STAYS - 1))
    frame = pd.DataFrame({each.name: np.repeat(WARDS, PEOPLE) for each in wards})
    frame["days"] = np.repeat(np.arange(STAYS), DAYS)
    schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon="9"), ledger=dp.MemoryLedger()
    )
    return curator.run(
        dp.Marginals(cliques=[(), *((name,) for name in frame)]), dp.PureDP(epsilon="1")
    )


def is_true(words: str, counts: np.ndarray, labels: tuple[str, ...]) -> bool:
    """Whether a sentence, as a person reads it, is true of the counts of its column."""
    words = words.replace("\u202f", " ")
    whole = counts.sum()
    if hit := re.fullmatch(
        r"The largest is (\w+): (\d+) to (\d+) % of the people counted\.", words
    ):
        cell = labels.index(hit[1])
        return bool(
            counts[cell] == counts.max()
            and int(hit[2]) <= 100 * counts[cell] / whole <= int(hit[3])
        )
    if hit := re.fullmatch(
        r"The largest is one of (.*) and (\w+); the noise hides which\.", words
    ):
        return any(
            counts[labels.index(each)] == counts.max()
            for each in (*hit[1].split(", "), hit[2])
        )
    if hit := re.fullmatch(
        r"More than half of the people counted \((\d+) to (\d+) %\) are from (\d+) to below (\d+)\.",
        words,
    ):
        share = 100 * counts[int(hit[3]) : int(hit[4])].sum() / whole
        return bool(share > 50 and int(hit[1]) <= share <= int(hit[2]))
    assert words in (
        "",
        "None of the differences between these counts is larger than the noise.",
        "The noise hides which of these counts is the largest.",
    ), words
    return True


def page_is_true(release: Release, level: float) -> bool:
    """Whether the number at the top and all sentences over charts are true of the
    table.
    """
    words = of_release._count_sentence(release, level)
    lead = re.fullmatch(
        r"([\d,]+) people were counted, give or take ([\d.,]+)\.", words
    )
    assert lead is not None
    about, half = (float(each.replace(",", "")) for each in lead.groups())
    return abs(about - PEOPLE.sum()) <= half + 1 and all(
        is_true(sentences.claim_sentence(release, name, level), counts, WARDS)
        for name, counts in TRUE.items()
    )


def true_pages(release: Release, draws: int) -> int:
    """How many of so many pages say nothing false."""
    level = sentences.joint_level(release)
    return sum(
        page_is_true(with_noise_of(release, TRUE, seed), level) for seed in range(draws)
    )


@pytest.mark.parametrize("draws", [QUICK, pytest.param(ALL, marks=pytest.mark.proof)])
def test_all_sentences_of_a_page_are_true_together(
    release: Release, draws: int
) -> None:
    """More than one page in twenty would tell its readers something that is not so."""
    assert at_least(true_pages(release, draws), draws, 0.95)


def test_sentences_are_said_at_all(release: Release) -> None:
    """The test above would pass pages that say nothing."""
    one = with_noise_of(release, TRUE, 0)
    said = [
        sentences.claim_sentence(one, name, sentences.joint_level(one)) for name in TRUE
    ]
    assert [each[:14] for each in said] == ["The largest is"] * COLUMNS + [
        "More than half"
    ]


def test_single_intervals_are_rejected(
    release: Release, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test above would pass sentences each of which holds in 95 of 100 cases
    alone.
    """
    right = Release.answer
    monkeypatch.setattr(
        Release, "answer", lambda self, columns, *, level: right(self, columns)
    )
    monkeypatch.setattr(
        sentences,
        "half_width",
        lambda *law, pooled: HALF_WIDTH(*law[:2], 0.95, pooled=pooled),
    )
    assert not at_least(true_pages(release, QUICK), QUICK, 0.95)


def two_years(
    release: Release, seed: int
) -> tuple[Release, Release, dict[str, np.ndarray]]:
    """Two releases of years with the same rates, each with its people and noise, and
    the true differences.
    """
    rng = np.random.default_rng([seed, 1])
    people = rng.poisson(PEOPLE.sum(), 2)
    years = [
        {name: rng.multinomial(all_, each / each.sum()) for name, each in TRUE.items()}
        for all_ in people
    ]
    now, before = (
        with_noise_of(release, year, 2 * seed + i, FINE) for i, year in enumerate(years)
    )
    return now, before, {name: years[0][name] - years[1][name] for name in TRUE}


def comparison_is_true(release: Release, seed: int, level: float) -> bool:
    """Whether all that is said of differences is so: none of them is more than
    chance.
    """
    now, before, true = two_years(release, seed)
    for name, differences in true.items():
        seen = compare.compare_cells(now, before, name, level)
        wrong_side = (seen["verdict"] > 0) & (differences <= 0) | (
            seen["verdict"] < 0
        ) & (differences >= 0)
        outside = (differences < seen["low"]) | (seen["high"] < differences)
        if wrong_side.any() or outside.any() or (seen["verdict"].abs() == 2).any():
            return False
    return True


def true_comparisons(release: Release, draws: int) -> int:
    """How many of so many comparisons say nothing false."""
    level = sentences.joint_level(release, 2 * len(TRUE))
    return sum(comparison_is_true(release, seed, level) for seed in range(draws))


@pytest.mark.parametrize("draws", [100, pytest.param(1_000, marks=pytest.mark.proof)])
def test_two_equal_years_are_not_told_apart(release: Release, draws: int) -> None:
    """A board would read a change in noise, or in the chance of a small year."""
    assert at_least(true_comparisons(release, draws), draws, 0.95)


def test_a_change_is_seen(release: Release) -> None:
    """The test above would pass a comparison that never says anything."""
    half = {name: each // 2 for name, each in TRUE.items()}
    now = with_noise_of(release, TRUE, 1, FINE)
    before = with_noise_of(release, half, 2, FINE)
    verdicts = compare.compare_cells(
        now, before, "days", sentences.joint_level(now, 2 * len(TRUE))
    )["verdict"]
    assert verdicts[0] == verdicts[1] == 2
    words = compare.difference_picture(now, before, "days", 0.99)
    assert words.sentence.startswith(
        "Noise and chance do not explain these differences: more 0, 1, 2"
    )


def without_chance(
    release: Release, earlier: Release, name: str, level: float
) -> pd.DataFrame:
    """Verdicts by the noise alone."""
    seen = RIGHT(release, earlier, name, level)
    return seen.assign(verdict=2 * (seen["low"] > 0) - 2 * (seen["high"] < 0))


def alone(release: Release, earlier: Release, name: str, level: float) -> pd.DataFrame:
    """Intervals that hold in 95 of 100 cases each."""
    return RIGHT(release, earlier, name, 1 - 0.05 * release.schema.column(name).size)


RIGHT = compare.compare_cells


@pytest.mark.parametrize("wrong", [without_chance, alone])
def test_wrong_comparisons_are_rejected(
    release: Release,
    monkeypatch: pytest.MonkeyPatch,
    wrong: Any,
) -> None:
    """The test above would not see that sampling error is left out, or intervals that
    hold alone.
    """
    monkeypatch.setattr(compare, "compare_cells", wrong)
    assert not at_least(true_comparisons(release, 100), 100, 0.95)
