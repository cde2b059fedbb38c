"""Interactive part of a page: a script filters and counts rows drawn from a release.

All in it follows from the release: counts with their intervals, the variances of their
noise, and the bar numbers of the drawn rows, column by column.
"""

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from dpcore.release import Release
from dpcore.synthesis import SyntheticModel
from dpcore.tables.counts import Integers, Marginal, half_width
from workbench.language.labels import chart_cells
from workbench.language.wording import make_printable, number, whole_number_text
from workbench.report.charts import fold_cells
from workbench.report.document import fill_template
from workbench.report.sentences import counted_noun

EXPLORE_CONTENT = "explore"
EXPLORE_FILE = "explore.html"
"""What a link gives, and the name of its page among the files of the link."""
EXPLORE_FILES = {"people": "explore-people.html", "events": "explore-events.html"}
"""The same for the two views of linked tables."""
MAX_DRAWN_ROWS = 20_000
MAX_COLUMNS = 24
MAX_BARS = 60
MAX_INTERVAL_BARS = 24
MIN_ROWS_FROM_TABLES = 10
"""Drawn rows below which the drawing alone decides how many there are."""
LARGE_VARIANCE = 1_000_000
"""A variance at which an interval has as many deviations as that of any sum of cells,
whole rows apart.
"""


def histogram_columns(release: Release) -> list[str]:
    """Return the columns that get a histogram.

    They are drawn, and a noisy table holds them.
    """
    measured = {name for clique in release.marginals for name in clique}
    return [name for name in release.model_columns if name in measured][:MAX_COLUMNS]


def is_explorable(release: Release) -> bool:
    """Return whether a release draws rows of several columns."""
    return len(histogram_columns(release)) > 1 and round(release.model.total) >= 1


def interactive_section(release: Release) -> str:
    """Return the interactive part with its script, the same each time.

    The release must be `is_explorable`.
    """
    model = release.model
    names = histogram_columns(release)
    total = float(release.answer(()).values)
    tables = (
        model.measurements
        if isinstance(model, SyntheticModel)
        else [*release.marginals.values()]
    )
    drawn = min(MAX_DRAWN_ROWS, max(1, round(total)))
    codes = release.draw_codes(drawn, np.random.default_rng(0))
    content = {
        "drawn": drawn,
        "scale": total / drawn,
        "fewest": MIN_ROWS_FROM_TABLES,
        "columns": [_column_bars(release, name, codes[name]) for name in names],
        "tables": [_noise_terms(release, names, table) for table in tables],
    }
    return fill_template(
        "explore.html",
        content=content,
        drawn=whole_number_text(drawn),
        share=number(total / drawn),
        total=whole_number_text(total),
        counted=counted_noun(release),
    )


def _column_bars(release: Release, name: str, codes: Integers) -> dict[str, Any]:
    """Return the bars of a column, and the number of the bar of each drawn row.

    If there are many cells, a bar is a run of cells. Of `merged` cells some tables
    measured a group only.
    """
    column = release.schema.column(name)
    model = release.model
    most = MAX_INTERVAL_BARS if column.is_interval else MAX_BARS
    (shown,), counts = chart_cells(release, release.answer((name,)))
    labels, counts = fold_cells(shown, counts, max_cells=most)
    cells = np.arange(column.size)
    width = -(-len(shown) // len(labels))
    groups = (
        model.grouping.groups.get(name, cells)
        if isinstance(model, SyntheticModel)
        else cells
    )
    return {
        "name": make_printable(name, max_length=60),
        "labels": list(map(make_printable, labels)),
        "cells": len(cells),
        "width": width,
        "merged": np.flatnonzero(np.bincount(groups)[groups] > 1).tolist(),
        "codes": base64.b64encode((codes // width).astype(np.uint8).tobytes()).decode(),
        **{
            end: list(map(round, getattr(counts, end).tolist()))
            for end in ("values", "low", "high")
        },
    }


def _noise_terms(
    release: Release, names: Sequence[str], table: Marginal
) -> dict[str, Any]:
    """Return the noise law of a table's columns, and the variance terms of sums of cells.

    Each term is a variance and, for each column, its factor for the cells that are
    added up, as in `Evidence.sum`.
    """
    model = release.model
    clique = table.clique
    law = table
    sizes = table.values.shape
    terms = [(table.variance, ["sum"] * len(clique))]
    if (
        isinstance(model, SyntheticModel)
        and (evidence := model.evidence(clique)) is not None
    ):
        law = evidence.table()
        sizes = evidence.shape
        terms = [
            (variance, ["inside" if name in part else "outside" for name in clique])
            for part, (_residual, variance) in evidence.residuals.items()
        ]
    return {
        "columns": [names.index(name) if name in names else -1 for name in clique],
        "sizes": sizes,
        "terms": terms,
        "deviations": half_width(LARGE_VARIANCE, law.noise, pooled=law.pooled)
        / LARGE_VARIANCE**0.5,
    }
