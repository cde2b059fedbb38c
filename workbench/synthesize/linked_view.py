"""Plan a release of two linked tables: its error and cost first, then one payment."""

import dataclasses
from fractions import Fraction
from pathlib import PurePath

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.accounting.loss import UNIT, AnyLoss, loss_from_fields
from dpcore.curator import Curator, LinkedCurator
from dpcore.curator.linked import propose_recipe, share_of_people
from dpcore.schema import Schema
from dpcore.schema.schema import uncovered_facts
from dpcore.synthesis.quote import Quote
from workbench import session
from workbench.language.budget import amount_words, share_percent, share_words
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import _, capital, join, name_and_text, ngettext
from workbench.language.wording import (
    escape_markdown,
    from_data_words,
    number,
    percent,
    reading_words,
)
from workbench.store.policy import read_policy
from workbench.store.sources.job import LinkedJob
from workbench.synthesize import pay_view
from workbench.synthesize.charts import expected_errors
from workbench.synthesize.preview import approximate_rows, released_rows
from workbench.synthesize.preview_view import DROWNED_ERROR, MAX_TABLES_SHOWN
from workbench.synthesize.script import (
    PLAN_ROWS,
    file_reading_code,
    write_linked_script,
)
from workbench.synthesize.state import is_pair_planned
from workbench.ui import epsilon_view, releases, same_people_words, widgets

PLANNED_FILES = ("people.csv", "events.csv")
"""Names under which the tables of a plan are saved where the data is."""


def plan(linked: LinkedCurator) -> None:
    """Ask for the share of the budget, and show what it brings; then offer to pay."""
    offer = st.container()
    left, right = st.columns([2, 3], gap="large")
    with left:
        epsilon = epsilon_view.ask_share(
            f"loss-{linked.people.account.dataset}",
            curator=linked.people,
            default=read_policy().proposed_share("open"),
        )
        epsilon_view.show_meaning(epsilon)
        most = linked.events.schema.unit.max_rows
        st.caption(
            _(
                "{share} of it is for the people, and the rest for the events. There "
                "the noise is larger, because one person may have {most} of them."
            ).format(share=percent(float(share_of_people(most))), most=most)
        )
    with right, widgets.catch_and_show_errors():
        loss = epsilon_view.loss_of_epsilon(linked.people, epsilon)
        _preview(linked, loss, offer)


def _preview(linked: LinkedCurator, loss: AnyLoss, offer: DeltaGenerator) -> None:
    quotes = _quote(linked, loss)
    account = linked.people.account
    charge = sum(quote.charge for quote in quotes)
    after = quotes[0].balance.remaining_units - charge
    st.header(
        _("What you would get"),
        help=_(
            "Computed from the declared facts, and from the number of rows rounded "
            "to one digit. Only you see that number. Nothing is charged."
        ),
    )
    places = [*st.columns(2), *st.columns(2)]
    places[0].metric(
        capital("cost"), share_percent(charge, account), help=_(GLOSSARY["charge"])
    )
    places[1].metric(
        _("Left after"),
        share_percent(max(0, after), account),
        help=_(GLOSSARY["budget"]),
    )
    titles = (_("Error of people (95 %)"), _("Error of events (95 %)"))
    for place, title, quote in zip(places[2:], titles, quotes, strict=True):
        place.metric(title, f"± {number(_worst(quote))}")
    drowned = _drowned_columns(linked, quotes)
    if drowned:
        st.warning(
            _(
                "**Noise hides** {columns}. Choose a larger share, or open the files "
                "again without these columns or with fewer cells in them, such as ages "
                "in steps of five years. Nothing is charged yet."
            ).format(columns=escape_markdown(join(drowned), max_length=300)),
            icon=":material/warning:",
        )
    with offer:
        if is_pair_planned():
            _offer_plan(linked, loss)
        else:
            _offer(linked, loss, quotes)
    sizes = [approximate_rows(curator, linked) for _title, curator in _views(linked)]
    people, events = sizes
    if is_pair_planned():
        st.caption(
            _(
                "An average cell is that of about {people:,} people and {events:,} "
                "events, your numbers from the Data page rounded to one digit."
            ).format(people=round(people), events=round(events))
        )
    elif all(released_rows(curator) for _title, curator in _views(linked)):
        st.caption(
            _(
                "An average cell is that of about {people:,} people and {events:,} "
                "events, as released."
            ).format(people=round(people), events=round(events))
        )
    elif all(sizes):
        st.caption(
            _(
                "An average cell is that of about {people:,} people and {events:,} "
                "events, your numbers rounded to one digit. Only you see them."
            ).format(people=round(people), events=round(events))
        )
    headings = (
        _("Errors where people are counted"),
        _("Errors where events are counted, by their own columns and by the person's"),
    )
    for heading, rows, (title, _curator), quote in zip(
        headings, sizes, _views(linked), quotes, strict=True
    ):
        st.markdown(f"**{heading}**")
        tables = [
            (
                " × ".join(table.clique) or _("number of rows"),
                table.cells,
                table.half_width(),
            )
            for table in quote.expected[:MAX_TABLES_SHOWN]
        ]
        if tables:
            widgets.show_chart(expected_errors(tables, rows), key=f"expected-{title}")
    st.caption(
        _(
            "The bars show the error of single columns. The program picks pairs "
            "of columns while it runs."
        )
    )
    st.caption(
        _(
            "Events of one person depend on each other through the columns of the "
            "person, their number and their order alone."
        )
    )


def _quote(linked: LinkedCurator, loss: AnyLoss) -> tuple[Quote, Quote]:
    """Return the cost of each view, with the error for about so many rows."""
    rule = linked.people.rule
    spend = rule.convert(loss)

    def expect(curator: Curator, view: Schema, quote: Quote) -> Quote:
        share = spend.share(Fraction(quote.own_charge, UNIT) / spend.amount)
        known = curator.quote(
            propose_recipe(view), share, table_rows=approximate_rows(curator, linked)
        )
        return dataclasses.replace(quote, expected=known.expected)

    of_people, of_events = linked.quote(loss)
    views = linked.linked
    return (
        expect(linked.people, views.people_view, of_people),
        expect(linked.events, views.events_view, of_events),
    )


def _views(linked: LinkedCurator) -> tuple[tuple[str, Curator], ...]:
    return ((_("People"), linked.people), (_("Events"), linked.events))


def _worst(quote: Quote) -> float:
    return max(table.half_width() for table in quote.expected)


def _drowned_columns(linked: LinkedCurator, quotes: tuple[Quote, Quote]) -> list[str]:
    """Return the columns whose error is larger than their average count."""
    names: list[str] = []
    for (_title, curator), quote in zip(_views(linked), quotes, strict=True):
        rows = approximate_rows(curator, linked)
        for table in quote.expected:
            is_hidden = table.half_width() * max(1, table.cells) >= DROWNED_ERROR * rows
            if rows and is_hidden:
                names += [name for name in table.clique if name not in names]
    return names


def _offer_plan(linked: LinkedCurator, loss: AnyLoss) -> None:
    """Offer files that make the planned release where both tables are kept."""
    job = LinkedJob(
        tables=PLANNED_FILES,
        schema=linked.linked,
        budget=loss_from_fields(linked.people.account.promise),
        people_recipe=propose_recipe(linked.linked.people_view),
        events_recipe=propose_recipe(linked.linked.events_view),
        loss=loss,
    )
    reading = "\n".join(
        file_reading_code(name, variable=PurePath(name).stem) for name in PLANNED_FILES
    )
    pay_view.offer_plan_files(
        _(releases.LINKED_TITLE),
        script=write_linked_script(job, reading, PLAN_ROWS),
        job=job.to_json(),
        codebook=job.schema.without_private_texts().to_json(),
    )
    st.caption(
        _(
            "Nothing was read and nothing is charged. Take these files to the computer "
            "that holds the data, and save the tables there as {people} and {events}. "
            "The script prints these quotes and writes linked-release.json. The script "
            "keeps no ledger. The command `privacy-workbench release` keeps one if you "
            "run the job with it. Or open both files on the Data page, and load the "
            "codebook there."
        ).format(people=PLANNED_FILES[0], events=PLANNED_FILES[1])
    )


def _offer(linked: LinkedCurator, loss: AnyLoss, quotes: tuple[Quote, Quote]) -> None:
    account = linked.people.account
    charge = sum(quote.charge for quote in quotes)
    left = quotes[0].balance.remaining_units
    stored = _stored(linked, quotes)
    if pay_view.press_release(
        amount_words(charge, account), stored, disabled=charge > left
    ):
        _confirm(linked, loss, quotes)
    if left <= 0:
        st.caption(
            _("The budget is spent. Everything released so far stays free to use.")
        )
    elif charge > left:
        st.caption(
            _(
                "This costs more than the rest of the budget ({left}). Choose a "
                "smaller share."
            ).format(left=amount_words(left, account))
        )


def _stored(linked: LinkedCurator, quotes: tuple[Quote, Quote]) -> str | None:
    """Return the id of an earlier release of both tables at this loss.

    It has the same recipes: this page offers no others.
    """
    asked = tuple(quote.own_charge for quote in quotes)
    lines = linked.people.lines()
    charges = {
        line.request_id: line.charge.units for line in lines if line.state == "reserved"
    }
    committed = {line.request_id for line in lines if line.state == "committed"}
    for line in reversed(lines):
        stem, view = releases.split_view(line.request_id)
        ids = [f"{stem} {each}" for each in releases.VIEW_TITLES]
        if (
            view
            and committed.issuperset(ids)
            and tuple(charges[own] for own in ids) == asked
        ):
            return stem
    return None


def _confirm(linked: LinkedCurator, loss: AnyLoss, quotes: tuple[Quote, Quote]) -> None:
    """Ask for confirmation; show which data is read, the result and the cost."""
    runs = session.session().runs
    request_id = runs.next_id
    account = linked.people.account
    charge = sum(quote.charge for quote in quotes)
    spending = same_people_words.list_spending(account.dataset)

    @st.dialog(_("Pay and release"))
    def last_look() -> None:
        st.markdown(f"**{_(releases.LINKED_TITLE)}**")
        st.write(
            _(
                "The program reads the counts of all columns of {name}. You get noisy "
                "counts, and people with events drawn from them, which you may "
                "publish."
            ).format(name=escape_markdown(linked.people.name))
        )
        after = quotes[0].balance.remaining_units - charge
        costs = (
            name_and_text(capital("cost"), amount_words(charge, account)),
            name_and_text(_("Left after"), share_words(after, account)),
        )
        st.write("  \n".join(costs))
        for sentence in spending:
            st.caption(sentence)
        st.write(
            _(
                "In 95 of 100 cases, a cell is off by at most {people} people, or "
                "{events} events."
            ).format(people=number(_worst(quotes[0])), events=number(_worst(quotes[1])))
        )
        if drowned := _drowned_columns(linked, quotes):
            st.warning(
                ngettext(
                    "Noise hides {columns}: its counts will say little.",
                    "Noise hides {columns}: their counts will say little.",
                    len(drowned),
                    columns=escape_markdown(join(drowned), max_length=300),
                )
            )
        schema = linked.events.schema
        if taken := uncovered_facts(schema.from_data, schema.found):
            st.warning(from_data_words(taken))
        if schema.reading_from_data:
            st.warning(reading_words())
        st.write(_("This cannot be undone, and there are no refunds."))
        with st.container(horizontal=True):
            pay = st.button(
                _("Pay and release"),
                type="primary",
                key="confirm",
                on_click=runs.start_linked,
                args=(linked, loss, request_id),
            )
            if pay or st.button(_("Back"), key="cancel"):
                st.rerun()

    last_look()
