"""Results of an audit of chosen columns, as sentences, tables and charts."""

import pandas as pd

from dpcore.curator import Curator
from dpcore.evaluation.table.audit import AuditQuestion, AuditReport
from dpcore.evaluation.table.proposals import RolesQuestion
from dpcore.risk.roles import SuggestedRole
from workbench import session
from workbench.language.messages import _, capital, translate
from workbench.language.wording import people_words, percent
from workbench.report import charts
from workbench.report.charts import Chart
from workbench.ui import progress_view

KNOWN_COLUMNS_FIELD = session.Widget[list[str]]("audit-columns")
MAX_SETS_SHOWN = 12  # sets of columns in the chart and in the printed audit


def suggested_roles(curator: Curator) -> tuple[SuggestedRole, ...]:
    """Return a proposed role for every column of the table."""
    return session.evaluate_once(curator, ("roles",), RolesQuestion)


def compute_audit(
    curator: Curator,
    columns: list[str],
    sensitive: list[str],
    *,
    threshold: float,
    attacker: pd.DataFrame | None,
    population: int | None,
) -> AuditReport:
    """Compute the audit for these columns, once per session."""
    known = (
        None
        if attacker is None
        else Curator.account_fingerprint(attacker, session.ledger())
    )
    return progress_view.evaluate_in_line(
        curator,
        ("audit", tuple(columns), tuple(sensitive), threshold, known, population),
        lambda: AuditQuestion.of(
            suggested_roles(curator),
            curator.schema,
            known=columns,
            sensitive=sensitive,
            threshold=threshold,
            attacker=attacker,
            population=population,
        ),
    )


def change_note(
    report: AuditReport, columns: list[str], sensitive: list[str]
) -> session.TakeAdvice:
    """Return the most helpful change, as a note for the Anonymize page."""
    given = report.verdict
    steps = given.improvements[0].steps if given.improvements else ()
    dropped = (step.column for step in steps if step.values_after == 1)
    return session.TakeAdvice(
        known_columns=tuple(columns),
        secret_columns=tuple(sensitive),
        k=round(1 / report.risk.threshold),
        min_different_values=2 if sensitive else 1,
        left_out_columns=(*given.naming_columns, *given.free_text_columns, *dropped),
        max_labels={
            step.column: step.values_after for step in steps if step.values_after > 1
        },
    )


def sets_chart(audit: AuditReport) -> Chart:
    """Draw the share of unique people for the riskiest sets of columns."""
    shown = [column_set for column_set in audit.column_sets if column_set.uniques > 0][
        :MAX_SETS_SHOWN
    ]
    labels = [" + ".join(column_set.columns) for column_set in shown]
    return charts.share_bars(
        labels,
        [column_set.uniques for column_set in shown],
        x_title=_("share of people who are unique"),
        alt=_(
            "Share of people whom a set of columns makes unique; the riskiest set "
            "is {columns}."
        ).format(columns=labels[0]),
    )


def changes_chart(
    audit: AuditReport, columns: list[str]
) -> tuple[Chart, dict[str, str]]:
    """Draw the share of unique people if one column is left out or added.

    Returns the column of each bar too.
    """
    ranked = sorted(
        audit.uniques_after_change,
        key=lambda name: (name not in columns, audit.uniques_after_change[name]),
    )
    labels = {_label(name, columns): name for name in ranked}
    drawn = charts.clickable_bars(
        list(labels),
        [audit.uniques_after_change[name] for name in labels.values()],
        x_title=_("share of people who are unique"),
        alt=capital("share of people who are unique"),
    )
    return drawn, labels


def toggle_clicked_column(
    chart: session.Selection, labels: dict[str, str], columns: list[str]
) -> None:
    """Remove the clicked column from the known columns, or add it."""
    for name in (
        labels[bar["of"]] for bar in chart.clicked_marks() if bar["of"] in labels
    ):
        kept = [column for column in columns if column != name]
        KNOWN_COLUMNS_FIELD.put(kept if name in columns else [*columns, name])


def _label(name: str, columns: list[str]) -> str:
    return (_("without {column}") if name in columns else _("with {column}")).format(
        column=name
    )


def prosecutor_sentences(audit: AuditReport) -> list[str]:
    """Return sentences on an attacker who knows that somebody is in the table."""
    risk = audit.risk
    return [
        _(
            "An attacker who knows that somebody is in the table (a "
            "prosecutor) is right in {share} of the cases."
        ).format(share=percent(risk.average)),
        _("{share} of the people are in a group of fewer than {size}.").format(
            share=percent(risk.above), size=round(1 / risk.threshold)
        ),
    ]


def attacker_sentences(audit: AuditReport) -> list[str]:
    """Return one sentence per kind of attacker."""
    listed = audit.list_risk
    estimates = audit.estimates
    sentences = prosecutor_sentences(audit)
    if listed is None and estimates is None:
        sentences.append(
            _(
                "You gave no population. Two other attackers are therefore treated "
                "as if they knew as much as the prosecutor: the journalist, who "
                "does not know who is in the table, and the marketer, who wants to "
                "find as many people as possible. To change this, give the size of "
                "the population or a list of its people."
            )
        )
    known = (
        [(_("With the list as the population"), listed.journalist, listed.marketer)]
        if listed
        else []
    )
    if estimates is not None:
        size = _("Estimated from the size of the population")
        known.append((size, estimates.journalist_risk, estimates.marketer_risk))
    for source, journalist, marketer in known:
        sentences.append(
            _(
                "{source}: an attacker who does not know who is in the table (a "
                "journalist) is right with a chance of at most {journalist}. An "
                "attacker who wants to find as many people as possible (a marketer) "
                "finds {marketer} of them."
            ).format(
                source=source,
                journalist=percent(journalist),
                marketer=percent(marketer),
            ),
        )
    if estimates is not None:
        estimated = _(
            "An estimated {share} of the whole population are unique (by {model}'s "
            "model)."
        )
        if audit.appearances > audit.people:
            estimated = _(
                "In the whole population, an estimated {share} of the combinations "
                "of values are unique (by {model}'s model). Somebody with several "
                "rows may have several combinations."
            )
        sentences.append(
            estimated.format(share=percent(estimates.uniques), model=estimates.model)
        )
        sentences.append(
            _(
                "The smallest group is estimated to have {k} or more people in the "
                "population (k-map, by the zero-truncated Poisson model, with an "
                "error of 5 %)."
            ).format(k=people_words(estimates.k_map))
        )
    return [*sentences, *suppressed_sentences(audit)]


def suppressed_sentences(audit: AuditReport) -> list[str]:
    """Return a sentence on suppressed rows, if there are any."""
    if not audit.suppressed:
        return []
    return [
        _("{share} of the rows are already suppressed (*) and are not counted.").format(
            share=percent(audit.suppressed)
        )
    ]


def identifiers_table(audit: AuditReport) -> pd.DataFrame:
    """Return the likely identifiers, with reasons."""
    return pd.DataFrame(
        [
            {
                _("column"): identifier.column,
                _("looks like"): translate(identifier.kind),
                _("why"): translate(identifier.reason),
            }
            for identifier in audit.identifiers
        ],
    )


def linkage_words(audit: AuditReport, name: str) -> str:
    """Return the sentence on the matches of the attacker's list.

    Args:
        name: name of the list.
    """
    link = audit.linkage
    if link is None:
        return ""
    return _(
        "Of the {people:,} people on “{name}”, {matched} match at least one person "
        "in the table. {unique} are found with certainty: one person on the list "
        "matches exactly one in the table."
    ).format(
        name=name,
        people=link.people,
        matched=people_words(link.matched_people),
        unique=people_words(link.unique_matches),
    )
