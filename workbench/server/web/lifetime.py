"""The start and the stop of the server, and its regular work."""

import asyncio
import contextlib
import gc
import importlib
import logging
import os
import pkgutil
import socket
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import workbench
from dpcore.errors import DpcoreError
from workbench.server.web import holders, logs, tabs
from workbench.server.workers import process
from workbench.store import start
from workbench.store.settings import read_settings

_log = logging.getLogger("workbench.web")
_SECONDS = 5.0
_PAGES_NEED = ("altair", "opendp.measurements", "pyarrow", "sqlalchemy.orm")
# modules of workbench that do their work when they are run, not imported
_SCRIPTS = ("__main__", "navigation")


def _load() -> None:
    """Load what pages are made of, and take it out of what Python looks through for
    garbage.

    That search holds every tab, so it is made seldom; rows that were dropped have one
    of their own. No row has come yet, so none is kept.
    """
    names = [
        module.name
        for module in pkgutil.walk_packages(workbench.__path__, "workbench.")
        if module.name.rpartition(".")[2] not in _SCRIPTS
    ]
    for name in (*_PAGES_NEED, *names):
        importlib.import_module(name)
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 20, 20)


def _answer_at_once() -> None:
    """Send small answers without waiting 40 ms for more of them.

    Python asks for that only on sockets that were made with a protocol, and Streamlit's
    is not; what it accepts takes over what is asked of the one that listens.
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
    """Write down what time brings about: links, surveys and runs that ended, and who
    signed out elsewhere.
    """
    # the store has said so in the log; tried again
    with contextlib.suppress(DpcoreError):
        start.settle()


async def _settle_regularly() -> None:
    while True:
        await asyncio.sleep(_SECONDS)
        await asyncio.to_thread(_settle)


async def _forget_regularly(seconds: float) -> None:
    """End closed tabs whose time is over, and have idle ones forget their tables, again
    and again.
    """
    while True:
        await asyncio.sleep(seconds)
        try:
            idle = holders.drop_idle()
            for holder in idle:
                tabs.start_anew(holder.tab, holders.KEY, holder)
            ended = tabs.forget_closed()
            # in another thread, values stayed readable
            tabs.give_back_rows(dropped=bool(ended or idle))
        # another version of Streamlit: said, and tried again
        except Exception as error:
            _log.error("closed tabs cannot be forgotten: %s", type(error).__name__)
        else:
            if ended or idle:
                _log.info(
                    "%d closed tabs ended, %d idle ones gave up their tables",
                    ended,
                    len(idle),
                )


@contextlib.asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Check everything that the pages need, and say in the log, as the pages do, what
    is wrong.
    """
    logs.set_up(read_settings().log_level)
    _log.info("the server starts")
    tabs.overwrite_freed_memory()
    tabs.hold_made_files()
    _answer_at_once()
    await asyncio.to_thread(process.warm)
    await asyncio.to_thread(_load)
    checking = asyncio.create_task(asyncio.to_thread(start.check_all))
    forgetting = asyncio.create_task(_forget_regularly(_SECONDS))
    settling = asyncio.create_task(_settle_regularly())
    try:
        yield
    finally:
        forgetting.cancel()
        settling.cancel()
        await asyncio.to_thread(_settle)
        await checking
        _log.info("the server stops")
