"""Form for a synthetic table, with its relations and facts about every row."""

import itertools
from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from dpcore.accounting.loss import Loss
from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.schema import IntervalColumn
from dpcore.synthesis import Adaptive, Independent, Joint, Recipe, SomeColumns, Tree
from dpcore.synthesis.discrete.constraints import (
    Constraints,
    FunctionalDependency,
    ImpossibleCombination,
    never_above_rules,
)
from dpcore.synthesis.discrete.recipes import table_recipe_arguments
from dpcore.synthesis.discrete.suggested import suggest_facts
from dpcore.synthesis.relations import RelationTrial
from workbench import session
from workbench.language.labels import cell_labels
from workbench.language.messages import (
    N_,
    _,
    capital,
    join,
    join_with_commas,
    name_and_text,
    translate,
    translate_table,
)
from workbench.language.wording import escape_markdown, percent
from workbench.synthesize.charts import pair_grid
from workbench.synthesize.recipe_form import RecipeForm
from workbench.synthesize.state import Fact, SynthesizeState
from workbench.ui import widgets

CHOSEN_RELATIONS = session.Widget[str]("table-relations")
RELATION_CHOICES = {
    "adaptive": N_("keep as many as the budget allows (Adaptive)"),
    "tree": N_("keep the strongest ones, as a quick preview (Tree)"),
    "joint": N_("keep all of them, for a few columns only (Joint)"),
    "independent": N_("drop the relations (Independent)"),
}
MAX_VALUES_TYPED = (
    200  # values of a column up to which a person can write what each decides
)


class TableForm(RecipeForm):
    kind = "table"
    place = 3
    title = N_("A whole table")
    icon = "table_rows"
    text = N_("Invented rows that follow the noisy counts. No row belongs to a person.")

    @classmethod
    def choose(cls, curator: Curator, names: list[str], table: str) -> Recipe | None:
        columns = st.multiselect(
            capital("columns"),
            names,
            names,
            key=f"table-columns-{table}",
            persist_state="session",
            wrap=True,
        )
        relations = widgets.ask_by_title(
            st.radio,
            _("Relations between columns"),
            translate_table(RELATION_CHOICES),
            key=CHOSEN_RELATIONS.key,
            persist_state="session",
        )
        if relations in ("joint", "independent"):
            kind = Joint if relations == "joint" else Independent
            return kind(columns=tuple(columns)) if columns else None
        constraints = _ask_facts(curator, columns, table)
        order = table_recipe_arguments(
            column for column in curator.schema.columns if column.name in columns
        )
        order["copies"] = _ask_copies(order["copies"], table)
        recipe: Recipe = Tree(**order, constraints=constraints)
        if relations == "adaptive":
            weights, target = (
                _ask_important_pairs(columns, table) if len(columns) > 1 else ({}, "")
            )
            recipe = Adaptive(
                **order, constraints=constraints, weights=weights, target=target
            )
        return SomeColumns(columns=tuple(columns), recipe=recipe) if columns else None

    @classmethod
    def fill_in(cls, names: list[str], table: str) -> None:
        session.Widget[list[str]](f"table-columns-{table}").put(names)

    @classmethod
    def remedies(cls, recipe: Any) -> list[tuple[str, Callable[[], None]]]:
        if not recipe.chooses_pairs:
            return []
        return [
            (
                capital("drop the relations (Independent)"),
                lambda: CHOSEN_RELATIONS.put("independent"),
            )
        ]

    @classmethod
    def expectation_sentences(
        cls, recipe: Any, curator: Curator, loss: Loss, rows: float
    ) -> list[str]:
        sentences = super().expectation_sentences(recipe, curator, loss, rows)
        inner = getattr(recipe, "recipe", None)
        if not (isinstance(inner, Adaptive) and inner.target and rows):
            return sentences
        domain = curator.schema.domain.project(recipe.columns)
        lead = inner.sufficient_lead(domain, loss, curator.schema.unit.max_rows, rows)
        # The distance counts each row that lies elsewhere twice.
        share = lead / (2 * rows)
        sentence = (
            _(
                "In 95 of 100 cases the program finds the column that says most "
                "about {target}, if that column leads the next one by {share} of "
                "the rows. What counts is how many rows lie in other cells than "
                "they would if the two columns were independent."
            )
            if share < 1
            else _(
                "The table is too small for this loss: noise decides which column "
                "is chosen as the best predictor of {target}."
            )
        )
        return [
            *sentences,
            sentence.format(target=escape_markdown(inner.target), share=percent(share)),
        ]

    @classmethod
    def trial(
        cls, recipe: Any, curator: Curator, loss: Loss, rows: float
    ) -> RelationTrial | None:
        return RelationTrial.for_recipe(recipe, curator.schema, loss, rows)


def _ask_copies(
    candidates: tuple[FunctionalDependency, ...], table: str
) -> tuple[FunctionalDependency, ...]:
    """Ask whether to look for columns that, by their names, may repeat another one."""
    if not candidates:
        return ()
    pairs = join_with_commas(
        escape_markdown(f"{each.column} = {each.target}") for each in candidates
    )
    wanted = st.checkbox(
        _("Look for columns that repeat another column: {pairs}").format(pairs=pairs),
        True,
        key=f"copies-{table}",
        persist_state="session",
        help=_(
            "The names suggest that these columns hold the same values. One noisy "
            "number for each column shows whether nearly all rows agree. Together "
            "these numbers cost a fiftieth of the price. If the rows agree, drawn "
            "rows repeat the value."
        ),
    )
    return candidates if wanted else ()


def _ask_important_pairs(
    columns: list[str], table: str
) -> tuple[dict[tuple[str, ...], float], str]:
    """Ask for the most important pairs: by name, in a grid, or by a target column.

    Returns: their weights, and the target or "".
    """
    pairs = list(itertools.combinations(columns, 2))
    with st.expander(_("Pairs that matter most")):
        important = st.multiselect(
            _("Pairs that count four times, so that they are the most accurate"),
            pairs,
            format_func=" × ".join,
            placeholder=_("Find a column by its name"),
            key=f"pairs-chosen-{table}-{len(columns)}",
        )
        # with more columns, squares are too small to click
        if len(columns) <= widgets.MAX_MAP_COLUMNS:
            clicked = session.Selection(f"pairs-{table}-{len(columns)}", "pairs")
            widgets.show_clickable(pair_grid(columns), clicked)
            important = [
                *important,
                *((pair["first"], pair["second"]) for pair in clicked.clicked_marks()),
            ]
        target = st.selectbox(
            _("Column to predict"),
            columns,
            index=None,
            placeholder=_("Find a column by its name"),
            help=_(
                "The program first measures the strongest relation of this column, "
                "found by one private choice. All pairs with this column count four "
                "times as much. If no single column predicts this column, the "
                "program tries two and three columns together."
            ),
            key=f"target-{table}-{len(columns)}",
            persist_state="session",
        )
    weights = {
        tuple(pair): 4.0
        for pair in (*important, *(pair for pair in pairs if target in pair))
    }
    return weights, target or ""


def _ask_facts(curator: Curator, columns: list[str], table: str) -> Constraints:
    """Ask for publicly known facts about every row; return them.

    A fact that is typed after figures of the table were seen counts as taken from it.
    """
    key = f"facts-{table}"
    state = session.own(SynthesizeState)
    facts = state.facts.get(table, ())
    marked = state.facts_from_data.get(table, frozenset())

    def keep(facts: tuple[Fact, ...]) -> None:
        state.facts[table] = facts
        state.facts_from_data[table] = marked & frozenset(facts)

    def add_typed(fact: Fact) -> None:
        keep((*facts, fact))
        if _figures_were_seen(curator):
            state.facts_from_data[table] = marked | {fact}

    def line(text: str, button: str, name: str, facts: tuple[Fact, ...]) -> None:
        left, right = st.columns([5, 1], vertical_alignment="center")
        left.markdown(escape_markdown(text, max_length=300))
        right.button(button, key=f"{key}-{name}", on_click=keep, args=(facts,))

    with st.expander(
        _("Facts that hold for every row ({number})").format(number=len(facts))
    ):
        for i, fact in enumerate(facts):
            line(
                fact_words(curator, fact),
                _("Remove"),
                f"remove-{i}",
                facts[:i] + facts[i + 1 :],
            )
        for i, suggestion in enumerate(suggest_facts(curator.schema)):
            if suggestion.fact not in facts and fact_columns(suggestion.fact) <= set(
                columns
            ):
                text = (
                    f"{fact_words(curator, suggestion.fact)} "
                    f"({translate(suggestion.reason)})"
                )
                line(text, _("Add"), f"suggested-{i}", (*facts, suggestion.fact))
        added = _ask_new_fact(curator, columns, key)
        if len(columns) > 1:
            st.button(
                _("Add"),
                disabled=added is None,
                key=f"{key}-add",
                on_click=add_typed,
                args=(added,),
            )
            if _figures_were_seen(curator):
                st.caption(
                    _(
                        "You have seen figures of this table. Every guarantee will "
                        "say that a fact you type now was taken from the data."
                    )
                )
    used = [fact for fact in facts if fact_columns(fact) <= set(columns)]
    rules = [
        rule for fact in used for rule in (fact if isinstance(fact, tuple) else [fact])
    ]
    constraints = Constraints(
        impossible=tuple(
            rule for rule in rules if isinstance(rule, ImpossibleCombination)
        ),
        determines=tuple(
            rule for rule in rules if isinstance(rule, FunctionalDependency)
        ),
        from_data=tuple(
            sorted(set().union(*(fact_columns(fact) for fact in marked & {*used})))
        ),
    )
    try:
        constraints.check(curator.schema.domain)
    except DpcoreError as error:
        widgets.error_box(error)
        return Constraints()
    return constraints


def _figures_were_seen(curator: Curator) -> bool:
    """Return whether figures of the rows were seen that nobody paid for."""
    return any(
        line.state == "outside" and "evaluation" in line.content
        for line in curator.lines()
    )


def _ask_new_fact(curator: Curator, columns: list[str], key: str) -> Fact | None:
    kinds = {
        "×": _("two values never occur in the same row"),
        "→": _("one column determines another"),
        "≤": _("one column never exceeds another by more than the width of a cell"),
    }
    kind = widgets.ask_by_title(
        st.radio, _("Add"), kinds, horizontal=True, key=f"{key}-kind"
    )
    if len(columns) < 2:
        return None
    ordered = {
        column.name: column
        for column in curator.schema.columns
        if isinstance(column, IntervalColumn)
        and column.source_columns == (column.name,)
    }
    names = [name for name in columns if kind != "≤" or name in ordered]
    left, right = st.columns(2)
    first = left.selectbox(capital("column"), names, key=f"{key}-first")
    if kind == "≤":
        days = [name for name in names if ordered[name].holds_days]
        names = days if first in days else [name for name in names if name not in days]
    second = right.selectbox(
        kind, [name for name in names if name != first], key=f"{key}-second"
    )
    if kind == "≤":
        return (
            never_above_rules(ordered[first], ordered[second]) or None
            if second
            else None
        )
    return (_ask_impossible if kind == "×" else _ask_determines)(
        curator, first, second, key
    )


def _ask_impossible(
    curator: Curator, first: str, second: str, key: str
) -> ImpossibleCombination | None:
    cells = []
    for side, name in zip(st.columns(2), (first, second), strict=True):
        labels = dict(enumerate(cell_labels(curator.schema.column(name))))
        cells.append(
            widgets.ask_by_title(
                side.multiselect, capital("values"), labels, key=f"{key}-{name}"
            )
        )
    return (
        ImpossibleCombination(columns=(first, second), cells=tuple(map(tuple, cells)))
        if all(cells)
        else None
    )


def _ask_determines(
    curator: Curator, first: str, second: str, key: str
) -> FunctionalDependency | None:
    of = cell_labels(curator.schema.column(first))
    to = cell_labels(curator.schema.column(second))
    if len(of) > MAX_VALUES_TYPED:
        st.caption(_("This column has too many values to fill in by hand."))
        return None
    grid = st.data_editor(
        pd.DataFrame({"value": of, "decides": [None] * len(of)}),
        hide_index=True,
        disabled=["value"],
        column_config={
            "value": st.column_config.TextColumn(first),
            "decides": st.column_config.SelectboxColumn(second, options=list(to)),
        },
        key=f"{key}-{first}-{second}",
        alt=f"{first} → {second}",
    )
    if grid["decides"].isna().any():
        return None
    return FunctionalDependency(
        column=first,
        target=second,
        cells=tuple(to.index(value) for value in grid["decides"]),
    )


def fact_columns(fact: Fact) -> set[str]:
    """Return the columns of a fact."""
    rule = fact[0] if isinstance(fact, tuple) else fact
    return (
        set(rule.columns)
        if isinstance(rule, ImpossibleCombination)
        else {rule.column, rule.target}
    )


def fact_words(curator: Curator, fact: Fact) -> str:
    """Return a fact as a sentence."""
    if isinstance(fact, tuple):
        return " ≤ ".join(fact[0].columns)
    if isinstance(fact, FunctionalDependency):
        return f"{fact.column} → {fact.target}"
    sides = [
        f"{name} = "
        + " | ".join(map(cell_labels(curator.schema.column(name)).__getitem__, cells))
        for name, cells in zip(fact.columns, fact.cells, strict=True)
    ]
    return name_and_text(_("never"), join(sides))
