"""Figures about a release that are bought with budget, so that they may be shared."""

import json

from dpcore.accounting.ledger import State
from dpcore.accounting.loss import AnyLoss, loss_from_fields
from dpcore.curator import Curator
from dpcore.curator.measuring import build_rehearsal
from dpcore.errors import DpcoreError, RequestConflict
from dpcore.evaluation.base import PrivateEvaluation
from dpcore.evaluation.table.cells_of_numbers import NumberCellsQuestion
from dpcore.evaluation.utility.private import (
    PrivateAccuracyQuestion,
    PrivateMarginalErrorQuestion,
)
from dpcore.mechanisms.sensitivity import noise_kind, noise_scale, noise_variance
from dpcore.release import PrivateReport, Release
from dpcore.schema import Column
from dpcore.synthesis import GaussianModel, load_recipe
from dpcore.tables.counts import half_width
from workbench import session
from workbench.language.budget import affordable_epsilon
from workbench.language.columns import values_words
from workbench.language.messages import _, capital, name_and_text
from workbench.language.wording import escape_markdown, percent
from workbench.store.ledger.datasets import DataSet
from workbench.ui import epsilon_view
from workbench.ui.releases import describe_request

# If a release and the original differ in more than this share of the rows, figures
# about the release count as misleading.
MISLEADING_SHARE = 0.1
MAX_VERDICT_ERROR = 0.03  # half-width of a verdict, as a share of rows, that can decide


def offered_figures(curator: Curator, release: Release) -> dict[str, PrivateEvaluation]:
    """Return the figures about a release that can be bought, by title."""
    names = release.model_columns
    figures: dict[str, PrivateEvaluation] = {
        _("distance of single columns"): PrivateMarginalErrorQuestion(
            release=release, way=1
        ),
    }
    if len(names) > 1:
        figures[_("distance of pairs of columns")] = PrivateMarginalErrorQuestion(
            release=release, way=2
        )
        for name in names:
            if curator.schema.column(name).has_labels:
                title = describe_request(
                    {"kind": PrivateAccuracyQuestion.kind, "target": name}
                )
                figures[title] = PrivateAccuracyQuestion(release=release, target=name)
    return figures


def pay(
    curator: Curator,
    evaluation: PrivateEvaluation,
    loss: AnyLoss,
    request_id: str,
    page: str = "evaluate",
) -> None:
    """Buy the answer to a question once per request id, however often it is clicked."""
    # Read the notices now: another click may end this page run before the answer comes.
    notices = session.session().notices
    try:
        curator.evaluate_privately(evaluation, loss, request_id=request_id)
    except DpcoreError as error:
        if not isinstance(error, RequestConflict) or request_id in _requests_in_state(
            curator, "failed"
        ):
            notices[page] = error


def running_requests(curator: Curator) -> list[str]:
    """Return the requests of this data set that are computed now, in any tab."""
    return _requests_in_state(curator, "reserved")


def bought_reports(curator: Curator) -> list[PrivateReport]:
    """Return the bought figures of this data set, newest first."""
    return [
        curator.report(request_id)
        for request_id in reversed(_requests_in_state(curator, "committed"))
    ]


def _requests_in_state(curator: Curator, state: State) -> list[str]:
    """Return the ids of figure requests whose last state is this one, oldest first."""
    lines = curator.lines()
    ends = {line.request_id: line.state for line in lines}
    return [
        line.request_id
        for line in lines
        if line.state == "reserved"
        and "report" in line.content
        and ends[line.request_id] == state
    ]


def question_title(report: PrivateReport) -> str:
    """Describe the question that a report answers in a few words."""
    about = report.about[0]
    asked = {"target": about, "way": about, "column": about, "columns": report.about}
    return describe_request({"kind": report.kind, **asked})


def answer_sentence(report: PrivateReport) -> str:
    """Return the answer of a report as a sentence."""
    content = {
        name: percent(value) if isinstance(value, float) else value
        for name, value in report.content.items()
    }
    if "accuracy" in content:
        words = _(
            "{accuracy} of the predictions are correct (between {low} and {high}). "
            "Always predicting the most frequent answer would be correct in "
            "{majority} of the cases."
        )
        return capital(words.format(**content))
    if "max_rows" in content:
        return _("At most {max_rows} rows of each person count.").format(**content)
    if report.kind == NumberCellsQuestion.kind:
        columns = map(Column.from_dict, report.content["columns"])
        return "; ".join(
            name_and_text(escape_markdown(column.name), values_words(column))
            for column in columns
        )
    content["columns"] = " × ".join(
        escape_markdown(name) for name in content["columns"]
    )
    return capital(
        _(
            "On average {mean} of the rows are wrong; in the worst columns "
            "({columns}) it is {worst}. Each figure is accurate to ± {half_width}."
        ).format(**content)
    )


def verdict_question(release: Release) -> PrivateEvaluation:
    """Return the question whose answer gives the verdict on a release."""
    if isinstance(release.model, GaussianModel):
        return PrivateAccuracyQuestion(release=release, target=release.model.label)
    recipe = load_recipe(release.recipe)
    wide = release.model_columns if recipe is not None and recipe.chooses_pairs else ()
    return PrivateMarginalErrorQuestion(
        release=release, way=min(2, max(map(len, (wide, *release.marginals))))
    )


def verdict_price(curator: Curator, release: Release) -> AnyLoss:
    """Return the price of a verdict: a twentieth of its release."""
    units = curator.rule.to_units(
        curator.rule.convert(loss_from_fields(release.guarantee.loss))
    )
    epsilon = affordable_epsilon(units // 20, curator.account)
    return epsilon_view.loss_of_epsilon(curator, epsilon)


def can_have_verdict(release: Release) -> bool:
    """Return whether a release can have a verdict.

    It needs a model of all rows, from which some are drawn.
    """
    return (
        release.part is None
        and bool(release.model.columns)
        and round(release.model.total) > 0
    )


def bought_verdict(
    data_set: DataSet | Curator, release: Release
) -> PrivateReport | None:
    """Return the answer that was bought for a release's verdict; None if none was.

    It is found by its lines in the ledger, so it stays when the rows are gone.
    """
    if not can_have_verdict(release):
        return None
    asked = json.loads(json.dumps(verdict_question(release).to_dict()))
    lines = data_set.lines()
    answered = {line.request_id for line in lines if line.state == "committed"}
    for line in reversed(lines):
        if (
            line.state == "reserved"
            and line.request_id in answered
            and "report" in line.content
            and line.content["recipe"] == asked
        ):
            return data_set.report(line.request_id)
    return None


def verdict_error(curator: Curator, release: Release) -> float:
    """Return the half-width of a verdict at this price, as a share of the rows.

    It follows from public facts alone.
    """
    question = verdict_question(release)
    loss = curator.rule.convert(verdict_price(curator, release))
    question.check(curator.schema)
    rows = max(1.0, release.model.total)
    if isinstance(question, PrivateAccuracyQuestion):
        most = curator.schema.unit.max_rows
        variance = noise_variance(
            noise_scale(max_rows=most, queries=1, loss=loss), loss
        )
        # The question makes two counts at once, of right and of wrong predictions.
        return half_width(variance, noise_kind(loss), 0.975) / rows
    answer = question.measure(
        build_rehearsal(curator.schema, loss),
        curator.schema,
    )  # a rehearsal answers from one invented row, without noise
    return float(answer["half_width"]) / rows
