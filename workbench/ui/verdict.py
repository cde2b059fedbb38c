"""Verdicts on a table or a release, in the same words on pages and in files.

The Evaluate page makes verdicts of its own comparisons: see
`workbench.evaluate.report`.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from dpcore.evaluation.table.audit import AuditReport
from dpcore.evaluation.table.verdict import Coarsening, Improvement
from dpcore.release import PrivateReport
from workbench.language.messages import N_, _, capital, join, ngettext
from workbench.language.wording import (
    escape_markdown,
    list_names,
    people_words,
    percent,
)
from workbench.ui import charged

TABLE_ANSWERS = {
    "no": N_("no"),
    "hardly": N_("hardly"),
    "yes": N_("yes"),
}
RELEASE_ANSWERS = {
    "good": N_("Good enough, on average."),
    "mixed": N_("Good enough, on average, but not everywhere."),
    "poor": N_("Not good enough for its purpose."),
    "open": N_(
        "Not clear: on average {low} to {high} of the rows are wrong, while up to "
        "{limit} would be acceptable."
    ),
    "open learning": N_(
        "Not clear: {low} to {high} of the predictions are correct. Always "
        "predicting the most frequent answer would be correct in {majority} of the "
        "cases."
    ),
}
MAX_COLUMNS_NAMED = 3  # columns or pairs named in a verdict as not to be used
Level = Literal["good", "mixed", "poor", "open"]


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """A judgement of a table or a release, with what to do next.

    Attributes:
        level: "open" if noise hides the answer.
        sentence: the answer.
        reasons: sentences after it, the worst first.
        actions: sentences on what to do next, the best first.
    """

    level: Level
    sentence: str
    reasons: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()


def judge_table(report: AuditReport, columns: list[str]) -> Verdict:
    """Return whether a table is anonymous, with at most three reasons.

    Args:
        columns: what others may know.
    """
    levels: dict[str, Level] = {"no": "poor", "hardly": "mixed", "yes": "good"}
    answer, *reasons = _table_sentences(report, columns)
    return Verdict(
        level=levels[report.verdict.answer],
        sentence=answer,
        reasons=tuple(reasons),
        actions=tuple(_improvement_sentences(report)),
    )


def judge_release(report: PrivateReport) -> Verdict:
    """Judge from a charged answer alone whether a release is fit for its purpose."""
    level = level_of_answer(report.content)
    bad = _judge_columns(report.content)["poor"]
    if level == "good" and bad:
        level = "mixed"
    return Verdict(
        level=level,
        sentence=_release_answer(level, report.content),
        reasons=(
            charged.answer_sentence(report),
            *_column_sentences(report.content),
        ),
    )


def _release_answer(level: Level, content: Mapping[str, Any]) -> str:
    """Return the answer, or the interval in which it lies if noise hides it."""
    if level != "open":
        return _(RELEASE_ANSWERS[level])
    if "mean" not in content:
        return _(RELEASE_ANSWERS["open learning"]).format(
            low=percent(content["low"]),
            high=percent(content["high"]),
            majority=percent(content["majority"]),
        )
    return _(RELEASE_ANSWERS["open"]).format(
        low=percent(max(0.0, content["mean"] - content["half_width"])),
        high=percent(content["mean"] + content["half_width"]),
        limit=percent(charged.MISLEADING_SHARE),
    )


JudgedColumns = tuple[str, float, float]
"""Names of the columns, and the two ends of the interval of their distance."""


def _judge_columns(content: Mapping[str, Any]) -> dict[Level, list[JudgedColumns]]:
    """Group the compared columns by level, with the worst first in each list.

    Verdicts of earlier versions hold the worst distance alone.
    """
    half = content.get("half_width", 0.0)
    levels: dict[Level, list[JudgedColumns]] = {"poor": [], "open": [], "good": []}
    distances = content.get("distances", ())
    for line in sorted(distances, key=lambda line: -line["distance"]):
        low = max(0.0, line["distance"] - half)
        high = min(1.0, line["distance"] + half)
        level = level_of_answer({"mean": line["distance"], "half_width": half})
        levels[level].append((" × ".join(line["columns"]), low, high))
    return levels


def _column_sentences(content: Mapping[str, Any]) -> list[str]:
    """Return sentences on the columns not to use, the unclear ones and all others."""
    levels = _judge_columns(content)
    sentences = [
        _("Do not use {columns}: {low} to {high} of the rows are wrong.").format(
            columns=escape_markdown(name, max_length=120),
            low=percent(low),
            high=percent(high),
        )
        for name, low, high in levels["poor"][:MAX_COLUMNS_NAMED]
    ]
    if left := len(levels["poor"][MAX_COLUMNS_NAMED:]):
        sentences.append(
            ngettext(
                "The same applies to {number} more.",
                "The same applies to {number} more.",
                left,
            )
        )
    if levels["open"]:
        names = [name for name, _low, _high in levels["open"]]
        sentences.append(
            _(
                "Not clear, because noise hides whether they exceed the limit "
                "of {limit}: {columns}."
            ).format(
                limit=percent(charged.MISLEADING_SHARE),
                columns=list_names(names),
            )
        )
    if levels["good"] and len(sentences):
        sentences.append(
            _("All others are off by at most {high}.").format(
                high=percent(levels["good"][0][2])
            )
        )
    return sentences


def level_of_answer(content: Mapping[str, Any]) -> Level:
    """Return the level of a charged answer; "open" if its interval holds the limit."""
    if "mean" in content:
        low = content["mean"] - content["half_width"]
        high = content["mean"] + content["half_width"]
        if high <= charged.MISLEADING_SHARE:
            return "good"
        return "poor" if low > charged.MISLEADING_SHARE else "open"
    if content["low"] > content["majority"]:
        return "good"
    return "poor" if content["high"] <= content["majority"] else "open"


def _table_sentences(report: AuditReport, columns: list[str]) -> list[str]:
    """Return the answer about a table, and its reasons."""
    given = report.verdict
    risk = report.risk
    known = join(columns)
    sentences = [_("{answer}.").format(answer=capital(_(TABLE_ANSWERS[given.answer])))]
    if given.answer == "yes":
        sentences = [
            _("Yes, against somebody who knows no more than {columns}.").format(
                columns=known
            )
        ]
    if given.naming_columns or given.free_text_columns:
        sentences.append(
            " ".join(naming_sentences(given.naming_columns, given.free_text_columns))
        )
    unique = _("Nobody is unique by {columns}; the smallest group has {k} people.")
    if given.worst_additional_column is not None:
        unique = _(
            "{worst} of the people are unique as soon as somebody also knows "
            "{column}. Unique without it, by {columns}: {share}."
        )
    elif given.unique_share:
        unique = _(
            "{share} of the people are unique as soon as somebody knows {columns}."
        )
    column, worst = given.worst_additional_column or ("", 0.0)
    unique = unique.format(
        worst=percent(worst),
        column=column,
        share=percent(given.unique_share) if given.unique_share else _("nobody"),
        columns=join([*given.columns]) if given.unique_share else known,
        k=people_words(risk.k),
    )
    if given.naming_columns or given.free_text_columns:
        sentences.append(_("Without that: {sentence}").format(sentence=unique))
    else:
        sentences.append(capital(unique))
    if given.answer == "hardly" and risk.above:
        sentences.append(
            _("{share} of the people are in a group of fewer than {size}.").format(
                share=percent(risk.above), size=round(1 / risk.threshold)
            )
        )
    if given.reveals_secret:
        revealed = [
            name
            for name, secret in report.secrets.items()
            if secret.homogeneous_classes
        ]
        sentences.append(
            _("In some groups everybody has the same {columns}.").format(
                columns=join(revealed or [*report.secrets])
            )
        )
    if report.undecided_columns:
        sentences.append(
            _(
                "Nobody has said yet whether the texts in {columns} name people. If "
                "they do, the answer is no."
            ).format(columns=join([*report.undecided_columns]))
        )
    return sentences


def naming_sentences(naming: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return one sentence for each kind of column that names people.

    Args:
        naming: columns that name people.
        texts: columns of free text.
    """
    sentences = []
    if naming:
        sentences.append(
            ngettext(
                "{columns} identifies people.",
                "{columns} identify people.",
                len(naming),
                columns=join([*naming]),
            )
        )
    if texts:
        sentences.append(
            _("The texts in {columns} may contain names.").format(
                columns=join([*texts])
            )
        )
    return sentences


def secrets_table(audit: AuditReport) -> pd.DataFrame:
    """Return for each sensitive column how much its groups reveal."""
    return pd.DataFrame(
        [
            {
                _("column"): name,
                _("groups that reveal the value"): people_words(
                    risk.homogeneous_classes
                ),
                _("people in them"): percent(risk.homogeneous_people),
                _("fewest different values (l)"): risk.distinct_l,
                _("distance from the table (t)"): f"{risk.t_equal:.2f}",
            }
            for name, risk in audit.secrets.items()
        ],
    )


def searched_changes_sentence() -> str:
    """Return the sentence that says which changes were searched."""
    return _(
        "The program tried leaving out one or two columns, and making them coarser. "
        "It shows the change that improves the answer and loses the least detail. If "
        "no change improves the answer, it shows the one that leaves the fewest "
        "people unique."
    )


def _improvement_sentences(report: AuditReport) -> list[str]:
    """Return the changes that help most, one sentence each, with their cost."""
    given = report.verdict
    lines = [
        _improvement_words(
            way, (*given.naming_columns, *given.free_text_columns), given.answer
        )
        for way in given.improvements
    ]
    if given.answer == "no" and all(way.answer == "no" for way in given.improvements):
        lines.append(
            _("Changing one or two columns is not enough: make the table k-anonymous."),
        )
    return lines


def _improvement_words(way: Improvement, naming: tuple[str, ...], answer: str) -> str:
    """Return the sentence on a change.

    Args:
        answer: to the table without the change.
    """
    steps = [_("leave out {columns}").format(columns=join([*naming]))] if naming else []
    changes = join([*steps, *map(_step_words, way.steps)])
    sentence = (
        _(
            'The answer stays "{answer}" with these changes, but they help most: '
            "{changes}. Then {share} of the people are unique."
        )
        if way.answer == answer
        else _(
            'With these changes the answer becomes "{answer}": {changes}. Then {share} '
            "of the people are unique."
        )
    )
    return sentence.format(
        answer=_(TABLE_ANSWERS[way.answer]),
        changes=changes,
        share=percent(way.unique_share),
    )


def _step_words(step: Coarsening) -> str:
    if step.values_after == 1:
        return _("leave out {column} (all of its detail is lost)").format(
            column=step.column
        )
    return _(
        "{column} in {labels:,} values instead of {values:,} ({cost} of its detail "
        "is lost)"
    ).format(
        column=step.column,
        labels=step.values_after,
        values=step.values_before,
        cost=percent(step.cost),
    )
