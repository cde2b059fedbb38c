"""Roles of columns, proposed from their names and values; a person decides."""

import re
import tomllib
from dataclasses import dataclass
from importlib.resources import files

import pandas as pd

from dpcore.risk.identifiers import FREE_TEXT, RUNNING_NUMBER, Finding, find_identifiers
from dpcore.schema.detector import PLACE_KINDS, name_words, strip_accents
from dpcore.schema.order import order_labels
from dpcore.schema.role import Role
from dpcore.schema.table import normalize_table
from dpcore.schema.values import as_text
from dpcore.schema.words import SEX_WORDS, YES_AND_NO, means_missing
from dpcore.text import Text


def _compile_words(names: str, anywhere: str, elsewhere: str) -> re.Pattern[str]:
    """Compile word lists into a pattern, reading `_` as a blank.

    Words of `anywhere` belong to scripts without blanks between words, those of
    `elsewhere` are written without accents.
    """
    whole = "|".join((*names.split(), *elsewhere.split())).replace("_", " ")
    return re.compile(rf"(?<!\S)({whole})(?!\S)|{'|'.join(anywhere.split())}")


def _contains_word(pattern: re.Pattern[str], words: str) -> bool:
    """Return whether a column's name has one of the words, whatever its accents."""
    return any(map(pattern.search, (words, strip_accents(words))))


_LISTS = tomllib.loads(files(__package__).joinpath("roles.toml").read_text("utf-8"))
_QUASI_IDENTIFIER_WORDS = _compile_words(**_LISTS["known"])
_SENSITIVE_WORDS = _compile_words(**_LISTS["secret"])
_ANSWER_SETS = (SEX_WORDS, *map(set, YES_AND_NO))
_NAME_LETTERS = re.compile(r"[^\W\d_]{2}|[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
"""Two letters in a row, or one of a script in which one may be a name."""


@dataclass(frozen=True, kw_only=True)
class SuggestedRole:
    """A proposed role, and why.

    Attributes:
        finding: what makes the column look like an identifier, if anything does.
    """

    column: str
    role: Role
    reason: str
    finding: Finding | None = None


def suggest_roles(frame: pd.DataFrame) -> tuple[SuggestedRole, ...]:
    """Propose a role for every column, in the order of the table.

    Identifiers are recognized by their values, quasi-identifiers and sensitive
    attributes by their names, and in German by parts of these; dates are
    quasi-identifiers. Other texts may name people, so that a person has to decide. All
    else is insensitive.

    Raises: SchemaError for a table without rows, or as `plain_table`.
    """
    frame = normalize_table(frame)
    findings = {finding.column: finding for finding in find_identifiers(frame)}
    suggested = []
    for name in frame.columns:
        words = re.sub(r"\d+", " ", name_words(name))
        finding = findings.get(name)
        role: Role
        if finding is not None and (
            finding.kind == FREE_TEXT or _names_people(finding, frame)
        ):
            role = "identifier"
            reason = Text("it looks like {kind}", kind=finding.kind)
        elif _contains_word(_SENSITIVE_WORDS, words):
            role = "sensitive"
            reason = Text("its name suggests something that people keep to themselves")
        elif _contains_word(_QUASI_IDENTIFIER_WORDS, words) or (
            finding is not None and finding.kind in (*PLACE_KINDS, "date")
        ):
            role = "quasi-identifier"
            reason = Text("others may know this about a person")
        elif finding is not None:
            role = "identifier"
            reason = Text("it looks like {kind}", kind=finding.kind)
        elif _may_name_people(frame[name]):
            role = "undecided"
            reason = Text("its texts may name people; nothing shows what the texts are")
        else:
            role = "insensitive"
            reason = Text("nothing in its name or values suggests another role")
        suggested.append(
            SuggestedRole(column=name, role=role, reason=reason, finding=finding)
        )
    return tuple(suggested)


def _may_name_people(values: pd.Series) -> bool:
    """Return whether a column's texts may be names, as nothing says what they are.

    Answers such as yes and no, sexes, words with an order, and codes without two
    letters in a row name nobody, nor does a text that every row has.
    """
    if pd.api.types.is_numeric_dtype(
        values.dtype
    ) or pd.api.types.is_datetime64_any_dtype(values.dtype):
        return False
    texts = [
        text.strip()
        for text in as_text(values).dropna().unique()
        if not means_missing(text)
    ]
    answers = {text.lower() for text in texts}
    if (
        any(answers <= known for known in _ANSWER_SETS)
        or order_labels(texts) is not None
    ):
        return False
    return len(texts) > 1 and any(map(_NAME_LETTERS.search, texts))


def _names_people(finding: Finding, frame: pd.DataFrame) -> bool:
    """Return whether a column holds personal identifiers, whatever its name.

    A few different numbers are categories, and what has the shape of full names alone
    may be something else of which the column's name tells.
    """
    if finding.kind == "personal number":
        return bool(frame[finding.column].nunique() > len(frame) / 10)
    return finding.kind not in (
        *PLACE_KINDS,
        "date",
        "full names",
        "unique values",
        RUNNING_NUMBER,
    )
