"""Show long-running work: its place in the queue, its progress and a Stop button."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.base import Evaluation, Result
from dpcore.progress import OnProgress, ignore_stage_progress
from workbench import session
from workbench.language.messages import _
from workbench.language.wording import percent
from workbench.server.workers import process, queue
from workbench.server.workers.callbacks import cancelled_by, rows_reported_to

PATIENCE_SECONDS = 1.0  # seconds without a bar, as most work is done by then
_REDRAW_SECONDS = 0.2  # seconds between two drawings of a bar


def show_stop_button(
    place: Any, *, key: str, on_stop: Callable[[], None] | None = None
) -> Any:
    """Show a Stop button, and return the place beside it for words or a bar.

    Any click ends the running block.
    """
    with place.container(horizontal=True, vertical_alignment="center"):
        shown = st.empty()
        st.button(_("Stop"), key=key, icon=":material/stop_circle:", on_click=on_stop)
    return shown


@st.fragment(run_every=2.0)
def redraw_when(has_changed: Callable[[], bool]) -> None:
    """Rerun the page when its content has changed; polls every two seconds."""
    if has_changed():
        st.rerun()


def say_computing(is_done: Callable[[], bool]) -> None:
    """Say that a paid answer is being computed, and rerun the page when it is ready."""
    redraw_when(is_done)
    st.info(
        _("This is being computed. The answer will appear here."),
        icon=":material/hourglass_top:",
    )


@contextmanager
def show_progress(
    title: str,
    stages: Mapping[str, str],
    *,
    key: str,
    delay_seconds: float = 0.0,
    on_stop: Callable[[], None] | None = None,
) -> Iterator[OnProgress]:
    """Show a progress bar while the block runs; yield a callback that updates it.

    Args:
        title: title of the work.
        stages: words for some stages; others show their share alone. A stage may have
            numbers after its name, which are `first` and `second` in its words. Such
            words say how far the work is, so the share is shown by the bar alone.
        key: key of the Stop button.
        delay_seconds: seconds before anything is shown.
        on_stop: called when that button is pressed; any click ends a run of the page.
    """
    place = st.empty()
    bar: Any = None
    due = time.monotonic() + delay_seconds
    before = ""

    def tell(stage: str, share: float) -> None:
        nonlocal bar, due, before
        now = time.monotonic()
        if now < due and (bar is None or stage == before):
            return
        due = now + _REDRAW_SECONDS
        before = stage
        if bar is None:
            bar = show_stop_button(place, key=key, on_stop=on_stop)
        name, *numbers = [stage] if stage in stages else stage.split(" ")
        fields = dict(zip(("first", "second"), numbers, strict=False))
        words = f": {stages[name].format(**fields)}" if name in stages else ""
        if name not in stages or not numbers:
            words += f", {percent(share)}"
        bar.progress(min(1.0, share), text=f"{title}{words}")

    if not delay_seconds:
        bar = show_stop_button(place, key=key, on_stop=on_stop)
        bar.progress(0.0, text=title)
    try:
        yield tell
    finally:
        place.empty()


@contextmanager
def show_rows_read(title: str, *, key: str) -> Iterator[None]:
    """Show the number of rows read, if the block takes longer than a second.

    Any click ends it; nothing is lost then.

    Args:
        key: key of the Stop button.
    """
    place = st.empty()
    due = time.monotonic() + PATIENCE_SECONDS
    words = None

    def listen(rows: int) -> None:
        nonlocal due, words
        if time.monotonic() < due:
            return
        due = time.monotonic() + _REDRAW_SECONDS
        if words is None:
            words = show_stop_button(place, key=key)
        words.markdown(
            _("{title}: {rows:,} rows so far").format(title=title, rows=rows)
        )

    try:
        with cancelled_by(session.make_cancel_poll()), rows_reported_to(listen):
            yield
    finally:
        place.empty()


@contextmanager
def wait_in_line() -> Iterator[None]:
    """Wait for this tab's turn, and show its place in line."""
    note = st.empty()
    with queue.run_queue().wait_for_turn(
        lambda place: note.caption(
            _("Other runs come first. Your place in the queue: {place}.").format(
                place=place
            )
        ),
    ):
        note.empty()
        yield


def evaluate_in_line(
    curator: Curator,
    key: tuple[Any, ...],
    evaluation: Callable[[], Evaluation[Any, Result]],
    on_progress: OnProgress = ignore_stage_progress,
) -> Result:
    """Compute a report once, like `session.evaluate_once`, after waiting for a turn."""
    if key in session.session().reports:
        return session.evaluate_once(curator, key, evaluation)
    with (
        wait_in_line(),
        show_rows_read(_("Reading the rows"), key=f"stop reading {key}"),
    ):
        return session.evaluate_once(curator, key, evaluation, on_progress)


def compute_in_worker(function: Callable[..., Result], *given: Any) -> Result:
    """Call a function in a worker process; the function must read nothing private."""
    with cancelled_by(session.make_cancel_poll()):
        return process.compute(function, *given)


def compute_in_line(function: Callable[..., Result], *given: Any) -> Result:
    """Wait for a turn, then compute in a worker."""
    with wait_in_line():
        return compute_in_worker(function, *given)
