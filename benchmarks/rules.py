"""Which rule of charges gives the smaller error for counts of so many columns?

    python -m benchmarks.rules
    python -m benchmarks.rules --cells 50 --share 1/2

A budget of epsilon 3 (delta 1e-9 under zCDP), of which one release takes the share that
is proposed. For each number of columns, each number of rows of a person and both rules:
the error that the quote tells for one count, and the error within which 95 of 100 of
the drawn counts are. The Data page proposes pure epsilon for tables of one or two
columns, and zCDP for all others: the last column says whether its quote is the smaller
one.
"""

from __future__ import annotations

import sys
from fractions import Fraction
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

import dpcore as dp
from benchmarks.harness import Table, arguments, show
from workbench.upload.form import MAX_COLUMNS_FOR_PURE_EPSILON

COLUMNS = (1, 2, 4, 8, 16)
ROWS = (1, 3)
BUDGETS: dict[str, dp.AnyLoss] = {
    "pure epsilon": dp.PureDP(epsilon=3),
    "zCDP": dp.ApproxDP(epsilon=3, delta="1e-9"),
}


def told_and_delivered(
    budget: dp.AnyLoss, share: Fraction, *, columns: int, rows: int, cells: int
) -> tuple[float, float]:
    """The quote of a count of one column, and what 95 of 100 counts are within."""
    names = [f"c{place}" for place in range(columns)]
    frame = pd.DataFrame({name: np.zeros(1, dtype=np.int64) for name in names})
    schema = dp.Schema(
        columns=tuple(dp.Integer(name, low=0, high=cells - 1) for name in names),
        unit=dp.PrivacyUnit(max_rows=rows),
    )
    curator = dp.Curator.open(frame, schema, budget=budget, ledger=dp.MemoryLedger())
    whole = curator.rule.convert(budget)
    recipe = dp.Marginals(cliques=tuple((name,) for name in names))
    quote = curator.quote(recipe, whole.share(share))
    release = curator.run(recipe, whole.share(share))
    off = []
    for name in names:
        truth = np.zeros(cells)
        truth[0] = 1
        off.append(np.abs(release.marginals[(name,)].values - truth))
    told = max(table.half_width() for table in quote.expected)
    return told, float(np.quantile(np.concatenate(off), 0.95))


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--cells", type=int, default=500, help="of each column")
    parser.add_argument("--share", type=Fraction, default=Fraction(1, 6))
    asked = parser.parse_args()
    lines = []
    for rows in ROWS:
        for columns in COLUMNS:
            found = {
                rule: told_and_delivered(
                    budget, asked.share, columns=columns, rows=rows, cells=asked.cells
                )
                for rule, budget in BUDGETS.items()
            }
            proposed = (
                "pure epsilon" if columns <= MAX_COLUMNS_FOR_PURE_EPSILON else "zCDP"
            )
            least = min(found, key=lambda rule: found[rule][0])
            line: dict[str, object] = {"rows of a person": rows, "columns": columns}
            for rule, (told, delivered) in found.items():
                line |= {f"{rule}, told": told, f"{rule}, delivered": delivered}
            lines.append(line | {"proposed": proposed, "is smaller": proposed == least})
    show(
        [Table(title=f"A count, at {asked.share} of the budget", lines=lines)],
        as_json=asked.json,
    )


if __name__ == "__main__":
    main()
