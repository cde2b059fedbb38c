"""Which table is judged: the form at the head of the Evaluate page."""

from __future__ import annotations

import streamlit as st

from dpcore.curator import Curator
from dpcore.release import AnonymizedTable
from workbench import session
from workbench.evaluate.candidates import ANONYMIZED, FILE, Candidate, digest, foreign
from workbench.ui import releases, widgets
from workbench.ui.language import _


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
        return None if frame is None else foreign(curator, f"{FILE}-{digest(frame)}", frame)
    if key == ANONYMIZED and isinstance(made, AnonymizedTable):
        return foreign(curator, f"{ANONYMIZED}-{digest(made.table.frame)}", made.table.frame)
    release = curator.release(key)
    table = release.table(seed=0)
    return Candidate(key=key, rows=table.frame, table=table, release=release)
