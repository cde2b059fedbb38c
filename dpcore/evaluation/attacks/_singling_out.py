"""Attacks that single people out by questions with exactly one match.

Source: Cohen, Nissim (2020) for the notion; Giomi, Boenisch, Wehmeyer, Tasnadi (2023),
section 4.1, for how the questions are made.
"""

from dataclasses import dataclass

import numpy as np

from dpcore.evaluation._records import Bools, Records
from dpcore.evaluation.attacks._rates import Rate
from dpcore.evaluation.attacks.base import AttackResult, Scene

QUESTION_COLUMNS = 3
"""Columns in a question about several; more fit nobody."""

_TRIES_PER_QUESTION = 30
"""Tries to find one question that fits a single released row."""


@dataclass(frozen=True, kw_only=True)
class _Condition:
    """Condition on the value of one column, as part of a question."""

    column: int
    comparison: str
    value: float

    def mark_matching_rows(self, table: Records) -> Bools:
        values = table.values[self.column]
        if self.comparison == "missing":
            return table.missing(self.column)
        if self.comparison == "equal":
            return np.asarray(values == self.value)
        return np.asarray(
            values >= self.value
            if self.comparison == "at least"
            else values <= self.value
        )


Question = tuple[_Condition, ...]


def single_out_by_one_column(scene: Scene) -> AttackResult:
    """Ask for values that occur once in a column of the release, or for its extremes.

    Baseline: a random value of one column, compared in a random way.
    """
    questions = [
        (part,)
        for column in range(len(scene.release.names))
        for part in _rare_conditions(scene.release, column)
    ]
    chosen = scene.rng.permutation(len(questions))[: scene.attempts]
    return _attack_result(
        scene, "singling out by one column", [questions[i] for i in chosen], 1
    )


def single_out_by_several_columns(scene: Scene) -> AttackResult:
    """Ask for values of three columns that match exactly one released row.

    Numbers above the median ask for at least as much, others for at most as much.
    Baseline: three values of three columns, chosen and compared at random.
    """
    release = scene.release
    columns = min(QUESTION_COLUMNS, len(scene.release.names))
    medians = [
        float(np.nanmedian(values)) if ordered and not np.isnan(values).all() else 0.0
        for values, ordered in zip(release.values, release.ordered, strict=True)
    ]
    questions: set[Question] = set()
    for _ in range(_TRIES_PER_QUESTION * scene.attempts):
        if len(questions) == scene.attempts:
            break
        row = int(scene.rng.integers(len(release)))
        chosen = np.sort(scene.rng.choice(len(release.names), columns, replace=False))
        question = tuple(
            _condition_of_row(release, row, int(column), medians[column])
            for column in chosen
        )
        if question not in questions and _count_matches(question, release) == 1:
            questions.add(question)
    return _attack_result(
        scene, "singling out by several columns", list(questions), columns
    )


def _attack_result(
    scene: Scene, attack: str, questions: list[Question], columns: int
) -> AttackResult:
    by_chance = [_random_question(scene, columns) for _ in questions]
    return AttackResult(
        attack=attack,
        rate=_rate_of_questions(questions, scene.original),
        baseline=_rate_of_questions(by_chance, scene.original),
        control=None
        if scene.control is None
        else _rate_of_questions(questions, scene.control),
    )


def _rate_of_questions(questions: list[Question], people: Records) -> Rate:
    alone = sum(_count_matches(question, people) == 1 for question in questions)
    return Rate(successes=alone, attempts=len(questions))


def _count_matches(question: Question, table: Records) -> int:
    return int(
        np.logical_and.reduce(
            [part.mark_matching_rows(table) for part in question]
        ).sum()
    )


def _rare_conditions(release: Records, column: int) -> list[_Condition]:
    present = ~release.missing(column)
    values, times = np.unique(release.values[column][present], return_counts=True)
    parts = [
        _Condition(column=column, comparison="equal", value=float(value))
        for value in values[times == 1]
    ]
    if release.ordered[column] and len(values) > 1:
        parts += [
            _Condition(column=column, comparison="at most", value=float(values[0]))
        ] * int(times[0] == 1)
        parts += [
            _Condition(column=column, comparison="at least", value=float(values[-1]))
        ] * int(times[-1] == 1)
    if (~present).sum() == 1:
        parts.append(_Condition(column=column, comparison="missing", value=0.0))
    return parts


def _condition_of_row(
    release: Records, row: int, column: int, median: float
) -> _Condition:
    value = float(release.values[column][row])
    if release.missing(column)[row]:
        return _Condition(column=column, comparison="missing", value=0.0)
    if not release.ordered[column]:
        return _Condition(column=column, comparison="equal", value=value)
    return _Condition(
        column=column,
        comparison="at least" if value > median else "at most",
        value=value,
    )


def _random_question(scene: Scene, columns: int) -> Question:
    release = scene.release
    rng = scene.rng
    parts = []
    for column in rng.choice(len(release.names), columns, replace=False):
        value = float(release.values[column][rng.integers(len(release))])
        hows = (
            ("equal", "at least", "at most") if release.ordered[column] else ("equal",)
        )
        parts.append(
            _Condition(
                column=int(column), comparison=str(rng.choice(hows)), value=value
            )
        )
    return tuple(parts)
