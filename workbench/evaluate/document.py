"""The evaluation of a release as one page to print, marked as internal."""

import math
from collections.abc import Mapping

from dpcore.curator import Curator
from dpcore.evaluation.utility import measures
from dpcore.evaluation.utility.similarity import SimilarityReport
from workbench.evaluate.report import columns_table, place_measures, score_words
from workbench.language.messages import _, capital, percent_sign
from workbench.language.wording import make_printable, printing, strip_markdown
from workbench.report.document import Document, Picture, TextTable, render_page
from workbench.ui.first_rows_view import first_rows_words
from workbench.ui.verdict import Verdict


@printing()
def evaluation_html(
    name: str,
    compared: Mapping[str, tuple[Curator, SimilarityReport]],
    verdict: Verdict,
) -> bytes:
    """Return the page to print, with whole percentages and no values of rows.

    Args:
        name: of the data set.
        compared: each table by its heading, which is empty for a single one.
        verdict: of all of them.
    """
    pictures = [
        Picture(title=title, table=table, folded=False, section=heading)
        for heading, (curator, similarity) in compared.items()
        for title, table in _tables_of(curator, similarity)
    ]
    document = Document(
        title=f"{_('How good is it?')} {make_printable(name)}",
        badge="internal",
        about=tuple(
            map(strip_markdown, (verdict.sentence, *verdict.reasons, *verdict.actions))
        ),
        boxes=(
            (
                _("What is promised and what is not"),
                (
                    _(
                        "These figures were computed from the original without "
                        "noise. Nothing protects the people in the original: do not "
                        "publish this page."
                    ),
                    *filter(None, [first_rows_words()]),
                ),
            ),
        ),
        pictures=tuple(pictures),
    )
    return render_page(document).html().encode()


def _tables_of(
    curator: Curator, similarity: SimilarityReport
) -> list[tuple[str, TextTable]]:
    """Return the figures of a table by their titles."""
    figures = TextTable(
        headings=(_("figure"), _("value")),
        lines=(
            (
                capital("worst column"),
                score_words(similarity, measures.COLUMN_DISTANCE),
            ),
            (
                capital("questions off by"),
                score_words(similarity, measures.QUERY_ERROR),
            ),
            (
                capital("impossible pairs"),
                score_words(similarity, measures.IMPOSSIBLE_PAIRS),
            ),
        ),
    )
    places = place_measures(similarity)
    tables = [
        (capital("figure"), figures),
        (
            _("Every column: original → release"),
            TextTable.from_frame(columns_table(curator, similarity, with_values=False)),
        ),
    ]
    if len(places):
        figures_of = places.select_dtypes("number").columns
        shares = places.assign(
            **{name: places[name].map(_whole_percent) for name in figures_of}
        )
        tables.append(
            (
                capital("place between perfect (0) and independent columns (1)"),
                TextTable.from_frame(shares),
            )
        )
    return tables


def _whole_percent(share: float) -> str:
    return "" if math.isnan(share) else f"{100 * share:.0f}{percent_sign()}"
