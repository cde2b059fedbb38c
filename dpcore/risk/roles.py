"""Which part a column plays: proposed from its name and values; a person decides."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pandas as pd

from dpcore.risk.identifiers import find_identifiers
from dpcore.schema.detector import PLACES, name_words
from dpcore.schema.role import Role

_KNOWN = re.compile(
    r"\b(age|birth|born|dob|sex|gender|zip|postcode|postal|plz|city|town|region|county|district|state|country|"
    r"native|nationality|citizenship|race|ethnic|ethnicity|language|marital|married|relationship|household|"
    r"children|education|school|degree|occupation|job|profession|workclass|employer|"
    r"alter|geburt\w*|geb|geschlecht|postleitzahl|ort|wohnort|stadt|kreis|landkreis|bundesland|land|nationalit[aä]t|"
    r"staatsangeh[oö]rigkeit|herkunft\w*|sprache|muttersprache|familienstand|verheiratet|haushalt\w*|kinder|"
    r"bildung\w*|schul\w*|abschluss|beruf|t[aä]tigkeit|arbeitgeber|"
    r"[aâ]ge|naissance|sexe|genre|ville|commune|d[eé]partement|r[eé]gion|pays|nationalit[eé]|"
    r"langue|situation familiale|[eé]tat civil|m[eé]nage|enfants|dipl[oô]me|[eé]tudes|m[eé]tier|emploi|"
    r"employeur|edad|nacimiento|sexo|g[eé]nero|ciudad|municipio|provincia|pa[ií]s|nacionalidad|idioma|"
    r"estado civil|hogar|hijos|educaci[oó]n|estudios|ocupaci[oó]n|oficio|et[aà]|nascita|sesso|citt[aà]|"
    r"comune|nazionalit[aà]|stato civile|istruzione|professione)\b"
    r"|年龄|出生|生日|性别|邮编|城市|省份|地区|籍贯|国籍|民族|语言|婚姻|户籍|子女|学历|教育|职业|工作单位"
)
_SECRET = re.compile(
    r"\b(diagnosis|disease|condition|illness|icd|drug|medication|treatment|hiv|test|result|score|grade|income|"
    r"salary|wage|cost|debt|loan|credit|religion|faith|party|vote|political|union|orientation|crime|offen[cs]e|"
    r"\w*diagnosen?|\w*krankheit\w*|befund|medikament\w*|behandlung|\w*einkommen|\w*gehalt|\w*lohn|umsatz|schulden|"
    r"kredit|note|religion|konfession|partei|gewerkschaft|straftat|"
    r"diagnostic|maladie|m[eé]dicament|traitement|revenus?|salaire|dettes?|cr[eé]dit|parti|syndicat|"
    r"diagn[oó]stico|enfermedad|medicamento|tratamiento|ingresos?|salario|sueldo|deuda|religi[oó]n|partido|delito|"
    r"diagnosi|malattia|farmaco|reddito|stipendio|debito|religione)\b"
    r"|诊断|疾病|病情|药物|治疗|收入|工资|薪|债|贷款|信用|宗教|党|犯罪|成绩"
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
        words = name_words(name)
        finding = found.get(name)
        role: Role
        if _SECRET.search(words):
            role, reason = "sensitive", "its name says something people keep to themselves"
        elif _KNOWN.search(words):
            role, reason = "quasi-identifier", "others may know this about a person"
        elif finding is not None and finding.kind in PLACES:
            role, reason = "quasi-identifier", f"it looks like {finding.kind}, which others may know"
        elif finding is not None and finding.kind == "date":
            role, reason = "insensitive", "a date of some event; change this if others may know it"
        elif finding is not None:
            role, reason = "identifier", f"it looks like {finding.kind}"
        else:
            role, reason = "insensitive", "nothing in its name or values says more"
        suggested.append(SuggestedRole(column=name, role=role, reason=reason))
    return tuple(suggested)
