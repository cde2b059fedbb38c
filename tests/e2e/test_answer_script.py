"""The respondent's script in a real browser: its law, and its bytes against
Python's.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import dpcore.local as dl
from dpcore.local import _bits as bits
from tests.local import oracle
from tests.statistical import laws
from workbench.share.answers import STATIC_FOLDER

DRAWS = 20_000
ON_CHROME = """
([asked, code, draws]) => {
    const take = (size) => crypto.getRandomValues(new Uint8Array(size));
    const seen = {};
    for (let i = 0; i < draws; i += 1) {
        const report = JSON.stringify(drawReport(asked, code, take));
        seen[report] = (seen[report] || 0) + 1;
    }
    return seen;
}
"""
ON_GIVEN_BYTES = """
([asked, trials]) => trials.map(([code, hex]) => {
    const bytes = hex.match(/../g).map((pair) => parseInt(pair, 16));
    let used = 0;
    const take = (size) => bytes.slice(used, used += size);
    return [JSON.stringify(drawReport(asked, code, take)), used];
})
"""


@pytest.fixture(scope="module")
def page(browser: Any) -> Iterator[Any]:
    """An empty page with the script, without any server."""
    context = browser.new_context()
    page = context.new_page()
    page.add_script_tag(path=str(STATIC_FOLDER / "draw.js"))
    yield page
    context.close()


def asked(protocol: dl.Protocol) -> dict[str, Any]:
    return {
        "protocol": protocol.kind,
        "categories": protocol.categories,
        "script": protocol.script_parameters(),
    }


@pytest.mark.parametrize("name", dl.Protocol.kinds())
@pytest.mark.parametrize(
    ("categories", "epsilon"),
    [(2, "0.1"), (5, "1"), (16, "3"), (300, "1"), (700, "8"), (3, "30")],
)
def test_same_bytes_give_the_same_report(
    page: Any, name: str, categories: int, epsilon: str
) -> None:
    """A script that strays from the library by one byte would have another law than the
    estimates assume.
    """
    protocol = dl.Protocol.kinds()[name](categories=categories, epsilon=epsilon)
    source = random.Random(f"{name} {categories} {epsilon}")
    levels = b"".join(
        bytes.fromhex(word)
        for word in protocol.script_parameters().values()
        if isinstance(word, str)
    )
    trials = []
    for trial in range(150):
        code = source.randrange(categories)
        stream = source.randbytes(8 * categories + 4_096)
        # bytes of the thresholds themselves, so that ties go on to the last byte
        if trial % 3 == 0:
            stream = levels * (1 + len(stream) // len(levels))
        trials.append((code, stream))
    found = page.evaluate(
        ON_GIVEN_BYTES, [asked(protocol), [[code, each.hex()] for code, each in trials]]
    )
    for (code, stream), (report, used) in zip(trials, found, strict=True):
        ours, left = replay(protocol, code, stream)
        assert json.loads(report) == ours
        assert used == len(stream) - left


def replay(protocol: dl.Protocol, code: int, stream: bytes) -> tuple[Any, int]:
    """Python's report from given bytes, and how many are left."""
    left = stream

    def taken(size: int) -> bytes:
        nonlocal left
        given = left[:size]
        left = left[size:]
        assert len(given) == size
        return given

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bits, "urandom", taken)
        report = protocol.to_plain(protocol.perturb([code]))[0]
    return report, len(left)


def fit(protocol: dl.Protocol, seen: dict[str, int], code: int) -> float:
    """p-value of reports from the browser under the law written down from the
    definition.
    """
    law = oracle.law(protocol, code)
    counts = Counter(
        {_key(json.loads(report)): count for report, count in seen.items()}
    )
    assert set(counts) <= set(law)
    return laws.chi_square_of_counts(
        np.array([counts[report] for report in law]),
        np.array([DRAWS * float(chance) for chance in law.values()]),
    )


def _key(report: Any) -> Any:
    if isinstance(report, str):
        return tuple(map(int, report))
    return tuple(report) if isinstance(report, list) else report


@pytest.mark.parametrize(
    "name", [name for name in dl.Protocol.kinds() if name != "local hashing"]
)
def test_the_law_in_the_browser(page: Any, name: str) -> None:
    """Draws with the browser's own randomness must have the law, and a planted fault
    must not pass.
    """
    protocol = dl.Protocol.kinds()[name](categories=5, epsilon=1)
    seen = page.evaluate(ON_CHROME, [asked(protocol), 3, DRAWS])
    assert fit(protocol, seen, 3) > laws.FALSE_ALARM
    planted = dl.Protocol.kinds()[name](categories=5, epsilon="1.3")
    seen = page.evaluate(ON_CHROME, [asked(planted), 3, DRAWS])
    assert fit(protocol, seen, 3) < laws.FALSE_ALARM


@pytest.mark.parametrize("epsilon", ["1", "1.3"])
def test_the_law_of_hashing_in_the_browser(page: Any, epsilon: str) -> None:
    """The perturbed cell is kept or moved with the law of epsilon 1; that of 1.3 must
    not pass for it.
    """
    protocol = dl.LocalHashing(categories=5, epsilon=1)
    keep_at = dl.RandomizedResponse(
        categories=protocol.cells, epsilon=epsilon
    ).script_parameters()
    given = {**asked(protocol), "script": {**keep_at, "cells": protocol.cells}}
    moved = np.zeros(protocol.cells)
    for report, count in page.evaluate(ON_CHROME, [given, 3, DRAWS]).items():
        word, cell = json.loads(report)
        own = (
            (int(word[:16], 16) * 3 + int(word[16:], 16)) % 2**64 >> 32
        ) * protocol.cells >> 32
        moved[(cell - own) % protocol.cells] += count
    keep = float(protocol.p)
    law = np.array([keep] + [(1 - keep) / (protocol.cells - 1)] * (protocol.cells - 1))
    p = laws.chi_square_of_counts(moved, DRAWS * law)
    assert p > laws.FALSE_ALARM if epsilon == "1" else p < laws.FALSE_ALARM


def test_a_stuck_source_is_caught(page: Any) -> None:
    """A browser whose bytes were not random would give the answers away: the test must
    see it.
    """
    protocol = dl.RandomizedResponse(categories=5, epsilon=1)
    biased = ON_CHROME.replace(
        "crypto.getRandomValues(new Uint8Array(size))",
        "Array.from(crypto.getRandomValues(new Uint8Array(size)), (byte) => byte >> 1)",
    )
    seen = page.evaluate(biased, [asked(protocol), 3, DRAWS])
    assert fit(protocol, seen, 3) < laws.FALSE_ALARM
