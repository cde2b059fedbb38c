"""What do people learn from a drawn table instead of the original one?

    python benchmarks/learning.py --json
    python benchmarks/learning.py --data privsyn_diabetes.csv --epsilon 1 --runs 4

Tables of numbers scaled to [-1, 1] with a column `label` of 1 and -1; the bounds are the files' own,
and every release says so. Five random 80/20 splits, and so many runs each: the Gaussian recipe learns from
80 % at each epsilon, 2,000 rows are drawn (which is free), and a support vector machine (RBF kernel, C and
gamma from a 5 x 5 grid by 3-fold cross-validation of macro F1 on at most 300 rows) is trained on them and
tested on the original 20 % (scenario 2), or trained on the original and tested on the drawn rows (scenario
1). Beside it: no privacy, the larger class, shuffled labels; linear regression of the label (mean squared
error); and k-means: two centers from drawn rows, original rows assigned to them, normalized mutual
information with k-means on the original. The best of the book's figures over its k, whose code keeps no
epsilon at all, follow where their file is found. CPU seconds are of one thread and count everything; all
settings of a table should take less than a minute.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

os.environ["OMP_NUM_THREADS"] = os.environ["OPENBLAS_NUM_THREADS"] = os.environ["MKL_NUM_THREADS"] = "1"
sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

import numpy as np
import pandas as pd
from sklearn.cluster import KMeans
from sklearn.dummy import DummyClassifier
from sklearn.linear_model import LinearRegression
from sklearn.metrics import f1_score, normalized_mutual_info_score
from sklearn.svm import SVC

import dpcore as dp

SHARED = Path(__file__).resolve().parents[2] / "shared"
TABLES = ("diabetes", "breast-cancer", "australian")
EPSILONS = ("0.1", "0.5", "1")
SPLITS, TEST_SHARE, TUNED_ROWS, DRAWN_ROWS = 5, 0.2, 300, 2_000
COSTS, GAMMAS = (0.25, 1, 4, 16, 64), [4.0**power for power in range(-5, 0)]  # of dpcore.evaluation.learners
BARS = {  # accuracy in scenario 2 at each epsilon
    "diabetes": (0.66, 0.70, 0.745),
    "breast-cancer": (0.94, 0.962, 0.962),
    "australian": (0.79, 0.86, 0.867),
}

Rows = tuple[np.ndarray, np.ndarray]


def read(path: Path) -> pd.DataFrame:
    """The table, without an identifier of its rows."""
    return pd.read_csv(path).drop(columns="sample_id", errors="ignore")


def schema_of(frame: pd.DataFrame) -> dp.Schema:
    """Bounds of [-1, 1], which were taken from the data by whoever scaled the files."""
    features = (
        dp.Real(name, low=-1, high=1, bin_width=0.001, from_data=("bounds",))
        for name in frame.columns
        if name != "label"
    )
    label = dp.Categorical("label", categories=(-1, 1))
    return dp.Schema(columns=(*features, label), unit=dp.PrivacyUnit(max_rows=1))


def splits(frame: pd.DataFrame) -> Iterator[tuple[pd.DataFrame, pd.DataFrame]]:
    """Training and test rows of five fixed random splits."""
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(frame))
        cut = round(len(frame) * TEST_SHARE)
        yield frame.iloc[order[cut:]].reset_index(drop=True), frame.iloc[order[:cut]].reset_index(drop=True)


def parts(frame: pd.DataFrame) -> Rows:
    """Features and labels."""
    return frame.drop(columns="label").to_numpy(dtype=float), frame["label"].to_numpy(dtype=int)


def draw(frame: pd.DataFrame, schema: dp.Schema, epsilon: str, columns: Sequence[str]) -> pd.DataFrame:
    """A drawn table; drawing is free, and more rows than people leave less to the chance of drawing."""
    loss = dp.PureDP(epsilon=epsilon)
    curator = dp.Curator.open(frame, schema, budget=loss, ledger=dp.MemoryLedger())
    release = curator.run(dp.Gaussian.of(schema, label="label"), loss)
    return release.sample(DRAWN_ROWS)[list(columns)]


def classifier(train: Rows) -> Any:
    """A tuned support vector machine; where a class has hardly a row, the larger class."""
    features, labels = train
    if min((labels == 1).sum(), (labels == -1).sum()) < 10:
        return DummyClassifier().fit(features, labels)
    few = np.random.default_rng(0).permutation(len(labels))[:TUNED_ROWS]
    cost, gamma = tuned(features[few], labels[few])
    return SVC(C=cost, gamma=gamma).fit(features, labels)


def tuned(features: np.ndarray, labels: np.ndarray) -> tuple[float, float]:
    """C and gamma with the best macro F1 over three folds; each kernel is computed once."""
    squares = (features**2).sum(axis=1)
    distances = np.maximum(squares[:, None] + squares - 2 * features @ features.T, 0.0)
    fold = np.empty(len(labels), dtype=int)
    fold[np.argsort(labels, kind="stable")] = np.arange(len(labels)) % 3
    found: dict[tuple[float, float], float] = {}
    for gamma in GAMMAS:
        kernel = np.exp(-gamma * distances)
        for cost in COSTS:
            marks = []
            for number in range(3):
                train, test = np.flatnonzero(fold != number), np.flatnonzero(fold == number)
                if len(set(labels[train])) < 2:
                    continue
                machine = SVC(C=cost, kernel="precomputed").fit(kernel[np.ix_(train, train)], labels[train])
                said = machine.predict(kernel[np.ix_(test, train)])
                marks.append(f1_score(labels[test], said, average="macro", zero_division=0.0))
            found[(cost, gamma)] = statistics.fmean(marks) if marks else 0.0
    return max(found, key=found.__getitem__)


def regression(train: Rows, test: Rows) -> float:
    """Mean squared error of a line through labels of 1 and -1."""
    found = LinearRegression().fit(*train).predict(test[0])
    return float(((found - test[1]) ** 2).mean())


def clusters(train: Rows, test: Rows) -> float:
    """Agreement of two centers from `train` with two from `test`, on the rows of `test`."""
    found = KMeans(2, n_init=10, random_state=0).fit(train[0]).predict(test[0])
    own = KMeans(2, n_init=10, random_state=0).fit_predict(test[0])
    return float(normalized_mutual_info_score(own, found))


def scores(drawn: Rows, original: Rows, held: Rows, trained: Any) -> dict[str, float]:
    """What is learned across: accuracy and error in both scenarios, agreement of clusters."""
    return {
        "svm_2": float(classifier(drawn).score(*held)),
        "svm_1": float(trained.score(*drawn)),
        "mse_2": regression(drawn, held),
        "mse_1": regression(original, drawn),
        "nmi": clusters(drawn, original),
    }


def lines(frame: pd.DataFrame) -> dict[str, dict[str, float]]:
    """What needs no drawn table: no privacy, the larger class, shuffled labels; means over splits."""
    found: dict[str, list[dict[str, float]]] = {"no privacy": [], "larger class": [], "shuffled labels": []}
    for training, test in splits(frame):
        original, held = parts(training), parts(test)
        mixed = (original[0], np.random.default_rng(0).permutation(original[1]))
        for name, train in (("no privacy", original), ("shuffled labels", mixed)):
            accuracy = float(classifier(train).score(*held))
            found[name].append({"svm_2": accuracy, "mse_2": regression(train, held)})
        larger = DummyClassifier().fit(*original)
        found["larger class"].append({"svm_2": float(larger.score(*held))})
    return {name: _mean(each) for name, each in found.items()}


def _mean(runs: Sequence[dict[str, float]]) -> dict[str, float]:
    return {name: round(statistics.fmean(run[name] for run in runs), 4) for name in runs[0]}


def book(table: str, epsilon: str) -> dict[str, float]:
    """The best of the book's figures over its k, at the nearest epsilon; its code keeps no epsilon."""
    path = SHARED / "reference" / "privsyn_reference.csv"
    if not path.exists():
        return {}
    rows = pd.read_csv(path)
    rows = rows[(rows["dataset"] == table) & (rows["eps"].astype(str) == str(float(epsilon)))]
    picked = {
        "svm_1": ("svm", "1", "accuracy", max),
        "svm_2": ("svm", "2", "accuracy", max),
        "mse_1": ("linreg", "1", "mse", min),
        "mse_2": ("linreg", "2", "mse", min),
        "nmi": ("kmeans", "all", "nmi_model_on_original", max),
    }
    found = {}
    for name, (task, scenario, metric, best) in picked.items():
        chosen = rows[
            (rows["task"] == task) & (rows["scenario"].astype(str) == scenario) & (rows["metric"] == metric)
        ]
        if len(chosen):
            found[name] = round(float(best(chosen["mean"])), 4)
    return found


def report(path: Path, epsilons: Sequence[str], runs: int) -> dict[str, Any]:
    """All settings of one table."""
    table, frame = path.stem.removeprefix("privsyn_"), read(path)
    schema, columns = schema_of(frame), list(frame.columns)
    began = time.process_time()
    prepared = [(training, parts(test), classifier(parts(training))) for training, test in splits(frame)]
    settings = []
    for epsilon in epsilons:
        found: list[dict[str, float]] = []
        for training, held, trained in prepared:
            for _ in range(runs):
                drawn = draw(training, schema, epsilon, columns)
                found.append(scores(parts(drawn), parts(training), held, trained))
        spread = {f"{name}_sd": round(statistics.pstdev(run[name] for run in found), 4) for name in found[0]}
        setting = {"epsilon": epsilon, **_mean(found), **spread, "book_best": book(table, epsilon)}
        if table in BARS and epsilon in EPSILONS:
            setting["bar"] = BARS[table][EPSILONS.index(epsilon)]
        settings.append(setting)
    seconds = time.process_time() - began
    return {
        "table": table,
        "rows": len(frame),
        "cpu_s": round(seconds, 1),
        "lines": lines(frame),
        "settings": settings,
    }


def main() -> None:
    """Read the arguments, print."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    default = [SHARED / "data" / f"privsyn_{name}.csv" for name in TABLES]
    parser.add_argument("--data", type=Path, nargs="*", default=default)
    parser.add_argument("--epsilon", nargs="*", default=list(EPSILONS))
    parser.add_argument("--runs", type=int, default=4)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    found = [report(path, args.epsilon, args.runs) for path in args.data if path.exists()]
    if args.json:
        print(json.dumps(found, indent=1))
        return
    for each in found:
        print(f"\n{each['table']}: {each['rows']} rows, {each['cpu_s']} CPU s")
        for name, line in each["lines"].items():
            print(f"  {name:16}", "  ".join(f"{key} {value:.3f}" for key, value in line.items()))
        for setting in each["settings"]:
            named = ("svm_2", "svm_1", "mse_2", "mse_1", "nmi")
            figures = "  ".join(f"{key} {setting[key]:.3f} ±{setting[f'{key}_sd']:.3f}" for key in named)
            print(f"  epsilon {setting['epsilon']:8}", figures, f" bar {setting.get('bar', '-')}")
            if setting["book_best"]:
                print(
                    f"    {'book (no dp)':14}",
                    "  ".join(f"{k} {v:.3f}" for k, v in setting["book_best"].items()),
                )


if __name__ == "__main__":
    main()
