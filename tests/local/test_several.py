"""Several questions to one person."""

from __future__ import annotations

import dataclasses
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import dpcore.local as dl
from dpcore.errors import ParameterError
from tests.statistical import laws

SIZES = [2, 5, 3]
ANSWERS = [np.tile([0, 1], 300), np.tile([0, 1, 1, 2, 4], 120), np.tile([2, 2, 1], 200)]


def test_the_losses() -> None:
    """Answers to several questions add up; one question drawn at random costs its own
    loss.
    """
    shared = dl.ask_all_questions(dl.RandomizedResponse, SIZES, "1")
    assert shared.epsilon == 1
    assert [protocol.epsilon for protocol in shared.protocols] == [Fraction(1, 3)] * 3
    drawn = dl.ask_one_question(dl.RandomizedResponse, SIZES, "1")
    assert drawn.epsilon == 1
    assert [protocol.epsilon for protocol in drawn.protocols] == [1] * 3


@pytest.mark.parametrize("make", [dl.ask_all_questions, dl.ask_one_question])
@pytest.mark.parametrize(
    "kind", [dl.RandomizedResponse, dl.OptimizedUnary, dl.LocalHashing]
)
def test_unbiased(make: object, kind: type[dl.Protocol]) -> None:
    """Either way must estimate every question without bias."""
    design = make(kind, SIZES, 2)  # type: ignore[operator]
    found: list[list[np.ndarray]] = [[], [], []]
    for _ in range(300):
        for place, estimate in enumerate(design.estimate(design.perturb(ANSWERS))):
            found[place].append(estimate.frequencies)
    for place, answers in enumerate(ANSWERS):
        truth = np.bincount(answers, minlength=SIZES[place]) / len(answers)
        shares = np.array(found[place])
        assert all(
            stats.ttest_1samp(shares[:, code], truth[code]).pvalue > laws.FALSE_ALARM
            for code in range(SIZES[place])
        )


def test_everybody_answers_one_drawn_evenly() -> None:
    """A draw that is uneven, or depends on the answer, would itself be an answer."""
    design = dl.ask_one_question(dl.RandomizedResponse, SIZES, 2)
    sizes = np.array(
        [[len(each) for each in design.perturb(ANSWERS)] for _ in range(100)]
    )
    assert (sizes.sum(axis=1) == 600).all()
    assert (
        laws.chi_square_of_counts(sizes.sum(axis=0), np.full(3, 20_000))
        > laws.FALSE_ALARM
    )
    assert (
        laws.chi_square_of_counts(sizes.sum(axis=0), np.array([22_000, 18_000, 20_000]))
        < 1e-6
    )


def test_sampling_beats_splitting_many_questions() -> None:
    """Why sampling is offered: with many questions a small share of epsilon costs more
    than fewer answers.
    """
    ways = [
        make(dl.OptimizedUnary, [4] * 10, 1).mean_variances(10_000)[0]
        for make in (dl.ask_all_questions, dl.ask_one_question)
    ]
    assert ways[1] < ways[0] / 5


def test_stated_variance_holds_the_draw_of_the_people() -> None:
    """At a large epsilon the error of asking a part of the people is nearly all of it,
    and was left out.
    """
    people = 1_000
    runs = 400
    design = dl.ask_one_question(dl.RandomizedResponse, [2, 2, 2, 2], 8)
    codes = np.arange(people) % 2
    found = [
        design.estimate(design.perturb([codes] * 4))[0].frequencies[0] - 0.5
        for _run in range(runs)
    ]
    measured = float(np.mean(np.square(found)))
    stated = design.mean_variances(people)[0]
    bounds = stats.chi2.ppf([5e-7, 1 - 5e-7], runs) / runs
    assert bounds[0] < measured / stated < bounds[1]
    noise = design.protocols[0].mean_variance(people // 4)
    assert measured / noise > bounds[1]  # the twin: the noise alone


@pytest.mark.parametrize("share", [0.5, 0.1])
def test_intervals_hold_the_draw_of_the_people(share: float) -> None:
    """At a large epsilon an interval of the noise alone misses the share of all people
    nine times in ten.
    """
    people = 2_000
    runs = 400
    design = dl.ask_one_question(dl.RandomizedResponse, [2] * 4, 6)
    codes = (np.arange(people) < share * people).astype(int)
    estimates = [
        design.estimate(design.perturb([codes] * 4))[0] for _run in range(runs)
    ]
    assert all(each.is_sample for each in estimates)
    assert (
        not dl.ask_all_questions(dl.RandomizedResponse, [2, 2], 6)
        .estimate([[0, 1], [0, 1]])[0]
        .is_sample
    )
    held = [
        each.interval(0.95)[0][1] <= share <= each.interval(0.95)[1][1]
        for each in estimates
    ]
    assert (
        stats.binomtest(sum(held), runs, 0.95, alternative="less").pvalue
        > laws.FALSE_ALARM
    )
    # the twin
    noise = [
        dataclasses.replace(each, is_sample=False).interval(0.95) for each in estimates
    ]
    missed = [low[1] <= share <= high[1] for low, high in noise]
    assert (
        stats.binomtest(sum(missed), runs, 0.95, alternative="less").pvalue
        < laws.FALSE_ALARM
    )


def test_the_interval_of_a_draw_is_wilsons() -> None:
    """At an epsilon without noise it must be the score interval of a share of a
    draw.
    """
    estimate = dl.Estimate(
        support=np.array([30, 70]),
        people=100,
        p=Fraction(1),
        q=Fraction(0),
        is_sample=True,
    )
    wilson = stats.binomtest(70, 100).proportion_ci(0.95, "wilson")
    low, high = estimate.interval(0.95)
    assert (low[1], high[1]) == (pytest.approx(wilson.low), pytest.approx(wilson.high))


def test_refusals() -> None:
    """Lists that do not fit the questions are refused, and no question at all."""
    design = dl.ask_all_questions(dl.RandomizedResponse, SIZES, 1)
    for answers in ([], [[0]], [[0], [0], [0, 1]], [[0], [9], [0]]):
        with pytest.raises(ParameterError):
            design.perturb(answers)
    for make in (dl.ask_all_questions, dl.ask_one_question):
        with pytest.raises(ParameterError, match="question"):
            make(dl.RandomizedResponse, [], 1)
