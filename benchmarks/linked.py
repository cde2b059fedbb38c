"""How close are two linked tables that are drawn together, and what would the naive way
give?

    python -m benchmarks.linked --runs 5
    python -m benchmarks.linked --epsilons 1 3.2 --households 50000
    python -m benchmarks.linked --runs 1 --peers dpsynth

Invented households and their members, in the form of the census example of Google's
dpsynth: ten columns of households, eight of persons, at most ten persons of a household
of whom six count, delta 1e-6. "naive" is one joined table in which each person repeats
the columns of the household, measured with the whole loss; its rows, each with a chance
of 1 / persons, are its households. Columns are mean total variation distances of single
columns and of pairs: of households, of persons (or of a household and a person), and of
the number of persons. --peers FOLDER sets dpsynth.relational beside them, from a
checkout of google/dpsynth (see benchmarks/synthesis.py), at the same rho and with the
settings of its own example. "one household" is the share of persons whose household exists
and has one value per column. "by chance" compares with another draw of as many
households from the invented law.
"""

from __future__ import annotations

import itertools
import statistics
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

import dpcore as dp
from benchmarks.harness import Table, arguments, cpu, show
from benchmarks.peers import Dpsynth, dpsynth
from dpcore.curator.linked import propose_recipe
from dpcore.schema.linked import NUMBER_OF_EVENTS
from dpcore.tables.distance import total_variation

COUNTED_PERSONS = 6
"""Persons of a household that count."""


def whole(name: str, high: int, width: int = 1) -> dp.Integer:
    return dp.Integer(name, low=0, high=high, bin_width=width)


def codes(name: str, number: int) -> dp.Categorical:
    return dp.Categorical(name, categories=tuple(map(str, range(number))))


LINKED = dp.LinkedSchema(
    people=dp.Schema(
        columns=(
            codes("farm", 2),
            codes("ownership", 3),
            codes("acres", 3),
            codes("tax", 3),
            whole("insurance", 59, 3),
            whole("electricity", 99, 5),
            whole("value", 99, 5),
            whole("rooms", 9),
            codes("plumbing", 3),
            codes("area", 60),
        ),
        unit=dp.PrivacyUnit(max_rows=1, id_column="household"),
    ),
    events=dp.Schema(
        columns=(
            codes("relation", 5),
            codes("sex", 2),
            whole("age", 99, 5),
            codes("marital", 6),
            codes("origin", 9),
            codes("education", 12),
            codes("work", 3),
            whole("income", 99, 5),
        ),
        unit=dp.PrivacyUnit(max_rows=COUNTED_PERSONS, id_column="household"),
    ),
    rules=dp.LinkRules(
        orphans="leave out",
        without_key="leave out",
        repeated_people="keep one",
        keys="as written",
    ),
)
OF_HOUSEHOLD = LINKED.people.domain.names
OF_PERSON = LINKED.events.domain.names


def invent(seed: int, households: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Households with wealth, and persons who share it and their origin."""
    rng = np.random.default_rng(seed)
    wealth = rng.normal(size=households)
    area = np.minimum(rng.geometric(0.05, households) - 1, 59)

    def spread(low: int, high: int, by: Any, noise: float, rows: int) -> Any:
        middle = (low + high) / 2 + (high - low) / 5 * by
        drawn = middle + noise * (high - low) / 5 * rng.normal(size=rows)
        return np.clip(np.rint(drawn), low, high).astype(int)

    owns = (rng.random(households) < 1 / (1 + np.exp(-1.5 * wealth))).astype(int)
    size = np.clip(
        rng.poisson(1.2 + owns, households) + (rng.random(households) < 0.97), 0, 10
    )
    of_households = pd.DataFrame(
        {
            "household": np.arange(households),
            "farm": (rng.random(households) < 0.02 + 0.1 * (area > 40)).astype(int),
            "ownership": np.where(rng.random(households) < 0.05, 2, owns),
            "acres": np.minimum(2, owns * (1 + (rng.random(households) < 0.1))),
            "tax": np.where(owns == 1, 1 + (rng.random(households) < 0.3), 0),
            "insurance": spread(0, 59, wealth, 0.4, households) * owns,
            "electricity": spread(0, 99, 0.5 * size - 1.5, 0.6, households),
            "value": spread(0, 99, wealth, 0.3, households) * owns,
            "rooms": np.clip(
                3 + owns + size // 2 + rng.integers(-1, 2, households), 0, 9
            ),
            "plumbing": (rng.random(households) < 0.03).astype(int) * 2,
            "area": area,
        }
    )
    owner = np.repeat(np.arange(households), size)
    rows = len(owner)
    first = np.append(True, owner[1:] != owner[:-1])[:rows]
    second = np.append(False, first[:-1])[:rows]
    age_of_head = spread(20, 95, wealth, 1.0, households)
    age = np.where(first, age_of_head[owner], rng.integers(0, 30, rows))
    age = np.where(
        second, np.clip(age_of_head[owner] + rng.integers(-6, 7, rows), 18, 99), age
    )
    adult = age >= 18
    origin = np.minimum(rng.geometric(0.5, households) - 1, 8)
    own_origin = np.where(
        rng.random(rows) < 0.9, origin[owner], rng.integers(0, 9, rows)
    )
    schooling = spread(0, 11, wealth[owner], 0.7, rows)
    works = adult & (rng.random(rows) < 0.7)
    earned = spread(0, 99, 0.8 * wealth[owner] + 0.2 * (schooling - 5), 0.6, rows)
    of_persons = pd.DataFrame(
        {
            "household": owner,
            "relation": np.where(
                first, 0, np.where(second, 1, 2 + (rng.random(rows) < 0.1))
            ),
            "sex": rng.integers(0, 2, rows),
            "age": age,
            "marital": np.where(
                ~adult, 5, np.where(first | second, 0, rng.integers(1, 5, rows))
            ),
            "origin": own_origin,
            "education": np.where(adult, schooling, np.minimum(schooling, age // 6)),
            "work": np.where(adult, 1 + works, 0),
            "income": np.where(works, earned, 0),
        }
    )
    return of_households, of_persons


def views(
    households: pd.DataFrame, persons: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Both tables as they are measured; all persons of a household count."""
    sizes = persons.groupby("household").size().reindex(households["household"])
    counted = sizes.fillna(0).clip(upper=COUNTED_PERSONS).to_numpy(dtype=int)
    people = households.assign(**{NUMBER_OF_EVENTS: counted})
    return people, persons.merge(people, on="household")


def distances(
    truth: tuple[pd.DataFrame, pd.DataFrame], drawn: tuple[pd.DataFrame, pd.DataFrame]
) -> dict[str, float]:
    """Mean total variation distances of columns and pairs, by where they are."""
    schemas = (LINKED.people_view, LINKED.events_view)
    encoded = [
        [
            {
                column.name: column.encode(column.values_of(view))
                for column in schema.columns
            }
            for view in both
        ]
        for schema, *both in zip(schemas, truth, drawn, strict=True)
    ]

    def distance(of_events: bool, *names: str) -> float:
        schema = schemas[of_events]
        shape = schema.domain.shape(names)
        shares = []
        for view in encoded[of_events]:
            cells = np.ravel_multi_index([view[name] for name in names], shape)
            counts = np.bincount(cells, minlength=int(np.prod(shape)))
            shares.append(counts / max(1, counts.sum()))
        return float(total_variation(shares[0], shares[1]))

    def mean(of_events: bool, cliques: Any) -> float:
        return statistics.fmean(distance(of_events, *names) for names in cliques)

    return {
        "household": mean(False, [(name,) for name in OF_HOUSEHOLD]),
        "its pairs": mean(False, itertools.combinations(OF_HOUSEHOLD, 2)),
        "person": mean(True, [(name,) for name in OF_PERSON]),
        "person's pairs": mean(True, itertools.combinations(OF_PERSON, 2)),
        "across": mean(True, itertools.product(OF_HOUSEHOLD, OF_PERSON)),
        "number": distance(False, NUMBER_OF_EVENTS),
    }


def integrity(households: pd.DataFrame, persons: pd.DataFrame) -> float:
    """The share of persons whose household is there, once."""
    keys = households["household"]
    return float(persons["household"].isin(keys[~keys.duplicated(keep=False)]).mean())


def of_dpsynth(
    peer: Dpsynth, tables: tuple[pd.DataFrame, pd.DataFrame], rho: float
) -> dict[str, float]:
    """The figures of dpsynth.relational; none if it does not end."""
    schemas = {"household": LINKED.people, "person": LINKED.events}
    columns = {
        table: {
            column.name: (
                int(column.high)
                if isinstance(column, dp.Integer)
                else len(column.labels) - 1,
                isinstance(column, dp.Integer),
            )
            for column in schema.columns
        }
        for table, schema in schemas.items()
    }
    frames = dict(zip(schemas, tables, strict=True))
    made = peer.draw_linked(frames, columns, "household", COUNTED_PERSONS, rho)
    if made is None:
        return {}
    drawn, seconds = made
    both = (drawn["household"], drawn["person"])
    return {
        **distances(views(*tables), views(*both)),
        "one household": integrity(*both),
        "cpu_s": seconds,
    }


def of_seed(
    seed: int, households: int, loss: dp.ApproxDP, peer: Dpsynth | None
) -> dict[str, dict[str, float]]:
    """The figures of one pair of tables, by way of drawing."""
    tables = invent(seed, households)
    truth = views(*tables)

    def opened() -> dp.LinkedCurator:
        return dp.LinkedCurator.open(
            *tables, LINKED, budget=loss, ledger=dp.MemoryLedger()
        )

    def linked() -> Any:
        return opened().synthesize(loss).draw_tables(seed=seed)

    def naive() -> Any:
        events = opened().events
        return events.run(propose_recipe(LINKED.events_view), loss).sample(seed=seed)

    seconds, drawn = cpu(linked)
    lines = {
        "linked": {
            **distances(truth, (drawn.people_view, drawn.events_view)),
            "one household": integrity(drawn.people, drawn.events),
            "cpu_s": seconds,
        }
    }
    seconds, joined = cpu(naive)
    rng = np.random.default_rng(seed)
    kept = rng.random(len(joined)) < 1 / np.maximum(1, joined[NUMBER_OF_EVENTS])
    lines["naive"] = {
        **distances(truth, (joined[kept], joined)),
        "one household": 0.0,
        "cpu_s": seconds,
    }
    if peer is not None:
        lines["dpsynth"] = of_dpsynth(peer, tables, float(loss.rho))
    lines["by chance"] = distances(truth, views(*invent(seed + 10_000, households)))
    return lines


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--households", type=int, default=20_000)
    parser.add_argument("--epsilons", type=float, nargs="*", default=[3.2])
    parser.add_argument("--peers", type=Path, help="a checkout of google/dpsynth")
    parser.add_argument(
        "--minutes", type=float, default=10.0, help="of CPU for each run of --peers"
    )
    args = parser.parse_args()
    lines: list[dict[str, Any]] = []
    with (
        dpsynth(args.peers, round(60 * args.minutes))
        if args.peers
        else nullcontext() as peer
    ):
        for epsilon in args.epsilons:
            loss = dp.ApproxDP(epsilon=epsilon, delta=1e-6)
            runs = [
                of_seed(seed, args.households, loss, peer) for seed in range(args.runs)
            ]
            for way in runs[0]:
                means = {
                    name: statistics.fmean(run[way][name] for run in runs)
                    for name in runs[0][way]
                }
                lines.append({"epsilon": epsilon, "way": way, **means})
    show([Table(title="Households and persons", lines=lines)], as_json=args.json)


if __name__ == "__main__":
    main()
