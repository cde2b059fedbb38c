"""Figures about a release that are charged, and may be shared."""

from __future__ import annotations

from dpcore.accounting.ledger import State
from dpcore.accounting.loss import AnyLoss
from dpcore.curator import Curator
from dpcore.errors import DpcoreError, RequestConflict
from dpcore.evaluation.base import PrivateEvaluation
from dpcore.evaluation.utility.private import PrivateAccuracy, PrivateMarginalError
from dpcore.release import PrivateReport, Release
from dpcore.schema import Boolean, Categorical
from workbench import session
from workbench.evaluate.form import SAYS
from workbench.ui.language import _
from workbench.ui.releases import describe
from workbench.ui.wording import percent, plain


def offers(curator: Curator, release: Release) -> dict[str, PrivateEvaluation]:
    """Return the figures that can be bought about this release."""
    names = release.model_columns
    figures: dict[str, PrivateEvaluation] = {
        _("distance of single columns"): PrivateMarginalError(release=release, way=1)
    }
    if len(names) > 1:
        figures[_("distance of pairs of columns")] = PrivateMarginalError(release=release, way=2)
        for name in names:
            if isinstance(curator.schema.column(name), (Categorical, Boolean)):
                title = _("accuracy of {column}, learned from the release").format(column=name)
                figures[title] = PrivateAccuracy(release=release, target=name)
    return figures


def pay(curator: Curator, evaluation: PrivateEvaluation, loss: AnyLoss, request_id: str) -> None:
    """Ask and pay once for this request id; a second click, or one in another tab, is the same request."""
    notices = session.session().notices  # the run may be ended by another click before the answer is there
    try:
        curator.evaluate_privately(evaluation, loss, request_id=request_id)
    except DpcoreError as error:
        if not isinstance(error, RequestConflict) or request_id in _requests(curator, "failed"):
            notices["evaluate"] = error


def running(curator: Curator) -> list[str]:
    """Return requests of figures of this data set that are being computed, in any tab."""
    return _requests(curator, "reserved")


def reports(curator: Curator) -> list[PrivateReport]:
    """Return the figures that were bought for this data set, newest first."""
    return [curator.report(request_id) for request_id in reversed(_requests(curator, "committed"))]


def _requests(curator: Curator, state: State) -> list[str]:
    """Return requests of figures whose last line is of this state, in the order in which they were made."""
    lines = curator.lines()
    ends = {line.request_id: line.state for line in lines}
    return [
        line.request_id
        for line in lines
        if line.state == "reserved" and "report" in line.content and ends[line.request_id] == state
    ]


def title(report: PrivateReport) -> str:
    """Describe the question in a few words."""
    about = report.about[0]
    return describe({"kind": report.kind, "target": about, "way": about, "column": about})


def words(report: PrivateReport) -> str:
    """Return the answer in a sentence."""
    content = {
        name: percent(value) if isinstance(value, float) else value for name, value in report.content.items()
    }
    if "accuracy" in content:
        return _("{accuracy}, between {low} and {high}; one answer for all has {majority}.").format(**content)
    if "max_rows" in content:
        return _("At most {max_rows} rows of each person count.").format(**content)
    content["columns"] = " × ".join(plain(name) for name in content["columns"])
    return SAYS.say("changed", **content)
