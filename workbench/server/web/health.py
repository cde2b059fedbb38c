"""Health checks: /healthz for the process, /readyz for the ledger and its key."""

import logging

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from dpcore.errors import DpcoreError
from workbench.store import start

_log = logging.getLogger("workbench.web")


async def _healthz(_: Request) -> PlainTextResponse:
    return PlainTextResponse("ok\n", headers={"Cache-Control": "no-store"})


async def _readyz(_: Request) -> PlainTextResponse:
    try:
        await run_in_threadpool(start.check_ready)
    except DpcoreError as error:  # the log says what, and not every passer-by
        _log.error("not ready: %s", error)
        return PlainTextResponse(
            "not ready\n", 503, headers={"Cache-Control": "no-store"}
        )
    return PlainTextResponse("ok\n", headers={"Cache-Control": "no-store"})


HEALTH = [Route("/healthz", _healthz), Route("/readyz", _readyz)]
