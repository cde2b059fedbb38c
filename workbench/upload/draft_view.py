"""The page of a draft: a proposal in a few lines, and controls to change it."""

import math
from collections.abc import Callable
from functools import partial

import streamlit as st

from dpcore.accounting.ledger import Account
from dpcore.accounting.loss import AnyLoss, Loss, loss_fields
from dpcore.evaluation.table.cells_of_numbers import search_loss
from dpcore.evaluation.utility.learning import MIN_NUMBER_COLUMNS, sort_by_likely_target
from dpcore.schema import PrivacyUnit, Schema
from dpcore.synthesis.gaussian.recipe import has_numbers
from dpcore.synthesis.proposal import NOISE_DROWNS, RELATIONS_LOST
from workbench import session
from workbench.language.budget import (
    amount_words,
    charged_units,
    delta_of,
    share_epsilon,
)
from workbench.language.messages import N_, _, ngettext, translate_table
from workbench.language.wording import (
    epsilon_words,
    escape_markdown,
    found_cells_words,
    list_names,
    loss_words,
    unit_words,
)
from workbench.session.draft import Draft, FileDraft, NamesDraft, SourceDraft
from workbench.store.policy import read_policy
from workbench.ui import file_view, reading_view, widgets
from workbench.upload import (
    facts_view,
    form,
    linked,
    opening,
    reading,
    sizing,
    source_view,
    unit_view,
)
from workbench.upload.opening import PLAN_TEXTS

PURPOSE_TITLES = {
    "report": N_("a board's report"),
    "open": N_("open data"),
    "learning": N_("training a model"),
    "analysis": N_("a colleague's analysis"),
}
RESULT_TITLES = {
    "marginals": N_("noisy counts of each column"),
    "table": N_(
        "made-up rows that keep as many relations between columns as the budget allows"
    ),
    "learning": N_("a table for learning, drawn class by class"),
}
KIND_BY_PURPOSE = {
    "report": "marginals",
    "open": "table",
    "learning": "learning",
    "analysis": "table",
}
RELEASE_PAGES = ("upload", "synthesize")  # pages that propose a release


def kind_of_release(draft: Draft, purpose: str) -> str:
    """Return the kind of release that is proposed for a purpose.

    A model learns little from a table drawn class by class that has too few columns of
    numbers beside the one to predict; a whole table keeps more of what categories tell.
    """
    kind = KIND_BY_PURPOSE[purpose]
    schema = draft.proposed_cells.schema or draft.schema
    if kind != "learning" or not schema.columns:
        return kind
    _target, *others = sort_by_likely_target(schema, schema.domain.names)
    numbers = sum(has_numbers(schema.column(name)) for name in others)
    return kind if numbers >= MIN_NUMBER_COLUMNS else "table"


def show(draft: Draft) -> None:
    """Show the proposal, the open questions, and all settings."""
    is_shared = draft.page in RELEASE_PAGES
    if isinstance(draft, NamesDraft):
        st.title(_(PLAN_TEXTS["title"]))
        st.write(
            _(
                "You type the names of the columns and what is publicly known "
                "about them. You get a quote, a codebook and a script to run "
                "where the data is. Nothing is uploaded. Say below what kind "
                "each column is, and its bounds or categories."
            )
        )
        label = _("About how many rows will the table have?")
        draft.expected_rows = st.number_input(
            label,
            1,
            value=draft.expected_rows,
            key="plan-rows",
            persist_state="session",
        )
    else:
        st.title(_("Share numbers or a table") if is_shared else _("Open the data set"))
        st.write(
            ngettext(
                "{number:,} row of {columns} columns",
                "{number:,} rows of {columns} columns",
                len(draft.frame),
                columns=len(draft.frame.columns),
            )
        )
    source_view.say_which_rows(draft)
    if isinstance(draft, FileDraft) and draft.read_result is not None:
        reading_view.show_reading("upload")
        if draft.read_result.undecided_columns:
            reading.ask_order(draft.read_result)
    purpose = (
        widgets.choose(
            _("What is it for?"),
            translate_table(PURPOSE_TITLES),
            key="purpose",
            persist_state="session",
        )
        if is_shared
        else ""
    )
    rows = _ask_rows(draft) if is_shared else None
    proposal = st.container()
    if is_shared:
        _offer_second_table(draft)
    questions = st.container()
    at_last = st.container()
    if isinstance(draft, FileDraft) and draft.read_result is not None:
        with questions:
            reading_view.ask_if_format_known(draft)
    named = draft.schema.unit.id_column is not None and not draft.is_sample
    with st.expander(_("1 · Who is protected?"), expanded=named):
        unit = unit_view.ask_unit(draft)
    known = st.expander(_("2 · What is publicly known?"), expanded=not draft.has_rows)
    with st.expander(_("3 · Budget")):
        columns = len(draft.schema.columns)
        budget = (
            form.ask_budget(draft, unit, at_last, columns=columns) if unit else None
        )
    epsilon = _proposed_epsilon(draft, budget, purpose) if budget and purpose else None
    if unit is not None and is_shared and not isinstance(draft, NamesDraft):
        sizing.fit_cells(
            draft,
            unit,
            _loss_of(draft, budget, epsilon) if budget and epsilon else None,
            kind_of_release(draft, purpose),
            rows=rows,
            finer=_finer_columns(draft).current_value() or [],
        )
    with known:
        ask_search = partial(form.ask_cell_search, draft, budget)
        schema = form.ask_schema(draft, unit, ask_search, questions) if unit else None
    with proposal:
        _show_proposal(draft, unit, schema, budget, purpose, epsilon, rows)
    show_file(draft)


def _ask_rows(draft: Draft) -> int | None:
    """Ask for the approximate number of rows, unless a sample or a plan states it.

    Nothing is preselected: a class that the program read from the rows would be a
    fact taken from them.
    """
    known = sizing.public_row_count(draft)
    if known is not None:
        if draft.is_sample:
            st.caption(_("About {rows:,} rows; samples are public.").format(rows=known))
        return known
    rows: int | None = widgets.ask_by_title(
        st.selectbox,
        _("About how many rows does the table have?"),
        {size: _(title) for size, title in sizing.SIZE_CLASSES.items()},
        index=None,
        placeholder=_("Choose one, and the program proposes steps that fit"),
        help=_(
            "Your answer becomes public. The program reads nothing from the table "
            "for this question, so the steps that it proposes from your answer are "
            "public too."
        ),
        key=f"size-{draft.dataset}",
        persist_state="session",
    )
    return rows


def _finer_columns(draft: Draft) -> session.Widget[list[str]]:
    return session.Widget[list[str]](f"finer-{draft.dataset}")


def _say_proposed_cells(draft: Draft, rows: int) -> None:
    """Name the columns with coarser cells and those left out, and offer finer ones."""
    proposed = draft.proposed_cells
    field = _finer_columns(draft)
    if not proposed.is_readable:
        st.warning(
            _(
                "**Too few rows.** With about {rows:,} rows, noise would hide every "
                "column, however wide its steps. Raise the budget below, or wait "
                "until there are more rows. Nothing is charged yet."
            ).format(rows=rows),
            icon=":material/warning:",
        )
        return
    lines = []
    if proposed.coarser_columns:
        sentence = _("**Coarser, so that counts are clear:** {columns}.")
        lines.append(sentence.format(columns=list_names(proposed.coarser_columns)))
    for reason, sentence in (
        (NOISE_DROWNS, _("**Left out, because noise would hide them:** {columns}.")),
        (
            RELATIONS_LOST,
            _(
                "**Left out, so that the other columns keep their relations:** "
                "{columns}."
            ),
        ),
    ):
        names = [
            name for name, why in proposed.unreadable_columns.items() if why == reason
        ]
        if names:
            lines.append(sentence.format(columns=list_names(names)))
    if lines:
        lines.append(
            _(
                "These steps follow from the number of rows you stated and "
                "from the bounds of the columns."
            )
        )
        st.markdown("  \n".join(lines))
    finer = dict.fromkeys(
        [
            *proposed.coarser_columns,
            *proposed.unreadable_columns,
            *(field.current_value() or []),
        ]
    )
    if finer:
        st.multiselect(
            _("Finer, with more noise"),
            list(finer),
            placeholder=_("Find a column by its name"),
            key=field.key,
            persist_state="session",
        )


def _proposed_epsilon(draft: Draft, budget: AnyLoss, purpose: str) -> float:
    """Return the epsilon that is proposed for a release."""
    account = Account.for_budget(draft.dataset, {}, budget)
    return min(
        share_epsilon(read_policy().proposed_share(purpose), account),
        read_policy().purposes.get(purpose, math.inf),
    )


def _loss_of(draft: Draft, budget: AnyLoss, epsilon: float) -> Loss:
    """Return the loss of a release under the rule of the account."""
    account = Account.for_budget(draft.dataset, {}, budget)
    stated = account.rule.make_loss(repr(epsilon), delta_of(account))
    return account.rule.convert(stated)


def _show_proposal(
    draft: Draft,
    unit: PrivacyUnit | None,
    schema: Schema | None,
    budget: AnyLoss | None,
    purpose: str,
    epsilon: float | None,
    rows: int | None,
) -> None:
    """Summarize the proposal, and offer to open the table.

    Args:
        purpose: empty for none.
        epsilon: of the release that is proposed; None for none.
        rows: about how many rows there are, as stated; None if nobody said it.
    """
    who = (
        escape_markdown(unit_words(unit), max_length=200)
        if unit
        else _("choose below how many rows per person count")
    )
    lines = [_("**Protected:** {unit}.").format(unit=who)]
    if schema is not None:
        lines.append(
            _("**Used:** {columns}.").format(columns=list_names(schema.domain.names))
        )
        if schema.excluded:
            left_out = list_names([column.name for column in schema.excluded])
            lines.append(_("**Left out:** {columns}.").format(columns=left_out))
        if draft.cell_search.columns and budget is not None:
            lines.append(
                found_cells_words(
                    draft.cell_search.columns, loss_fields(search_loss(budget))
                )
            )
    if budget is not None:
        most = loss_words(loss_fields(budget))
        if epsilon is None:
            lines.append(_("**Loss:** at most {most} in total.").format(most=most))
        else:
            account = Account.for_budget(draft.dataset, {}, budget)
            kind = kind_of_release(draft, purpose)
            lines.insert(
                0, _("**Result:** {result}.").format(result=_(RESULT_TITLES[kind]))
            )
            if kind != KIND_BY_PURPOSE[purpose]:
                lines.insert(
                    1,
                    _(
                        "Too few columns contain numbers for a table drawn class by "
                        "class. Made-up rows keep more of what the categories show."
                    ),
                )
            spent = _(
                "**Loss:** {cost} for this release, of at most {most} in total. "
                "{meaning}"
            )
            lines.append(
                spent.format(
                    cost=amount_words(charged_units(epsilon, account), account),
                    most=most,
                    meaning=epsilon_words(epsilon),
                )
            )
    st.markdown("  \n".join(lines))
    if rows is not None and schema is not None and not isinstance(draft, NamesDraft):
        _say_proposed_cells(draft, rows)
    ready = schema is not None and budget is not None
    is_shared = bool(purpose)
    plan = (
        session.PlanRelease(kind=kind_of_release(draft, purpose), epsilon=epsilon)
        if is_shared
        else None
    )
    with st.container(horizontal=True):
        if is_shared:
            st.button(
                _("See what you would get"),
                type="primary",
                disabled=not ready,
                on_click=opening.open_draft,
                args=(draft, schema, budget, plan),
            )
        if draft.has_rows:
            st.button(
                _("Open the data set"),
                type="secondary" if is_shared else "primary",
                disabled=not ready,
                on_click=opening.open_draft,
                args=(draft, schema, budget),
            )
        if draft.has_rows and st.button(
            _("Audit: is it anonymous?"), icon=":material/policy:"
        ):
            st.switch_page(session.page_script("audit"))
        st.button(_("Open another table"), on_click=opening.choose_table, args=(True,))
    if budget is None or schema is None:
        st.caption(
            _("Answer the open questions below first. Then you can open the table.")
        )
    else:
        facts_view.say_search_cost(draft.dataset, draft.cell_search.columns, budget)


def show_file(
    draft: Draft, on_codebook: Callable[[], None] = opening.take_codebook
) -> None:
    """Show the first rows of the table, and the codebook field.

    Args:
        on_codebook: called when a codebook was brought.
    """
    if draft.has_rows:
        with st.expander(_("Show the first rows (private)")):
            widgets.show_internal_badge()
            widgets.show_rows(draft.frame.head(20), alt=_("The first rows (private)"))
    with st.expander(_("Load a saved codebook")):
        file_view.file_uploader(
            _("Load a saved codebook"),
            type=["json"],
            key=session.file_field(opening.CODEBOOK).key,
            on_change=on_codebook,
        )


def _offer_second_table(draft: Draft) -> None:
    """Offer to bring a second table about the same people."""
    if draft.is_sample:
        return
    text, field = st.columns([3, 2], vertical_alignment="center")
    is_file = isinstance(draft, FileDraft)
    with text:
        question = (
            _("The same people have rows in a second file?")
            if is_file
            else _("The same people have rows in a second table?")
        )
        st.markdown(f"**{question}**")
        st.caption(
            _(
                "For example patients and their stays, or customers and their "
                "purchases. Both files are then protected together: one person with "
                "all rows in both."
            )
            if is_file
            else _(
                "For example patients and their stays, or customers and their "
                "purchases. Both tables are then protected together: one person with "
                "all rows in both."
            )
        )
    with field:
        if isinstance(draft, SourceDraft):
            source_view.offer_second_source(draft.source, linked.take_second_source)
        elif isinstance(draft, NamesDraft):
            _ask_second_names()
        else:
            file_view.file_uploader(
                _("The second file"),
                type=file_view.FILE_ENDINGS,
                key=session.file_field(linked.SECOND_FILE).key,
                on_change=linked.take_second_file,
            )


def _ask_second_names() -> None:
    """Ask for the names of the columns of a second table that is planned."""
    st.text_area(
        _("Names of the columns of the second table"),
        key=linked.SECOND_NAMES_FIELD.key,
        persist_state="session",
    )
    st.button(
        _("Plan both tables"),
        disabled=not linked.SECOND_NAMES_FIELD.current_value(),
        on_click=linked.take_second_names,
    )
