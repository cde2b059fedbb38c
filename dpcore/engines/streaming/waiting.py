"""Cancellable calls of another program, such as a query."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

Result = TypeVar("Result")


def run_cancellable(
    work: Callable[[], Result],
    *,
    poll: Callable[[], object],
    interrupt: Callable[[], object],
) -> Result:
    """Call a function in another thread, and return its result.

    Args:
        work: called once, in the other thread.
        poll: called in this thread five times a second; if it raises, the work is
            interrupted.
        interrupt: ends the work soon.

    Raises: the errors of the work and of `poll`.
    """
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            while wait([future], timeout=0.2).not_done:
                poll()
        except BaseException:
            interrupt()
            # Interrupt again: the first call may have come between two queries
            while wait([future], timeout=0.2).not_done:
                interrupt()
            raise
        return future.result()
