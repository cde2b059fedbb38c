"""One server for the tests of what is put before it."""

from tests.workbench.web.conftest import server

__all__ = ["server"]
