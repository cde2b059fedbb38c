"""Examples in docstrings run as they stand."""

from __future__ import annotations

import doctest
import importlib

import pytest

from tests.architecture.modules import PATHS, name_of

MODULES = [
    name_of(path) for path in PATHS if ">>> " in path.read_text(encoding="utf-8")
]


@pytest.mark.parametrize("module", MODULES)
def test_examples_are_true(module: str) -> None:
    """The first lines that a reader copies would fail, or give something else."""
    results = doctest.testmod(importlib.import_module(module))
    assert results.attempted
    assert results.failed == 0


def test_a_wrong_example_fails() -> None:
    """The check above would see nothing."""
    example = doctest.DocTestParser().get_doctest(
        ">>> 1 + 1\n3", {}, "wrong", None, None
    )
    assert (
        doctest.DocTestRunner(verbose=False).run(example, out=lambda text: None).failed
        == 1
    )
