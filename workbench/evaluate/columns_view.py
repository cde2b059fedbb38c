"""The tab Columns, with a card of each column, all figures, and one column from every
source.
"""

import math
from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation import CountsQuestion, CountsReport, DistancesQuestion
from dpcore.evaluation.utility.counts import pairs_to_count
from dpcore.evaluation.utility.range_queries import released_cells
from dpcore.evaluation.utility.similarity import SimilarityReport
from dpcore.schema.domain import Clique
from dpcore.tables.counts import Values
from workbench import session
from workbench.evaluate import cards
from workbench.evaluate.cards import Card
from workbench.evaluate.charts import several
from workbench.evaluate.form import Candidate
from workbench.evaluate.report import columns_table
from workbench.language.messages import _, capital, commas, name_and_text, ngettext
from workbench.language.wording import percent, plain
from workbench.report import charts
from workbench.report.charts import Chart
from workbench.ui import releases, widgets

SHOWN = 20
"""Cards at once; others are found by name, or shown when asked for."""


def columns(
    curator: Curator, candidate: Candidate, similarity: SimilarityReport
) -> None:
    """Show every column before and after, and draw one of them."""
    worst = similarity.columns[0]
    farthest([worst.column], worst.distance)
    show_cards(cards.of_columns(similarity), key="cards-columns")
    with st.expander(
        name_and_text(_("The same as a table"), f"{_('original')} → {_('release')}"),
        key="all-figures",
    ):
        st.dataframe(
            columns_table(curator, similarity), hide_index=True, key="columns-table"
        )
    _one(curator, candidate, [each.column for each in similarity.columns])


def counted(curator: Curator, candidate: Candidate) -> None:
    """Show the distances of columns and pairs, which counts alone tell of an original
    of any size.
    """
    st.subheader(_("Counts of all rows"))
    shares, left_out = distances(curator, candidate)
    columns = [clique for clique in shares if len(clique) == 1]
    farthest(columns[0], shares[columns[0]])
    st.dataframe(distances_table(shares), hide_index=True, key="counted")
    if left_out:
        st.caption(
            ngettext(
                "{number:,} pair of columns has too many cells and is left out.",
                "{number:,} pairs of columns have too many cells and are left out.",
                left_out,
            )
        )
    _one(curator, candidate, [name for (name,) in columns])


def farthest(columns: Sequence[str], distance: float) -> None:
    """Say which column, or pair of columns, is farthest from the original."""
    words = _(
        "**Farthest from the original is {columns}: {distance} of the rows would "
        "have to change.**"
    )
    st.markdown(
        words.format(
            columns=" × ".join(map(plain, columns)), distance=percent(distance)
        )
    )


def show_cards(all_: Sequence[Card], *, key: str) -> None:
    """Show the worst cards, or those that a person looks for."""
    end = cards.end_of(all_)
    shown = list(all_)
    if len(all_) > SHOWN:
        left, right = st.columns([3, 2], vertical_alignment="bottom")
        text = left.text_input(_("Find a column by its name"), key=f"{key}-find")
        everything = right.toggle(
            _("All {number} cards").format(number=len(all_)), key=f"{key}-all"
        )
        shown = cards.matching(all_, text)
        if not text and not everything:
            st.caption(
                _("The first {shown} of {all} are shown.").format(
                    shown=SHOWN, all=len(all_)
                )
            )
            shown = shown[:SHOWN]
    st.html(cards.drawn(shown, end=end))
    st.html(
        cards.legend(has_independent=any(card.independent is not None for card in all_))
    )


def _one(curator: Curator, candidate: Candidate, names: Sequence[str]) -> None:
    """Draw one column from several sources: original, noisy counts, drawn rows, other
    releases of it.
    """
    st.subheader(_("One column from every source"))
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
    )
    if chosen:
        labels = counts_of(curator, candidate, name).labels[0]
        drawn = {title: sources[title] for title in chosen}
        widgets.show_chart(
            column_chart(labels, drawn, column=name, shares=shares), key="column"
        )


def distances(
    curator: Curator, candidate: Candidate
) -> tuple[dict[Clique, float], int]:
    """Return the distance of each column and pair, the farthest first, from counts
    alone.

    Also returns how many pairs are left out, since their tables are too large together.
    """
    names = compared_columns(curator, candidate)
    pairs = pairs_to_count(curator.schema.domain.project(names))
    cliques = (*((name,) for name in names), *pairs)
    shares = widgets.once_in_line(
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
            _("columns"): [commas(columns) for columns in shares],
            _("rows that would have to change"): [
                percent(share) for share in shares.values()
            ],
        },
    )


def compared_columns(curator: Curator, candidate: Candidate) -> Clique:
    """Return the declared columns that the candidate has."""
    return tuple(
        name for name in curator.schema.domain.names if name in candidate.table.frame
    )


def counts_of(curator: Curator, candidate: Candidate, column: str) -> CountsReport:
    """Return the rows of each cell of one column, in the original and in the
    candidate.
    """
    cliques = tuple((name,) for name in compared_columns(curator, candidate))
    counts = session.once(
        curator,
        ("columns", candidate.key),
        lambda: CountsQuestion(cliques=cliques, table=candidate.table),
    )
    return next(each for each in counts if each.columns == (column,))


def sources_of(
    curator: Curator, candidate: Candidate, column: str
) -> dict[str, Values]:
    """Return the rows of each cell of a column, by the title of what counted them."""
    counts = counts_of(curator, candidate, column)
    release = candidate.release
    assert counts.other is not None
    own = counts.original.astype(float)
    other = counts.other.astype(float)
    sources = {_("original"): own, _("drawn rows"): other}
    for line in releases.earlier(curator):
        earlier = curator.release(line["request_id"])
        if any(column in clique for clique in earlier.marginals):
            is_this = release is not None and earlier.request_id == release.request_id
            title = (
                _("its noisy counts") if is_this else "{what}, {when}".format(**line)
            )
            sources[title] = released_cells(earlier, column)
    return sources


def column_chart(
    labels: Sequence[str], chosen: Mapping[str, Values], *, column: str, shares: bool
) -> Chart:
    """Draw one column from several sources; neighboring cells are added up where there
    are many.
    """
    parts = []
    cells = charts.fold_labels(labels)
    for title, rows in chosen.items():
        values = charts.fold_table(rows)
        total = values.sum() if shares else 0
        parts.append(
            pd.DataFrame({"cell": cells, "of": title, "rows": values / (total or 1)})
        )
    y_title = _("share of rows") if shares else _("rows")
    return several(
        pd.concat(parts, ignore_index=True),
        column=column,
        y_title=y_title,
        shares=shares,
    )
