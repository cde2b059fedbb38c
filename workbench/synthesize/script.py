"""Counts of a release as files, and programs that make the release again."""

import io
import re
import zipfile
from pathlib import PurePath

from dpcore.accounting.loss import AnyLoss, ApproxDP, loss_fields, loss_from_fields
from dpcore.io.export import to_csv
from dpcore.io.options import ReadOptions
from dpcore.release import Release
from dpcore.synthesis import load_recipe
from dpcore.tables.rows import PublicTable
from workbench.store.ledger.datasets import DataSet, Declaration
from workbench.store.sources.job import Job
from workbench.ui import releases
from workbench.ui.notebooks import Cell, write_notebook

IMPORTS = """\
from pathlib import Path

import dpcore as dp
from dpcore.io import ReadOptions, read_table
from dpcore.synthesis import load_recipe"""


def job_of(data_set: DataSet, release: Release) -> tuple[Job, str] | None:
    """Return a release as a job, and the code that reads its table.

    None if the declaration is not on file, or the recipe cannot be read back.
    """
    recipe = load_recipe(release.recipe)
    declaration = data_set.declaration
    if recipe is None or declaration is None:
        return None
    job = Job(
        table=data_set.account.source or data_set.name,
        schema=declaration.schema,
        budget=loss_from_fields(data_set.account.promise),
        recipe=recipe,
        loss=loss_from_fields(release.guarantee.loss),
        part=release.part,
    )
    return job, _reading(declaration, data_set.account.source)


def script(job: Job, reading: str) -> str:
    """Return a Python program that does a job.

    Args:
        reading: the lines that read its table.
    """
    about, *cells = _cells(job, reading)
    return f'"""{about[1]}"""\n\n' + "\n\n".join(text for _kind, text in cells) + "\n"


def notebook(job: Job, reading: str) -> str:
    """Return the program as a notebook (nbformat 4)."""
    return write_notebook(_cells(job, reading))


def counts_file(release: Release) -> bytes:
    """Return every noisy table with low and high, as CSV or a ZIP of CSV."""
    tables = [
        to_csv(PublicTable(release.table(clique))) for clique in release.marginals
    ]
    if len(tables) == 1:
        return tables[0]
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for number, (clique, table) in enumerate(
            zip(release.marginals, tables, strict=True), 1
        ):
            name = re.sub(r"[^\w.-]+", "-", "-".join(clique))[:60] or "number-of-rows"
            file.writestr(f"{number:03d}-{name}.csv", table)
    return out.getvalue()


def _cells(job: Job, reading: str) -> list[Cell]:
    recipe = job.recipe.to_dict()
    what = releases.describe(recipe).replace("\\", "").replace('"', "'")
    about = (
        f"{what}.\n\nA new run is a new draw of the noise, and a new charge: count "
        "both releases. "
        "The ledger below is kept in memory and forgets; the workbench keeps its own."
    )
    part = "" if job.part is None else f", part={dict([job.part])!r}"
    return [
        ("markdown", about),
        ("code", IMPORTS),
        ("code", reading),
        ("code", f"schema = dp.Schema.from_json({job.schema.shared().to_json()!r})"),
        ("code", f"budget = {_loss(job.budget)}\nloss = {_loss(job.loss)}"),
        ("code", f"recipe = load_recipe({recipe!r})"),
        (
            "code",
            "curator = dp.Curator.open(frame, schema, budget=budget, "
            "ledger=dp.MemoryLedger())\n"
            "print(curator.quote(recipe, loss))  # reads no data\n"
            f"release = curator.run(recipe, loss{part})",
        ),
        (
            "code",
            "for clique, marginal in release.marginals.items():\n"
            "    print(clique, marginal.values, marginal.half_width())\n"
            'Path("release.json").write_text(release.to_json())',
        ),
    ]


def _reading(declaration: Declaration, source: str | None) -> str:
    # only the server's settings hold its place and password
    if source is not None:
        return (
            "from workbench.store.sources.files import all_sources\n"
            "from workbench.store.settings import read_settings\n\n"
            "listed = all_sources(read_settings())\n"
            "frame = next(each.source for each in listed if each.source.name == "
            f"{source!r})"
        )
    if declaration.sample:
        return (
            f"from workbench.samples import {declaration.sample}\n\nframe = "
            f"{declaration.sample}()"
        )
    # what was seen from the file may tell of a row, and is seen again from it
    given = (declaration.reading or ReadOptions()).told()
    options = ", ".join(f"{name}={value!r}" for name, value in given.items())
    return reading_of(f"table{PurePath(declaration.name).suffix}", options)


def reading_of(name: str, options: str = "") -> str:
    """Return the code that reads a file. Args: options: how, in Python."""
    return (
        f"name = {name!r}  # the file of the table\n"
        "frame = read_table(Path(name).read_bytes(), name, "
        f"options=ReadOptions({options})).frame"
    )


def _loss(loss: AnyLoss) -> str:
    """Return the Python code of a loss, with its numbers as exact texts."""
    fields = loss_fields(loss)
    if isinstance(loss, ApproxDP):
        fields.pop("rho")
    return f"dp.{type(loss).__name__}({', '.join(f'{name}={text!r}' for name, text in fields.items())})"
