"""Files of a release as bytes, all of them post-processing of noisy numbers."""

from __future__ import annotations

import base64
import json
from collections.abc import Collection

import pandas as pd

from dpcore.io.export import to_csv, to_parquet
from dpcore.release import Release
from dpcore.tables.rows import PublicTable
from workbench.ui.language import Words
from workbench.ui.report.document import LABELS, Download
from workbench.ui.report.explore import EXPLORE, PAGE, explorable
from workbench.ui.wording import counted_words

COUNTS, ROWS, MODEL, QUESTIONS = "counts", "rows", "model", "questions"
CONTENTS = Words("report.contents")
"""What may be given beside pictures, tables and the guarantee."""
MAX_COUNTS = 200_000
MAX_ROWS = 100_000
MAX_EMBEDDED = 1_000_000
_NEEDS = {PAGE: EXPLORE, "counts.csv": COUNTS, "rows.csv": ROWS, "rows.parquet": ROWS, "release.json": MODEL}
TYPES = {
    "csv": "text/csv; charset=utf-8",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
}


def files(release: Release, contents: Collection[str]) -> list[str]:
    """Return the names of the files of a release.

    Args: contents: what may be given, of `CONTENTS`.
    """
    cells = sum(marginal.values.size for marginal in release.marginals.values())
    there = {
        PAGE: explorable(release),
        "counts.csv": 0 < cells <= MAX_COUNTS,
        "rows.csv": bool(release.model_columns),
        "rows.parquet": bool(release.model_columns),
        "guarantee.json": True,
        "release.json": True,
    }
    return [
        name
        for name, is_there in there.items()
        if is_there and (name not in _NEEDS or _NEEDS[name] in contents)
    ]


def content(release: Release, name: str) -> bytes:
    """Return the bytes of one of those files, the same each time."""
    if name == "counts.csv":
        return to_csv(PublicTable(counts(release)))
    if name == "guarantee.json":
        return guarantee_json(release).encode()
    if name == "release.json":
        return release.to_json().encode()
    table = release.sample_table(min(max(0, round(release.model.total)), MAX_ROWS), seed=0)
    return to_csv(table) if name == "rows.csv" else to_parquet(table, {"guarantee": guarantee_json(release)})


def counts(release: Release) -> pd.DataFrame:
    """Return all noisy tables in one, with a line per cell."""
    names = [name for name in release.schema.domain.names if any(name in each for each in release.marginals)]
    whole = pd.concat([release.table(clique) for clique in release.marginals], ignore_index=True)
    return whole[[*names, *(heading for heading in whole.columns if heading not in names)]]


def embedded(release: Release) -> tuple[Download, ...]:
    """Return the guarantee, and the release while it is small, for a page that is a file."""
    downloads = []
    for name in files(release, {COUNTS, MODEL}):
        data = content(release, name)
        if len(data) <= MAX_EMBEDDED:
            kind = TYPES[name.rpartition(".")[2]].partition(";")[0]
            href = f"data:{kind};base64,{base64.b64encode(data).decode()}"
            downloads.append(Download(href=href, name=name, label=LABELS[name]))
    return tuple(downloads)


def guarantee_json(release: Release) -> str:
    """Return the guarantee for every download."""
    return json.dumps(
        {
            "guarantee": release.guarantee.to_dict(),
            "counted": counted_words(release.schema.unit),
            "recipe": release.recipe,
            "created": release.created,
            "marginals": [
                {
                    "columns": list(clique),
                    "standard_deviation_of_a_cell": marginal.variance**0.5,
                    "interval_95_half_width": marginal.half_width(),
                    "noise": marginal.noise,
                }
                for clique, marginal in release.marginals.items()
            ],
        },
        indent=1,
    )
