"""Side by side tab of the Evaluate page: another release, table or file."""

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.utility import measures
from dpcore.evaluation.utility.similarity import SimilarityReport
from workbench.evaluate import form
from workbench.evaluate.charts import distances_chart
from workbench.evaluate.form import Candidate
from workbench.evaluate.relations import kept_relations
from workbench.evaluate.report import (
    compare_with_original,
    dependent_columns,
    verdict_of_similarity,
)
from workbench.language.messages import _
from workbench.language.wording import percent
from workbench.report.charts import Chart
from workbench.ui import releases, widgets

MAX_COLUMNS_SHOWN = 20  # columns in the chart: those in which the two differ most
COMPARED_MEASURES = (
    measures.COLUMN_DISTANCE,
    measures.PAIR_DISTANCE,
    measures.QUERY_ERROR,
    measures.IMPOSSIBLE_PAIRS,
)


def show_side_by_side(
    curator: Curator, candidate: Candidate, similarity: SimilarityReport
) -> None:
    """Show another release, table or file next to the candidate."""
    other = form.choose_other(curator, candidate)
    if other is None:
        return
    second = compare_with_original(curator, other)
    titles = form.short_titles(candidate, other)
    sides = zip(
        st.columns(2), titles, (similarity, second), (candidate, other), strict=True
    )
    for side, title, of_side, of in sides:
        judged = verdict_of_similarity(
            of_side,
            is_from_recipe=of.release is not None,
            counts_columns_alone=of.release is not None
            and releases.has_independent_columns(of.release),
            dependent=dependent_columns(curator),
            columns_of_one_label=of.columns_of_one_label,
        )
        side.markdown(f"**{title}**  \n{judged.sentence}")
    st.dataframe(
        _figures_table(titles, similarity, second),
        hide_index=True,
        key="beside-figures",
        alt=_("Side by side"),
    )
    chart = _distances_chart(titles, similarity, second)
    if chart is not None:
        widgets.show_chart(chart, key="beside")


def _figures_table(
    titles: tuple[str, str], first: SimilarityReport, second: SimilarityReport
) -> pd.DataFrame:
    names = {
        "column": _("worst column"),
        "pairs": _("pairs of columns"),
        "queries": _("questions off by"),
        "impossible": _("impossible pairs"),
    }
    lines = []
    for measure in COMPARED_MEASURES:
        scores = first.score(measure), second.score(measure)
        if scores[0] is None or scores[1] is None:
            continue
        lines.append((names[measure.key], scores[0].value, scores[1].value, False))
    kept = kept_relations(first), kept_relations(second)
    if kept[0] is not None and kept[1] is not None:
        lines.append((_("relations kept"), kept[0], kept[1], True))
    return pd.DataFrame(
        [
            {
                _("figure"): name,
                titles[0]: percent(a),
                titles[1]: percent(b),
                _("better"): "="
                if percent(a) == percent(b)
                else titles[(b > a) == more],
            }
            for name, a, b, more in lines
        ],
    )


def _distances_chart(
    titles: tuple[str, str], first: SimilarityReport, second: SimilarityReport
) -> Chart | None:
    other = {column.column: column.distance for column in second.columns}
    both = [
        (column.column, column.distance, other[column.column])
        for column in first.columns
        if column.column in other
    ]
    both.sort(key=lambda each: abs(each[1] - each[2]), reverse=True)
    frame = pd.DataFrame(
        [
            {"figure": name, "of": title, "distance": value}
            for name, *values in both[:MAX_COLUMNS_SHOWN]
            for title, value in zip(titles, values, strict=True)
        ],
    )
    return (
        None
        if frame.empty
        else distances_chart(frame, title=_("rows that would have to change"))
    )
