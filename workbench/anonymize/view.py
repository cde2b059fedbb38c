"""Views of the Anonymize page."""

import functools
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from dpcore.anonymization.models import KAnonymity
from dpcore.anonymization.plan import Plan
from dpcore.anonymization.promise import EARLIER_TABLE_TEXT, EXCEPTION_TEXT
from dpcore.curator import Curator
from dpcore.errors import DpcoreError, InfeasibleError
from dpcore.evaluation.table.list_attack import attack_with_list
from dpcore.evaluation.table.trial import TrialReport
from dpcore.io import to_csv, to_parquet, to_xlsx
from dpcore.io.xlsx import fits_xlsx
from dpcore.release import AnonymizedTable
from workbench import session
from workbench.anonymize import (
    advice_view,
    context_view,
    demands_form,
    document,
    outcomes,
    plans,
)
from workbench.anonymize.state import AnonymizeState
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import (
    _,
    capital,
    decimal_sign,
    language_code,
    name_and_text,
    translate_stored,
)
from workbench.language.wording import (
    escape_markdown,
    make_printable,
    number,
    one_label_words,
    percent,
)
from workbench.report import of_table
from workbench.report.files import file_name
from workbench.server.workers import process
from workbench.store.ledger.datasets import public_name
from workbench.ui import examples, file_view, folder_view, widgets
from workbench.ui.attacker_view import ask_known_people


def show_frontier(curator: Curator, page_state: AnonymizeState, plan: Plan) -> None:
    """Show the information loss for every k; a click on a point chooses it."""
    k = max(
        (model.k for model in plan.models if isinstance(model, KAnonymity)), default=1
    )
    predicted = plans.predict_search_size(curator, page_state, plan)
    with st.spinner(_("Working out what each k costs"), show_time=True):
        method, points = outcomes.compute_frontier(curator, page_state, plan)
    heading = _(
        "**What each k costs with {method}: lower is better, further right is safer.**"
    )
    st.markdown(heading.format(method=_(plans.METHOD_NAMES[method.kind])))
    if isinstance(points, DpcoreError) and not isinstance(points, InfeasibleError):
        widgets.error_box(points)
    elif isinstance(points, DpcoreError) or not points:
        st.caption(
            _(
                "No k meets these requirements. See the reason and possible remedies "
                "below."
            )
        )
    else:
        loss, caption = outcomes.present_choice(
            curator, page_state, plan, method, points, k
        )
        chart = outcomes.frontier_chart(points, plan, k, loss)
        # The chart gets a new key after each choice, so that it forgets the old click.
        clicked = session.Selection(
            f"frontier-{method.kind}-{k}-{plan.limit}", "chosen"
        )
        widgets.show_clickable(
            chart, clicked, functools.partial(_choose_point, clicked, method.kind)
        )
        st.caption(f"{_('Click a point to choose it.')} {caption}")
        with st.expander(_("The same figures as a table")):
            widgets.show_table(chart.table, alt=chart.alt)
    if (
        predicted.is_feasible
        and predicted.reference_seconds > outcomes.MAX_SECONDS_UNASKED
        and not page_state.wants_frontier
    ):
        st.button(
            _("Compute all suppression limits (about {seconds:.0f} s)").format(
                seconds=predicted.seconds
            ),
            on_click=setattr,
            args=(page_state, "wants_frontier", True),
        )


def _choose_point(chart: session.Selection, method: str) -> None:
    for point in chart.clicked_marks():
        demands_form.K_FIELD.put(int(point["k"]))
        demands_form.LIMIT_FIELD.put(float(point["share"]))
        demands_form.METHOD_FIELD.put(method)


def show_before_and_after(
    curator: Curator, page_state: AnonymizeState, plan: Plan
) -> None:
    """Show risk and utility side by side, and the limits of the promise."""
    st.header(_("Before and after"))
    widgets.show_internal_badge()
    try:
        with st.spinner(_("Measuring the table before and after"), show_time=True):
            report = outcomes.try_plan(curator, page_state, plan)
    except DpcoreError as error:
        widgets.error_box(error)
        if isinstance(error, InfeasibleError):
            with st.container(horizontal=True):
                for label, do in demands_form.list_remedies(page_state, plan):
                    st.button(label, on_click=do, icon=":material/alt_route:")
        return
    is_new = (
        page_state.plan_of_table is None
        or page_state.plan_of_table.to_json() != plan.to_json()
    )
    versions = outcomes.count_versions(curator) + is_new
    advice_view.show_verdict(page_state, report, versions)
    _show_figures(report)
    left, right = st.columns([2, 3])
    with left:
        widgets.show_chart(outcomes.sizes_chart(report), key="sizes")
    with right:
        st.dataframe(
            outcomes.columns_table(report),
            hide_index=True,
            alt=_("Each column, before and after"),
        )
    if lost := outcomes.lost_values_sentence(report):
        st.warning(lost, icon=":material/group_off:")
    if len(report.coded_figures):
        st.dataframe(
            outcomes.coded_table(report),
            hide_index=True,
            alt=_("Coded columns, before and after"),
        )
    if report.randomized_figures:
        st.dataframe(
            outcomes.randomized_table(report),
            hide_index=True,
            alt=_("Randomized columns, value by value"),
        )
    if report.plan.method.searches and st.toggle(
        _("Show what one level more or less would change"), key="anonymize-steps"
    ):
        _show_neighbors(curator, page_state, report.plan)
    if report.bar_counts:
        st.subheader(_("One column, before and after"))
        name = st.selectbox(
            capital("column"),
            list(report.bar_counts),
            format_func=make_printable,
            key="anonymize-shape",
            persist_state="session",
        )
        widgets.show_chart(outcomes.shape_chart(report, name), key="shape")
    with st.container(border=True):
        st.subheader(_("What this does not promise"))
        warnings = outcomes.warnings(
            curator,
            page_state,
            plan.with_node(report.plan.node, report.plan.gap),
            report.after,
        )
        st.markdown("\n".join(f"- {warning}" for warning in warnings))


def _show_neighbors(curator: Curator, page_state: AnonymizeState, plan: Plan) -> None:
    lines, usable = outcomes.neighbors(curator, page_state, plan)
    st.dataframe(lines, hide_index=True, alt=_("The levels one step away"))
    step = st.selectbox(
        capital("meets the demands"), list(usable), index=None, key="anonymize-step"
    )
    if step in usable:
        st.button(
            _("Use this step"),
            on_click=page_state.use_plan,
            args=(plan.with_node(usable[step]),),
        )


def show_comparison(curator: Curator, page_state: AnonymizeState, plan: Plan) -> None:
    """Compare the methods under the same requirements, once a button is clicked."""
    with st.expander(_("Compare the methods"), expanded=page_state.wants_comparison):
        if not page_state.wants_comparison:
            st.button(
                _("Compare the methods"),
                on_click=setattr,
                args=(page_state, "wants_comparison", True),
            )
            return
        with st.spinner(_("Trying every method"), show_time=True):
            lines, reasons = outcomes.compare_methods(curator, page_state, plan)
        st.dataframe(lines, hide_index=True, alt=_("The methods compared"))
        for reason in reasons:
            st.caption(reason)
        st.caption(_(plans.MESSAGES["local"]))


def _show_figures(report: TrialReport) -> None:
    unique, risk, loss, hidden = st.columns(4)
    highest = report.after.risk.highest
    quiet = dict[str, Any](delta_color="off", delta_arrow="off")
    unique.metric(
        _("Unique {whom}").format(whom=plans.unit_of_groups(report.plan)),
        percent(report.after.risk.uniques),
        name_and_text(_("before"), percent(report.before.risk.uniques)),
        **quiet,
    )
    risk.metric(
        _("Highest risk"),
        _("{share}, 1 in {people}").format(
            share=percent(highest), people=number(1 / highest)
        ),
        name_and_text(_("before"), percent(report.before.risk.highest)),
        **quiet,
    )
    loss.metric(
        capital("generalized"),
        percent(report.quality.ncp),
        help=_(demands_form.METRIC_WORDS["loss"]),
    )
    hidden.metric(
        capital("suppressed rows"),
        percent(report.quality.suppressed_row_share),
        help=_(GLOSSARY["suppression"]),
    )
    wiped = [name for name, ncp in report.quality.column_ncp.items() if ncp >= 1]
    if wiped:
        st.warning(one_label_words(wiped))
    if report.plan.gap:
        st.caption(_(plans.MESSAGES["not all"]).format(gap=percent(report.plan.gap)))
    risks = report.after.risk
    st.caption(
        _(plans.MESSAGES["groups"]).format(
            k=risks.k,
            whom=plans.unit_of_groups(report.plan),
            average=number(
                risks.people * report.after.groups_per_person / risks.classes
            ),
            loss=number(report.quality.loss),
            share=percent(report.quality.suppressed_people_share),
        ),
    )


def show_result(
    curator: Curator, page_state: AnonymizeState, table: AnonymizedTable
) -> None:
    """Show the anonymized table, a recommendation and the report to sign."""
    try:
        with st.spinner(_("Measuring the remaining risk"), show_time=True):
            report = outcomes.residual_risk(curator, table)
    except DpcoreError as error:
        show_table(public_name(curator.lines()), table, [])
        widgets.error_box(error)
        return
    warnings = outcomes.warnings(
        curator, page_state, report.plan, report.published_side
    )
    show_table(public_name(curator.lines()), table, warnings)
    verdict, reasons = document.recommendation(
        report.plan,
        report.published_side,
        report.highest_risk,
        report.linkable,
        outcomes.count_versions(curator),
    )
    with st.container(border=True):
        st.markdown(
            f"**{verdict}** {escape_markdown(' '.join(reasons), max_length=800)}"
        )
        context_view.ask_context(page_state.context_statements)
        file_view.download(
            _("Report to sign (HTML, internal)"),
            lambda: document.to_html(
                curator, report, warnings, page_state.context_statements
            ),
            file_name(curator.name, "residual risk internal", "html"),
            icon="signature",
        )


def show_table(name: str, table: AnonymizedTable, warnings: Sequence[str]) -> None:
    """Show the anonymized table, with downloads of the table, its plan and its page.

    Args:
        name: name of the data set, for the names of files.
    """
    models = " ".join(
        text
        for text in table.guarantee.models
        if EXCEPTION_TEXT not in text and EARLIER_TABLE_TEXT not in text
    )
    st.success(
        _(plans.MESSAGES["ready"]).format(
            models=escape_markdown(
                translate_stored(*table.guarantee.models), max_length=800
            )
        )
    )
    widgets.show_rows(
        table.table.frame.head(200), alt=_("The first rows of the anonymized table")
    )
    made = f"anonymized {models}"

    def offer(
        label: str, data: Any, what: str, ending: str, detail: str = "", **options: Any
    ) -> None:
        named = file_name(name, what, ending, detail=detail)
        file_view.download(label, data, named, **options)

    with st.container(horizontal=True):
        offer("CSV", lambda: to_csv(table.table), made, "csv")
        for_spreadsheet = functools.partial(
            to_csv, table.table, spreadsheet_decimal=decimal_sign()
        )
        label = _("CSV for spreadsheets")
        offer(label, for_spreadsheet, made, "csv", "spreadsheet")
        if fits_xlsx(table.table):
            # A separate process makes the workbook, as a million cells take some
            # seconds.
            workbook = functools.partial(process.compute, to_xlsx, table.table)
            offer("Excel", workbook, made, "xlsx")
        parquet = functools.partial(
            to_parquet, table.table, table.guarantee.as_metadata()
        )
        offer("Parquet", parquet, made, "parquet")
        secret = _(
            "The plan can make the same table again, and it lists values of the "
            "original. Do not publish it."
        )
        label = _("Plan (JSON, internal)")
        offer(
            label,
            table.plan,
            f"plan {models}",
            "json",
            "internal",
            icon="description",
            help=secret,
        )
        if table.follow_up:
            label = _("Follow-up table (JSON, internal)")
            offer(label, table.follow_up, "follow-up", "json", "internal", icon="key")
        page = functools.partial(
            of_table.stand_alone_page, table.table, table.guarantee, warnings
        )
        offer(_("Download as one HTML file"), page, made, "html", icon="description")
        if st.button(_("Evaluate"), icon=":material/balance:"):
            session.leave_note(session.JudgeAnonymizedTable())
            st.switch_page(session.page_script("evaluate"))
        if warnings and st.button(_("Show it to somebody"), icon=":material/link:"):
            session.leave_note(
                session.OfferTable(anonymized_table=table, not_promised=tuple(warnings))
            )
            st.switch_page(session.page_script("links"))


def offer_folder(curator: Curator, plan: Plan) -> None:
    """Offer to write a table of any size to a folder, if the settings allow it."""
    # The file name lists no models if suppressed rows are kept or blanked, as the
    # models may then not hold for all rows.
    models = () if plan.suppressed in ("kept", "blanked") else plan.models
    folder_view.offer_folder(
        _("Write a table of any size on the server"),
        file_name(
            public_name(curator.lines()),
            f"anonymized {' '.join(map(str, models))}",
            "parquet",
        ).removesuffix(".parquet"),
        lambda place: outcomes.write_table(curator, plan, place),
        key="anonymized",
    )


def show_list_attack(curator: Curator, table: AnonymizedTable) -> None:
    """Ask for a list of known people; show whom it finds in the table.

    Its values are recoded in the same way before.
    """
    section = st.expander(
        _("What would somebody with a list of people find?"), key="relink"
    )
    with section, widgets.catch_and_show_errors():
        widgets.show_internal_badge()
        listed = ask_known_people(curator, key="relink-list")
        if listed is None:
            return
        name, given = listed
        digest = (hash(table.plan), hash(tuple(pd.util.hash_pandas_object(given))))
        with st.spinner(_("Looking for these people in the table"), show_time=True):
            match = session.compute_once(
                ("relinked", *digest), lambda: attack_with_list(table, given)
            )
        st.markdown(
            _(plans.MESSAGES["found"]).format(
                name=escape_markdown(name),
                unique=match.unique_matches,
                people=match.people,
                matched=match.matched_people,
                smallest=match.smallest_class_rows,
            ),
        )
        st.caption(_(plans.MESSAGES["recoded list"]))


def show_guided_example() -> None:
    """Show the small tables of a textbook, step by step."""
    title = _("A guided example: seven small tables that can be counted by hand")
    with widgets.fold(title, key="guided-example") as is_open:
        if not is_open:
            return
        st.caption(_(examples.BOOK_REFERENCE))
        for step in examples.EXAMPLES:
            st.markdown(f"**{name_and_text(capital('table'), step.number)}**")
            left, right = st.columns([2, 3])
            left.dataframe(
                step.frame(),
                hide_index=True,
                alt=name_and_text(capital("table"), step.number),
            )
            right.write(escape_markdown(_(step.description), max_length=400))
            counted, results = examples.compute_results(step, language_code())
            right.markdown("  \n".join(f"**{line}**" for line in counted))
            for (says, _run), result in zip(step.operations, results, strict=True):
                right.write(_(says))
                right.dataframe(
                    result,
                    hide_index=True,
                    alt=escape_markdown(_(says), max_length=200),
                )
