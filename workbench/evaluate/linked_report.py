"""The comparison of a release of two linked tables with the originals. Internal."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
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
from workbench.evaluate.relations import (
    Relation,
    level_of_kept,
    list_relations,
    mean_kept_share,
    sort_relations,
    worst_lost_relation,
)
from workbench.evaluate.report import (
    compare_with_original,
    dependent_columns,
    is_misleading,
    verdict_of_similarity,
)
from workbench.language.messages import _, ngettext
from workbench.language.wording import escape_markdown, percent, printing
from workbench.ui.verdict import Level, Verdict

LEVEL_ORDER: tuple[Level, ...] = ("good", "mixed", "poor")


@dataclass(frozen=True, kw_only=True)
class LinkedSimilarity:
    """Similarity of both tables, and of what they have to do with each other.

    Attributes:
        people: of the people with their number of events.
        events: of the events with the columns of their people.
        across: of each column of the person with each of the event, worst first.
        within_person: of each column in two events of one person, worst first.
        columns_of_one_label: columns that have the same label in every row.
    """

    people: SimilarityReport
    events: SimilarityReport
    across: tuple[Relation, ...]
    within_person: tuple[Relation, ...]
    columns_of_one_label: tuple[str, ...] = ()

    @property
    def kept_across(self) -> float | None:
        """Share, 0 to 1, of the relations across both tables that is kept.

        None if the original has hardly any.
        """
        return mean_kept_share(self.across)

    @property
    def kept_within_person(self) -> float | None:
        """Share, 0 to 1, of the resemblance of two events of one person that is kept.

        None if such events hardly resemble each other in the original.
        """
        return mean_kept_share(self.within_person)

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
    one_label = candidate.columns_of_one_label
    return LinkedSimilarity(
        people=people,
        events=events,
        across=relations_across(events, linked.linked, one_label),
        within_person=relations_within_person(event_pairs, one_label),
        columns_of_one_label=one_label,
    )


def relations_across(
    events: SimilarityReport,
    linked: LinkedSchema,
    columns_of_one_label: Collection[str] = (),
) -> tuple[Relation, ...]:
    """Return each column of the person with each of the event, worst first.

    Args:
        events: of the events with the columns of their people.
        columns_of_one_label: those with the same label in every row of the release.
    """
    of_person = linked.people_view.domain.names
    compared = events.marginals.columns
    of_event = [name for name in compared if name not in of_person]
    pairs = [(one, two) for one in of_person if one in compared for two in of_event]
    return list_relations(events, pairs, columns_of_one_label)


def relations_within_person(
    report: EventPairsReport, columns_of_one_label: Collection[str] = ()
) -> tuple[Relation, ...]:
    """Return the relation of each column in two events of one person, worst first."""
    figures = np.vstack([report.distances, report.unrelated_limits])
    return sort_relations(
        ((name,), tuple(figures[:, place].tolist()), columns_of_one_label)
        for place, name in enumerate(report.columns)
    )


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
            report,
            is_from_recipe=is_from_recipe,
            dependent=dependent_columns(curator),
            columns_of_one_label=similarity.columns_of_one_label,
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
    tables, how two events of one person resemble each other, and whether every event has
    a person.

    Args:
        halves: verdicts of "people" and "events".
        broken_links: rows whose keys do not fit together.
        left_out_share: of the people, 0 to 1.
    """
    numbers = similarity.number_of_events
    levels: dict[str, Level] = {
        _("people"): halves["people"].level,
        _("events"): halves["events"].level,
        _("the number of events of a person"): (
            "poor" if is_misleading(numbers) else "good"
        ),
        _("relations between people and events"): level_of_kept(similarity.kept_across),
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
        _across_sentence(similarity),
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


def _across_sentence(similarity: LinkedSimilarity) -> str:
    """Return what is kept of the relations across both tables, with the worst loss."""
    across = similarity.kept_across
    if across is None:
        return _("Across both tables: the original has hardly any relations.")
    related = [each for each in similarity.across if each.kept is not None]
    if len(related) == 1:
        first, second = map(escape_markdown, related[0].columns)
        return _(
            "Across both tables: {kept} of the relation of {first} with {second} is "
            "kept; other columns have hardly any."
        ).format(kept=percent(across), first=first, second=second)
    sentence = _(
        "Across both tables: {kept} of the relations between a column of the person "
        "and one of the event are kept."
    ).format(kept=percent(across))
    worst = worst_lost_relation(related)
    if worst is None or worst.kept is None:
        return sentence
    first, second = map(escape_markdown, worst.columns)
    loss = _("Most is lost of {first} with {second}: {kept} is kept.").format(
        first=first, second=second, kept=percent(worst.kept)
    )
    return f"{sentence} {loss}"


def _level_within_person(similarity: LinkedSimilarity) -> Level:
    """Return how good the resemblance of events of one person is, at worst "mixed".

    Counts of events and of people are right without it.
    """
    level = level_of_kept(similarity.kept_within_person)
    return "good" if level == "good" else "mixed"


def across_table(similarity: LinkedSimilarity) -> pd.DataFrame:
    """Return a line for each column of people with each of events, worst first."""
    titles = (_("column of people"), _("column of events"))
    return _relations_table(titles, similarity.across)


def within_person_table(similarity: LinkedSimilarity) -> pd.DataFrame:
    """Return a line for each column, for two events of one person, worst first."""
    return _relations_table((_("column of events"),), similarity.within_person)


def _relations_table(
    titles: tuple[str, ...], relations: Sequence[Relation]
) -> pd.DataFrame:
    """Return what is kept of each relation, and its distances from the original.

    Args:
        titles: of the names of columns.
    """
    return pd.DataFrame(
        [
            {
                **dict(zip(titles, relation.columns, strict=True)),
                _("relation kept"): (
                    "–" if relation.kept is None else percent(relation.kept)
                ),
                _("rows that would have to change"): percent(relation.value),
                _("another sample"): percent(relation.floor),
                _("independent columns"): percent(relation.independent),
            }
            for relation in relations
        ]
    )
