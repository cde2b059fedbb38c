"""Work of another program, such as a query, that its caller can cancel."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from typing import TypeVar

Result = TypeVar("Result")


def awaited(
    work: Callable[[], Result],
    *,
    poll: Callable[[], object],
    interrupt: Callable[[], object],
) -> Result:
    """Return the result of work that is done in a separate thread.

    Args:
        work: called once, in the other thread.
        poll: called in this thread five times a second; when it raises, the work is
            interrupted.
        interrupt: ends the work soon.

    Raises: what the work and `poll` raise.
    """
    with ThreadPoolExecutor(1) as pool:
        future = pool.submit(work)
        try:
            while wait([future], timeout=0.2).not_done:
                poll()
        except BaseException:
            interrupt()
            # it may have been between two queries
            while wait([future], timeout=0.2).not_done:
                interrupt()
            raise
        return future.result()
