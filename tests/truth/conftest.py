"""Pages of the truth suite have a ledger of their own, as those of tests/pages."""

from pathlib import Path

import pytest

from tests.pages.conftest import own_ledger as own_ledger
from tests.truth.figures import marking as marking


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Twins with a wrong figure prove that the tests here see one: they are proofs."""
    for item in items:
        if Path(__file__).parent in item.path.parents and item.name.startswith(
            "test_a_wrong_"
        ):
            item.add_marker(pytest.mark.proof)
