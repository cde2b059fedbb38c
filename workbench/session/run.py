"""Compute releases in their own threads, so that no click can end them.

From the button that pays to the ledger: `Runs.start` makes a `Run`, whose thread waits
in the queue of the server and calls `Curator.run`, which writes the line.
"""

import threading
import uuid
from abc import ABC, abstractmethod
from dataclasses import dataclass, field

from dpcore.accounting.loss import AnyLoss
from dpcore.curator import Curator, LinkedCurator
from dpcore.release import Release
from dpcore.synthesis import Recipe
from dpcore.synthesis.release.linked import LinkedRelease
from workbench.server.workers import queue
from workbench.server.workers.callbacks import cancelled_by, rows_reported_to
from workbench.store import start

VIEWS = ("people", "events")
"""Views of linked tables; the id of a request on one of them ends with its name."""


@dataclass(kw_only=True)
class Run(ABC):
    """One computation of a release, from its place in the queue to its end.

    Attributes:
        curator: of the table; of linked tables, of one of their views.
        request_id: id under which it is charged, once.
        queue_place: place in line; 0 once it has begun.
        charged: whether its charge is on file.
        stop_requested: set to stop it.
        stage: name of the step that is computed.
        share_done: share of the work that is done.
        rows_read: rows that a pass over a source has read.
        error: the exception that ended it.
        has_ended: set when it has ended.
    """

    curator: Curator
    loss: AnyLoss
    request_id: str
    queue_place: int = 0
    charged: bool = False
    stop_requested: threading.Event = field(default_factory=threading.Event)
    stage: str = ""
    share_done: float = 0.0
    rows_read: int = 0
    release: Release | LinkedRelease | None = None
    error: Exception | None = None
    has_ended: threading.Event = field(default_factory=threading.Event)

    def start(self) -> None:
        """Start the run in a thread; closing the tab does not stop it."""
        threading.Thread(target=self._work, daemon=False).start()

    def _work(self) -> None:
        try:
            with (
                cancelled_by(self.stop_requested.is_set),
                queue.run_queue().wait_for_turn(self.note_place),
                rows_reported_to(self.note_rows),
            ):
                self.queue_place = 0
                self.release = self.compute()
        # the page shows the error to the person; the ledger has its own line
        except Exception as error:
            self.error = error
        finally:
            self.has_ended.set()

    @property
    def request_ids(self) -> tuple[str, ...]:
        """The ids of its lines in the ledger."""
        return (self.request_id,)

    @abstractmethod
    def compute(self) -> Release | LinkedRelease:
        """Charge the loss, and return what is released."""

    def note_place(self, place: int) -> None:
        self.queue_place = place

    def note_rows(self, rows: int) -> None:
        self.rows_read = rows

    def note_progress(self, stage: str, share: float) -> None:
        # the first call comes after the ledger's line is written
        self.charged = True
        self.stage = stage
        self.share_done = share

    def is_waiting(self) -> bool:
        """Return whether the finished release still waits to be stored in the
        database.
        """
        ledger = start.ledger()
        return any(map(ledger.is_release_waiting, self.request_ids))

    def waiting_release_text(self) -> str | None:
        """Return the waiting release as text; None if it does not wait."""
        waiting = start.ledger().waiting_releases(self.curator.account.dataset)
        return next((waiting[own] for own in self.request_ids if own in waiting), None)

    def is_stored(self) -> bool:
        """Return whether the release of this run is stored in the ledger."""
        states = self._ledger_states()
        return all((own, "committed") in states for own in self.request_ids)

    def is_charged(self) -> bool:
        """Return whether the run was charged, even if the confirmation was lost."""
        return self.charged or bool(self._ledger_states())

    def _ledger_states(self) -> set[tuple[str, str]]:
        return {
            (line.request_id, line.state)
            for line in self.curator.lines()
            if line.request_id in self.request_ids
        }


@dataclass(kw_only=True)
class ReleaseRun(Run):
    """The computation of a release of one table, or of one view of linked tables.

    Attributes:
        part: {column: category} of the one part that is read; empty for all rows.
    """

    recipe: Recipe
    part: dict[str, str] = field(default_factory=dict)

    def compute(self) -> Release:
        return self.curator.run(
            self.recipe,
            self.loss,
            part=self.part or None,
            request_id=self.request_id,
            on_progress=self.note_progress,
        )


@dataclass(kw_only=True)
class LinkedRun(Run):
    """The computation of a release of linked tables, one view after the other."""

    linked: LinkedCurator

    @property
    def request_ids(self) -> tuple[str, ...]:
        return tuple(f"{self.request_id} {view}" for view in VIEWS)

    def compute(self) -> LinkedRelease:
        return self.linked.synthesize(
            self.loss, request_id=self.request_id, on_progress=self.note_progress
        )


def _new_id() -> str:
    return uuid.uuid4().hex


@dataclass(kw_only=True)
class Runs:
    """Runs of a tab, which compute one release at a time.

    Attributes:
        next_id: request id of the next run, minted before its click.
        current: the run that is going on or has just ended.
        shown_request_id: request id of the release that the Synthesize page shows.
    """

    next_id: str = field(default_factory=_new_id)
    current: Run | None = None
    shown_request_id: str | None = None

    def start(
        self,
        curator: Curator,
        recipe: Recipe,
        loss: AnyLoss,
        part: dict[str, str],
        request_id: str,
        view: str = "",
    ) -> None:
        """Start a run for this request id; a second click with the same id does
        nothing.

        Args:
            view: which view of linked tables the curator holds; empty for one table.
        """
        run = ReleaseRun(
            curator=curator,
            recipe=recipe,
            loss=loss,
            part=part,
            request_id=f"{request_id} {view}" if view else request_id,
        )
        self._start(run, request_id)

    def start_linked(
        self, linked: LinkedCurator, loss: AnyLoss, request_id: str
    ) -> None:
        """Start a run on both views of linked tables, as `start` does."""
        run = LinkedRun(
            curator=linked.people, linked=linked, loss=loss, request_id=request_id
        )
        self._start(run, request_id)

    def _start(self, run: Run, request_id: str) -> None:
        if request_id != self.next_id:
            return
        self.next_id = _new_id()
        self.shown_request_id = None
        self.current = run
        run.start()

    def show(self, request_id: str | None) -> None:
        """Show a stored release; with None, show the form that plans another one."""
        self.shown_request_id = request_id
        self.current = None

    def store_again(self, request_id: str) -> None:
        """Try again to store a paid release, and show it if that succeeds."""
        ledger = start.ledger()
        ledger.store_waiting()
        if not ledger.is_release_waiting(request_id):
            self.show(request_id)

    def is_busy(self) -> bool:
        """Return whether a run is going on."""
        return self.current is not None and not self.current.has_ended.is_set()
