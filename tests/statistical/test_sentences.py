"""Sentences of a page hold together: over many draws at most one page in twenty says anything false."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.release import Release
from dpcore.synthesis.consistency import consistent
from dpcore.tables.counts import Marginal
from tests.statistical.laws import at_least
from workbench.ui.report import of_release, sentences

WARDS, STAYS, COLUMNS = tuple("abcdefghijkl"), 6, 4
PEOPLE = np.array([5050, *[450] * 11])
DAYS = np.array([3000, 3300, 1800, 1100, 500, 300])
QUICK, ALL = 400, 10_000
HALF_WIDTH = sentences.half_width
SCALES = {"": 1.0, "ward": 250.0, "days": 120.0}


def noise(rng: np.random.Generator, scale: float, cells: int) -> np.ndarray:
    """Draws of the discrete Laplace law, by numpy."""
    chance = 1 - math.exp(-1 / scale)
    return rng.geometric(chance, cells) - rng.geometric(chance, cells) + 0.0


def with_noise_of(release: Release, true: Mapping[str, np.ndarray], seed: int) -> Release:
    """The same release with other noise: the number of rows is known well, the columns are not."""
    rng, tables = np.random.default_rng(seed), []
    for clique in [(), *((name,) for name in true)]:
        counts = true[clique[0]] if clique else np.array(PEOPLE.sum())
        scale = SCALES[clique[0].split()[0] if clique else ""]
        variance = 2 * math.exp(-1 / scale) / (1 - math.exp(-1 / scale)) ** 2
        values = counts + noise(rng, scale, counts.size).reshape(counts.shape)
        tables.append(Marginal(clique=clique, values=values, variance=variance, noise="laplace"))
    agreed = consistent(release.schema.domain, tables)
    model = dataclasses.replace(release.model, marginals=agreed)
    return dataclasses.replace(release, marginals={each.clique: each for each in agreed}, model=model)


TRUE = {**{f"ward {i}": PEOPLE for i in range(COLUMNS)}, "days": DAYS}


@pytest.fixture(scope="module")
def release() -> Release:
    """A release of 10,000 people with wards and days."""
    wards = [dp.Categorical(f"ward {i}", categories=WARDS) for i in range(COLUMNS)]
    columns = (*wards, dp.Integer("days", low=0, high=STAYS - 1))
    frame = pd.DataFrame({each.name: np.repeat(WARDS, PEOPLE) for each in wards})
    frame["days"] = np.repeat(np.arange(STAYS), DAYS)
    schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
    curator = dp.Curator.open(frame, schema, budget=dp.PureDP(epsilon="9"), ledger=dp.MemoryLedger())
    return curator.run(dp.Marginals(cliques=[(), *((name,) for name in frame)]), dp.PureDP(epsilon="1"))


def is_true(words: str, counts: np.ndarray, labels: tuple[str, ...]) -> bool:
    """Whether a sentence, as a person reads it, is true of the counts of its column."""
    words, whole = words.replace("\u202f", " "), counts.sum()
    if hit := re.fullmatch(r"The largest is (\w+): (\d+) to (\d+) % of the people counted\.", words):
        cell = labels.index(hit[1])
        return bool(counts[cell] == counts.max() and int(hit[2]) <= 100 * counts[cell] / whole <= int(hit[3]))
    if hit := re.fullmatch(r"The largest is one of (.*) and (\w+); the noise hides which\.", words):
        return any(counts[labels.index(each)] == counts.max() for each in (*hit[1].split(", "), hit[2]))
    if hit := re.fullmatch(
        r"More than half of the people counted, (\d+) to (\d+) %: from (\d+) to below (\d+)\.", words
    ):
        share = 100 * counts[int(hit[3]) : int(hit[4])].sum() / whole
        return bool(share > 50 and int(hit[1]) <= share <= int(hit[2]))
    assert words in ("", "No difference between these counts can be told from noise.",
                     "The noise hides which of these counts is the largest."), words  # fmt: skip
    return True


def page_is_true(release: Release, level: float) -> bool:
    """Whether the number at the top and all sentences over charts are true of the table."""
    words = of_release._lead(release, level)
    lead = re.fullmatch(r"([\d,]+) people were counted, give or take ([\d.,]+)\.", words)
    assert lead is not None
    about, half = (float(each.replace(",", "")) for each in lead.groups())
    return abs(about - PEOPLE.sum()) <= half + 1 and all(
        is_true(sentences.sentence(release, name, level), counts, WARDS) for name, counts in TRUE.items()
    )


def true_pages(release: Release, draws: int) -> int:
    """How many of so many pages say nothing false."""
    level = sentences.level_of(release)
    return sum(page_is_true(with_noise_of(release, TRUE, seed), level) for seed in range(draws))


@pytest.mark.parametrize("draws", [QUICK, pytest.param(ALL, marks=pytest.mark.proof)])
def test_all_sentences_of_a_page_are_true_together(release: Release, draws: int) -> None:
    """More than one page in twenty would tell its readers something that is not so."""
    assert at_least(true_pages(release, draws), draws, 0.95)


def test_sentences_are_said_at_all(release: Release) -> None:
    """The test above would pass pages that say nothing."""
    one = with_noise_of(release, TRUE, 0)
    said = [sentences.sentence(one, name, sentences.level_of(one)) for name in TRUE]
    assert [each[:14] for each in said] == ["The largest is"] * COLUMNS + ["More than half"]


def test_single_intervals_are_rejected(release: Release, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above would pass sentences each of which holds in 95 of 100 cases alone."""
    right = Release.answer
    monkeypatch.setattr(Release, "answer", lambda self, columns, *, level: right(self, columns))
    monkeypatch.setattr(
        sentences, "half_width", lambda *law, pooled: HALF_WIDTH(*law[:2], 0.95, pooled=pooled)
    )
    assert not at_least(true_pages(release, QUICK), QUICK, 0.95)
