"""Pay for a release: the offer, the confirmation, and the progress of the run."""

import streamlit as st

from dpcore.accounting.ledger import Account
from dpcore.accounting.loss import loss_from_fields
from dpcore.release import guarantee_of
from dpcore.schema.schema import uncovered_facts
from dpcore.synthesis.quote import Quote
from workbench import session
from workbench.language.budget import amount_words, share_words
from workbench.language.messages import _, capital, name_and_text
from workbench.language.wording import (
    escape_markdown,
    from_data_words,
    number,
    percent,
    reading_words,
)
from workbench.report.files import file_name
from workbench.session.run import Run
from workbench.store.sources.job import Job
from workbench.synthesize.preview import Preview
from workbench.synthesize.script import PLAN_ROWS, file_reading_code, write_script
from workbench.synthesize.state import planning_curator
from workbench.ui import (
    charged,
    file_view,
    kept_view,
    releases,
    same_people_words,
    verdict,
    widgets,
)


def offer(preview: Preview) -> None:
    """Show the expected error, the price and the button to pay.

    Without rows, the files to take along take the place of the button.
    """
    leading = _leading_errors(preview)
    if leading:
        st.write(" ".join(leading))
    if preview.curator is planning_curator():
        _offer_files(preview)
        return
    curator = preview.curator
    quote = preview.quote
    account = preview.curator.account
    stored = curator.stored_request(
        preview.recipe, preview.loss, part=preview.part or None
    )
    report = (
        charged.bought_verdict(curator, curator.release(stored)) if stored else None
    )
    judged = None if report is None else verdict.judge_release(report)
    is_unfit = judged is not None and judged.level == "poor"
    if press_release(
        cost_words(quote, account), stored, disabled=is_unfit or not quote.is_affordable
    ):
        _confirm(preview)
    if judged is not None and is_unfit:
        ways = _(
            "Release it again with a larger share of the budget, or with fewer columns."
        )
        st.caption(f"{judged.sentence} {ways}")
    if quote.charge < quote.own_charge:
        st.caption(
            _(
                "On its own, this part would cost {own}. What you paid for other "
                "parts covers some of that."
            ).format(own=amount_words(quote.own_charge, account))
        )
    if quote.balance.remaining_units <= 0:
        st.caption(
            _("The budget is spent. Everything released so far stays free to use.")
        )
    elif not quote.is_affordable:
        st.caption(
            _(
                "This costs more than the rest of the budget ({left}). Choose a "
                "smaller share."
            ).format(left=amount_words(quote.balance.remaining_units, account))
        )


def cost_words(quote: Quote, account: Account) -> str:
    """Write the cost of a release, so that it adds up with what was spent before."""
    return amount_words(quote.charge, account, before=quote.charged_before)


def press_release(cost: str, stored: str | None, *, disabled: bool) -> bool:
    """Show the button that releases, and return whether it was pressed.

    Args:
        cost: in words.
        stored: request id of an earlier release of the same, which is shown for free.
        disabled: whether it cannot be released now.
    """
    label = _("Draw again for {cost}") if stored else _("Release for {cost}")
    with st.container(horizontal=True):
        if stored:
            st.button(
                _("Show the stored release, free"),
                type="primary",
                on_click=session.session().runs.show,
                args=(stored,),
            )
        return st.button(
            label.format(cost=cost),
            type="secondary" if stored else "primary",
            disabled=disabled,
            key="release",
        )


def _leading_errors(preview: Preview) -> list[str]:
    return preview.form.error_sentences(
        preview.recipe, preview.curator, preview.spent_loss, preview.rows
    )


def _confirm(preview: Preview) -> None:
    """Ask for confirmation; show which data is read, the result and the cost."""
    runs = session.session().runs
    request_id = runs.next_id
    curator = preview.curator
    recipe = preview.recipe
    quote = preview.quote
    # whoever lost the role meanwhile may not read the ledger any more
    spending = same_people_words.list_spending(curator.account.dataset)

    @st.dialog(_("Pay and release"))
    def last_look() -> None:
        st.markdown(
            f"**{escape_markdown(releases.describe_request(recipe.to_dict()), max_length=400)}**"
        )
        st.write(
            _(
                "The program reads the counts of these columns in {name}. You "
                "get noisy counts, and rows drawn from them, which you may "
                "publish."
            ).format(name=escape_markdown(curator.name))
        )
        for column, category in preview.part.items():
            st.write(
                name_and_text(
                    _("Only rows with"),
                    f"{escape_markdown(column)} = {escape_markdown(category)}",
                )
            )
        st.write(
            "  \n".join(
                [
                    name_and_text(capital("cost"), cost_words(quote, curator.account)),
                    name_and_text(
                        _("Left after"),
                        share_words(quote.remaining_units_after, curator.account),
                    ),
                ],
            ),
        )
        for sentence in spending:
            st.caption(sentence)
        leading = _leading_errors(preview)
        if leading:
            st.write(" ".join(leading))
        elif quote.expected:
            worst = max(table.half_width() for table in quote.expected)
            st.write(
                _("In 95 of 100 cases, a cell is off by at most {half} rows.").format(
                    half=number(worst)
                ),
            )
        read = recipe.reads(curator.schema.domain)
        planned = guarantee_of(
            curator.schema,
            preview.loss,
            curator.rule,
            facts_from_data=recipe.facts_from_data,
        )
        taken = uncovered_facts(planned.from_data, planned.found)
        if taken := {name: facts for name, facts in taken.items() if name in read}:
            st.warning(from_data_words(taken))
        if curator.schema.reading_from_data:
            st.warning(reading_words())
        st.write(_("This cannot be undone, and there are no refunds."))
        with st.container(horizontal=True):
            pay = st.button(
                _("Pay and release"),
                type="primary",
                key="confirm",
                on_click=runs.start,
                args=(
                    curator,
                    recipe,
                    preview.loss,
                    preview.part,
                    request_id,
                    session.view_of(curator, session.session().linked),
                ),
            )
            if pay or st.button(_("Back"), key="cancel"):
                st.rerun()

    last_look()


def follow_run() -> None:
    """Show the stage of the run until it has ended, then its result."""
    runs = session.session().runs
    running = runs.current
    if running is None:
        return
    if not running.has_ended.is_set():
        if running.has_ended.wait(1.0):  # most runs end within a second
            st.rerun()  # redraws the header with the new budget
        _show_progress()
        return
    if running.release is not None or running.is_stored():
        runs.show(running.request_id)
        st.rerun()
    if running.error is not None:
        widgets.error_box(running.error)
        _show_charge(running)
    st.button(_("Back"), on_click=runs.show, args=(None,))


def _show_charge(running: Run) -> None:
    if running.is_waiting():
        st.button(
            _("Store it now"),
            type="primary",
            on_click=session.session().runs.store_again,
            args=(running.request_id,),
            key="retry",
        )
        if text := running.waiting_release_text():
            dataset = running.curator.account.dataset
            kept_view.offer_download(dataset, running.request_id, text)
    elif running.is_charged():
        st.caption(
            _(
                "The charge stays, because noise may already have been drawn. The "
                "Ledger page lists it."
            )
        )
    else:
        st.caption(_("Nothing was charged."))


@st.fragment(run_every=0.5)
def _show_progress() -> None:
    running = session.session().runs.current
    if running is None or running.has_ended.is_set():
        st.rerun()
    if running.queue_place:
        st.progress(
            0.0,
            text=_("Other runs come first. Your place in the queue: {place}.").format(
                place=running.queue_place
            ),
        )
    else:
        read = (
            " · " + _("{rows:,} rows read").format(rows=running.rows_read)
            if running.rows_read
            else ""
        )
        st.progress(
            min(1.0, running.share_done),
            text=f"{percent(running.share_done) if running.stage else _('Computing')}{read}",
        )
    stopping = running.stop_requested.is_set()
    st.caption(
        _(
            "Stopping. If all noise has already been drawn, the release is paid "
            "for, so it is finished and kept."
        )
        if stopping
        else _(
            "The charge is recorded in the ledger. You may leave this page: you "
            "will find the release in the list below."
        )
        if running.charged
        else _(
            "Nothing is charged yet. You may leave this page: you will find "
            "the release in the list below."
        ),
    )
    st.button(
        _("Stop (the charge stays)") if running.charged else _("Stop"),
        on_click=running.stop_requested.set,
        disabled=stopping,
        key="stop",
    )


def _offer_files(preview: Preview) -> None:
    """Offer files that make the planned release where the rows are kept."""
    curator = preview.curator
    job = Job(
        table="table.csv",
        schema=curator.schema,
        budget=loss_from_fields(curator.account.promise),
        recipe=preview.recipe,
        loss=preview.loss,
        part=next(iter(preview.part.items()), None),
    )
    offer_plan_files(
        releases.describe_request(job.recipe.to_dict()),
        script=write_script(job, file_reading_code(job.table), PLAN_ROWS),
        job=job.to_json(),
        codebook=job.schema.without_private_texts().to_json(),
    )
    st.caption(
        _(
            "Nothing was read and nothing is charged. Take these files to the "
            "computer that holds the data, and save the data there as table.csv. "
            "The script prints this quote and writes release.json. The script keeps "
            "no ledger, but the command line does if you run the job there. You can "
            "open release.json on the Ledger page, and declare the file with the "
            "codebook on the Data page."
        )
    )


def offer_plan_files(what: str, *, script: str, job: str, codebook: str) -> None:
    """Offer the script, the job and the codebook of a plan as files.

    Args:
        what: what is planned, in words.
    """
    files = (
        (_("Script (Python)"), script, "py"),
        (_("Download as a job (JSON)"), job, "job.json"),
        (f"{_('Codebook')} (JSON)", codebook, "codebook.json"),
    )
    with st.container(horizontal=True):
        for label, text, ending in files:
            file_view.download(label, text, file_name(what, "plan", ending))
