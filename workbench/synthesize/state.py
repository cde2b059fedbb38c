"""State of the Synthesize page."""

from collections.abc import Hashable
from dataclasses import dataclass, field

from dpcore.curator import Curator, LinkedCurator
from dpcore.synthesis import RecordStep
from dpcore.synthesis.discrete.constraints import (
    FunctionalDependency,
    ImpossibleCombination,
)
from workbench import session
from workbench.session.draft import NamesDraft

Fact = ImpossibleCombination | FunctionalDependency | tuple[ImpossibleCombination, ...]


@dataclass(kw_only=True)
class SynthesizeState:
    """State of the Synthesize page in a tab.

    Attributes:
        kind: kind of the planned release; empty for the first one.
        facts: facts that hold for every row, by fingerprint of the data set.
        facts_from_data: those of them that were typed after figures of the table were
            seen.
        tests: those of drawn rows against their table, by the request id of the release
            and by their own; None for one that is being computed.
        draws: how often other rows were drawn, by the request id of the release: the
            seed of its rows.
        test_ids: minted for such tests before their click, by what is asked, until it
            is answered.
    """

    kind: str = ""
    facts: dict[str, tuple[Fact, ...]] = field(default_factory=dict)
    facts_from_data: dict[str, frozenset[Fact]] = field(default_factory=dict)
    tests: dict[str, dict[str, RecordStep | None]] = field(default_factory=dict)
    draws: dict[str, int] = field(default_factory=dict)
    test_ids: dict[tuple[Hashable, ...], str] = field(default_factory=dict)

    def draw_again(self, request_id: str) -> None:
        """Change the seed, so that other rows are drawn from this release."""
        self.draws[request_id] = self.draws.get(request_id, 0) + 1


def choose_kind(kind: str) -> None:
    """Plan a release of this kind."""
    session.own(SynthesizeState).kind = kind


def is_pair_planned() -> bool:
    """Return whether two linked tables are planned by names, without rows."""
    return planning_curator() is not None and planned_linked() is not None


def chosen_kind() -> str:
    """Return the kind of the planned release, which fits the data set."""
    if is_pair_planned():
        return session.LINKED_KIND
    kind = session.own(SynthesizeState).kind
    first = "histogram" if planned_linked() is None else session.LINKED_KIND
    return first if not kind or (kind == session.LINKED_KIND != first) else kind


def planned_linked() -> LinkedCurator | None:
    """Return the linked tables that are released, or planned by names; None for one
    table.
    """
    tab = session.session()
    if tab.linked_draft is not None and tab.linked_draft.curator is not None:
        return tab.linked_draft.curator
    return None if planning_curator() is not None else tab.linked


def planning_curator() -> Curator | None:
    """Return the curator of a plan made from column names; None without such a plan.

    Of two linked tables, it is that of the people.
    """
    tab = session.session()
    if tab.linked_draft is not None:
        linked = tab.linked_draft.curator
        return None if linked is None else linked.people
    return tab.draft.curator if isinstance(tab.draft, NamesDraft) else None
