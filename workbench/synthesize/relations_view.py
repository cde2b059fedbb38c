"""Trial of which relations between columns a planned release would keep."""

from collections.abc import Mapping

import streamlit as st

from dpcore.synthesis.relations import (
    MAX_NARROW_CELLS,
    TRIAL_STRENGTHS,
    RelationTrial,
    find_weakest_kept_relation,
    strong_pairs_kept,
)
from workbench import session
from workbench.language.messages import _, capital, join, name_and_text, ngettext
from workbench.language.wording import number
from workbench.ui import progress_view

CLEAR_ASSOCIATION = {False: 0.2, True: 0.35}
"""Weakest kept association that needs no warning, by whether the pair is wide."""
MAX_COLUMNS_AT_ONCE = 20  # columns up to which relations are tried without a click


def show(trial: RelationTrial, easier_trials: Mapping[str, RelationTrial]) -> None:
    """Show how strong a relation must be for the release to keep it.

    It is tried on invented tables of the same shape.

    Args:
        easier_trials: trials of weaker demands, by their names for people.
    """
    label = _("Test on invented tables which relations would be kept")
    waits = len(trial.sizes) > MAX_COLUMNS_AT_ONCE and not _has_result(trial)
    if waits and not st.button(label, key="try-relations"):
        st.warning(
            _(
                "**Relations may be lost.** With so many columns, only a trial can "
                "show which relations would be kept. The trial is free. Fewer "
                "columns keep more relations."
            ),
            icon=":material/link_off:",
        )
        return
    weakest = _weakest_kept_relations(trial)
    kept = kept_strengths(weakest)
    lost = _lost_columns(weakest)
    if kept:
        sentence = _(
            "Relations are kept {strong} (Cramér's V: 0 means no relation, 1 means "
            "that one column determines the other)."
        ).format(strong=kept)
        if lost:
            sentence += " " + name_and_text(capital("none"), lost) + "."
        if not lost and all(
            strength is not None and strength <= CLEAR_ASSOCIATION[kind]
            for kind, strength in weakest.items()
        ):
            st.caption(sentence)
            return
    if kept:
        st.warning(
            _("**Only strong relations would be kept.** {sentence}").format(
                sentence=sentence
            ),
            icon=":material/link:",
        )
    else:
        st.warning(_lost_sentence(trial), icon=":material/link_off:")
    st.caption(_("Fewer columns or wider steps also help."))
    if all(map(_has_result, easier_trials.values())) or st.button(
        _("Try fewer columns and a larger epsilon"),
        key="try-other-relations",
    ):
        most = (
            1.0
            if lost
            else max(strength for strength in weakest.values() if strength is not None)
        )
        for name, other in easier_trials.items():
            of_other = _weakest_kept_relations(
                other, [strength for strength in TRIAL_STRENGTHS if strength <= most]
            )
            parts = [
                kept_strengths(of_other),
                _lost_columns(of_other)
                and name_and_text(_("none"), _lost_columns(of_other)),
            ]
            st.caption(name_and_text(name, "; ".join(filter(None, parts))))


def _lost_sentence(trial: RelationTrial) -> str:
    """Return the sentence on a release that does not keep all strong relations."""
    kept, pairs = session.compute_once(
        ("strong relations", repr(trial)),
        lambda: progress_view.compute_in_worker(strong_pairs_kept, trial),
    )
    return lost_relations_sentence(kept, pairs)


def lost_relations_sentence(kept: int, pairs: int) -> str:
    """Say how many of the strong relations of invented tables are kept.

    Args:
        kept: relations that keep at least half of their strength.
        pairs: relations that were tried.
    """
    title = (
        _("**Most relations between columns would be lost.**")
        if 2 * kept < pairs
        else _("**Some relations between columns would be lost.**")
    )
    facts = ngettext(
        "In a trial on invented tables of this shape, {kept} of {number} strong "
        "relation kept at least half of its strength.",
        "In a trial on invented tables of this shape, {kept} of {number} strong "
        "relations kept at least half of their strength.",
        pairs,
        kept=kept,
    )
    return f"{title} {facts}"


def _has_result(trial: RelationTrial) -> bool:
    return ("relations", repr(trial)) in session.session().reports


def _weakest_kept_relations(
    trial: RelationTrial, strengths: list[float] | None = None
) -> dict[bool, float | None]:
    with st.spinner(_("Trying relations on invented tables"), show_time=True):
        return session.compute_once(
            ("relations", repr(trial)),
            lambda: progress_view.compute_in_worker(
                find_weakest_kept_relation, trial, strengths or list(TRIAL_STRENGTHS)
            ),
        )


def _describe_columns(is_wide: bool) -> str:
    if is_wide:
        return _("where one column has more than {cells} cells").format(
            cells=MAX_NARROW_CELLS
        )
    return _("between columns of at most {cells} cells").format(cells=MAX_NARROW_CELLS)


def kept_strengths(weakest: Mapping[bool, float | None]) -> str:
    """Return the strengths from which relations are kept; empty if none is."""
    line = _("{where} from a strength of {strength} on")
    return join(
        [
            line.format(where=_describe_columns(kind), strength=number(strength))
            for kind, strength in sorted(weakest.items())
            if strength is not None
        ],
    )


def _lost_columns(weakest: Mapping[bool, float | None]) -> str:
    """Return words for columns that lose all relations; empty if there are none."""
    return join(
        [
            _describe_columns(kind)
            for kind, strength in sorted(weakest.items())
            if strength is None
        ]
    )
