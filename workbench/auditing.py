"""What the Audit page asks and says: one report for each choice of columns, in sentences and as one file."""

from __future__ import annotations

import html
from typing import Any

import pandas as pd

from dpcore.anonymize.roles import SuggestedRole
from dpcore.curator import Curator
from dpcore.evaluation.anonymization import SuggestedRoles
from dpcore.evaluation.audit import Audit, AuditReport
from workbench import charts, samples, state
from workbench.charts import Chart
from workbench.wording import _

SHOWN_SETS = 12


def roles(curator: Curator) -> tuple[SuggestedRole, ...]:
    """A proposed role for every column of the table."""
    return state.once(curator, ("roles",), SuggestedRoles)


def report(
    curator: Curator,
    columns: list[str],
    sensitive: list[str],
    *,
    threshold: float,
    attacker: pd.DataFrame | None,
    population: int | None,
) -> AuditReport:
    """The audit for these columns, computed once a session."""
    known = None if attacker is None else Curator.dataset_of(attacker, state.ledger())
    key = ("audit", tuple(columns), tuple(sensitive), threshold, known, population)
    return state.once(
        curator,
        key,
        lambda: Audit(
            quasi_identifiers=tuple(columns),
            sensitive=tuple(sensitive),
            threshold=threshold,
            attacker=attacker,
            population=population,
        ),
    )


def sample_list(curator: Curator) -> pd.DataFrame | None:
    """The invented voter list, when the table shares columns with it."""
    people = samples.voter_list()
    names = {role.column for role in roles(curator)}
    return people if {"zip", "birth_date", "sex"} <= names else None


def verdict(found: AuditReport, columns: list[str]) -> str:
    """One sentence that answers "is this anonymous?"."""
    known = _join(columns)
    if found.risk.uniques >= 0.0005:
        return _("{share} of the people in this table are unique by {columns}.").format(
            share=percent(found.risk.uniques), columns=known
        )
    return _("Nobody in this table is unique by {columns}; the smallest group has {k} people.").format(
        columns=known, k=found.risk.k
    )


def chart(found: AuditReport) -> Chart:
    """The riskiest sets of columns."""
    shown = [each for each in found.sets if each.uniques > 0][:SHOWN_SETS] or list(found.sets[:SHOWN_SETS])
    labels = [" + ".join(each.columns) for each in shown]
    return charts.bars(
        labels,
        [each.uniques for each in shown],
        x_title=_("share of people who are unique"),
        alt=_("Share of people who are unique by sets of columns; the riskiest is {columns}.").format(
            columns=labels[0] if labels else ""
        ),
    )


def attackers(found: AuditReport) -> pd.DataFrame:
    """What three attackers can expect."""
    risk = found.risk
    return pd.DataFrame(
        [
            {
                _("attacker"): _("prosecutor: knows that a person is in the table"),
                _("highest risk"): percent(risk.highest),
                _("on average"): percent(risk.average),
            },
            {
                _("attacker"): _("journalist: wants anybody"),
                _("highest risk"): percent(risk.journalist),
                _("on average"): "",
            },
            {
                _("attacker"): _("marketer: wants as many as possible"),
                _("highest risk"): "",
                _("on average"): percent(risk.marketer),
            },
        ]
    )


def secrets(found: AuditReport) -> pd.DataFrame:
    """What the groups give away about each sensitive column."""
    return pd.DataFrame(
        [
            {
                _("column"): name,
                _("groups that reveal the value"): f"{risk.homogeneous_classes:,}",
                _("people in them"): percent(risk.homogeneous_rows),
                _("different values in a group, at least"): risk.distinct_l,
                _("largest distance from the whole table (t)"): f"{risk.t_equal:.2f}",
            }
            for name, risk in found.secrets.items()
        ]
    )


def linkage_words(found: AuditReport) -> str:
    """What the attacker's list finds."""
    link = found.linkage
    if link is None:
        return ""
    return _(
        "Of {people:,} people on the list, {matched:,} agree with at least one person of the table, and "
        "{unique:,} are found with certainty: one person here, one person there."
    ).format(people=link.people, matched=link.matched, unique=link.unique)


def to_html(curator: Curator, found: AuditReport, columns: list[str]) -> str:
    """The audit as one self-contained file to print; it holds no row of the table."""
    sets = pd.DataFrame(
        [
            {
                _("columns"): ", ".join(each.columns),
                _("unique people"): percent(each.uniques),
                _("distinction"): percent(each.distinction),
                _("separation"): percent(each.separation),
            }
            for each in found.sets[:SHOWN_SETS]
        ]
    )
    named = pd.DataFrame(
        [
            {_("column"): each.column, _("looks like"): each.kind, _("why"): each.reason}
            for each in found.identifiers
        ]
    )
    parts = [
        (_("Columns that look like identifiers"), named),
        (_("Risk by set of columns"), sets),
        (_("Three attackers"), attackers(found)),
        (_("What groups give away"), secrets(found)),
    ]
    body = "".join(
        f"<h2>{html.escape(title)}</h2>{_table(frame)}" for title, frame in parts if not frame.empty
    )
    name, text = html.escape(curator.name), html.escape(verdict(found, columns))
    internal = html.escape(_("Internal: this report reads the original. Do not publish it."))
    linked = f"<p>{html.escape(linkage_words(found))}</p>"
    return (
        "<!doctype html><html lang='en'><meta charset='utf-8'>"
        "<meta http-equiv='Content-Security-Policy' "
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{name}</title><style>body{{font:15px/1.5 sans-serif;max-width:50rem;margin:2rem auto;"
        "padding:0 1rem;color:#222}table{border-collapse:collapse;width:100%}td,th{border:1px solid #bbb;"
        "padding:.3rem .5rem;text-align:left}.v{font-size:1.4rem}.i{color:#a33f00}</style>"
        f"<h1>{name}</h1><p class='i'>{internal}</p><p class='v'>{text}</p>{linked}{body}</html>"
    )


def percent(share: float) -> str:
    """A share with the digits that mean something."""
    if 0 < share < 0.001:
        return _("under 0.1 %")
    if share == 0:
        return "0 %"
    return f"{100 * share:.1f} %" if share < 0.1 else f"{100 * share:.0f} %"


def _table(frame: pd.DataFrame) -> str:
    return str(frame.to_html(index=False, border=0, escape=True))


def _join(names: list[Any]) -> str:
    if len(names) < 2:
        return "".join(names)
    return _("{first} and {last}").format(first=", ".join(names[:-1]), last=names[-1])
