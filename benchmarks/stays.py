"""Is the one relation of a table with several rows a person found, and how much is
spent on others?

    python -m benchmarks.stays --runs 20

Invented hospital stays: 20,000 of 7,000 patients, with cost = days x a price and
nothing else that goes together; at most five stays a patient, schema as suggested,
delta 1e-9. "rank correlation" is that of days and cost in drawn rows; "on others" the
part of the loss of measured pairs that went to pairs without a relation; "Kolmogorov"
the mean distance of the four columns of numbers.
"""

from __future__ import annotations

import dataclasses
import statistics
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
from scipy.stats import ks_2samp

import dpcore as dp
from benchmarks.harness import Table, arguments, cpu, show
from dpcore.synthesis import SyntheticModel
from dpcore.synthesis.discrete.recipes import table_recipe_arguments

NUMBERS = ("birth_year", "days", "cost", "crp")
RELATION = {"days", "cost"}


def stays(seed: int, rows: int = 20_000, patients: int = 7_000) -> pd.DataFrame:
    """Stays of patients."""
    rng = np.random.default_rng(seed)
    days = np.minimum(1 + rng.geometric(0.16, rows), 60)
    return pd.DataFrame(
        {
            "patient": rng.integers(0, patients, rows).astype(str),
            "sex": rng.choice(["m", "w", "d"], rows, p=[0.48, 0.515, 0.005]),
            "birth_year": rng.integers(1925, 2020, rows),
            "ward": rng.choice([f"ward {i}" for i in range(9)], rows),
            "zip": rng.choice([f"{10000 + i * 37}" for i in range(40)], rows),
            "emergency": rng.choice(["yes", "no"], rows, p=[0.4, 0.6]),
            "days": days,
            "cost": np.round(days * rng.lognormal(6.2, 0.25, rows), 2),
            "crp": np.round(rng.lognormal(2, 1, rows), 1),
            "month": rng.integers(1, 13, rows),
        },
    )


def rank_correlation(frame: pd.DataFrame) -> float:
    """Spearman's correlation of days and cost."""
    return float(
        frame["days"].astype(float).corr(frame["cost"].astype(float), method="spearman")
    )


def of_seed(seed: int, schema: dp.Schema, loss: dp.ApproxDP) -> dict[str, float]:
    """The figures of one table."""
    frame = stays(seed)

    def work() -> tuple[dp.Release, pd.DataFrame]:
        curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
        release = curator.run(
            dp.Adaptive(**table_recipe_arguments(schema.columns)), loss
        )
        return release, release.sample()

    seconds, (release, drawn) = cpu(work)
    assert isinstance(release.model, SyntheticModel)
    paid = {  # in proportion to rho; differences have less variance for the same
        each.clique: 1 / (each.variance * 4 ** len(each.signed))
        for each in release.model.measurements
        if len(each.clique) > 1
    }
    others = sum(each for clique, each in paid.items() if set(clique) != RELATION)
    apart = [
        ks_2samp(drawn[name].astype(float), frame[name].astype(float)).statistic
        for name in NUMBERS
    ]
    return {
        "rank correlation": rank_correlation(drawn),
        "original": rank_correlation(frame),
        "on others": others / sum(paid.values()) if paid else 0.0,
        "Kolmogorov": statistics.fmean(apart),
        "cpu_s": seconds,
    }


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--first", type=int, default=1000, help="the first seed")
    parser.add_argument("--epsilons", type=float, nargs="*", default=[0.5])
    args = parser.parse_args()
    suggested = dp.suggest_schema(stays(0).drop(columns="patient"))
    schema = dataclasses.replace(
        suggested, unit=dp.PrivacyUnit(max_rows=5, id_column="patient")
    )
    lines: list[dict[str, Any]] = []
    for epsilon in args.epsilons:
        loss = dp.ApproxDP(epsilon=epsilon, delta=1e-9)
        runs = [of_seed(args.first + i, schema, loss) for i in range(args.runs)]
        means = {name: statistics.fmean(run[name] for run in runs) for name in runs[0]}
        least = min(run["rank correlation"] for run in runs)
        lines.append({"epsilon": epsilon, "runs": args.runs, **means, "least": least})
    show([Table(title="Days x cost of stays", lines=lines)], as_json=args.json)


if __name__ == "__main__":
    main()
