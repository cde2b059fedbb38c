"""The risk of each row, as a file for the owner of the table, and the part of each column in it."""

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.table.row_risk import RowRisk, RowRiskReport
from dpcore.schema.formulas import disarm
from workbench.ui import charts, file_view, widgets
from workbench.ui.charts import Chart
from workbench.ui.files import file_name
from workbench.ui.glossary import GLOSSARY
from workbench.ui.language import Words, _, capital
from workbench.ui.wording import number, percent, plain

HEADINGS = Words("audit.headings")
SAYS = Words("audit.rows")


def each_row(curator: Curator, columns: list[str], others: list[str]) -> None:
    """Ask for weights and households, and show the risk when it is requested.

    Args: others: columns that may hold weights or households.
    """
    section = st.expander(_("Risk of each row, and each column's part in it"), key="each-row")
    with section, widgets.errors_shown():
        evaluation = _ask(columns, others)
        if not st.toggle(_("Work it out"), key="audit-each-row"):
            return
        with st.spinner(_("Computing"), show_time=True):
            key = ("risk of each row", evaluation)
            report = widgets.once_in_line(curator, key, lambda: evaluation)
        st.markdown("\n".join(f"- {sentence}" for sentence in sentences(report)))
        if any(report.part.values()):
            widgets.show_chart(parts_chart(report), key="audit-parts")
            st.caption(SAYS.say("parts", size=report.largest))
        file_view.download(
            _("Risk of each row (CSV, private)"),
            lambda: to_csv(report),
            file_name(curator.name, "risk of each row private", "csv"),
            help=SAYS["file"],
        )


def _ask(columns: list[str], others: list[str]) -> RowRisk:
    *sides, share = st.columns(3)
    asked = {
        _("Sampling weights, if this is a sample"): ("audit-weight", "sampling weight"),
        _("Who lives together"): ("audit-household", "household risk"),
    }
    weight, home = (
        side.selectbox(label, others, index=None, key=key, help=GLOSSARY[term])
        for side, (label, (key, term)) in zip(sides, asked.items(), strict=True)
    )
    sampled = share.number_input(
        _("Share of the population in this table, in percent"), 0.01, 99.0, 1.0, key="audit-fraction"
    )
    return RowRisk(
        quasi_identifiers=tuple(columns), weight=weight, household=home, fraction=float(sampled) / 100
    )


def sentences(report: RowRiskReport) -> list[str]:
    """Say what the figures mean for all people together."""
    lines = [SAYS.say("special", share=percent(report.special))]
    heaviest = max(report.part, key=lambda name: report.part[name])
    if report.part[heaviest]:
        lines.append(SAYS.say("heaviest", column=plain(heaviest), share=percent(report.part[heaviest])))
    if report.sampled is not None:
        lines.append(
            SAYS.say(
                "weights",
                population=round(report.sampled.population),
                smallest=number(report.sampled.smallest),
                expected=number(report.sampled.expected),
                highest=percent(report.sampled.highest),
            )
        )
    if report.households is not None:
        lines.append(
            SAYS.say(
                "households",
                households=report.households.households,
                average=percent(report.households.average),
                alone=percent(report.households.alone),
            )
        )
    return lines


def parts_chart(report: RowRiskReport) -> Chart:
    """Draw each column's part in all scores, largest first."""
    ranked = sorted(report.part, key=lambda name: -report.part[name])
    return charts.bars(
        ranked,
        [report.part[name] for name in ranked],
        x_title=_("share of the risk that involves the column"),
        alt=capital("share of the risk that involves the column"),
    )


def to_csv(report: RowRiskReport) -> bytes:
    """Return one line per row, numbered as in the table; private, and without any of its values."""
    figures = report.rows.rename(columns=dict(HEADINGS.items()))
    parts = {_("part of {column}").format(column=name): report.parts[name].round(4) for name in report.parts}
    lines = pd.concat([figures.round(6), pd.DataFrame(parts)], axis=1)
    lines.insert(0, _("row"), lines.index + 1)
    lines.columns = [disarm(str(name)) for name in lines.columns]
    return lines.to_csv(index=False, lineterminator="\r\n").encode()
