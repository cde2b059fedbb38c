"""Cache of the exact counts that one run has read."""

from collections.abc import Callable, Mapping, Sequence

from dpcore.schema.domain import Clique
from dpcore.tables.counts import Counts, Integers

Groups = Mapping[str, Integers]

MAX_CACHED_CELLS = 8_000_000
"""Cells of cached counts, at most."""


class CountCache:
    """Cache of exact counts, so that a run's repeated questions read rows once.

    The recipe still pays for each question.
    """

    def __init__(self, counts: Callable[..., list[Counts]]) -> None:
        self._counts = counts
        self._known: dict[tuple[object, ...], Counts] = {}
        self._cells = 0

    def __call__(
        self, cliques: Sequence[Clique], *, groups: Groups | None = None
    ) -> list[Counts]:
        """Return exact counts like `Engine.counts`, cached if known. Private."""
        merged = groups or {}
        keys = [_cache_key(clique, merged) for clique in cliques]
        new = {
            key: clique
            for key, clique in zip(keys, cliques, strict=True)
            if key not in self._known
        }
        new_counts = self._counts(list(new.values()), groups=merged) if new else []
        fresh = dict(zip(new, new_counts, strict=True))
        answer = [fresh[key] if key in fresh else self._known[key] for key in keys]
        for key, counts in fresh.items():
            if self._cells + counts.values.size <= MAX_CACHED_CELLS:
                self._known[key] = counts
                self._cells += counts.values.size
        return answer


def _cache_key(clique: Clique, groups: Groups) -> tuple[object, ...]:
    return tuple(
        (name, groups[name].tobytes() if name in groups else b"") for name in clique
    )
