"""The verdict of an audit in sentences, the same on the page, in the printed file and
as a command.
"""

from collections.abc import Sequence

from dpcore.evaluation.table.audit import AuditReport
from dpcore.evaluation.table.verdict import Coarsening, Way
from workbench.language.messages import N_, _, capital, join, ngettext
from workbench.language.wording import people_words, percent

ANSWERS = {
    "no": N_("no"),
    "hardly": N_("hardly"),
    "yes": N_("yes"),
}


def verdict(report: AuditReport, columns: list[str]) -> list[str]:
    """Return whether the table is anonymous, and at most three reasons, the worst
    first.

    Args:
        columns: what others may know.
    """
    given = report.verdict
    risk = report.risk
    known = join(columns)
    sentences = [_("{answer}.").format(answer=capital(_(ANSWERS[given.answer])))]
    if given.answer == "yes":
        sentences = [
            _("Yes, against somebody who knows no more than {columns}.").format(
                columns=known
            )
        ]
    if given.naming or given.texts:
        sentences.append(" ".join(named(given.naming, given.texts)))
    unique = _("Nobody is unique by {columns}; the smallest group has {k} people.")
    if given.more is not None:
        unique = _(
            "{worst} of the people are unique as soon as somebody knows {column} "
            "too; without it, {share} by {columns}."
        )
    elif given.uniques:
        unique = _(
            "{share} of the people are unique as soon as somebody knows {columns}."
        )
    column, worst = given.more or ("", 0.0)
    unique = unique.format(
        worst=percent(worst),
        column=column,
        share=percent(given.uniques) if given.uniques else _("nobody"),
        columns=join([*given.columns]) if given.uniques else known,
        k=people_words(risk.k),
    )
    if given.naming or given.texts:
        sentences.append(_("Without that: {sentence}").format(sentence=unique))
    else:
        sentences.append(capital(unique))
    if given.answer == "hardly" and risk.above:
        sentences.append(
            _("In a group of fewer than {size}: {share} of the people.").format(
                share=percent(risk.above), size=round(1 / risk.threshold)
            )
        )
    if given.reveals:
        sentences.append(_("Some groups give away what should stay unknown."))
    return sentences


def named(naming: Sequence[str], texts: Sequence[str]) -> list[str]:
    """Return one sentence for each kind of column that names people.

    Args:
        naming: columns that name people.
        texts: columns of free text.
    """
    sentences = []
    if naming:
        sentences.append(
            ngettext(
                "{columns} names people.",
                "{columns} name people.",
                len(naming),
                columns=join([*naming]),
            )
        )
    if texts:
        sentences.append(
            _("Names may be in the text of {columns}.").format(columns=join([*texts]))
        )
    return sentences


def ways_words() -> str:
    """Say among which changes the one that helps most was looked for."""
    return _(
        "Of all ways to leave out, or to make coarser, one column or two: the least "
        "loss of detail after which the answer is better; where none is, the fewest "
        "people who are unique."
    )


def ways_out(report: AuditReport) -> list[str]:
    """Return the changes that help most after no or hardly, with what they cost, one
    sentence each.
    """
    given = report.verdict
    lines = [_way(way, (*given.naming, *given.texts)) for way in given.ways]
    if given.answer == "no" and all(way.answer == "no" for way in given.ways):
        lines.append(
            _(
                "No change of one or two columns was found that is enough: make the "
                "table k-anonymous."
            ),
        )
    return lines


def _way(way: Way, naming: tuple[str, ...]) -> str:
    steps = [_("leave out {columns}").format(columns=join([*naming]))] if naming else []
    changes = join([*steps, *map(_step, way.steps)])
    return _(
        "{answer}, after these changes: {changes}. Then {share} of the people are "
        "unique."
    ).format(
        answer=capital(_(ANSWERS[way.answer])),
        changes=changes,
        share=percent(way.uniques),
    )


def _step(step: Coarsening) -> str:
    if step.labels == 1:
        return _("leave out {column} (all of its detail is lost)").format(
            column=step.column
        )
    return _(
        "{column} in {labels:,} values instead of {values:,} ({cost} of its detail "
        "is lost)"
    ).format(
        column=step.column,
        labels=step.labels,
        values=step.values,
        cost=percent(step.cost),
    )
