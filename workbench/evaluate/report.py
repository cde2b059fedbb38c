"""The comparison of a release with the original, and its verdict. Internal."""

import datetime
from collections.abc import Collection
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import pandas as pd

from dpcore.curator import Curator
from dpcore.evaluation.utility import measures
from dpcore.evaluation.utility.similarity import (
    ColumnSimilarity,
    SimilarityQuestion,
    SimilarityReport,
)
from dpcore.progress import OnProgress
from workbench import session
from workbench.evaluate.form import Candidate
from workbench.evaluate.relations import (
    BARELY_KEPT_SHARE,
    MIN_SIGNAL,
    WELL_KEPT_SHARE,
    kept_relations,
)
from workbench.language.messages import (
    N_,
    _,
    localize_number,
    translate_table,
)
from workbench.language.wording import (
    escape_markdown,
    list_names,
    number,
    one_label_words,
    percent,
    printing,
)
from workbench.ui import progress_view
from workbench.ui.charged import MISLEADING_SHARE
from workbench.ui.verdict import Level, Verdict

# The verdict warns if more than this share of the rows has an impossible pair of
# values.
MISLEADING_IMPOSSIBLE = 0.01
LEARNER_TITLES = {
    "logistic": N_("logistic regression"),
    "linear": N_("linear regression"),
    "k-means": N_("groups (k-means)"),
    "trees": N_("boosted trees"),
    "svm": N_("support vector machine"),
}
SCALED_MEASURE_TITLES = {
    "pairs": N_("pairs of columns"),
    "triples": N_("triples of columns"),
    "relations": N_("pairs of columns, in coarse cells"),
    "association": N_("strength of relations between columns"),
    "correlation": N_("correlation of numbers"),
    "queries": N_("random questions"),
    "impossible": N_("impossible pairs"),
    "propensity": N_("telling the tables apart"),
}
"""The measures that have a place between perfect and independent columns."""

_SOURCE_OF_SCORE = {"own": "release", "best": "original", "least": "majority"}


def progress(
    title: str, *, key: str, patience: float = 0.0
) -> AbstractContextManager[OnProgress]:
    """Show the stage of a long computation beside a Stop button.

    Args:
        title: title of the work.
        key: key of the Stop button.
        patience: seconds before anything is shown.
    """
    return progress_view.show_progress(
        title, translate_table(LEARNER_TITLES), key=key, delay_seconds=patience
    )


def compare_with_original(curator: Curator, candidate: Candidate) -> SimilarityReport:
    """Compare a candidate with the original, once per session."""
    key = f"stop-comparing-{candidate.key[:20]}"
    with progress(
        _("Comparing with the original"),
        key=key,
        patience=progress_view.PATIENCE_SECONDS,
    ) as on_progress:
        return session.evaluate_once(
            curator,
            ("similarity", candidate.key),
            lambda: SimilarityQuestion(table=candidate.table, labels=candidate.labels),
            on_progress,
        )


def computed_report(key: tuple[Any, ...]) -> Any:
    """Return a report's content if it was computed in this session."""
    report = session.session().reports.get(key)
    return getattr(report, "content", report)


def place_measures(similarity: SimilarityReport) -> pd.DataFrame:
    """Return each measure on a scale from perfect (0) to independent columns (1).

    Another sample of the original has its place beside it.
    """
    lines = []
    for score in similarity.scores:
        reach = (score.independent or 0) - score.measure.perfect
        if score.measure.independent is not None or not reach:
            continue
        places = (
            None if value is None else (value - score.measure.perfect) / reach
            for value in (score.value, score.floor)
        )
        lines.append(
            (
                _(SCALED_MEASURE_TITLES[score.measure.key]),
                *places,
                score.value,
                score.independent,
            )
        )
    return pd.DataFrame(
        lines,
        columns=["figure", "release", "another sample", "value", "independent columns"],
    )


def columns_table(
    curator: Curator,
    similarity: SimilarityReport,
    *,
    with_values: bool = True,
) -> pd.DataFrame:
    """Return one line per column, with its figures before and after.

    Args:
        with_values: whether to add means and medians; a median may be one person's value, which
            no file holds.
    """
    lines = []
    is_labeled = any(lost_detail(column) for column in similarity.columns)
    for column in similarity.columns:
        days = curator.schema.column(column.column).holds_days
        line: dict[str, str] = {
            _("column"): column.column,
            _("rows that would have to change"): percent(column.distance),
            _("another sample"): percent(column.floor),
        }
        if is_labeled:
            line[_("wrong, however the labels are read")] = percent(
                column.unexplained_distance
            )
            line[_("detail lost in coarse labels")] = percent(lost_detail(column))
        values = (
            ((_("mean"), column.mean), (_("median"), column.median))
            if with_values
            else ()
        )
        for title, pair in values:
            line[title] = (
                ""
                if pair is None
                else " → ".join(_format_value(value, is_date=days) for value in pair)
            )
        for title, shares in (
            (_("zeros"), column.zeros),
            (_("missing"), column.missing),
        ):
            line[title] = (
                "" if shares is None else " → ".join(percent(share) for share in shares)
            )
        line[_("error of the deciles, as a share of the range")] = (
            "" if column.deciles is None else percent(column.deciles)
        )
        line[_("rare values kept")] = (
            f"{column.rare_values[1]} / {column.rare_values[0]}"
            if column.rare_values[0]
            else ""
        )
        lines.append(line)
    return pd.DataFrame(lines)


def column_with_changed_zeros(similarity: SimilarityReport) -> ColumnSimilarity | None:
    """Return the column whose share of zeros changed most, if by more than 0.1."""
    moved = [
        column
        for column in similarity.columns
        if column.zeros and abs(column.zeros[0] - column.zeros[1]) > 0.1
    ]
    return max(moved, key=lambda each: abs(each.zeros[0] - each.zeros[1]), default=None)  # type: ignore[index]


def score_words(similarity: SimilarityReport, measure: measures.Measure) -> str:
    """Return the figure of one measure as a percentage, or a dash."""
    score = similarity.score(measure)
    return "–" if score is None else percent(score.value)


@dataclass(frozen=True, kw_only=True)
class LearningScore:
    """Score of a model trained on a release and tested on the original.

    Attributes:
        measure: "accuracy", or "r2" where no classes were predicted.
        score_of_source: the measure of "release", and next to it of "original" and "majority", one
            answer for all.
    """

    target: str
    measure: str
    score_of_source: dict[str, float]

    @property
    def kept_share(self) -> float | None:
        """Share, 0 to 1, of what the original teaches that the release keeps; None if
        the original teaches nothing.
        """
        best, own = (
            self.score_of_source[side] - self.score_of_source["majority"]
            for side in ("original", "release")
        )
        return None if best < MIN_SIGNAL else min(1.0, max(0.0, own / best))


def dependent_columns(curator: Curator) -> list[str]:
    """Return the columns that are counted relative to another one, such as an end."""
    return [
        column.name
        for column in curator.schema.columns
        if column.source_columns != (column.name,)
    ]


def is_misleading(column: ColumnSimilarity) -> bool:
    """Return whether a column is too far from the original for its figures to be
    used.
    """
    return column.unexplained_distance > max(MISLEADING_SHARE, 2 * column.floor)


def lost_detail(column: ColumnSimilarity) -> float:
    """Return the part of a column's distance that is due to coarse labels."""
    return column.distance - column.unexplained_distance


@printing()
def verdict_of_learning(learned: LearningScore, counting: Verdict) -> Verdict:
    """Judge a release made for learning, first by its models, then by its counts.

    Args:
        counting: for a table that no recipe made, so that it says nothing of a larger
            share.
    """
    kept = learned.kept_share
    actions = [_("For counting: {verdict}").format(verdict=counting.sentence)]
    level: Level = "mixed"
    if kept is None:
        sentence = _(
            "This release was made for learning {label}, but even the original says "
            "almost nothing about it."
        )
    elif kept >= WELL_KEPT_SHARE:
        level = "good"
        sentence = _("Fit for learning {label}.")
    elif kept >= BARELY_KEPT_SHARE:
        sentence = _("Fit for learning {label}, with losses.")
    else:
        level = "poor"
        sentence = _("Not fit for learning {label}.")
    if kept is not None and kept < WELL_KEPT_SHARE:
        actions.insert(
            0,
            _(
                "Release it again with a larger share of the budget, or with fewer "
                "columns."
            ),
        )
    if learned.measure == "accuracy":
        figures = _(
            (
                "A model trained on the release is right in {own} of cases. "
                "Training on the original gives {best}, and always giving the same "
                "answer {least}."
            ),
        )
        shown = {
            name: percent(learned.score_of_source[side])
            for name, side in _SOURCE_OF_SCORE.items()
        }
    else:
        figures = _(
            "A model trained on the release has R² {own}; training on the original "
            "gives {best}."
        )
        shown = {
            name: localize_number(f"{learned.score_of_source[side]:.2f}")
            for name, side in _SOURCE_OF_SCORE.items()
        }
    sentence = f"{sentence.format(label=escape_markdown(learned.target))} {figures.format(**shown)}"
    return Verdict(
        level=level, sentence=sentence, actions=(*actions, *counting.actions)
    )


@printing()
def verdict_of_similarity(
    similarity: SimilarityReport,
    *,
    is_from_recipe: bool,
    counts_columns_alone: bool = False,
    dependent: Collection[str] = (),
    columns_of_one_label: Collection[str] = (),
) -> Verdict:
    """Judge by its similarity to the original how a release may be used.

    Args:
        is_from_recipe: whether the release came from a recipe, whose budget can be changed.
        counts_columns_alone: whether it counts each column by itself, so that nobody expects
            relations of it.
        dependent: columns that are counted from another one, such as an end by its
            begin. Their counts are right even if each column is counted by itself, but
            their drawn values are not.
        columns_of_one_label: those with the same label in every row.
    """
    alone = [each for each in similarity.columns if each.column not in dependent]
    judged = alone if counts_columns_alone and alone else similarity.columns
    worst = max(judged, key=lambda column: column.unexplained_distance)
    vaguest = max(similarity.columns, key=lost_detail)
    wiped = [
        each.column
        for each in similarity.columns
        if each.column in columns_of_one_label
    ]
    kept = kept_relations(similarity)
    off = is_misleading(worst)
    apart = [
        each.column
        for each in similarity.columns
        if each not in judged and is_misleading(each)
    ]
    pairs = similarity.score(measures.COARSE_PAIR_DISTANCE)
    actions = []
    if off:
        actions.append(
            _(
                "Do not use figures about {column}: {share} of its rows would have "
                "to change to match the original."
            ).format(
                column=escape_markdown(worst.column),
                share=percent(worst.unexplained_distance),
            ),
        )
    if lost_detail(vaguest) > MISLEADING_SHARE and vaguest.column not in wiped:
        actions.append(
            _(
                "Use only the labels of {column}. They are right, but if all values "
                "behind a label are taken as equally frequent, {share} of the rows "
                "are wrong."
            ).format(
                column=escape_markdown(vaguest.column),
                share=percent(lost_detail(vaguest)),
            )
        )
    if apart:
        actions.append(
            _(
                "Use the counts of {columns}, not their drawn values, which depend "
                "on another column."
            ).format(columns=list_names(apart))
        )
    zeros = column_with_changed_zeros(similarity)
    if zeros is not None and zeros.zeros is not None and zeros.mean is not None:
        actions.append(
            _(
                "Do not use the mean of {column}: {before} of the original's values "
                "are 0, but {after} of the values in this table."
            ).format(
                column=escape_markdown(zeros.column),
                before=percent(zeros.zeros[0]),
                after=percent(zeros.zeros[1]),
            ),
        )
    impossible = similarity.score(measures.IMPOSSIBLE_PAIRS)
    if (
        impossible is not None
        and impossible.value > MISLEADING_IMPOSSIBLE
        and not counts_columns_alone
    ):
        actions.append(
            _(
                "{share} of the rows contain two values that never occur together "
                "in the original. Add facts that must hold for every row."
            ).format(share=percent(impossible.value))
        )
    level: Level = "mixed" if actions or wiped else "good"
    if counts_columns_alone:
        kept = None
        level = "poor" if off else level
        sentence = (
            _("Fit for few questions: at least one column came out wrong.")
            if off
            else _(
                "Fit for counting one column at a time, as intended. It contains no "
                "relations between columns."
            )
        )
    elif pairs is not None and pairs.no_better_than_independent and kept is not None:
        level = "poor"
        sentence = _(
            "Not fit for questions about two columns: columns drawn independently "
            "would be as good."
        )
    elif off and (kept is None or kept < WELL_KEPT_SHARE):
        level = "poor"
        sentence = _("Fit for few questions: at least one column came out wrong.")
    elif kept is None:
        sentence = _("Fit for counting one column at a time.")
        if pairs is not None:
            sentence = _(
                "Fit for counting. The columns of the original are almost independent."
            )
    elif kept >= WELL_KEPT_SHARE:
        sentence = _(
            "Fit for counting and for relations between columns: {kept} of them are "
            "kept."
        )
    else:
        level = "poor" if kept < BARELY_KEPT_SHARE else "mixed"
        sentence = _(
            "Fit for single columns only: {kept} of the relations between columns "
            "are kept."
        )
    if is_from_recipe and (
        level == "poor" or (kept is not None and kept < WELL_KEPT_SHARE)
    ):
        actions.append(
            _(
                "Release it again with a larger share of the budget, or with fewer "
                "columns."
            )
        )
    sentence = sentence if kept is None else sentence.format(kept=percent(kept))
    if wiped:
        sentence = f"{sentence} {one_label_words(wiped)}"
    return Verdict(level=level, sentence=sentence, actions=tuple(actions))


def _format_value(value: float, *, is_date: bool) -> str:
    if is_date:
        return (
            datetime.date(1970, 1, 1) + datetime.timedelta(days=round(value))
        ).isoformat()
    return number(value)
