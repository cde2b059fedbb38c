"""How often does what a whole table promises hold, before it is paid and after the fit?

    python -m benchmarks.coverage --runs 20

Three invented tables of 300 to 30,000 rows, each recipe several times. "promised" is
the 95 % interval of the preview, against the published counts; "counts" and "answers"
are the intervals of a release: of its published counts, and of its model's answers
after everything was made consistent and fitted, for single columns and for the measured
pairs. Shares of cells that are inside; 0.93 to 0.99 is right for 95 %. Cells of a
merged group have no count of their own: their interval is a bound, and "merged" says
how often it holds. "width" is the promised half-width over the standard error that was
seen times 1.96: 1 is exact, 3 makes people overspend.

--inference asks how often a 95 % interval holds a mean, a share and a logistic
coefficient of the population (3,000 people, epsilon 1, delta 1e-9): what a textbook
makes of real rows, and of rows that Adaptive draws, as if they were people, and what
the counts of the three columns together tell with their errors, as docs/guarantees.md
explains. "wider" is the standard error by counts over that of real rows.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

import dpcore as dp
from benchmarks.harness import Table, arguments, show
from dpcore.synthesis import SyntheticModel

TABLES = {
    "small": (300, (5, 8, 12)),
    "middle": (3_000, (10, 20, 30, 15)),
    "large": (30_000, (40, 60, 25)),
}
LOSSES = {"epsilon 1": dp.PureDP(epsilon="1"), "rho 1/20": dp.ZCDP(rho="1/20")}


def invented(rows: int, sizes: tuple[int, ...]) -> tuple[pd.DataFrame, dp.Schema]:
    """Columns of numbers, each of which depends on the one before."""
    draw = np.random.default_rng(7)
    chance = np.full(rows, 0.3)
    columns = {}
    for i, size in enumerate(sizes):
        columns[f"c{i}"] = draw.binomial(size - 1, chance)
        chance = 0.2 + 0.5 * columns[f"c{i}"] / size
    schema = dp.Schema(
        columns=tuple(
            dp.Integer(name, low=0, high=size - 1)
            for name, size in zip(columns, sizes, strict=True)
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    return pd.DataFrame(columns), schema


def exact(
    frame: pd.DataFrame, schema: dp.Schema, clique: tuple[str, ...]
) -> np.ndarray:
    """The counts of a clique."""
    shape = tuple(schema.domain.size(name) for name in clique)
    cells = np.ravel_multi_index(tuple(frame[name] for name in clique), shape)
    return np.bincount(cells, minlength=int(np.prod(shape))).reshape(shape)


def inside(name: str, recipe: dp.Recipe, loss: Any, runs: int) -> dict[str, Any]:
    """Shares of cells inside each interval."""
    rows, sizes = TABLES[name]
    frame, schema = invented(rows, sizes)
    promised = {
        each.clique: each.half_width()
        for each in recipe.expect(schema.domain, loss, 1, rows)
    }
    kinds = ("promised", "counts", "answers", "pairs", "merged")
    hits: dict[str, list[bool]] = {kind: [] for kind in kinds}
    offs: list[float] = []
    for _run in range(runs):
        budget = loss if isinstance(loss, dp.PureDP) else dp.ZCDP(rho="1")
        curator = dp.Curator.open(
            frame, schema, budget=budget, ledger=dp.MemoryLedger()
        )
        release = curator.run(recipe, loss)
        for clique, marginal in release.marginals.items():
            if not clique:
                continue
            off = np.abs(marginal.values - exact(frame, schema, clique)).ravel()
            hits["counts"] += (off <= marginal.half_width()).tolist()
            if clique in promised:
                hits["promised"] += (off <= promised[clique]).tolist()
                offs += ((off / promised[clique]) ** 2).tolist()
        for clique in (
            release.model.cliques if isinstance(release.model, SyntheticModel) else ()
        ):
            singles = [(column,) for column in clique]
            for asked in [*singles, clique] if len(clique) == 2 else singles:
                answer = release.model.answer(asked)
                truth = exact(frame, schema, asked)
                held = (answer.low <= truth) & (truth <= answer.high)
                if answer.is_measured:
                    hits["answers" if len(asked) == 1 else "pairs"] += held[
                        answer.counted_alone
                    ].tolist()
                    hits["merged"] += held[~answer.counted_alone].tolist()
    shares = {
        kind: float(np.mean(each)) if each else None for kind, each in hits.items()
    }
    return shares | {
        "width": 1 / (1.96 * float(np.sqrt(np.mean(offs)))) if offs else None
    }


def population(rng: np.random.Generator, rows: int) -> pd.DataFrame:
    """People of whom an illness depends on age and smoking."""
    age = rng.integers(20, 80, rows)
    smokes = rng.random(rows) < 0.3
    ill = rng.random(rows) < 1 / (1 + np.exp(-(-4 + 0.05 * age + 0.8 * smokes)))
    others = {f"c{i}": rng.integers(0, 5, rows) for i in range(4)}
    return pd.DataFrame(
        {"age": age, "smokes": smokes.astype(int), "ill": ill.astype(int)} | others
    )


def textbook(frame: pd.DataFrame) -> dict[str, tuple[float, float]]:
    """Estimates with standard errors, as if every row were a person."""
    age = frame["age"].astype(float)
    ill = frame["ill"].astype(float).to_numpy()
    share = float(ill.mean())
    rows = len(frame)
    design = np.column_stack([np.ones(rows), age, frame["smokes"].astype(float)])
    beta = np.zeros(3)
    for _ in range(25):
        chance = 1 / (1 + np.exp(-design @ beta))
        information = (design * (chance * (1 - chance))[:, None]).T @ design
        beta = beta + np.linalg.solve(information, design.T @ (ill - chance))
    return {
        "mean age": (float(age.mean()), float(age.std()) / rows**0.5),
        "share ill": (share, (share * (1 - share) / rows) ** 0.5),
        "coefficient of age": (
            float(beta[1]),
            float(np.linalg.inv(information)[1, 1] ** 0.5),
        ),
        "coefficient of smoking": (
            float(beta[2]),
            float(np.linalg.inv(information)[2, 2] ** 0.5),
        ),
    }


def of_counts(cells: pd.DataFrame, variance: float) -> dict[str, tuple[float, float]]:
    """The same from noisy counts: each cell is a row for n people, and for n + variance
    in a variance.
    """
    n = cells["as measured"].to_numpy()
    ill = cells["ill"].to_numpy(float)
    design = np.column_stack(
        [np.ones(len(n)), cells["age"].astype(float), cells["smokes"].astype(float)]
    )
    beta = np.zeros(3)
    for _ in range(25):
        chance = 1 / (1 + np.exp(-design @ beta))
        slope = (design * (n * chance * (1 - chance))[:, None]).T @ design
        beta = beta + np.linalg.solve(slope, design.T @ (n * (ill - chance)))
    inverse = np.linalg.inv(slope)
    spread = (design * ((n + variance) * (ill - chance) ** 2)[:, None]).T @ design
    errors = np.sqrt(np.diag(inverse @ spread @ inverse))
    found = {}
    for name, values in (("mean age", design[:, 1]), ("share ill", ill)):
        mean = float(n @ values / n.sum())
        found[name] = (
            mean,
            float(((n + variance) @ (values - mean) ** 2) ** 0.5 / n.sum()),
        )
    found["coefficient of age"] = (float(beta[1]), float(errors[1]))
    found["coefficient of smoking"] = (float(beta[2]), float(errors[2]))
    return found


def inference(runs: int) -> list[dict[str, Any]]:
    """Shares of runs in which the interval of real rows, of drawn rows and of counts
    holds the truth.
    """
    truth = textbook(population(np.random.default_rng(0), 2_000_000))
    columns = [dp.Integer("age", low=20, high=79), dp.Integer("smokes", low=0, high=1)]
    columns += [
        dp.Integer("ill", low=0, high=1),
        *(dp.Integer(f"c{i}", low=0, high=4) for i in range(4)),
    ]
    schema = dp.Schema(columns=tuple(columns), unit=dp.PrivacyUnit(max_rows=1))
    loss = dp.ApproxDP(epsilon=1, delta=1e-9)
    together = ("age", "smokes", "ill")
    held: dict[str, dict[str, list[bool]]] = {name: {} for name in truth}
    wider: dict[str, list[float]] = {name: [] for name in truth}
    for run in range(runs):
        frame = population(np.random.default_rng(1 + run), 3_000)
        adaptive, joint = (
            dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger()).run(
                recipe, loss
            )
            for recipe in (dp.Adaptive(ordered=frozenset({"age"})), dp.Joint(together))
        )
        of_joint = of_counts(joint.table(together), joint.marginals[together].variance)
        found = {
            "real": textbook(frame),
            "drawn": textbook(adaptive.sample()),
            "counts": of_joint,
        }
        for of, estimates in found.items():
            for name, (value, error) in estimates.items():
                held[name].setdefault(of, []).append(
                    abs(value - truth[name][0]) <= 1.96 * error
                )
        for name in truth:
            wider[name].append(of_joint[name][1] / found["real"][name][1])
    return [
        {"of": name}
        | {rows: float(np.mean(each)) for rows, each in of.items()}
        | {"wider": float(np.median(wider[name]))}
        for name, of in held.items()
    ]


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("--inference", action="store_true")
    args = parser.parse_args()
    if args.inference:
        title = f"Intervals that hold the truth, {args.runs} runs"
        show([Table(title=title, lines=inference(args.runs))], as_json=args.json)
        return
    recipes = {"Independent": None, "Tree": dp.Tree(), "Adaptive": dp.Adaptive()}
    lines = []
    for name, (_rows, sizes) in TABLES.items():
        columns = tuple(f"c{i}" for i in range(len(sizes)))
        for title, recipe in recipes.items():
            for spent, loss in LOSSES.items():
                found = inside(
                    name, recipe or dp.Independent(columns=columns), loss, args.runs
                )
                lines.append({"table": name, "recipe": title, "loss": spent} | found)
    show(
        [Table(title=f"Cells inside a 95 % interval, {args.runs} runs", lines=lines)],
        as_json=args.json,
    )


if __name__ == "__main__":
    main()
