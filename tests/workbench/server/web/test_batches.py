"""Messages of pages reach the event loop in batches, all of them and in order."""

from __future__ import annotations

import asyncio
import threading
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit import runtime
from streamlit.runtime.app_session import AppSession

from workbench.server.web import tabs

MESSAGES = 200


class _Streamlit:
    """What the batches use of a running server."""

    def __init__(self) -> None:
        self.need_send_data = asyncio.Event()
        self.woken: list[int] = []
        self._session_mgr = SimpleNamespace(
            _message_enqueued_callback=lambda: self.woken.append(threading.get_ident())
        )

    def _get_async_objs(self) -> Any:
        return SimpleNamespace(need_send_data=self.need_send_data)


def _send_all(session: Any, place: list[int]) -> None:
    """Send messages as a run of a page does, in a thread of its own; one has an
    error.
    """
    for number in range(MESSAGES):
        AppSession._call_soon_on_event_loop(session, lambda n=number: place.append(n))
        if number == 7:
            AppSession._call_soon_on_event_loop(session, lambda: 1 / 0)


@pytest.mark.parametrize("batched", [True, False])
def test_the_loop_is_woken_for_a_batch(
    batched: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It was woken for each message, and the run of the page stopped each time."""
    before = AppSession._call_soon_on_event_loop

    async def run() -> tuple[list[int], int, int]:
        server = _Streamlit()
        monkeypatch.setattr(runtime, "get_instance", lambda: server)
        loop: Any = asyncio.get_running_loop()
        errors: list[dict[str, Any]] = []
        loop.set_exception_handler(lambda _, context: errors.append(context))
        wakes: list[int] = []
        write = loop._write_to_self
        monkeypatch.setattr(loop, "_write_to_self", lambda: (wakes.append(1), write()))
        arrived: list[int] = []
        session = SimpleNamespace(_event_loop=loop)

        async def send() -> None:
            await asyncio.to_thread(_send_all, session, arrived)

        if batched:
            with tabs.batch_page_messages():
                await send()
                await asyncio.sleep(10 * tabs._MESSAGE_BATCH_SECONDS)
        else:
            await send()
            await asyncio.sleep(0)
        return arrived, len(wakes), len(errors)

    arrived, wakes, errors = asyncio.run(run())
    assert arrived == [*range(MESSAGES)]
    assert errors == 1
    assert (wakes < MESSAGES / 4) == batched
    assert AppSession._call_soon_on_event_loop is before


def test_a_message_on_the_loop_wakes_the_sender_without_a_detour(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """From a thread it goes Streamlit's way, which wakes the loop."""

    async def run() -> None:
        server = _Streamlit()
        monkeypatch.setattr(runtime, "get_instance", lambda: server)
        sessions = server._session_mgr
        with tabs.batch_page_messages():
            sessions._message_enqueued_callback()
            assert server.need_send_data.is_set()
            assert not server.woken
            await asyncio.to_thread(sessions._message_enqueued_callback)
            assert len(server.woken) == 1

    asyncio.run(run())


def test_sessions_of_another_loop_are_left_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Tests run several servers in one process, one after another."""

    async def run() -> None:
        monkeypatch.setattr(runtime, "get_instance", _Streamlit)
        called: list[str] = []
        other = SimpleNamespace(
            call_soon_threadsafe=lambda callback: called.append("at once")
        )
        with tabs.batch_page_messages():
            session: Any = SimpleNamespace(_event_loop=other)
            AppSession._call_soon_on_event_loop(session, lambda: None)
        assert called == ["at once"]

    asyncio.run(run())
