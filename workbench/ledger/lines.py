"""The ledger of one data set as tables and sentences."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from typing import Any

import pandas as pd

from dpcore.accounting.composition import compare
from dpcore.accounting.events import Event
from dpcore.curator import Curator
from workbench.ui.language import N_, Words, _
from workbench.ui.releases import describe
from workbench.ui.wording import amount, delta_of, number, plain

_STATES = Words(
    {
        "reserved": N_("held: running or cut off"),
        "committed": N_("released"),
        "failed": N_("failed, charge stays"),
    }
)


EVALUATIONS = Words(
    {
        "distributions": N_("distributions of {about}"),
        "range query errors": N_("errors of range queries on {about}"),
        "marginal error": N_("marginal error over {about} columns at a time"),
        "re-identification risk": N_("re-identification risk by {about}"),
        "similarity": N_("similarity of a release and the original"),
        "propensity": N_("telling a release from the original"),
        "learning": N_("learning {about} from a release"),
        "attacks": N_("attacks on a release"),
        "attacks with half held out": N_("attacks on a release made again from half of the people"),
        "accuracy": N_("accuracy of {about} predicted from a release"),
        "trial": N_("trial of {about}"),
        "proposed roles": N_("proposed roles of the columns"),
        "proposed hierarchies": N_("proposed hierarchies of {about}"),
        "thin rows": N_("rows in thin regions by {about}"),
        "search size": N_("size of the search over {about}"),
        "frontier": N_("anonymization frontier: {about}"),
    }
)
"""What the ledger says of each kind of evaluation."""


def charges(curator: Curator) -> pd.DataFrame:
    """One line per request, newest first: when, what, which columns were read, cost, state."""
    lines = curator.lines()
    ends = {line.request_id: line for line in lines if line.state in ("committed", "failed")}
    shown = []
    for line in reversed(lines):
        if line.state == "outside" and not ("sketch" in line.content and "people" not in line.content):
            shown.append(
                _row(
                    line.at,
                    _outside(line.content),
                    "",
                    _("none"),
                    _("internal: not in the total"),
                    "",
                )
            )
        if line.state != "reserved":
            continue
        end = ends.get(line.request_id)
        events = end.content.get("events", []) if end else []
        read = sorted(
            {" × ".join(clique) or _("number of rows") for event in events for clique in event["reads"]}
        )
        part = ""
        if line.charge.part:
            column, category = line.charge.part
            part = f" ({column.rpartition(' #')[0]} = {category})"
        shown.append(
            _row(
                line.at,
                describe(line.content["recipe"]) + part,
                ", ".join(read[:20]) + (" …" if len(read) > 20 else ""),
                amount(line.charge.units, curator.account),
                _STATES[end.state if end else "reserved"],
                line.request_id[:8],
            )
        )
    return pd.DataFrame(shown)


def _outside(content: dict[str, Any]) -> str:
    """What a line outside the total was about."""
    about = ", ".join(map(str, content.get("about", ())))
    if "anonymized" in content:
        return _("anonymized table: {about}").format(about=about)
    if "people" in content:
        if content["people"] == "different":
            return _("opened, though it looks like another table on file: other people")
        return _("opened, though it looks like another table on file: perhaps the same people")
    kind = str(content.get("evaluation", ""))
    return EVALUATIONS[kind].format(about=about or _("all columns")) if kind in EVALUATIONS else kind


def _row(at: str, asked: str, read: str, cost: str, state: str, request: str) -> dict[str, str]:
    return {
        _("when (UTC)"): at[:19].replace("T", " "),
        _("asked"): asked,
        _("read"): read,
        _("cost"): cost,
        _("state"): state,
        _("request"): request,
    }


def not_covered(curator: Curator) -> list[str]:
    """What the total says nothing about, with this data set's own facts."""
    outside = sum(line.state == "outside" and "sketch" not in line.content for line in curator.lines())
    sentences = [
        _(
            "Comparisons with the original and risk figures ({times} so far): "
            "they are for the owner's eyes only."
        ).format(times=outside),
        _(
            "Copies of the table that were changed before they were uploaded again: "
            "they look like another table."
        ),
        _("Releases made elsewhere."),
    ]
    if curator.schema.from_data:
        sentences.insert(
            0,
            _("Facts taken from the data itself: bounds or categories of {columns}.").format(
                columns=", ".join(plain(name) for name in curator.schema.from_data)
            ),
        )
    return sentences


def comparison(curator: Curator) -> pd.DataFrame | None:
    """Epsilon of all events so far under each rule; None without events."""
    events = [
        Event.from_dict(fields)
        for line in curator.lines()
        if line.state in ("committed", "failed")
        for fields in line.content.get("events", [])
    ]
    if not events:
        return None
    delta = float(Fraction(delta_of(curator.account)))
    figures = compare(events, delta=delta)
    rows = [
        (
            _("basic: epsilons add up"),
            figures.basic,
            _("needs no delta") if figures.basic is not None else _("an answer had no pure epsilon"),
        ),
        (_("zCDP: rhos add up"), figures.zcdp, _("at delta {delta:g}").format(delta=delta)),
        (
            _("tight, had the plan been fixed in advance"),
            figures.tight,
            _("at delta {delta:g}").format(delta=delta),
        ),
    ]
    return pd.DataFrame(
        [
            {
                _("rule"): rule,
                _("epsilon"): _("none") if epsilon is None else number(epsilon),
                _("note"): note,
            }
            for rule, epsilon, note in rows
            if epsilon is not None or rule == rows[0][0]
        ]
    )


def export(curator: Curator) -> str:
    """All lines as JSON; they hold no private values."""
    return json.dumps(
        {
            "account": curator.account.to_dict(),
            "lines": [dataclasses.asdict(line) for line in curator.lines()],
        },
        indent=1,
    )
