"""What the Evaluate page runs when asked: learning, disclosure, methods compared, a figure to share."""

from __future__ import annotations

import streamlit as st

from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.evaluation.attacks import CanaryReport, Disclosure
from dpcore.evaluation.utility.features import has_classes
from dpcore.evaluation.utility.learning import HIGHER_IS_BETTER, TASKS, applies
from dpcore.evaluation.utility.similarity import SimilarityReport
from dpcore.release import Release
from workbench import session
from workbench.evaluate import again, heavy, sharing, sweep
from workbench.evaluate.candidates import Candidate
from workbench.evaluate.charts import against_epsilon, attacks, scores
from workbench.evaluate.view import told
from workbench.ui import epsilon_view, widgets
from workbench.ui.language import _
from workbench.ui.progress_view import being_computed
from workbench.ui.wording import percent, plain


def learning(curator: Curator, candidate: Candidate, found: SimilarityReport) -> None:
    """Learn from the release and from the original, in both scenarios."""
    names = heavy.targets(curator, candidate)
    if len(names) < 2:
        st.info(_("There is nothing to learn from a single column."))
        return
    with st.container(horizontal=True, vertical_alignment="bottom"):
        target = st.selectbox(_("Column to predict"), names, key=f"learn-target-{candidate.key[:8]}")
        tasks = st.multiselect(
            _("Learners"),
            list(TASKS),
            list(TASKS[:3]),
            format_func=lambda task: heavy.task_titles()[task],
            key="learn-tasks",
        )
        splits = st.number_input(_("Splits"), 1, 10, heavy.SPLITS, key="learn-splits")
    column = curator.schema.column(target)
    idle = [task for task in tasks if not applies(task, column)]
    if idle:
        what = _("classes") if has_classes(column) else _("numbers")
        st.caption(
            _("Left out, because {column} holds {what}: {learners}.").format(
                column=plain(target),
                what=what,
                learners=", ".join(heavy.task_titles()[each] for each in idle),
            )
        )
    tasks = [task for task in tasks if task not in idle]
    key = heavy.learning_key(candidate, target, tasks, int(splits))
    scored = heavy.known(key)
    if scored is None:
        if not tasks or not st.button(_("Learn"), type="primary", key="learn"):
            st.caption(
                _(
                    "Each split learns from 80 % of the people and tests on the others. "
                    "The first three learners are fast."
                )
            )
            return
        with told(_("Learning")) as tell:
            scored = heavy.learn(curator, candidate, key, tell)
        st.rerun()  # the overview above has a figure now
    measures = [each for each in heavy.measure_titles() if any(score.measure == each for score in scored)]
    measure = st.segmented_control(
        _("Measure"),
        measures,
        default=measures[0],
        required=True,
        format_func=lambda each: heavy.measure_titles()[each],
        key="learn-measure",
    )
    better = _("more is better") if HIGHER_IS_BETTER[measure] else _("less is better")
    for scenario, title in (
        (2, _("**Learned from the release, tested on the original** ({better})")),
        (1, _("**Learned from the original, tested on the release** ({better})")),
    ):
        st.markdown(title.format(better=better))
        frame = heavy.scores_table(scored, measure, scenario)
        widgets.show_chart(scores(frame, title=heavy.measure_titles()[measure]), key=f"scores-{scenario}")
    st.caption(
        _(
            "Lines are the spread over the splits. A score above that of the original means that "
            "the release is easier to learn from, not better. The release was made from all rows, "
            "those that are tested on as well."
        )
    )


def disclosure(curator: Curator, candidate: Candidate, found: SimilarityReport) -> None:
    """Attack the release, or the file that was brought."""
    st.markdown(
        _(
            "An attack can show a leak. Finding none proves nothing. Each one is tried on people "
            "in the release and on others (the control), who cannot be harmed by it: only what "
            "works better on the first is a leak."
        )
    )
    make = again.maker(candidate.release, curator.schema) if candidate.release else None
    names = [_("all in turn"), *(name for name in curator.schema.domain.names if name in candidate.rows)]
    chosen = st.selectbox(_("Value to guess"), names, key=f"attack-secret-{candidate.key[:8]}")
    secret = None if chosen == names[0] else chosen
    if make is not None:
        st.caption(
            _(
                "The recipe runs again in memory, on half of the people; the others are the control. "
                "Nothing is charged."
            )
        )
        key, control = heavy.attacks_key(candidate, secret, "half"), None
    else:
        control = widgets.table_uploader(
            _("People of the same kind who are not in the release, with the same headers"),
            key="attack-control",
        )
        rows = "none" if control is None else f"{len(control)}"
        key = heavy.attacks_key(candidate, secret, rows)
    report = heavy.known(key)
    if report is None:
        if st.button(_("Attack"), type="primary", key="attack"):
            with told(_("Attacking")) as tell:
                if make is not None:
                    heavy.attack_again(curator, key, make, tell)
                else:
                    heavy.attack(curator, candidate, key, control, tell)
            st.rerun()
    else:
        _attacked(report)
    if make is not None:
        _canaries(candidate)


def _attacked(report: Disclosure) -> None:
    if not report.control:
        st.warning(
            _(
                "Without a control table there is no verdict: what the release teaches about everybody looks "
                "the same as what it leaks about its people. Bring one above, or hold people out next time."
            )
        )
    elif report.found:
        worst = ", ".join(heavy.attack_titles()[each.attack] for each in report.found)
        st.warning(
            _("**People in it are exposed: {attacks}.** Do not publish this table.").format(attacks=worst),
            icon=":material/gpp_bad:",
        )
    else:
        st.success(
            _("No attack works better on {people} rows of people in it than on {control} of others.").format(
                people=f"{report.people:,}", control=f"{report.control:,}"
            ),
            icon=":material/shield:",
        )
    widgets.show_chart(attacks(heavy.attacks_table(report)), key="attacks")


def _canaries(candidate: Candidate) -> None:
    report: CanaryReport | None = heavy.known(heavy.canaries_key(candidate))
    if report is None:
        st.caption(
            _(
                "Canaries: invented people are planted in rows drawn from the release, with chance one half "
                "each, and the recipe runs once. How well one can guess who was in proves a least epsilon. "
                "Nothing private is read."
            )
        )
        if not st.button(_("Audit the recipe with {number} canaries").format(number=f"{heavy.CANARIES:,}")):
            return
        with st.spinner(_("Running the recipe once")):
            report = heavy.audit_with_canaries(candidate)
    low, high = report.guesses.interval()
    st.markdown(
        _(
            "**Canaries prove an epsilon of at least {epsilon:.2f}** (in 95 of 100 audits below the true "
            "one). {right} of {attempts} guesses were right, {low} to {high}; a coin has 50 %."
        ).format(
            epsilon=report.epsilon,
            right=percent(report.guesses.value),
            attempts=report.guesses.attempts,
            low=percent(low),
            high=percent(high),
        )
    )


def compare_methods() -> None:
    """Methods against epsilon, on tables in which nobody is."""
    st.markdown(
        _(
            "Before you spend: the methods on invented people, at several epsilons. Nothing is charged, and "
            "your table is not read. A public table of your own may take part."
        )
    )
    tables = sweep.tables()
    own = widgets.table_uploader(_("A public table with a column of labels"), key="sweep-file")
    chosen = st.multiselect(
        _("Tables"),
        list(tables),
        list(tables)[:1],
        format_func=tables.__getitem__,
        key="sweep-tables",
    )
    known = sweep.methods()
    names = st.multiselect(
        _("Methods"),
        list(known),
        list(known),
        format_func=lambda name: known[name].title,
        key="sweep-methods",
    )
    epsilons = st.multiselect(
        _("Epsilons"), list(sweep.EPSILONS), list(sweep.DEFAULT_EPSILONS), key="sweep-epsilons"
    )
    rows = 0 if own is None else len(own)
    key = ("sweep", tuple(chosen), tuple(names), tuple(sorted(epsilons)), rows)
    frame = heavy.known(key)
    if frame is None:
        if not (chosen or rows) or not names or not epsilons or not st.button(_("Compare"), type="primary"):
            return
        invented = [sweep.table(name) for name in chosen]
        if own is not None:
            invented.append(sweep.invented(_("public table"), own))
        with told(_("Comparing")) as tell, widgets.in_line():
            frame = sweep.sweep(invented, names, sorted(epsilons), tell)
        session.session().reports[key] = frame
    titles = {"pairs": _("distance of all pairs of columns"), **heavy.measure_titles()}
    measure = st.segmented_control(
        _("Measure"),
        [each for each in titles if (frame["measure"] == each).any()],
        default="pairs",
        required=True,
        format_func=lambda each: titles[each],
        key="sweep-measure",
    )
    shown = frame[frame["measure"] == measure].drop(columns="measure")
    widgets.show_pictures(against_epsilon(shown, measure=titles[measure]), key="sweep")


def share(curator: Curator, release: Release) -> None:
    """One figure with noise, which is charged and may be shared; and those that were bought before."""
    _offer(curator, release)
    if running := sharing.running(curator):
        being_computed(lambda: sharing.running(curator) != running)
    for report in sharing.reports(curator):
        st.markdown(f"**{plain(sharing.title(report), at_most=200)}**  \n{sharing.words(report)}")
        widgets.private_badge(report)


def _offer(curator: Curator, release: Release) -> None:
    offers = sharing.offers(curator, release)
    title = st.selectbox(_("Figure"), list(offers), key=f"share-figure-{release.request_id[:8]}")
    left = epsilon_view.left(curator)
    if left <= 0:
        st.info(_("Nothing is left of the budget."))
        return
    epsilon = epsilon_view.picker(_("Share of the budget"), key="share", default=0.1, largest=left)
    try:
        loss = epsilon_view.loss(curator, epsilon)
        request_id = curator.request_of(offers[title], loss)
    except DpcoreError as error:
        widgets.error_box(error)
        return
    st.button(
        _("Pay epsilon {epsilon:g} for this figure").format(epsilon=epsilon),
        key=f"share-pay-{request_id}",
        disabled=epsilon > left or request_id in sharing.running(curator),
        on_click=sharing.pay,
        args=(curator, offers[title], loss, request_id),
    )
