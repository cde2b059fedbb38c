"""The three questions of the Data page: who is protected, what is publicly known, and the budget."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from dpcore.accounting.composition import Rule
from dpcore.accounting.loss import AnyLoss, loss_from
from dpcore.errors import DpcoreError
from dpcore.schema import PrivacyUnit, Schema
from workbench import session
from workbench.drafts import Draft
from workbench.store.likeness import Alike
from workbench.ui import epsilon_view, widgets
from workbench.ui.glossary import GLOSSARY
from workbench.ui.language import _, said
from workbench.ui.wording import KIND_WORDS, USUAL_DELTA, budget_words, percent, plain, unit_words
from workbench.upload import column_view, opening
from workbench.upload.grid import KINDS, from_grid

GRID, SINGLY = "grid", "one"
ONE, NAMED, DECLARED = "one", "named", "declared"
_FIRST = ["column", "kind", "known from outside"]


def ask_unit(draft: Draft) -> PrivacyUnit:
    """Who is protected, asked first; what the operator of a source declared can only be made stronger."""
    before, declared = draft.schema.unit, draft.declared
    table = f"{draft.dataset}-{before}"  # each table is asked about anew
    st.header(_("1 · Who is protected?"), help=GLOSSARY["privacy unit"])
    if declared is not None:
        st.info(
            _("Declared by whoever runs this source: {unit}. This cannot be weakened here.").format(
                unit=plain(unit_words(declared), at_most=200)
            ),
            icon=":material/lock:",
        )
        if declared.id_column is not None:
            return declared
        start = before.max_rows if before.covers(declared) else declared.max_rows
        return _ask_most_rows(table, least=declared.max_rows, start=start)
    ways = {
        ONE: _("one row"),
        NAMED: _("several rows, named by a column"),
        DECLARED: _("several rows, at most a number, named by no column"),
    }
    way = st.radio(
        _("A person has"),
        list(ways),
        index=list(ways).index(
            NAMED if before.id_column is not None else ONE if before.max_rows == 1 else DECLARED
        ),
        format_func=ways.__getitem__,
        key=f"unit-several-{table}",
        persist_state="session",
    )
    if way == ONE:
        return PrivacyUnit(max_rows=1)
    if way == DECLARED:
        return _ask_most_rows(table, least=1, start=before.max_rows)
    names = [str(name) for name in draft.frame.columns]
    left, right = st.columns(2)
    name = left.selectbox(
        _("Column that names the person"),
        names,
        index=names.index(before.id_column) if before.id_column in names else 0,
        key=f"unit-column-{table}",
        persist_state="session",
    )
    rows = right.number_input(
        _("Rows of one person that count, at most"),
        1,
        value=before.max_rows,
        key=f"unit-rows-{table}",
        persist_state="session",
    )
    unit = PrivacyUnit(max_rows=rows, id_column=name)
    people, kept = opening.shares_kept(draft, unit)
    st.caption(
        _("Internal: {people} of people have all their rows counted, and {kept} of rows count.").format(
            people=percent(people), kept=percent(kept)
        )
        + " "
        + _("More rows per person keep more of the table, and need that much more noise.")
    )
    return unit


def _ask_most_rows(table: str, *, least: int, start: int) -> PrivacyUnit:
    """A number of rows that no column lets anybody check."""
    rows = st.number_input(
        _("Rows of one person, at most"),
        least,
        value=start,
        key=f"unit-most-{table}",
        persist_state="session",
    )
    if rows > 1:
        st.caption(
            _(
                "Declared, and checked by nobody: whoever has more rows than this is protected less. "
                "A larger number protects more, and needs that much more noise."
            )
        )
    return PrivacyUnit(max_rows=rows)


def ask_schema(draft: Draft, unit: PrivacyUnit) -> Schema | None:
    """What is publicly known, column by column; None while it does not hold."""
    st.header(_("2 · What is publicly known?"), help=GLOSSARY["domain"])
    st.write(
        _(
            "Bounds and categories should be known without looking at this table. Those that were read from "
            "it are not ticked as known from outside: correct or confirm them, or every guarantee says so."
        )
    )
    ways = {GRID: _("all of them in a grid"), SINGLY: _("one column at a time")}
    way = st.segmented_control(
        _("Describe the columns"),
        list(ways),
        default=GRID,
        required=True,
        format_func=ways.__getitem__,
        key="schema-way",
        persist_state="session",
    )
    draft.edited = grid = column_view.ask(draft, unit) if way == SINGLY else _grid(draft)
    schema, problems = from_grid(grid, draft.schema, unit)
    for error in problems.values():
        widgets.error_box(error)
    from_data = schema.from_data if schema else {}
    if from_data:
        st.warning(
            _("Taken from this table: {columns}. These facts reveal something about it.").format(
                columns=", ".join(plain(name) for name in from_data)
            ),
            icon=":material/warning:",
        )
        st.button(_("All of this is known from outside"), on_click=opening.confirm_all, args=(draft,))
    elif draft.unconfirmed is not None:
        st.button(
            _("Take that back: not all is known from outside"), on_click=opening.take_back, args=(draft,)
        )
    if schema:
        fits = opening.check_table(draft, schema)
        with st.expander(_("Check against the table (internal)"), expanded=bool(fits.refused)):
            widgets.internal_badge()
            st.dataframe(fits.table, hide_index=True)
        if fits.refused:
            st.error(
                _(
                    "Some values have no cell to go to in: {columns}. Add categories, tick a cell for other "
                    "or missing, or leave the column out."
                ).format(columns=", ".join(plain(name) for name in fits.refused))
            )
            return None
    return schema


def _grid(draft: Draft) -> pd.DataFrame:
    """Every column as a line that can be edited."""
    editor = session.Widget[object](f"grid-{draft.dataset}-{draft.version}")
    if editor.value() is None:  # a new editor, or one that another page made forget its edits
        draft.grid = draft.edited
    edited: pd.DataFrame = st.data_editor(
        draft.grid,
        key=editor.key,
        hide_index=True,
        height="content" if len(draft.grid) <= 25 else "auto",
        column_order=[*_FIRST, *(str(name) for name in draft.grid if name not in _FIRST)],
        disabled=["column", "reason"],
        column_config={
            "column": st.column_config.TextColumn(_("column"), pinned=True),
            "kind": st.column_config.SelectboxColumn(
                _("kind"), options=KINDS, required=True, format_func=lambda kind: KIND_WORDS[str(kind)]
            ),
            "low": st.column_config.TextColumn(_("low")),
            "high": st.column_config.TextColumn(_("high")),
            "step": st.column_config.TextColumn(_("step or cuts")),
            "special": st.column_config.TextColumn(
                _("numbers with a cell of their own"),
                help=_("Such as a 0 that most people have. Drawn rows keep it exactly."),
            ),
            "categories": st.column_config.TextColumn(_("categories, with | between"), width="medium"),
            "other": st.column_config.CheckboxColumn(_("cell for other")),
            "missing": st.column_config.CheckboxColumn(_("cell for missing")),
            "known from outside": st.column_config.CheckboxColumn(_("known from outside")),
            "means missing": st.column_config.TextColumn(_("means missing, with | between")),
            "reason": st.column_config.TextColumn(_("why suggested"), width="large"),
        },
        alt=_("One line per column: kind, bounds, step, categories, and whether they are known from outside"),
    )
    return edited


def ask_budget(draft: Draft) -> AnyLoss | None:
    """All that may ever be spent; None while it does not hold."""
    st.header(_("3 · Budget"), help=GLOSSARY["budget"])
    account = session.ledger().account(draft.dataset)
    if account is not None:
        st.info(
            _(
                "This table was opened before, with a budget of {budget}. "
                "That budget stays, with what was spent."
            ).format(budget=budget_words(account))
        )
        return loss_from(account.promise)
    if draft.alike is not None and not _ask_alike(draft.alike):
        return None
    epsilon = epsilon_view.picker(
        _("All that may ever be spent on this table, epsilon"), key="budget", default=3.0, largest=10.0
    )
    epsilon_view.say(epsilon)
    chosen = st.radio(
        _("How charges add up"),
        list(Rule),
        captions=[GLOSSARY["basic composition"], GLOSSARY["zCDP"]],
        format_func={
            Rule.BASIC: _("basic: pure epsilon"),
            Rule.ZCDP: _("zCDP: epsilon with a delta"),
        }.__getitem__,
        key="budget-rule",
        persist_state="session",
    )
    rule = Rule(str(chosen))
    delta = USUAL_DELTA
    if not rule.pure:
        delta = st.text_input(
            _("delta"), USUAL_DELTA, key="budget-delta", help=GLOSSARY["delta"], persist_state="session"
        )
    try:
        return rule.stated(repr(epsilon), delta)
    except DpcoreError as error:
        widgets.error_box(error)
        return None


def _ask_alike(alike: Alike) -> bool:
    """Say which table it looks like, and whether it was answered."""
    st.warning(said(alike.sentence(plain(alike.name))), icon=":material/content_copy:")
    people = {"the same": _("yes, or I do not know"), "different": _("no, other people")}
    answer = st.radio(
        _("Are both tables about the same people?"),
        list(people),
        index=None,
        format_func=lambda value: people[value],
        key=opening.ALIKE.key,
    )
    return answer is not None
