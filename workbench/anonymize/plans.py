"""Plans of the Anonymize page, from a person's demands and a method."""

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dpcore.anonymize.choices import Suppressed
from dpcore.anonymize.closeness import TCloseness
from dpcore.anonymize.coding import Coding
from dpcore.anonymize.fulldomain.metrics import InformationLoss, Metric
from dpcore.anonymize.fulldomain.size import Prediction
from dpcore.anonymize.methods import FullDomain, LocalRecoding, Method, Mondrian
from dpcore.anonymize.models import PrivacyModel
from dpcore.anonymize.plan import Plan
from dpcore.curator import Curator
from dpcore.evaluation.table.proposals import SizeOf, default_plan
from workbench import session
from workbench.anonymize.state import AnonymizeState
from workbench.ui.language import Words, _, capital, named, stored
from workbench.ui.wording import COUNTED_WORDS, limit_words, number

KS = (2, 3, 5, 10, 25, 50, 100)
LIMITS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
DRAWN_LIMITS = (0.0, 0.02, 0.05, 0.1)
SEARCH_SECONDS = 30.0
"""Predicted for a pass over all nodes; a search for one k looks at a part of them."""
LOCAL_COLUMNS = 12
SUGGESTED = "suggested"
SAYS = Words("anonymize.sentences")
METHOD_NAMES = Words("anonymize.method_names")
METHOD_WORDS = Words("anonymize.method_words")


@dataclass(frozen=True, kw_only=True)
class Demands:
    """Demands of a person on the anonymized table.

    Attributes:
        models: beside k.
        subset: a column of true and false that marks the rows to be published out of a population.
        household: a column that says who lives together: groups count households.
        pseudonym, series, coded, randomized: as in a plan.
    """

    k: int
    limit: float
    models: tuple[PrivacyModel, ...] = ()
    metric: Metric = field(default_factory=InformationLoss)
    suppressed: Suppressed = "checked"
    subset: str | None = None
    household: str | None = None
    pseudonym: str | None = None
    series: str = ""
    coded: Mapping[str, Coding] = field(default_factory=dict)
    randomized: Mapping[str, float] = field(default_factory=dict)


def plan_of(curator: Curator, current: AnonymizeState, demands: Demands, *, method: str) -> Plan:
    """Return the plan that the page says, by the suggested method or by another.

    Args:
        curator: of the data set.
        current: roles and hierarchies.
        demands: of the person.
        method: kind of a method, or `SUGGESTED`.

    Raises: the errors of a plan.
    """
    measured = [
        model.column
        for model in demands.models
        if isinstance(model, TCloseness) and model.distance == "hierarchical"
    ]
    current.complete(curator, measured)
    used = {name: current.hierarchies[name] for name in (*current.quasi_identifiers, *measured)}
    roles = {name: role for name, role in current.roles.items() if name != demands.subset}
    plan = default_plan(roles, used, k=demands.k, limit=demands.limit)
    plan = dataclasses.replace(
        plan.counting(curator.schema.unit.id_column),
        models=(*plan.models, *demands.models),
        **{name: value for name, value in vars(demands).items() if name not in ("k", "limit", "models")},
    )
    if method == SUGGESTED:
        return dataclasses.replace(plan, method=suggested_method(size(curator, current, plan), len(used)))
    return dataclasses.replace(plan, method=Method.of_kind(method)())


def take_plan(curator: Curator, current: AnonymizeState, note: session.TakePlan) -> None:
    """Take roles, hierarchies and demands of a project that was read; nothing of another table."""
    plan = note.plan
    if plan is None or {*plan.roles, *filter(None, [plan.subset])} != set(current.roles):
        return
    current.notes = note.notes
    current.set_roles({name: plan.roles.get(name, "insensitive") for name in current.roles})
    current.complete(curator, plan.hierarchies)
    for name, hierarchy in plan.hierarchies.items():
        current.replace_hierarchy(name, current.of_file(name, hierarchy))
    plan = plan.counting(curator.schema.unit.id_column)
    method = suggested_method(size(curator, current, plan), len(plan.quasi_identifiers))
    current.use(dataclasses.replace(plan, method=method))


def size(curator: Curator, current: AnonymizeState, plan: Plan) -> Prediction:
    """Predict the size of a full-domain search."""
    key = ("size", current.version, plan.models[1:], plan.counted, plan.subset)
    full = dataclasses.replace(plan, method=FullDomain())
    return session.once(curator, key, lambda: SizeOf(plan=full))


def suggested_method(predicted: Prediction, columns: int) -> Method:
    """Return full-domain search while it is quick enough, else a method that is."""
    if predicted.is_feasible and predicted.usual <= SEARCH_SECONDS:
        return FullDomain()
    return LocalRecoding() if columns <= LOCAL_COLUMNS else Mondrian()


def too_long(predicted: Prediction, method: Method, columns: int) -> str:
    """Say why a method is not tried next to the others; empty where it is."""
    if method.searches and not suggested_method(predicted, columns).searches:
        return SAYS.say("too many levels", nodes=predicted.nodes)
    if method == LocalRecoding() and columns > LOCAL_COLUMNS:
        return suggestion(suggested_method(predicted, columns))
    return ""


def words(plan: Plan, models: Iterable[str]) -> str:
    """Describe demands, method and limit. Args: models: as they are stored, all that hold."""
    return SAYS.say(
        "plan",
        models=stored(*models),
        whom=whom(plan),
        method=METHOD_NAMES[plan.method.kind],
        limit=limit_words(plan.limit),
    )


def method_label(method: str) -> str:
    """Return a method's name and purpose for a list."""
    if method == SUGGESTED:
        return _("as suggested for this table")
    return named(METHOD_NAMES[method], METHOD_WORDS[method])


def whom(plan: Plan) -> str:
    """Return what groups are counted in: households, people, or rows where each row is a person."""
    return COUNTED_WORDS[plan.counts]


def method_words(curator: Curator, current: AnonymizeState, plan: Plan) -> str:
    """Describe the size of the search, and the method that is suggested where that is too large."""
    predicted, columns = size(curator, current, plan), len(plan.quasi_identifiers)
    if predicted.is_feasible:
        forecast = (predicted.seconds, *predicted.search(plan.limit))
        seconds, mostly, most = (number(max(0.1, round(each, 1))) for each in forecast)
        sentence = SAYS.say(
            "search",
            nodes=predicted.nodes,
            seconds=seconds,
            mostly=mostly,
            most=most,
            megabytes=math.ceil(predicted.memory / 1e6),
        )
    else:
        sentence = SAYS.say("too many levels", nodes=predicted.nodes)
    suggested = suggested_method(predicted, columns)
    return sentence if suggested.searches else f"{sentence} {suggestion(suggested)}"


def suggestion(method: Method) -> str:
    """Say which local method is suggested, and why."""
    return SAYS.say("suggested", method=capital(METHOD_NAMES[method.kind]), columns=LOCAL_COLUMNS)
