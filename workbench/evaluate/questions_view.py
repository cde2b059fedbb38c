"""Questions tab of the Evaluate page: errors of counts of ranges."""

import pandas as pd
import streamlit as st

from dpcore.accounting.loss import PureDP, loss_from_fields
from dpcore.curator import Curator
from dpcore.evaluation import RangeErrorsQuestion, RangeErrorsReport
from dpcore.release import Release
from dpcore.schema import IntervalColumn
from dpcore.tables.rows import PublicTable
from workbench import session
from workbench.evaluate.form import Candidate
from workbench.language.messages import _, capital, percent_sign
from workbench.language.textbook_names import textbook_names
from workbench.language.wording import number, percent_number, whole_number_text
from workbench.report import charts
from workbench.report.charts import Chart
from workbench.ui import widgets


def show_range_errors(curator: Curator, candidate: Candidate) -> None:
    """Show the errors of counted ranges; this needs only counts of the original."""
    st.caption(textbook_names("questions"))
    columns = {
        column.name: column
        for column in curator.schema.columns
        if isinstance(column, IntervalColumn) and column.name in candidate.table.frame
    }
    if not columns:
        st.info(
            _(
                "Range questions need a column of numbers or dates, and this release "
                "has none."
            )
        )
        return
    name = st.selectbox(
        capital("column"), list(columns), key=f"question-column-{candidate.key[:8]}"
    )
    bounds = columns[name].bounds
    low, high = st.select_slider(
        _("How many rows have a value from … to below …"),
        bounds,
        (bounds[0], bounds[len(bounds) // 2]),
        key=f"question-range-{name}",
    )
    release = candidate.release
    sources: dict[str, tuple[str, Release | PublicTable | None]] = {
        "rows": (_("drawn rows") if release else _("this table"), candidate.table),
        "original": (_("original"), None),
    }
    if release is not None and any(name in clique for clique in release.marginals):
        sources = {"counts": (_("its noisy counts"), release)} | sources
    titles = {key: title for key, (title, _source) in sources.items()}
    key = widgets.choose(
        capital("source"), titles, key=f"question-source-{candidate.key[:20]}-{name}"
    )
    paid = loss_from_fields(release.guarantee.loss) if release else None
    errors = session.evaluate_once(
        curator,
        ("ranges", candidate.key, name, low, high, key),
        lambda: RangeErrorsQuestion(
            source=sources[key][1],
            column=name,
            given_ranges=((low, high),),
            loss=paid if isinstance(paid, PureDP) else None,
        ),
    )
    answer = errors.given_ranges[0]
    exact, left, middle, right = st.columns(4)
    exact.metric(capital("original"), whole_number_text(answer.true_rows))
    left.metric(capital("release"), number(answer.answered_rows))
    middle.metric(
        capital("off by"),
        "–" if answer.percent_error is None else percent_number(answer.percent_error),
    )
    if answer.direct_errors is not None:
        right.metric(
            capital("asked directly"),
            percent_number(answer.direct_errors.median),
            help=_(
                "One number with Laplace noise for this range alone. Every further "
                "range would cost as much again."
            ),
        )
    widgets.show_chart(range_chart(errors), key="ranges")


def range_chart(errors: RangeErrorsReport) -> Chart:
    """Draw the median and 95 % error by width of range, for the release and for direct
    questions.
    """
    rows = []
    for width in errors.widths:
        for series, quantiles in (
            (_("release"), width.answer_errors),
            (_("asked directly"), width.direct_errors),
        ):
            if quantiles is not None:
                rows += [
                    (width.width, f"{series}, {_('median')}", quantiles.median),
                    (
                        width.width,
                        f"{series}, 95{percent_sign()}",
                        quantiles.quantile_95,
                    ),
                ]
    titles = {
        "width": _("cells in the range"),
        "error": _("error, % of the true count"),
        "source": _("source"),
    }
    return charts.draw_lines(
        pd.DataFrame(rows, columns=["width", "source", "error"]),
        titles,
        colors=(charts.SYNTHETIC, charts.WARNING, charts.PRIVATE, charts.ORIGINAL),
        has_wide_range=True,
    )
