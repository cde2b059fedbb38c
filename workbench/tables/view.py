"""The Tables page: choices, the table with its marks, and its files."""

from __future__ import annotations

import functools
from collections.abc import Sequence

import streamlit as st

from dpcore.curator import Curator
from dpcore.suppression import (
    PRESETS,
    ExactTable,
    HidingRule,
    PublishedTable,
    TablePlan,
)
from dpcore.suppression.plan import (
    MAX_REASON_LETTERS,
    MAX_ROUNDING_BASE,
    MIN_REASON_LETTERS,
    write_plans,
)
from dpcore.suppression.rounding import expected_error
from workbench import session
from workbench.language.messages import (
    _,
    join_with_commas,
    ngettext,
    translate_table,
)
from workbench.language.wording import escape_markdown, make_printable, number
from workbench.report import of_exact_table
from workbench.report.files import file_name
from workbench.server.workers import reading
from workbench.store.ledger.datasets import public_name
from workbench.tables import state
from workbench.tables.state import Asked, Columns, Grouping, TablesState
from workbench.ui import file_view, progress_view, widgets

NO_COLUMN = ""


def choose_columns(curator: Curator) -> list[str]:
    """Ask for the columns of a table: one, two or three."""
    names = state.countable_columns(curator)
    rows = st.selectbox(_("Rows"), names, key="tables-rows", persist_state="session")
    others = [NO_COLUMN, *(name for name in names if name != rows)]
    columns = st.selectbox(
        _("Columns"),
        others,
        index=min(1, len(others) - 1),
        format_func=lambda name: name or _("none: one column alone"),
        key="tables-columns",
        persist_state="session",
    )
    if not columns:
        return [rows]
    rest = [NO_COLUMN, *(name for name in names if name not in (rows, columns))]
    split = st.selectbox(
        _("Split each row by"),
        rest,
        format_func=lambda name: name or _("nothing"),
        key="tables-split",
        persist_state="session",
    )
    return [rows, split, columns] if split else [rows, columns]


def choose_groups(curator: Curator, current: TablesState, axes: list[str]) -> Columns:
    """Ask what groups the values of each column."""
    rest = [name for name in state.countable_columns(curator) if name not in axes]
    with st.expander(_("Groups of values")):
        return {name: _choose_groups(current, name, rest) for name in axes}


def _choose_groups(current: TablesState, name: str, rest: list[str]) -> Grouping:
    """Ask for the columns that group a column, else for levels of its hierarchy.

    Args:
        rest: columns that are not in the table.
    """
    within = st.multiselect(
        _("{column} lies within").format(column=escape_markdown(name)),
        rest,
        key=f"tables-within-{name}",
        help=_(
            "For a town, for example, choose its district and then its region, the "
            "smallest first. Each group gets a line with its own total."
        ),
    )
    tree = current.hierarchies.get(name)
    if within or tree is None:
        return Grouping(within=tuple(within))
    titles = {
        level: _("{number} groups such as {label}").format(
            number=number(len(tree.labels(level))),
            label=make_printable(tree.labels(level)[0], max_length=30),
        )
        for level in state.named_levels(tree)
    }
    if len(titles) == 1:
        return Grouping()
    levels = widgets.ask_by_title(
        st.multiselect,
        _("Lines of {column}").format(column=escape_markdown(name)),
        titles,
        [state.usual_level(tree)],
        key=f"tables-levels-{name}",
    )
    usual = [state.usual_level(tree)]
    return Grouping(levels=tuple(sorted(levels)) if levels not in ([], usual) else None)


def choose_rule() -> HidingRule:
    """Ask for a preset rule, or for the settings of a new one."""
    titles = translate_table(
        {name: of_exact_table.PRESET_NAMES[name] for name in PRESETS}
    )
    titles["own"] = _("a rule of your own")
    name = widgets.ask_by_title(
        st.selectbox,
        _("Rule"),
        titles,
        key="tables-rule",
        help=_(
            "ACRO checks what leaves research centres in the United Kingdom. CMS runs "
            "health insurance in the United States. The third rule is like that of "
            "hospital statistics in England."
        ),
    )
    if name in PRESETS:
        return PRESETS[name]
    threshold = st.number_input(
        _("Fewest people in a shown cell"), 2, 10_000, 10, key="tables-threshold"
    )
    return HidingRule(
        threshold=int(threshold),
        hide_zeros=st.checkbox(_("Hide empty cells too"), key="tables-zeros"),
        hide_full=st.checkbox(
            _("Also hide cells that contain a whole group"), key="tables-full"
        ),
        members=st.checkbox(
            _("Readers may know who is in which cell"), key="tables-members"
        ),
    )


def choose_rounding(rule: HidingRule) -> int:
    """Ask whether small counts are hidden or all counts rounded.

    Returns: the base of rounding; 0 to hide small counts.
    """
    titles = {
        "hiding": _("hiding small counts"),
        "rounding": _("rounding all counts"),
    }
    how = widgets.ask_by_title(
        st.radio, _("Protect by"), titles, key="tables-protection"
    )
    if how == "hiding":
        st.caption(
            _(
                "This suits readers who need exact counts: small ones are missing, and "
                "the others are exact."
            )
        )
        return 0
    base = int(
        st.number_input(
            _("Round to multiples of"),
            rule.min_base,
            MAX_ROUNDING_BASE,
            rule.usual_base,
            key=f"tables-base-{rule.min_base}",
        )
    )
    st.caption(
        _(
            "This suits detailed tables in which readers need every cell: no count is "
            "missing, and all sums hold. Each count is up to {most} people off, about "
            "{mean} on average. A published 0 may be up to {most} people. Once you have "
            "published a rounded table, this program refuses all tables of a later "
            "version of your file."
        ).format(most=number(base - 1), mean=number(round(expected_error(base))))
    )
    return base


def confirm_public_values(curator: Curator, columns: Columns) -> bool:
    """Ask whether the values in the rows are no secret, if the table would show them."""
    names = state.list_revealing_columns(curator, columns)
    if not names:
        return True
    words = [escape_markdown(_name_with_groups(name, columns[name])) for name in names]
    return st.checkbox(
        _("Everybody may know which values these columns have: {columns}").format(
            columns=join_with_commas(words)
        ),
        key=f"tables-public-{'-'.join(words)}",
        help=_(
            "The lines of these columns are read from your table, so readers see "
            "that a rare value occurs even if its count is hidden. A column whose "
            "categories you declared shows all its categories, whether they occur "
            "or not. Of a column within another one, readers also see which values "
            "go together: do not use one that is a fact about few people."
        ),
    )


def _name_with_groups(name: str, grouping: Grouping) -> str:
    """Return a column, with the columns that group it."""
    return functools.reduce(
        lambda inner, outer: _("{inner} within {outer}").format(
            inner=inner, outer=outer
        ),
        grouping.within,
        name,
    )


def show_make_button(curator: Curator, page_state: TablesState, chosen: Asked) -> bool:
    """Show the button that makes the tables; return whether it was pressed.

    It stands above all fields that grow and shrink, such as lists of several choices:
    one that shrinks at a click elsewhere would move it away from the pointer.
    """
    may_make = confirm_public_values(curator, chosen[0])
    if not may_make:
        st.caption(
            _(
                "Confirm this to make the table, or declare the values of these "
                "columns on *Data*."
            )
        )
    is_alone = len(state.list_asked(page_state, chosen)) == 1
    with st.container(horizontal=True):
        is_pressed = st.button(
            _("Make the table") if is_alone else _("Make the tables"),
            type="primary",
            disabled=not may_make,
        )
        st.button(
            _("Add another table"),
            disabled=not may_make or chosen in page_state.listed,
            on_click=state.add_to_list,
            args=(page_state, chosen),
            help=_(
                "The table that you have chosen is kept in a list, and you can choose "
                "another one. All of them are made and published together, so each one "
                "shows as much as the others allow."
            ),
        )
    return is_pressed


def show_list(page_state: TablesState, chosen: Asked) -> None:
    """Show the tables that are made together with the chosen one."""
    if not page_state.listed:
        return
    st.caption(
        _("These tables are made together. Choose another one above.")
        if chosen in page_state.listed
        else _("These tables are made together with the one that you chose above:")
    )
    for at, asked in enumerate(page_state.listed):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(_name_asked(asked), width="stretch")
            st.button(
                _("Remove"),
                key=f"tables-remove-{at}",
                icon=":material/close:",
                on_click=state.remove_from_list,
                args=(page_state, at),
            )


def _name_asked(asked: Asked) -> str:
    """Return the columns of a table, its rule, and the base of rounding."""
    columns, rule, base = asked
    names = [
        escape_markdown(_name_with_groups(name, grouping))
        for name, grouping in columns.items()
    ]
    rule_name = _(of_exact_table.PRESET_NAMES[rule.name])
    if base:
        rounded = _("rounded to multiples of {base}").format(base=number(base))
        rule_name = f"{rule_name}; {rounded}"
    return f"{' × '.join(names)} ({rule_name})"


def make_tables(
    curator: Curator,
    page_state: TablesState,
    chosen: Asked,
    plans: Sequence[TablePlan],
    unrelated: Sequence[str],
) -> None:
    """Make the tables, with a progress bar.

    Args:
        plans: to be carried out in place of the choices.
        unrelated: columns of other tables that have nothing to do with these.
    """
    asked = state.list_asked(page_state, chosen)
    is_alone = len(plans or asked) == 1
    stages = {
        "suppressing": _("choosing what to hide"),
        "rounding": _("rounding all counts"),
        "checking": _("trying to work out small counts"),
        "attacking": _(
            "trying to work out the hidden counts, round {first}. Hidden after earlier "
            "rounds: {second}"
        ),
        "showing": _(
            "showing counts again that need not be hidden. Left to try: {first}"
        ),
        "bounding": _("measuring how closely the hidden counts can be worked out"),
    }
    with progress_view.show_progress(
        _("Making the table") if is_alone else _("Making the tables"),
        stages,
        key="stop-table",
        on_stop=_say_stopped,
    ) as tell:
        state.make_tables(curator, page_state, asked, tell, plans, unrelated)
    if page_state.made_tables is not None:
        # on a phone the tables stand below all fields
        st.toast(
            _("The table is made.") if is_alone else _("The tables are made."),
            icon=":material/table:",
        )


def _say_stopped() -> None:
    st.toast(_("Stopped. No table was made."), icon=":material/stop_circle:")


def ask_plans() -> Sequence[TablePlan]:
    """Ask for a file with a plan or a list of plans; return them at a click."""
    with st.expander(_("A plan made earlier")):
        file = file_view.file_uploader(
            _("Plan (JSON, internal)"), type=["json"], key="tables-plan"
        )
        plans: Sequence[TablePlan] = ()
        if file is not None:
            with widgets.catch_and_show_errors():
                plans = reading.read_table_plans(file.getvalue())
        if not plans:
            return ()
        for plan in plans:
            about = make_printable(" × ".join(plan.column_names), max_length=200)
            words = of_exact_table.rule_words(
                plan.rule, is_first=False, base=plan.rounding_base
            )
            st.caption(f"{about}. {words}")
        is_pressed = st.button(
            _("Make the table of the plan")
            if len(plans) == 1
            else _("Make the tables of the plan")
        )
        return plans if is_pressed else ()


def offer_miscoded(curator: Curator, page_state: TablesState) -> None:
    """Ask whether the rows that block a table are errors of coding."""
    for pair, people in page_state.rare_people.items():
        inner, outer = map(escape_markdown, pair)
        is_error = pair in page_state.miscoded
        with st.container(border=True):
            widgets.show_internal_badge()
            st.markdown(
                ngettext(
                    "{number} person has a rare pair of {inner} and {outer}. Such a "
                    "person is protected like a small group, unless it is an error.",
                    "{number} people have a rare pair of {inner} and {outer}. Such "
                    "people are protected like small groups, unless they are errors.",
                    people,
                    inner=inner,
                    outer=outer,
                )
            )
            st.button(
                _("These rows are no errors")
                if is_error
                else _("Rows whose {inner} lies in another {outer} are errors").format(
                    inner=inner, outer=outer
                ),
                key=f"tables-miscoded-{' '.join(pair)}",
                help=_(
                    "Say so only if you know it, for example because there is a public "
                    "list of which {inner} lies in which {outer}. Readers may then find "
                    "out that some rows are coded wrong, how many, and of which "
                    "{inner}. What you say here stands below the table."
                ).format(inner=inner, outer=outer),
                on_click=state.say_miscoded,
                args=(curator, page_state, pair),
                kwargs={"is_error": not is_error},
            )


def show_result(curator: Curator, page_state: TablesState, chosen: Asked) -> None:
    """Show an exact table, its hidden counts, what it does not promise, and its
    files.

    One of several tables is chosen; all of them are accepted together.
    """
    if page_state.made_tables is None:
        return
    all_made = page_state.made_tables.content
    is_published = bool(page_state.published_tables)
    is_alone = len(all_made) == 1
    is_asked = page_state.asked == state.list_asked(page_state, chosen)
    if not is_asked and not is_published:
        st.warning(
            _("This table was made under earlier settings. Make it again.")
            if is_alone
            else _("These tables were made under earlier settings. Make them again.")
        )
    shown = 0
    if not is_alone:
        titles = {
            at: make_printable(one.published.title) for at, one in enumerate(all_made)
        }
        shown = widgets.ask_by_title(
            st.selectbox, _("Table"), titles, key="tables-shown"
        )
    made = all_made[shown]
    table = made.published
    if not is_published:
        widgets.show_internal_badge()
    widgets.show_table(of_exact_table.crosstab(table), alt=_("Exact table"))
    for sentence in of_exact_table.exceptions(table):
        st.caption(escape_markdown(sentence, max_length=600))
    if words := state.noise_words(curator, made):
        st.info(words)
    with st.container(border=True):
        st.header(_("What this does not promise"))
        sentences = of_exact_table.not_promised(table)
        st.markdown("\n".join(f"- {sentence}" for sentence in sentences))
    if not is_published:
        st.button(
            _("Accept and publish")
            if is_alone
            else _("Accept and publish all {number} tables").format(
                number=len(all_made)
            ),
            type="primary",
            icon=":material/publish:",
            on_click=state.publish_tables,
            args=(curator, page_state),
            help=_(
                "Before the table is published, the program attacks it once more. "
                "The ledger notes the table outside the total, and every guarantee "
                "of this data set will mention the table."
            ),
        )
    else:
        st.success(
            _(
                "The table is published. It is noted in the ledger, and every "
                "guarantee of this data set will mention it."
            )
            if is_alone
            else _(
                "All {number} tables are published. They are noted in the ledger, and "
                "every guarantee of this data set will mention them."
            ).format(number=len(all_made))
        )
        name = public_name(curator.lines())
        plans = [one.plan for one in all_made]
        offer_files(name, page_state.published_tables[shown], made, plans)
    with st.expander(
        _("What was checked")
        if table.rounding_base
        else _("Hidden counts, and how closely they can be worked out")
    ):
        widgets.show_internal_badge()
        for check in of_exact_table.list_checks(made):
            verdict = _(of_exact_table.VERDICTS[check.verdict])
            st.markdown(f"**{verdict}**: {check.sentence}")
        if made.reasons:
            widgets.show_table(
                of_exact_table.hidden_cells(made),
                alt=_("Hidden counts, and how closely they can be worked out"),
            )
        if not is_published:
            _ask_exception(curator, page_state, shown, made)


def show_published_tables(curator: Curator, page_state: TablesState) -> None:
    """Show a table that left earlier, with its public files."""
    tables = [
        table
        for table in curator.exact_tables()
        if table not in page_state.published_tables
    ]
    if not tables:
        return
    with st.expander(_("Tables published before")):
        titles = {
            at: make_printable(" × ".join(table.layout.columns))
            for at, table in enumerate(tables)
        }
        chosen = widgets.ask_by_title(
            st.selectbox,
            _("Published table"),
            titles,
            len(tables) - 1,
            key="tables-published",
        )
        widgets.show_table(
            of_exact_table.crosstab(tables[chosen]), alt=_("Exact table")
        )
        with st.container(horizontal=True):
            _offer_public_files(
                public_name(curator.lines()), tables[chosen], key="tables-published"
            )


def _ask_exception(
    curator: Curator, current: TablesState, table: int, made: ExactTable
) -> None:
    """Ask for a cell that is shown all the same, with a written reason.

    Args:
        table: number of the table among all that were made.
    """
    cells = state.cells_to_except(made)
    if not cells:
        return
    cell = widgets.ask_by_title(
        st.selectbox,
        _("Show one of them all the same"),
        {cell: make_printable(title) for cell, title in cells.items()},
        None,
        key=f"tables-except-{table}",
        placeholder=_("no exception"),
    )
    if cell is None:
        return
    reason = st.text_input(
        _("Why nobody is given away by it"),
        max_chars=MAX_REASON_LETTERS,
        key="tables-reason",
        help=_("The reason is shown below the table to everybody who reads it."),
    )
    st.button(
        _("Make the table with this exception"),
        disabled=len(reason.strip()) < MIN_REASON_LETTERS,
        on_click=state.except_cell,
        args=(curator, current, table, cell, reason),
    )


def offer_files(
    name: str,
    table: PublishedTable,
    exact_table: ExactTable,
    plans: Sequence[TablePlan],
) -> None:
    """Offer the table as files, and to its owner the report.

    Args:
        plans: of all tables that were made together.
    """
    what = f"exact table {' '.join(table.layout.columns)}"
    with st.container(horizontal=True):
        _offer_public_files(name, table, key="tables-file")
        file_view.download(
            _("Report (HTML, internal)"),
            lambda: of_exact_table.report_page(exact_table),
            file_name(name, what, "html", detail="internal"),
            icon="signature",
        )
        file_view.download(
            _("Plan (JSON, internal)"),
            write_plans(plans),
            file_name(name, f"plan {what}", "json", detail="internal"),
            icon="description",
        )
        if st.button(_("Show it to somebody"), icon=":material/link:"):
            session.leave_note(session.ShowExactTable(table=table))
            st.switch_page(session.page_script("links"))


def _offer_public_files(name: str, table: PublishedTable, key: str) -> None:
    """Offer what everybody may have of a table."""
    what = f"exact table {' '.join(table.layout.columns)}"
    for file in of_exact_table.FILES:
        ending = file.rpartition(".")[2]
        file_view.download(
            {"xlsx": "Excel"}.get(ending, ending.upper()),
            functools.partial(of_exact_table.content, table, file),
            file_name(name, what, ending),
            key=f"{key}-{ending}",
        )
    file_view.download(
        _("Download as one HTML file"),
        functools.partial(of_exact_table.public_page, table),
        file_name(name, what, "html"),
        icon="description",
        key=f"{key}-html",
    )


def name_earlier_tables(curator: Curator, base: int) -> None:
    """Name the tables that every new one is attacked with, and ask for others.

    Args:
        base: to whose multiples the chosen table is rounded; 0 to hide small counts.
    """
    earlier = [*curator.exact_tables(), *state.others(curator)]
    names = [escape_markdown(table.name) for table in earlier]
    if names:
        st.caption(
            _("Published before, and checked together with this one: {names}.").format(
                names=join_with_commas(names)
            )
        )
        st.caption(
            _(
                "If people came or left since then, this table is refused: rounded "
                "counts of different people cannot be checked together."
            )
            if base or any(table.rounding_base for table in earlier)
            else _(
                "If people came or left since then, this table hides more: each count "
                "that few people changed, and others that would tell it. If your file "
                "grows, publish less often, or in coarser groups."
            )
        )
    else:
        st.caption(
            _(
                "Do you plan several tables of these people? Put them on a list with "
                "the button *Add another table*, and publish them together. After a "
                "coarse table, a detailed one is often refused."
            )
        )
    accounts = state.other_accounts(curator)
    if not accounts:
        return
    said = st.multiselect(
        _("Your other data sets about the same people"),
        accounts,
        [dataset for dataset, account in accounts.items() if account.is_same],
        format_func=lambda dataset: make_printable(accounts[dataset].name),
        key=f"tables-same-{curator.account.dataset}",
        help=_(
            "Exact tables of these data sets are attacked together with this table. "
            "A data set that you add stays on this list, and the ledgers of both "
            "data sets note it."
        ),
    )
    more = [dataset for dataset in said if not accounts[dataset].is_same]
    if more:
        st.button(
            _("These data sets are about the same people"),
            on_click=state.say_same_people,
            args=(curator, more),
        )


def confirm_unrelated_columns(curator: Curator) -> list[str]:
    """Ask whether columns that only other tables have are unrelated to this table.

    Returns: these columns, if the owner says so.
    """
    foreign = state.list_foreign_columns(curator)
    if not foreign:
        return []
    is_said = st.checkbox(
        _("These columns have nothing to do with this table: {columns}").format(
            columns=join_with_commas(map(escape_markdown, foreign))
        ),
        key=f"tables-unrelated-{' '.join(foreign)}",
        help=_(
            "Other exact tables about the same people have these columns, and this "
            "file lacks them or has other values in them. So the tables cannot be "
            "attacked together. If the columns are related to those of this table, "
            "open a file that has all of them. What you say here stands below the "
            "table."
        ),
    )
    return foreign if is_said else []


def tables_state() -> TablesState:
    """Return the state of this page in this tab."""
    return session.own(TablesState)
