"""What can be judged: releases of the open data set, its anonymized table, and a file made elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from dpcore.curator import Curator
from dpcore.evaluation.records import as_declared
from dpcore.release import Release
from dpcore.tables.rows import PublicTable
from workbench.ui.language import _
from workbench.ui.wording import percent, plain

ANONYMIZED, FILE = "anonymized", "file"


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """One table to judge.

    Attributes:
        key: changes with its rows.
        title: what it is, for people.
        rows: as they are.
        table: as far as it has cells of the schema.
        release: where the rows were drawn from; None for other tables.
        notes: what of it is not compared, and why.
    """

    key: str
    title: str
    rows: pd.DataFrame
    table: PublicTable
    release: Release | None = None
    notes: tuple[str, ...] = ()


def foreign(curator: Curator, key: str, title: str, frame: pd.DataFrame) -> Candidate:
    """A table that no release of ours drew, as far as it fits the schema."""
    declared = as_declared(frame, curator.schema)
    notes = []
    if declared.left_out:
        columns = ", ".join(plain(name) for name in declared.left_out)
        notes.append(
            _("Not compared, because most values are none of those declared: {columns}.").format(
                columns=columns
            )
        )
    if declared.rows_left_out:
        notes.append(
            _("{share} of the rows have a value that is not declared, and are not compared.").format(
                share=percent(declared.rows_left_out)
            )
        )
    return Candidate(key=key, title=title, rows=frame, table=PublicTable(declared.frame), notes=tuple(notes))


def digest(frame: pd.DataFrame) -> str:
    """Changes with the rows, whatever their order."""
    return f"{pd.util.hash_pandas_object(frame, index=False).sum():x}-{len(frame)}"
