"""Lists of a data set's releases: when, what, for which cost and part of the rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from dpcore import synthesis
from dpcore.accounting.ledger import Account, Line
from dpcore.accounting.loss import Loss
from dpcore.curator import Curator
from dpcore.evaluation import PrivateEvaluation
from dpcore.release import Release
from dpcore.synthesis import GaussianModel
from dpcore.synthesis.release.linked import LinkedRelease
from workbench import session
from workbench.language.budget import amount_words
from workbench.language.messages import N_, _, minute, name_and_text, translate
from workbench.session.run import VIEWS
from workbench.store.ledger.datasets import DataSet

LINKED_TITLE = N_("People and their events")
VIEW_TITLES = {"people": N_("People"), "events": N_("Events")}


def list_releases(data_set: DataSet | Curator) -> list[dict[str, str]]:
    """Return one dictionary per release of this data set, newest first.

    Each has a request id, time, content, cost and part. A curator of one view of linked
    tables has the releases of this view.
    """
    listed = list_from_lines(data_set.lines(), data_set.account)
    if not isinstance(data_set, Curator):
        return listed
    view = session.view_of(data_set, session.session().linked)
    if not view:
        return listed
    return [line for line in listed if _is_of_view(line["request_id"], data_set, view)]


def list_with_pairs(data_set: DataSet) -> list[dict[str, str]]:
    """Return the releases of a data set; both views of one release are one line.

    Its request id is that of both, without the name of a view.
    """
    lines = data_set.lines()
    listed = list_releases(data_set)
    units = {
        line.request_id: line.charge.units for line in lines if line.state == "reserved"
    }
    shown = []
    for line in listed:
        stem, view = split_view(line["request_id"])
        ids = [f"{stem} {each}" for each in VIEWS]
        if not view or not all(own in units for own in ids):
            shown.append(line)
        elif view == VIEWS[-1]:
            both = sum(units[own] for own in ids)
            cost = amount_words(both, data_set.account)
            what = _(LINKED_TITLE)
            shown.append({**line, "request_id": stem, "what": what, "cost": cost})
    return shown


def list_pairs(data_set: DataSet) -> list[dict[str, str]]:
    """Return the releases of both views of linked tables, newest first."""
    singles = {line["request_id"] for line in list_releases(data_set)}
    listed = list_with_pairs(data_set)
    return [line for line in listed if line["request_id"] not in singles]


def split_view(request_id: str) -> tuple[str, str]:
    """Return a request id without the view that it ends with, and the view or ""."""
    stem, _blank, view = request_id.rpartition(" ")
    return (stem, view) if view in VIEWS else (request_id, "")


def is_pair(data_set: DataSet, request_id: str) -> bool:
    """Return whether this is the id of a stored release of both linked tables."""
    committed = {
        line.request_id for line in data_set.lines() if line.state == "committed"
    }
    return all(f"{request_id} {view}" in committed for view in VIEWS)


def load_pair(data_set: DataSet, request_id: str) -> LinkedRelease:
    """Return the release of both views.

    Args:
        request_id: without the name of a view.

    Raises: ParameterError if one of them is not stored.
    """
    people, events = (data_set.release(f"{request_id} {view}") for view in VIEWS)
    # as it was when the release was made: it may be declared in another way today
    asked = next(
        line
        for line in data_set.lines()
        if line.state == "reserved" and line.request_id == f"{request_id} {VIEWS[-1]}"
    )
    return LinkedRelease(
        people=people, events=events, order_by=asked.content["linked"]["order_by"]
    )


def loss_of_pair(data_set: DataSet, request_id: str) -> Loss | None:
    """Return the loss of both halves if this is the id of one half; None for others.

    Raises: as `load_pair`.
    """
    stem, view = split_view(request_id)
    if not view or not is_pair(data_set, stem):
        return None
    loss: Loss = session.compute_once(
        ("loss of both halves", data_set.id, stem),
        lambda: load_pair(data_set, stem).total_loss,
    )
    return loss


def curator_for(request_id: str) -> Curator | None:
    """Return the curator whose rows a release is about; None if they are not open."""
    tab = session.session()
    _stem, view = split_view(request_id)
    if tab.linked is None or not view:
        return tab.curator
    return tab.linked.people if view == VIEWS[0] else tab.linked.events


def _is_of_view(request_id: str, curator: Curator, view: str) -> bool:
    """Return whether a release is of this view; the command line names no view."""
    _stem, own = split_view(request_id)
    if own:
        return own == view
    schema = curator.release(request_id).schema
    return schema.unit == curator.schema.unit and set(schema.domain.names) <= set(
        curator.schema.domain.names
    )


def list_from_lines(lines: Sequence[Line], account: Account) -> list[dict[str, str]]:
    """Return the list of releases, from ledger lines of one account."""
    when = {line.request_id: line.at for line in lines if line.state == "committed"}
    asked = [
        line
        for line in lines
        if line.state == "reserved"
        and line.request_id in when
        and "report" not in line.content
    ]
    return [
        {
            "request_id": line.request_id,
            "when": minute(when[line.request_id]),
            "what": describe_line(line),
            "cost": amount_words(line.charge.units, account),
            "part": "" if line.charge.part is None else line.charge.part[1],
        }
        for line in reversed(asked)
    ]


def describe_running(data_set: DataSet) -> list[str]:
    """Describe the releases that any tab is making now."""
    lines = data_set.lines()
    ended = {line.request_id for line in lines if line.state in ("committed", "failed")}
    return [
        describe_line(line)
        for line in lines
        if line.state == "reserved" and line.request_id not in ended
    ]


def describe_line(line: Line) -> str:
    """Describe what a line of the ledger was charged for, and of which view."""
    return describe_of_view(line.content["recipe"], line.request_id)


def describe_of_view(asked: Mapping[str, Any], request_id: str) -> str:
    """Describe a recipe or a private question, and the view that it was asked of."""
    words = describe_request(asked)
    _stem, view = split_view(request_id)
    return name_and_text(_(VIEW_TITLES[view]), words) if view else words


def describe_request(asked: Mapping[str, Any]) -> str:
    """Describe a recipe or a private question in a few words."""
    question = PrivateEvaluation.kinds().get(asked["kind"])
    return translate(
        question.describe(asked) if question else synthesis.describe_recipe(asked)
    )


def has_independent_columns(release: Release) -> bool:
    """Return whether drawn columns are independent because no pair was counted.

    A recipe that chooses relations is made for them, whatever it chose.
    """
    if isinstance(release.model, GaussianModel) or len(release.model_columns) < 2:
        return False
    recipe = synthesis.load_recipe(release.recipe)
    chooses = recipe is not None and recipe.chooses_pairs
    return not chooses and max(map(len, release.marginals), default=0) < 2
