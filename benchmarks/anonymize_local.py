"""Local methods and risk figures on Adult: information lost and CPU seconds, beside the figures to beat.

Usage: python benchmarks/anonymize_local.py [--data FOLDER] [--json]. The folder holds ARX's copy of Adult
with its hierarchies. Seconds are CPU of one thread, the fastest of three runs, reading of files left out.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

os.environ.update(OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1")  # before numpy is imported

import numpy as np
import pandas as pd

from dpcore.anonymize.admission import Admission
from dpcore.anonymize.column_sets import column_sets
from dpcore.anonymize.disclosure import attribute_risk
from dpcore.anonymize.encoding import equivalence_classes, leaves_of
from dpcore.anonymize.hierarchy import Hierarchy
from dpcore.anonymize.identifiers import find_identifiers
from dpcore.anonymize.local_recoding import local_recoding
from dpcore.anonymize.microaggregation import microaggregate
from dpcore.anonymize.mondrian import mondrian
from dpcore.anonymize.risk import reidentification_risk
from dpcore.anonymize.uniqueness import pitman_uniqueness, zayatz_uniqueness

FOLDER = Path(__file__).resolve().parents[2] / "shared" / "data" / "arx"
QI7 = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
QI9 = [*QI7, "occupation", "salary-class"]
SETUPS = {"qi7": QI7, "qi9": QI9}
KS = (5, 10, 25)

MONDRIAN_BAR = {"qi7": (0.0167, 0.0321, 0.0635), "qi9": (0.0300, 0.0539, 0.0977)}
LOCAL_BAR = {"qi7": (0.0331, 0.0480, 0.0750), "qi9": (0.0632, 0.0871, 0.1266)}  # ARX's local recoding
RISK_BAR = {
    "qi7": (0.367648, 0.253730, 0.693820, 0.999357, 0.1167, 0.1214),
    "qi9": (0.646575, 0.514290, 0.970924, 0.999906, 0.2768, 0.3207),
}

Row = dict[str, Any]


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """The result and the CPU seconds of the fastest of three runs."""
    seconds = []
    for _ in range(3):
        start = time.process_time()
        result = work()
        seconds.append(time.process_time() - start)
    return result, min(seconds)


def row(what: str, value: float, bar: float | None, seconds: float, seconds_bar: float | None) -> Row:
    return {"what": what, "value": value, "bar": bar, "cpu_s": seconds, "cpu_bar_s": seconds_bar}


def recoding(adult: pd.DataFrame, trees: dict[str, Hierarchy]) -> Iterator[Row]:
    """NCP of Mondrian and of local recoding with hierarchy labels."""
    for setup, columns in SETUPS.items():
        chosen = {name: trees[name] for name in columns}
        for place, k in enumerate(KS):
            admission = Admission(k=k)
            result, seconds = timed(lambda: mondrian(adult, columns, admission=admission))  # noqa: B023
            yield row(f"Mondrian {setup} k={k} NCP", result.ncp, MONDRIAN_BAR[setup][place], seconds, 0.2)
            result, seconds = timed(lambda: local_recoding(adult, chosen, admission=admission))  # noqa: B023
            yield row(f"local recoding {setup} k={k} NCP", result.ncp, LOCAL_BAR[setup][place], seconds, 5)


def microaggregation(rows: int) -> Iterator[Row]:
    """MDAV on skewed, correlated columns."""
    random = np.random.default_rng(0)
    for columns in (4, 8):
        common = random.normal(size=(rows, 2)) @ random.normal(size=(2, columns))
        values = np.exp(0.5 * common + 0.25 * random.normal(size=(rows, columns)))
        frame = pd.DataFrame(values, columns=[f"x{i}" for i in range(columns)])
        for k in (5, 10):
            result, seconds = timed(lambda: microaggregate(frame, list(frame), k=k))  # noqa: B023
            bar = {(4, 5): 1.1}.get((columns, k))
            yield row(f"MDAV {rows} x {columns} k={k} loss", result.information_loss, None, seconds, bar)


def risk(adult: pd.DataFrame) -> Iterator[Row]:
    """Figures of re-identification and attribute disclosure, of the file as it stands."""
    for setup, columns in SETUPS.items():
        classes = equivalence_classes(adult, columns)
        found, seconds = timed(lambda: reidentification_risk(classes, threshold=0.05))  # noqa: B023
        sets, sets_seconds = timed(lambda: column_sets(adult, columns))  # noqa: B023
        ten = 10 * len(adult)
        pitman, pitman_seconds = timed(lambda: pitman_uniqueness(classes, population=ten))  # noqa: B023
        zayatz, zayatz_seconds = timed(lambda: zayatz_uniqueness(classes, population=ten))  # noqa: B023
        bars = RISK_BAR[setup]
        yield row(f"average risk {setup}", found.average, bars[0], seconds, None)
        yield row(f"sample uniques {setup}", found.uniques, bars[1], seconds, None)
        yield row(f"risk above 5 % {setup}", found.above, bars[2], seconds, None)
        sets_bar = {"qi7": 0.5, "qi9": 1.3}[setup]
        yield row(
            f"separation, {len(sets)} sets, {setup}", sets[-1].separation, bars[3], sets_seconds, sets_bar
        )
        yield row(f"Pitman at .1 {setup}", pitman, bars[4], pitman_seconds, None)
        yield row(f"Zayatz at .1 {setup}", zayatz, bars[5], zayatz_seconds, None)

    def measure() -> float:
        classes, secret = equivalence_classes(adult, QI7), leaves_of(adult, "occupation").codes
        reidentification_risk(classes, threshold=0.05)
        return attribute_risk(classes, secret).t_equal

    value, seconds = timed(measure)
    yield row("k, l, entropy l, recursive, t of qi7", value, None, seconds, 0.05)
    found, seconds = timed(lambda: find_identifiers(adult))
    yield row("columns that look like identifiers", len(found), 0, seconds, None)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, default=FOLDER)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    adult = pd.read_csv(options.data / "adult_30162.csv", sep=";")
    trees = {
        name: Hierarchy.from_csv((options.data / f"adult_hierarchy_{name}.csv").read_text()) for name in QI9
    }
    rows = [*recoding(adult, trees), *microaggregation(len(adult)), *risk(adult)]
    if options.json:
        print(json.dumps(rows, indent=1))
        return
    print(pd.DataFrame(rows).to_string(index=False, float_format="{:.6g}".format, na_rep=""))


if __name__ == "__main__":
    main()
