"""The respondent's and the reader's script without a browser: the law of bits, the
floor of small numbers.

The proofs in tests/e2e do the same in a browser, and more.
"""

from __future__ import annotations

import json
import random
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
import dpcore.local as dl
from tests.e2e.test_answer_script import asked, replay
from tests.e2e.test_explore import bars_by_hand, noise_by_hand
from tests.workbench.share.scripts import run
from tests.workbench.share.test_explore import content_of
from workbench.report import document, explore
from workbench.share.answers import STATIC_FOLDER

DRAW = (STATIC_FOLDER / "draw.js").read_text(encoding="utf-8")
REPORTS = """
console.log(JSON.stringify(given.map(([asked, code, hex]) => {
  const bytes = hex.match(/../g).map((pair) => parseInt(pair, 16));
  let used = 0;
  const take = (size) => bytes.slice(used, used += size);
  return [drawReport(asked, code, take), used];
})));
"""
TrialQuestion = tuple[dl.Protocol, int, bytes]


def trials() -> list[TrialQuestion]:
    """Protocols, answers and random bytes, those of the thresholds themselves among
    them.
    """
    source = random.Random(44)
    drawn = []
    for name, kind in dl.Protocol.kinds().items():
        for categories, epsilon in ((2, "0.1"), (5, "1"), (16, "3"), (300, "1")):
            protocol = kind(categories=categories, epsilon=epsilon)
            words = [
                word
                for word in protocol.script_parameters().values()
                if isinstance(word, str)
            ]
            levels = b"".join(map(bytes.fromhex, words))
            for number in range(40):
                stream = source.randbytes(8 * categories + 4_096)
                if number % 3 == 0:  # ties go on to the last byte
                    stream = levels * (1 + len(stream) // len(levels))
                # a word beyond all multiples of a bound is drawn again
                elif number % 3 == 1:
                    stream = b"\xff" * (number % 12) + stream
                drawn.append((protocol, source.randrange(categories), stream))
        assert name == protocol.kind
    return drawn


def differing(script: str, drawn: list[TrialQuestion]) -> set[str]:
    """The protocols of which the script makes another report than the library, or takes
    other bytes.
    """
    given = [[asked(protocol), code, stream.hex()] for protocol, code, stream in drawn]
    found = set()
    for (protocol, code, stream), told in zip(
        drawn, run(script + REPORTS, given), strict=True
    ):
        report, left = replay(protocol, code, stream)
        if told != [json.loads(json.dumps(report)), len(stream) - left]:
            found.add(protocol.kind)
    return found


def test_the_script_draws_by_the_law_of_the_library() -> None:
    """Answers would be drawn by a law of which estimates, and what was promised, know
    nothing.
    """
    drawn = trials()
    assert differing(DRAW, drawn) == set()
    unary = {"symmetric unary", "optimized unary"}
    everything = set(dl.Protocol.kinds())
    for right, wrong, protocols in (
        ("bits[code] = bernoulli(given.yes, 1)[0];", "bits[code] = true;", unary),
        ("bernoulli(given.no, categories)", "bernoulli(given.yes, categories)", unary),
        ("bits.map(Number)", "bits.reverse().map(Number)", unary),
        ("if (word < limit) return", "return", everything - unary),
        ("bytes[i] < level", "bytes[i] <= level", everything),
    ):
        assert DRAW.count(right) == 1
        seen = differing(DRAW.replace(right, wrong), drawn)
        assert seen
        assert seen <= protocols


BARS = """
const told = [];
const tell = () => told.push({
  status: elements["explore-status"].textContent,
  bars: elements["explore-columns"].children.map((box) => box.children[1].children.map((bar) => {
    const [count] = bar.children.filter((part) => part.className === "count");
    return [count.textContent, bar.classes.has("hatched")];
  })),
});
tell();
for (const [number, bar] of given.clicks) {
  elements["explore-columns"].children[number].children[1].children[bar].listeners.click();
  tell();
}
console.log(JSON.stringify(told));
"""
SETTING = """
elements["explore-content"] = new Element(JSON.stringify(given.content));
elements["explore"] = new Element();
elements["explore"].dataset = { few: "few", model: "model", all: "all", some: "{rows}" };
"""
CLICKS = [[0, 1], [1, 0], [0, 1], [2, 1], [1, 0]]


@pytest.fixture(scope="module")
def release() -> dp.Release:
    """Three columns, some of their cells of few rows, of which two were measured
    together.
    """
    rng = np.random.default_rng(4)
    a = rng.choice(list("vwxyz"), 4_000, p=[0.5, 0.3, 0.19, 0.008, 0.002])
    b = np.where(rng.random(4_000) < 0.7, a, rng.permutation(a))
    # many of them are beyond 10 and below the floor
    rare = np.repeat(list("abcdefghijklmnop"), 20)
    c = rng.permutation([*rare, *["K"] * 2_000, *["L"] * (2_000 - len(rare))])
    frame = pd.DataFrame({"a": a, "b": b, "c": c})
    columns = tuple(
        dp.Categorical(name, categories=tuple(sorted(set(frame[name]))))
        for name in frame
    )
    schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=9), ledger=dp.MemoryLedger()
    )
    return curator.run(dp.Tree(), dp.PureDP(epsilon="0.5"))


def mistakes(script: str, release: dp.Release) -> int:
    """How many bars show a number that noise or the drawing may have made, or hide one
    that they did not.
    """
    content = content_of(explore.interactive_section(release))
    told = run(SETTING + script + BARS, {"content": content, "clicks": CLICKS})
    chosen: dict[int, set[int]] = {
        number: set() for number in range(len(content["columns"]))
    }
    wrong = hidden = 0
    for step, page in zip([None, *CLICKS], told, strict=True):
        if step is not None:
            chosen[step[0]] ^= {step[1]}
        for number, bars in enumerate(page["bars"]):
            others = {
                other: each
                for other, each in chosen.items()
                if each and other != number
            }
            drawn = bars_by_hand(content, chosen, number) * content["scale"]
            rows = drawn if others else np.array(content["columns"][number]["values"])
            for bar, (text, hatched) in enumerate(bars):
                noise = noise_by_hand(release, content, {**others, number: {bar}})
                cliques: list[Any] = [*others.items(), (number, {bar})]
                alone = [
                    noise_by_hand(release, content, {one: each}) or 0
                    for one, each in cliques
                ]
                floor = max(
                    explore.MIN_ROWS_FROM_TABLES * content["scale"],
                    max(alone) if noise is None else noise,
                )
                # rounded up to whole rows; of columns apart the script may know a more
                # precise table
                if abs(rows[bar] - floor) <= (
                    4 if noise is not None else 4 + floor / 3
                ):
                    continue
                few = rows[bar] < floor
                hidden += few
                wrong += (text == "few") != few or hatched != (few or noise is None)
    assert hidden > 5
    return wrong


def test_the_explore_page_hides_small_numbers(release: dp.Release) -> None:
    """A number of rows that noise alone may have made would be read as people."""
    assert mistakes(document.SCRIPT, release) == 0
    for right, wrong in (
        (
            "count.textContent = few ? words.few : written(rows[bar]);",
            "count.textContent = written(rows[bar]);",
        ),
        ("drawn * content.scale < floor", "false"),
        ("Math.sqrt(variance)", "0.1"),
        ('toggle("hatched", few || model)', 'toggle("hatched", model)'),
    ):
        assert document.SCRIPT.count(right) == 1
        assert mistakes(document.SCRIPT.replace(right, wrong), release) > 0, right


def test_few_drawn_rows_are_no_number_without_noise(release: dp.Release) -> None:
    """Where there is hardly any noise, four drawn rows would be taken for six
    people.
    """
    content = content_of(explore.interactive_section(release))
    for table in content["tables"]:
        table["terms"] = [[0.0, kinds] for _, kinds in table["terms"]]
    content["columns"][0]["values"] = [1_000, 9, 8, 5, 11]
    content["scale"] = 1.0
    (shown,) = run(SETTING + document.SCRIPT + BARS, {"content": content, "clicks": []})
    assert [text for text, _ in shown["bars"][0]] == [
        "1,000",
        "few",
        "few",
        "few",
        "11",
    ]
