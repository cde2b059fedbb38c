"""Work of another program, such as a query: whoever waits for it can say that nobody wants it any more."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

Result = TypeVar("Result")


def awaited(
    work: Callable[[], Result], *, tell: Callable[[], object], interrupt: Callable[[], object]
) -> Result:
    """Return the result of work that is done in a separate thread.

    Args:
        work: called once, in the other thread.
        tell: called in this thread five times a second; when it raises, the work is interrupted.
        interrupt: ends the work soon.
    Raises: what the work and `tell` raise.
    """
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(work)
        try:
            while wait([asked], timeout=0.2).not_done:
                tell()
        except BaseException:
            interrupt()
            while wait([asked], timeout=0.2).not_done:  # it may have been between two queries
                interrupt()
            raise
        return asked.result()
