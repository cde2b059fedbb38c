"""Write a release's counts as files, and programs that repeat the release."""

import dataclasses
import io
import re
import zipfile
from collections.abc import Mapping
from fractions import Fraction
from pathlib import PurePath

from dpcore.accounting.loss import (
    AnyLoss,
    ApproxDP,
    PureDP,
    loss_fields,
    loss_from_fields,
)
from dpcore.curator.found_cells import mark_found_as_taken
from dpcore.io.export import to_csv
from dpcore.io.options import CURRENT_RULES, ReadOptions
from dpcore.release import Release
from dpcore.schema import Schema
from dpcore.synthesis import Categories, Statistics, load_recipe
from dpcore.synthesis.base import Recipe
from dpcore.synthesis.discrete.recipes import TableRecipe
from dpcore.synthesis.release.linked import LinkedRelease
from dpcore.tables.rows import PublicTable
from workbench.store.ledger.datasets import DataSet, Declaration
from workbench.store.sources.job import Job, LinkedJob
from workbench.synthesize.constructors import ConstructorWriter, write_exactly
from workbench.ui import releases
from workbench.ui.notebooks import Cell, write_notebook

MAX_TABLES_PRINTED = 3
"""Number of a release's noisy tables that the script prints."""
MAX_LINES_PRINTED = 10
"""Number of lines that the script prints of each noisy table."""
ABOUT_RUNS = (
    "A new run is a new draw of the noise, and a new charge: count both releases.\n"
    "The ledger below is kept in memory and forgets; the workbench keeps its own.\n"
    "This runs in any Python that has Privacy Workbench installed."
)
"""What whoever runs a program must know."""
COMMENT_ON_MARKS = (
    "# Marked facts were taken from the table itself: the promise does not cover "
    "them.\n"
)
PLAN_ROWS = 1_000
"""Number of synthetic rows that the script of a plan draws.

Nobody knows yet whether its noisy counts will tell how many there are.
"""


def job_of(data_set: DataSet, release: Release) -> tuple[Job, str] | None:
    """Return a release as a job, and the code that reads its table.

    None if the declaration is not on file, or the recipe cannot be read back; or of a
    view of linked tables, which is in no file.
    """
    recipe = load_recipe(release.recipe)
    declaration = data_set.declaration
    if recipe is None or declaration is None or declaration.linked is not None:
        return None
    job = Job(
        table=data_set.account.source or _public_file_name(declaration),
        schema=declaration.schema,
        budget=loss_from_fields(data_set.account.promise),
        recipe=recipe,
        loss=loss_from_fields(release.guarantee.loss),
        part=release.part,
    )
    return job, _reading_code(declaration, data_set.account.source)


def write_script(job: Job, reading: str, rows: int | None = None) -> str:
    """Return a Python program that makes the release of a job.

    Args:
        reading: the lines that read its table.
        rows: how many to draw; None for as many as the noisy counts say.
    """
    return _script_of(_notebook_cells(job, reading, rows))


def _script_of(notebook: list[Cell]) -> str:
    """Return the program of a notebook."""
    about, *cells = notebook
    steps = "\n\n".join(text for _kind, text in cells)
    return f'"""{about[1]}\n"""\n\n{steps}\n'


def linked_job_of(
    data_set: DataSet, release: LinkedRelease
) -> tuple[LinkedJob, str] | None:
    """Return a release of two linked tables as a job, and the code that reads both.

    None if the declaration is not on file, or a recipe cannot be read back.
    """
    declared = data_set.declaration and data_set.declaration.linked
    people, events = (load_recipe(half.recipe) for half in release.halves.values())
    if (
        not declared
        or not isinstance(people, TableRecipe)
        or not isinstance(events, TableRecipe)
    ):
        return None
    variables = ("people", "events")
    if data_set.account.source is not None:
        tables = declared.names
        reading = source_reading_code(dict(zip(variables, tables, strict=True)))
    else:
        first, second = declared.names
        tables = (_neutral_name("people", first), _neutral_name("events", second))
        reading = "\n".join(
            file_reading_code(name, _options_code(options), variable)
            for variable, name, options in zip(
                variables, tables, declared.readings, strict=True
            )
        )
    job = LinkedJob(
        tables=tables,
        schema=dataclasses.replace(declared.schema, order_by=release.order_by),
        budget=loss_from_fields(data_set.account.promise),
        people_recipe=people,
        events_recipe=events,
        loss=loss_from_fields(release.guarantee.loss),
    )
    return job, reading


def _neutral_name(table: str, name: str) -> str:
    """Return a file name that tells nothing of the rows, as the real one may."""
    return f"{table}-table{PurePath(name).suffix}"


def write_linked_script(job: LinkedJob, reading: str, people: int | None = None) -> str:
    """Return a Python program that makes the release of two linked tables.

    Args:
        reading: the lines that read `people` and `events`.
        people: how many to draw; None for as many as the noisy counts say.
    """
    return _script_of(_linked_notebook_cells(job, reading, people))


def write_linked_notebook(
    job: LinkedJob, reading: str, people: int | None = None
) -> str:
    """Return the program of two linked tables as a notebook (nbformat 4)."""
    return write_notebook(_linked_notebook_cells(job, reading, people))


def write_job_notebook(job: Job, reading: str, rows: int | None = None) -> str:
    """Return the program of a job as a notebook (nbformat 4)."""
    return write_notebook(_notebook_cells(job, reading, rows))


def rows_to_draw(release: Release) -> int | None:
    """Return how many rows a script draws to match this release.

    None for as many as the noisy counts say, unless noise alone would decide it.
    """
    return (
        None if release.has_reliable_row_count else max(1, round(release.model.total))
    )


def counts_file(release: Release) -> bytes:
    """Return the noisy tables with their intervals, as CSV or a ZIP of CSV files."""
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


def _notebook_cells(job: Job, reading: str, rows: int | None) -> list[Cell]:
    """Return the notebook cells of a job, one commented step in each."""
    what = (
        releases.describe_request(job.recipe.to_dict())
        .replace("\\", "")
        .replace('"', "'")
    )
    writer = ConstructorWriter()
    own_schema = _without_searches(job.schema)
    schema = writer.write(
        own_schema.without_private_texts(),
        prefix="schema = ",
        omitted_fields=("version", "unsaid"),
    )
    try:
        recipe = writer.write(job.recipe, prefix="recipe = ")
    except TypeError:  # a recipe that somebody added holds what no call makes
        writer.imports.add("from dpcore.synthesis import load_recipe")
        recipe = f"recipe = load_recipe({job.recipe.to_dict()!r})"
    part = "" if job.part is None else writer.write(dict([job.part]), prefix=", part=")
    code = [
        f"# Read the table.\n{reading}",
        "# Say what is publicly known about it, and who is protected.\n"
        f"{_comment_on_schema(own_schema)}{schema}",
        f"{_comment_on_rule(job.loss)}"
        f"budget = {_loss_code(job.budget)}\nloss = {_loss_code(job.loss)}",
        f"# Choose what is released.\n{recipe}",
        "# Open the table, and see the price and the expected errors. This reads no "
        "row.\n"
        "curator = dp.Curator.open("
        "frame, schema, budget=budget, ledger=dp.MemoryLedger())\n"
        "quote = curator.quote(recipe, loss)\n"
        "print(quote)",
        "# Pay, and draw the noise. The file can be opened on the page Ledger.\n"
        f"release = curator.run(recipe, loss{part})\n"
        'Path("release.json").write_text(release.to_json(), encoding="utf-8")',
        *_result_steps(job.recipe, rows),
    ]
    imports, code = _collect_imports(code, writer.imports)
    about = f"{what}.\n\n{ABOUT_RUNS}"
    return [("markdown", about), *(("code", text) for text in (imports, *code))]


def _linked_notebook_cells(
    job: LinkedJob, reading: str, people: int | None
) -> list[Cell]:
    """Return the notebook cells of a job on two tables, one commented step in each."""
    writer = ConstructorWriter()
    own_schema = dataclasses.replace(
        job.schema,
        people=_without_searches(job.schema.people),
        events=_without_searches(job.schema.events),
    )
    schema_of_both = own_schema.without_private_texts()
    schemas = [
        writer.write(
            schema, prefix=f"{table}_schema = ", omitted_fields=("version", "unsaid")
        )
        for table, schema in (
            ("people", schema_of_both.people),
            ("events", schema_of_both.events),
        )
    ]
    rules = writer.write(job.schema.rules, prefix="rules = ")
    order = writer.write(job.schema.order_by)
    recipes = [
        writer.write(recipe, prefix=f"{table}_recipe = ")
        for table, recipe in (
            ("people", job.people_recipe),
            ("events", job.events_recipe),
        )
    ]
    both = "people_recipe=people_recipe, events_recipe=events_recipe"
    number = "as many as the noisy counts say" if people is None else f"{people:,}"
    marked = own_schema.people.columns_from_data or own_schema.events.columns_from_data
    code = [
        f"# Read both tables.\n{reading}",
        "# Say what is publicly known about each, and how rows belong to a person.\n"
        f"{COMMENT_ON_MARKS if marked else ''}"
        f"{schemas[0]}\n{schemas[1]}\n{rules}\n"
        "linked = dp.LinkedSchema(\n"
        "    people=people_schema, events=events_schema, rules=rules, "
        f"order_by={order}\n)",
        f"{_comment_on_rule(job.loss)}"
        f"budget = {_loss_code(job.budget)}\nloss = {_loss_code(job.loss)}",
        f"# Choose what is released of each table.\n{recipes[0]}\n{recipes[1]}",
        "# Open both under one account: a person with all rows in both tables is "
        "protected.\n# The prices and expected errors read no row.\n"
        "curator = dp.LinkedCurator.open(\n"
        "    people, events, linked, budget=budget, ledger=dp.MemoryLedger()\n)\n"
        f"for quote in curator.quote(loss, {both}):\n"
        "    print(quote)",
        "# Pay, and draw the noise of both tables.\n"
        f"release = curator.synthesize(\n    loss, {both}\n)\n"
        'Path("linked-release.json").write_text(release.to_json(), encoding="utf-8")',
        "# Look at noisy counts: people of each number of events, and what bounds "
        "them.\n"
        'print(release.people.table(("number of events",)))',
        f"# Draw people, {number}, and the events of each. This is free.\n"
        f"drawn_people, drawn_events = release.sample("
        f"{'' if people is None else f'people={people}'})\n"
        'drawn_people.to_csv("synthetic-people.csv", index=False)\n'
        'drawn_events.to_csv("synthetic-events.csv", index=False)\n'
        "print(drawn_people.head())\nprint(drawn_events.head())",
    ]
    imports, code = _collect_imports(code, writer.imports)
    about = f"People and their events.\n\n{ABOUT_RUNS}"
    return [("markdown", about), *(("code", text) for text in (imports, *code))]


def _without_searches(schema: Schema) -> Schema:
    """Mark cells found privately as taken from the data.

    The ledger of a program knows no search that was paid for elsewhere.
    """
    return dataclasses.replace(
        schema, columns=tuple(map(mark_found_as_taken, schema.columns))
    )


def _comment_on_schema(schema: Schema) -> str:
    return COMMENT_ON_MARKS if schema.columns_from_data else ""


def _comment_on_rule(loss: AnyLoss) -> str:
    """Return a comment that explains how losses add up under the chosen rule."""
    if isinstance(loss, PureDP):
        return (
            "# The rule is basic composition: the epsilons of all releases add up to "
            "at most the\n# budget. The loss is what this release spends of it.\n"
        )
    return (
        "# The rule is zCDP: the rhos of all releases add up, and come to at most the "
        "budget,\n# an epsilon with a delta. The loss is what this release spends of "
        "it.\n"
    )


def _result_steps(recipe: Recipe, rows: int | None) -> list[str]:
    """Return code that prints the result of a release and writes it as CSV.

    Args:
        recipe: of the release.
        rows: how many to draw; None for as many as the noisy counts say.
    """
    table = "# Show the result as a table, and write it.\ntable = {}\nprint(table)\ntable.to_csv({})"
    if isinstance(recipe, Categories):
        counts = 'pd.Series(release.model.counts, name="rows").rename_axis("category")'
        return [table.format(counts, '"categories.csv"')]
    if isinstance(recipe, Statistics):
        figures = "pd.DataFrame(release.model.figures)"
        return [table.format(figures, '"figures.csv", index=False')]
    number = "as many as the noisy counts say" if rows is None else f"{rows:,}"
    return [
        "# Look at noisy counts: rows of each cell, and what bounds them in 95 of 100 "
        "cases.\n"
        f"for columns in list(release.marginals)[:{MAX_TABLES_PRINTED}]:\n"
        f"    print(release.table(columns).head({MAX_LINES_PRINTED}))",
        f"# Draw synthetic rows, {number}. This is free.\n"
        f"synthetic = release.sample({'' if rows is None else f'rows={rows}'})\n"
        'synthetic.to_csv("synthetic.csv", index=False)\n'
        "print(synthetic.head())",
    ]


def _collect_imports(code: list[str], imports: set[str]) -> tuple[str, list[str]]:
    """Return the imports of all steps as a block, and the steps without them."""
    lines = [line for step in code for line in step.splitlines()]
    ours = {line for line in lines if line.startswith("from ")} | imports
    steps = [
        "\n".join(line for line in step.splitlines() if line not in ours)
        for step in code
    ]
    text = "\n".join(steps)
    ours.add("import dpcore as dp")
    others = ["from pathlib import Path"]
    theirs = ["import pandas as pd"] if "pd." in text else []
    blocks = (others, theirs, sorted(ours, key=lambda line: line.split()[1]))
    return "\n\n".join("\n".join(block) for block in blocks if block), [
        re.sub("\n\n+", "\n", step) for step in steps
    ]


def _reading_code(declaration: Declaration, source: str | None) -> str:
    # Only the server's settings hold the address and the password of a source.
    if source is not None:
        return source_reading_code({"frame": source})
    if declaration.sample:
        return (
            f"from workbench.samples import {declaration.sample}\n\nframe = "
            f"{declaration.sample}()"
        )
    options = _options_code(declaration.reading)
    return file_reading_code(_public_file_name(declaration), options)


def source_reading_code(sources: Mapping[str, str]) -> str:
    """Return the code that finds connected sources in the server's settings.

    Args:
        sources: variable -> the name of its source.
    """
    found = "\n".join(
        f"{variable} = next(each.source for each in listed if each.source.name == "
        f"{name!r})"
        for variable, name in sources.items()
    )
    return (
        "from workbench.store.sources.files import all_sources\n"
        "from workbench.store.settings import read_settings\n\n"
        f"listed = all_sources(read_settings())\n{found}"
    )


def _options_code(reading: ReadOptions | None) -> str:
    """Return the arguments of `ReadOptions` under which a file was read, as code."""
    reading = reading or ReadOptions()
    given = reading.given_options
    if reading.is_known:
        given["is_known"] = True
    if reading.rules != CURRENT_RULES:
        given["rules"] = reading.rules
    return ", ".join(f"{name}={value!r}" for name, value in given.items())


def _public_file_name(declaration: Declaration) -> str:
    """Return a neutral file name for a job; the real one may reveal facts about
    rows.
    """
    if declaration.sample:
        return declaration.name
    return f"table{PurePath(declaration.name).suffix}"


def file_reading_code(name: str, options: str = "", variable: str = "frame") -> str:
    """Return the code that reads a file.

    Args:
        options: arguments of `ReadOptions`, as code.
        variable: which holds its rows.
    """
    before = ConstructorWriter().write(name, prefix="name = ")
    what = "table" if variable == "frame" else variable
    lines = [f"{before}  # the file of the {what}"]
    given = ""
    if options:
        lines.append(f"options = dp.ReadOptions({options})")
        given = ", options=options"
    lines.append(
        f"{variable} = dp.read_table(Path(name).read_bytes(), name{given}).frame"
    )
    return "\n".join(lines)


def _loss_code(loss: AnyLoss) -> str:
    """Return the Python code of a loss, with its numbers as exact texts."""
    fields = loss_fields(loss)
    if isinstance(loss, ApproxDP):
        fields.pop("rho")
    numbers = (
        f'{name}="{write_exactly(Fraction(text))}"' for name, text in fields.items()
    )
    return f"dp.{type(loss).__name__}({', '.join(numbers)})"
