"""The tab Pairs: wrong pairs of columns, and impossible pairs of values."""

import numpy as np
import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.utility import measures
from dpcore.evaluation.utility.measures import MeasureScore
from dpcore.evaluation.utility.propensity import PropensityQuestion
from dpcore.evaluation.utility.similarity import SimilarityReport
from dpcore.schema import Schema
from dpcore.synthesis import SyntheticModel
from workbench.evaluate import cards
from workbench.evaluate.columns_view import show_cards, show_farthest
from workbench.evaluate.form import Candidate
from workbench.evaluate.report import computed_report, progress
from workbench.language.labels import translate_run
from workbench.language.messages import _, capital
from workbench.language.textbook_names import textbook_names
from workbench.language.wording import percent
from workbench.report import charts
from workbench.ui import progress_view, widgets


def show_pairs(
    curator: Curator, candidate: Candidate, similarity: SimilarityReport
) -> None:
    """Show the worst pairs of columns, and impossible pairs of values."""
    st.caption(textbook_names("pairs"))
    score = similarity.score(measures.PAIR_DISTANCE)
    if score is None:
        st.info(_("This release has only one column."))
        return
    show_farthest(score.worst, similarity.marginals.ways[1].worst)
    show_cards(cards.pair_cards(similarity), key="cards-pairs")
    shown = widgets.choose_map_columns(
        similarity.marginals.columns,
        similarity.marginals.pairs,
        key="pairs-columns",
    )
    names = [similarity.marginals.columns[i] for i in shown]
    distances = similarity.marginals.pairs[np.ix_(shown, shown)]
    maps = [np.tril(distances, -1)]
    release = candidate.release
    model = release.model if release is not None else None
    if isinstance(model, SyntheticModel):
        maps.append(
            np.tril(
                np.nan_to_num(model.noise_errors().to_numpy()[np.ix_(shown, shown)]), -1
            )
        )
    end = max(0.01, *(float(distances.max(initial=0)) for distances in maps))
    left, right = st.columns(2)
    with left:
        st.markdown(capital("rows that would have to change"))
        chart = charts.heatmap(names, distances, title=_("share of rows"), darkest=end)
        widgets.show_chart(chart, key="pairs")
    with right:
        if isinstance(model, SyntheticModel):
            st.markdown(capital("error by noise"))
            widgets.show_noise(model, shown=shown, end=end)
        else:
            st.markdown(_("change of Cramér's V"))
            change = abs(similarity.association[0] - similarity.association[1])[
                np.ix_(shown, shown)
            ]
            chart = charts.heatmap(
                names, change, title=_("change of Cramér's V"), darkest=end
            )
            widgets.show_chart(chart, key="v")
    if similarity.impossible_pairs:
        st.markdown(capital("impossible pairs"))
        st.dataframe(
            impossible_table(curator.schema, similarity),
            hide_index=True,
            key="impossible",
            alt=_("Pairs of values that never occur in the original"),
        )
    _show_propensity(curator, candidate)


def _show_propensity(curator: Curator, candidate: Candidate) -> None:
    key = ("propensity", candidate.key)
    scored: MeasureScore | None = computed_report(key)
    if scored is None:
        if not st.button(capital("telling the tables apart"), key="tell-apart"):
            return
        with progress(_("Training a classifier"), key="stop-heavy") as on_progress:
            scored = progress_view.evaluate_in_line(
                curator,
                key,
                lambda: PropensityQuestion(table=candidate.table),
                on_progress,
            )
    st.markdown(
        _(
            "**A classifier tried to tell released rows from original ones: score "
            "{value:.2f}.** At 1 it never can, at 0 it always can. Another sample "
            "scores {floor:.2f}, independent columns {independent:.2f}."
        ).format(
            value=scored.value, floor=scored.floor, independent=scored.independent
        ),
    )


def impossible_table(schema: Schema, similarity: SimilarityReport) -> pd.DataFrame:
    """Return pairs of values that never occur in the original."""

    def words(name: str, label: str) -> str:
        return f"{name} = {translate_run(schema.column(name), label)}"

    lines = [
        (f"{words(first, value)}, {words(second, other)}", percent(share))
        for first, value, second, other, share in similarity.impossible_pairs
    ]
    return pd.DataFrame(lines, columns=[_("impossible pairs"), _("share of rows")])
