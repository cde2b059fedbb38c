"""Relations that a release would keep, before it is paid."""

from collections.abc import Mapping

import streamlit as st

from dpcore.synthesis.relations import (
    MAX_NARROW_CELLS,
    STRENGTHS,
    RelationTrial,
    weakest_kept,
)
from workbench import session
from workbench.language.messages import _, capital, join, name_and_text
from workbench.language.wording import number
from workbench.ui import widgets

CLEAR = {False: 0.2, True: 0.35}
"""Associations of narrow and of wide pairs that need no warning where they come out."""
AT_ONCE = 20
"""Columns up to which relations are tried without a click."""


def show(trial: RelationTrial, others: Mapping[str, RelationTrial]) -> None:
    """Show the strength from which relations come out of invented tables of the same
    shape.

    Args:
        others: trials of weaker demands, by their names for people.
    """
    label = _("Try on invented tables which relations would come out")
    waits = len(trial.sizes) > AT_ONCE and not _is_known(trial)
    if waits and not st.button(label, key="try-relations"):
        return
    weakest = _weakest(trial)
    kept = _kept(weakest)
    lost = _lost(weakest)
    if kept:
        sentence = _(
            "Relations come out {strong} (Cramer's V: 0 for none, 1 where one column "
            "tells the other)."
        ).format(strong=kept)
        if lost:
            sentence += " " + name_and_text(capital("none"), lost) + "."
        if not lost and all(
            each is not None and each <= CLEAR[kind] for kind, each in weakest.items()
        ):
            st.caption(sentence)
            return
    if kept:
        st.info(sentence, icon=":material/link:")
    else:
        st.warning(
            _("**No relation between columns would come out**, however strong."),
            icon=":material/link_off:",
        )
    st.caption(_("Fewer columns or wider steps would help too."))
    if all(map(_is_known, others.values())) or st.button(
        _("Try fewer columns and a larger epsilon"),
        key="try-other-relations",
    ):
        most = (
            1.0 if lost else max(each for each in weakest.values() if each is not None)
        )
        for name, other in others.items():
            of_other = _weakest(other, [each for each in STRENGTHS if each <= most])
            parts = [
                _kept(of_other),
                _lost(of_other) and name_and_text(_("none"), _lost(of_other)),
            ]
            st.caption(name_and_text(name, "; ".join(filter(None, parts))))


def _is_known(trial: RelationTrial) -> bool:
    return ("relations", repr(trial)) in session.session().reports


def _weakest(
    trial: RelationTrial, strengths: list[float] | None = None
) -> dict[bool, float | None]:
    with st.spinner(_("Computing")):
        return session.kept(
            ("relations", repr(trial)),
            lambda: widgets.compute(weakest_kept, trial, strengths or list(STRENGTHS)),
        )


def _where(is_wide: bool) -> str:
    if is_wide:
        return _("where a column has more than {cells} cells").format(
            cells=MAX_NARROW_CELLS
        )
    return _("between columns of at most {cells} cells").format(cells=MAX_NARROW_CELLS)


def _kept(weakest: Mapping[bool, float | None]) -> str:
    """Write the strengths from which relations come out; empty where none does."""
    line = _("{where} from {strength} on")
    return join(
        [
            line.format(where=_where(kind), strength=number(strength))
            for kind, strength in sorted(weakest.items())
            if strength is not None
        ],
    )


def _lost(weakest: Mapping[bool, float | None]) -> str:
    """Write the columns between which no relation comes out; empty where there are
    none.
    """
    return join(
        [_where(kind) for kind, strength in sorted(weakest.items()) if strength is None]
    )
