"""The audit as one file to print."""

from collections.abc import Sequence

import pandas as pd

from dpcore.curator import Curator
from dpcore.evaluation.table.audit import AuditReport
from dpcore.risk.criteria import ClauseOutcome, Criterion
from workbench.audit.findings import (
    MAX_SETS_SHOWN,
    attacker_sentences,
    identifiers_table,
    linkage_words,
)
from workbench.language.messages import _, capital, join_with_commas
from workbench.language.wording import percent, printing
from workbench.report import criteria
from workbench.report.document import fill_template
from workbench.ui.first_rows_view import first_rows_words
from workbench.ui.verdict import (
    judge_table,
    searched_changes_sentence,
    secrets_table,
)


@printing()
def to_html(
    curator: Curator,
    report: AuditReport,
    columns: list[str],
    list_name: str,
    criterion_results: tuple[Criterion, tuple[ClauseOutcome, ...]] | None = None,
    reading_sentences: Sequence[str] = (),
    *,
    expected: Sequence[str] | None = None,
) -> str:
    """Return the audit as one file to print, without a row of the table.

    Args:
        curator: curator of the table.
        report: the audit.
        columns: what others may know.
        list_name: name of the attacker's list, if there is one.
        criterion_results: the criterion that was chosen, with its results.
        reading_sentences: what was read from the file, in sentences.
        expected: what attackers can expect; of one table, if left out.
    """
    sets = pd.DataFrame(
        [
            {
                _("columns"): join_with_commas(column_set.columns),
                _("share of people who are unique"): percent(column_set.uniques),
                _("distinction"): percent(column_set.distinction),
                _("separation"): percent(column_set.separation),
            }
            for column_set in report.column_sets[:MAX_SETS_SHOWN]
        ],
    )
    if expected is None:
        found = (linkage_words(report, list_name), *attacker_sentences(report))
        expected = [sentence for sentence in found if sentence]
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
            *(
                [(_("What was read"), pd.DataFrame(), [*reading_sentences])]
                if reading_sentences
                else []
            ),
            (capital("why"), pd.DataFrame(), [*verdict.reasons]),
            (
                _("The change that helps most"),
                pd.DataFrame(),
                [*verdict.actions, searched_changes_sentence()]
                if verdict.actions
                else [],
            ),
            *(criteria.printed_parts(*criterion_results) if criterion_results else ()),
            (_("Columns that look like identifiers"), identifiers_table(report), []),
            (_("Risk by columns known"), sets, []),
            (_("What attackers can expect"), pd.DataFrame(), [*expected]),
            (_("What groups give away"), secrets_table(report), []),
        ],
        terms=_(
            "Distinction: groups per person. Separation: the share of all pairs of "
            "people who differ in at least one of the columns. A person with rows "
            "in several groups counts in each of them."
        ),
        signatures=None,
    )
