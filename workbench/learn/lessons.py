"""Lessons of the Learn page as data, and their results for chosen control values."""

import math
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from dpcore.synthesis.gaussian.feature_groups import MAX_GROUP_DISTANCE
from workbench import session
from workbench.language.messages import _
from workbench.language.textbook_names import textbook_names
from workbench.language.wording import (
    max_membership_probability,
    number,
    percent,
    percent_number,
)
from workbench.learn import figures
from workbench.report.document import Document, render_page

_LESSON_DATA = tomllib.loads(
    Path(__file__).with_name("lessons.toml").read_text(encoding="utf-8")
)
LESSONS: dict[str, dict[str, Any]] = {
    lesson["key"]: lesson for lesson in _LESSON_DATA["lesson"]
}
WALK_STEPS: list[dict[str, str]] = _LESSON_DATA["walk"]
"""Steps in which one company shares its customers and another asks about them."""


@dataclass(frozen=True, kw_only=True)
class LessonResult:
    """Charts, sentence values and a table computed for one lesson.

    Attributes:
        frames: one per chart.
        fields: values for the fields of its sentences.
        hidden_sentences: places of the sentences that do not hold.
        table: figures that stand below the first chart.
    """

    frames: tuple[pd.DataFrame, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    hidden_sentences: tuple[int, ...] = ()
    table: pd.DataFrame | None = None


def show_noise_laws(epsilon: float) -> LessonResult:
    """Compare the distributions of a noisy count with and without one person."""
    frame, ratio = figures.neighboring_laws(100, epsilon)
    return LessonResult(frames=(frame,), fields={"ratio": number(ratio)})


def show_float_leak(count: int) -> LessonResult:
    """Show how the last bits of floating-point noise reveal a person."""
    share, release, caught = session.compute_once(
        ("float leak", str(count)), lambda: figures.simulate_float_leak(count)
    )
    return LessonResult(
        fields={
            "other": count - 1,
            "count": count,
            "share": percent(share),
            "draws": figures.TEXTBOOK_DRAWS,
            "release": f"{release!r}",
        },
        hidden_sentences=(2,) if caught else (1,),
    )


def show_sequential_composition(names: list[str], epsilon: float) -> LessonResult:
    """Compare noise distributions, the loss of two answers, and ways to add losses."""
    laws, spreads = figures.overlaid_laws(names or list(figures.textbook_laws())[:1])
    near, far = (number(figures.loss_of_average(below)) for below in (5, 50))
    return LessonResult(
        frames=(laws, figures.loss_by_average(), figures.compose_losses(epsilon)),
        fields={
            "loss": number(figures.loss_of_two_answers()),
            "near": near,
            "far": far,
        },
        table=spreads.rename(
            columns={
                "law": _("law"),
                "variance": _("variance"),
                "off": _("mean absolute error"),
            },
        ),
    )


def show_parallel_composition(groups: int) -> LessonResult:
    """Show that counts in disjoint groups cost as much as the most expensive one."""
    apart, together = map(number, figures.cost_of_groups(groups, 1.0))
    return LessonResult(fields={"groups": groups, "apart": apart, "together": together})


def show_post_processing(epsilon: float) -> LessonResult:
    """Show that post-processing is free, and how many rows to draw."""
    return LessonResult(
        frames=(
            figures.loss_after_postprocessing(epsilon),
            figures.error_by_rows(epsilon),
        )
    )


def show_range_errors(epsilon: float) -> LessonResult:
    """Show that a histogram answers all ranges at once."""
    return LessonResult(frames=(figures.errors_by_width(epsilon),))


def show_column_errors(epsilon: float) -> LessonResult:
    """Show that more columns leave fewer rows in each cell."""
    frame = figures.errors_by_columns(epsilon)
    first, last = (percent_number(frame["error"].iloc[place]) for place in (0, -1))
    return LessonResult(
        frames=(frame,),
        fields={"cells": int(frame["cells"].max()), "first": first, "last": last},
    )


def show_linkage(epsilon: float) -> LessonResult:
    """Show how many voters match hospital visits, and rows of a private release."""
    linkage, (attack, guess) = (
        figures.link_voters_and_visits(),
        figures.attack_with_voter_list(epsilon),
    )
    steps = figures.linkage_steps()
    by_zip, by_birth, by_all = (percent(share / 100) for share in steps["alone"])
    return LessonResult(
        frames=(attack, steps),
        fields={
            "people": linkage.people,
            "unique": linkage.unique_matches,
            "fits": int(attack["found"].iloc[1]),
            "right": percent(attack["right"].iloc[1] / 100),
            "guess": percent(guess),
            "sure": percent(max_membership_probability(epsilon)),
            "by_zip": by_zip,
            "by_birth": by_birth,
            "by_all": by_all,
        },
    )


def show_local_privacy(p: float, epsilon: float, categories: int) -> LessonResult:
    """Show randomized response, its estimates, and the price of having no curator."""
    curve, estimate = figures.coin_likelihood(p)
    return LessonResult(
        frames=(
            curve,
            figures.local_and_central_errors(epsilon, categories),
            figures.truth_chance_by_epsilon(),
        ),
        fields={
            "people": estimate.people,
            "p": number(p),
            "epsilon": number(math.log(p / (1 - p))),
            "other": number(epsilon),
            "chance": number(max_membership_probability(epsilon)),
            "honest": number(2 * p - 1),
            "free": number(1 - p),
            "yes": int(estimate.support[1]),
            "share": percent(float(estimate.frequencies[1])),
        },
    )


def show_class_laws(epsilon: float) -> LessonResult:
    """Show the noisy normal law of each class, and how features are grouped."""
    shares, joined, moments = figures.release_by_class(epsilon)
    return LessonResult(
        frames=(shares, joined, figures.error_by_cluster_size()),
        fields={"cut": number(MAX_GROUP_DISTANCE)},
        table=moments.rename(columns=_),
    )


def show_hidden_counts(threshold: int) -> LessonResult:
    """Show that hidden small counts can be recovered, and how many more protect
    them.
    """
    hidden = figures.hide_small_counts(threshold)
    return LessonResult(
        frames=(hidden.values_unprotected, hidden.values_protected),
        fields={
            "threshold": threshold,
            "cells": hidden.cells,
            "small": hidden.small_counts,
            "exact": hidden.exposed_counts,
            "more": hidden.extra_hidden,
        },
    )


def show_unit(stays: int) -> LessonResult:
    """Compare noise that protects one stay with noise that protects the person."""
    of_stay, ratio = figures.neighboring_laws(100, 1.0, rows=stays)
    of_person, person_ratio = figures.neighboring_laws(
        100, 1.0, rows=stays, protected_rows=stays
    )
    return LessonResult(
        frames=(of_stay, of_person),
        fields={
            "stays": stays,
            "ratio": number(ratio),
            "sure": percent(max_membership_probability(stays)),
            "person_ratio": number(person_ratio),
            "safe": percent(max_membership_probability(1)),
            "small": number(figures.mean_error(1, 1.0)),
            "error": number(figures.mean_error(stays, 1.0)),
        },
    )


LESSON_FUNCTIONS: dict[str, Callable[..., LessonResult]] = {
    "noise": show_noise_laws,
    "floats": show_float_leak,
    "sequential": show_sequential_composition,
    "parallel": show_parallel_composition,
    "after": show_post_processing,
    "ranges": show_range_errors,
    "columns": show_column_errors,
    "holes": show_linkage,
    "local": show_local_privacy,
    "classes": show_class_laws,
    "hiding": show_hidden_counts,
    "unit": show_unit,
}


def lesson_sentences(key: str, result: LessonResult) -> list[str]:
    """Return the sentences of a lesson, with "" for each one that does not apply."""
    return [
        "" if place in result.hidden_sentences else _(text).format(**result.fields)
        for place, text in enumerate(LESSONS[key]["says"])
    ]


def right_answer(key: str) -> str:
    """Return the right answer to the question of a lesson."""
    return _(LESSONS[key]["answers"][LESSONS[key]["right"]])


def count_answers(answers: Mapping[str, int | None]) -> tuple[int, int]:
    """Return how many questions were answered, and how many of them correctly."""
    right = [
        place == LESSONS[key]["right"]
        for key, place in answers.items()
        if place is not None
    ]
    return len(right), sum(right)


def print_course() -> bytes:
    """Return the course as one page to print.

    Texts are those at the first values of all controls.
    """
    boxes = []
    for key, lesson in LESSONS.items():
        values = [
            control.get("default", control.get("options"))
            for control in lesson["controls"]
        ]
        asked = f"{_(lesson['asks'])} " + " / ".join(
            _(answer) for answer in lesson["answers"]
        )
        said = [
            textbook_names(f"lesson {key}"),
            *filter(None, lesson_sentences(key, LESSON_FUNCTIONS[key](*values))),
            asked,
            right_answer(key),
        ]
        boxes.append((_(lesson["title"]), tuple(said)))
    title = _("What privacy means, in twelve pictures")
    return render_page(Document(title=title, boxes=tuple(boxes))).html().encode()
