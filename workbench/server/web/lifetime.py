"""Start and stop the server, and run its periodic tasks."""

import asyncio
import contextlib
import gc
import importlib
import logging
import os
import pkgutil
import socket
import threading
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from streamlit import cli_util, config

import workbench
from dpcore.errors import DpcoreError
from workbench.server.web import holders, logs, tabs
from workbench.server.web.ports import local_address
from workbench.server.workers import process
from workbench.store import start
from workbench.store.settings import read_settings

_log = logging.getLogger("workbench.web")
_TASK_INTERVAL_SECONDS = 5.0
_CONNECT_PAUSE_SECONDS = (
    0.2  # seconds between two tries whether the server takes connections
)
_MAX_CONNECT_TRIES = 300
_LIBRARIES_TO_PRELOAD = ("altair", "opendp.measurements", "pyarrow", "sqlalchemy.orm")
# these modules are scripts: importing them would run them
_SCRIPT_MODULES = ("__main__", "navigation")


def _load_modules() -> None:
    """Load the pages' modules and exempt them from garbage collection.

    A collection stops every tab, so it should have little to look through; rows that
    were dropped are collected separately. No row has come yet, so none is exempted.
    """
    names = [
        module.name
        for module in pkgutil.walk_packages(workbench.__path__, "workbench.")
        if module.name.rpartition(".")[2] not in _SCRIPT_MODULES
    ]
    for name in (*_LIBRARIES_TO_PRELOAD, *names):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _disable_nagle() -> None:
    """Turn off Nagle's algorithm, which delays small answers by 40 ms.

    Python does so only for sockets made with a protocol number, and Streamlit's is not.
    A socket that is accepted inherits the option from the one that listens.
    """
    for handle in Path("/proc/self/fd").glob("*"):
        with (
            contextlib.suppress(OSError),
            socket.socket(fileno=os.dup(int(handle.name))) as each,
        ):
            is_listening = each.getsockopt(socket.SOL_SOCKET, socket.SO_ACCEPTCONN)
            if is_listening and each.family in (socket.AF_INET, socket.AF_INET6):
                each.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)


def _settle() -> None:
    """Expire links, surveys and runs, and read the sign-outs of other servers."""
    # the store has logged the error; the next pass tries again
    with contextlib.suppress(DpcoreError):
        start.settle()


async def _settle_regularly() -> None:
    while True:
        await asyncio.sleep(_TASK_INTERVAL_SECONDS)
        await asyncio.to_thread(_settle)


async def _drop_idle_tabs_regularly(seconds: float) -> None:
    """End closed tabs and drop the tables of idle tabs, every few seconds."""
    while True:
        await asyncio.sleep(seconds)
        try:
            idle = holders.drop_idle_tables()
            for holder in idle:
                tabs.reset_idle_tab(holder.tab, holders.SESSION_KEY, holder)
            ended = tabs.end_closed_sessions()
            # run it in this thread: from another one, dropped values stayed readable in
            # memory
            tabs.free_row_memory(rows_dropped=bool(ended or idle))
        # another version of Streamlit may lack these internals: log the error, and try
        # again later
        except Exception as error:
            _log.error("closed tabs cannot be forgotten: %s", type(error).__name__)
        else:
            if ended or idle:
                _log.info(
                    "%d closed tabs ended, %d idle ones gave up their tables",
                    ended,
                    len(idle),
                )


def _open_browser() -> None:
    """Open the pages in this computer's browser, once the server answers.

    Where an address with a token is printed, nothing is opened: other accounts on this
    computer would see it among the words with which the browser was started.
    """
    if config.get_option("server.headless") or read_settings().files_folder:
        return
    port = config.get_option("server.port")
    for _ in range(_MAX_CONNECT_TRIES):
        time.sleep(_CONNECT_PAUSE_SECONDS)
        # the server accepts connections once the pages are loaded
        with (
            contextlib.suppress(OSError),
            socket.create_connection(("127.0.0.1", port)),
        ):
            cli_util.open_browser(local_address())
            return


@contextlib.asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Prepare the server, check its ledger, and run periodic tasks until it stops."""
    logs.set_up(read_settings().log_level)
    _log.info("the server starts")
    tabs.overwrite_freed_memory()
    tabs.register_deferred_files()
    _disable_nagle()
    await asyncio.to_thread(process.start_ahead)
    await asyncio.to_thread(_load_modules)
    checking = asyncio.create_task(asyncio.to_thread(start.check_all))
    forgetting = asyncio.create_task(_drop_idle_tabs_regularly(_TASK_INTERVAL_SECONDS))
    settling = asyncio.create_task(_settle_regularly())
    threading.Thread(target=_open_browser, daemon=True).start()
    try:
        with tabs.batch_page_messages():
            yield
    finally:
        forgetting.cancel()
        settling.cancel()
        await asyncio.to_thread(_settle)
        await checking
        _log.info("the server stops")
