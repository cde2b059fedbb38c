"""Figures about a release that are charged, and may be shared."""

from dpcore.accounting.ledger import State
from dpcore.accounting.loss import AnyLoss, loss_from_fields
from dpcore.curator import Curator
from dpcore.curator.measuring import rehearsal_of
from dpcore.errors import DpcoreError, RequestConflict
from dpcore.evaluation.base import PrivateEvaluation
from dpcore.evaluation.table.cells_of_numbers import NumberCellsQuestion
from dpcore.evaluation.utility.private import (
    PrivateAccuracyQuestion,
    PrivateMarginalErrorQuestion,
)
from dpcore.release import PrivateReport, Release
from dpcore.schema import Boolean, Categorical, Column
from dpcore.synthesis import GaussianModel, load_recipe
from workbench import session
from workbench.language.columns import values_words
from workbench.language.messages import _, capital, name_and_text
from workbench.language.wording import percent, plain, spent_epsilon
from workbench.ui import epsilon_view
from workbench.ui.releases import describe

OFF = 0.1
"""Share of the rows that would have to change, from which figures mislead."""


def offers(curator: Curator, release: Release) -> dict[str, PrivateEvaluation]:
    """Return the figures that can be bought about this release."""
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
            if isinstance(curator.schema.column(name), (Categorical, Boolean)):
                title = describe({"kind": PrivateAccuracyQuestion.kind, "target": name})
                figures[title] = PrivateAccuracyQuestion(release=release, target=name)
    return figures


def pay(
    curator: Curator,
    evaluation: PrivateEvaluation,
    loss: AnyLoss,
    request_id: str,
    page: str = "evaluate",
) -> None:
    """Ask and pay once for this request id; a second click, or one in another tab, is
    the same request.
    """
    # the run may be ended by another click before the answer is there
    notices = session.session().notices
    try:
        curator.evaluate_privately(evaluation, loss, request_id=request_id)
    except DpcoreError as error:
        if not isinstance(error, RequestConflict) or request_id in _requests(
            curator, "failed"
        ):
            notices[page] = error


def running(curator: Curator) -> list[str]:
    """Return requests of figures of this data set that are being computed, in any
    tab.
    """
    return _requests(curator, "reserved")


def reports(curator: Curator) -> list[PrivateReport]:
    """Return the figures that were bought for this data set, newest first."""
    return [
        curator.report(request_id)
        for request_id in reversed(_requests(curator, "committed"))
    ]


def _requests(curator: Curator, state: State) -> list[str]:
    """Return requests of figures whose last line is of this state, in the order in
    which they were made.
    """
    lines = curator.lines()
    ends = {line.request_id: line.state for line in lines}
    return [
        line.request_id
        for line in lines
        if line.state == "reserved"
        and "report" in line.content
        and ends[line.request_id] == state
    ]


def title(report: PrivateReport) -> str:
    """Describe the question in a few words."""
    about = report.about[0]
    asked = {"target": about, "way": about, "column": about, "columns": report.about}
    return describe({"kind": report.kind, **asked})


def words(report: PrivateReport) -> str:
    """Return the answer in a sentence."""
    content = {
        name: percent(value) if isinstance(value, float) else value
        for name, value in report.content.items()
    }
    if "accuracy" in content:
        words = _(
            "{accuracy}, between {low} and {high}; one answer for all has {majority}."
        )
        return capital(words.format(**content))
    if "max_rows" in content:
        return _("At most {max_rows} rows of each person count.").format(**content)
    if report.kind == NumberCellsQuestion.kind:
        columns = map(Column.from_dict, report.content["columns"])
        return "; ".join(
            name_and_text(plain(column.name), values_words(column))
            for column in columns
        )
    content["columns"] = " × ".join(plain(name) for name in content["columns"])
    return capital(
        _(
            "{mean} of the rows would have to change on average, {worst} in the "
            "worst place ({columns}); each ± {half_width}."
        ).format(**content)
    )


def question_about(release: Release) -> PrivateEvaluation:
    """Return the question whose answer is the verdict on a release of a whole table."""
    if isinstance(release.model, GaussianModel):
        return PrivateAccuracyQuestion(release=release, target=release.model.label)
    recipe = load_recipe(release.recipe)
    wide = release.model_columns if recipe is not None and recipe.choice_time else ()
    return PrivateMarginalErrorQuestion(
        release=release, way=min(2, max(map(len, (wide, *release.marginals))))
    )


def price(curator: Curator, release: Release) -> AnyLoss:
    """Return what its verdict costs: a twentieth of what the release cost."""
    units = curator.rule.units(
        curator.rule.convert(loss_from_fields(release.guarantee.loss))
    )
    return epsilon_view.loss(curator, spent_epsilon(units // 20, curator.account))


def takes_verdict(release: Release) -> bool:
    """Return whether a release has a verdict: one with a model of all rows, from which
    some are drawn.
    """
    return (
        release.part is None
        and bool(release.model.columns)
        and round(release.model.total) > 0
    )


def verdict_on(curator: Curator, release: Release) -> PrivateReport | None:
    """Return the verdict that was bought on a release; None before, and for one that
    takes none.
    """
    if not takes_verdict(release):
        return None
    request_id = curator.request_of(question_about(release), price(curator, release))
    return (
        curator.report(request_id)
        if request_id in _requests(curator, "committed")
        else None
    )


def is_told(curator: Curator, release: Release) -> bool:
    """Return whether its verdict would tell anything at this price, from public facts
    alone.
    """
    question = question_about(release)
    loss = price(curator, release)
    question.check(curator.schema)
    answer = question.measure(
        rehearsal_of(curator.schema, curator.rule.convert(loss)),
        curator.schema,
    )  # of one row, without noise
    return bool(answer.get("half_width", 0) / max(1, release.model.total) <= OFF)
