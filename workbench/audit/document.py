"""The audit as one file to print."""

from collections.abc import Sequence

import pandas as pd

from dpcore.curator import Curator
from dpcore.evaluation.table.audit import AuditReport
from dpcore.risk.criteria import Criterion, Outcome
from workbench.audit.findings import (
    MAX_SETS_SHOWN,
    attackers,
    identifiers,
    linkage_words,
    secrets,
)
from workbench.language.messages import _, capital, commas
from workbench.language.wording import percent, printing
from workbench.report import criteria
from workbench.report.document import fill_template
from workbench.ui.first_rows_view import first_rows_words
from workbench.ui.verdict import judge_table, searched_changes_sentence


@printing()
def to_html(
    curator: Curator,
    report: AuditReport,
    columns: list[str],
    listed: str,
    judged: tuple[Criterion, tuple[Outcome, ...]] | None = None,
    read: Sequence[str] = (),
) -> str:
    """Return the audit as one file to print, without a row of the table.

    Args:
        curator: curator of the table.
        report: the audit.
        columns: what others may know.
        listed: name of the attacker's list, if there is one.
        judged: the criterion that was chosen, with its results.
        read: what was read from the file, in sentences.
    """
    sets = pd.DataFrame(
        [
            {
                _("columns"): commas(column_set.columns),
                _("share of people who are unique"): percent(column_set.uniques),
                _("distinction"): percent(column_set.distinction),
                _("separation"): percent(column_set.separation),
            }
            for column_set in report.sets[:MAX_SETS_SHOWN]
        ],
    )
    expected = [
        sentence
        for sentence in (linkage_words(report, listed), *attackers(report))
        if sentence
    ]
    verdict = judge_table(report, columns)
    return fill_template(
        "internal.html",
        title=_("Internal audit of {name}").format(name=curator.name),
        internal=" ".join(
            [
                _("Internal: this report reads the original. Do not publish it."),
                first_rows_words(),
            ],
        ),
        verdict=verdict.sentence,
        parts=[
            *([(_("What was read"), pd.DataFrame(), [*read])] if read else []),
            (capital("why"), pd.DataFrame(), [*verdict.reasons]),
            (
                _("The change that helps most"),
                pd.DataFrame(),
                [*verdict.actions, searched_changes_sentence()]
                if verdict.actions
                else [],
            ),
            *(criteria.printed_parts(*judged) if judged else ()),
            (_("Columns that look like identifiers"), identifiers(report), []),
            (_("Risk by columns known"), sets, []),
            (_("What attackers can expect"), pd.DataFrame(), expected),
            (_("What groups give away"), secrets(report), []),
        ],
        terms=_(
            "Distinction: groups per person. Separation: share of pairs of "
            "people that the columns tell apart. A person with rows in several"
            " groups counts in each of them."
        ),
        signatures=None,
    )
