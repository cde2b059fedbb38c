"""Progress callbacks, and a seam for computing in other processes."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

OnProgress = Callable[[str, float], None]
"""Takes the stage and the share done, from 0 to 1; what it raises ends the work."""
Answer_co = TypeVar("Answer_co")


def silent(stage: str, share: float) -> None:
    """Ignore progress."""


class Compute(Protocol):
    """Seam for work in other processes: it calls a module's function anywhere."""

    def __call__(
        self,
        function: Callable[..., Answer_co],
        *given: Any,
        on_progress: OnProgress | None = None,
    ) -> Answer_co:
        """Return `function(*given)`.

        With `on_progress`, it gets a callback as its last argument.
        """


def here(
    function: Callable[..., Answer_co],
    *given: Any,
    on_progress: OnProgress | None = None,
) -> Answer_co:
    """Compute in this process and thread, see `Compute`."""
    return function(*given) if on_progress is None else function(*given, on_progress)
