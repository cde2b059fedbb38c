"""The comparison of a release of two linked tables with the originals. Internal."""

from dataclasses import dataclass

import pandas as pd

from dpcore.curator import LinkedCurator
from dpcore.evaluation.utility.event_pairs import (
    EventPairsQuestion,
    EventPairsReport,
    columns_of_one_value,
)
from dpcore.evaluation.utility.similarity import ColumnSimilarity, SimilarityReport
from dpcore.schema.linked import NUMBER_OF_EVENTS, LinkedSchema
from workbench import session
from workbench.evaluate.form import PairCandidate
from workbench.evaluate.report import (
    BARELY_KEPT_SHARE,
    WELL_KEPT_SHARE,
    compare_with_original,
    dependent_columns,
    is_misleading,
    kept_share,
    verdict_of_similarity,
)
from workbench.language.messages import _, ngettext
from workbench.language.wording import percent, printing
from workbench.ui.verdict import Level, Verdict

LEVEL_ORDER: tuple[Level, ...] = ("good", "mixed", "poor")


@dataclass(frozen=True, kw_only=True)
class LinkedSimilarity:
    """Similarity of both tables, and of what they have to do with each other.

    Attributes:
        people: of the people with their number of events.
        events: of the events with the columns of their people.
        kept_across: share, 0 to 1, of the relations between a column of the person and
            one of the event that is kept; None if the original has hardly any.
        event_pairs: of two events of one person.
    """

    people: SimilarityReport
    events: SimilarityReport
    kept_across: float | None
    event_pairs: EventPairsReport

    @property
    def kept_within_person(self) -> float | None:
        """Share, 0 to 1, of the resemblance of two events of one person that is kept.

        None if such events hardly resemble each other in the original.
        """
        if not self.event_pairs.columns:
            return None
        value, floor, independent = self.event_pairs.distances.mean(axis=1).tolist()
        return kept_share(value, floor=floor, independent=independent)

    @property
    def number_of_events(self) -> ColumnSimilarity:
        """Similarity of the number of events of a person."""
        return next(
            column
            for column in self.people.columns
            if column.column == NUMBER_OF_EVENTS
        )


def compare_pair(linked: LinkedCurator, candidate: PairCandidate) -> LinkedSimilarity:
    """Compare both tables of one drawing with the originals, once per session."""
    people = compare_with_original(linked.people, candidate.people)
    events = compare_with_original(linked.events, candidate.events)
    event_pairs = session.evaluate_once(
        linked.events,
        ("event pairs", candidate.key),
        lambda: EventPairsQuestion(
            pairs=candidate.event_pairs,
            columns=columns_of_one_value(linked.linked.events),
        ),
    )
    return LinkedSimilarity(
        people=people,
        events=events,
        kept_across=kept_across(events, linked.linked),
        event_pairs=event_pairs,
    )


def kept_across(events: SimilarityReport, linked: LinkedSchema) -> float | None:
    """Return the kept share of relations between columns of the person and the event.

    None if the original has hardly any.

    Args:
        events: of the events with the columns of their people.
    """
    of_person = set(linked.people_view.domain.names)
    of_event = set(linked.events_view.domain.names) - of_person
    compared = of_event.intersection(events.marginals.columns)
    if not compared:
        return None
    value, floor, independent = events.mean_distances(of_person, compared)
    return kept_share(value, floor=floor, independent=independent)


def judge_halves(
    linked: LinkedCurator, similarity: LinkedSimilarity, *, is_from_recipe: bool
) -> dict[str, Verdict]:
    """Judge each table by itself, as its own page does.

    Args:
        is_from_recipe: whether both tables are drawn from a release.
    """
    halves = {
        "people": (linked.people, similarity.people),
        "events": (linked.events, similarity.events),
    }
    return {
        view: verdict_of_similarity(
            report, is_from_recipe=is_from_recipe, dependent=dependent_columns(curator)
        )
        for view, (curator, report) in halves.items()
    }


@printing()
def verdict_of_pair(
    halves: dict[str, Verdict],
    similarity: LinkedSimilarity,
    broken_links: int,
    left_out_share: float = 0.0,
) -> Verdict:
    """Judge both tables as one, by the worst of their parts.

    These are either table, the number of events of a person, the relations across both
    tables, how two events of one person resemble each other, and whether every event
    has a person.

    Args:
        halves: verdicts of "people" and "events".
        broken_links: rows whose keys do not fit together.
        left_out_share: of the people, 0 to 1.
    """
    numbers = similarity.number_of_events
    across = similarity.kept_across
    levels: dict[str, Level] = {
        _("people"): halves["people"].level,
        _("events"): halves["events"].level,
        _("the number of events of a person"): (
            "poor" if is_misleading(numbers) else "good"
        ),
        _("relations between people and events"): _level_of_kept(across),
        _("events of one person"): _level_within_person(similarity),
        _("keys"): "poor" if broken_links else "good",
    }
    worst = max(levels.values(), key=LEVEL_ORDER.index)
    weak = [name for name, level in levels.items() if level == worst]
    sentence = {
        "good": _(
            "Fit as a pair: people, events and what they have to do with each other."
        ),
        "mixed": _("Fit as a pair, with care. Weakest: {parts}."),
        "poor": _("Not fit as a pair. Weakest: {parts}."),
    }[worst].format(parts=", ".join(weak))
    reasons = [
        _("People: {verdict}").format(verdict=halves["people"].sentence),
        _("Events: {verdict}").format(verdict=halves["events"].sentence),
        _(
            "Number of events: {share} of the people would need another number to "
            "match the original."
        ).format(share=percent(numbers.distance)),
        _("Across both tables: the original has hardly any relations.")
        if across is None
        else _(
            "Across both tables: {kept} of the relations between a column of the "
            "person and one of the event are kept."
        ).format(kept=percent(across)),
        _("Events of one person: in the original, they hardly resemble each other.")
        if similarity.kept_within_person is None
        else _(
            "Events of one person: {kept} of their resemblance to each other is kept."
        ).format(kept=percent(similarity.kept_within_person)),
        *(
            [
                _("Left out: {share} of the people, with all their events.").format(
                    share=percent(left_out_share)
                )
            ]
            if left_out_share
            else []
        ),
        ngettext(
            "Keys: {number:,} row does not fit the other table.",
            "Keys: {number:,} rows do not fit the other table.",
            broken_links,
        )
        if broken_links
        else _("Keys: every event belongs to one person, and no key is there twice."),
    ]
    actions = dict.fromkeys((*halves["people"].actions, *halves["events"].actions))
    return Verdict(
        level=worst, sentence=sentence, reasons=tuple(reasons), actions=tuple(actions)
    )


def _level_within_person(similarity: LinkedSimilarity) -> Level:
    """Return how good the resemblance of events of one person is, at worst "mixed".

    Counts of events and of people are right without it.
    """
    level = _level_of_kept(similarity.kept_within_person)
    return "good" if level == "good" else "mixed"


def _level_of_kept(kept: float | None) -> Level:
    """Return how good it is to keep so much of the relations."""
    if kept is None or kept >= WELL_KEPT_SHARE:
        return "good"
    return "mixed" if kept >= BARELY_KEPT_SHARE else "poor"


def across_table(similarity: LinkedSimilarity, linked: LinkedSchema) -> pd.DataFrame:
    """Return a line for each column of people with each of events, worst first."""
    of_person = linked.people_view.domain.names
    compared = similarity.events.marginals.columns
    of_event = [name for name in compared if name not in of_person]
    pairs = [(one, two) for one in of_person if one in compared for two in of_event]
    return _distances_table(
        [
            (
                {_("column of people"): one, _("column of events"): two},
                similarity.events.mean_distances({one}, {two}),
            )
            for one, two in pairs
        ]
    )


def event_pairs_table(similarity: LinkedSimilarity) -> pd.DataFrame:
    """Return a line for each column, for two events of one person, worst first."""
    pairs = similarity.event_pairs
    return _distances_table(
        [
            ({_("column of events"): name}, tuple(pairs.distances[:, place].tolist()))
            for place, name in enumerate(pairs.columns)
        ]
    )


def _distances_table(
    lines: list[tuple[dict[str, str], tuple[float, ...]]],
) -> pd.DataFrame:
    """Return what is kept of each relation, and its distances from the original.

    Args:
        lines: names of columns, and distances of the release, of a bootstrap and of
            independent columns.
    """
    shown = []
    for names, (value, floor, independent) in sorted(
        lines, key=lambda line: line[1][0], reverse=True
    ):
        kept = kept_share(value, floor=floor, independent=independent)
        shown.append(
            {
                **names,
                _("relation kept"): "–" if kept is None else percent(kept),
                _("rows that would have to change"): percent(value),
                _("another sample"): percent(floor),
                _("independent columns"): percent(independent),
            }
        )
    return pd.DataFrame(shown)
