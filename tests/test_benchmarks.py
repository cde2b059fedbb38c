"""Benchmarks that take several settings at once; their figures are not tested."""

from __future__ import annotations

import json
import sys
from functools import partial

import pytest

from benchmarks import harness, targets


def test_targets_takes_several_epsilons(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The second epsilon ended in an error, after all the time of the first."""
    for name, value in harness.ONE_THREAD.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(targets, "bookings", partial(targets.bookings, rows=400))
    words = "--tables bookings --epsilons 1 2 --runs 1 --weights 4 --json"
    monkeypatch.setattr(sys, "argv", ["targets", *words.split()])
    targets.main()
    (lines,) = json.loads(capsys.readouterr().out)["tables"].values()
    told = [(line["epsilon"], line["method"]) for line in lines]
    methods = [
        "real rows",
        "Tree",
        "Adaptive, target x 4",
        "Adaptive, target named, x 4",
    ]
    assert told == [(epsilon, method) for epsilon in (1.0, 2.0) for method in methods]
