"""Fixtures that every test may use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # a busy machine is no failure
settings.load_profile("untimed")

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(autouse=True)
def own_main() -> Iterator[None]:
    """Streamlit leaves its page as the main module, and processes that later tests start would run it."""
    main = sys.modules["__main__"]
    yield
    sys.modules["__main__"] = main


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference tables beside the checkout; a test that needs it is skipped without it."""
    if not (SHARED / "data" / "adult.csv").exists():
        pytest.skip("the reference tables (../shared) are not beside this checkout")
    return SHARED
