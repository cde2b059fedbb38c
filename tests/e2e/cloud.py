"""A host like Streamlit Community Cloud: its page holds the app in a frame of the same
name, under a path.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route, WebSocketRoute
from starlette.websockets import WebSocket
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidStatus

NAME = "bench.streamlit.app"
OTHER = "portal.example"
"""The name of the app, and that of another site, which shows the app in a frame too."""
UNDER = "/~/+/"
_HOP = (
    "connection",
    "transfer-encoding",
    "content-encoding",
    "content-length",
    "keep-alive",
    "upgrade",
)
_HANDSHAKE = "sec-websocket-"


class Host:
    """The proxy, which leads what is under the path to a server that may change."""

    def __init__(self, port: int) -> None:
        self.port = port
        self.url = f"https://{NAME}:{port}"
        self.other = f"https://{OTHER}:{port}"
        self.server = ""
        self.client = httpx.AsyncClient(trust_env=False, timeout=60)

    def app(self) -> Starlette:
        """What answers under both names."""

        @contextlib.asynccontextmanager
        async def lifespan(_: Starlette) -> AsyncIterator[None]:
            async with self.client:
                yield

        methods = ["GET", "POST", "PUT", "DELETE"]
        routes = [
            WebSocketRoute(UNDER + "{path:path}", self.stream),
            Route(UNDER + "{path:path}", self.pass_on, methods=methods),
            Route("/{path:path}", self.shell),
        ]
        return Starlette(routes=routes, lifespan=lifespan)

    async def shell(self, request: Request) -> Response:
        """Send the page around the app, whatever its address: the frame begins with the
        first page.
        """
        return HTMLResponse(
            f'<title>{request.url.hostname}</title><iframe src="{self.url}{UNDER}" '
            'style="border:0;width:100%;height:1000px"></iframe>'
        )

    async def pass_on(self, request: Request) -> Response:
        """Send a request on to the server, with the name that the browser asked for."""
        headers = {
            name: value for name, value in request.headers.items() if name not in _HOP
        }
        answer = await self.client.request(
            request.method,
            f"http://{self.server}/{request.path_params['path']}",
            params=request.url.query,
            headers={**headers, "x-forwarded-proto": "https"},
            content=await request.body(),
        )
        response = Response(answer.content, answer.status_code)
        for name, value in answer.headers.multi_items():
            if name not in _HOP:
                response.headers.append(name, value)
        return response

    async def stream(self, browser: WebSocket) -> None:
        """Send the messages of a websocket both ways."""
        headers = [
            (name, value)
            for name, value in browser.headers.items()
            if name not in (*_HOP, "origin") and not name.startswith(_HANDSHAKE)
        ]
        protocols = browser.headers.get("sec-websocket-protocol", "").split(", ")
        try:
            async with connect(
                f"ws://{NAME}:{self.port}/{browser.path_params['path']}",
                host=self.server.partition(":")[0],
                port=int(self.server.partition(":")[2]),
                origin=browser.headers["origin"],  # type: ignore[arg-type]
                subprotocols=protocols,  # type: ignore[arg-type]
                additional_headers=[
                    (name, value) for name, value in headers if name != "host"
                ],
                max_size=None,
                proxy=None,
            ) as server:
                await browser.accept(server.subprotocol)
                coming = asyncio.create_task(_from_server(server, browser))
                async for message in browser.iter_bytes():
                    await server.send(message)
                coming.cancel()
        except InvalidStatus:
            await browser.close()


async def _from_server(server: object, browser: WebSocket) -> None:
    with contextlib.suppress(ConnectionClosed, RuntimeError):
        async for message in server:  # type: ignore[attr-defined]
            await browser.send_bytes(message)


@contextmanager
def hosting(certificate: Path, key: Path, port: int) -> Iterator[Host]:
    """Run the host until the block ends."""
    host = Host(port)
    config = uvicorn.Config(
        host.app(),
        port=port,
        ssl_certfile=certificate,
        ssl_keyfile=key,
        log_level="critical",
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    limit = time.monotonic() + 120
    while not server.started:
        assert time.monotonic() < limit, "the host does not start"
        time.sleep(0.05)
    try:
        yield host
    finally:
        server.should_exit = True
        thread.join(20)
