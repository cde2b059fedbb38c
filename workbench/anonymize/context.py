"""Context of an anonymized table, as its owner states it in the report to sign.

The order is that of a context assessment in ISO/IEC 27559 (data environment, threats,
thresholds, review) with the motivated-intruder test of the ICO's guidance on
anonymisation. Nothing is filled in by the program but what the ledger knows.
"""

from collections.abc import Mapping

import pandas as pd

from dpcore.curator import Curator
from workbench.language.messages import N_, _, ngettext, translate_table
from workbench.language.wording import number

MAX_CHARACTERS = 2_000
"""Letters of one statement that are printed."""
CONTEXT_FIELDS = {
    "recipient": N_("Who receives the table, and which controls apply"),
    "anonymous for": N_("For whom it is anonymous, and for whom it is not"),
    "motive": N_("Why somebody might look for people in it"),
    "capacity": N_("What means and skills they have"),
    "prior knowledge": N_("What they know already, and from where"),
    "harm": N_("What harm a person would suffer"),
    "threshold": N_("Why this threshold"),
    "intruder": N_("Motivated-intruder test: who tried, and for how long"),
    "sources": N_("Motivated-intruder test: which sources were used"),
    "result": N_("Motivated-intruder test: what was found"),
    "review": N_("Date of the next review"),
    "trigger": N_("What calls for an earlier review"),
    "contact": N_("Whom to inform about an incident"),
}


def context_table(curator: Curator, statements: Mapping[str, str]) -> pd.DataFrame:
    """Return a table of the owner's statements and of earlier releases."""
    lines = {
        title: _printed_statement(statements.get(key, ""))
        for key, title in translate_table(CONTEXT_FIELDS).items()
    }
    lines[_("Earlier releases about the same people, according to this ledger")] = (
        "; ".join(count_earlier_releases(curator))
    )
    return pd.DataFrame({_("question"): [*lines], _("answer"): [*lines.values()]})


def count_earlier_releases(curator: Curator) -> list[str]:
    """Count the earlier releases of the same rows, from the lines of the ledger."""
    lines = curator.lines()
    plans = {
        line.content["anonymized"] for line in lines if "anonymized" in line.content
    }
    private = sum(line.state == "committed" for line in lines)
    exact = len(curator.exact_tables())
    return [
        ngettext(
            "{number} differentially private result",
            "{number} differentially private results",
            private,
        ),
        ngettext(
            "{number} anonymized table, this one included",
            "{number} anonymized tables, this one included",
            len(plans),
        ),
        ngettext("{number} exact table", "{number} exact tables", exact),
    ]


def _printed_statement(text: str) -> str:
    text = text.strip()
    if not text:
        return _("not stated")
    if len(text) <= MAX_CHARACTERS:
        return text
    cut = _("(cut after {most} characters)").format(most=number(MAX_CHARACTERS))
    return f"{text[:MAX_CHARACTERS]} … {cut}"
