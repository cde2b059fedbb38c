"""How close is a synthetic table to the original, and what does it take to make it?

Any table of cell numbers with a domain file ({"column": cells, ...}) will do:

    python -m benchmarks.synthesis --data coded.csv --domain domain.json --epsilon 1

Prints the total variation distance over all 1-, 2- and 3-way marginals (mean and
worst), CPU seconds of the whole synthesis in one thread (from opening the curator to
the drawn table; imports, reading and the report excluded) and peak memory; JSON with
--json. --growth repeats and cuts the table to show how time grows with rows and
columns. --mbi fits the same kind of tree with mbi (Private-PGM) in a virtual
environment of its own and prints the ratio; it takes minutes. The noise is exact and
from the system's randomness, so runs differ.

--families asks the same of seeded tables of many shapes (`benchmarks/families.py`),
beside Tree and Independent, the best tree without noise (Chow and Liu 1968) and the
floor (rows drawn again from the original), each with the ratio of our error of pairs
and of triples to it:

    python -m benchmarks.synthesis --families --json --epsilons 0.1 1 10 --seeds 1 3

Even seeds are for finding constants, odd ones for judging them. --peers FOLDER sets
MST, AIM and SWIFT beside them, from a checkout of google/dpsynth (it is on no package
index, and needs Python 3.12 or 3.13 on the path) in an environment of their own, at the
same rho of zCDP. Each synthesis has --minutes of CPU; its line stays empty where it
needs more. Without --families it is the table of --data that they are set beside.
"""

from __future__ import annotations

import itertools
import json
import statistics
import sys
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import nullcontext
from multiprocessing import get_context
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd

import dpcore as dp
from benchmarks.families import FAMILIES, Family
from benchmarks.harness import SHARED, Table, arguments, cpu, peak_mb, peer, show
from benchmarks.peers import SYNTHESIZERS, Dpsynth, dpsynth
from dpcore.synthesis import Adaptive, Independent, Recipe, Tree

ADULT = SHARED / "data"
ROWS = (10_000, 100_000, 1_000_000, 10_000_000)
COLUMNS = (10, 20, 40, 60, 200)


def read(data: Path, domain: Path) -> tuple[pd.DataFrame, dict[str, int]]:
    """The table's columns of the domain, and their cells."""
    sizes = {
        str(name): int(size) for name, size in json.loads(domain.read_text()).items()
    }
    return pd.read_csv(data)[list(sizes)], sizes


def synthesize(
    frame: pd.DataFrame,
    sizes: dict[str, int],
    recipe: Recipe,
    loss: dp.ApproxDP | dp.PureDP,
) -> tuple[pd.DataFrame, float]:
    """A synthetic table and the CPU seconds it took."""
    schema = dp.Schema(
        columns=tuple(
            dp.Categorical(name, categories=tuple(range(size)))
            for name, size in sizes.items()
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )

    def work() -> pd.DataFrame:
        curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
        return curator.run(recipe, loss).sample()

    seconds, drawn = cpu(work)
    return drawn, seconds


def distances(
    original: pd.DataFrame,
    drawn: pd.DataFrame,
    sizes: dict[str, int],
    ways: int,
    most: int,
) -> list[float]:
    """Total variation distance of each marginal of so many columns; of `most` of them
    if there are more.
    """
    cliques: Sequence[tuple[str, ...]] = list(itertools.combinations(sizes, ways))
    if len(cliques) > most:
        chosen = np.random.default_rng(0).choice(len(cliques), size=most, replace=False)
        cliques = [cliques[i] for i in chosen]
    tables = [
        {name: frame[name].to_numpy(dtype=np.int64) for name in sizes}
        for frame in (original, drawn)
    ]
    return [
        0.5
        * float(
            np.abs(
                _shares(tables[0], sizes, clique) - _shares(tables[1], sizes, clique)
            ).sum()
        )
        for clique in cliques
    ]


def _shares(
    codes: dict[str, np.ndarray], sizes: dict[str, int], clique: tuple[str, ...]
) -> np.ndarray:
    flat = np.zeros(len(codes[clique[0]]), dtype=np.int64)
    cells = 1
    for name in clique:
        flat = flat * sizes[name] + codes[name]
        cells = cells * sizes[name]
    return np.bincount(flat, minlength=cells) / max(1, len(flat))


def errors(
    original: pd.DataFrame, drawn: pd.DataFrame, sizes: dict[str, int], most: int
) -> dict[str, float]:
    """Mean and largest distance of marginals of one, two and three columns."""
    run = {}
    for ways in range(1, min(3, len(sizes)) + 1):
        found = distances(original, drawn, sizes, ways, most)
        run[f"tvd{ways}_mean"], run[f"tvd{ways}_max"] = (
            statistics.fmean(found),
            max(found),
        )
    return run


def report(
    frame: pd.DataFrame,
    sizes: dict[str, int],
    recipe: Recipe,
    loss: dp.ApproxDP | dp.PureDP,
    args: Any,
) -> dict[str, Any]:
    """Errors and times of some runs."""
    runs: list[dict[str, float]] = []
    for _ in range(args.runs):
        drawn, seconds = synthesize(frame, sizes, recipe, loss)
        run = {"cpu_s": seconds, "rows": float(len(drawn))}
        run["peak_mb"] = peak_mb()  # before the report, which needs memory of its own
        runs.append(run | errors(frame, drawn, sizes, args.most))
    if args.out:
        drawn.to_csv(args.out, index=False)
    result: dict[str, Any] = {
        name: statistics.fmean(run[name] for run in runs) for name in runs[0]
    }
    result["peak_mb"] = runs[0]["peak_mb"]
    return {
        "recipe": type(recipe).__name__,
        "epsilon": args.epsilon,
        "delta": args.delta,
        **result,
    }


def growth(
    frame: pd.DataFrame,
    sizes: dict[str, int],
    recipe: Recipe,
    loss: dp.ApproxDP | dp.PureDP,
    largest: int,
) -> Iterator[dict[str, Any]]:
    """CPU seconds and memory as rows or columns are repeated, each table in a process
    of its own.
    """
    shapes = [(rows, len(sizes)) for rows in ROWS if rows <= largest]
    for rows, columns in (*shapes, *((len(frame), count) for count in COLUMNS)):
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
            yield fresh.submit(
                grown, frame, sizes, recipe, loss, rows, columns
            ).result()


def grown(
    frame: pd.DataFrame,
    sizes: dict[str, int],
    recipe: Recipe,
    loss: dp.ApproxDP | dp.PureDP,
    rows: int,
    columns: int,
) -> dict[str, Any]:
    """CPU seconds and peak memory of so many rows and columns, repeated or cut."""
    names = list(sizes)
    # A repeated column starts at another row, so that copies are not simply equal.
    wide = {
        f"{names[i % len(names)]} {i}": np.roll(
            frame[names[i % len(names)]].to_numpy(), i // len(names)
        )
        for i in range(columns)
    }
    place = np.arange(rows) % len(frame)
    cells = {name: sizes[name.rsplit(" ", 1)[0]] for name in wide}
    table = pd.DataFrame({name: codes[place] for name, codes in wide.items()})
    seconds = synthesize(table, cells, recipe, loss)[1]
    return {"rows": rows, "columns": columns, "cpu_s": seconds, "peak_mb": peak_mb()}


MBI = """
import itertools, json, sys, time
import numpy as np, pandas as pd
from mbi import Dataset, Domain, LinearMeasurement, estimation

data, domain, rho = sys.argv[1], json.load(open(sys.argv[2])), float(sys.argv[3])
frame = pd.read_csv(data)[list(domain)]
began = time.process_time()
rng = np.random.default_rng(0)
names = list(domain)
def counts(clique):
    flat = np.ravel_multi_index([frame[n].to_numpy() for n in clique], [domain[n] for n in clique])
    return np.bincount(flat, minlength=int(np.prod([domain[n] for n in clique]))).astype(float)
def measure(clique, share):
    sigma = (1 / (2 * share * rho)) ** 0.5
    return LinearMeasurement(counts(clique) + rng.normal(0, sigma, counts(clique).size), clique, stddev=sigma)
one = {n: counts((n,)) for n in names}
scores = {}
for a, b in itertools.combinations(names, 2):
    independent = np.outer(one[a], one[b]).ravel() / len(frame)
    scores[a, b] = np.abs(counts((a, b)) - independent).sum() + rng.normal(0, (91 / (0.2 * rho)) ** 0.5)
part, edges = {n: {n} for n in names}, []
for a, b in sorted(scores, key=scores.get, reverse=True):
    if part[a] is not part[b]:
        edges.append((a, b)); part[a] |= part[b]; part.update({n: part[a] for n in part[b]})
found = [measure((n,), 0.3 / len(names)) for n in names] + [measure(e, 0.6 / len(edges)) for e in edges]
shape = Domain(names, [domain[n] for n in names])
model = estimation.MirrorDescent().estimate(shape, found, iters=1000)
drawn = model.synthetic_data()
drawn = pd.DataFrame({n: np.asarray(drawn.to_dict()[n]) for n in names})
drawn.to_csv(sys.argv[4], index=False)
print(time.process_time() - began)
"""


def mbi_tree(
    frame: pd.DataFrame,
    sizes: dict[str, int],
    loss: dp.ApproxDP,
    most: int,
) -> dict[str, Any] | None:
    """The errors and CPU seconds of a spanning tree fitted with mbi, or None where it
    does not install.
    """
    with tempfile.TemporaryDirectory() as folder:
        data, domain, out = (
            Path(folder) / name for name in ("data.csv", "domain.json", "out.csv")
        )
        frame.to_csv(data, index=False)
        domain.write_text(json.dumps(sizes))
        words = (str(data), str(domain), str(float(loss.rho)), str(out))
        printed = peer(["mbi==2.0.0", "pandas"], MBI, *words)
        if printed is None:
            return None
        return {"recipe": "mbi tree", "cpu_s": float(printed)} | errors(
            frame, pd.read_csv(out), sizes, most
        )


def drawn_from_tree(frame: pd.DataFrame, sizes: dict[str, int]) -> pd.DataFrame:
    """As many rows of the tree with most mutual information, each column after its
    parent, without noise.
    """
    rng = np.random.default_rng(0)
    codes = {name: frame[name].to_numpy(dtype=np.int64) for name in sizes}
    told: dict[tuple[str, str], float] = {}
    for a, b in itertools.combinations(sizes, 2):
        pair = _shares(codes, sizes, (a, b)).reshape(sizes[a], sizes[b])
        apart = pair.sum(axis=1, keepdims=True) * pair.sum(axis=0)
        told[a, b] = told[b, a] = float(
            (pair[pair > 0] * np.log(pair[pair > 0] / apart[pair > 0])).sum()
        )
    first, *left = sizes
    drawn = {first: rng.permutation(codes[first])}
    while left:
        parent, name = max(((a, b) for a in drawn for b in left), key=told.__getitem__)
        law = (
            _shares(codes, sizes, (parent, name)).reshape(sizes[parent], sizes[name])
            + 1e-12
        )
        ends = (law / law.sum(axis=1, keepdims=True)).cumsum(axis=1)
        ends[:, -1] = 1.0
        drawn[name] = (rng.random(len(frame))[:, None] > ends[drawn[parent]]).sum(
            axis=1
        )
        left.remove(name)
    return pd.DataFrame(drawn)


def of_family(
    family: Family, args: Any, theirs: Dpsynth | None
) -> Iterator[dict[str, Any]]:
    """Errors of ours and of what stands beside it, means over the seeds, for each
    epsilon.
    """
    found: dict[tuple[float, str], list[dict[str, float]]] = {}
    for seed in args.seeds:
        frame = family.make(seed)
        sizes = family.sizes
        again = frame.sample(len(frame), replace=True, random_state=seed)
        beside = {"best tree, no noise": drawn_from_tree(frame, sizes), "floor": again}
        fixed = {
            name: errors(frame, each, sizes, args.most) for name, each in beside.items()
        }
        for epsilon in args.epsilons:
            loss = dp.ApproxDP(epsilon=epsilon, delta=args.delta)
            recipes: dict[str, Recipe] = {
                "Adaptive": Adaptive(ordered=frozenset(family.ordered)),
                "Tree": Tree(ordered=frozenset(family.ordered)),
                "Independent": Independent(columns=tuple(sizes)),
            }
            for name, recipe in recipes.items():
                for _ in range(args.runs):
                    drawn, seconds = synthesize(frame, sizes, recipe, loss)
                    line = {"cpu_s": seconds} | errors(frame, drawn, sizes, args.most)
                    found.setdefault((epsilon, name), []).append(line)
            for name, each in fixed.items():
                found.setdefault((epsilon, name), []).append(each)
            if args.mbi and (other := mbi_tree(frame, sizes, loss, args.most)):
                found.setdefault((epsilon, other.pop("recipe")), []).append(other)
            for name in SYNTHESIZERS if theirs else ():
                runs = found.setdefault((epsilon, name), [])
                if made := theirs.draw(name, frame, sizes, float(loss.rho)):
                    runs.append(
                        {"cpu_s": made[1]} | errors(frame, made[0], sizes, args.most)
                    )
    for (epsilon, name), runs in found.items():
        line = {
            key: statistics.fmean(run[key] for run in runs) for key in (runs or [{}])[0]
        }
        ratios = {
            f"{what}, ours / it": statistics.fmean(
                run[key] for run in found[epsilon, "Adaptive"]
            )
            / line[key]
            for what, key in (("pairs", "tvd2_mean"), ("triples", "tvd3_mean"))
            if key in line
        }
        yield {"epsilon": epsilon, "of": name, "runs": len(runs), **line, **ratios}


def side_by_side(families: Sequence[Family], args: Any) -> None:
    """Show a table for each of these, with MST, AIM and SWIFT where a checkout of them
    is named.
    """
    with (
        dpsynth(args.peers, round(60 * args.minutes))
        if args.peers
        else nullcontext() as theirs
    ):
        tables = [
            Table(title=each.name, lines=list(of_family(each, args, theirs)))
            for each in families
        ]
        show(tables, as_json=args.json)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "--data",
        type=Path,
        default=ADULT / "adult_coded.csv",
        help="CSV of cell numbers",
    )
    parser.add_argument(
        "--domain",
        type=Path,
        help='JSON: {"column": cells}',
        default=ADULT / "adult_coded_domain.json",
    )
    parser.add_argument("--recipe", choices=("Tree", "Adaptive"), default="Adaptive")
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--delta", type=float, default=1e-9, help="0 for pure epsilon")
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument(
        "--ordered",
        nargs="*",
        default=[],
        help="columns whose neighboring cells are alike",
    )
    parser.add_argument(
        "--degree", type=int, default=2, help="2 for pairs, 3 for triples (Adaptive)"
    )
    parser.add_argument(
        "--most",
        type=int,
        default=2000,
        help="marginals of one kind to compare, at most",
    )
    parser.add_argument("--out", type=Path, help="where the last synthetic table goes")
    parser.add_argument("--growth", action="store_true")
    parser.add_argument(
        "--largest", type=int, default=1_000_000, help="rows of --growth, at most"
    )
    parser.add_argument("--mbi", action="store_true")
    parser.add_argument("--families", nargs="*", help="names of them; none for all")
    parser.add_argument(
        "--seeds", type=int, nargs="*", default=[1, 3, 5], help="tables of each family"
    )
    parser.add_argument(
        "--epsilons",
        type=float,
        nargs="*",
        default=[0.1, 1.0, 10.0],
        help="of --families",
    )
    parser.add_argument("--peers", type=Path, help="a checkout of google/dpsynth")
    parser.add_argument(
        "--minutes",
        type=float,
        default=5.0,
        help="of CPU for each synthesis of --peers",
    )
    args = parser.parse_args()
    if args.families is not None:
        side_by_side(
            [
                each
                for each in FAMILIES
                if not args.families or each.name in args.families
            ],
            args,
        )
        return
    frame, sizes = read(args.data, args.domain)
    if args.peers:
        given = Family(
            name=args.data.stem,
            sizes=sizes,
            make=lambda _: frame,
            ordered=tuple(args.ordered),
        )
        side_by_side([given], args)
        return
    loss = (
        dp.ApproxDP(epsilon=args.epsilon, delta=args.delta)
        if args.delta
        else dp.PureDP(epsilon=args.epsilon)
    )
    ordered = frozenset(args.ordered)
    recipe: Recipe = (
        Tree(ordered=ordered)
        if args.recipe == "Tree"
        else Adaptive(ordered=ordered, degree=args.degree)
    )
    lines = [report(frame, sizes, recipe, loss, args)]
    if args.mbi and isinstance(loss, dp.ApproxDP):
        other = mbi_tree(frame, sizes, loss, args.most)
        if other:
            lines.append(other | {"ratio": other["cpu_s"] / lines[0]["cpu_s"]})
    tables = [Table(title="Distance from the original", lines=lines)]
    if args.growth:
        more = list(growth(frame, sizes, recipe, loss, args.largest))
        tables.append(
            Table(
                title="CPU seconds and memory with more rows, and with more columns",
                lines=more,
            )
        )
    show(tables, as_json=args.json)


if __name__ == "__main__":
    main()
