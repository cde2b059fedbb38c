"""Trial of one plan: the risk before and after, and the loss. Internal."""

import dataclasses
import itertools
import math
import time
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from dpcore.anonymization.apply import Anonymization, carry_out
from dpcore.anonymization.inputs import code_columns
from dpcore.anonymization.plan import Plan
from dpcore.anonymization.quality import Quality
from dpcore.errors import every_row_suppressed_error
from dpcore.evaluation.base import RowsEvaluation
from dpcore.evaluation.table.audit import mark_visible_rows
from dpcore.evaluation.table.verdict import unique_share
from dpcore.progress import OnProgress, ignore_stage_progress
from dpcore.risk.disclosure import AttributeRisk, measure_attribute_risk
from dpcore.risk.reidentification import (
    ReidentificationRisk,
    measure_reidentification_risk,
)
from dpcore.schema.date import are_all_days, parse_days
from dpcore.schema.numbers import round_up_width
from dpcore.schema.schema import Schema
from dpcore.schema.values import as_text
from dpcore.tables.classes import (
    BoolArray,
    IntArray,
    class_index,
    equivalence_classes,
    leaves_of,
)
from dpcore.tables.people import (
    max_per_person,
    people_per_class,
    person_codes,
    select_one_row_per_person,
)
from dpcore.tables.rows import Microdata

MAX_BARS = 24
"""Values of a column whose rows are counted one by one."""
OTHER_VALUES_LABEL = "…"
"""Stands for the values that are put together."""
MAX_LINKABLE_SHARE = 0.001
"""Share of people with a row like nobody else's, above which a table is for named
recipients only: a weakness of more than single people.
"""
EXPOSED_ABOVE = 0.2
"""Risk above which a person counts as exposed: hidden among fewer than five."""


@dataclass(frozen=True, kw_only=True)
class RiskSide:
    """Risk figures of the visible rows before a plan, or of all published rows after.

    Attributes:
        risk: re-identification by the quasi-identifiers as they are. A person with
            several rows is exposed by any of them.
        secret_risks: sensitive column -> what the groups reveal; without rows whose values
            are blanked.
        crowd_sizes: (people,) people in the smallest group of each.
        uniques_with_others: share of people who become unique once the insensitive columns are
            known too.
        groups_per_person: mean number of groups of a person's rows.
    """

    risk: ReidentificationRisk
    secret_risks: Mapping[str, AttributeRisk]
    crowd_sizes: IntArray
    uniques_with_others: float
    groups_per_person: float


@dataclass(frozen=True, kw_only=True)
class LostValue:
    """Value whose rows are all suppressed, with its number of people."""

    column: str
    value: str
    people: int


@dataclass(frozen=True, kw_only=True)
class TrialReport:
    """The risk before and after a plan, and what the plan lost.

    Attributes:
        plan: with its node filled in.
        linkable: share of people with a row that is like nobody else's in all columns that
            leave.
        singling_columns: unchanged columns that have to go so that this share is small:
            column -> the share with this column beside those that stay, the largest
            first. Empty if it is small.
        coded_figures: for each coded or randomized column of numbers a row: mean and standard
            deviation, before and after, and IL1s: the mean distance of a cell, in
            standard deviations times root 2. Source: Mateo-Sanz, Sebé, Domingo-Ferrer
            (2004).
        randomized_figures: for each randomized column, a row per value, the most frequent
            first: the share of the cells with it, before and after, the chance that one
            of them becomes another value, and the share of them that did ("moved").
        bar_counts: quasi-identifier -> rows of each value before, and of each label after,
            in their order; rare ones are put together.
        lost_values: values all of whose rows are suppressed, the most people first.
        seconds: CPU time of making the table.
    """

    plan: Plan
    before: RiskSide
    after: RiskSide
    linkable: float
    singling_columns: Mapping[str, float]
    quality: Quality
    coded_figures: pd.DataFrame
    randomized_figures: Mapping[str, pd.DataFrame]
    bar_counts: Mapping[str, tuple[pd.Series, pd.Series]]
    lost_values: tuple[LostValue, ...]
    seconds: float


@dataclass(frozen=True, kw_only=True)
class TrialQuestion(RowsEvaluation[TrialReport]):
    """Evaluation that tries a plan without publishing anything."""

    kind = "trial"

    plan: Plan

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return self.plan.about

    def compute(
        self,
        original: Microdata,
        schema: Schema,
        on_progress: OnProgress = ignore_stage_progress,
    ) -> TrialReport:
        """Return the risk before and after the plan, and the loss.

        Raises: InfeasibleError, also if nothing would be left; the other errors of a
            plan.
        """
        start = time.thread_time()
        result = carry_out(
            original, self.plan.with_person_column(schema.unit.id_column), on_progress
        )
        seconds = time.thread_time() - start
        if result.is_suppressed.all():
            raise every_row_suppressed_error()
        plan = result.plan
        subset = result.inputs.is_in_subset
        rows = original.frame if subset is None else original.frame[subset]
        numbers = rows[[*dict.fromkeys((*plan.coded, *plan.randomized))]].select_dtypes(
            "number"
        )
        sides = (numbers, result.rows[[*numbers]])
        figures = [figure for side in sides for figure in (side.mean(), side.std())]
        figures.append(
            ((sides[1] - numbers).abs().mean() / (np.sqrt(2) * numbers.std())).fillna(
                0.0
            )
        )
        raw = equivalence_classes(rows, plan.quasi_identifiers)
        published = result.frame
        leaving = result.rows[result.is_published]
        classes = class_index([result.classes[result.is_published]])
        person = person_codes(leaving, plan.unit_column)
        linkable = linkable_share(leaving, plan, classes, person)
        return TrialReport(
            plan=plan,
            before=measure_side(
                rows, plan, raw, mark_visible_rows(rows, plan.quasi_identifiers)
            ),
            after=measure_published_side(result),
            linkable=linkable,
            singling_columns={}
            if linkable <= MAX_LINKABLE_SHARE
            else find_singling_columns(leaving, plan, classes, person),
            quality=result.quality,
            coded_figures=pd.concat(figures, axis=1),
            randomized_figures={
                name: _randomized_figures(original.frame, result, name)
                for name in plan.randomized
            },
            bar_counts={
                name: _count_values(rows[name], published[name])
                for name in plan.quasi_identifiers
            },
            lost_values=_find_lost_values(rows, result),
            seconds=seconds,
        )


def _count_values(before: pd.Series, after: pd.Series) -> tuple[pd.Series, pd.Series]:
    """Return the row counts of a column's values before, and of its labels after.

    Many numbers or dates are put together in runs of one width, other rare values in
    one bar. A label has the place of the values it stands for.
    """
    known = before.dropna()
    if not _is_ordered(known) and are_all_days(as_text(known)):
        # times after the days may be of different time zones
        moments = parse_days(as_text(known))
        known = pd.Series(moments, index=known.index).astype("datetime64[s]")
    is_ordered = _is_ordered(known)
    texts = as_text(known)
    ranks = (known if is_ordered else texts).rank(method="dense")
    kept = after.dropna()
    labels = _count_texts(as_text(kept), ranks.reindex(kept.index).fillna(np.inf))
    if not is_ordered or texts.nunique() <= MAX_BARS:
        return _count_texts(texts, ranks), labels
    if not pd.api.types.is_numeric_dtype(known.dtype):
        counts, edges = np.histogram(known.astype("int64"), MAX_BARS)
        days = as_text(pd.Series(edges.astype("int64")).astype(known.dtype)).str[:10]
        runs = [f"{low} – {high}" for low, high in itertools.pairwise(days)]
        return pd.Series(counts, index=runs), labels
    is_whole = bool((known % 1 == 0).all())
    width = round_up_width(float(known.max() - known.min()) / MAX_BARS)
    width = max(1.0, math.ceil(width)) if is_whole else width
    first = math.floor(known.min() / width)
    edges = np.arange(first, math.floor(known.max() / width) + 2) * width
    counts, _edges = np.histogram(known, edges)
    last = 1 if is_whole else 0  # the next number begins the next run
    runs = [
        f"{low:.12g} – {high - last:.12g}" for low, high in itertools.pairwise(edges)
    ]
    return pd.Series(counts, index=runs), labels


def _count_texts(texts: pd.Series, ranks: pd.Series) -> pd.Series:
    """Count each text, in the order of ranks; the rarest texts share one entry."""
    counts = texts.value_counts()
    shown = counts.index[:MAX_BARS]
    order = ranks.groupby(texts).mean()[shown].sort_values(kind="stable").index
    counts_shown = counts[order]
    if len(counts) > len(shown):
        counts_shown[OTHER_VALUES_LABEL] = int(counts[MAX_BARS:].sum())
    return counts_shown


def _is_ordered(values: pd.Series) -> bool:
    is_number = pd.api.types.is_numeric_dtype(values.dtype)
    return is_number or pd.api.types.is_datetime64_any_dtype(values.dtype)


def _find_lost_values(
    rows: pd.DataFrame, result: Anonymization
) -> tuple[LostValue, ...]:
    """Return the values, held by two or more people, that are suppressed entirely."""
    plan = result.plan
    person = person_codes(rows, plan.unit_column)
    everyone = pd.Series(
        np.arange(len(rows)) if person is None else person, index=rows.index
    )
    lost = []
    for name in (*plan.quasi_identifiers, *plan.columns_with_role("sensitive")):
        texts = as_text(rows[name])
        is_gone = pd.Series(result.is_suppressed, index=rows.index).groupby(texts).all()
        people = everyone.groupby(texts).nunique()[is_gone]
        lost += [
            LostValue(column=name, value=value, people=int(count))
            for value, count in zip(people.index.tolist(), people, strict=True)
            if count > 1
        ]
    return tuple(sorted(lost, key=lambda each: -each.people))


def _randomized_figures(
    frame: pd.DataFrame, result: Anonymization, name: str
) -> pd.DataFrame:
    """Return the figures of one column for `TrialReport.randomized`.

    Args:
        frame: as it was.
    """
    plan = result.plan
    subset = result.inputs.is_in_subset
    whole = as_text(code_columns(frame, plan)[name])
    after = as_text(result.rows[name])
    before = whole if subset is None else whole[subset]
    figures = {
        "before": before.value_counts(normalize=True),
        "chance": plan.randomized[name] * (1 - whole.value_counts(normalize=True)),
        "moved": (before != after).groupby(before).mean(),
        "after": after.value_counts(normalize=True),
    }
    values = pd.DataFrame(figures).fillna(0.0).sort_index()
    return values.sort_values("before", ascending=False, kind="stable")


def measure_published_side(result: Anonymization) -> RiskSide:
    """Return the risk figures of all published rows, suppressed ones included.

    At least one row leaves.
    """
    rows = result.rows
    plan = result.plan
    classes = result.classes
    side = measure_side(rows, plan, classes, result.is_published)
    if plan.suppressed != "blanked" or result.is_suppressed.all():
        return side
    return dataclasses.replace(
        side,
        secret_risks=measure_side(
            rows, plan, classes, ~result.is_suppressed
        ).secret_risks,
    )


def measure_side(
    frame: pd.DataFrame, plan: Plan, classes: IntArray, kept: BoolArray
) -> RiskSide:
    """Return the risk figures of the kept rows, grouped by these classes."""
    rows = frame[kept]
    own = class_index([classes[kept]])
    person = person_codes(rows, plan.unit_column)
    others = [
        name
        for name in plan.columns_with_role("insensitive")
        if name not in plan.dropped_columns
    ]
    known = [own, *(leaves_of(rows, name).codes for name in others)]
    risk = 1 / people_per_class(own, person)[own]
    return RiskSide(
        risk=measure_reidentification_risk(own, threshold=EXPOSED_ABOVE, person=person),
        secret_risks={
            name: measure_attribute_risk(
                own, class_index([leaves_of(rows, name).codes]), person=person
            )
            for name in plan.columns_with_role("sensitive")
            if name not in plan.dropped_columns
        },
        crowd_sizes=np.rint(1 / max_per_person(risk, person)).astype(np.int64),
        uniques_with_others=unique_share(known, person),
        groups_per_person=len(select_one_row_per_person(own, person))
        / len(select_one_row_per_person(np.zeros_like(own), person)),
    )


def linkable_share(
    shown: pd.DataFrame, plan: Plan, classes: IntArray, person: IntArray | None
) -> float:
    """Return the share of people with a unique row in all published columns."""
    others = [leaves_of(shown, name).codes for name in _unchanged_columns(plan)]
    return unique_share([classes, *others], person)


def find_singling_columns(
    shown: pd.DataFrame, plan: Plan, classes: IntArray, person: IntArray | None
) -> dict[str, float]:
    """Return the unchanged columns that have to go so that few people stand out.

    Columns are taken in one by one, those that single out the fewest people first. A
    column goes if the share with it is above `MAX_LINKABLE_SHARE`.

    Returns: column -> that share, the largest first.
    """
    codes = {name: leaves_of(shown, name).codes for name in _unchanged_columns(plan)}
    alone = {
        name: unique_share([classes, column], person) for name, column in codes.items()
    }
    sizes = {name: int(column.max()) for name, column in codes.items()}
    kept = classes
    singling = {}
    for name in sorted(codes, key=lambda name: (alone[name], sizes[name])):
        share = unique_share([kept, codes[name]], person)
        if share > MAX_LINKABLE_SHARE:
            singling[name] = share
        else:
            kept = class_index([kept, codes[name]])
    return dict(sorted(singling.items(), key=lambda item: -item[1]))


def _unchanged_columns(plan: Plan) -> list[str]:
    """Return the columns that leave as they are."""
    unchanged = (
        *plan.columns_with_role("sensitive"),
        *plan.columns_with_role("insensitive"),
    )
    return [name for name in unchanged if name not in plan.dropped_columns]
