"""One server for the tests of its door; each test is a visitor of its own."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.workbench.web.client import Server, serving


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    with serving() as server:
        yield server
