"""Which part a column plays: proposed from its name and values; a person decides."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pandas as pd

from dpcore.risk.identifiers import find_identifiers
from dpcore.schema.role import Role

_KNOWN = re.compile(
    r"\b(age|birth|born|dob|sex|gender|zip|postcode|postal|plz|city|town|region|county|district|state|country|"
    r"native|nationality|citizenship|race|ethnic|ethnicity|language|marital|married|relationship|household|"
    r"children|education|school|degree|occupation|job|profession|workclass|employer)\b"
)
_SECRET = re.compile(
    r"\b(diagnosis|disease|condition|illness|icd|drug|medication|treatment|hiv|test|result|score|grade|income|"
    r"salary|wage|cost|debt|loan|credit|religion|faith|party|vote|political|union|orientation|crime|offen[cs]e)\b"
)


@dataclass(frozen=True, kw_only=True)
class SuggestedRole:
    """A proposed role, and why."""

    column: str
    role: Role
    reason: str


def suggest_roles(frame: pd.DataFrame) -> tuple[SuggestedRole, ...]:
    """A role for every column, in the order of the table; the default role never makes a run fail.

    Identifiers by their values, quasi-identifiers and sensitive attributes by their names; all else is
    insensitive. Raises: SchemaError for a table without rows.
    """
    found = {finding.column: finding for finding in find_identifiers(frame)}
    suggested = []
    for name in map(str, frame.columns):
        words = re.sub(r"[\W_]+", " ", re.sub(r"(?<=[a-z])(?=[A-Z])", " ", name)).lower()
        finding = found.get(name)
        role: Role
        if _SECRET.search(words):
            role, reason = "sensitive", "its name says something people keep to themselves"
        elif _KNOWN.search(words):
            role, reason = "quasi-identifier", "others may know this about a person"
        elif finding is not None and finding.kind in ("postal code", "address or place"):
            role, reason = "quasi-identifier", f"it looks like {finding.kind}, which others may know"
        elif finding is not None and finding.kind == "date":
            role, reason = "insensitive", "a date of some event; change this if others may know it"
        elif finding is not None:
            role, reason = "identifier", f"it looks like {finding.kind}"
        else:
            role, reason = "insensitive", "nothing in its name or values says more"
        suggested.append(SuggestedRole(column=name, role=role, reason=reason))
    return tuple(suggested)
