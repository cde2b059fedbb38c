"""How far something is that is mostly quick: nothing is shown of it for a second."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from workbench.ui import widgets


@contextmanager
def told(title: str, stages: Mapping[str, str], *, key: str) -> Iterator[Callable[[str, float], None]]:
    """A bar and a way to stop, for what may be quick: after a second, and moved five times a second."""
    began, last = time.monotonic(), 0.0
    bar: list[tuple[Callable[[str, float], None], Callable[[], object]]] = []

    def tell(stage: str, share: float) -> None:
        nonlocal last
        now = time.monotonic()
        if not bar and now - began > 1:
            bar.append(widgets.progress(title, stages, key=key))
        if bar and now - last > 0.2:
            last = now
            bar[0][0](stage, share)

    try:
        yield tell
    finally:
        for _show, done in bar:
            done()
