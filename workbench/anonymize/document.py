"""Report to sign on an anonymized table, its residual risk, and a recommendation.

Internal.

The three criteria are those of the Article 29 Working Party, Opinion 05/2014 on
anonymisation techniques (WP216), section 3: singling out, linkability and inference.
"""

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime

import pandas as pd

import dpcore
from dpcore.anonymization.plan import Plan
from dpcore.curator import Curator
from dpcore.evaluation.table.residual_risk import RISK_LEVELS, ResidualRiskReport
from dpcore.evaluation.table.trial import MAX_LINKABLE_SHARE, RiskSide
from workbench.anonymize import context, outcomes, plans
from workbench.anonymize.demands_form import SUPPRESSED_WORDS
from workbench.language.messages import N_, _, capital, minute, name_and_text
from workbench.language.wording import (
    COUNTED_WORDS,
    ROLE_WORDS,
    number,
    percent,
    strip_markdown,
    whole_number_text,
)
from workbench.report.document import fill_template

# Highest risk at which the table may go to a wider circle of readers: one in ten.
LOW_RISK = 0.1
MESSAGES = {
    "alike": N_(
        "{share} of the {whom} have a row that is unique in all columns together. "
        "Whoever has another copy of the row can link the two with certainty."
    ),
}


def to_html(
    curator: Curator,
    report: ResidualRiskReport,
    warnings: Sequence[str],
    statements: Mapping[str, str] | None = None,
) -> str:
    """Return the report as one file to print and sign, without a row.

    Args:
        statements: the context, by `context.CONTEXT_FIELDS`.
    """
    title, reasons = recommendation(
        report.plan,
        report.published_side,
        report.highest_risk,
        report.linkable,
        outcomes.count_versions(curator),
    )
    return fill_template(
        "internal.html",
        title=_("Residual risk of an anonymized table: {name}").format(
            name=curator.name
        ),
        internal=_("Internal: this report reads the original. Do not publish it."),
        verdict=title,
        parts=[
            (_("Why"), _summary_table(curator, report), reasons),
            (
                _("Context, as the owner states it"),
                context.context_table(curator, statements or {}),
                [],
            ),
            (_("What was done"), columns_table(report), method_sentences(report)),
            (
                _("Singling out: can a person be picked out?"),
                risk_levels_table(report),
                singling_out_sentences(report),
            ),
            (
                _("Linkability: can records of one person be joined?"),
                pd.DataFrame(),
                linkability_sentences(curator, report),
            ),
            (
                _("Inference: can a sensitive value be inferred?"),
                secrets_table(report),
                inference_sentences(report),
            ),
            (
                _("What this does not promise"),
                pd.DataFrame(),
                [strip_markdown(warning) for warning in warnings],
            ),
        ],
        terms=_(
            "Singling out, linkability and inference are the three questions of the "
            "Article 29 Working Party's Opinion 05/2014 (WP216). A prosecutor knows "
            "that a person is in the table; a journalist knows the population that "
            "it came from; a marketer wants as many right guesses as possible. All "
            "figures were computed from the table that was made. This report "
            "supports a decision that people take; it does not replace an assessment "
            "of who receives the table and what else they know."
        ),
        signatures=_signatures(),
    )


def recommendation(
    plan: Plan, side: RiskSide, highest: float, unique_share: float, versions: int
) -> tuple[str, list[str]]:
    """Return the recommendation and its reasons, from the figures alone.

    Args:
        plan: of the table.
        side: figures of the rows that leave.
        highest: largest risk that a guess is right.
        unique_share: share of people with a row like nobody else's in all columns that leave.
        versions: how many different tables were anonymized from the same original.
    """
    whom = _(COUNTED_WORDS[plan.counted_unit])
    severe = []
    open_ends = []
    if side.risk.uniques:
        severe.append(_("Some {whom} are alone in their group.").format(whom=whom))
    for name, risk in side.secret_risks.items():
        if risk.homogeneous_classes:
            severe.append(outcomes.revealing_groups_sentence(plan, name, risk))
    if highest > LOW_RISK:
        open_ends.append(
            _(
                "The highest chance that a guess is right is {share}; it should be "
                "at most {low}."
            ).format(share=percent(highest), low=percent(LOW_RISK))
        )
    if unique_share > MAX_LINKABLE_SHARE:
        open_ends.append(
            _(MESSAGES["alike"]).format(share=percent(unique_share), whom=whom)
        )
    if side.groups_per_person > 1:
        open_ends.append(
            _(plans.MESSAGES["rows of a person"]).format(
                groups=number(side.groups_per_person)
            )
        )
    if versions > 1:
        open_ends.append(_(plans.MESSAGES["versions"]).format(others=versions - 1))
    if plan.method.groups_row_by_row:
        open_ends.append(_(plans.MESSAGES["local"]))
    if severe:
        return _("Not recommended for release as it is."), [*severe, *open_ends]
    if open_ends:
        return _(
            "Only for named recipients, under contract and with access control."
        ), open_ends
    return _(
        "Suitable for a wider circle of recipients, with the reservations below."
    ), [
        _(
            "Everybody is in a group of at least {k} {whom}, and no group reveals a "
            "sensitive value."
        ).format(k=side.risk.k, whom=whom),
    ]


def method_sentences(report: ResidualRiskReport) -> list[str]:
    """Describe method, models, limits and suppression, in one sentence each."""
    plan = report.plan
    sentences = [plans.plan_words(plan, report.models)]
    if plan.method.searches or report.quality.suppressed_row_share:
        sentences.append(
            _("Suppressed: {share} of the {whom}; such rows are {way}.").format(
                whom=_(COUNTED_WORDS[plan.counted_unit]),
                share=percent(report.quality.suppressed_people_share),
                way=_(SUPPRESSED_WORDS[plan.suppressed]),
            ),
        )
    if report.plan.gap:
        sentences.append(
            _(plans.MESSAGES["not all"]).format(gap=percent(report.plan.gap))
        )
    sentences.append(
        _(
            "The columns lost {ncp} of their detail; the information loss is {loss}."
        ).format(ncp=percent(report.quality.ncp), loss=number(report.quality.loss))
    )
    return sentences


def columns_table(report: ResidualRiskReport) -> pd.DataFrame:
    """List the columns with their roles, and how far they were generalized."""
    plan = report.plan
    lines = []
    for name, role in plan.roles.items():
        line = {_("column"): name, _("role"): _(ROLE_WORDS[role])}
        line |= dict.fromkeys((_("level"), _("labels"), _("generalized")), "")
        if name in plan.randomized:
            line[_("generalized")] = name_and_text(
                _("Change it at random"), percent(plan.randomized[name])
            )
        if role == "quasi-identifier":
            line[_("generalized")] = percent(report.quality.column_ncp[name])
            if plan.node is not None:
                level = plan.node[name]
                tree = plan.hierarchies[name]
                line[_("level")] = f"{level} / {tree.height}"
                line[_("labels")] = (
                    f"{whole_number_text(len(tree.labels(level)))} / {whole_number_text(len(tree.values))}"
                )
        lines.append(line)
    return pd.DataFrame(lines)


def singling_out_sentences(report: ResidualRiskReport) -> list[str]:
    """Describe the size of groups, and the success of attackers."""
    whom = _(COUNTED_WORDS[report.plan.counted_unit])
    risk = report.published_side.risk
    sentences = [
        _(
            "The smallest group has {k} {whom}; {groups:,} groups hold {people:,} "
            "{whom}."
        ).format(k=risk.k, whom=whom, groups=risk.classes, people=risk.people),
        _(
            "A prosecutor's guess is right with a chance of at most {prosecutor} "
            "({average} on average), and a journalist's with a chance of at most "
            "{journalist}. A marketer who tries everybody finds {marketer} of the "
            "{whom}."
        ).format(
            prosecutor=percent(risk.highest),
            average=percent(risk.average),
            journalist=percent(report.highest_risk),
            marketer=percent(report.marketer_risk),
            whom=whom,
        ),
    ]
    if report.plan.subset is None:
        sentences.append(
            _(
                "No population was given, so the journalist's figures equal the "
                "prosecutor's, as an upper bound."
            )
        )
    if report.hidden_people:
        sentences.append(
            _(
                "The suppressed rows are published as one group of {people:,} {whom}."
            ).format(people=report.hidden_people, whom=whom)
        )
    return sentences


def risk_levels_table(report: ResidualRiskReport) -> pd.DataFrame:
    """List the share of people at each level of risk."""
    lows = [f"≥ 1/{round(1 / low)}" for low in RISK_LEVELS[1:-1]]
    names = ["1", *map("{}, < {}".format, lows, ["1", "1/2", "1/5", "1/10"]), "< 1/20"]
    return pd.DataFrame(
        {
            _("risk that a guess is right"): names,
            _("share, prosecutor"): [
                percent(risk) for risk in report.prosecutor_shares
            ],
            _("share, journalist"): [
                percent(risk) for risk in report.journalist_shares
            ],
        },
    )


def linkability_sentences(curator: Curator, report: ResidualRiskReport) -> list[str]:
    """Describe the risk of joining rows, tables and releases."""
    whom = _(COUNTED_WORDS[report.plan.counted_unit])
    others = outcomes.count_versions(curator) - 1
    releases = sum(line.state == "committed" for line in curator.lines())
    sentences = [
        _(MESSAGES["alike"]).format(share=percent(report.linkable), whom=whom),
        _(plans.MESSAGES["unique again"]).format(
            share=percent(report.published_side.uniques_with_others), whom=whom
        ),
    ]
    if report.published_side.groups_per_person > 1:
        sentences.append(
            _(plans.MESSAGES["rows of a person"]).format(
                groups=number(report.published_side.groups_per_person)
            )
        )
    if others:
        sentences.append(_(plans.MESSAGES["versions"]).format(others=others))
    if releases:
        sentences.append(
            _(
                "{releases} differentially private results were released from the "
                "same rows. The budget of these results limits the risk that they "
                "add, but does not cover this table."
            ).format(releases=releases)
        )
    return sentences


def inference_sentences(report: ResidualRiskReport) -> list[str]:
    """Compare the sensitive values of groups with those of the whole table."""
    if not report.published_side.secret_risks:
        return [
            _(
                "No column was named that should stay unknown, so the values of no "
                "column are protected from inference."
            )
        ]
    return [
        outcomes.likelihood_sentence(name, risk)
        for name, risk in report.published_side.secret_risks.items()
    ]


def secrets_table(report: ResidualRiskReport) -> pd.DataFrame:
    """Return a table with l and t of every sensitive column."""
    return pd.DataFrame(
        [
            {
                _("column"): name,
                _("fewest different values (l)"): risk.distinct_l,
                _("entropy l"): number(risk.entropy_l),
                _("(c, 2)-diverse for c above"): number(risk.recursive_c),
                "t": number(risk.t_equal),
                _("t, ordered"): number(risk.t_ordered),
                _("groups that reveal the value"): whole_number_text(
                    risk.homogeneous_classes
                ),
            }
            for name, risk in report.published_side.secret_risks.items()
        ],
    )


def _summary_table(curator: Curator, report: ResidualRiskReport) -> pd.DataFrame:
    noted = [line for line in curator.lines() if "anonymized" in line.content]
    facts = {
        _("Data set"): curator.name,
        _(
            "Date (UTC)"
        ): f"{minute(datetime.now(UTC))} · Privacy Workbench {dpcore.__version__}",
        capital(
            "rows"
        ): f"{whole_number_text(report.original_rows)} → {whole_number_text(report.published_rows)}",
        _("Line of the ledger, and fingerprint of the plan"): " · ".join(
            f"{line.number} · {line.content['anonymized'][:16]}" for line in noted[-1:]
        ),
    }
    return pd.DataFrame({_("figure"): list(facts), _("value"): list(facts.values())})


def _signatures() -> pd.DataFrame:
    people = [
        _("Prepared by"),
        _("Data protection officer"),
        _("Responsible for the processing"),
    ]
    empty = (_("agrees, with conditions"), _("name, place, date and signature"))
    return pd.DataFrame({_("who"): people} | dict.fromkeys(empty, ""))
