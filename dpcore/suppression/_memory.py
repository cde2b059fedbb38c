"""What attacks on versions of the same tables remember: ways to place the people.

Whole people that fit everything one kind of readers knows may fit what others know, or
the tables after a cell was hidden or shown. Whether they do is checked exactly, so a
way that is remembered is as good a witness as a new one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

MAX_REMEMBERED_NUMBERS = 4_000_000  # of all ways of one kind of readers
MAX_REMEMBERED_WAYS = 300  # of one kind of readers

Floats = npt.NDArray[np.float64]


class AttackMemory:
    """Ways to place the people of some tables, by kind of readers.

    Attributes:
        last_told: the question that was answered last time that something was told;
            empty at first.
    """

    def __init__(self) -> None:
        self.last_told = ""
        self._ways: dict[tuple[str, int], list[Floats]] = {}

    def recall(self, kinds: Sequence[str], size: int) -> Floats:
        """Return (atoms, ways) the people of each atom, NaN if unknown.

        Args:
            kinds: of readers.
        """
        ways = [way for kind in kinds for way in self._ways.get((kind, size), [])]
        return np.array(ways).T if ways else np.zeros((size, 0))

    def keep(self, kind: str, people: Floats) -> None:
        """Remember a way to place the people, and forget the oldest ones beyond a limit.

        Args:
            people: (atoms,) whole numbers, NaN if unknown.
        """
        ways = self._ways.setdefault((kind, len(people)), [])
        ways.append(people)
        most = MAX_REMEMBERED_NUMBERS // max(1, len(people))
        del ways[: -min(MAX_REMEMBERED_WAYS, max(1, most))]
