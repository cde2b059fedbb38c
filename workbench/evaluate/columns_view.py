"""Columns tab of the Evaluate page: cards, a table of figures and a chart."""

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation import CountsQuestion, CountsReport, DistancesQuestion
from dpcore.evaluation.utility.counts import choose_pairs_to_count
from dpcore.evaluation.utility.range_queries import released_cells
from dpcore.evaluation.utility.similarity import SimilarityReport
from dpcore.schema import Column
from dpcore.schema.domain import Clique
from dpcore.tables.counts import Values
from workbench import session
from workbench.evaluate import cards
from workbench.evaluate.cards import Card
from workbench.evaluate.charts import sources_chart, uneven_sources_chart
from workbench.evaluate.form import Candidate
from workbench.evaluate.report import columns_table
from workbench.language.labels import cell_labels
from workbench.language.messages import (
    _,
    capital,
    join_with_commas,
    name_and_text,
    ngettext,
)
from workbench.language.textbook_names import textbook_names
from workbench.language.wording import escape_markdown, percent
from workbench.report import charts
from workbench.report.charts import Chart
from workbench.ui import progress_view, releases, widgets

MAX_CARDS_SHOWN = 20  # cards at first; others are found by name, or shown on request


def show_columns(
    curator: Curator, candidate: Candidate, similarity: SimilarityReport
) -> None:
    """Draw one column before and after, and show all of them."""
    st.caption(textbook_names("columns"))
    worst = similarity.columns[0]
    show_farthest([worst.column], worst.distance)
    _draw_column(curator, candidate, [column.column for column in similarity.columns])
    st.header(_("Every column"))
    show_cards(cards.column_cards(similarity), key="cards-columns")
    with st.expander(
        name_and_text(
            _("The same figures as a table"), f"{_('original')} → {_('release')}"
        ),
        key="all-figures",
    ):
        st.dataframe(
            columns_table(curator, similarity),
            hide_index=True,
            key="columns-table",
            alt=_("Each column, in the original and in the release"),
        )


def show_count_distances(curator: Curator, candidate: Candidate) -> None:
    """Show distances of columns and pairs, from counts alone.

    So they are known for an original of any size.
    """
    st.header(_("Counts of all rows"))
    shares, left_out = distances_from_counts(curator, candidate)
    columns = [clique for clique in shares if len(clique) == 1]
    show_farthest(columns[0], shares[columns[0]])
    _draw_column(curator, candidate, [name for (name,) in columns])
    st.dataframe(
        distances_table(shares),
        hide_index=True,
        key="counted",
        alt=_("Distance of each column and pair of columns"),
    )
    if left_out:
        st.caption(
            ngettext(
                "{number:,} pair of columns has too many cells and is left out.",
                "{number:,} pairs of columns have too many cells and are left out.",
                left_out,
            )
        )


def show_farthest(columns: Sequence[str], distance: float) -> None:
    """Show which column, or pair of columns, is farthest from the original."""
    words = _(
        "**{columns} is farthest from the original: {distance} of the rows would "
        "have to change.**"
    )
    st.markdown(
        words.format(
            columns=" × ".join(map(escape_markdown, columns)),
            distance=percent(distance),
        )
    )


def show_cards(all_cards: Sequence[Card], *, key: str) -> None:
    """Show the worst cards, or those that match a search."""
    end = cards.scale_end(all_cards)
    shown = list(all_cards)
    if len(all_cards) > MAX_CARDS_SHOWN:
        left, right = st.columns([3, 2], vertical_alignment="bottom")
        text = left.text_input(_("Find a column by its name"), key=f"{key}-find")
        everything = right.toggle(
            _("All {number} cards").format(number=len(all_cards)), key=f"{key}-all"
        )
        shown = cards.filter_cards(all_cards, text)
        if not text and not everything:
            st.caption(
                _("The first {shown} of {all} are shown.").format(
                    shown=MAX_CARDS_SHOWN, all=len(all_cards)
                )
            )
            shown = shown[:MAX_CARDS_SHOWN]
    st.html(cards.cards_html(shown, end=end))
    st.html(
        cards.legend(
            has_independent=any(card.independent is not None for card in all_cards)
        )
    )


def _draw_column(curator: Curator, candidate: Candidate, names: Sequence[str]) -> None:
    """Draw one column from the original, the release and other releases."""
    st.header(_("One column from every source"))
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    name = left.selectbox(
        capital("column"), names, key=f"evaluate-column-{candidate.key[:8]}"
    )
    with right:
        units = {True: _("share of rows"), False: _("rows")}
        shares = widgets.choose(_("Show"), units, key="evaluate-unit")
    sources = sources_of(curator, candidate, name)
    titles = list(sources)
    chosen = st.multiselect(
        capital("source"),
        titles,
        titles[:2],
        key=f"evaluate-sources-{candidate.key[:20]}-{name}",
        wrap=True,
    )
    if chosen:
        drawn = {title: sources[title] for title in chosen}
        column = curator.schema.column(name)
        widgets.show_chart(
            column_chart(drawn, column=column, shares=shares), key="column"
        )


def distances_from_counts(
    curator: Curator, candidate: Candidate
) -> tuple[dict[Clique, float], int]:
    """Return the distance of each column and pair from the original, worst first.

    Also returns how many pairs are left out, since their tables are too large together.
    """
    names = compared_columns(curator, candidate)
    pairs = choose_pairs_to_count(curator.schema.domain.project(names))
    cliques = (*((name,) for name in names), *pairs)
    shares = progress_view.evaluate_in_line(
        curator,
        ("distances", candidate.key),
        lambda: DistancesQuestion(cliques=cliques, table=candidate.table),
    )
    ranked = sorted(shares, key=lambda clique: -shares[clique])
    return {clique: shares[clique] for clique in ranked}, math.comb(
        len(names), 2
    ) - len(pairs)


def distances_table(shares: Mapping[Clique, float]) -> pd.DataFrame:
    """Return one line per column and pair, in their order."""
    return pd.DataFrame(
        {
            _("columns"): [join_with_commas(columns) for columns in shares],
            _("rows that would have to change"): [
                percent(share) for share in shares.values()
            ],
        },
    )


def compared_columns(curator: Curator, candidate: Candidate) -> Clique:
    """Return the declared columns of the candidate."""
    return tuple(
        name for name in curator.schema.domain.names if name in candidate.table.frame
    )


def counts_of(curator: Curator, candidate: Candidate, column: str) -> CountsReport:
    """Return the rows per cell of one column, in the original and the candidate."""
    cliques = tuple((name,) for name in compared_columns(curator, candidate))
    counts = session.evaluate_once(
        curator,
        ("columns", candidate.key),
        lambda: CountsQuestion(cliques=cliques, table=candidate.table),
    )
    return next(table for table in counts if table.columns == (column,))


def sources_of(
    curator: Curator, candidate: Candidate, column: str
) -> dict[str, Values]:
    """Return the rows per cell of a column, by title of the source."""
    counts = counts_of(curator, candidate, column)
    release = candidate.release
    assert counts.other is not None
    own = counts.original.astype(float)
    other = counts.other.astype(float)
    drawn = _("drawn rows") if release is not None else _("this table")
    sources = {_("original"): own, drawn: other}
    for line in releases.list_releases(curator):
        earlier = curator.release(line["request_id"])
        if any(column in clique for clique in earlier.marginals):
            is_this = release is not None and earlier.request_id == release.request_id
            title = (
                _("its noisy counts") if is_this else "{what}, {when}".format(**line)
            )
            sources[title] = released_cells(earlier, column)
    return sources


def column_chart(
    chosen: Mapping[str, Values],
    *,
    column: Column,
    shares: bool,
) -> Chart:
    """Draw one column from several sources; neighboring cells are merged if many.

    Numbers in cells of different widths are drawn from the low to the high end of
    each.
    """
    parts = []
    cells = charts.fold_labels(cell_labels(column))
    for title, rows in chosen.items():
        values = charts.fold_table(rows)
        total = values.sum() if shares else 0
        parts.append(
            pd.DataFrame({"cell": cells, "of": title, "rows": values / (total or 1)})
        )
    frame = pd.concat(parts, ignore_index=True)
    extents = charts.uneven_extents(column)
    if extents is not None:
        return uneven_sources_chart(frame, extents, column=column.name, shares=shares)
    return sources_chart(
        frame,
        column=column.name,
        y_title=_("share of rows") if shares else _("rows"),
        shares=shares,
    )
