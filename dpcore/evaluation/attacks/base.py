"""Input tables and results that all attacks share.

A rate never comes without baseline and control.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpcore.evaluation._records import Records, gower_distances
from dpcore.evaluation.attacks._rates import CONFIDENCE, Rate, rate_difference

_MAX_DISTANCES = 8_000_000
"""Most distances to compute at once, to bound memory."""


@dataclass(frozen=True, kw_only=True)
class AttackResult:
    """Success rates of one attack, with baseline and control.

    Attributes:
        attack: its name.
        rate: against people whose rows are behind the release.
        baseline: of an attacker who does not use the release, or its relations.
        control: the same attack against people who are not in the release; None without
            any. What the release teaches about the whole population counts here as
            well, and is no leak.
    """

    attack: str
    rate: Rate
    baseline: Rate
    control: Rate | None

    @property
    def excess(self) -> tuple[float, float, float] | None:
        """Rate minus control, with lower and upper bound; None without a control.

        The bounds are at level `CONFIDENCE`.
        """
        return (
            None
            if self.control is None
            else rate_difference(self.rate, self.control, CONFIDENCE)
        )

    @property
    def risk(self) -> float | None:
        """The risk added by the release: (rate - control) / (1 - control).

        None without a control. Source: Giomi, Boenisch, Wehmeyer, Tasnadi (2023),
        equation 2.
        """
        if self.control is None:
            return None
        open_to = 1 - self.control.value
        return (
            max(0.0, (self.rate.value - self.control.value) / open_to)
            if open_to
            else 0.0
        )

    @property
    def succeeds(self) -> bool | None:
        """Whether the attack works better on people in the release, beyond chance.

        None without a control.
        """
        return None if self.excess is None else self.excess[1] > 0


@dataclass(frozen=True, kw_only=True, eq=False)
class Scene:
    """Tables, number of attempts and random generator of an attack.

    Attributes:
        original: people whose rows are behind the release.
        release: visible to everybody.
        control: people of the same kind outside the release, as many as the original.
        attempts: people, or guesses, for each figure.
    """

    original: Records
    release: Records
    control: Records | None
    attempts: int
    rng: np.random.Generator

    def choose_targets(self, people: Records) -> Records:
        """Choose people to attack at random, each at most once."""
        return people.take(self.rng.permutation(len(people))[: self.attempts])


def nearest_rows(
    targets: Records,
    table: Records,
    rng: np.random.Generator,
    *,
    columns: Sequence[int] | None = None,
    count: int = 1,
    excluded_rows: npt.NDArray[np.int64] | None = None,
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
    """Return the nearest rows of a table for each target, and the smallest distance.

    Args:
        excluded_rows: for each target, its own row in the table, which does not count.

    Returns: (targets, count) rows, and (targets,) distances.
    """
    chunk = max(1, _MAX_DISTANCES // len(table))
    rows = []
    closest = []
    for start in range(0, len(targets), chunk):
        some = np.arange(start, min(start + chunk, len(targets)))
        gaps = gower_distances(targets.take(some), table, columns)
        if excluded_rows is not None:
            gaps[np.arange(len(some)), excluded_rows[some]] = np.inf
        # Break ties at random: unequal float32 distances differ by more than this
        jittered = gaps + 1e-5 * rng.random(gaps.shape)
        count_here = min(count, len(table))
        rows.append(np.argpartition(jittered, count_here - 1, axis=1)[:, :count_here])
        closest.append(gaps.min(axis=1))
    return np.concatenate(rows), np.concatenate(closest)
