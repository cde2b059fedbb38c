"""Counts of a release as files, and a script and a notebook that make it again."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import PurePath

from dpcore.accounting.loss import loss_from
from dpcore.io.export import to_csv
from dpcore.io.options import ReadOptions
from dpcore.release import Release
from dpcore.synthesis import load_recipe
from dpcore.tables.rows import PublicTable
from workbench.store.datasets import DataSet, Declaration
from workbench.ui import releases
from workbench.ui.notebooks import Cell, in_cells

IMPORTS = """\
from pathlib import Path

import dpcore as dp
from dpcore.io import ReadOptions, read_table
from dpcore.synthesis import load_recipe"""


def can_be_written(data_set: DataSet, release: Release) -> bool:
    """Say whether the declaration and a recipe that can be read back are on file."""
    return data_set.declaration is not None and load_recipe(release.recipe) is not None


def script(data_set: DataSet, release: Release) -> str:
    """Write a Python program that makes a release again."""
    about, *cells = _cells(data_set, release)
    return f'"""{about[1]}"""\n\n' + "\n\n".join(text for _kind, text in cells) + "\n"


def notebook(data_set: DataSet, release: Release) -> str:
    """Write the same as a notebook (nbformat 4)."""
    return in_cells(_cells(data_set, release))


def counts_file(release: Release) -> bytes:
    """Write every noisy table as rows with low and high, as CSV or as a ZIP of one CSV per table."""
    tables = [to_csv(PublicTable(release.table(clique))) for clique in release.marginals]
    if len(tables) == 1:
        return tables[0]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for number, (clique, table) in enumerate(zip(release.marginals, tables, strict=True), 1):
            name = re.sub(r"[^\w.-]+", "-", "-".join(clique))[:60] or "number-of-rows"
            file.writestr(f"{number:03d}-{name}.csv", table)
    return out.getvalue()


def _cells(data_set: DataSet, release: Release) -> list[Cell]:
    assert data_set.declaration is not None
    declaration = data_set.declaration
    what = releases.describe(release.recipe).replace("\\", "").replace('"', "'")
    about = (
        f"{what}.\n\nA new run is a new draw of the noise, and a new charge: count both releases. "
        "The ledger below is kept in memory and forgets; the workbench keeps its own."
    )
    part = "" if release.part is None else f", part={dict([release.part])!r}"
    return [
        ("markdown", about),
        ("code", IMPORTS),
        ("code", _reading(declaration, data_set.account.source)),
        ("code", f"schema = dp.Schema.from_json({declaration.schema.to_json()!r})"),
        ("code", f"budget = {_loss(data_set.account.promise)}\nloss = {_loss(release.guarantee.loss)}"),
        ("code", f"recipe = load_recipe({release.recipe!r})"),
        (
            "code",
            "curator = dp.Curator.open(frame, schema, budget=budget, ledger=dp.MemoryLedger())\n"
            "print(curator.quote(recipe, loss))  # reads no data\n"
            f"release = curator.run(recipe, loss{part})",
        ),
        (
            "code",
            "for clique, marginal in release.marginals.items():\n"
            "    print(clique, marginal.values, marginal.half_width())",
        ),
    ]


def _reading(declaration: Declaration, source: str | None) -> str:
    if source is not None:  # its place and its password are in the settings of the server alone
        return (
            "import os\n\nfrom workbench.store.settings import read_settings\n"
            "from workbench.store.sources import sources_in\n\n"
            "listed = sources_in(read_settings().sources, os.environ)\n"
            f"frame = next(each.source for each in listed if each.source.name == {source!r})"
        )
    if declaration.sample:
        return f"from workbench.samples import {declaration.sample}\n\nframe = {declaration.sample}()"
    given = {name: value for name, value in asdict(declaration.reading or ReadOptions()).items() if value}
    options = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return (
        f"name = {'table' + PurePath(declaration.name).suffix!r}  # the file of the table\n"
        f"frame = read_table(Path(name).read_bytes(), name, options=ReadOptions({options})).frame"
    )


def _loss(promise: Mapping[str, str]) -> str:
    """Write a loss in Python, with its numbers as exact texts."""
    loss = loss_from(promise)
    fields = {name: text for name, text in promise.items() if hasattr(loss, name) and name != "rho"}
    if type(loss).__name__ == "ZCDP":
        fields = {"rho": promise["rho"]}
    return f"dp.{type(loss).__name__}({', '.join(f'{name}={text!r}' for name, text in fields.items())})"
