"""Two speeds of tests: `make test` leaves out what is marked as a proof, `make proofs` runs it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def but_first(quick: int, values: Iterable[Any]) -> list[Any]:
    """Parameters of a test: the first `quick` values belong to the quick tier, the others are proofs."""
    return [
        value if place < quick else pytest.param(value, marks=pytest.mark.proof)
        for place, value in enumerate(values)
    ]
