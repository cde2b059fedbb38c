"""What do boosted trees learn from a drawn table of categories and numbers, with and
without a target?

    python -m benchmarks.targets --runs 4
    python -m benchmarks.targets --weights 1 4 16 --tables adult --epsilons 0.1 1
    python -m benchmarks.targets --tables parity "parity of 2" --epsilons 4 --triples

The raw Adult table (income from 14 columns, schema as suggested), invented bookings of
hotels (whether one is cancelled, from dates, money, counts and categories), and two
where three or two of twelve columns decide the class only together
(`benchmarks/families.py`). A fifth of the rows is held back; `Adaptive` draws from the
rest at each epsilon (delta 1e-9), with pairs of the target of so many times the usual
weight, and with the target named, too. HistGradientBoosting learns from the drawn rows and is tested on those held
back: AUC and accuracy, next to those of the real rows, and of `Tree`. --triples adds
all triples in place of pairs (degree 3), and those of the target at each weight.
"pairs" is the mean distance of all pairs, "of target" that of the pairs with it. A
weight of 1 is a table without a target.
"""

import itertools
import statistics
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import accuracy_score, roc_auc_score

import dpcore as dp
from benchmarks.families import parity
from benchmarks.harness import Table, arguments, cpu, show
from dpcore.evaluation.utility.marginal_error import measure_marginal_error
from dpcore.schema.interval import IntervalColumn
from dpcore.synthesis import Recipe
from dpcore.synthesis.discrete.recipes import table_recipe_arguments

ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult.csv"
HELD_BACK = 0.2


def bookings(seed: int, rows: int = 40_000) -> pd.DataFrame:
    """Bookings, of which some are cancelled: the more so the earlier made, without
    deposit, by new guests.
    """
    rng = np.random.default_rng(seed)
    lead = np.minimum(rng.exponential(90, rows), 700).astype(int)
    arrival = np.datetime64("2015-07-01") + rng.integers(0, 790, rows)
    month = (arrival.astype("datetime64[M]").astype(int)) % 12
    market = rng.choice(
        ["agency", "online", "direct", "groups", "firm"],
        rows,
        p=[0.2, 0.47, 0.11, 0.17, 0.05],
    )
    deposit = np.where(
        (market == "groups") & (rng.random(rows) < 0.5), "not returned", "none"
    )
    guests = 1 + rng.binomial(3, 0.33, rows)
    nights = 1 + rng.geometric(0.35, rows)
    rate = np.round(
        45 + 25 * guests + 40 * np.isin(month, (6, 7)) + rng.gamma(3, 8, rows), 2
    )
    again = (rng.random(rows) < np.where(market == "firm", 0.3, 0.02)).astype(int)
    wishes = rng.poisson(np.where(market == "direct", 1.0, 0.5), rows)
    country = rng.choice(
        ["PRT", "GBR", "FRA", "ESP", "DEU", "ITA", "other"],
        rows,
        p=[0.4, 0.1, 0.09, 0.07, 0.06, 0.03, 0.25],
    )
    odds = (
        -1.9
        + 0.006 * lead
        + 4.0 * (deposit == "not returned")
        + 1.0 * (market == "online")
        + 0.7 * (country == "PRT")
        + 0.004 * (rate - 100)
        + 0.3 * np.isin(month, (6, 7))
        - 0.9 * wishes
        - 1.5 * again
    )
    return pd.DataFrame(
        {
            "lead_time": lead,
            "arrival": arrival.astype(str),
            "booked": (arrival - lead).astype(str),
            "market": market,
            "deposit": deposit,
            "country": country,
            "guests": guests,
            "nights": nights,
            "rate": rate,
            "again": again,
            "wishes": wishes,
            "cancelled": np.where(
                rng.random(rows) < 1 / (1 + np.exp(-odds)), "yes", "no"
            ),
        },
    )


def draw(
    frame: pd.DataFrame, schema: dp.Schema, recipe: Recipe, loss: dp.ApproxDP
) -> pd.DataFrame:
    """Rows of a release."""
    curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
    return curator.run(recipe, loss).sample()


def features(frame: pd.DataFrame, schema: dp.Schema, target: str) -> np.ndarray:
    """Numbers as they are, days as numbers, categories as codes of the schema."""
    made = []
    for column in schema.columns:
        values = frame[column.name]
        if column.name == target:
            continue
        if isinstance(column, dp.Date):
            days = pd.to_datetime(values, errors="coerce")
            made.append((days - pd.Timestamp("2000-01-01")).dt.days.to_numpy(float))
        elif isinstance(column, IntervalColumn):
            made.append(pd.to_numeric(values, errors="coerce").to_numpy(float))
        else:
            made.append(column.encode(values).astype(float))
    return np.column_stack(made)


def learned(
    train: pd.DataFrame, test: pd.DataFrame, schema: dp.Schema, target: str
) -> dict[str, float]:
    """AUC and accuracy on the rows that were held back."""
    label = schema.column(target)
    names = [each.name for each in schema.columns if each.name != target]
    unordered = [
        i
        for i, n in enumerate(names)
        if not isinstance(schema.column(n), IntervalColumn)
        and schema.column(n).size <= 255
    ]
    model = HistGradientBoostingClassifier(
        random_state=0, categorical_features=unordered
    )
    model.fit(features(train, schema, target), label.encode(train[target]))
    truth = label.encode(test[target])
    told = features(test, schema, target)
    return {
        "AUC": float(roc_auc_score(truth, model.predict_proba(told)[:, 1])),
        "accuracy": float(accuracy_score(truth, model.predict(told))),
    }


def recipes_for(
    schema: dp.Schema, target: str, weights: list[float], *, with_triples: bool
) -> dict[str, Recipe]:
    """Return the recipes that are compared, by their titles.

    Args:
        weights: how much pairs with the target count.
        with_triples: whether all triples, and those of the target, are asked for too.
    """
    order = table_recipe_arguments(schema.columns)
    others = [name for name in schema.domain.names if name != target]
    recipes: dict[str, Recipe] = {"Tree": dp.Tree(**order)}
    for weight in weights:
        pairs = {(name, target): weight for name in others} if weight != 1 else {}
        recipes[f"Adaptive, target x {weight:g}"] = dp.Adaptive(**order, weights=pairs)
        if pairs:
            recipes[f"Adaptive, target named, x {weight:g}"] = dp.Adaptive(
                **order, weights=pairs, target=target
            )
        if with_triples:
            triples = {
                (*pair, target): weight for pair in itertools.combinations(others, 2)
            }
            recipes[f"triples of the target x {weight:g}"] = dp.Adaptive(
                **order, weights=pairs | triples
            )
    if with_triples:
        recipes["Adaptive, degree 3"] = dp.Adaptive(**order, degree=3)
    return recipes


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument(
        "--first", type=int, default=0, help="the first seed of splits and bookings"
    )
    parser.add_argument("--epsilons", type=float, nargs="*", default=[1.0])
    parser.add_argument("--weights", type=float, nargs="*", default=[1.0, 4.0])
    parser.add_argument("--triples", action="store_true", help="also measure triples")
    parser.add_argument("--tables", nargs="*", default=["adult", "bookings"])
    args = parser.parse_args()
    sources: dict[str, tuple[Callable[[int], pd.DataFrame], str]] = {
        "bookings": (bookings, "cancelled"),
        "parity": (partial(parity, 20_000), "class"),
        "parity of 2": (partial(parity, 20_000, inputs=2), "class"),
    }
    if ADULT.exists():
        sources["adult"] = (lambda _: pd.read_csv(ADULT), "income")
    lines: list[dict[str, Any]] = []
    for name in (each for each in args.tables if each in sources):
        build, target = sources[name]
        schema = dp.suggest_schema(build(args.first))
        for epsilon in args.epsilons:
            loss = dp.ApproxDP(epsilon=epsilon, delta=1e-9)
            recipes = recipes_for(
                schema, target, args.weights, with_triples=args.triples
            )
            found: dict[str, list[dict[str, float]]] = {}
            for seed in range(args.first, args.first + args.runs):
                frame = build(seed)
                shuffled = np.random.default_rng(seed).permutation(len(frame))
                cut = round(len(frame) * HELD_BACK)
                test, train = (
                    frame.iloc[each].reset_index(drop=True)
                    for each in (shuffled[:cut], shuffled[cut:])
                )
                found.setdefault("real rows", []).append(
                    learned(train, test, schema, target)
                )
                for title, recipe in recipes.items():
                    seconds, drawn = cpu(partial(draw, train, schema, recipe, loss))
                    error = measure_marginal_error(train, drawn, schema, (2,))
                    with_target = error.pairs[error.columns.index(target)]
                    found.setdefault(title, []).append(
                        {
                            **learned(drawn, test, schema, target),
                            "pairs": error.ways[0].mean,
                            "of target": float(np.nanmean(with_target)),
                            "cpu_s": seconds,
                        },
                    )
            real = statistics.fmean(each["AUC"] for each in found["real rows"])
            for title, runs in found.items():
                means = {
                    key: statistics.fmean(run[key] for run in runs) for key in runs[0]
                }
                lines.append(
                    {
                        "table": name,
                        "epsilon": epsilon,
                        "method": title,
                        **means,
                        "below real": real - means["AUC"],
                    },
                )
    show([Table(title="Learned from drawn rows", lines=lines)], as_json=args.json)


if __name__ == "__main__":
    main()
