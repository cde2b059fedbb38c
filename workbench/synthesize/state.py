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


def chosen_kind() -> str:
    """Return the kind of the planned release, which fits the data set."""
    kind = session.own(SynthesizeState).kind
    first = "histogram" if planned_linked() is None else session.LINKED_KIND
    return first if not kind or (kind == session.LINKED_KIND != first) else kind


def planned_linked() -> LinkedCurator | None:
    """Return the linked tables that are released; None for one table, or for a plan
    made from column names.
    """
    return None if planning_curator() is not None else session.session().linked


def planning_curator() -> Curator | None:
    """Return the curator of a plan made from column names; None without such a plan."""
    draft = session.session().draft
    return draft.curator if isinstance(draft, NamesDraft) else None
