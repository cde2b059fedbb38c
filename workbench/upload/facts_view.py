"""Ask about facts taken from the table, one group of questions at a time."""

import dataclasses
from collections.abc import Sequence

import pandas as pd
import streamlit as st

from dpcore.accounting.ledger import Account
from dpcore.accounting.loss import AnyLoss
from dpcore.evaluation.table.cells_of_numbers import search_loss
from dpcore.schema import Categorical, Column, Integer, Schema
from workbench import session
from workbench.language.budget import share_percent
from workbench.language.columns import round_bounds, values_words
from workbench.language.messages import (
    N_,
    _,
    capital,
    join_with_commas,
    name_and_text,
    ngettext,
)
from workbench.language.wording import PLAINLY_PUBLIC, escape_markdown, list_names
from workbench.session.draft import Draft
from workbench.ui import widgets
from workbench.upload import facts
from workbench.upload.facts import FactItem, FactQuestion
from workbench.upload.grid import MAX_SOURCE_CHARACTERS, kind_title

ITEM_TITLES = {
    "values": N_("categories"),
    "bounds": N_("bounds and steps"),
    "missing": N_("cell for missing"),
    "missing_tokens": N_("means missing"),
    "synonyms": N_("counts as"),
    "other": N_("cell for other"),
    "unreadable_is_missing": N_("unreadable cells count as missing"),
    "spellings": N_("spellings that differ in case, blanks or Unicode form are joined"),
}

DOUBT_TEXTS = {
    "answer": (
        N_(
            "{column}: “{text}” occurs in {rows:,} of {all:,} rows and is read as "
            "missing. Is it really an answer, or a country code?"
        ),
        N_("“{text}” is an answer"),
        N_("“{text}” means missing"),
    ),
    "missing": (
        N_(
            "{column}: {text} occurs in {rows:,} of {all:,} rows, far from all "
            "other numbers. Does it mean missing?"
        ),
        N_("{text} means missing"),
        N_("{text} is a number"),
    ),
    "same": (
        N_(
            "{column}: do “{text}” ({rows:,} of {all:,} rows) and “{meaning}” mean the same?"
        ),
        N_("Count “{text}” as “{meaning}”"),
        N_("“{text}” is something else"),
    ),
}
"""Sentence, and the buttons for yes and no, of each kind of doubt."""
MAX_DOUBTS = 5  # asked at once
MAX_LABELS_SHOWN = 12  # rare labels named in a sentence
# At most this many characters of a fact that becomes public are shown; a column has at
# most 200 labels.
MAX_CHARACTERS_SHOWN = 20_000
AGE_RANGES = (
    (0, 99),
    (0, 119),
)  # usual ranges of ages, which do not depend on the table


def ask_about_facts(draft: Draft, schema: Schema) -> None:
    """Point out problems, and ask the next question."""
    _say_unread(draft, schema)
    _ask_doubts(draft, schema)
    _ask_missing(draft)
    joined = facts.join_spellings(schema.columns)
    if joined:
        spelled = [
            " / ".join(labels)
            for column in schema.columns
            for labels in facts.spelling_groups(column)
        ]
        st.info(
            _("Spelled in two ways: {labels}.").format(
                labels=escape_markdown(join_with_commas(spelled), max_length=300)
            )
        )
        st.button(
            _("Join them"),
            on_click=facts.put_columns,
            args=(draft, list(joined.values())),
        )
    question = facts.next_question(draft, schema)
    if schema.columns_from_data:
        st.warning(
            _(
                "Taken from this table: {columns}. If you publish these facts, they "
                "reveal something about the table."
            ).format(
                columns=join_with_commas(
                    escape_markdown(name) for name in schema.columns_from_data
                )
            ),
            icon=":material/warning:",
        )
    if question is not None:
        with st.container(border=True):
            _ask_question(draft, schema, question)
    if draft.answers.grid_before is not None:
        st.button(
            _("Undo"),
            on_click=facts.undo_answer,
            args=(draft,),
            type="tertiary",
        )


def _ask_missing(draft: Draft) -> None:
    """Ask once for the whole table whether cells can be empty."""
    answers = {True: _("yes, or I do not know"), False: _("no, never")}
    key = f"missing-{draft.dataset}"
    field = session.Widget[bool](key)
    widgets.choose(
        _("Can cells be empty in a table of this kind?"),
        answers,
        key=key,
        persist_state="session",
        help=_(
            "Think of any table of this kind, not of this one. If you say no, there "
            "is no cell for missing values, and a table with an empty cell is "
            "refused."
        ),
        on_change=lambda: facts.put_missing(draft, bool(field.current_value())),
    )


def _ask_doubts(draft: Draft, schema: Schema) -> None:
    """Ask about values that may mean something else; internal."""
    for doubt in facts.open_doubts(draft, schema)[:MAX_DOUBTS]:
        sentence, yes, no = DOUBT_TEXTS[doubt.kind]
        column, text, meaning = map(
            escape_markdown, (doubt.column, doubt.text, doubt.meaning)
        )
        st.info(
            _(sentence).format(
                column=column,
                text=text,
                meaning=meaning,
                rows=doubt.rows,
                all=len(draft.frame),
            )
        )
        with st.container(horizontal=True):
            for label, is_true in ((yes, True), (no, False)):
                st.button(
                    _(label).format(text=text, meaning=meaning),
                    key=f"doubt-{draft.version}-{doubt.column}-{doubt.text}-{is_true}",
                    on_click=facts.settle_doubt,
                    args=(draft, schema, doubt),
                    kwargs={"is_true": is_true},
                )


def _say_unread(draft: Draft, schema: Schema) -> None:
    """Name the cells that cannot be read as a number or date; internal."""
    for column in schema.columns:
        cells = facts.unread_cells(draft, column)
        if not cells:
            continue
        st.info(
            _(
                "{column}: {cells} cells cannot be read. They count as missing"
                " unless you correct them."
            ).format(column=escape_markdown(column.name), cells=len(cells))
        )
        with st.expander(
            _("Show the cells of {column} (private)").format(
                column=escape_markdown(column.name)
            )
        ):
            widgets.show_internal_badge()
            st.write(
                join_with_commas(
                    escape_markdown(text) for text in dict.fromkeys(cells[:1000])
                )
            )


def _ask_question(draft: Draft, schema: Schema, question: FactQuestion) -> None:
    """Ask one question, with its answers."""
    if question.kind == "one":
        _ask_about_column(draft, schema, question)
        return
    if question.kind == "public":
        st.markdown(
            _(
                "**Would any table of this kind have the same values?** Then they "
                "are no secret."
            )
        )
        st.caption(
            _(
                "Only ticked items become public: tick what you would print. Labels "
                "that only few people have are listed first."
            )
        )
        ticked = _ask_items(draft, schema, question)
        _ask_ages(draft, question.columns)
        with st.container(horizontal=True):
            st.button(
                _("Yes, this is plainly public"),
                on_click=facts.put_public,
                args=(draft, ticked, question, _(PLAINLY_PUBLIC)),
            )
            st.button(
                _("No, keep the warning"),
                on_click=facts.leave_as_taken,
                args=(draft, question),
            )
    else:
        st.markdown(
            _(
                "**These bounds come from this table.** Round bounds reveal less "
                "about it."
            )
        )
        columns = [
            column
            for before in question.columns
            if (column := round_bounds(before)) is not None
        ]
        lines = {
            old.name: [values_words(old), values_words(new)]
            for old, new in zip(question.columns, columns, strict=True)
        }
        _show_declarations(lines, [_("in this table"), _("round")])
        st.caption(
            _(
                "Round bounds are still derived from this table. Every guarantee "
                "says so until you state below where else such bounds are known "
                "from."
            )
        )
        with st.container(horizontal=True):
            st.button(
                _("Use the round bounds"),
                on_click=facts.put_rounded,
                args=(draft, columns),
            )
            st.button(
                _("Ask me about each"),
                on_click=facts.leave_as_taken,
                args=(draft, question),
            )
    _say_columns_after(question)


def say_search_cost(dataset: str, columns: Sequence[str], budget: AnyLoss) -> None:
    """Say what opening costs at once, if cells of numbers are found with noise.

    Args:
        dataset: account id.
        columns: whose cells are found.
        budget: in total.
    """
    if not columns:
        return
    account = Account.for_budget(dataset, {}, budget)
    units = account.rule.to_units(account.rule.convert(search_loss(budget)))
    st.caption(
        _(
            "Opening spends {share} of the budget at once, to find the cells of {columns} "
            "with noise. Whoever declares them above spends nothing."
        ).format(share=share_percent(units, account), columns=list_names(columns))
    )


def _ask_items(draft: Draft, schema: Schema, question: FactQuestion) -> list[FactItem]:
    """Show each item that would become public, with a tick; return the ticked."""
    ticked = []
    for item in facts.items_of(draft, schema, question):
        what = _(
            ITEM_TITLES[
                "bounds"
                if item.kind == "values" and "low" in item.column.facts
                else item.kind
            ]
        )
        kind = kind_title(item.column.kind) if item.kind == "values" else ""
        label = name_and_text(
            f"{escape_markdown(item.column.name)} · {what}{f' ({kind})' if kind else ''}",
            escape_markdown(
                join_with_commas(item.content) or _("none"),
                max_length=MAX_CHARACTERS_SHOWN,
            ),
        )
        key = f"public-{draft.dataset}-{draft.version}-{item.column.name}-{item.kind}"
        if st.checkbox(label, item.is_proposed, key=key):
            ticked.append(item)
    return ticked


def _ask_about_column(draft: Draft, schema: Schema, question: FactQuestion) -> None:
    """Ask about one column: its public source, or another declaration."""
    column = question.columns[0]
    st.markdown(
        _("**Where is {column} known from?**").format(
            column=escape_markdown(column.name)
        )
    )
    ticked = _ask_items(draft, schema, question)
    few = facts.rare_spellings(draft, schema, column)
    if few:
        st.caption(
            _(
                "Internal: each of these values belongs to fewer than {few} "
                "people: {labels}."
            ).format(
                few=facts.RARE_BELOW,
                labels=escape_markdown(
                    join_with_commas(few[:MAX_LABELS_SHOWN]), max_length=300
                ),
            ),
        )
    source = st.text_input(
        capital("known from"),
        key=f"known-{draft.dataset}-{draft.version}-{column.name}",
        max_chars=MAX_SOURCE_CHARACTERS,
    )
    with st.container(horizontal=True):
        st.button(
            _("Use this as the source"),
            disabled=not source.strip(),
            on_click=facts.put_public,
            args=(draft, ticked, question, source.strip()),
        )
        labels = facts.rare_labels(draft, schema, column)
        if isinstance(column, Categorical) and labels:
            st.button(
                _("Count rare labels as other"),
                on_click=facts.put_columns,
                args=(draft, [facts.drop_labels(column, labels)]),
                help=_(
                    "The program looks in this table to see which labels are rare, "
                    "so the list stays marked as taken from the data."
                ),
            )
        st.button(
            _("No, keep the warning"),
            on_click=facts.leave_as_taken,
            args=(draft, question),
        )
    _say_columns_after(question)


def _ask_ages(draft: Draft, columns: tuple[Column, ...]) -> None:
    """Offer conventional age ranges, which do not depend on the table."""
    ages = [
        column
        for column in columns
        if isinstance(column, Integer) and (column.low, column.high) in AGE_RANGES
    ]
    for low, high in AGE_RANGES:
        other = [
            dataclasses.replace(column, high=high)
            for column in ages
            if column.high != high
        ]
        if other:
            label = _("Use ages {low} to {high} instead").format(low=low, high=high)
            st.button(label, on_click=facts.put_ages, args=(draft, other))


def _show_declarations(lines: dict[str, list[str]], titles: list[str]) -> None:
    """Show a table of columns and their declarations."""
    frame = pd.DataFrame(list(lines.values()), columns=titles)
    frame.insert(0, _("column"), list(lines))
    st.dataframe(frame, hide_index=True, alt=_("Columns and their declarations"))


def _say_columns_after(question: FactQuestion) -> None:
    """Say how many more columns will be asked about."""
    if question.columns_after:
        st.caption(
            ngettext(
                "{number} more column comes after this.",
                "{number} more columns come after this.",
                question.columns_after,
            )
        )
