"""Plans of the Anonymize page, from a person's demands and a method."""

import dataclasses
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from dpcore.anonymization.choices import SuppressedTreatment
from dpcore.anonymization.closeness import TCloseness
from dpcore.anonymization.coding import Coding
from dpcore.anonymization.fulldomain.metrics import InformationLoss, Metric
from dpcore.anonymization.fulldomain.size import Prediction
from dpcore.anonymization.methods import FullDomain, LocalRecoding, Method, Mondrian
from dpcore.anonymization.models import PrivacyModel
from dpcore.anonymization.plan import Plan
from dpcore.curator import Curator
from dpcore.evaluation.table.proposals import SearchSizeQuestion, default_plan
from workbench import session
from workbench.anonymize.state import AnonymizeState
from workbench.language.messages import N_, _, capital, name_and_text, translate_stored
from workbench.language.wording import COUNTED_WORDS, limit_words, number

FRONTIER_KS = (2, 3, 5, 10, 25, 50, 100)  # values of k in the frontier
# Suppression limits that the page offers, as shares of the rows.
SUPPRESSION_LIMITS = (0.0, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1.0)
FRONTIER_LIMITS = (
    0.0,
    0.02,
    0.05,
    0.1,
)  # suppression limits with a line in the frontier
# Full-domain search is suggested if a pass over all nodes is predicted to take at most
# this many seconds; a search for one k visits only some nodes.
MAX_SEARCH_SECONDS = 30.0
# Local recoding is suggested for at most this many quasi-identifiers, Mondrian for
# more.
MAX_LOCAL_RECODING_COLUMNS = 12
SUGGESTED_METHOD = "suggested"
MESSAGES = {
    "average risk": N_(
        "A person's risk is 1 divided by the size of their group. This field limits "
        "the mean over everybody: the smallest groups are suppressed until the "
        "others meet the limit. Together with k, which bounds the highest risk, "
        "this is the strict average risk."
    ),
    "coded": N_(
        "Numbers that are published unchanged can set people apart. Here, numbers "
        "are first rounded to the step; a number that is then beyond a bound is "
        "replaced by the bound. The requirements are checked on the rounded "
        "numbers. If a column is changed at random (PRAM), each cell takes the "
        "value of a randomly drawn row with the given chance, so that shares stay "
        "the same on average. For the same table, this server draws the same rows "
        "again. None of this is a guarantee."
    ),
    "pseudonym": N_(
        "Each value is replaced by a pseudonym, which can only be computed with the "
        "key of this server. Without a series, every table gets different "
        "pseudonyms, so that tables cannot be joined. Tables with the same series "
        "name get the same pseudonyms and stay linked."
    ),
    "pseudonyms": N_(
        "The pseudonyms of {column} show which rows belong to one person, in this "
        "table and in all tables of its series. k does not protect against somebody "
        "who knows several of these rows. Whoever has the follow-up table has the "
        "names."
    ),
    "household": N_(
        "Whoever finds one person of a household has found all of them, so a family "
        "of five counts as one towards k. The column is left out of the result. "
        "Sampling weights do not justify a smaller k: what they say about the "
        "population is an estimate."
    ),
    "found": N_(
        "**Of the {people:,} people on “{name}”, {unique:,} are found with "
        "certainty.** {matched:,} match rows of the table; each of them matches at "
        "least {smallest:,}."
    ),
    "recoded list": N_(
        "The attacker knows how values were made coarser and recodes the list in "
        "the same way. People who are not in the table may match rows too."
    ),
    "minimized": N_(
        "The table was made with as little information loss as possible. An "
        "attacker who knows this can sometimes undo part of the anonymization. "
        "k-anonymity is no guarantee against a determined attacker: for "
        "publication, prefer the Synthesize page."
    ),
    "rows of a person": N_(
        "k counts people, and the rows of one person are in {groups} groups on "
        "average. k does not protect against somebody who knows several rows of one "
        "person and knows that they belong together."
    ),
    "unique again": N_(
        "{share} of the {whom} are still unique for somebody who also knows the "
        "unchanged columns."
    ),
    "changed at random": N_(
        "{columns}: cells were changed at random (PRAM), which has no epsilon. "
        "Tables made from the same rows have the same changes; if rows were added "
        "or removed, the changes differ. Somebody who has both tables knows that "
        "cells on which they agree are more likely to be true, and almost certainly "
        "true if few rows share the value. Hand out only one of them."
    ),
    "versions": N_(
        "Other versions of this table were made before ({others} in all). Together, "
        "versions can reveal more than each one alone, and no budget accounts for "
        "that."
    ),
    "reveal": N_(
        "In {classes:,} groups with {share} of the {whom}, everybody has the same "
        "value of {column}, so k does not protect it. Require l-diversity."
    ),
    "more likely": N_(
        "For somebody who knows a person's group, a value of {column} becomes up to "
        "{times} times more likely (t = {t})."
    ),
    "groups": N_(
        "The smallest group has {k} {whom}, the average group {average}. "
        "Information loss (the search minimizes it): {loss}. Suppressed: {share} of "
        "the {whom}."
    ),
    "ready": N_(
        "The anonymized table is ready: {models}. It is noted in the ledger, but "
        "differential privacy does not cover it."
    ),
    "local": N_(
        "Local recoding and Mondrian keep more detail but are easier to attack: "
        "there are published attacks on them."
    ),
    "roles": N_(
        "Roles of the columns: others may know {known}, and {secret} should "
        "stay unknown"
    ),
    "plan": N_(
        "{models}. Groups are counted in {whom}. Method: {method}. Suppressed at most: "
        "{limit}."
    ),
    "what roles do": N_(
        "Identifiers are removed and quasi-identifiers made coarser. All other "
        "columns, also sensitive ones, are kept as they are."
    ),
    "unknown values": N_(
        "The plan does not cover some values in {columns}. The table can be made "
        "once the plan says how these values become coarser."
    ),
    "search": N_(
        "Full-domain: {nodes:,} combinations of levels; trying all of them takes "
        "about {seconds} s. A search with this limit usually takes less than "
        "{mostly} s, and at most about {most} s and {megabytes:,} MB."
    ),
    "too many levels": N_(
        "Full-domain: there are too many combinations of levels ({nodes:,}) to try "
        "them all. A partial search takes about a minute and says how much better "
        "an untried combination could be."
    ),
    "not all": N_(
        "There are too many combinations of levels to try them all: these are the "
        "best that were found. No other combination can be better by more than "
        "{gap}."
    ),
    "suggested": N_(
        "{method} is suggested. Local recoding keeps more detail than Mondrian but "
        "is slow with more than {columns} columns."
    ),
}
METHOD_NAMES = {
    "full-domain": N_("full-domain"),
    "local recoding": N_("local recoding"),
    "cell suppression": N_("suppression of cells"),
    "mondrian": N_("Mondrian"),
    "microaggregation": N_("microaggregation (MDAV)"),
}
METHOD_WORDS = {
    "full-domain": N_("one level per column, the same for everybody"),
    "local recoding": N_("levels differ from group to group"),
    "cell suppression": N_("single cells become *, first in columns that matter less"),
    "mondrian": N_("groups follow the data, with ranges instead of fixed levels"),
    "microaggregation": N_("numbers become group means"),
}


@dataclass(frozen=True, kw_only=True)
class Demands:
    """Requirements that a person sets for the anonymized table.

    Attributes:
        models: beside k.
        subset: a column of true and false that marks the rows to be published out of a
            population.
        household: a column that says who lives together: groups count households.
        pseudonym, series, coded, randomized: as in a plan.
    """

    k: int
    limit: float
    models: tuple[PrivacyModel, ...] = ()
    metric: Metric = field(default_factory=InformationLoss)
    suppressed: SuppressedTreatment = "checked"
    subset: str | None = None
    household: str | None = None
    pseudonym: str | None = None
    series: str = ""
    coded: Mapping[str, Coding] = field(default_factory=dict)
    randomized: Mapping[str, float] = field(default_factory=dict)


def plan_of(
    curator: Curator, page_state: AnonymizeState, demands: Demands, *, method: str
) -> Plan:
    """Return the plan of the page's choices.

    Args:
        curator: curator of the data set.
        page_state: roles and hierarchies.
        demands: demands of the person.
        method: kind of a method, or `SUGGESTED_METHOD`.

    Raises: the errors of a plan.
    """
    measured = [
        model.column
        for model in demands.models
        if isinstance(model, TCloseness) and model.distance == "hierarchical"
    ]
    page_state.add_missing_hierarchies(curator, measured)
    used = {
        name: page_state.hierarchies[name]
        for name in (*page_state.quasi_identifiers, *measured)
    }
    roles = {
        name: role for name, role in page_state.roles.items() if name != demands.subset
    }
    plan = default_plan(roles, used, k=demands.k, limit=demands.limit)
    plan = dataclasses.replace(
        plan.with_person_column(curator.schema.unit.id_column),
        models=(*plan.models, *demands.models),
        **{
            name: value
            for name, value in vars(demands).items()
            if name not in ("k", "limit", "models")
        },
    )
    known = plan.quasi_identifiers
    floor = {name: at for name, at in page_state.lowest_levels.items() if name in known}
    if method == SUGGESTED_METHOD:
        suggested = suggested_method(
            predict_search_size(curator, page_state, plan), len(used)
        )
        plan = dataclasses.replace(plan, method=FullDomain() if floor else suggested)
        return dataclasses.replace(plan, floor=floor)
    if Method.of_kind(method).searches:
        plan = dataclasses.replace(plan, floor=floor)
    return dataclasses.replace(plan, method=Method.of_kind(method)())


def apply_plan(
    curator: Curator, page_state: AnonymizeState, note: session.TakePlan
) -> None:
    """Take roles, hierarchies and demands from an uploaded project.

    Nothing of another table is taken.
    """
    plan = note.plan
    if plan is None or {*plan.roles, *filter(None, [plan.subset])} != set(
        page_state.roles
    ):
        return
    page_state.notes = note.notes
    page_state.set_roles(
        {name: plan.roles.get(name, "insensitive") for name in page_state.roles}
    )
    page_state.add_missing_hierarchies(curator, plan.hierarchies)
    for name, hierarchy in plan.hierarchies.items():
        page_state.replace_hierarchy(name, page_state.mark_imported(name, hierarchy))
    plan = plan.with_person_column(curator.schema.unit.id_column)
    if plan.node is None:
        predicted = predict_search_size(curator, page_state, plan)
        method = suggested_method(predicted, len(plan.quasi_identifiers))
        plan = dataclasses.replace(plan, method=method)
    page_state.use_plan(plan)


def predict_search_size(
    curator: Curator, page_state: AnonymizeState, plan: Plan
) -> Prediction:
    """Predict the size of a full-domain search."""
    key = ("size", page_state.version, plan.models[1:], plan.unit_column, plan.subset)
    full = dataclasses.replace(plan, method=FullDomain())
    return session.evaluate_once(curator, key, lambda: SearchSizeQuestion(plan=full))


def suggested_method(predicted: Prediction, columns: int) -> Method:
    """Return full-domain search if it is quick enough, else a faster method."""
    if predicted.is_feasible and predicted.reference_seconds <= MAX_SEARCH_SECONDS:
        return FullDomain()
    return LocalRecoding() if columns <= MAX_LOCAL_RECODING_COLUMNS else Mondrian()


def why_not_compared(predicted: Prediction, method: Method, columns: int) -> str:
    """Return why the comparison leaves out a method; empty if it does not."""
    if method.searches and not suggested_method(predicted, columns).searches:
        return _(MESSAGES["too many levels"]).format(nodes=predicted.nodes)
    if method == LocalRecoding() and columns > MAX_LOCAL_RECODING_COLUMNS:
        return suggestion_sentence(suggested_method(predicted, columns))
    return ""


def plan_words(plan: Plan, models: Iterable[str]) -> str:
    """Describe the requirements, method and suppression limit of a plan.

    Args:
        models: every model that holds, as it is stored.
    """
    return _(MESSAGES["plan"]).format(
        models=translate_stored(*models),
        whom=unit_of_groups(plan),
        method=_(METHOD_NAMES[plan.method.kind]),
        limit=limit_words(plan.limit),
    )


def method_label(method: str) -> str:
    """Return a method's name and purpose for a list."""
    if method == SUGGESTED_METHOD:
        return _("as suggested for this table")
    return name_and_text(_(METHOD_NAMES[method]), _(METHOD_WORDS[method]))


def unit_of_groups(plan: Plan) -> str:
    """Return the unit of groups: households, people or rows."""
    return _(COUNTED_WORDS[plan.counted_unit])


def method_words(curator: Curator, page_state: AnonymizeState, plan: Plan) -> str:
    """Describe the size of a full-domain search; suggest another method if it is too
    large.
    """
    predicted = predict_search_size(curator, page_state, plan)
    columns = len(plan.quasi_identifiers)
    if predicted.is_feasible:
        forecast = (predicted.seconds, *predicted.search_seconds(plan.limit))
        seconds, mostly, most = (
            number(max(0.1, round(seconds, 1))) for seconds in forecast
        )
        sentence = _(MESSAGES["search"]).format(
            nodes=predicted.nodes,
            seconds=seconds,
            mostly=mostly,
            most=most,
            megabytes=math.ceil(predicted.memory_bytes / 1e6),
        )
    else:
        sentence = _(MESSAGES["too many levels"]).format(nodes=predicted.nodes)
    suggested = suggested_method(predicted, columns)
    return (
        sentence
        if suggested.searches
        else f"{sentence} {suggestion_sentence(suggested)}"
    )


def suggestion_sentence(method: Method) -> str:
    """Return the suggested local method, with the reason."""
    return _(MESSAGES["suggested"]).format(
        method=capital(_(METHOD_NAMES[method.kind])), columns=MAX_LOCAL_RECODING_COLUMNS
    )
