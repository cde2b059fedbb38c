"""Methods against epsilon on invented or public tables, to choose before spending. Nothing is charged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.errors import ParameterError
from dpcore.progress import OnProgress
from dpcore.schema import (
    Boolean,
    Categorical,
    PrivacyUnit,
    Schema,
    suggest_schema,
)
from workbench import samples
from workbench.evaluate import again
from workbench.ui import widgets
from workbench.ui.language import _
from workbench.ui.wording import SAMPLE_TITLES

EPSILONS = (0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 2.0, 5.0)
DEFAULT_EPSILONS = (0.1, 0.4, 1.0)
KS = (25, 50, 100)
ROWS = 3_000
"""Of a table that take part, so that a sweep takes minutes at most."""
SPLITS = 2
SHAPES = {"shape-8": (768, 8, 0.65), "shape-9": (683, 9, 0.35), "shape-14": (690, 14, 0.44)}
"""Rows, features and share of the class 1 of the three tables of the book."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Invented:
    """A table that may be read without a charge, and the column to learn."""

    title: str
    frame: pd.DataFrame
    schema: Schema
    target: str


@dataclass(frozen=True, kw_only=True)
class SweepMethod:
    """A way to a private table: for an epsilon, or for a k."""

    title: str
    k: int = 0


def methods() -> dict[str, SweepMethod]:
    """The recipes at hand, and microaggregation, which has no epsilon."""
    found = {
        "gaussian": SweepMethod(title=_("Gaussian by class")),
        "adaptive": SweepMethod(title=_("Adaptive")),
        "tree": SweepMethod(title=_("Tree")),
        "independent": SweepMethod(title=_("Independent")),
    }
    for k in KS:
        found[f"mdav-{k}"] = SweepMethod(title=_("MDAV, k = {k} (no epsilon)").format(k=k), k=k)
    return found


def tables() -> dict[str, str]:
    """Titles of the tables at hand: the invented samples, and tables of the shape of the book's three."""
    numeric = {
        key: _("{rows} rows, {features} numbers and a label").format(rows=rows, features=features)
        for key, (rows, features, _share) in SHAPES.items()
    }
    return dict(SAMPLE_TITLES) | numeric


def table(key: str) -> Invented:
    """One of them."""
    title = tables()[key]
    if key in SHAPES:
        return invented(title, shaped(*SHAPES[key]))
    return invented(title, next(sample for sample in samples.SAMPLES if sample.key == key).build())


def shaped(rows: int, features: int, share: float) -> pd.DataFrame:
    """Numbers in [-1, 1] that tell a label of 1 and -1, the first of them best."""
    rng = np.random.default_rng(features)
    label = np.where(rng.random(rows) < share, 1, -1)
    centers = np.multiply.outer(label, 0.3 / np.arange(1, features + 1) ** 0.5)
    found = np.clip(rng.normal(centers, 0.35), -1, 1).round(3)
    return pd.DataFrame({f"x{i + 1}": each for i, each in enumerate(found.T)} | {"label": label})


def invented(title: str, frame: pd.DataFrame, target: str | None = None) -> Invented:
    """A public table, with its schema as it is suggested: its facts are public, for nobody is in it.

    Args: target: None for the last column with two to ten classes.

    Raises: ParameterError when there is no such column.
    """
    frame = frame.iloc[np.random.default_rng(0).permutation(len(frame))[:ROWS]].reset_index(drop=True)
    schema = Schema(columns=suggest_schema(frame).columns, unit=PrivacyUnit(max_rows=1))
    classes = [
        column.name
        for column in schema.columns
        if isinstance(column, (Categorical, Boolean)) and 2 <= column.values_size <= 10
    ]
    if not classes:
        raise ParameterError(
            "the table has no column of two to ten classes", remedy="bring one with a label to learn"
        )
    return Invented(title=title, frame=frame, schema=schema, target=target or classes[-1])


def sweep(
    chosen: Sequence[Invented], names: Sequence[str], epsilons: Sequence[float], on_progress: OnProgress
) -> pd.DataFrame:
    """One line per table, method, epsilon, scenario and measure, with mean and spread over the splits.

    "original" stands for no privacy; methods without an epsilon have the same figures at every epsilon.
    """
    known, lines = methods(), []
    jobs = [(table, name) for table in chosen for name in names]
    for number, (table, name) in enumerate(jobs):
        method = known[name]
        on_progress(f"{table.title}: {method.title}", number / len(jobs))
        runs = epsilons[:1] if method.k else epsilons
        for place, epsilon in enumerate(runs):
            on_progress(f"{table.title}: {method.title}", (number + place / len(runs)) / len(jobs))
            figures = _figures(table, name, epsilon)
            first = name == names[0] and epsilon == epsilons[0]
            for at in epsilons if method.k else [epsilon]:
                lines += [{**each, "epsilon": at} for each in figures if each["method"] == method.title]
            if first:
                others = [each for each in figures if each["method"] != method.title]
                lines += [{**each, "epsilon": at} for each in others for at in epsilons]
    return pd.DataFrame(lines)


def _figures(table: Invented, name: str, epsilon: float) -> list[dict[str, object]]:
    method = methods()[name]
    scores, errors = widgets.compute(
        again.figures,
        table.frame,
        table.schema,
        table.target,
        name,
        method.k,
        epsilon,
        SPLITS,
    )
    lines: list[dict[str, object]] = [
        {
            "table": table.title,
            "method": {"release": method.title, "original": _("original, no privacy")}[each.of],
            "scenario": _("1: learn from the original, test on the release")
            if each.scenario == 1
            else _("2: learn from the release, test on the original"),
            "measure": each.measure,
            "mean": each.mean,
            "low": each.mean - each.spread,
            "high": each.mean + each.spread,
        }
        for each in scores
        if each.of in ("release", "original")
    ]
    spread = float(np.std(errors, ddof=1)) if len(errors) > 1 else 0.0
    mean = float(np.mean(errors))
    lines.append(
        {
            "table": table.title,
            "method": method.title,
            "scenario": _("distance of all pairs of columns"),
            "measure": "pairs",
            "mean": mean,
            "low": mean - spread,
            "high": mean + spread,
        }
    )
    return lines
