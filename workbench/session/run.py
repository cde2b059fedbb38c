"""A run in its own thread, so that no click can end it."""

import threading
from dataclasses import dataclass, field

from dpcore.release import Release


@dataclass(kw_only=True)
class Run:
    """A run that is going on or has ended.

    Attributes:
        place: in the line of runs; 0 once it has begun.
        charged: whether its charge is on file.
        stopped: set to stop it.
        rows: how many a pass over a source has read.
    """

    title: str
    request_id: str = ""
    place: int = 0
    charged: bool = False
    stopped: threading.Event = field(default_factory=threading.Event)
    stage: str = ""
    share: float = 0.0
    rows: int = 0
    release: Release | None = None
    error: Exception | None = None
    done: threading.Event = field(default_factory=threading.Event)

    def progress(self, stage: str, share: float) -> None:
        """Take note of how far the run is; the first call says that the charge is on
        file.
        """
        self.charged = True
        self.stage = stage
        self.share = share

    def listen(self, rows: int) -> None:
        """Take note of the rows that were read."""
        self.rows = rows

    def wait(self, place: int) -> None:
        """Take note of the place in line."""
        self.place = place
