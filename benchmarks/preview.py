"""Does a release tell the relations that the preview promises, before anything is paid?

    python -m benchmarks.preview [--json]

Twenty tables at five losses. The preview says from what association (Cramer's V) on
relations come out.

said           pairs of the real table above that association
told           those of them whose relation the release keeps
all told       all pairs with V of .1 or more that it keeps
clear          what the page says without a warning, for relations and single columns
columns alone  what single columns alone would have said
not fit        a release no better about pairs than independent columns: after "clear"
it is false comfort
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

import dpcore as dp
from benchmarks.harness import SHARED, Table, arguments, show
from dpcore.evaluation.utility.counts import cramers_v
from dpcore.synthesis.relations import (
    MAX_NARROW_CELLS,
    MIN_KEPT_SHARE,
    RelationTrial,
    count_in_runs,
    find_weakest_kept_relation,
    relation_share_kept,
)
from workbench import samples
from workbench.synthesize.preview_view import ROUGH_ERROR
from workbench.synthesize.relations_view import CLEAR_ASSOCIATION

LOSSES = {
    "epsilon 1/2": dp.PureDP(epsilon="0.5"),
    "epsilon 2": dp.PureDP(epsilon="2"),
    "rho .0002": dp.ZCDP(rho="0.0002"),
    "rho .012": dp.ZCDP(rho="0.012"),
    "rho .16": dp.ZCDP(rho="0.16"),
}
RELATED = 0.1


def tables() -> dict[str, pd.DataFrame]:
    """Tables by name; those of ../shared are left out where it is absent."""
    from sklearn import datasets

    named: dict[str, pd.DataFrame] = {}
    for name in ("wine", "breast_cancer", "iris", "diabetes"):
        named[name] = getattr(datasets, f"load_{name}")(as_frame=True).frame
    census = samples.census()
    hospital = samples.hospital()
    named |= {"hospital": hospital, "hospital, 1,000": hospital.head(1_000)}
    named |= {
        "census, 3,000": census.sample(3_000, random_state=5),
        "census, 6 columns": census.iloc[:, :6],
    }
    rng = np.random.default_rng(8)
    factor = rng.normal(size=6_000)
    cuts = np.linspace(-2, 2, 7)
    named["one factor"] = pd.DataFrame(
        {
            f"f{i}": np.digitize(0.7 * factor + 0.7 * rng.normal(size=6_000), cuts)
            for i in range(12)
        },
    )
    days = rng.geometric(0.2, 20_000).clip(1, 60)
    named["stays"] = pd.DataFrame(
        {
            "days": days,
            "cost": (days * rng.normal(400, 60, 20_000)).round(-2).clip(0, 30_000),
            "sex": rng.choice(["F", "M"], 20_000),
            "ward": rng.choice(list("ABCDEFGH"), 20_000),
            "birth year": rng.integers(1930, 2010, 20_000),
        },
    )
    if not SHARED.exists():
        return named
    for name in ("australian", "breast-cancer", "diabetes"):
        named[f"book, {name}"] = pd.read_csv(SHARED / f"data/privsyn_{name}.csv")
    adult = pd.read_csv(SHARED / "data/arx/adult_30162.csv", sep=";")
    coded = pd.read_csv(SHARED / "data/adult_coded.csv")
    for rows in (30_000, 5_000, 1_000):
        named[f"adult, {rows:,}"] = adult.sample(rows, random_state=rows)
    for rows in (48_000, 10_000, 2_000):
        named[f"adult coded, {rows:,}"] = coded.sample(rows, random_state=rows)
    named["adult coded, 6 columns"] = coded.iloc[:, :6]
    return named


def judged(frame: pd.DataFrame, loss: Any) -> dict[str, Any]:
    """What was said before, and what came out."""
    schema = dp.Schema(
        columns=dp.suggest_schema(frame).columns, unit=dp.PrivacyUnit(max_rows=1)
    )
    curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
    rows = float(f"{len(frame):.0e}")
    trial = RelationTrial.for_recipe(dp.Adaptive(), curator.schema, loss, rows)
    assert trial is not None
    said = find_weakest_kept_relation(trial)
    quote = curator.quote(dp.Adaptive(), loss, table_rows=rows)
    alone = all(
        each.half_width() < ROUGH_ERROR * rows / max(1, each.cells)
        for each in quote.expected
    )
    clear = alone and all(
        each is not None and each <= CLEAR_ASSOCIATION[kind]
        for kind, each in said.items()
    )
    model = curator.run(dp.Adaptive(), loss).model
    size = schema.domain.size
    codes = {
        column.name: column.encode(frame[column.name]) for column in schema.columns
    }
    counts = {"said": 0, "told": 0, "all told": 0}
    shares = []
    for pair in itertools.combinations(schema.domain.names, 2):
        both = (codes[pair[0]], codes[pair[1]])
        strength = cramers_v(count_in_runs(both, [size(name) for name in pair])[0])
        share = relation_share_kept(model, pair, both)
        from_ = said.get(max(map(size, pair)) > MAX_NARROW_CELLS)
        if strength >= RELATED:
            shares.append(share)
            counts["all told"] += share >= MIN_KEPT_SHARE
            counts["said"] += from_ is not None and strength >= from_
            counts["told"] += (
                from_ is not None and strength >= from_ and share >= MIN_KEPT_SHARE
            )
    not_fit = bool(shares) and float(np.mean(shares)) <= 0
    return {**counts, "clear": clear, "columns alone": alone, "not fit": not_fit}


def main() -> None:
    args = arguments(__doc__).parse_args()
    lines = [
        {"table": name, "loss": spent} | judged(frame.reset_index(drop=True), loss)
        for name, frame in tables().items()
        for spent, loss in LOSSES.items()
    ]
    counted = ("said", "told", "all told", "clear", "columns alone", "not fit")
    sums: dict[str, Any] = {name: sum(line[name] for line in lines) for name in counted}
    for word in ("clear", "columns alone"):
        sums[f"{word}, then not fit"] = sum(
            line[word] and line["not fit"] for line in lines
        )
    everything = Table(title=f"All {len(lines)} cells", lines=[sums])
    show(
        [
            Table(title="Relations said before paying, and told", lines=lines),
            everything,
        ],
        as_json=args.json,
    )


if __name__ == "__main__":
    main()
