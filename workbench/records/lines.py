"""The ledger of one data set as tables and sentences."""

import dataclasses
import json
from collections.abc import Collection, Sequence
from fractions import Fraction
from typing import Any

import pandas as pd

from dpcore.accounting.composition import compare
from dpcore.accounting.events import Event
from dpcore.accounting.ledger import Account, Line, Standing
from dpcore.accounting.loss import UNIT
from dpcore.curator.tabulating import LEDGER_KEY
from dpcore.schema.schema import uncovered_facts
from workbench.language.budget import delta_of, spent_epsilon, split_percent
from workbench.language.messages import (
    N_,
    _,
    join_with_commas,
    name_and_text,
    ngettext,
    translate_table,
)
from workbench.language.wording import (
    delta_words,
    escape_markdown,
    from_data_words,
    number,
    reading_words,
)
from workbench.session.run import VIEWS
from workbench.store.ledger.datasets import (
    DataSet,
    is_declaration,
    public_name,
    redact_line,
)
from workbench.store.people.opened_files import FILE_KEY
from workbench.store.people.same_people import SAME_PEOPLE
from workbench.ui.releases import (
    LINKED_TITLE,
    VIEW_TITLES,
    describe_line,
    split_view,
)

_STATE_WORDS = {
    "reserved": N_("held: still running, or interrupted"),
    "committed": N_("released"),
    "failed": N_("failed, charge stays"),
}


EVALUATION_SENTENCES = {
    "distributions": N_("distributions of {about}"),
    "distances of counts": N_("a release compared with the original"),
    "counts together": N_("distributions of {about}"),
    "range query errors": N_("a release compared with the original"),
    "marginal error": N_("a release compared with the original"),
    "re-identification risk": N_("re-identification risk by {about}"),
    "risk of each row": N_("re-identification risk by {about}"),
    "what one person's group gives away": N_("re-identification risk by {about}"),
    "similarity": N_("a release compared with the original"),
    "events of one person": N_("a release compared with the original"),
    "propensity": N_("a release compared with the original"),
    "learning": N_("learning {about} from a release"),
    "attacks": N_("attacks on a release"),
    "attacks with half held out": N_("attacks on a release"),
    "accuracy": N_("learning {about} from a release"),
    "trial": N_("trial of {about}"),
    "residual risk": N_("re-identification risk by {about}"),
    "proposed roles": N_("proposed roles of the columns"),
    "proposed hierarchies": N_("proposed hierarchies of {about}"),
    "thin rows": N_("re-identification risk by {about}"),
    "published criterion": N_("measured against {about}"),
    "search size": N_("trial of {about}"),
    "frontier": N_("trial of {about}"),
    "neighbors": N_("trial of {about}"),
    "exact table": N_("trial of an exact table: {about}"),
    "re-identification risk by events": N_("re-identification risk by {about}"),
    "proposed roles of two tables": N_("proposed roles of the columns"),
    "what one person's events give away": N_("re-identification risk by {about}"),
    "proposed hierarchies of two tables": N_("proposed hierarchies of {about}"),
    "linked rows": N_("counts of the rows that were linked by {about}"),
}
"""Sentences of the ledger for each kind of evaluation."""


_ACCESS_SENTENCES = {
    "shown to": N_("shown to {person}"),
    "hidden from": N_("no longer shown to {person}"),
    "handed to": N_("handed to {person}"),
}

_LEDGER_SENTENCES = {
    "older copy accepted": N_(
        "an older copy of the ledger was accepted, which lacks {number} later lines"
    ),
    "new sealing key": N_("the ledger was sealed again under a new key"),
    "totals sealed": N_("totals were sealed by a newer version of this program"),
}
"""Sentences of the ledger for lines about itself."""


def list_charges(data_set: DataSet) -> pd.DataFrame:
    """Return a table with one row per charge, newest first.

    Each has time, content, columns, state, the share of the budget by which it moved
    the total, and the epsilon that it has by itself. A charge on a part may move the
    total by less than its own, or by nothing.
    """
    lines = data_set.lines()
    ends = {
        line.request_id: line for line in lines if line.state in ("committed", "failed")
    }
    charged = [line for line in lines if line.state == "reserved"]
    asked = {split_view(line.request_id) for line in charged}
    paired = {
        stem for stem, _view in asked if all((stem, view) in asked for view in VIEWS)
    }
    shares = split_percent(growth_of_total(charged, data_set.account), data_set.account)
    shown = []
    for line, share in zip(reversed(charged), reversed(shares), strict=True):
        end = ends.get(line.request_id)
        events = end.content.get("events", []) if end else []
        read = sorted(
            {
                " × ".join(clique) or _("number of rows")
                for event in events
                for clique in event["reads"]
            },
        )
        part = ""
        if line.charge.part:
            column, category = line.charge.part
            part = f" ({column.rpartition(' #')[0]} = {category})"
        record = {
            _("when (UTC)"): _written_at(line),
            _("asked"): _describe_charge(line, paired) + part,
            _("share of the budget"): share,
            _("epsilon"): number(spent_epsilon(line.charge.units, data_set.account)),
            _("state"): _(_STATE_WORDS[end.state if end else "reserved"]),
            _("read"): join_with_commas(read[:20]) + (" …" if len(read) > 20 else ""),
            _("request"): line.request_id[:8],
        }
        record |= _people_of(line)
        if not data_set.rule.is_pure:
            record[_("rho")] = number(line.charge.units / UNIT)
        shown.append(record)
    return pd.DataFrame(shown)


def _describe_charge(line: Line, paired: Collection[str]) -> str:
    """Describe a charge; of a release of both linked tables, that of one view.

    Args:
        paired: ids of such releases, without their view.
    """
    stem, view = split_view(line.request_id)
    if stem not in paired:
        return describe_line(line)
    return name_and_text(_(LINKED_TITLE), _(VIEW_TITLES[view]))


def growth_of_total(charged: Sequence[Line], account: Account) -> list[int]:
    """Return how many units each charge added to the total, in order of the charges."""
    standing = Standing(account=account)
    growths = []
    for line in charged:
        growths.append(standing.extra_units(line.charge))
        standing = standing.with_change("reserved", line.charge)
    return growths


def list_notes(data_set: DataSet) -> pd.DataFrame:
    """Return a table of the lines that charge nothing, newest first."""
    return pd.DataFrame(
        [
            {
                _("when (UTC)"): _written_at(line),
                _("note"): _describe_note(line.content),
                **_people_of(line),
            }
            for line in reversed(data_set.lines())
            if (line.state == "outside" and not _is_hidden_note(line))
            or "forgotten" in line.content
        ],
    )


def filter_lines(table: pd.DataFrame, words: str) -> pd.DataFrame:
    """Return the lines of a table with every one of these words."""
    matches = table
    for word in words.lower().split():
        texts = matches.astype(str).agg(" ".join, axis="columns").str.lower()
        matches = matches[texts.str.contains(word, regex=False)]
    return matches


def _people_of(line: Line) -> dict[str, str]:
    """Return who wrote a line and who declared one person per row, by column title."""
    named = {"by": _("who"), "declared_by": _("who declared one person per row")}
    return {
        title: line.content[key] for key, title in named.items() if key in line.content
    }


def _written_at(line: Line) -> str:
    return line.at[:19].replace("T", " ")


def _is_hidden_note(line: Line) -> bool:
    """Return whether a line is not shown, as it only keeps a sketch or digest."""
    is_kept = "sketch" in line.content or FILE_KEY in line.content
    return is_kept and "people" not in line.content


def _describe_note(content: dict[str, Any]) -> str:
    """Describe a line that charges nothing, or one that reopened an account."""
    if "account" in content:
        return _(
            (
                "opened again: an earlier account of this table, with {number} "
                "lines, had been deleted"
            ),
        ).format(number=number(content["forgotten"]))
    about = join_with_commas(map(str, content.get("about", ())))
    if "anonymized" in content:
        return _("anonymized table requested: {about}").format(about=about)
    if base := content.get("exact table", {}).get("rounding_base"):
        return _("table rounded to multiples of {base} published: {about}").format(
            base=number(base), about=about
        )
    if "exact table" in content:
        return _("exact table published: {about}").format(about=about)
    if "declared" in content:
        return ngettext(
            "declared what is publicly known: {number} column",
            "declared what is publicly known: {number} columns",
            len(content["declared"]["schema"]["columns"]),
        )
    if "people" in content:
        if content["people"] == "different":
            return _(
                "opened although it looks like another table on file: declared to "
                "be about other people"
            )
        return _(
            "opened although it looks like another table on file: perhaps about the "
            "same people"
        )
    for key, words in translate_table(_ACCESS_SENTENCES).items():
        if key in content:
            return words.format(person=content[key])
    if content.get("kind") == SAME_PEOPLE:
        return _("another data set was said to be about the same people")
    if (own := str(content.get("kind"))) in _LEDGER_SENTENCES:
        return _(_LEDGER_SENTENCES[own]).format(
            number=number(content.get("forgotten", 0))
        )
    kind = str(content.get("evaluation", ""))
    return (
        _(EVALUATION_SENTENCES[kind]).format(about=about or _("all columns"))
        if kind in EVALUATION_SENTENCES
        else kind
    )


def list_not_covered(data_set: DataSet) -> list[str]:
    """List what the total does not cover in this data set."""
    outside = sum(
        line.state == "outside"
        and "sketch" not in line.content
        and FILE_KEY not in line.content
        and line.content.get("kind") != SAME_PEOPLE
        and "anonymized" not in line.content
        and LEDGER_KEY not in line.content
        and not is_declaration(line)
        for line in data_set.lines()
    )
    sentences = [
        _(
            "Comparisons with the original and risk figures ({times} so far). Only "
            "the owner may see them.",
        ).format(times=outside),
        _(
            "Changed copies of the table. If one is uploaded, it counts as another "
            "table.",
        ),
        _("Releases made elsewhere."),
    ]
    if anonymized := sum("anonymized" in line.content for line in data_set.lines()):
        words = ngettext(
            "Rows that were anonymized {number} time, without noise.",
            "Rows that were anonymized {number} times, without noise.",
            anonymized,
        )
        sentences.insert(0, words)
    if tables := data_set.exact_tables():
        names = join_with_commas(escape_markdown(table.name) for table in tables)
        words = _("Exact tables of counts, published without noise: {names}.")
        sentences.insert(0, words.format(names=names))
    declared = data_set.declaration
    schema = None if declared is None else declared.schema
    if declared is not None and declared.linked is not None:
        schema = declared.linked.schema.events_view  # has the columns of both
    if schema is not None and schema.columns_from_data:
        taken = uncovered_facts(schema.from_data, schema.found)
        sentences.insert(0, from_data_words(taken))
    if data_set.reading_from_data:
        sentences.insert(0, reading_words())
    return sentences


def compare_rules(data_set: DataSet) -> pd.DataFrame | None:
    """Compute the epsilon of all events so far under each rule; None without events."""
    events = [
        Event.from_dict(fields)
        for line in data_set.lines()
        if line.state in ("committed", "failed")
        for fields in line.content.get("events", [])
    ]
    if not events:
        return None
    delta = float(Fraction(delta_of(data_set.account)))
    figures = compare(events, delta=delta)
    at = _("with delta {delta}").format(delta=delta_words(delta))
    pure = figures.basic_epsilon
    basic = (
        (_("none"), _("at least one answer has no pure epsilon"))
        if pure is None
        else (number(pure), "")
    )
    lines = [(_("basic: epsilons add up"), *basic)]
    for rule, epsilon in (
        (_("zCDP: rhos add up"), figures.zcdp_epsilon),
        (
            _("tight bound, if all releases had been planned in advance"),
            figures.tight_epsilon,
        ),
    ):
        if epsilon is not None:
            lines.append((rule, number(epsilon), at))
    return pd.DataFrame(lines, columns=[_("rule"), _("epsilon"), _("note")])


def export_lines(data_set: DataSet) -> str:
    """Return all lines as JSON, without anything that may come from the rows."""
    lines = data_set.lines()
    partitions = dict[str, str]()
    name = public_name(lines)
    shown = []
    for line in lines:
        fields = dataclasses.asdict(redact_line(line, name))
        # number the partitions, since their names in older lines hold an unkeyed digest
        # of the declaration
        if line.charge.part is not None:
            partition, category = line.charge.part
            column = partition.rpartition(" #")[0]
            numbered = partitions.setdefault(
                partition, f"{column} #{len(partitions) + 1}"
            )
            fields["charge"]["part"] = (numbered, category)
        shown.append(fields)
    return json.dumps({"account": data_set.account.to_dict(), "lines": shown}, indent=1)
