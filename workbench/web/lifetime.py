"""What happens when the server starts and stops."""

from __future__ import annotations

import asyncio
import contextlib
import logging
from collections.abc import AsyncIterator
from typing import Any

from dpcore.errors import DpcoreError
from workbench import reading
from workbench.store import start
from workbench.store.settings import read_settings
from workbench.store.surveys import links_work
from workbench.web import logs, tabs

_log = logging.getLogger("workbench.web")
_SECONDS = 5.0


def _settle() -> None:
    """Write down which links were opened, and which have come to their end."""
    if links_work.is_set():
        with contextlib.suppress(DpcoreError):  # the store has said so in the log; tried again
            start.shares().settle()


async def _settle_regularly() -> None:
    while True:
        await asyncio.sleep(_SECONDS)
        await asyncio.to_thread(_settle)


@contextlib.asynccontextmanager
async def lifespan(_: Any) -> AsyncIterator[None]:
    """Check everything that the pages need, and say in the log what is wrong; the pages say it too."""
    logs.set_up(read_settings().log_level)
    _log.info("the server starts")
    tabs.hold_made_files()
    await asyncio.to_thread(reading.warm)
    checking = asyncio.create_task(asyncio.to_thread(start.check_all))
    forgetting = asyncio.create_task(tabs.forget_regularly(_SECONDS))
    settling = asyncio.create_task(_settle_regularly())
    try:
        yield
    finally:
        forgetting.cancel()
        settling.cancel()
        await asyncio.to_thread(_settle)
        await checking
        _log.info("the server stops")
