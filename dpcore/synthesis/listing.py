"""A table of a release as rows: one per cell, with what it may be off by."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from dpcore.release import Release
from dpcore.schema.domain import Clique
from dpcore.synthesis.release.row_count import answer
from dpcore.tables.rows import PublicTable

FIGURES = ("rows", "low", "high", "as measured")


def listed(release: Release, clique: Clique, *, level: float = 0.95) -> PublicTable:
    """One row per cell: its labels, its count, the interval of the true count, and what was measured. Free.

    Counts are those of the release's model, so that all tables of a release have one total; "as measured"
    is the noisy count before the tables were made to agree. The figures come under `FIGURES`; where a
    column has such a name, "count: " is put before them.

    Args:
        clique: of one of the release's noisy tables.
        level: chance with which each interval holds its own count.
    """
    told = answer(release, clique, level=level)
    figures = (told.values, told.low, told.high, release.marginals[clique].values)
    cells = list(itertools.product(*(release.schema.column(name).labels for name in clique)))
    frame = pd.DataFrame(cells, columns=list(clique)) if clique else pd.DataFrame(index=[0])
    taken = set(FIGURES) & set(release.schema.domain.names)
    for name, values in zip(FIGURES, figures, strict=True):
        frame[f"count: {name}" if taken else name] = np.ravel(values)
    return PublicTable(frame)
