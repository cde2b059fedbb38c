"""Risk of each row as a file for the owner, and the share of each column in it."""

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from dpcore.evaluation.table.row_risk import RowRiskQuestion, RowRiskReport
from dpcore.schema.formulas import disarm
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import N_, _, capital, translate_table
from workbench.language.wording import escape_markdown, number, percent
from workbench.report import charts
from workbench.report.charts import Chart
from workbench.report.files import file_name
from workbench.ui import file_view, progress_view, widgets

HEADINGS = {
    "people": N_("people in the group"),
    "risk": N_("risk (1 / people)"),
    "score": N_("SUDA score"),
    "dis": N_("chance that a match is right (DIS)"),
    "smallest": N_("columns in the smallest unique set"),
    "sets": N_("minimal unique sets"),
    "population": N_("estimated people in the group, in the population"),
    "individual": N_("individual risk (from weights)"),
    "household": N_("household risk"),
}


def show_row_risks(
    curator: Curator, columns: list[str], other_columns: list[str]
) -> None:
    """Ask for weights and households, and show the risk when it is requested.

    Args:
        other_columns: columns that may hold weights or households.
    """
    section = st.expander(
        _("Risk of each row, and how much each column contributes"), key="each-row"
    )
    with section, widgets.catch_and_show_errors():
        evaluation = _ask_weights_and_households(columns, other_columns)
        if not st.toggle(_("Work it out"), key="audit-each-row"):
            return
        with st.spinner(_("Working out the risk of each row"), show_time=True):
            key = ("risk of each row", evaluation)
            report = progress_view.evaluate_in_line(curator, key, lambda: evaluation)
        st.markdown(
            "\n".join(f"- {sentence}" for sentence in row_risk_sentences(report))
        )
        if any(report.score_shares.values()):
            widgets.show_chart(parts_chart(report), key="audit-parts")
            st.caption(
                _(
                    "A set of columns that makes a row unique counts for each of "
                    "its columns, so the shares add up to more than 100 %. Sets of "
                    "up to {size} columns were searched."
                ).format(size=report.largest_set_size)
            )
        file_view.download(
            _("Risk of each row (CSV, private)"),
            lambda: to_csv(report),
            file_name(curator.name, "risk of each row private", "csv"),
            help=_(
                "The file has one line per row, in the order of the table. It "
                "contains no values of the table but shows who is easy to find. "
                "Keep it with the table and do not pass it on."
            ),
        )


def _ask_weights_and_households(
    columns: list[str], other_columns: list[str]
) -> RowRiskQuestion:
    *sides, share = st.columns(3)
    asked = {
        _("Sampling weights, if this is a sample"): ("audit-weight", "sampling weight"),
        _("Who lives together"): ("audit-household", "household risk"),
    }
    weight, home = (
        side.selectbox(
            label, other_columns, index=None, key=key, help=_(GLOSSARY[term])
        )
        for side, (label, (key, term)) in zip(sides, asked.items(), strict=True)
    )
    sampled = share.number_input(
        _("Share of the population in this table, in percent"),
        0.01,
        99.0,
        1.0,
        key="audit-fraction",
    )
    return RowRiskQuestion(
        quasi_identifiers=tuple(columns),
        weight_column=weight,
        household_column=home,
        sampling_fraction=float(sampled) / 100,
    )


def row_risk_sentences(report: RowRiskReport) -> list[str]:
    """Return sentences that explain the figures for all people together."""
    lines = [
        _(
            "{share} of the people are unique by one or two columns alone. They are "
            "the easiest to find."
        ).format(share=percent(report.special_share))
    ]
    heaviest = max(report.score_shares, key=lambda name: report.score_shares[name])
    if report.score_shares[heaviest]:
        lines.append(
            _(
                "{column} is involved in {share} of the risk: make it coarser first."
            ).format(
                column=escape_markdown(heaviest),
                share=percent(report.score_shares[heaviest]),
            )
        )
    if report.sampled_risk is not None:
        lines.append(
            _(
                "According to the weights, the table represents {population:,} "
                "people, and its smallest group about {smallest}. An attacker who "
                "tries everybody is right for about {expected} of them; the largest "
                "individual risk is {highest}. These are estimates: a group that is "
                "large according to its weights is no guarantee of k-anonymity."
            ).format(
                population=round(report.sampled_risk.population),
                smallest=number(report.sampled_risk.smallest_group),
                expected=number(report.sampled_risk.expected_found),
                highest=percent(report.sampled_risk.highest_risk),
            ),
        )
    if report.households is not None:
        lines.append(
            _(
                "Whoever finds one person finds the whole household. The mean risk "
                "in {households:,} households is therefore {average}; for each "
                "person alone it would be {alone}."
            ).format(
                households=report.households.households,
                average=percent(report.households.average_risk),
                alone=percent(report.households.average_individual_risk),
            ),
        )
    return lines


def parts_chart(report: RowRiskReport) -> Chart:
    """Draw each column's share of the risk, largest first."""
    ranked = sorted(report.score_shares, key=lambda name: -report.score_shares[name])
    return charts.share_bars(
        ranked,
        [report.score_shares[name] for name in ranked],
        x_title=_("share of the risk that involves the column"),
        alt=capital("share of the risk that involves the column"),
    )


def to_csv(report: RowRiskReport) -> bytes:
    """Return a private CSV file with the risk of each row, but none of its values."""
    figures = report.rows.rename(columns=dict(translate_table(HEADINGS).items()))
    parts = {
        _("part of {column}").format(column=name): report.row_score_shares[name].round(
            4
        )
        for name in report.row_score_shares
    }
    lines = pd.concat([figures.round(6), pd.DataFrame(parts)], axis=1)
    lines.insert(0, _("row"), lines.index + 1)
    lines.columns = [disarm(str(name)) for name in lines.columns]
    return lines.to_csv(index=False, lineterminator="\r\n").encode()
