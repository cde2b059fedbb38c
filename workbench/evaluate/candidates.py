"""What can be judged: releases of the open data set, its anonymized table, and a file made elsewhere."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.records import as_declared
from dpcore.release import AnonymizedTable, Release
from dpcore.tables.rows import PublicTable
from workbench import session
from workbench.ui import releases, widgets
from workbench.ui.language import _
from workbench.ui.wording import plain

ANONYMIZED, FILE = "anonymized", "file"


@dataclass(frozen=True, kw_only=True, eq=False)
class Candidate:
    """One table to judge.

    Attributes:
        key: changes with its rows.
        rows: as they are.
        table: as far as it has cells of the schema.
        release: where the rows were drawn from; None for other tables.
        notes: what of it is not compared, and why.
    """

    key: str
    rows: pd.DataFrame
    table: PublicTable
    release: Release | None = None
    notes: tuple[str, ...] = ()


def choose(curator: Curator) -> Candidate | None:
    """Ask which one; None while there is nothing to judge."""
    held = session.session()
    titles = {
        line["request_id"]: f"{line['what']} · {line['when']} UTC · {line['cost']}"
        for line in releases.earlier(curator)
    }
    made = getattr(held.anonymization, "made", None)
    if isinstance(made, AnonymizedTable):
        titles[ANONYMIZED] = _("Anonymized table: {models}").format(models=", ".join(made.guarantee.models))
    titles[FILE] = _("A file made elsewhere")
    if len(titles) == 1:
        st.info(_("There is no release of this data set yet."))
        st.page_link("pages/synthesize.py", label=_("Release something"), icon=":material/arrow_forward:")
    order = list(titles)
    key = st.selectbox(
        _("Release"),
        order,
        index=order.index(held.shown) if held.shown in order else 0,
        format_func=lambda key: titles[key],
        key=f"evaluate-release-{curator.account.dataset[:8]}-{len(order)}",
    )
    if key == FILE:
        frame = widgets.table_uploader(
            _("The synthetic or anonymized table, with the headers of the original"), key="evaluate-file"
        )
        return None if frame is None else _foreign(curator, f"{FILE}-{_digest(frame)}", frame)
    if key == ANONYMIZED and isinstance(made, AnonymizedTable):
        return _foreign(curator, f"{ANONYMIZED}-{_digest(made.table.frame)}", made.table.frame)
    release = curator.release(key)
    table = release.table(seed=0)
    return Candidate(key=key, rows=table.frame, table=table, release=release)


def _foreign(curator: Curator, key: str, frame: pd.DataFrame) -> Candidate:
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
            _("{share:.1%} of the rows have a value that is not declared, and are not compared.").format(
                share=declared.rows_left_out
            )
        )
    return Candidate(key=key, rows=frame, table=PublicTable(declared.frame), notes=tuple(notes))


def _digest(frame: pd.DataFrame) -> str:
    return f"{pd.util.hash_pandas_object(frame, index=False).sum():x}-{len(frame)}"
