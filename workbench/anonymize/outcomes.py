"""Results of a plan, and of the same plan with other methods and limits."""

import dataclasses
import functools
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pandas as pd

from dpcore.anonymization.fulldomain.frontier import FrontierPoint
from dpcore.anonymization.fulldomain.metrics import InformationLoss
from dpcore.anonymization.methods import CellSuppression, FullDomain, Method, Mondrian
from dpcore.anonymization.models import KAnonymity
from dpcore.anonymization.plan import Plan
from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.evaluation.table.proposals import FrontierQuestion, NeighborsQuestion
from dpcore.evaluation.table.residual_risk import (
    ResidualRiskQuestion,
    ResidualRiskReport,
)
from dpcore.evaluation.table.trial import RiskSide, TrialQuestion, TrialReport
from dpcore.progress import OnProgress
from dpcore.release import AnonymizedTable
from dpcore.risk.disclosure import AttributeRisk
from workbench import session
from workbench.anonymize import charts, plans
from workbench.anonymize.plans import (
    FRONTIER_KS,
    FRONTIER_LIMITS,
    METHOD_NAMES,
    predict_search_size,
    suggested_method,
    unit_of_groups,
    why_not_compared,
)
from workbench.anonymize.state import AnonymizeState
from workbench.language.messages import (
    N_,
    _,
    capital,
    join_with_commas,
    localize_number,
    name_and_text,
)
from workbench.language.wording import (
    escape_markdown,
    exact_tables_sentence,
    limit_words,
    number,
    percent,
    whole_number_text,
)
from workbench.report.charts import Chart
from workbench.server.workers.callbacks import StoppedError, cancelled_by
from workbench.store.policy import read_policy
from workbench.ui import progress_view

MAX_LOST_VALUES_NAMED = 5  # values without any row left that are named
MAX_SECONDS_UNASKED = (
    3.0  # predicted seconds of a frontier above which it waits for a click
)
MAX_VALUES_LISTED = (
    50  # values of a randomized column in the list, the most frequent ones
)
# Share of a search that must be done before the remaining time is shown. From then on,
# the forecast is right within a factor of 2 in 19 of 20 searches; earlier forecasts
# were up to 5 times too long.
MIN_SHARE_FOR_FORECAST = 0.25


def compute_frontier(
    curator: Curator,
    page_state: AnonymizeState,
    plan: Plan,
) -> tuple[Method, tuple[FrontierPoint, ...] | DpcoreError]:
    """Compute the information loss for every k; return it with the method used.

    That is suppression of cells where it is chosen, else full-domain at every limit
    where one pass is quick or wanted, else at the chosen limit while that is suggested,
    else Mondrian.
    """
    predicted = predict_search_size(curator, page_state, plan)
    method = suggested_method(predicted, len(plan.quasi_identifiers))
    limits: tuple[float, ...] = (plan.limit,)
    if predicted.is_feasible and (
        predicted.reference_seconds <= MAX_SECONDS_UNASKED or page_state.wants_frontier
    ):
        method = FullDomain()
        limits = FRONTIER_LIMITS
    elif not method.searches:
        method = Mondrian()
    if plan.method == CellSuppression():
        method = plan.method
        limits = (plan.limit,)
    asked_of = (
        plan.models[1:],
        str(plan.metric),
        plan.unit_column,
        plan.subset,
        str(plan.node),
        str(plan.coded),
    )
    key = ("frontier", method.kind, limits, page_state.version, *asked_of)
    every_k = dataclasses.replace(
        plan,
        method=method,
        models=(KAnonymity(k=2), *plan.models[1:]),
        # other methods choose no level for a whole column
        floor=plan.floor if method.searches else {},
    )
    try:
        with _show_progress(page_state, key) as tell:
            return method, progress_view.evaluate_in_line(
                curator,
                key,
                lambda: FrontierQuestion(plan=every_k, ks=FRONTIER_KS, limits=limits),
                tell,
            )
    except DpcoreError as error:
        return method, error


@contextmanager
def _show_progress(
    page_state: AnonymizeState, key: tuple[object, ...]
) -> Iterator[OnProgress]:
    """Show a bar and a Stop button, if the work takes longer than a second.

    What was stopped is not begun again before something is changed.
    """
    if key in page_state.stopped_searches:
        raise StoppedError(
            N_("this search was stopped"),
            remedy=N_("change the demands, or the columns"),
        )
    words = dict[str, str]()
    first = dict[str, float]()

    def tell(stage: str, share: float) -> None:
        now = time.monotonic()
        words[stage] = stage_words(
            _("searching"), now - first.setdefault(stage, now), share
        )
        show(stage, share)

    stop = functools.partial(page_state.stopped_searches.add, key)
    with progress_view.show_progress(
        capital("searching"),
        words,
        key=f"stop {key}",
        delay_seconds=progress_view.PATIENCE_SECONDS,
        on_stop=stop,
    ) as show:
        yield tell


def stage_words(stage: str, spent: float, share: float) -> str:
    """Return the name of a stage, with the seconds left if they can be predicted."""
    left = spent * (1 - share) / max(share, 1e-6)
    if share < MIN_SHARE_FOR_FORECAST or left < 1:
        return stage
    return _("{stage}, about {seconds:,.0f} s left").format(stage=stage, seconds=left)


def try_plan(curator: Curator, page_state: AnonymizeState, plan: Plan) -> TrialReport:
    """Try a plan without making the table; keep the report. Raises: the errors of a
    plan.
    """
    key = _trial_key(page_state, plan)
    if has_failed(page_state, plan):
        assert page_state.failed_trial is not None
        raise page_state.failed_trial[1]
    try:
        with _show_progress(page_state, key) as tell:
            return progress_view.evaluate_in_line(
                curator, key, lambda: TrialQuestion(plan=plan), tell
            )
    except StoppedError:
        raise
    except DpcoreError as error:
        page_state.failed_trial = (key, error)
        raise


def has_failed(page_state: AnonymizeState, plan: Plan) -> bool:
    """Return whether this plan was the last one tried, and failed."""
    return page_state.failed_trial is not None and page_state.failed_trial[
        0
    ] == _trial_key(page_state, plan)


def _trial_key(page_state: AnonymizeState, plan: Plan) -> tuple[object, ...]:
    parts = (
        plan.models,
        plan.limit,
        plan.method.kind,
        plan.suppressed,
        plan.unit_column,
        plan.subset,
    )
    texts = map(str, (plan.metric, plan.node, plan.coded, plan.randomized))
    return ("trial", page_state.version, *parts, *texts)


def compare_methods(
    curator: Curator, page_state: AnonymizeState, plan: Plan
) -> tuple[pd.DataFrame, list[str]]:
    """Compare all methods under the same requirements; return figures, and the reasons
    why methods are missing.
    """
    lines = []
    reasons = []
    predicted = predict_search_size(curator, page_state, plan)
    for method in (kind() for kind in Method.kinds().values()):
        name = _(METHOD_NAMES[method.kind])
        try:
            why = why_not_compared(predicted, method, len(plan.quasi_identifiers))
            if not why:
                lines.append(
                    {_("method"): name}
                    | _method_figures(curator, page_state, plan, method)
                )
        except DpcoreError as error:
            why = error.problem
        if why:
            reasons.append(
                name_and_text(
                    escape_markdown(name), escape_markdown(why, max_length=300)
                )
            )
    return pd.DataFrame(lines), reasons


def _method_figures(
    curator: Curator, page_state: AnonymizeState, plan: Plan, method: Method
) -> dict[str, str]:
    node = plan.node if method == plan.method else None
    report = try_plan(
        curator, page_state, dataclasses.replace(plan, method=method, node=node)
    )
    quality = report.quality
    return {
        _("generalized"): percent(quality.ncp),
        _("information loss"): number(quality.loss),
        _("suppressed"): percent(quality.suppressed_row_share),
        _("size of the smallest group"): whole_number_text(report.after.risk.k),
        _("seconds"): localize_number(f"{report.seconds:.1f}"),
    }


def make_table(curator: Curator, page_state: AnonymizeState, plan: Plan) -> None:
    """Make the anonymized table and note it in the ledger."""
    try:
        policy = read_policy()
        policy.check_plan(plan)
        tried = try_plan(curator, page_state, plan).plan
        # Only the levels are taken from the trial, which has no key for pseudonyms.
        complete = plan.with_node(tried.node, tried.gap)
        with progress_view.wait_in_line(), cancelled_by(session.make_cancel_poll()):
            session.own(session.AnonymizeResult).table = curator.anonymize(
                complete, smallest_group=policy.smallest_group(curator.schema.unit)
            )
        page_state.plan_of_table = plan
    except DpcoreError as error:
        session.session().notices["anonymize"] = error


def write_table(curator: Curator, plan: Plan, folder: Path) -> int:
    """Write the anonymized table to a folder and note it in the ledger; return its
    number of rows.
    """
    policy = read_policy()
    policy.check_plan(plan)
    with progress_view.wait_in_line(), cancelled_by(session.make_cancel_poll()):
        return curator.anonymize_to(
            folder, plan, smallest_group=policy.smallest_group(curator.schema.unit)
        )


def frontier_chart(
    points: tuple[FrontierPoint, ...], plan: Plan, k: int, loss: float | None
) -> Chart:
    """Draw information loss against k; a click chooses a point.

    There is one line per suppression limit.

    Args:
        k, loss: point of the current choice, marked by a ring; None for no ring.
    """
    frame = pd.DataFrame(
        [
            {
                "k": point.k,
                "limit": limit_words(point.limit),
                "share": point.limit,
                "loss": point.score,
                "levels": _levels(plan, point),
                "suppressed rows": point.suppressed_rows,
                f"suppressed {plan.counted_unit}": point.suppressed_people,
            }
            for point in points
        ],
    )
    drawn = charts.draw_frontier(frame)
    return (
        drawn
        if loss is None
        else charts.draw_ring(drawn, pd.DataFrame({"k": [k], "loss": [loss]}))
    )


def _levels(plan: Plan, point: FrontierPoint) -> str:
    """Return the level of each column as text; empty for methods without levels."""
    levels = zip(plan.quasi_identifiers, point.node, strict=False)
    return join_with_commas(f"{name} {level}" for name, level in levels)


def present_choice(
    curator: Curator,
    page_state: AnonymizeState,
    plan: Plan,
    frontier_method: Method,
    points: tuple[FrontierPoint, ...],
    k: int,
) -> tuple[float | None, str]:
    """Return the information loss of the current choice, and a sentence about it.

    None if it cannot be drawn.

    Args:
        frontier_method: the method of the frontier, which may be another than the chosen one.
    """
    if frontier_method == plan.method:
        for point in points:
            if (point.k, point.limit) == (k, plan.limit):
                sentence = _(
                    "Chosen: information loss {loss}, {rows:,} rows suppressed; the "
                    "others form {classes:,} groups."
                )
                return point.score, sentence.format(
                    loss=number(point.score),
                    rows=point.suppressed_rows,
                    classes=point.published_classes,
                )
        return None, ""
    if frontier_method.searches and plan.metric != InformationLoss():
        return None, ""
    try:
        loss = try_plan(curator, page_state, plan).quality.loss
    except DpcoreError:  # shown under "Before and after"
        return None, ""
    words = _("The ring: {method} at k = {k} has an information loss of {loss}.")
    return loss, words.format(
        method=capital(_(METHOD_NAMES[plan.method.kind])), loss=number(loss), k=k
    )


def sizes_chart(report: TrialReport) -> Chart:
    """Draw the share of people by their smallest group, before and after."""
    labels = ["1", "2-4", "5-9", "10-24", "25-99", "100+"]
    edges = np.array([2, 5, 10, 25, 100])
    frame = []
    for side, figures in ((_("before"), report.before), (_("after"), report.after)):
        people = np.bincount(
            np.searchsorted(edges, figures.crowd_sizes, side="right"),
            minlength=len(labels),
        )
        frame += [
            {"group size": label, "of": side, "share": float(share)}
            for label, share in zip(
                labels, people / len(figures.crowd_sizes), strict=True
            )
        ]
    return charts.draw_grouped_bars(
        pd.DataFrame(frame),
        x="group size",
        x_title=_("people in their group"),
        y_title=_("share of {whom}").format(whom=unit_of_groups(report.plan)),
    )


def shape_chart(report: TrialReport, column: str) -> Chart:
    """Draw the distribution of one column, before and after."""
    before, after = report.bar_counts[column]
    return charts.draw_shape_bars(before, after, column=escape_markdown(column))


def lost_values_sentence(report: TrialReport) -> str:
    """Return a sentence on values whose rows are all suppressed; empty if none."""
    named = [
        _("all {people:,} {whom} with {column} {value}").format(
            people=each.people,
            whom=unit_of_groups(report.plan),
            column=escape_markdown(each.column),
            value=escape_markdown(each.value),
        )
        for each in report.lost_values[:MAX_LOST_VALUES_NAMED]
    ]
    if not named:
        return ""
    more = len(report.lost_values) - len(named)
    if more:
        named.append(_("and {number:,} more values").format(number=more))
    return _(
        "These groups disappear from the table, because all of their rows are "
        "suppressed: {groups}."
    ).format(groups=join_with_commas(named))


def columns_table(report: TrialReport | ResidualRiskReport) -> pd.DataFrame:
    """Return a table of the loss in each column, with levels for full-domain plans."""
    lines = []
    for name, ncp in report.quality.column_ncp.items():
        line = {_("column"): name}
        if report.plan.node is not None:
            hierarchy = report.plan.hierarchies[name]
            level = report.plan.node[name]
            line[_("level")] = f"{level} / {hierarchy.height}"
            line[_("such as")] = hierarchy.levels[level][0]
        line[_("generalized")] = percent(ncp)
        line[_("suppressed")] = percent(report.quality.column_suppressed[name])
        line[_("moved")] = percent(report.quality.column_change[name])
        lines.append(line)
    return pd.DataFrame(lines)


def coded_table(report: TrialReport) -> pd.DataFrame:
    """Return a table of the mean and spread of each rounded column, before and
    after.
    """
    titles = [
        f"{figure}, {side}"
        for side in (_("before"), _("after"))
        for figure in (_("mean"), _("standard deviation"))
    ]
    return (
        report.coded_figures.set_axis([*titles, "IL1s"], axis=1)
        .map(number)
        .rename_axis(_("column"))
        .reset_index()
    )


def randomized_table(report: TrialReport) -> pd.DataFrame:
    """Return a table of how often values of randomized columns changed, as observed and
    as expected.

    Those of all rows come first.
    """
    share = _("share of rows")
    moved = _("moved")
    after = _("after")
    titles = [
        f"{share}, {_('before')}",
        f"{moved}, {_('chance')}",
        f"{moved}, {after}",
        f"{share}, {after}",
    ]
    parts = {}
    for name, values in report.randomized_figures.items():
        every = (values.T * values["before"]).T.sum()
        every[["before", "after"]] = 1.0
        parts[name] = pd.concat(
            [every.to_frame(_("all rows")).T, values.head(MAX_VALUES_LISTED)]
        )
    table = pd.concat(parts, names=[_("column"), _("value")]).map(percent)
    return table.set_axis(titles, axis=1).reset_index()


def neighbors(
    curator: Curator,
    page_state: AnonymizeState,
    plan: Plan,
) -> tuple[pd.DataFrame, dict[str, dict[str, int]]]:
    """Return a table of plans one level away from this one, and their levels by
    name.
    """
    key = ("neighbors", *_trial_key(page_state, plan), tuple((plan.node or {}).items()))
    lines = []
    usable = {}
    for near in session.evaluate_once(
        curator, key, lambda: NeighborsQuestion(plan=plan)
    ):
        name = _("as chosen")
        node = dict(zip(plan.quasi_identifiers, near.node, strict=True))
        for column, level in (plan.node or {}).items():
            if node[column] != level:
                name = f"{column} {level} → {node[column]}"
        if near.is_feasible and node != plan.node:
            usable[name] = node
        lines.append(
            {
                _("levels"): name,
                _("what is minimized"): number(near.score),
                _("size of the smallest group"): f"{near.k:,}",
                _("suppressed rows"): f"{near.suppressed_rows:,}",
                _("groups"): f"{near.published_classes:,}",
                _("meets the demands"): _("yes") if near.is_feasible else _("no"),
            },
        )
    return pd.DataFrame(lines), usable


def residual_risk(curator: Curator, table: AnonymizedTable) -> ResidualRiskReport:
    """Compute the residual risk of the anonymized table, once."""
    plan = Plan.from_json(table.plan)
    return progress_view.evaluate_in_line(
        curator, ("outcome", table.plan), lambda: ResidualRiskQuestion(plan=plan)
    )


def count_versions(curator: Curator) -> int:
    """Count the different tables anonymized from this one."""
    return len(
        {
            line.content["anonymized"]
            for line in curator.lines()
            if "anonymized" in line.content
        }
    )


def revealing_groups_sentence(plan: Plan, column: str, risk: AttributeRisk) -> str:
    """Return the sentence that groups reveal the values of a column."""
    share = percent(risk.homogeneous_people)
    classes = risk.homogeneous_classes
    return _(plans.MESSAGES["reveal"]).format(
        classes=classes, share=share, column=column, whom=unit_of_groups(plan)
    )


def likelihood_sentence(column: str, risk: AttributeRisk) -> str:
    """Return the sentence on how much more likely a value becomes within a group."""
    times = number(risk.posterior_ratio)
    t = number(risk.t_equal)
    return _(plans.MESSAGES["more likely"]).format(column=column, times=times, t=t)


def warnings(
    curator: Curator, page_state: AnonymizeState, plan: Plan, side: RiskSide
) -> list[str]:
    """Return sentences on what the table does not protect against, with its figures.

    Args:
        plan: the plan, with its node filled in.
        side: the figures of all rows that leave.
    """
    sentences = [
        revealing_groups_sentence(plan, escape_markdown(name), risk)
        if risk.homogeneous_classes
        else likelihood_sentence(escape_markdown(name), risk)
        for name, risk in side.secret_risks.items()
    ]
    if side.groups_per_person > 1:
        sentences.append(
            _(plans.MESSAGES["rows of a person"]).format(
                groups=number(side.groups_per_person)
            )
        )
    if plan.pseudonym is not None:
        sentences.append(
            _(plans.MESSAGES["pseudonyms"]).format(
                column=escape_markdown(plan.pseudonym)
            )
        )
    if plan.randomized:
        sentences.append(
            _(plans.MESSAGES["changed at random"]).format(
                columns=join_with_commas(
                    escape_markdown(name) for name in plan.randomized
                )
            )
        )
    if side.uniques_with_others > 0.001:
        sentences.append(
            _(plans.MESSAGES["unique again"]).format(
                share=percent(side.uniques_with_others), whom=unit_of_groups(plan)
            )
        )
    table = session.own(session.AnonymizeResult).table
    others = count_versions(curator) - (
        table is not None and table.plan == plan.to_json()
    )
    if others:
        sentences.append(_(plans.MESSAGES["versions"]).format(others=others))
    if tables := len(curator.exact_tables()):
        sentences.append(exact_tables_sentence(tables))
    if plan.method.groups_row_by_row:
        sentences.append(_(plans.MESSAGES["local"]))
    sentences.append(_(plans.MESSAGES["minimized"]))
    return sentences
