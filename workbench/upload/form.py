"""Two questions of the Data page: the public facts, and the budget."""

import math
from collections.abc import Callable

import pandas as pd
import streamlit as st
from streamlit import column_config as config
from streamlit.delta_generator import DeltaGenerator

from dpcore.accounting.composition import Rule
from dpcore.accounting.loss import AnyLoss, ApproxDP, loss_from_fields
from dpcore.errors import DpcoreError
from dpcore.evaluation.table.cells_of_numbers import (
    NumberCellsQuestion,
    largest_hidden_rows,
    search_loss,
)
from dpcore.schema import PrivacyUnit, Schema
from dpcore.synthesis.quote import column_count_error
from workbench import session
from workbench.language.budget import budget_words
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import (
    N_,
    _,
    join_with_commas,
    localize_number,
    translate,
    translate_table,
)
from workbench.language.wording import (
    DEFAULT_DELTA,
    delta_words,
    escape_markdown,
    number,
    percent,
)
from workbench.session.draft import CellSearchChoice, Draft, FileDraft, SourceDraft
from workbench.store.people.likeness import SimilarTable
from workbench.store.policy import PROPOSED_EPSILON, PROPOSED_SHARE, read_policy
from workbench.ui import epsilon_view, widgets
from workbench.upload import column_view, facts, facts_view, opening
from workbench.upload.column_view import HELP_TEXTS
from workbench.upload.grid import (
    HIDDEN_COLUMNS,
    KINDS,
    MAX_SOURCE_CHARACTERS,
    kind_title,
)

EXAMPLE_LARGER_DELTA = "1e-6"  # beside which the price of a smaller one is told
GRID = "grid"
ONE_BY_ONE = "one"
# A private search of cells is proposed if the table has at least this many times the
# rows that noise hides in the search.
MIN_ROWS_TO_HIDDEN_RATIO = 5
# Pure epsilon is proposed for at most this many columns; for more columns, zCDP needs
# less noise.
MAX_COLUMNS_FOR_PURE_EPSILON = 2
GRID_TITLES = {
    "column": N_("column"),
    "kind": N_("kind"),
    "low": N_("low"),
    "high": N_("high"),
    "step": N_("step, or cut points separated by commas"),
    "special": N_("special numbers, each with its own cell"),
    "decimals": N_("decimals"),
    "categories": N_("categories, separated by |"),
    "other": N_("cell for other"),
    "missing": N_("cell for missing"),
    "known from": N_("known from"),
    "means missing": N_("means missing, separated by |"),
    "counts as": N_("counts as, separated by |"),
    "reason": N_("why suggested"),
}
TICK_COLUMNS = ("other", "missing")
_FIRST_COLUMNS = ["column", "kind", "known from"]

PAGES_WITHOUT_CELLS = ("audit", "anonymize", "tables")
"""Pages that count no cells, if the table is opened for one of them."""


def ask_schema(
    draft: Draft,
    unit: PrivacyUnit,
    ask_search: Callable[[Schema], tuple[str, ...]],
    questions: DeltaGenerator,
) -> Schema | None:
    """Ask for the public facts of each column; None while some of them are invalid.

    Args:
        ask_search: asks whether to find cells privately, and returns the columns to
            search.
        questions: place in sight for open questions and errors.
    """
    st.markdown(
        _(
            "Bounds and categories should be known without looking at this table. "
            "If some were read from it, or were changed while the check below was "
            "in view, state under *known from* where else they are known. Otherwise "
            "every guarantee says that they were taken from the data."
        ),
        help=_(GLOSSARY["domain"]),
    )
    if draft.schema.excluded and draft.has_rows:
        st.caption(
            _(
                "These columns are left out because of their contents. If that is "
                "wrong, include them below:"
            )
        )
        st.dataframe(
            pd.DataFrame(
                {
                    _("column"): [column.name for column in draft.schema.excluded],
                    _("why"): [
                        translate(column.reason) for column in draft.schema.excluded
                    ],
                },
            ),
            hide_index=True,
            alt=_("Columns that are left out"),
        )
    search = st.container()
    ways = {GRID: _("all of them in a grid"), ONE_BY_ONE: _("one column at a time")}
    way = widgets.choose(
        _("Describe the columns"), ways, key="schema-way", persist_state="session"
    )
    draft.edited_grid = grid = (
        column_view.ask_column(draft, unit) if way == ONE_BY_ONE else _show_grid(draft)
    )
    schema, problems = opening.read_grid(draft, grid, unit)
    with search:
        searched = ask_search(schema) if schema and draft.has_rows else ()
    with questions:
        for name, error in problems.items():
            # A plan made of column names alone begins with no column: not yet an error.
            if name or draft.has_rows:
                widgets.error_box(error)
        if schema and draft.has_rows:
            facts_view.ask_about_facts(
                draft, facts.without_found_cells(schema, searched)
            )
    if schema and draft.has_rows:
        table, refused = opening.check_table(draft, schema)
        st.markdown(_("Check against the table (internal)"))
        widgets.show_internal_badge()
        st.dataframe(
            table, hide_index=True, alt=_("Check against the table (internal)")
        )
        if refused:
            questions.error(
                _(
                    "Some values in these columns have no cell: {columns}. Add "
                    "categories, tick a cell for other or for missing values, or "
                    "leave the column out."
                ).format(
                    columns=join_with_commas(escape_markdown(name) for name in refused)
                )
            )
            return None
    return schema


def ask_cell_search(
    draft: Draft, budget: AnyLoss | None, schema: Schema
) -> tuple[str, ...]:
    """Ask whether to find the cells of a table's numbers privately.

    Args:
        budget: whole budget, of which the search takes a part; None while it is open.

    Returns: the columns to search, which the draft's choice keeps.
    """
    names = facts.searchable_columns(schema)
    if budget is None or not names:
        draft.cell_search.columns = ()
        return ()
    hidden = largest_hidden_rows(len(names), schema.unit.max_rows, search_loss(budget))
    if draft.cell_search.is_proposed is None:
        draft.cell_search.is_proposed = is_search_proposed(draft, hidden)
    return show_cell_search(draft.cell_search, names, hidden, dataset=draft.dataset)


def is_search_proposed(draft: Draft, hidden: float) -> bool:
    """Return whether a table has far more rows than a search hides, and needs cells.

    Args:
        hidden: rows of one cell that noise can hide.
    """
    has_many_rows = (
        isinstance(draft, SourceDraft)
        or len(draft.frame) >= MIN_ROWS_TO_HIDDEN_RATIO * hidden
    )
    # who only wants the table anonymized would pay for cells that nobody needs
    needs_cells = draft.page not in PAGES_WITHOUT_CELLS
    return has_many_rows and needs_cells and not draft.is_sample


def show_cell_search(
    choice: CellSearchChoice, names: tuple[str, ...], hidden: float, *, dataset: str
) -> tuple[str, ...]:
    """Show the choice of a private search with its price; return the columns to search.

    Args:
        choice: keeps the answer.
        names: columns that can be searched.
        hidden: rows of one cell that noise can hide.
        dataset: account id of the table, or of both linked tables.
    """
    label = escape_markdown(
        translate(NumberCellsQuestion.describe({"columns": names})), max_length=300
    )
    wanted = st.toggle(
        label,
        bool(choice.is_proposed),
        key=f"search-{dataset}",
        persist_state="session",
    )
    st.caption(
        _(
            "Opening the data set then costs a twentieth of a release at epsilon 1, "
            "or a twentieth of the budget if that is smaller. Bounds and cells are "
            "found with noise. The bounds and cells below are not used, and neither "
            "are the texts that you declared there to be missing or to count as "
            "another number. Values in fewer than about {rows} rows stay hidden."
        ).format(rows=number(hidden))
    )
    choice.columns = names if wanted else ()
    return choice.columns


def _show_grid(draft: Draft) -> pd.DataFrame:
    """Show every column as an editable line."""
    editor = session.Widget[object](f"grid-{draft.dataset}-{draft.version}")
    # The editor is new, or Streamlit dropped its edits while another page was shown.
    if editor.current_value() is None:
        draft.grid = draft.edited_grid
    edited: pd.DataFrame = st.data_editor(
        draft.grid,
        key=editor.key,
        hide_index=True,
        height="content" if len(draft.grid) <= 25 else "auto",
        column_order=[
            *_FIRST_COLUMNS,
            *(
                str(name)
                for name in draft.grid
                if name not in (*_FIRST_COLUMNS, *HIDDEN_COLUMNS)
            ),
        ],
        disabled=["column", "reason"],
        column_config={
            **{
                name: config.TextColumn(
                    title, help=translate_table(HELP_TEXTS).get(name)
                )
                for name, title in translate_table(GRID_TITLES).items()
            },
            **{
                name: config.CheckboxColumn(
                    _(GRID_TITLES[name]), help=translate_table(HELP_TEXTS).get(name)
                )
                for name in TICK_COLUMNS
            },
            "column": config.TextColumn(_(GRID_TITLES["column"]), pinned=True),
            "kind": config.SelectboxColumn(
                _(GRID_TITLES["kind"]),
                options=KINDS,
                required=True,
                format_func=lambda kind: kind_title(str(kind)),
            ),
            "categories": config.TextColumn(
                _(GRID_TITLES["categories"]), width="medium"
            ),
            "known from": config.TextColumn(
                _(GRID_TITLES["known from"]),
                help=_(HELP_TEXTS["known from"]),
                max_chars=MAX_SOURCE_CHARACTERS,
            ),
            "reason": config.TextColumn(_(GRID_TITLES["reason"]), width="large"),
        },
        alt=_("Describe the columns"),
    )
    return edited


def ask_budget(
    draft: Draft,
    unit: PrivacyUnit,
    questions: DeltaGenerator,
    *,
    columns: int,
) -> AnyLoss | None:
    """Ask for the whole budget; None while it is not valid.

    Args:
        unit: who is protected.
        columns: how many may be released.
        questions: place in sight for open questions.
    """
    account = session.ledger().account(draft.dataset)
    if account is not None:
        st.info(
            _(
                "This table was opened before, with a budget of {budget}. That "
                "budget still applies, and what was spent stays spent."
            ).format(budget=budget_words(account))
        )
        return loss_from_fields(account.promise)
    with questions:
        alike = draft.similar_table if isinstance(draft, FileDraft) else None
        if alike is not None and not _ask_alike(alike):
            return None
    most = min(10.0, read_policy().epsilon)
    epsilon = epsilon_view.ask_epsilon(
        _("Total budget of this table for all time (epsilon)"),
        key="budget",
        default=PROPOSED_EPSILON,
        largest=most,
    )
    epsilon_view.show_meaning(epsilon)
    columns = max(1, columns)  # a plan by names begins with none
    choice = widgets.ask_by_title(
        st.radio,
        _("What is the most that you will release from this table?"),
        {
            Rule.BASIC: _("only counts of one or two columns"),
            Rule.ZCDP: _("perhaps a whole table"),
        },
        index=int(columns > MAX_COLUMNS_FOR_PURE_EPSILON),
        captions=[
            _rule_words(rule, epsilon, rows=unit.max_rows, columns=columns)
            for rule in (Rule.BASIC, Rule.ZCDP)
        ],
        help=_(
            "Your answer decides how charges add up, and the kind of noise: "
            "Laplace or Gaussian. It cannot be changed later."
        ),
        key=f"budget-rule-{draft.dataset}",
        persist_state="session",
    )
    rule = Rule(str(choice))
    delta = DEFAULT_DELTA
    if not rule.is_pure:
        delta = st.text_input(
            _("delta"),
            DEFAULT_DELTA,
            key="budget-delta",
            help=_(GLOSSARY["delta"]),
            persist_state="session",
        )
    try:
        loss = rule.make_loss(repr(epsilon), delta)
        read_policy().check_budget(loss)
    except DpcoreError as error:
        widgets.error_box(error)
        return None
    if isinstance(loss, ApproxDP):
        _say_delta(loss, draft)
    return loss


def _rule_words(rule: Rule, epsilon: float, *, rows: int, columns: int) -> str:
    """Describe a composition rule, with the errors at a sixth of its budget."""
    name = _("basic: epsilons add up") if rule.is_pure else _("zCDP: rhos add up")
    try:
        budget = rule.convert(rule.make_loss(repr(epsilon), DEFAULT_DELTA))
    except DpcoreError:  # the field of epsilon says what is wrong
        return name
    one, several = (
        column_count_error(budget.share(PROPOSED_SHARE), count, max_rows=rows)
        for count in (1, columns)
    )
    return _(
        "{rule}. With a sixth of the budget, the counts are within ± {one} rows if "
        "one column is counted, or within ± {several} rows if {columns} columns are "
        "counted."
    ).format(rule=name, one=number(one), columns=columns, several=number(several))


def _say_delta(loss: ApproxDP, draft: Draft) -> None:
    """Explain a delta and its price; warn if it is too large for the number of
    people.
    """
    delta = float(loss.delta)
    st.caption(
        _(
            "Except with a chance of {delta}, nobody loses more privacy than "
            "epsilon states."
        ).format(delta=delta_words(delta))
    )
    larger = ApproxDP(epsilon=loss.epsilon, delta=EXAMPLE_LARGER_DELTA)
    if loss.delta < larger.delta:
        st.caption(
            _(
                "Allowing a chance of {delta} instead would make every error "
                "{share} smaller."
            ).format(
                delta=delta_words(float(larger.delta)),
                share=percent(1 - math.sqrt(loss.rho / larger.rho)),
            )
        )
    # The number of rows is rounded to one digit.
    rows = float(f"{max(1, len(draft.frame)):.0e}")
    if not isinstance(draft, SourceDraft) and delta > 1 / (100 * rows):
        st.warning(
            _(
                "Delta is too large for about {rows} people: choose at most {most}."
            ).format(rows=number(rows), most=localize_number(f"{1 / (100 * rows):g}"))
        )


def _ask_alike(alike: SimilarTable) -> bool:
    """Name the similar table on file; return whether the question was answered."""
    names = (escape_markdown(alike.name), escape_markdown(alike.file))
    st.warning(
        translate(alike.warning(*names)),
        icon=":material/content_copy:",
    )
    people = {
        "the same": _("yes, or I do not know"),
        "different": _("no, other people"),
    }
    label = _("Are both tables about the same people?")
    return (
        widgets.ask_by_title(
            st.radio, label, people, index=None, key=opening.ALIKE_FIELD.key
        )
        is not None
    )
