"""Questions about facts that were taken from the table, in groups, one at a time."""

import dataclasses

import pandas as pd
import streamlit as st

from dpcore.schema import Categorical, Column, Integer, Schema
from workbench.session.draft import Draft
from workbench.ui import widgets
from workbench.ui.columns import rounded, values_words
from workbench.ui.language import Words, _, capital, commas, n_
from workbench.ui.wording import plain
from workbench.upload import facts
from workbench.upload.facts import FactQuestion
from workbench.upload.grid import LONGEST_SOURCE

SAYS = Words("upload.facts")

MOST_LABELS = 12
AGES = ((0, 99), (0, 119))


def ask(draft: Draft, schema: Schema) -> None:
    """Point out what looks wrong, and ask the next question."""
    _say_unread(draft, schema)
    joined = facts.twins(schema.columns)
    if joined:
        spelled = [f"{one} / {two}" for column in joined.values() for one, two in column.synonyms]
        st.info(_("Spelled in two ways: {labels}.").format(labels=plain(commas(spelled), at_most=300)))
        st.button(_("Join them"), on_click=facts.put, args=(draft, list(joined.values())))
    question = facts.next_question(draft, schema)
    if schema.taken:
        st.warning(
            SAYS.say("taken", columns=commas(plain(name) for name in schema.taken)), icon=":material/warning:"
        )
    if question is not None:
        with st.container(border=True):
            _ask(draft, schema, question)
    if draft.unconfirmed is not None:
        st.button(_("Take the last answer back"), on_click=facts.take_back, args=(draft,), type="tertiary")


def _say_unread(draft: Draft, schema: Schema) -> None:
    """Cells that are no number or date of their column; internal."""
    for column in schema.columns:
        cells = facts.unread(draft, column)
        if not cells:
            continue
        st.info(SAYS.say("unread", column=plain(column.name), cells=len(cells)))
        with st.expander(_("Show the cells of {column} (private)").format(column=plain(column.name))):
            widgets.internal_badge()
            st.write(commas(plain(text) for text in dict.fromkeys(cells[:1000])))


def _ask(draft: Draft, schema: Schema, question: FactQuestion) -> None:
    """One question, with the answers that it has."""
    if question.kind == "one":
        _ask_one(draft, schema, question)
        return
    if question.kind == "public":
        st.markdown(_("**Is this the same for every such table?** Then it is no secret of this one."))
        lines = {column.name: [values_words(column)] for column in question.columns}
        _show(lines, [_("declared")])
        _ask_ages(draft, question.columns)
        source, columns = _("plainly public"), list(question.columns)
        yes, no = _("Yes, this is plainly public"), _("Leave it as taken from this table")
    else:
        st.markdown(
            _("**These bounds are of this table alone.** Are the round ones wide enough for any such table?")
        )
        columns = [column for each in question.columns if (column := rounded(each)) is not None]
        lines = {
            old.name: [values_words(old), values_words(new)]
            for old, new in zip(question.columns, columns, strict=True)
        }
        _show(lines, [_("in this table"), _("round")])
        source, yes, no = (
            _("round bounds for any such table"),
            _("Use the round bounds"),
            _("Ask me about each"),
        )
    with st.container(horizontal=True):
        put = facts.put_rounded if question.kind == "round" else facts.put
        st.button(yes, on_click=put, args=(draft, columns, source))
        st.button(no, on_click=facts.leave, args=(draft, question))
    _say_more(question)


def _ask_one(draft: Draft, schema: Schema, question: FactQuestion) -> None:
    """One column by itself: where it is known from, or what to declare in its place."""
    column = question.columns[0]
    st.markdown(_("**Where is {column} known from?**").format(column=plain(column.name)))
    st.write(plain(values_words(column), at_most=300))
    few = facts.rare(draft, schema, column)
    if few:
        st.caption(
            _("Internal: fewer than {few} people hold {labels}.").format(
                few=facts.FEW, labels=plain(commas(few[:MOST_LABELS]), at_most=300)
            )
        )
    source = st.text_input(
        capital("known from"),
        key=f"known-{draft.dataset}-{draft.version}-{column.name}",
        max_chars=LONGEST_SOURCE,
    )
    with st.container(horizontal=True):
        st.button(
            _("It is known from there"),
            disabled=not source.strip(),
            on_click=facts.put,
            args=(draft, [column], source.strip()),
        )
        if few and isinstance(column, Categorical):
            st.button(
                _("Count the rare ones as other"),
                on_click=facts.put,
                args=(draft, [facts.without(column, few)], _("labels that ten people or more share")),
            )
        st.button(_("Leave it as taken from this table"), on_click=facts.leave, args=(draft, question))
    _say_more(question)


def _ask_ages(draft: Draft, columns: tuple[Column, ...]) -> None:
    """Up to which age each has a cell: by convention, whoever is in the table."""
    ages = [each for each in columns if isinstance(each, Integer) and (each.low, each.high) in AGES]
    for low, high in AGES:
        other = [dataclasses.replace(each, high=high) for each in ages if each.high != high]
        if other:
            label = _("Ages {low} to {high} instead").format(low=low, high=high)
            st.button(label, on_click=facts.put, args=(draft, other), type="tertiary")


def _show(lines: dict[str, list[str]], titles: list[str]) -> None:
    """Columns with what is declared of them."""
    frame = pd.DataFrame(list(lines.values()), columns=titles)
    frame.insert(0, _("column"), list(lines))
    st.dataframe(frame, hide_index=True)


def _say_more(question: FactQuestion) -> None:
    """Say how many columns are still to be asked about."""
    if question.more:
        st.caption(n_("more columns", question.more))
