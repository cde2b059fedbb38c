"""Access to Streamlit's open tabs: their owners, files and memory.

Streamlit's internal names are used in this module only; tests in
tests/workbench/server/web check them against the pinned version. Streamlit forgets a
closed tab only when another one ends, so `end_closed_sessions` is called by a clock.
"""

import asyncio
import contextlib
import ctypes
import gc
import logging
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

from streamlit import runtime
from streamlit.runtime.app_session import AppSession

LOST_HEADER = "x-workbench-lost"
"""Header that only the guard writes: the browser asked for a session that is no
more.
"""


def is_tab_of(session_id: str, visitor: str) -> bool:
    """Return whether a live session belongs to this browser."""
    if not visitor or not runtime.exists():
        return False
    info = runtime.get_instance()._session_mgr.get_session_info(session_id)
    return info is not None and info.session._user_info.get("visitor") == visitor


def sign_out(visitor: str) -> None:
    """Sign out in every tab of this browser."""
    if not visitor or not runtime.exists():
        return
    for info in runtime.get_instance()._session_mgr.list_sessions():
        if info.session._user_info.get("visitor") == visitor:
            info.session.clear_user_info()


def is_tab_closed(session_id: str) -> bool:
    """Return whether no browser shows this session any more."""
    return runtime.exists() and not runtime.get_instance().is_active_session(session_id)


def is_file_offered(file_id: str, visitor: str) -> bool:
    """Return whether an open page of this browser offers the file for download."""
    if not visitor or not runtime.exists():
        return False
    offered = runtime.get_instance().media_file_mgr._files_by_session_and_coord
    return any(
        file_id in dict(files).values() and is_tab_of(session_id, visitor)
        for session_id, files in list(offered.items())
    )


def register_deferred_files() -> None:
    """Make Streamlit register each file made on demand with the page that offers it.

    Streamlit records no page for such a file, so `is_file_offered` would refuse it to
    everybody.
    """
    files: Any = runtime.get_instance().media_file_mgr
    make = files.execute_deferred

    def make_and_note(placeholder: str) -> str:
        entry = files._deferred_callables.get(placeholder)
        url: str = make(placeholder)
        if entry is not None:
            with files._lock:
                offered = files._files_by_session_and_coord[entry["session_id"]]
                offered[f"{entry['coordinates']}, made"] = PurePosixPath(url).stem
        return url

    files.execute_deferred = make_and_note


_MESSAGE_BATCH_SECONDS = 0.02
"""How long the messages of pages wait for more of them, in seconds."""


@contextlib.contextmanager
def batch_page_messages() -> Iterator[None]:
    """Hand what runs of pages send to this event loop in batches, during the block.

    Streamlit wakes the loop twice for each of the hundred messages of a run, and at
    each time the run stops until the loop has looked at it.
    """
    loop = asyncio.get_running_loop()
    loop_thread = threading.get_ident()
    lock = threading.Lock()
    waiting: list[Callable[[], None]] = []
    session_type: Any = AppSession
    call_at_once = session_type._call_soon_on_event_loop
    sessions: Any = runtime.get_instance()._session_mgr
    wake_sender = sessions._message_enqueued_callback

    def call_waiting() -> None:
        with lock:
            batch = waiting.copy()
            waiting.clear()
        for callback in batch:
            loop.call_soon(callback)  # an error in one stays its own

    def call_in_batch(session: Any, callback: Callable[[], None]) -> None:
        if session._event_loop is not loop:
            call_at_once(session, callback)
            return
        with lock:
            waiting.append(callback)
            is_first = len(waiting) == 1
        if is_first:
            call_at_once(
                session, lambda: loop.call_later(_MESSAGE_BATCH_SECONDS, call_waiting)
            )

    def note_message() -> None:
        if threading.get_ident() == loop_thread:
            runtime.get_instance()._get_async_objs().need_send_data.set()
        else:
            wake_sender()

    session_type._call_soon_on_event_loop = call_in_batch
    sessions._message_enqueued_callback = note_message
    try:
        yield
    finally:
        session_type._call_soon_on_event_loop = call_at_once
        sessions._message_enqueued_callback = wake_sender


arriving_bytes: Counter[str] = Counter()
"""Bytes that are on their way to each tab."""


def unread_upload_bytes(session_id: str = "") -> int:
    """Return the bytes of uploads that no page has read yet.

    Of one tab, or of all tabs together.
    """
    if not runtime.exists():
        return 0
    uploads: Any = runtime.get_instance().uploaded_file_mgr
    of_tabs = [session_id] if session_id else {*uploads.file_storage, *arriving_bytes}
    files = [
        file
        for tab in of_tabs
        for file in [*uploads.file_storage.get(tab, {}).values()]
    ]
    return sum(arriving_bytes[tab] for tab in of_tabs) + sum(
        len(file.data) for file in files
    )


_log = logging.getLogger("workbench.web")
_memory_to_return = threading.Event()
"""Set when rows were dropped whose memory was not given back yet."""


def forget_uploads(session_id: str) -> None:
    """Drop the bytes of all files that a tab has uploaded."""
    if runtime.exists():
        _memory_to_return.set()
        runtime.get_instance().uploaded_file_mgr.remove_session_files(session_id)


def end_closed_sessions() -> int:
    """End the sessions of tabs closed for too long; return how many ended."""
    sessions: Any = runtime.get_instance()._session_mgr
    ended = sessions._session_storage._cache.expire()
    count = len(ended)
    while ended:
        session = ended.pop()[1].session
        session.shutdown()
        _clear_session(session)
        del session
    return count


def free_row_memory(*, rows_dropped: bool) -> None:
    """Return the memory of dropped rows to the system, now and at the next call.

    Some of it is freed only by the next call.

    Args:
        rows_dropped: whether rows were dropped since the last call.
    """
    if rows_dropped or _memory_to_return.is_set():
        _memory_to_return.clear()
        return_free_memory()
    if rows_dropped:
        _memory_to_return.set()


def _clear_session(session: Any) -> None:
    """Clear what an ended session holds.

    Streamlit keeps the last ended session until another tab comes.
    """
    for name in (
        "_session_state",
        "_fragment_storage",
        "_client_state",
        "_browser_queue",
    ):
        setattr(session, name, type(getattr(session, name))())


_ALLOCATOR = "PYTHONMALLOC"


def use_allocator_of_system() -> None:
    """Restart the process once with the C library's allocator for small objects.

    Python's own allocator keeps a page as long as one object lives in it: a server with
    many people would grow for hours, and freed values would stay readable.
    """
    # with the allocator of the C library, Python counts no blocks
    if sys.getallocatedblocks() and _ALLOCATOR not in os.environ:
        # close all files, since the listening socket would stay open in the new process
        os.closerange(3, os.sysconf("SC_OPEN_MAX"))
        os.execve(
            sys.executable,
            [sys.executable, *sys.orig_argv[1:]],
            {**os.environ, _ALLOCATOR: "malloc"},
        )
    os.environ.pop(_ALLOCATOR, None)  # processes that end give all back


_M_PERTURB = -6
_M_ARENA_MAX = -8
"""M_PERTURB and M_ARENA_MAX of glibc's malloc.h."""


def overwrite_freed_memory() -> None:
    """Overwrite freed memory from now on, and let all threads share two arenas.

    With an arena per thread, memory grows for an hour and more.
    """
    try:
        library = ctypes.CDLL("libc.so.6")
        library.mallopt(_M_PERTURB, 0x5A)
        library.mallopt(_M_ARENA_MAX, 2)
    except (OSError, AttributeError):  # another C library
        return


def reset_idle_tab(session_id: str, key: str, value: Any) -> None:
    """Clear the state of an idle tab, except one value, as if it had just opened."""
    running = runtime.get_instance()
    info = running._session_mgr.get_session_info(session_id)
    if info is not None and info.session._scriptrunner is None:
        running.media_file_mgr.clear_session_refs(session_id)
        running.media_file_mgr.remove_orphaned_files()
        running.dataframe_source_mgr.clear_all_for_session(session_id)
        _clear_session(info.session)
        info.session._session_state._new_session_state[key] = value


def return_free_memory() -> None:
    """Collect garbage and return free pages to the system.

    Rows would stay readable in free pages.
    """
    gc.collect()
    # malloc keeps seven freed blocks of each small size per thread, with their content:
    # allocating eight of each size overwrites them
    places = [bytes(size) for size in range(8, 1_040, 16) for _ in range(8)]
    del places
    try:
        import pyarrow as pa

        pa.default_memory_pool().release_unused()
        ctypes.CDLL("libc.so.6").malloc_trim(0)
    except (OSError, AttributeError):  # another C library
        return
