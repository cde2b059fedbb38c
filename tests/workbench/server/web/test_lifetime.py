"""What is done when the server starts."""

from __future__ import annotations

import gc
import socket

from workbench.server.web import lifetime


def test_small_answers_do_not_wait() -> None:
    """Every small answer would wait 40 ms for more, as the sockets that Streamlit makes
    do.
    """
    with (
        socket.socket(socket.AF_INET) as listening,
        socket.socket(socket.AF_INET) as client,
    ):
        listening.bind(("127.0.0.1", 0))
        listening.listen()
        lifetime._disable_nagle()
        client.connect(listening.getsockname())
        accepted, _ = listening.accept()
        with accepted:
            assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)
        # it is not ours
        assert not client.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY)


def test_what_pages_are_made_of_is_loaded_and_kept_out_of_the_search_for_garbage() -> (
    None
):
    """Each search for garbage would hold every tab for a tenth of a second."""
    try:
        lifetime._load_modules()
        assert gc.get_freeze_count() > 100_000
    finally:
        gc.unfreeze()
