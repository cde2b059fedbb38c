"""Which relations a release would tell, before it is paid."""

from __future__ import annotations

import streamlit as st

from workbench import session
from workbench.apart import process
from workbench.apart.asking import call
from workbench.synthesize.relations import FEW, Trial, told_from
from workbench.ui.language import _
from workbench.ui.wording import join, number

CLEAR = {False: 0.2, True: 0.35}
"""Associations of narrow and of wide pairs that need no warning where they come out."""
AT_ONCE = 20
"""Columns up to which relations are tried without being asked for."""


def show(trial: Trial) -> None:
    """From what strength on relations come out, by invented tables of the same shape; no row is read."""
    key = ("relations", repr(trial))
    label = _("Try on invented tables which relations would come out")
    if (
        key not in session.session().reports
        and len(trial.sizes) > AT_ONCE
        and not st.button(label, key="try-relations")
    ):
        return
    with st.spinner(_("Trying on invented tables which relations would come out")):
        told: dict[bool, float | None] = session.kept(
            key, lambda: process.compute(call, told_from, trial, cancelled=session.unwanted())
        )
    words = {
        False: _("between columns of at most {cells} cells").format(cells=FEW),
        True: _("where a column has more than {cells} cells").format(cells=FEW),
    }
    strong = [
        _("{where} from {strength} on").format(where=words[kind], strength=number(strength))
        for kind, strength in sorted(told.items())
        if strength is not None
    ]
    lost = [words[kind] for kind, strength in sorted(told.items()) if strength is None]
    ways = _("Fewer columns, wider steps or a larger epsilon would tell weaker ones.")
    if not strong:
        st.warning(
            _("**No relation between columns would come out**, however strong. {ways}").format(ways=ways),
            icon=":material/link_off:",
        )
        return
    sentences = [
        _("Relations come out {strong} (Cramer's V: 0 for none, 1 where one column tells the other).").format(
            strong=join(strong)
        )
    ]
    if lost:
        sentences.append(_("None comes out {lost}.").format(lost=join(lost)))
    is_clear = not lost and all(each is not None and each <= CLEAR[kind] for kind, each in told.items())
    if is_clear:
        st.caption(" ".join(sentences))
    else:
        st.info(" ".join([*sentences, ways]), icon=":material/link:")
