"""The databases under the store's tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.contracts.ledger_kinds import (
    SqlKind,
    postgres_database,
    postgres_kind,
    sqlite_kind,
)
from tests.needs import need_postgres

POSTGRES = pytest.param("postgres", marks=pytest.mark.postgres)


@pytest.fixture(params=["sqlite", POSTGRES])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlKind]:
    """A ledger in a file, and one on the server, in a database of its own where a test
    is marked `alone`.
    """
    if request.param == "sqlite":
        with sqlite_kind(tmp_path / "var") as made:
            yield made
    else:
        url = need_postgres()
        with ExitStack() as stack:
            if "alone" in request.keywords:
                url = stack.enter_context(postgres_database(url))
            yield stack.enter_context(postgres_kind(tmp_path / "var", url))
