"""State of the Tables page, and the table that is made on it."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.evaluation.table.proposals import HierarchiesQuestion
from dpcore.progress import OnProgress
from dpcore.release import InternalReport
from dpcore.suppression import ExactTable, PublishedTable, Rule, Shown, TablePlan
from dpcore.synthesis import Joint
from workbench import session
from workbench.language.budget import affordable_epsilon, delta_of
from workbench.language.messages import _
from workbench.language.wording import number, percent
from workbench.store.policy import read_policy
from workbench.ui import progress_view

MAX_GROUPS = 30  # labels of a level that is shown without being asked for


@dataclass(kw_only=True)
class TablesState(session.OfDataSet):
    """Choices and results of the Tables page.

    Attributes:
        made: the table that waits to be accepted, or was.
        published: what left.
        hierarchies: suggested, by column.
    """

    made: InternalReport[ExactTable] | None = None
    published: PublishedTable | None = None
    hierarchies: dict[str, Hierarchy] = field(default_factory=dict)


def countable_columns(curator: Curator) -> list[str]:
    """Return the columns of which a table can be made."""
    person = curator.schema.unit.id_column
    return [name for name in curator.schema.domain.names if name != person]


def plan_of(
    curator: Curator, current: TablesState, columns: tuple[str, ...], rule: Rule
) -> TablePlan:
    """Return the plan for a table, with suggested groups of each column.

    Levels with very many groups are left out.
    """
    missing = tuple(name for name in columns if name not in current.hierarchies)
    if missing:
        key = ("hierarchies", missing)
        suggested = session.evaluate_once(
            curator, key, lambda: HierarchiesQuestion(columns=missing)
        )
        current.hierarchies |= suggested
    shown = []
    for name in columns:
        tree = current.hierarchies[name]
        levels = [at for at in range(tree.height) if len(tree.labels(at)) <= MAX_GROUPS]
        shown.append(Shown(column=name, hierarchy=tree, levels=tuple(levels) or None))
    return TablePlan(columns=tuple(shown), rule=rule)


def make(
    curator: Curator,
    current: TablesState,
    columns: tuple[str, ...],
    rule: Rule,
    on_progress: OnProgress,
) -> None:
    """Make a table that waits to be accepted, with a line in the ledger."""
    current.made = current.published = None
    try:
        with progress_view.wait_in_line():
            plan = plan_of(curator, current, columns, rule)
            read_policy().check_table(plan)
            current.made = curator.exact_table(plan, on_progress)
    except DpcoreError as error:
        session.session().notices["tables"] = error


def accept(curator: Curator, current: TablesState) -> None:
    """Attack the table once more, note it, and let it leave."""
    assert current.made is not None
    try:
        with progress_view.wait_in_line():
            current.published = curator.publish_table(current.made)
    except DpcoreError as error:
        current.made = None
        session.session().notices["tables"] = error


def noise_words(curator: Curator, made: ExactTable) -> str:
    """Say what error the table would have with noise; reads nothing, draws nothing.

    Empty if there is no such release.
    """
    account = curator.account
    share = read_policy().proposed_share("")
    epsilon = affordable_epsilon(math.floor(share * account.units), account)
    try:
        loss = account.rule.loss_of(repr(epsilon), delta_of(account))
        quote = curator.quote(Joint(made.plan.names), loss)
    except DpcoreError:
        return ""
    hidden = len(made.reasons) / len(made.truth)
    return _(
        "With noise, the same columns cost {share} of the budget: no count is "
        "hidden, and 95 of 100 counts are within {error} people of the truth. "
        "Here {hidden} of the counts are hidden and the others are exact."
    ).format(
        share=percent(float(share)),
        error=number(math.ceil(quote.expected[0].half_width())),
        hidden=percent(hidden),
    )
