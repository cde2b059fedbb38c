"""How fast do a million people answer, and do estimates vary as stated?

    python -m benchmarks.local --json

One million people, 16 categories, epsilon 1, one thread: perturbing all answers and
estimating frequencies, in millions of people per CPU second, beside a plain loop over
people in Python. Then 2,000 people, many times over: the observed variance of the
estimates over the stated one, which should be within 0.9 to 1.1. With --peers, pure-ldp
and multi-freq-ldpy in environments of their own, on 50,000 people: speed, and squared
error over the stated variance of one run.
"""

from __future__ import annotations

import random
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

import dpcore.local as dl
from benchmarks import peers
from benchmarks.harness import Table, arguments, cpu, show

PEOPLE = 1_000_000
CATEGORIES = 16
EPSILON = 1
FEW = 2_000
REPEATS = 1_000
PEOPLE_OF_PEERS = 50_000
BARS = {
    "randomized response": 10.0,
    "symmetric unary": 5.0,
    "optimized unary": 5.0,
    "local hashing": 2.0,
    "subset selection": 0.8,
}
"""Millions of people per second that perturbing and estimating together should
reach.
"""


def plain(codes: list[int], protocol: dl.Protocol) -> float:
    """CPU seconds of randomized response by a loop over people, with floats from the
    system's randomness.
    """
    source = random.SystemRandom()
    keep = float(protocol.p)
    began = time.process_time()
    counts = [0] * CATEGORIES
    for code in codes:
        if source.random() >= keep:
            code = (code + 1 + source.randrange(CATEGORIES - 1)) % CATEGORIES
        counts[code] += 1
    return time.process_time() - began


def variance_ratio(protocol: dl.Protocol) -> float:
    """Observed over stated variance of the frequencies, over many surveys of few
    people.
    """
    # the last category is common
    codes = np.minimum(np.arange(FEW) % (2 * CATEGORIES), CATEGORIES - 1)
    truth = np.bincount(codes, minlength=CATEGORIES) / FEW
    squares = [
        np.square(protocol.estimate(protocol.perturb(codes)).frequencies - truth).mean()
        for _ in range(REPEATS)
    ]
    return float(np.mean(squares)) / protocol.mean_variance(FEW)


def ours() -> list[dict[str, Any]]:
    codes = np.random.default_rng(1).integers(0, CATEGORIES, PEOPLE)
    found = []
    for name, kind in dl.Protocol.kinds().items():
        protocol = kind(categories=CATEGORIES, epsilon=EPSILON)
        perturbing, reports = cpu(
            lambda protocol=protocol: protocol.perturb(codes), repeats=3
        )
        estimating, _ = cpu(
            lambda protocol=protocol, reports=reports: protocol.estimate(reports),
            repeats=3,
        )
        line = {
            "protocol": name,
            "perturb_m_per_s": PEOPLE / perturbing / 1e6,
            "estimate_m_per_s": PEOPLE / estimating / 1e6,
            "both_m_per_s": PEOPLE / (perturbing + estimating) / 1e6,
            "bar_m_per_s": BARS.get(name),
            "variance_ratio": variance_ratio(protocol),
            "real_epsilon": protocol.real_epsilon,
        }
        if name == "randomized response":
            seconds = plain(codes[:PEOPLE_OF_PEERS].tolist(), protocol)
            line["times_plain_loop"] = line["both_m_per_s"] / (
                PEOPLE_OF_PEERS / seconds / 1e6
            )
        found.append(line)
    return found


def beside_peers(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    codes = pd.DataFrame(
        {"code": np.random.default_rng(2).integers(0, CATEGORIES, PEOPLE_OF_PEERS)}
    )
    truth = np.bincount(codes["code"], minlength=CATEGORIES) / PEOPLE_OF_PEERS
    speeds = {line["protocol"]: line["both_m_per_s"] for line in lines}
    found = []
    for peer, run in (
        ("pure-ldp", peers.pure_ldp),
        ("multi-freq-ldpy", peers.multi_freq),
    ):
        for name, (seconds, shares) in (run(codes, CATEGORIES, EPSILON) or {}).items():
            stated = dl.Protocol.kinds()[name](
                categories=CATEGORIES, epsilon=EPSILON
            ).mean_variance(
                PEOPLE_OF_PEERS,
            )
            speed = PEOPLE_OF_PEERS / seconds / 1e6
            found.append(
                {
                    "peer": peer,
                    "protocol": name,
                    "m_per_s": speed,
                    "ours_times_faster": speeds[name] / speed,
                    "squared_error_over_stated": float(
                        np.square(np.array(shares) - truth).mean()
                    )
                    / stated,
                },
            )
    return found


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--peers",
        action="store_true",
        help="install and run other libraries, in minutes",
    )
    args = parser.parse_args()
    lines = ours()
    tables = [
        Table(
            title=f"{PEOPLE} people, {CATEGORIES} categories, epsilon {EPSILON}",
            lines=lines,
        )
    ]
    if args.peers:
        tables.append(Table(title="Beside other libraries", lines=beside_peers(lines)))
    show(tables, as_json=args.json)


if __name__ == "__main__":
    main()
