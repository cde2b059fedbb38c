"""Progress of work while it runs, with a button to stop it."""

import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import streamlit as st

from dpcore.progress import OnProgress
from workbench.language.messages import _
from workbench.language.wording import percent

PATIENCE = 1.0
"""Seconds in which nothing is shown of what is mostly quick."""
_EACH = 0.2


def stoppable(
    place: Any, *, key: str, on_stop: Callable[[], None] | None = None
) -> Any:
    """Room for words or a bar, in a place of the page, beside a button: any click ends
    what runs.
    """
    with place.container(horizontal=True, vertical_alignment="center"):
        shown = st.empty()
        st.button(_("Stop"), key=key, icon=":material/stop_circle:", on_click=on_stop)
    return shown


@st.fragment(run_every=2.0)
def redraw_when(is_other: Callable[[], bool]) -> None:
    """Poll every two seconds, and draw the page anew once it differs from what was
    drawn.
    """
    if is_other():
        st.rerun()


def being_computed(is_done: Callable[[], bool]) -> None:
    """Say that an answer is on its way, for which another click pays.

    The page is drawn again with it.
    """
    redraw_when(is_done)
    st.info(
        _("This is being computed; its answer will be here."),
        icon=":material/hourglass_top:",
    )


@contextmanager
def told(
    title: str,
    stages: Mapping[str, str],
    *,
    key: str,
    patience: float = 0.0,
    on_stop: Callable[[], None] | None = None,
) -> Iterator[OnProgress]:
    """Show a bar with the stage and the share that is done, gone after the block;
    yields its callback.

    Args:
        title: of the work.
        stages: words for some stages; of the others the share is shown alone.
        key: of the button that stops it.
        patience: seconds before anything is shown.
        on_stop: called when that button is pressed; any click ends a run of the page.
    """
    place = st.empty()
    bar: Any = None
    due = time.monotonic() + patience
    before = ""

    def tell(stage: str, share: float) -> None:
        nonlocal bar, due, before
        now = time.monotonic()
        if now < due and (bar is None or stage == before):
            return
        due = now + _EACH
        before = stage
        if bar is None:
            bar = stoppable(place, key=key, on_stop=on_stop)
        words = f": {stages[stage]}" if stage in stages else ""
        bar.progress(min(1.0, share), text=f"{title}{words}, {percent(share)}")

    if not patience:
        bar = stoppable(place, key=key, on_stop=on_stop)
        bar.progress(0.0, text=title)
    try:
        yield tell
    finally:
        place.empty()
