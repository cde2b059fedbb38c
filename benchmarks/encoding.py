"""What do drawn rows keep of raw tables whose columns mean something to each other?

    python -m benchmarks.encoding --runs 5
    python -m benchmarks.encoding --tables taxis --epsilons 1 3 --json

Taxi rides and the COMPAS table (`shared/data`, where they are at hand), schema as suggested, delta 1e-9. A
fifth of the rows is held back; `Adaptive`, the same with the learned column as its
target, and `Tree` draw from the rest, each run with the same fifth; "days told" is `Adaptive` with
the days that the table's publisher states in place of whole years. "pairs" is the mean total variation distance of all pairs of columns
over 20 quantiles of the raw values (days of dates; the 19 commonest of categories), by
rules of this file, not by the cells of a schema. "ranks" is the mean distance of
Spearman's correlations, "strong" that of pairs above .5; dates count as numbers.
"before" is the share of rows whose end lies before its begin, "equal" the share of rows
in which copies agree (both worst of the table), "auc" that of a named column, learned
from drawn rows and tested on those held back.
"""

import itertools
import statistics
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.metrics import roc_auc_score

import dpcore as dp
from benchmarks.harness import SHARED, Table, arguments, cpu, show
from benchmarks.targets import draw
from dpcore.schema._derived import DIFFERENCE_UNITS, Difference
from dpcore.schema.date import find_finest_step
from dpcore.synthesis import Recipe
from dpcore.synthesis.discrete.recipes import table_recipe_arguments

QUANTILES = 20
HELD_BACK = 0.2
STRONG = 0.5


@dataclass(frozen=True, kw_only=True)
class Meaning:
    """What is known of a table from outside.

    Attributes:
        target: a column to learn, and its value that counts as yes.
        ends: begin and end of one thing.
        copies: columns that agree.
        days: column -> first and last day, as its publisher states them.
    """

    target: tuple[str, Any]
    ends: tuple[tuple[str, str], ...]
    copies: tuple[tuple[str, str], ...] = ()
    days: Mapping[str, tuple[str, str]] = field(default_factory=dict)


TABLES = {
    "taxis": Meaning(
        target=("payment", "cash"),
        ends=(("pickup", "dropoff"),),
        days={"pickup": ("2019-02-28", "2019-04-01")},
    ),
    "compas": Meaning(
        target=("two_year_recid", 1),
        ends=(
            ("c_jail_in", "c_jail_out"),
            ("r_jail_in", "r_jail_out"),
            ("in_custody", "out_custody"),
            ("start", "end"),
        ),
        copies=(
            ("screening_date", "compas_screening_date"),
            ("screening_date", "v_screening_date"),
            ("decile_score", "decile_score.1"),
            ("priors_count", "priors_count.1"),
        ),
    ),
}


def as_numbers(values: pd.Series) -> pd.Series | None:
    """Numbers, or days and their parts since 1970; None for texts."""
    if pd.api.types.is_datetime64_any_dtype(values.dtype):
        return (values - pd.Timestamp(0)) / pd.Timedelta(days=1)
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.notna().sum() >= 0.9 * values.notna().sum():
        return numbers.astype(float)
    stamps = pd.to_datetime(values, errors="coerce", format="ISO8601")
    if stamps.notna().sum() >= 0.9 * values.notna().sum():
        return (stamps - pd.Timestamp(0)) / pd.Timedelta(days=1)
    return None


def places(original: pd.Series, drawn: pd.Series) -> list[np.ndarray]:
    """The place of each value of both columns: a quantile, a category or missing."""
    numbers = as_numbers(original)
    if numbers is None:
        common = original.astype(str)[original.notna()].value_counts().index
        index = pd.Index(common[: QUANTILES - 1])
        found = [index.get_indexer(each.astype(str)) for each in (original, drawn)]
        return [
            np.where(each.isna(), QUANTILES, np.where(at < 0, QUANTILES - 1, at))
            for each, at in zip((original, drawn), found, strict=True)
        ]
    if not pd.api.types.is_numeric_dtype(original.dtype):
        numbers = np.floor(numbers)
    edges = np.unique(
        numbers.dropna().quantile(np.arange(1, QUANTILES) / QUANTILES).to_numpy()
    )
    answer = []
    for each in (original, drawn):
        own = as_numbers(each)
        if own is None:
            own = pd.Series(np.nan, index=each.index)
        if not pd.api.types.is_numeric_dtype(original.dtype):
            own = np.floor(own)
        at = np.searchsorted(edges, own.to_numpy(dtype=float), side="right")
        answer.append(np.where(own.isna(), QUANTILES, at))
    return answer


def distance(one: np.ndarray, other: np.ndarray) -> float:
    """Total variation distance of flat cells."""
    size = int(max(one.max(), other.max())) + 1
    shares = [np.bincount(each, minlength=size) / len(each) for each in (one, other)]
    return 0.5 * float(np.abs(shares[0] - shares[1]).sum())


def pairs(original: pd.DataFrame, drawn: pd.DataFrame) -> float:
    """Mean distance of all pairs; a column that was not drawn does not count."""
    names = [name for name in original.columns if name in drawn.columns]
    at = {name: places(original[name], drawn[name]) for name in names}
    width = QUANTILES + 1
    return statistics.fmean(
        distance(*(at[a][i] * width + at[b][i] for i in (0, 1)))
        for a, b in itertools.combinations(names, 2)
    )


def ranks(original: pd.DataFrame, drawn: pd.DataFrame) -> tuple[float, float]:
    """Mean distance of rank correlations: of all pairs of numbers, of strong ones."""
    known = {
        name: numbers
        for name in original.columns
        if name in drawn.columns
        and (numbers := as_numbers(original[name])) is not None
        and numbers.nunique() > 2
    }
    own = {name: as_numbers(drawn[name]) for name in known}
    upper = np.triu_indices(len(known), 1)
    one, other = (
        pd.DataFrame({n: v for n, v in each.items() if v is not None})
        .reindex(columns=list(known))
        .corr(method="spearman", min_periods=50)
        .to_numpy()[upper]
        for each in (known, own)
    )
    seen = ~np.isnan(one)
    off = np.abs(np.nan_to_num(other) - one)
    return float(off[seen].mean()), float(off[seen & (np.abs(one) > STRONG)].mean())


def ends_before(frame: pd.DataFrame, ends: tuple[tuple[str, str], ...]) -> float:
    """The largest share of rows whose end lies before its begin."""
    shares = []
    for begin, end in ends:
        first, last = as_numbers(frame[begin]), as_numbers(frame[end])
        if first is not None and last is not None:
            shares.append(float((last < first).mean()))
    return max(shares)


def copies_equal(frame: pd.DataFrame, copies: tuple[tuple[str, str], ...]) -> float:
    """The smallest share of rows in which two copies agree."""
    return min(
        float(((frame[a] == frame[b]) | (frame[a].isna() & frame[b].isna())).mean())
        for a, b in copies
    )


def learned(train: pd.DataFrame, test: pd.DataFrame, target: tuple[str, Any]) -> float:
    """AUC of boosted trees on rows held back."""
    name, yes = target
    joined = pd.concat([train, test], ignore_index=True)
    features = {}
    for column in train.columns:
        if column == name:
            continue
        numbers = as_numbers(joined[column])
        features[column] = (
            pd.Series(pd.factorize(joined[column])[0].astype(float))
            if numbers is None
            else numbers
        )
    label = (joined[name].astype(str) == str(yes)).to_numpy()
    cut = len(train)
    inputs = pd.DataFrame(features).to_numpy(copy=True)
    inputs[:, np.isnan(inputs[:cut]).all(axis=0)] = 0  # boosted trees refuse them
    if len(set(label[:cut])) < 2:
        return 0.5
    model = HistGradientBoostingClassifier(random_state=0)
    model.fit(inputs[:cut], label[:cut])
    return float(roc_auc_score(label[cut:], model.predict_proba(inputs[cut:])[:, 1]))


def with_days(schema: dp.Schema, days: Mapping[str, tuple[str, str]]) -> dp.Schema:
    """Return the schema with told bounds of dates; steps and differences follow."""
    columns: list[dp.schema.Column] = []
    for column in schema.columns:
        if isinstance(column, dp.Date) and column.name in days:
            low, high = days[column.name]
            column = replace(
                column, low=low, high=high, step=find_finest_step(low, high)
            )
        if isinstance(column, Difference) and column.start in days:
            first, last = map(pd.Timestamp, days[column.start])
            units = (last - first) / pd.Timedelta(seconds=DIFFERENCE_UNITS[column.unit])
            column = replace(column, high=units)
        columns.append(column)
    return replace(schema, columns=tuple(columns))


def of_table(name: str, epsilon: float, runs: int) -> list[dict[str, Any]]:
    """One line per recipe, and the rows themselves."""
    meaning = TABLES[name]
    frame = pd.read_csv(SHARED / "data" / f"{name}.csv")
    loss = dp.ApproxDP(epsilon=epsilon, delta="1e-9")
    found: dict[str, list[list[float]]] = {}
    for run in range(runs):
        held = np.random.default_rng(run).random(len(frame)) < HELD_BACK
        train = frame[~held].reset_index(drop=True)
        test = frame[held].reset_index(drop=True)
        schema = dp.suggest_schema(train)
        order = table_recipe_arguments(schema.columns)
        recipes: dict[str, Recipe] = {
            "Adaptive": dp.Adaptive(**order),
            "target": dp.Adaptive(**order, target=meaning.target[0]),
            "Tree": dp.Tree(**order),
        }
        told = with_days(schema, meaning.days)
        runs_of = [(title, schema, recipe) for title, recipe in recipes.items()]
        if meaning.days:
            runs_of.append(("days told", told, recipes["Adaptive"]))
        for title, declared, recipe in runs_of:
            seconds, drawn = cpu(partial(draw, train, declared, recipe, loss))
            known = train[[each for each in train.columns if each in drawn.columns]]
            found.setdefault(title, []).append(
                [
                    pairs(known, drawn),
                    *ranks(known, drawn),
                    ends_before(drawn, meaning.ends),
                    copies_equal(drawn, meaning.copies) if meaning.copies else np.nan,
                    learned(drawn, test[drawn.columns], meaning.target),
                    seconds,
                ]
            )
    names = ("pairs", "ranks", "strong", "before", "equal", "auc", "cpu_s")
    lines = []
    for title, results in found.items():
        columns = list(zip(*results, strict=True))
        lines.append(
            {
                "table": name,
                "epsilon": epsilon,
                "method": title,
                **{
                    column: statistics.fmean(values)
                    for column, values in zip(names, columns, strict=True)
                },
                "pairs_sd": statistics.pstdev(columns[0]),
                "auc_least": min(columns[5]),
            }
        )
    return lines


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--epsilons", type=float, nargs="*", default=[1.0])
    parser.add_argument("--tables", nargs="*", choices=TABLES, default=list(TABLES))
    args = parser.parse_args()
    warnings.simplefilter("ignore")
    lines = [
        line
        for name in args.tables
        if (SHARED / "data" / f"{name}.csv").exists()
        for epsilon in args.epsilons
        for line in of_table(name, epsilon, args.runs)
    ]
    show([Table(title="What drawn rows keep", lines=lines)], as_json=args.json)


if __name__ == "__main__":
    main()
