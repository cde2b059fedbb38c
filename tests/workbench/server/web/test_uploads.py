"""Files come from whom may open tables, and all of them have one limit."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.workbench.server.web.client import Visitor, serving, wait_until
from tests.workbench.server.web.test_who import cookie
from workbench.server.web import tabs

SECRETS = """
[auth]
redirect_uri = "http://{host}/oauth2callback"
cookie_secret = "a secret of the tests"
client_id = "x"
client_secret = "x"
server_metadata_url = "http://127.0.0.1:9/x"
[roles]
stewards = ["ada@example.org"]
analysts = ["*@example.org"]
"""
MB = 2**20


def _signed_in(host: str, address: str) -> Visitor:
    """A browser with the cookie that Streamlit gives a person of this address."""
    fresh = Visitor(host)
    fresh.close()
    signed = cookie(email=address, origin=f"http://{host}", email_verified=True)
    return Visitor(host, visit=False, cookie=f"{fresh.cookie}; {signed}").run()


def _is_let_in(host: str) -> bool:
    """Whether the server knows the steward by now."""
    ada = _signed_in(host, "ada@example.org")
    ada.close()
    return "Sign in to go on" not in ada.text()


@pytest.mark.proof
def test_files_are_taken_from_stewards_alone(tmp_path: Path) -> None:
    """Strangers who see only "Sign in" sent 90 MB from each tab, until the server was
    out of memory.
    """
    secrets = tmp_path / "secrets.toml"
    secrets.write_text(SECRETS)
    with serving(STREAMLIT_SECRETS_FILES=str(secrets)) as server:
        secrets.write_text(SECRETS.format(host=server.host))
        # Streamlit looks at the file again and again
        wait_until(lambda: _is_let_in(server.host), "the settings are read")
        for visitor, status in (
            (Visitor(server.host).run(), 403),
            (_signed_in(server.host, "eve@example.org"), 403),
            (_signed_in(server.host, "ada@example.org"), 204),
        ):
            path = f"/_stcore/upload_file/{visitor.session}/1"
            assert visitor.put(path, b"x" * MB, "x.csv") == status


@pytest.mark.proof  # a server of its own
def test_all_tabs_have_one_limit() -> None:
    """A hundred tabs with two files each take 9 GB, and the system ends the server for
    all.
    """
    with serving(WORKBENCH_TABLE_MB="10") as server:
        one, other = (Visitor(server.host).run() for _ in range(2))
        big = b"x" * (6 * MB)
        assert one.put(f"/_stcore/upload_file/{one.session}/1", big, "x.csv") == 204
        assert other.put(f"/_stcore/upload_file/{other.session}/1", big, "x.csv") == 413
        assert (
            other.put(f"/_stcore/upload_file/{other.session}/1", big[: 2 * MB], "x.csv")
            == 204
        )


def test_a_file_on_its_way_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twenty files that one tab sends at once would each find room."""
    monkeypatch.setattr(tabs.runtime, "exists", lambda: True)

    uploads = SimpleNamespace(file_storage={})
    monkeypatch.setattr(
        tabs.runtime, "get_instance", lambda: SimpleNamespace(uploaded_file_mgr=uploads)
    )
    monkeypatch.setattr(tabs, "arriving_bytes", Counter(a=9, b=1))
    assert (
        tabs.unread_upload_bytes("a"),
        tabs.unread_upload_bytes("b"),
        tabs.unread_upload_bytes(),
    ) == (9, 1, 10)
