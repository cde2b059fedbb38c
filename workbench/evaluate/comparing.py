"""A release compared with the original: the quick report, and what is drawn from it. All is internal."""

from __future__ import annotations

import datetime
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pandas as pd

from dpcore.accounting.loss import PureDP, loss_from
from dpcore.curator import Curator
from dpcore.evaluation import CellCounts, CountsOf, DistancesOf, RangeErrors, RangeErrorsOf
from dpcore.evaluation.utility import measures
from dpcore.evaluation.utility.counts import pairs_to_count
from dpcore.evaluation.utility.range_queries import released_cells
from dpcore.evaluation.utility.similarity import ColumnSimilarity, Similarity, SimilarityReport
from dpcore.release import Release
from dpcore.schema import Date, IntervalColumn
from dpcore.schema.domain import Clique
from dpcore.tables.counts import Values
from dpcore.tables.rows import PublicTable
from workbench import session
from workbench.evaluate.candidates import Candidate
from workbench.evaluate.charts import several
from workbench.ui import charts, progress_view, releases, widgets
from workbench.ui.charts import Chart
from workbench.ui.language import _
from workbench.ui.wording import number, percent


def report(curator: Curator, candidate: Candidate) -> SimilarityReport:
    """The quick comparison, computed once per session; what takes over a second tells how far it is (D17)."""
    stages = {
        "comparing columns and pairs": _("comparing columns and pairs"),
        "comparing single values": _("comparing single values"),
        "comparing how columns go together": _("comparing relations between columns"),
        "asking random questions": _("asking 300 random questions"),
    }
    key = f"stop-comparing-{candidate.key[:20]}"
    with progress_view.told(_("Comparing"), stages, key=key, patience=progress_view.PATIENCE) as tell:
        return session.once(
            curator,
            ("similarity", candidate.key),
            lambda: Similarity(release=candidate.table),
            tell,
        )


def distances(curator: Curator, candidate: Candidate) -> tuple[dict[Clique, float], int]:
    """Return the distance of each column and pair, the farthest first, from counts alone.

    Also returns how many pairs are left out, since their tables are too large together.
    """
    names = compared_columns(curator, candidate)
    pairs = pairs_to_count(curator.schema.domain.project(names))
    cliques = (*((name,) for name in names), *pairs)
    found = widgets.once_in_line(
        curator, ("distances", candidate.key), lambda: DistancesOf(cliques=cliques, other=candidate.table)
    )
    ranked = sorted(found, key=lambda clique: -found[clique])
    return {clique: found[clique] for clique in ranked}, math.comb(len(names), 2) - len(pairs)


def distances_table(found: Mapping[Clique, float]) -> pd.DataFrame:
    """Return one line per column and pair, in their order."""
    return pd.DataFrame(
        {
            _("columns"): [", ".join(columns) for columns in found],
            _("rows that would have to change"): [percent(share) for share in found.values()],
        }
    )


def compared_columns(curator: Curator, candidate: Candidate) -> Clique:
    """Return the declared columns that the candidate has."""
    return tuple(name for name in curator.schema.domain.names if name in candidate.table.frame)


def counts_of(curator: Curator, candidate: Candidate, column: str) -> CellCounts:
    """Return the rows of each cell of one column, in the original and in the candidate."""
    cliques = tuple((name,) for name in compared_columns(curator, candidate))
    counts = session.once(
        curator, ("columns", candidate.key), lambda: CountsOf(cliques=cliques, other=candidate.table)
    )
    return next(each for each in counts if each.columns == (column,))


def answering(candidate: Candidate, column: str) -> list[str]:
    """What can answer range queries on a column: noisy counts, drawn rows, or the original itself."""
    release = candidate.release
    measured = release is not None and any(column in clique for clique in release.marginals)
    return ["counts", "rows", "original"] if measured else ["rows", "original"]


def ranges(
    curator: Curator, candidate: Candidate, column: str, low: Any, high: Any, *, answered_from: str
) -> RangeErrors:
    """Errors of range queries on one column, answered from one of `answering`."""
    release = candidate.release
    paid = loss_from(release.guarantee.loss) if release else None
    direct = paid if isinstance(paid, PureDP) else None
    source: Release | PublicTable | None = candidate.table
    if answered_from != "rows":
        source = release if answered_from == "counts" else None
    return session.once(
        curator,
        ("ranges", candidate.key, column, low, high, answered_from),
        lambda: RangeErrorsOf(source=source, column=column, named=((low, high),), loss=direct),
    )


def titles() -> dict[str, str]:
    """The measures that have a place between perfect and independent columns, in words."""
    return {
        "pairs": _("pairs of columns"),
        "triples": _("triples of columns"),
        "relations": _("pairs of columns, in wide cells"),
        "association": _("strength of relations between columns"),
        "correlation": _("correlation of numbers"),
        "queries": _("random questions"),
        "impossible": _("impossible pairs of values"),
        "propensity": _("telling the tables apart"),
    }


def placed(found: SimilarityReport) -> pd.DataFrame:
    """Each measure with its place between perfect (0) and independent columns (1); and that of chance."""
    lines = []
    for score in found.scores:
        reach = (score.independent or 0) - score.measure.perfect
        if score.measure.independent is not None or not reach:
            continue
        lines.append(
            {
                "figure": titles()[score.measure.key],
                "release": (score.value - score.measure.perfect) / reach,
                "another sample": None
                if score.floor is None
                else (score.floor - score.measure.perfect) / reach,
                "value": score.value,
                "independent columns": score.independent,
            }
        )
    return pd.DataFrame(
        lines, columns=["figure", "release", "another sample", "value", "independent columns"]
    )


def columns_table(curator: Curator, found: SimilarityReport) -> pd.DataFrame:
    """One line per column: how far it moved, and mean, median, zeros and missing before and after."""
    lines = []
    for each in found.columns:
        days = isinstance(curator.schema.column(each.column), Date)
        line: dict[str, str] = {
            _("column"): each.column,
            _("rows that would have to change"): percent(each.distance),
            _("by chance alone"): percent(each.floor),
        }
        for title, pair in ((_("mean"), each.mean), (_("median"), each.median)):
            line[title] = "" if pair is None else " → ".join(_value(value, days=days) for value in pair)
        for title, shares in ((_("zeros"), each.zeros), (_("missing"), each.missing)):
            line[title] = "" if shares is None else " → ".join(percent(share) for share in shares)
        line[_("deciles off by, of the range")] = "" if each.deciles is None else percent(each.deciles)
        line[_("rare values that are there")] = f"{each.rare[1]} / {each.rare[0]}" if each.rare[0] else ""
        lines.append(line)
    return pd.DataFrame(lines)


def moved_zeros(found: SimilarityReport) -> ColumnSimilarity | None:
    """The column whose share of zeros moved most, where it moved by more than a tenth of the rows."""
    moved = [each for each in found.columns if each.zeros and abs(each.zeros[0] - each.zeros[1]) > 0.1]
    return max(moved, key=lambda each: abs(each.zeros[0] - each.zeros[1]), default=None)  # type: ignore[index]


def impossible_table(found: SimilarityReport) -> pd.DataFrame:
    """The pairs of values that the original does not have."""
    return pd.DataFrame(
        [
            {
                _("this value"): f"{first} = {value}",
                _("together with"): f"{second} = {other}",
                _("of the released rows"): percent(share),
            }
            for first, value, second, other, share in found.impossible
        ]
    )


def sources(curator: Curator, candidate: Candidate, column: str) -> dict[str, Callable[[], Values]]:
    """Where counts of a column can come from: a title for people, and the rows of each cell."""
    counts, release = counts_of(curator, candidate, column), candidate.release
    assert counts.other is not None
    own, other = counts.original.astype(float), counts.other.astype(float)
    found: dict[str, Callable[[], Values]] = {
        _("original"): lambda: own,
        _("{rows:,} rows of it").format(rows=int(other.sum())): lambda: other,
    }
    for line in releases.earlier(curator):
        made = curator.release(line["request_id"])
        if not any(column in clique for clique in made.marginals):
            continue
        is_this = release is not None and made.request_id == release.request_id
        title = _("its noisy counts") if is_this else _("{what}, {when}").format(**line)
        found[title] = lambda made=made: released_cells(made, column)  # type: ignore[misc]
    return found


def column_chart(labels: Sequence[str], chosen: Mapping[str, Values], *, column: str, shares: bool) -> Chart:
    """One column from several sources; neighboring cells are added up where there are many."""
    parts = []
    for title, rows in chosen.items():
        values = charts.fold_table(rows)
        total = values.sum()
        parts.append(
            pd.DataFrame(
                {
                    "cell": charts.fold_labels(labels),
                    "of": title,
                    "rows": values / total if shares and total else values,
                }
            )
        )
    y_title = _("share of rows") if shares else _("rows")
    return several(pd.concat(parts, ignore_index=True), column=column, y_title=y_title, shares=shares)


def range_chart(found: RangeErrors) -> Chart:
    """Median and 95 % error by width, from the release and asked directly."""
    lines = []
    for width in found.widths:
        for series, quantiles in (
            (_("from the release"), width.answered),
            (_("asked directly"), width.direct),
        ):
            if quantiles is not None:
                lines.append(
                    {"width": width.width, "source": f"{series}, {_('median')}", "error": quantiles.median}
                )
                lines.append(
                    {"width": width.width, "source": f"{series}, {_('95 %')}", "error": quantiles.high}
                )
    return charts.lines(
        pd.DataFrame(lines, columns=["width", "source", "error"]),
        x="width",
        y="error",
        series="source",
        x_title=_("cells in the range"),
        y_title=_("error, % of the true count"),
        alt=_("Error of range queries on {column} by width of the range.").format(column=found.column),
        colors=(charts.SYNTHETIC, charts.WARNING, charts.PRIVATE, charts.ORIGINAL),
        wide=True,
    )


def interval_columns(curator: Curator, candidate: Candidate) -> list[str]:
    """Columns of the candidate that have an order of numbers or dates."""
    return [
        column.name
        for column in curator.schema.columns
        if isinstance(column, IntervalColumn) and column.name in candidate.table.frame
    ]


def bounds(curator: Curator, column: str) -> list[Any]:
    """Bounds of the cells of an ordered column, for choosing a range."""
    declared = curator.schema.column(column)
    assert isinstance(declared, IntervalColumn)
    return declared.bounds


def score_words(found: SimilarityReport, measure: measures.Measure) -> str:
    """The figure of one measure as a percentage, or a dash."""
    score = found.score(measure)
    return "–" if score is None else percent(score.value)


def _value(value: float, *, days: bool) -> str:
    if days:
        return (datetime.date(1970, 1, 1) + datetime.timedelta(days=round(value))).isoformat()
    return number(value)
