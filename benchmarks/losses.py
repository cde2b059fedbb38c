"""Which loss do runs on an invented table prove, recipe by recipe?

    python -m benchmarks.losses
    python -m benchmarks.losses --recipes Tree Adaptive --runs 200 --json

Each recipe runs again and again on invented rows of five columns, with and without
invented people, at mu 3 of zCDP and at a pure epsilon of 3. So much loss is told apart
by few runs. Under zCDP they have 20 rows each: of one row the noise would be so small
that whole numbers tell more than a mu can say. Beside the stated loss stands that of the tables which
the release holds, and the bound at 95 %; and at 1 % and 5 % false alarms the true
positives that were achieved, and those of the exact law of the noise.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import pandas as pd

import dpcore as dp
from benchmarks.harness import Table, arguments, show
from dpcore.accounting.loss import Loss
from dpcore.evaluation.attacks.loss_audit import audit_loss
from dpcore.synthesis import Recipe

SIZES = {"p": 6, "q": 5, "r": 4, "s": 3, "t": 2}
COLUMNS = tuple(
    dp.Categorical(name, categories=tuple(range(size))) for name, size in SIZES.items()
)
RECIPES: dict[str, Recipe] = {
    "Histogram": dp.Histogram("p"),
    "Joint": dp.Joint(("p", "q", "r")),
    "Independent": dp.Independent(tuple(SIZES)),
    "Marginals": dp.Marginals(cliques=(("p", "q"), ("q", "r"), ("s", "t"))),
    "Tree": dp.Tree(),
    "Adaptive": dp.Adaptive(),
    "Gaussian": dp.Gaussian(
        label="p", features=("q", "r", "s", "t"), detail="variances"
    ),
}
LOSSES: tuple[tuple[Loss, int], ...] = (
    (dp.ZCDP(rho="4.5"), 20),
    (dp.PureDP(epsilon=3), 1),
)
"""Losses, and rows of a person."""
SLOW = ("Tree", "Adaptive")


def released(
    schema: dp.Schema, recipe: Recipe, loss: Loss
) -> Callable[[pd.DataFrame], dp.Release]:
    """Return a run of the recipe on other rows, under a ledger of its own."""

    def run(frame: pd.DataFrame) -> dp.Release:
        curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
        return curator.run(recipe, loss)

    return run


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=1_000, help="a third for slow ones")
    parser.add_argument("--canaries", type=int, default=300)
    parser.add_argument("--recipes", nargs="*", default=list(RECIPES))
    args = parser.parse_args()
    lines: list[dict[str, Any]] = []
    for loss, rows in LOSSES:
        schema = dp.Schema(columns=COLUMNS, unit=dp.PrivacyUnit(max_rows=rows))
        for name in args.recipes:
            found = audit_loss(
                released(schema, RECIPES[name], loss),
                schema,
                runs=max(2, args.runs // (3 if name in SLOW else 1)),
                canaries=args.canaries,
            )
            line: dict[str, Any] = {
                "recipe": name,
                "loss": str(loss),
                "stated": found.stated_loss,
                "held": found.measured_loss,
                "bound": found.proved_loss,
                "of held": found.proved_loss / found.measured_loss,
                "right": found.right_share,
                "right by law": found.expected_right_share,
                "runs a side": found.runs_per_side,
                "seconds": found.seconds,
            }
            for alarms in (0.01, 0.05):
                line[f"found at {alarms:.0%}"], line[f"law at {alarms:.0%}"] = (
                    found.curve[alarms]
                )
            lines.append(line)
    show([Table(title="Proved on an invented table", lines=lines)], as_json=args.json)


if __name__ == "__main__":
    main()
