"""Attacks that look for people's rows in a release, as copies or nearest records.

Source of the second: Platzer, Reutterer (2021), "Holdout-based empirical assessment of
mixed-type synthetic data", section 3.2.
"""

import numpy as np

from dpcore.evaluation._records import Records, gower_distances
from dpcore.evaluation.attacks._rates import Rate
from dpcore.evaluation.attacks.base import AttackResult, Scene, nearest_rows

MAX_LINKED_PEOPLE = 2_000
"""Most people in one-to-one matching: the time grows with the cube of their number."""


def attack_by_exact_copies(scene: Scene) -> AttackResult:
    """Count the released rows that equal the whole row of a person.

    Baseline: the original with each column shuffled on its own.
    """
    own = _row_bytes(scene.original)
    released = _row_bytes(scene.choose_targets(scene.release))
    strangers = _row_bytes(scene.choose_targets(scene.original.shuffle(scene.rng)))
    return AttackResult(
        attack="exact copies",
        rate=_rate_of_copies(released, own),
        baseline=_rate_of_copies(strangers, own),
        control=None
        if scene.control is None
        else _rate_of_copies(released, _row_bytes(scene.control)),
    )


def attack_by_closest_record(scene: Scene) -> AttackResult:
    """Count the released rows that are closer to the original than to the control.

    Half of the released rows are tested so, the other half the other way round; ties
    are decided by chance. Without a control, the rival is the rest of the release.
    Baseline: a half. Each half has at most as many rows as there are people: more would
    meet the same few, and not be independent.
    """
    people = min(len(scene.original), len(scene.control or scene.release))
    order = scene.rng.permutation(len(scene.release))[: 2 * min(scene.attempts, people)]
    probes = scene.release.take(order)
    original = scene.original.take(scene.rng.permutation(len(scene.original))[:people])
    _, to_original = nearest_rows(probes, original, scene.rng)
    if scene.control:
        _, to_rival = nearest_rows(probes, scene.control, scene.rng)
    else:
        _, to_rival = nearest_rows(
            probes, scene.release, scene.rng, excluded_rows=order
        )
    coin = scene.rng.random(len(probes)) < 0.5
    closer = np.where(to_original == to_rival, coin, to_original < to_rival)
    first = (
        np.arange(len(probes)) < len(probes) / 2
        if scene.control
        else np.ones(len(probes), dtype=bool)
    )
    half = int(first.sum())
    return AttackResult(
        attack="closest record",
        rate=Rate(successes=int(closer[first].sum()), attempts=half),
        baseline=Rate(successes=half // 2, attempts=half),
        control=Rate(
            successes=int((~closer[~first]).sum()), attempts=int((~first).sum())
        )
        if scene.control
        else None,
    )


def attack_by_one_to_one_linkage(scene: Scene) -> AttackResult:
    """Link released rows to people one to one; count links to people in the release.

    Half of the people are from the original, the other half from the control; the
    matching has the least sum of distances, ties are decided by chance. Without a
    control, the others are the original with each column shuffled. Baseline: a half.
    Source: Domingo-Ferrer, Torra (2003), linkage by distance, with the constraint that
    no row is linked twice.
    """
    from scipy.optimize import linear_sum_assignment

    others = scene.control or scene.original.shuffle(scene.rng)
    size = min(
        MAX_LINKED_PEOPLE // 2, len(scene.release), len(scene.original), len(others)
    )
    rows, *people = (
        table.take(scene.rng.permutation(len(table))[:size])
        for table in (scene.release, scene.original, others)
    )
    gaps = np.hstack([gower_distances(rows, person) for person in people])
    _, linked = linear_sum_assignment(gaps + 1e-5 * scene.rng.random(gaps.shape))
    rate = Rate(successes=int((linked < size).sum()), attempts=size)
    return AttackResult(
        attack="one-to-one linkage",
        rate=rate,
        baseline=Rate(successes=size // 2, attempts=size),
        control=None
        if scene.control is None
        else Rate(successes=size - rate.successes, attempts=size),
    )


def _row_bytes(table: Records) -> list[bytes]:
    matrix = (
        np.column_stack([np.nan_to_num(column, nan=-1e9) for column in table.values])
        + 0.0
    )
    return [row.tobytes() for row in matrix]


def _rate_of_copies(rows: list[bytes], people: list[bytes]) -> Rate:
    known = set(people)
    return Rate(successes=sum(row in known for row in rows), attempts=len(rows))
