"""What attacks on versions of the same tables remember: ways to place the people.

Whole people that fit everything one kind of readers knows may fit what others know, or
the tables after a cell was hidden or shown. Whether they do is checked exactly, so a
way that is remembered is as good a witness as a new one.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

MAX_REMEMBERED_NUMBERS = 4_000_000  # of all ways of one kind of readers
MAX_REMEMBERED_WAYS = 300  # of readers who know the same

Floats = npt.NDArray[np.float64]


class AttackMemory:
    """Ways to place the people of some tables, by kind of readers.

    Attributes:
        last_told: the question that was answered last time that something was told;
            empty at first.
    """

    def __init__(self) -> None:
        self.last_told = ""
        self._ways: dict[tuple[str, int, frozenset[int]], list[Floats]] = {}

    def recall(self, kind: str, counted: frozenset[int], size: int) -> Floats:
        """Return (atoms, ways) the people of each atom, NaN if unknown.

        They are those of readers who know at least as much.

        Args:
            counted: rare pairs of values of which readers know how many people have each.
        """
        ways = [
            way
            for (own_kind, own_size, own), known in self._ways.items()
            if (own_kind, own_size) == (kind, size) and own >= counted
            for way in known
        ]
        return np.array(ways).T if ways else np.zeros((size, 0))

    def keep(self, kind: str, counted: frozenset[int], people: Floats) -> None:
        """Remember a way to place the people, and forget the oldest one beyond a limit.

        Args:
            counted: as of `recall`.
            people: (atoms,) whole numbers, NaN if unknown.
        """
        size = len(people)
        ways = self._ways.setdefault((kind, size, counted), [])
        ways.append(people)
        of_kind = sum(
            len(known)
            for (own_kind, own_size, _), known in self._ways.items()
            if (own_kind, own_size) == (kind, size)
        )
        most = MAX_REMEMBERED_NUMBERS // max(1, size)
        if len(ways) > MAX_REMEMBERED_WAYS or (of_kind > most and len(ways) > 1):
            del ways[0]
