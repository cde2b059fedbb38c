"""The Data page of two tables about the same people: people, and their events."""

import dataclasses
from typing import Any

import streamlit as st

from dpcore.accounting.loss import AnyLoss, Loss, loss_fields
from dpcore.curator.linked import share_of_people
from dpcore.errors import DpcoreError
from dpcore.evaluation.table.cells_of_numbers import largest_hidden_rows, search_loss
from dpcore.schema import PrivacyUnit, Schema
from dpcore.schema.linked import (
    AS_NUMBERS,
    AS_WRITTEN,
    KEEP_ONE,
    LEAVE_OUT,
    OWN_PERSON,
    LinkedSchema,
    LinkRules,
)
from workbench import session
from workbench.language.budget import budget_words
from workbench.language.messages import N_, _, name_and_text, ngettext, translate_table
from workbench.language.wording import (
    escape_markdown,
    found_cells_words,
    list_names,
    loss_words,
    percent,
)
from workbench.session.draft import Draft, FileDraft, LinkedDraft, NamesDraft
from workbench.store.people.personal import PersonalLedger
from workbench.ui import reading_view, widgets
from workbench.upload import (
    draft_view,
    facts,
    facts_view,
    form,
    linked,
    opening,
    reading,
    source_view,
    unit_view,
)
from workbench.upload.grid import LEAVE_OUT as LEFT_OUT_KIND

RULES = {
    "orphans": (
        N_("Events whose person is not in the table of people"),
        {
            LEAVE_OUT: N_("leave them out"),
            OWN_PERSON: N_("keep them, for a person of whom nothing else is known"),
        },
    ),
    "without_key": (
        N_("Rows without a key"),
        {
            LEAVE_OUT: N_("leave them out"),
            OWN_PERSON: N_("keep them, each as a person of its own"),
        },
    ),
    "repeated_people": (
        N_("People with several rows in the table of people"),
        {
            KEEP_ONE: N_("keep one of the rows, chosen by a secret order"),
            LEAVE_OUT: N_("leave these people out, with all their events"),
        },
    ),
    "keys": (
        N_("Keys such as 007 and 7"),
        {
            AS_WRITTEN: N_("are two people"),
            AS_NUMBERS: N_("are the same person"),
        },
    ),
}
"""Title of what may not fit, and the two public rules for it, by the name of the rule."""
ROW_RULES = ("orphans", "without_key", "repeated_people")
"""Rules for rows, all of which one button answers by leaving the rows out."""


def show(pair: LinkedDraft) -> None:
    """Show how both tables are linked, what they hold, and the budget of both."""
    dataset, ledger = linked.account_of(pair)
    st.title(_("People and their events"))
    st.write(
        _(
            "Protected: one person with all rows in both tables. Say which table is "
            "which, how many events of a person count, and what happens to rows that "
            "do not fit."
        )
    )
    if not pair.has_rows:
        st.write(
            _(
                "This is a plan: nothing is uploaded. You get the expected error, and "
                "files to take to the computer that holds both tables."
            )
        )
        _ask_numbers(pair)
    _say_alone(pair)
    proposal = st.container()
    is_of_files = pair.has_rows and not pair.is_connected
    st.header(
        _("How the files belong together")
        if is_of_files
        else _("How the tables belong together")
    )
    _ask_roles(pair)
    unit = rules = None
    problem = ""
    if not all(pair.keys):
        problem = _(
            "Choose below which column names the person in each table: no column that "
            "could do so has the same name in both."
        )
    elif not pair.has_rows:
        unit = unit_view.ask_rows_of_person(pair.events, pair.events_key)
        rules = _ask_rules_unseen(pair)
    elif not linked.are_keys_read(pair):
        unit = unit_view.ask_rows_of_person(pair.events, pair.events_key)
        problem = _("Read the keys of both tables below: then the rules are asked.")
        _offer_reading_keys(pair)
    else:
        unit = unit_view.ask_rows_of_person(pair.events, pair.events_key)
        rules = _ask_rules(pair)
        if not _have_common_people(pair):
            problem = _("By these keys, the tables do not fit together: see below.")
    st.header(_("What is publicly known"))
    known = st.container()
    at_last = st.container()
    with st.expander(_("Budget")):
        both = dataclasses.replace(
            pair.people,
            dataset=dataset,
            opener=ledger.opener,
        )
        if isinstance(both, FileDraft):
            both.similar_table = pair.similar_table
        budget = form.ask_budget(
            both,
            unit or PrivacyUnit(max_rows=1),
            at_last,
            columns=_count_columns(pair),
        )
    with known:
        schemas, open_tables = _ask_columns(pair, unit, budget)
    with at_last:
        schema = _link(pair, schemas, rules)
    with proposal:
        _show_proposal(pair, unit, schema, budget, open_tables, problem)
    _say_other_ways()


def _count_columns(pair: LinkedDraft) -> int:
    """Count the columns of both tables that may be released, each name once.

    A plan by names begins with all of them left out.
    """
    names = {
        str(name)
        for table in pair.tables
        for name in (table.schema.domain.names if table.has_rows else table.frame)
    }
    return len(names.difference(pair.keys))


def _ask_numbers(pair: LinkedDraft) -> None:
    """Ask about how many people and events a plan by names is for."""
    labels = (
        _("About how many people will there be?"),
        _("About how many events will there be?"),
    )
    sides = st.columns(2)
    tables = (pair.people, pair.events)
    for side, label, table in zip(sides, labels, tables, strict=True):
        assert isinstance(table, NamesDraft)
        table.expected_rows = side.number_input(
            label,
            1,
            value=table.expected_rows,
            key=f"plan-rows-{table.dataset}",
            persist_state="session",
        )


def _offer_reading_keys(pair: LinkedDraft) -> None:
    """Offer to read the keys of all rows of two connected sources."""
    with st.container(border=True):
        st.write(
            _(
                "You see the first rows alone. To count what does not fit, the program "
                "reads the keys of all rows of both tables."
            )
        )
        st.button(
            _("Read the keys"),
            icon=":material/key:",
            on_click=linked.read_keys,
            args=(pair,),
        )


def _say_alone(pair: LinkedDraft) -> None:
    """Say which of the tables was opened alone before, under a budget of its own."""
    for table in pair.tables:
        own: PersonalLedger = session.ledger().with_opener(table.opener)
        account = own.account(table.dataset)
        if account is not None:
            st.info(
                _(
                    "{name} was opened alone before, with a budget of {budget}. That "
                    "budget stays. What both data sets spend about these people adds "
                    "up."
                ).format(
                    name=escape_markdown(table.name), budget=budget_words(account)
                ),
                icon=":material/add:",
            )


def _ask_roles(pair: LinkedDraft) -> None:
    """Ask which table is of people, and for the key in each."""
    titles = {
        place: escape_markdown(table.name, max_length=60)
        for place, table in enumerate(pair.tables)
    }
    people = linked.people_field(pair)
    if people.current_value() is None:
        people.put(pair.people_place)
    place = widgets.ask_by_title(
        st.radio,
        _("Which table has one row for each person?"),
        titles,
        key=people.key,
        horizontal=True,
        persist_state="session",
        help=_(
            "Proposed: the table in which hardly any key occurs twice. The other one "
            "is that of the events."
        ),
    )
    pair.people_place = place
    for side, place in zip(
        st.columns(2), (pair.people_place, 1 - pair.people_place), strict=True
    ):
        table = pair.tables[place]
        names = [str(name) for name in table.frame.columns]
        key = pair.keys[place]
        chosen: str | None = side.selectbox(
            _("Column that names the person in {file}").format(
                file=escape_markdown(table.name, max_length=60)
            ),
            names,
            index=names.index(key) if key else None,
            placeholder=_("Choose a column"),
            key=linked.key_field(pair, place).key,
            persist_state="session",
        )
        pair.keys[place] = chosen or ""
    st.caption(
        _(
            "A person is whoever these columns name. If they name households, then "
            "households are protected."
        )
    )


def _have_common_people(pair: LinkedDraft) -> bool:
    """Return whether enough keys of the events are keys of people.

    While it is not said how keys are compared, either way will do.
    """
    chosen = linked.rule_field(pair, "keys").current_value()
    ways = [chosen] if chosen else [AS_WRITTEN, AS_NUMBERS]
    shares = [linked.share_of_known_keys(pair, way) for way in ways]
    return max(shares) >= linked.MIN_KNOWN_KEYS


def _ask_rules(pair: LinkedDraft) -> LinkRules | None:
    """Ask for a public rule for each kind of row that does not fit; None while one is
    open, or the tables are not about the same people.
    """
    written = linked.rule_field(pair, "keys").current_value()
    one = PrivacyUnit(max_rows=1)
    try:
        joined = linked.count_linked(pair, linked.rules_to_count(AS_NUMBERS), one)
    except DpcoreError as error:
        widgets.error_box(error)
        return None
    counts = joined.content
    try:
        as_read = linked.rules_to_count(written or AS_WRITTEN)
        counts = linked.count_linked(pair, as_read, one).content
    except DpcoreError as error:
        # nothing is linked as the keys are written: they may be numbers
        if written is not None:
            widgets.error_box(error)
    is_linked = _have_common_people(pair)
    if not is_linked:
        widgets.show_internal_badge()
        st.error(
            _(
                "Fewer than {share} of the keys in {events} are keys in {people}: "
                "these tables do not seem to be about the same people. Check which "
                "columns are the keys."
            ).format(
                share=percent(linked.MIN_KNOWN_KEYS),
                people=escape_markdown(pair.people.name),
                events=escape_markdown(pair.events.name),
            ),
            icon=":material/link_off:",
        )
    elif counts.repeated_people > linked.MAX_REPEATED_KEYS * counts.people:
        widgets.show_internal_badge()
        st.warning(
            _(
                "{share} of the people have several rows in {file}. If {other} has one "
                "row for each person, choose it above as the table of people."
            ).format(
                share=percent(counts.repeated_people / counts.people),
                file=escape_markdown(pair.people.name),
                other=escape_markdown(pair.events.name),
            ),
            icon=":material/swap_horiz:",
        )
    met = {
        "orphans": _orphans_met(counts),
        "without_key": _missing_met(counts),
        "repeated_people": _repeated_met(counts),
    }
    with st.container(border=True):
        respelled = _keys_met(joined.content)
        if respelled:
            widgets.show_internal_badge()
        _ask_rule(pair, "keys", respelled or _(RULES["keys"][0]))
    with st.container(border=True):
        _ask_row_rules(pair, met)
    return _read_rules(pair) if is_linked else None


def _ask_rules_unseen(pair: LinkedDraft) -> LinkRules | None:
    """Ask for the same rules without rows; None while one is open."""
    with st.container(border=True):
        _ask_rule(pair, "keys", _(RULES["keys"][0]))
    with st.container(border=True):
        _ask_row_rules(pair, dict.fromkeys(ROW_RULES, ""))
    return _read_rules(pair)


def _read_rules(pair: LinkedDraft) -> LinkRules | None:
    """Return the rules that were answered; None while one is open."""
    answers = {rule: linked.rule_field(pair, rule).current_value() for rule in RULES}
    if any(answer is None for answer in answers.values()):
        return None
    return LinkRules(**{rule: str(answer) for rule, answer in answers.items()})


def _ask_row_rules(pair: LinkedDraft, met: dict[str, str]) -> None:
    """Ask what happens to rows that do not fit.

    Args:
        met: what was met of each kind of row, in words; empty if nothing was.
    """
    st.markdown(
        _(
            "**Rows that do not fit.** Each rule is public, and must not depend on "
            "whether these tables have such rows."
        )
    )
    if any(met.values()):
        widgets.show_internal_badge()
    for rule, sentence in met.items():
        if sentence:
            _ask_rule(pair, rule, sentence)
    open_rules = [
        rule
        for rule in ROW_RULES
        if linked.rule_field(pair, rule).current_value() is None
    ]
    if open_rules:
        st.button(
            _("Leave out what does not fit"),
            on_click=_leave_rows_out,
            args=(pair, tuple(open_rules)),
            key="link-safe",
        )
        st.caption(
            "  \n".join(
                name_and_text(_(RULES[rule][0]), _(RULES[rule][1][LEAVE_OUT]))
                for rule in open_rules
            )
        )
    others = [rule for rule, sentence in met.items() if not sentence]
    if others:
        with st.expander(_("If it happens: each rule by itself")):
            for rule in others:
                _ask_rule(pair, rule, _(RULES[rule][0]))


def _leave_rows_out(pair: LinkedDraft, rules: tuple[str, ...]) -> None:
    for rule in rules:
        linked.rule_field(pair, rule).put(LEAVE_OUT)


def _ask_rule(pair: LinkedDraft, rule: str, label: str) -> None:
    """Ask for the rule for one kind of row; nothing is chosen beforehand."""
    widgets.ask_by_title(
        st.radio,
        label,
        translate_table(RULES[rule][1]),
        index=None,
        horizontal=True,
        key=linked.rule_field(pair, rule).key,
        persist_state="session",
    )


def _orphans_met(counts: Any) -> str:
    return (
        ngettext(
            "{number:,} event whose person is not in the table of people",
            "{number:,} events whose person is not in the table of people",
            counts.orphan_events,
        )
        if counts.orphan_events
        else ""
    )


def _missing_met(counts: Any) -> str:
    rows = counts.people_without_key + counts.events_without_key
    return (
        ngettext(
            "{number:,} row has no key",
            "{number:,} rows have no key",
            rows,
        )
        if rows
        else ""
    )


def _repeated_met(counts: Any) -> str:
    return (
        ngettext(
            "{number:,} person has several rows in the table of people",
            "{number:,} people have several rows in the table of people",
            counts.repeated_people,
        )
        if counts.repeated_people
        else ""
    )


def _keys_met(counts: Any) -> str:
    return (
        ngettext(
            "{number:,} key is written in several ways, such as 007 and 7: these",
            "{number:,} keys are written in several ways, such as 007 and 7: these",
            counts.respelled_keys,
        )
        if counts.respelled_keys
        else ""
    )


def _ask_columns(
    pair: LinkedDraft, unit: PrivacyUnit | None, budget: AnyLoss | None
) -> tuple[dict[str, Schema | None], list[str]]:
    """Ask for the public facts of one table at a time.

    Args:
        budget: whole budget, of which a private search of cells takes a part.

    Returns: the schema of people and of events, None while something is open; and the
    names of tables with open questions.
    """
    people_unit = PrivacyUnit(max_rows=1, id_column=pair.people_key or None)
    event_unit = unit or PrivacyUnit(max_rows=1, id_column=pair.events_key or None)
    tables = {"people": (pair.people, people_unit), "events": (pair.events, event_unit)}
    search = st.container()
    shown = widgets.choose(
        _("Columns of"),
        {
            role: escape_markdown(table.name, max_length=60)
            for role, (table, _unit) in tables.items()
        },
        key=f"link-columns-{pair.dataset}",
        persist_state="session",
    )
    draft, own = tables[shown]
    session.session().draft = draft
    source_view.say_which_rows(draft)
    if isinstance(draft, FileDraft) and draft.read_result is not None:
        reading_view.show_reading("upload")
        if draft.read_result.undecided_columns:
            reading.ask_order(draft.read_result)

    def ask_search(schema: Schema) -> tuple[str, ...]:
        """Ask about both tables; `schema` is of the shown one."""
        both = {
            role: schema
            if role == shown
            else opening.read_grid(table, table.edited_grid, table_unit)[0]
            for role, (table, table_unit) in tables.items()
        }
        with search:
            return _ask_cell_search(pair, both, budget if unit else None)

    questions = st.container()
    if isinstance(draft, FileDraft):
        with questions:
            reading_view.ask_if_format_known(draft)
    with st.expander(
        _("Columns of {file}").format(file=escape_markdown(draft.name)),
        expanded=not draft.has_rows,
    ):
        seen = form.ask_schema(draft, own, ask_search, questions)
    draft_view.show_file(draft, linked.take_codebook)
    schemas: dict[str, Schema | None] = {}
    open_tables = []
    for role, (table, table_unit) in tables.items():
        schema = seen if role == shown else _read_schema(table, table_unit)
        schemas[role] = schema
        if schema is None:
            open_tables.append(table.name)
    if unit is None:
        schemas["events"] = None
    return schemas, open_tables


def _ask_cell_search(
    pair: LinkedDraft, schemas: dict[str, Schema | None], budget: AnyLoss | None
) -> tuple[str, ...]:
    """Ask once for both tables whether to find the cells of numbers privately.

    Args:
        schemas: of people and of events; None while one cannot be read.
        budget: whole budget of both; None while it or the unit is open.

    Returns: the columns to search.
    """
    columns = {
        role: facts.searchable_columns(schema) if schema else ()
        for role, schema in schemas.items()
    }
    names = (*columns["people"], *columns["events"])
    if budget is None or not names:
        pair.cell_search.columns = ()
        return ()
    hidden = {
        role: largest_hidden_rows(len(columns[role]), schema.unit.max_rows, part)
        for (role, schema), part in zip(
            schemas.items(), _split_search_loss(columns, schemas, budget), strict=True
        )
        if schema is not None and columns[role]
    }
    if pair.cell_search.is_proposed is None:
        tables = {"people": pair.people, "events": pair.events}
        pair.cell_search.is_proposed = all(
            form.is_search_proposed(tables[role], rows) for role, rows in hidden.items()
        )
    most = max(hidden.values())
    return form.show_cell_search(pair.cell_search, names, most, dataset=pair.dataset)


def _split_search_loss(
    columns: dict[str, tuple[str, ...]],
    schemas: dict[str, Schema | None],
    budget: AnyLoss,
) -> tuple[Loss, Loss]:
    """Return the losses of the searches in people and in events.

    Args:
        columns: to be searched in each table. Both tables share the loss.
    """
    loss = search_loss(budget)
    events = schemas["events"]
    if events is None or not all(columns.values()):
        return loss, loss
    share = share_of_people(events.unit.max_rows)
    return loss.share(share), loss.share(1 - share)


def _read_schema(draft: Draft, unit: PrivacyUnit) -> Schema | None:
    """Return the schema of the table that is not shown; None if something is open."""
    schema, problems = opening.read_grid(draft, draft.edited_grid, unit)
    if schema is None or problems:
        return None
    has_refused = draft.has_rows and opening.check_table(draft, schema)[1]
    return None if has_refused else schema


def _link(
    pair: LinkedDraft, schemas: dict[str, Schema | None], rules: LinkRules | None
) -> LinkedSchema | None:
    """Return the public facts of both tables; None while something is open."""
    people, events = schemas["people"], schemas["events"]
    if people is None or events is None:
        return None
    common = sorted({*people.domain.names} & {*events.domain.names})
    if common:
        st.warning(
            _(
                "Both tables have these columns: {columns}. A release needs each name "
                "once."
            ).format(columns=list_names(common)),
            icon=":material/content_copy:",
        )
        st.button(
            _("Leave them out of {file}").format(
                file=escape_markdown(pair.events.name, max_length=60)
            ),
            on_click=_leave_out,
            args=(pair.events, tuple(common)),
            key="link-common",
        )
        return None
    if rules is None:
        return None
    order_by = _ask_order(pair, events)
    try:
        return LinkedSchema(
            people=people, events=events, rules=rules, order_by=order_by
        )
    except DpcoreError as error:
        widgets.error_box(error)
        return None


def _leave_out(draft: Draft, names: tuple[str, ...]) -> None:
    """Leave columns of a table out, as their lines of its grid can be changed by hand."""
    lines = draft.edited_grid.copy()
    lines.loc[lines["column"].isin(names), "kind"] = LEFT_OUT_KIND
    draft.grid = draft.edited_grid = lines
    draft.version += 1


def _ask_order(pair: LinkedDraft, events: Schema) -> str:
    """Ask for the column that tells the order of a person's events; empty for none."""
    names = [
        column.name
        for column in events.columns
        if column.is_interval and column.source_columns == (column.name,)
    ]
    if not names or events.unit.max_rows < 2:
        return ""
    with st.expander(_("Do the events of a person have an order?")):
        chosen: str | None = st.selectbox(
            _("Column that tells it"),
            names,
            index=None,
            placeholder=_("No order"),
            help=_("Drawn events then have a first, a second, and so on."),
            key=linked.order_field(pair).key,
            persist_state="session",
        )
    return chosen or ""


def _show_proposal(
    pair: LinkedDraft,
    unit: PrivacyUnit | None,
    schema: LinkedSchema | None,
    budget: AnyLoss | None,
    open_tables: list[str],
    problem: str,
) -> None:
    """Summarize both tables, and offer to open them.

    Args:
        problem: why they cannot be opened together, as a sentence; empty if they can.
    """
    lines = []
    for title, place in (
        (_("People"), pair.people_place),
        (_("Events"), 1 - pair.people_place),
    ):
        name = escape_markdown(pair.tables[place].name)
        rows = linked.count_table_rows(pair, place)
        lines.append(
            name_and_text(f"**{title}**", name)
            if rows is None
            else ngettext(
                "**{title}:** {file}, {number:,} row",
                "**{title}:** {file}, {number:,} rows",
                rows,
                title=title,
                file=name,
            )
        )
    if schema is not None:
        for table, own in ((pair.people, schema.people), (pair.events, schema.events)):
            left_out = [
                column.name
                for column in own.excluded
                if column.name not in (pair.people_key, pair.events_key)
            ]
            if left_out:
                lines.append(
                    _("**Left out of {file}:** {columns}.").format(
                        file=escape_markdown(table.name), columns=list_names(left_out)
                    )
                )
        if pair.cell_search.columns and budget is not None:
            lines.append(
                found_cells_words(
                    pair.cell_search.columns, loss_fields(search_loss(budget))
                )
            )
    if budget is not None:
        lines.append(
            _("**Loss:** at most {most} in total.").format(
                most=loss_words(loss_fields(budget))
            )
        )
    st.markdown("  \n".join(lines))
    ready = schema is not None and budget is not None
    plan = session.PlanRelease(kind=session.LINKED_KIND)
    with st.container(horizontal=True):
        st.button(
            _("See what you would get"),
            type="primary",
            disabled=not ready,
            on_click=linked.open_pair,
            args=(pair, schema, budget, plan),
        )
        if pair.has_rows:
            st.button(
                _("Open the data set"),
                disabled=not ready,
                on_click=linked.open_pair,
                args=(pair, schema, budget),
            )
        st.button(
            _("Only {file}").format(
                file=escape_markdown(pair.tables[0].name, max_length=60)
            ),
            on_click=linked.unlink,
        )
        st.button(_("Open another table"), on_click=opening.choose_table, args=(True,))
    if problem:
        st.caption(problem)
        return
    if budget is not None and ready:
        facts_view.say_search_cost(pair.dataset, pair.cell_search.columns, budget)
    if unit is None:
        st.caption(_("Choose how many events of a person count."))
    if open_tables:
        st.caption(
            (
                _(
                    "Answer the open questions about the columns of {files} under "
                    "*What is publicly known*."
                )
                if pair.has_rows
                else _(
                    "Choose a kind for at least one column of {files} under *What is "
                    "publicly known*, and answer its open questions."
                )
            ).format(files=list_names(open_tables))
        )
    elif not ready:
        st.caption(
            _("Answer the open questions below first. Then you can open the table.")
        )


def _say_other_ways() -> None:
    st.caption(
        _(
            "Two tables can be opened together. Of three, open each pair by itself: "
            "what they spend about the same people adds up. If an event belongs to "
            "several people, no number of events of a person limits what one person "
            "changes, so such tables cannot be linked."
        )
    )
