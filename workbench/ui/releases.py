"""Lists of a data set's releases: when, what, for which cost and part of the rows."""

from collections.abc import Mapping, Sequence
from typing import Any

from dpcore import synthesis
from dpcore.accounting.ledger import Account, Line
from dpcore.curator import Curator
from dpcore.evaluation import PrivateEvaluation
from dpcore.release import Release
from dpcore.synthesis import GaussianModel
from workbench.language.budget import amount_words
from workbench.language.messages import minute, translate
from workbench.store.ledger.datasets import DataSet


def list_releases(data_set: DataSet | Curator) -> list[dict[str, str]]:
    """Return one dictionary per release of this data set, newest first.

    Each has a request id, time, content, cost and part.
    """
    return list_from_lines(data_set.lines(), data_set.account)


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
            "what": describe_request(line.content["recipe"]),
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
        describe_request(line.content["recipe"])
        for line in lines
        if line.state == "reserved" and line.request_id not in ended
    ]


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
