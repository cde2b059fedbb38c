"""Files of a release as bytes, all computed from its noisy numbers alone."""

import base64
import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpcore.accounting.loss import Loss, loss_fields
from dpcore.io.export import to_csv, to_parquet
from dpcore.io.xlsx import to_xlsx
from dpcore.release import Release
from dpcore.synthesis import attacker_limits, describe_recipe
from dpcore.synthesis.release.linked import LinkedRelease
from dpcore.tables.rows import PublicTable
from workbench.language.messages import N_, _, day, translate
from workbench.language.wording import (
    counted_rows_words,
    loss_words,
    other_half_words,
    pair_limits,
)
from workbench.report.document import (
    OFFERED_FILES,
    OFFERED_LINKED_FILES,
    Download,
    file_label,
)
from workbench.report.explore import (
    EXPLORE_CONTENT,
    EXPLORE_FILE,
    EXPLORE_FILES,
    is_explorable,
)
from workbench.report.sentences import measured_columns, view_of_release

COUNTS = "counts"
ROWS = "rows"
MODEL = "model"
QUESTIONS = "questions"
PREVIEW = "preview"
CONTENTS = {
    "counts": N_("counts with their intervals"),
    "rows": N_("drawn rows"),
    "model": N_("the release with its model, to open in this program"),
    "questions": N_("a form to ask questions"),
    "preview": N_(
        "figures in the preview that chats show of the link: chat services keep "
        "copies that cannot be recalled"
    ),
}
"""What may be given beside pictures, tables and the guarantee."""
LINKED_CONTENTS = CONTENTS | {
    "rows": N_("drawn people and their events"),
    "model": N_("both releases with their models, for programs"),
}
"""The same for two linked tables."""
MAX_COUNTS = 200_000
MAX_ROWS = 100_000
COUNT_DIGITS = 6
COUNT_COLUMNS = ("rows", "low", "high", "as measured", "kind")
"""Columns of the table of counts beside those that were measured, at most."""
LINKED_ENDINGS = ("csv", "parquet")
"""Formats of the files of two linked tables."""
MAX_EMBEDDED_BYTES = 1_000_000
MAX_XLSX_CELLS = 500_000
"""Cells of a workbook that is made while a stranger waits: some seconds of computing."""
_CONTENT_OF_FILE = {
    EXPLORE_FILE: EXPLORE_CONTENT,
    "release.json": MODEL,
    "datapackage.json": COUNTS,
} | {
    f"{what}.{ending}": what
    for what in (COUNTS, ROWS)
    for ending in ("csv", "xlsx", "parquet", "json")
}
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
    "json": "application/json",
}


def file_names(release: Release, contents: Collection[str]) -> list[str]:
    """Return the names of the files of a release.

    Args:
        contents: what may be given, of `CONTENTS`.
    """
    cells = sum(marginal.values.size for marginal in release.marginals.values())
    there = {
        EXPLORE_CONTENT: is_explorable(release),
        COUNTS: 0 < cells <= MAX_COUNTS,
        ROWS: bool(release.model_columns),
        MODEL: True,
    }
    given = {"": True} | {
        need: is_there for need, is_there in there.items() if need in contents
    }
    names = [
        name for name in OFFERED_FILES if given.get(_CONTENT_OF_FILE.get(name, ""))
    ]
    columns = len(measured_columns(release)) + len(COUNT_COLUMNS)
    too_large = {
        "counts.xlsx": cells * columns > MAX_XLSX_CELLS,
        "rows.xlsx": _drawn_rows(release) * len(release.model_columns) > MAX_XLSX_CELLS,
    }
    return [name for name in names if not too_large.get(name)]


def file_content(release: Release, name: str, pair_loss: Loss | None = None) -> bytes:
    """Return the bytes of one file of a release, the same each time.

    Args:
        pair_loss: as of `guarantee_json`.
    """
    texts = {
        "guarantee": lambda: guarantee_json(release, pair_loss),
        "datapackage": lambda: datapackage(release, pair_loss),
        "release": release.to_json,
    }
    what, _dot, ending = name.partition(".")
    if what in texts:
        return texts[what]().encode()
    if name == "counts.json":
        return (
            counts_table(release)
            .to_json(orient="records", indent=1, force_ascii=False)
            .encode()
        )
    table = (
        PublicTable(counts_table(release))
        if what == COUNTS
        else release.sample_table(_drawn_rows(release), seed=0)
    )
    return table_content(
        table, ending, {"guarantee": guarantee_json(release, pair_loss)}
    )


def linked_file_names(release: LinkedRelease, contents: Collection[str]) -> list[str]:
    """Return the names of the files of a release of two linked tables.

    Args:
        contents: what may be given, of `CONTENTS`.
    """
    given = {"guarantee.json"}
    for view, half in release.halves.items():
        own = file_names(half, contents)
        if EXPLORE_FILE in own:
            given.add(EXPLORE_FILES[view])
        for ending in LINKED_ENDINGS:
            if f"{COUNTS}.{ending}" in own:
                given.add(f"{view}-{COUNTS}.{ending}")
            if ROWS in contents:
                given.add(f"{view}.{ending}")
    if MODEL in contents:
        given.add("linked-release.json")
    return [name for name in OFFERED_LINKED_FILES if name in given]


def linked_file_content(release: LinkedRelease, name: str) -> bytes:
    """Return the bytes of one file of linked tables, the same each time.

    The files of people and of events hold one drawing: their keys belong together.
    """
    what, _dot, ending = name.partition(".")
    guarantee = linked_guarantee_json(release)
    if what == "guarantee":
        return guarantee.encode()
    if what == "linked-release":
        return release.to_json().encode()
    view, _dash, is_counts = what.partition("-")
    if is_counts:
        return file_content(
            release.halves[view], f"{COUNTS}.{ending}", release.total_loss
        )
    people, events = release.sample(_drawn_people(release), seed=0)
    table = PublicTable(people if view == "people" else events)
    return table_content(table, ending, {"guarantee": guarantee})


def _drawn_people(release: LinkedRelease) -> int:
    """Return how many people are drawn, so that neither file has too many rows."""
    people = max(1.0, release.people.model.total)
    most = MAX_ROWS / max(1.0, release.events.model.total / people)
    return min(max(0, round(release.people.model.total)), MAX_ROWS, round(most))


def table_content(
    table: PublicTable, ending: str, metadata: Mapping[str, str]
) -> bytes:
    """Return a public table as a file with this ending: csv, xlsx or parquet.

    Args:
        metadata: for the footer of Parquet.
    """
    if ending == "parquet":
        return to_parquet(table, metadata)
    return to_xlsx(table) if ending == "xlsx" else to_csv(table)


def _drawn_rows(release: Release) -> int:
    """Return how many rows the file of drawn rows holds."""
    return min(max(0, round(release.model.total)), MAX_ROWS)


def counts_table(release: Release) -> pd.DataFrame:
    """Return all noisy tables as one, a line per cell.

    Its kind is "measured", or "from the model" if a measurement tells only the rows of
    a merged group.
    """
    names = measured_columns(release)
    tables = []
    for clique in release.marginals:
        table = release.table(clique)
        alone = np.ravel(release.answer(clique).counted_alone)
        kind = "count: kind" if "kind" in names or "count: rows" in table else "kind"
        tables.append(
            table.assign(**{kind: np.where(alone, "measured", "from the model")})
        )
    whole = pd.concat(tables, ignore_index=True)
    counted = [heading for heading in whole.columns if heading not in names]
    # counts that were made consistent have digits of floating-point noise
    whole[counted] = whole[counted].round(COUNT_DIGITS)
    return whole[[*names, *counted]]


def citation(release: Release, title: str) -> str:
    """Return how to cite a release: title, day, guarantee and digest of its file."""
    digest = json.loads(release.to_json())["digest"]
    return _cite(title, release.created, release.guarantee.loss, digest)


def linked_citation(release: LinkedRelease, title: str) -> str:
    """Return how to cite two linked tables; the digest is that of their JSON file."""
    digest = hashlib.sha256(release.to_json().encode()).hexdigest()
    loss = loss_fields(release.total_loss)
    return _cite(title, release.people.created, loss, digest)


def _cite(title: str, created: str, loss: Mapping[str, str], digest: str) -> str:
    return _("{title}. Made on {day}, {loss}. SHA-256 of the release: {digest}").format(
        title=title, day=day(created), loss=loss_words(loss), digest=digest
    )


def datapackage(release: Release, pair_loss: Loss | None = None) -> str:
    """Describe the files of counts for programs, as a Frictionless Data Package.

    Args:
        pair_loss: as of `guarantee_json`.
    """
    types = {"O": "string", "i": "integer", "f": "number", "b": "boolean"}
    frame = counts_table(release)
    described = json.loads(
        (Path(__file__).parent / "datapackage.json").read_text(encoding="utf-8")
    )
    for resource in described["resources"]:
        fields = [
            {"name": name, "type": types[frame[name].dtype.kind]}
            for name in frame.columns
        ]
        resource["schema"] = {"fields": fields, "missingValues": [""]}
    digest = json.loads(release.to_json())["digest"]
    about = {
        "title": translate(describe_recipe(release.recipe)),
        "created": release.created,
        "id": digest,
    }
    guarantee = json.loads(guarantee_json(release, pair_loss))
    return json.dumps(described | about | guarantee, indent=1)


def embedded_data(
    names: Collection[str], content: Callable[[str], bytes]
) -> tuple[Download, ...]:
    """Return the files that are small enough as downloads to embed in a page."""
    downloads = []
    for name in names:
        data = content(name)
        if len(data) <= MAX_EMBEDDED_BYTES:
            kind = MEDIA_TYPES[name.rpartition(".")[2]].partition(";")[0]
            href = f"data:{kind};base64,{base64.b64encode(data).decode()}"
            downloads.append(Download(href=href, name=name, label=file_label(name)))
    return tuple(downloads)


def guarantee_json(release: Release, pair_loss: Loss | None = None) -> str:
    """Return the guarantee of a release as JSON, which accompanies every download.

    Args:
        pair_loss: of one half of a release of linked tables, the loss of both halves.
    """
    fields: dict[str, Any] = {
        "guarantee": release.guarantee.to_dict(),
        "most_true_positives_at_false_alarms": {
            str(rate): most for rate, most in attacker_limits(release).items()
        },
        "counted": counted_rows_words(release.schema.unit),
        "recipe": release.recipe,
        "created": release.created,
        "marginals": _describe_noise(release),
    }
    if pair_loss is not None:
        fields["one_of_two_halves"] = {
            "half": view_of_release(release),
            **_describe_total(pair_loss),
            "meaning": other_half_words(pair_loss),
        }
    return json.dumps(fields, indent=1)


def linked_guarantee_json(release: LinkedRelease) -> str:
    """Return what a release of two linked tables promises as JSON."""
    fields = {
        "guarantee": release.guarantee.to_dict(),
        **_describe_total(release.total_loss),
        "recipe": {view: half.recipe for view, half in release.halves.items()},
        "created": release.people.created,
        "marginals": {
            view: _describe_noise(half) for view, half in release.halves.items()
        },
    }
    return json.dumps(fields, indent=1)


def _describe_total(loss: Loss) -> dict[str, Any]:
    """Describe the loss of both halves of linked tables, private searches included."""
    return {
        "loss_of_both_halves": loss_fields(loss),
        "most_true_positives_of_both_at_false_alarms": {
            str(rate): most for rate, most in pair_limits(loss).items()
        },
    }


def _describe_noise(release: Release) -> list[dict[str, Any]]:
    """Describe the noise of each measured table."""
    return [
        {
            "columns": list(clique),
            "standard_deviation_of_a_cell": marginal.variance**0.5,
            "interval_95_half_width": marginal.half_width(),
            "noise": marginal.noise,
        }
        for clique, marginal in release.marginals.items()
    ]
