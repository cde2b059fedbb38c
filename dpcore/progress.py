"""Progress callbacks, and the interface for computing in other processes."""

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

OnProgress = Callable[[str, float], None]
"""Takes the stage and the share done, from 0 to 1; what it raises ends the work."""
Answer_co = TypeVar("Answer_co")


def ignore_stage_progress(stage: str, share: float) -> None:
    """Do nothing with the progress of a stage."""


class Compute(Protocol):
    """A callable that runs a module's function, here or in another process."""

    def __call__(
        self,
        function: Callable[..., Answer_co],
        *arguments: Any,
        on_progress: OnProgress | None = None,
    ) -> Answer_co:
        """Return `function(*given)`.

        With `on_progress`, it gets a callback as its last argument.
        """


def compute_here(
    function: Callable[..., Answer_co],
    *arguments: Any,
    on_progress: OnProgress | None = None,
) -> Answer_co:
    """Run a function in this process and thread; see `Compute`."""
    return (
        function(*arguments)
        if on_progress is None
        else function(*arguments, on_progress)
    )
