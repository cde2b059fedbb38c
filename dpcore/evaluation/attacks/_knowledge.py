"""Attacks by somebody who knows some columns of a person: linkage and inference.

Source: Giomi, Boenisch, Wehmeyer, Tasnadi (2023), sections 4.2 and 4.3.
"""

import numpy as np

from dpcore.evaluation._records import Bools, Floats, Records
from dpcore.evaluation.attacks._rates import Rate
from dpcore.evaluation.attacks.base import AttackResult, Scene, nearest_rows

NEIGHBORS_PER_HALF = 5
"""Nearest released rows of each half of a person's row that may be linked."""

GUESS_TOLERANCE = 0.05
"""Largest error of a right guess of a number, as a share of the declared range."""


def attack_by_linkage(scene: Scene) -> AttackResult:
    """Link two halves of people's columns by the released rows near both halves.

    A person is linked if a released row is among the five closest to both parts. The
    parts are every second column and the others. Baseline: five and five random
    released rows.
    """
    first = list(range(0, len(scene.release.names), 2))
    second = list(range(1, len(scene.release.names), 2))

    def rate(people: Records) -> Rate:
        targets = scene.choose_targets(people)
        ours, _ = nearest_rows(
            targets, scene.release, scene.rng, columns=first, count=NEIGHBORS_PER_HALF
        )
        theirs, _ = nearest_rows(
            targets, scene.release, scene.rng, columns=second, count=NEIGHBORS_PER_HALF
        )
        linked = (ours[:, :, None] == theirs[:, None, :]).any(axis=(1, 2))
        return Rate(successes=int(linked.sum()), attempts=len(targets))

    rows = len(scene.release)
    people = min(scene.attempts, len(scene.original))
    count = min(rows, NEIGHBORS_PER_HALF)
    by_chance = [
        not set(scene.rng.choice(rows, count, replace=False)).isdisjoint(
            scene.rng.choice(rows, count, False)
        )
        for _ in range(people)
    ]
    return AttackResult(
        attack="linkability",
        rate=rate(scene.original),
        baseline=Rate(successes=sum(by_chance), attempts=people),
        control=None if scene.control is None else rate(scene.control),
    )


def attack_by_inference(scene: Scene, secret: str | None = None) -> AttackResult:
    """Guess one column of each person from the closest released row.

    Their other columns are known. Baseline: the value of a random released row.

    Args:
        secret: that column; None for a random column for each person.
    """
    names = scene.release.names
    secrets = range(len(names)) if secret is None else [names.index(secret)]

    def rate(people: Records, *, informed: bool = True) -> Rate:
        targets = scene.choose_targets(people)
        secret_of = scene.rng.choice(np.array(secrets), len(targets))
        right = 0
        for column in secrets:
            some = targets.take(secret_of == column)
            if not len(some):
                continue
            known = [other for other in range(len(names)) if other != column]
            if informed:
                rows = nearest_rows(some, scene.release, scene.rng, columns=known)[0][
                    :, 0
                ]
            else:
                rows = scene.rng.integers(len(scene.release), size=len(some))
            right += int(
                _is_right(some, column, scene.release.values[column][rows]).sum()
            )
        return Rate(successes=right, attempts=len(targets))

    return AttackResult(
        attack="inference",
        rate=rate(scene.original),
        baseline=rate(scene.original, informed=False),
        control=None if scene.control is None else rate(scene.control),
    )


def _is_right(people: Records, column: int, guesses: Floats) -> Bools:
    values = people.values[column]
    if not people.ordered[column]:
        return np.asarray(values == guesses)
    return (np.abs(values - guesses) <= GUESS_TOLERANCE) | (
        np.isnan(values) & np.isnan(guesses)
    )
