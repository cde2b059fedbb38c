"""Views of a synthetic table's model, which cost nothing and may be published."""

from collections.abc import Callable

import numpy as np
import streamlit as st

from dpcore.evaluation.utility.counts import cramers_v
from dpcore.release import Release
from dpcore.synthesis import SyntheticModel
from workbench import session
from workbench.language.labels import cell_labels, chart_cells
from workbench.language.messages import _, capital, join_with_commas
from workbench.language.wording import escape_markdown
from workbench.report import charts
from workbench.report.sentences import view_of_release
from workbench.synthesize import tables_view
from workbench.synthesize.charts import relation_graph
from workbench.ui import address, widgets
from workbench.ui.widgets import show_noise

MAX_COLUMNS_SHOWN = 12  # columns drawn at once
CHARTS_PER_LINE = 3  # columns drawn beside each other


def show(release: Release, model: SyntheticModel) -> None:
    """Show the columns, relations, answers or noise of the model, as chosen."""
    st.header(_("Columns and relations"))
    if model.copies:
        st.caption(
            _("In drawn rows, these columns copy another column: {pairs}.").format(
                pairs=join_with_commas(
                    escape_markdown(f"{copy} = {name}") for copy, name in model.copies
                )
            )
        )
    if not model.is_refined:
        st.caption(
            _(
                "With this number of rows, the model leaves out relations that the "
                "graph does not show. It also did not measure whether two columns "
                "of numbers rise together."
            )
        )
    parts: dict[str, tuple[str, Callable[[Release, SyntheticModel], None]]] = {
        "columns": (capital("columns"), _show_columns),
        "relations": (_("Relations"), _show_graph),
        "answers": (capital("answers"), _show_answers),
        "noise": (
            capital("error by noise"),
            lambda _release, model: show_noise(model),
        ),
    }
    titles = {name: title for name, (title, _show) in parts.items()}
    part = address.choose_part(_("Show"), titles, key="model-look")
    parts[part][1](release, model)


def _show_columns(release: Release, model: SyntheticModel) -> None:
    pictures = []
    for name in model.columns[:MAX_COLUMNS_SHOWN]:
        (labels,), counts = chart_cells(release, release.answer((name,)))
        drawn = charts.column_bars(
            release.schema.column(name),
            labels,
            counts,
            max_cells=charts.MAX_FOLDED_CELLS,
            counted=view_of_release(release) or "rows",
        )
        pictures.append(drawn)
    lines = [
        pictures[i : i + CHARTS_PER_LINE]
        for i in range(0, len(pictures), CHARTS_PER_LINE)
    ]
    widgets.show_pictures(charts.Pictures(lines=lines, legend=[]), key="model-columns")
    if len(model.columns) > MAX_COLUMNS_SHOWN:
        shown = MAX_COLUMNS_SHOWN
        all_ = len(model.columns)
        st.caption(
            _("The first {shown} of {all} are shown.").format(shown=shown, all=all_)
        )


def _show_graph(release: Release, model: SyntheticModel) -> None:
    links = sorted(
        {
            (a, b)
            for clique in model.cliques
            for i, b in enumerate(clique)
            for a in clique[:i]
        }
    )
    rising = len(model.concordances.rows) if model.concordances else 0
    if links or rising:
        st.markdown(
            _(
                "**{links} pairs of columns were counted together, and for {rising} "
                "pairs of number columns the program measured whether they rise "
                "together. All other relations follow from these.** A rule that "
                "shows only in three or more columns together may be lost. A "
                "thicker line means a stronger relation."
            ).format(links=len(links), rising=rising)
        )
    else:
        st.warning(
            _(
                "No relation between columns was measured, so rows are drawn as if "
                "the columns were independent. Use this for single columns only, or "
                "release fewer columns with a larger epsilon."
            )
        )
    strengths = session.compute_once(
        ("strengths", release.request_id), lambda: _relation_strengths(model, links)
    )
    names = list(model.columns)
    # lines of all columns at once would be a tangle
    if len(names) > widgets.MAX_MAP_COLUMNS:
        links_of = {name: [link for link in links if name in link] for name in names}
        names.sort(key=lambda name: -len(links_of[name]))
        name = st.selectbox(capital("column"), names, key="graph-column")
        links = links_of[name]
        names = sorted(
            {name, *(name for link in links for name in link)}, key=names.index
        )
    widgets.show_chart(
        relation_graph(names, {link: strengths[link] for link in links}),
        key="model-graph",
    )


def _relation_strengths(
    model: SyntheticModel, links: list[tuple[str, str]]
) -> dict[tuple[str, str], float]:
    """Return Cramér's V of each pair of columns, from the counts of the release."""
    return {
        link: cramers_v(np.maximum(model.answer(link).values, 0.0)) for link in links
    }


def _show_answers(release: Release, model: SyntheticModel) -> None:
    columns = st.multiselect(
        capital("columns"),
        list(model.columns),
        list(next(iter(model.cliques), model.columns[:1])[:2]),
        max_selections=2,
        key="answer-columns",
    )
    if not columns:
        return
    tables_view.show_answer(release, model.answer(tuple(columns)), key="answer")


def choose_cells(release: Release) -> dict[str, list[int]]:
    """Ask to which cells drawn rows are limited; return the cell numbers by column."""
    cells: dict[str, list[int]] = {}
    left, right = st.columns(2)
    key = f"given-{release.request_id}"
    for name in left.multiselect(
        _("Only rows with"), list(release.model.columns), key=key
    ):
        labels = cell_labels(release.schema.column(name))
        cells[name] = widgets.ask_by_title(
            right.multiselect,
            escape_markdown(name),
            dict(enumerate(labels)),
            [0],
            key=f"{key}-{name}",
        )
    return cells if all(cells.values()) else {}
