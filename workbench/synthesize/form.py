"""Choosing what to release: one column, a few columns together, or a whole table with its facts."""

from __future__ import annotations

import itertools

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.schema import Boolean, Categorical, IntervalColumn
from dpcore.synthesis import Histogram, Marginals, Recipe
from dpcore.synthesis.discrete.constraints import Constraints, Determines, Impossible
from dpcore.synthesis.discrete.suggested import suggest_facts
from workbench import session
from workbench.synthesize import learning, recipes
from workbench.synthesize.charts import pair_grid
from workbench.synthesize.state import SynthesizeState
from workbench.ui import widgets
from workbench.ui.language import _, said
from workbench.ui.wording import plain


def choose_kind() -> str:
    """The card that is chosen."""
    chosen = session.own(SynthesizeState).kind
    for column, kind in zip(st.columns(len(recipes.KINDS)), recipes.KINDS, strict=True):
        with column.container(border=True, height="stretch"):
            st.button(
                _(kind.title),
                icon=kind.icon,
                key=f"kind-{kind.key}",
                type="secondary" if kind.key == chosen else "tertiary",
                on_click=recipes.choose_kind,
                args=(kind.key,),
                width="stretch",
            )
            st.caption(("✓ " if kind.key == chosen else "") + _(kind.text))
    return chosen


def choose_recipe(curator: Curator, kind: str) -> Recipe | None:
    """The recipe that the form says; None while something is missing."""
    table = curator.account.dataset  # each data set has columns of its own
    return FORMS[kind](curator, list(curator.schema.domain.names), table)


def choose_part(curator: Curator) -> dict[str, str]:
    """The one part of the table that is read, {column: category}; empty for the whole table."""
    columns = [each for each in curator.schema.columns if isinstance(each, Categorical | Boolean)]
    names = [each.name for each in columns if not each.from_data]
    if not names:
        return {}
    key = f"part-{curator.account.dataset}"
    with st.expander(_("Only a part of the table")):
        name = st.selectbox(
            _("Column whose values make the parts"), names, index=None, key=key, persist_state="session"
        )
        if name is None:
            return {}
        label = st.selectbox(
            _("Only rows with {column} =").format(column=plain(name)),
            curator.schema.column(name).labels,
            key=f"{key}-{name}",
            persist_state="session",
        )
        st.caption(
            _("Every part costs as much as all rows.")
            if curator.account.source
            else _(
                "Parts share nobody: releases of all parts of one column cost as much as the dearest of them."
            )
        )
    return {name: label}


def _histogram(curator: Curator, names: list[str], table: str) -> Recipe | None:
    column = st.selectbox(
        _("Column"),
        [*names, ""],
        format_func=lambda name: name or _("(none: the number of rows alone)"),
        key=f"histogram-column-{table}",
        persist_state="session",
    )
    return Histogram(column) if column else Marginals(cliques=((),))


def _marginals(curator: Curator, names: list[str], table: str) -> Recipe | None:
    sets = st.multiselect(
        _("Columns that should be counted together"),
        names,
        key=f"marginal-columns-{table}",
        persist_state="session",
    )
    ways = st.radio(
        _("Which tables"),
        ["one", "pairs", "all"],
        index=1,
        format_func={
            "one": _("each column alone"),
            "pairs": _("every pair"),
            "all": _("all together, one table"),
        }.get,
        key="marginal-ways",
        persist_state="session",
    )
    cliques = recipes.cliques(sets, ways)
    return Marginals(cliques=tuple(cliques)) if cliques else None


def _table(curator: Curator, names: list[str], table: str) -> Recipe | None:
    columns = st.multiselect(
        _("Columns of the table"), names, names, key=f"table-columns-{table}", persist_state="session"
    )
    relations = st.radio(
        _("Relations between columns"),
        list(recipes.RELATIONS),
        format_func=recipes.RELATIONS.get,
        key="table-relations",
        persist_state="session",
    )
    constraints, weights = Constraints(), {}
    if relations in ("adaptive", "tree"):
        constraints = _facts(curator, columns, table)
    if relations == "adaptive" and len(columns) > 1:
        weights = _important_pairs(columns, table)
    ordered = [c.name for c in curator.schema.columns if c.name in columns and isinstance(c, IntervalColumn)]
    return recipes.table_recipe(columns, relations, constraints=constraints, weights=weights, ordered=ordered)


def _important_pairs(columns: list[str], table: str) -> dict[tuple[str, ...], float]:
    """Pairs of columns that matter more than others, clicked in a grid."""
    pairs = list(itertools.combinations(columns, 2))
    with st.expander(_("Pairs that matter most")):
        chosen = st.multiselect(
            _("Every pair counts; these should come out best, and count four times"),
            pairs,
            format_func=" × ".join,
            placeholder=_("Type the name of a column"),
            key=f"pairs-chosen-{table}-{len(columns)}",
        )
        if len(columns) <= widgets.READABLE:  # a square of more could not be hit
            clicked = session.Selection(f"pairs-{table}-{len(columns)}", "pairs")
            st.caption(_("Or click them here."))
            widgets.show_clickable(pair_grid(columns), clicked)
            chosen = [*chosen, *((pair["first"], pair["second"]) for pair in clicked.points())]
    return {tuple(pair): 4.0 for pair in chosen}


def _facts(curator: Curator, columns: list[str], table: str) -> Constraints:
    """What every row must keep, known from outside."""
    key = f"facts-{table}"
    facts = session.own(SynthesizeState).facts.get(table, ())

    def keep(facts: tuple[Impossible | Determines, ...]) -> None:
        session.own(SynthesizeState).facts[table] = facts

    with st.expander(_("Facts that every row must keep ({number})").format(number=len(facts))):
        for i, fact in enumerate(facts):
            left, right = st.columns([5, 1], vertical_alignment="center")
            left.markdown(plain(recipes.fact_words(curator, fact), at_most=300))
            right.button(
                _("Remove"),
                key=f"{key}-remove-{i}",
                on_click=keep,
                args=(facts[:i] + facts[i + 1 :],),
            )
        for i, suggestion in enumerate(suggest_facts(curator.schema)):
            if suggestion.fact in facts or not recipes.fact_columns(suggestion.fact) <= set(columns):
                continue
            left, right = st.columns([5, 1], vertical_alignment="center")
            words = recipes.fact_words(curator, suggestion.fact)
            left.markdown(plain(f"{words} ({said(suggestion.reason)})", at_most=300))
            right.button(
                _("Add"),
                key=f"{key}-suggested-{i}",
                on_click=keep,
                args=((*facts, suggestion.fact),),
            )
        kind = st.radio(
            _("Add a fact"),
            ["impossible", "determines"],
            format_func={
                "impossible": _("two values never meet in one row"),
                "determines": _("one column decides another"),
            }.get,
            horizontal=True,
            key=f"{key}-kind",
        )
        if len(columns) > 1:
            left, right = st.columns(2)
            first = left.selectbox(_("Column"), columns, key=f"{key}-first")
            second = right.selectbox(
                _("and column") if kind == "impossible" else _("decides column"),
                [name for name in columns if name != first],
                key=f"{key}-second",
            )
            added = (_impossible if kind == "impossible" else _determines)(curator, first, second, key)
            st.button(
                _("Add this fact"),
                disabled=added is None,
                key=f"{key}-add",
                on_click=keep,
                args=((*facts, added),),
            )
    used = [fact for fact in facts if recipes.fact_columns(fact) <= set(columns)]
    constraints = Constraints(
        impossible=tuple(fact for fact in used if isinstance(fact, Impossible)),
        determines=tuple(fact for fact in used if isinstance(fact, Determines)),
    )
    try:
        constraints.check(curator.schema.domain)
    except DpcoreError as error:
        widgets.error_box(error)
        return Constraints()
    return constraints


def _impossible(curator: Curator, first: str, second: str, key: str) -> Impossible | None:
    chosen = []
    for side, name in zip(st.columns(2), (first, second), strict=True):
        labels = curator.schema.column(name).labels
        picked = side.multiselect(
            _("Values"), range(len(labels)), format_func=labels.__getitem__, key=f"{key}-{name}"
        )
        chosen.append(tuple(picked))
    return Impossible(columns=(first, second), cells=tuple(chosen)) if all(chosen) else None


def _determines(curator: Curator, first: str, second: str, key: str) -> Determines | None:
    of, to = curator.schema.column(first).labels, curator.schema.column(second).labels
    if len(of) > 200:
        st.caption(_("This column has too many values to write down by hand."))
        return None
    grid = st.data_editor(
        pd.DataFrame({"value": of, "decides": [None] * len(of)}),
        hide_index=True,
        disabled=["value"],
        column_config={
            "value": st.column_config.TextColumn(_("value")),
            "decides": st.column_config.SelectboxColumn(_("decides"), options=list(to)),
        },
        key=f"{key}-{first}-{second}",
        alt=_("One line per value of the first column: the value of the second that it decides"),
    )
    if grid["decides"].isna().any():
        return None
    return Determines(column=first, target=second, cells=tuple(to.index(value) for value in grid["decides"]))


FORMS = {
    "histogram": _histogram,
    "marginals": _marginals,
    "table": _table,
    "learning": learning.choose_learning,
    "statistics": learning.choose_statistics,
}
"""What each card of `recipes.KINDS` asks."""
