"""Roles of columns, proposed from their names and values; a person decides."""

from __future__ import annotations

import re
from dataclasses import dataclass

import pandas as pd

from dpcore.risk.identifiers import FREE_TEXT, RUNNING, Finding, find_identifiers
from dpcore.schema.detector import PLACES, name_words
from dpcore.schema.role import Role
from dpcore.text import Text


def _words(names: str, *, anywhere: str) -> re.Pattern[str]:
    """Compile the words of a list, with `_` for a blank; `anywhere`: in scripts that part no words."""
    return re.compile(rf"\b({'|'.join(names.split()).replace('_', ' ')})\b|{'|'.join(anywhere.split())}")


_KNOWN = _words(
    r"""i?(age|sex) agep ages age_?(years?|yrs?|group|band|class|cat|range) birth\w* born dob gender zip\w*
    post_?code postal plz city town region\w* county district state country nationality native citizenship
    language marital married relationship household children education school\w* degree occupation job\w*
    profession workclass employer department division branch site office location workplace residence
    address (\w+s)?alter(s\w+)? jahrgang \w*geburt\w* geb geschlecht\w* postleitzahl
    (stand|wohn|tat|sterbe|\w{4,}s)?ort \w*anschrift \w*adresse \w*stadt \w*stadtteil
    (\w*land|wahl|stadt)?kreis \w*bezirk \w*gemeinde (\w+s|bundes|heimat|ausland)?land nationalit[aä]t
    staatsangeh[oö]rigkeit staatsb[uü]rgerschaft herkunft\w* \w*sprache familienstand verheiratet
    haushalt\w* kinder\w* \w*bildung\w* schul(e|art|form|abschluss\w*|bildung) \w*abschluss beruf\w*
    t[aä]tigkeit\w* dienstgrad arbeitgeber abteilung\w* dienststelle filiale niederlassung [aâ]ge naissance
    sexe genre ville commune d[eé]partement r[eé]gion pays nationalit[eé] langue situation_familiale
    [eé]tat_civil m[eé]nage enfants dipl[oô]me [eé]tudes m[eé]tier emploi employeur edad nacimiento sexo
    g[eé]nero ciudad municipio provincia pa[ií]s nacionalidad idioma estado_civil hogar hijos educaci[oó]n
    estudios ocupaci[oó]n oficio departamento et[aà] nascita sesso citt[aà] comune nazionalit[aà]
    stato_civile istruzione professione reparto
    """,
    anywhere="年龄 出生 生日 性别 邮编 城市 省份 地区 籍贯 国籍 语言 婚姻 户籍 "
    "子女 学历 教育 职业 工作单位 部门",
)
"""Words for what others may know about a person."""
_SECRET = _words(
    # GDPR Art. 9: origin, opinions, beliefs, unions, genes, biometrics, sex life; Art. 10: convictions
    r"""i?race racial ethnic\w* skin_colou?r political\w* party vot(e|es|ed|ing) religio\w* faith beliefs?
    denomination union genetic\w* genom\w* genotyp\w* dna biometric\w* fingerprints? sexual\w* orientation
    transgender crim(e|es|inal\w*) offen[cs]es? convict\w* arrest(s|ed)? prison rasse ethni\w* hautfarbe
    migrationshintergrund politisch\w* partei\w* wahlverhalten \w*religion\w* \w*konfession\w* glaube\w*
    weltanschauung \w*gewerkschaft\w* genetisch\w* gentest\w* genom\w* erbgut biometri\w* fingerabdr\w*
    sexuell\w* sexualit\w* \w*straf(e|en|tat|taten|t[aä]ter|register\w*) vorbestraft verurteil\w*
    (untersuchungs)?haft \w*delikte? ethnie origine_ethnique couleur_de_peau opinions? politiques? parti
    vote religieu\w* croyances? confession syndicat\w* syndical\w* g[eé]n[eé]tiques? adn biom[eé]tri\w*
    empreintes? sexuel\w* condamn\w* casier infractions? d[eé]lits? raza etnia etnico [eé]tnic[oa]
    pol[ií]tic[oa]s? partido voto religi[oó]n religios[oa] creencias? sindica\w* gen[eé]tic[oa]
    biom[eé]tric[oa] huellas? condenas? antecedentes delitos? razza partito religione credo sindacat\w*
    impront[ae] orientamento orientaci[oó]n condann[ae] precedenti reat[oi]
    """
    # health
    r"""\w*diagnos[a-z]* diseases? illness\w* sick\w* health\w* conditions? icd drugs? medication\w*
    medicines? treatments? therap\w* hiv tests? results? scores? disab\w* handicap\w* symptoms? cancer tumou?r
    diabet\w* pregnan\w* vaccin\w* allerg\w* depress\w* \w*krank\w* \w*gesundheit\w* \w*befund\w*
    \w*medikament\w* arznei\w* \w*behandlung\w* \w*behinder\w* pflegegrad arbeitsunf[aä]hig\w* schwanger\w*
    impf\w* todesursache\w* diagnostic\w* maladies? sant[eé] m[eé]dicaments? traitements? invalidit[eé]
    arr[eê]t_maladie grossesse diagn[oó]stic\w* enfermedad\w* salud medicamentos? tratamientos?
    discapacidad\w* minusval\w* embaraz\w* vacuna\w* malatti[ae] salute farmac[oi] disabilit\w*
    invalidit[aà] gravidanza
    """
    # income, debts, benefits, days off sick, marks: by custom
    r"""grades? \w*income earnings? salar(y|ies) wages? cost debts? loans? credit benefits? welfare pensions?
    absences? absenteeism \w*eink[oü]mmen eink[uü]nfte \w*gehalt \w*gehaltsgruppe \w*lohn verg[uü]tung\w*
    entgelt\w* umsatz \w*schulden kredit\w* noten? \w*rente \w*verm[oö]gen sozialhilfe b[uü]rgergeld
    \w*arbeitslosengeld wohngeld fehl(tage|zeit\w*) revenus? salaires? r[eé]mun[eé]ration dettes? cr[eé]dit
    allocations? ingresos? salarios? sueldo n[oó]mina deudas? pensi[oó]n subsidios? ausencias? absentismo
    reddit[oi] stipendi[oi]? debit[oi] sussidi[oi]? pensione assenz[ae]
    """,
    anywhere="""民族 种族 政治 政党 党派 投票 宗教 信仰 党 工会 基因 遗传 指纹 生物识别 性取向 犯罪 前科 诊断
    疾病 病情 病假 药物 治疗 健康 残疾 怀孕 疫苗 收入 工资 薪 债 贷款 信用 补贴 津贴 低保 成绩""",
)
"""Words for special categories of the GDPR, and what custom adds."""


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

    Identifiers by their values, quasi-identifiers and sensitive attributes by their names, and in German by
    parts of these; dates are quasi-identifiers. All else is insensitive. Raises: SchemaError for a table
    without rows.
    """
    findings = {finding.column: finding for finding in find_identifiers(frame)}
    suggested = []
    for name in map(str, frame.columns):
        words = re.sub(r"\d+", " ", name_words(name))
        finding = findings.get(name)
        role: Role
        if finding is not None and finding.kind == FREE_TEXT:
            role, reason = "identifier", "it may hold names in its text, so it is left out"
        elif finding is not None and _names_people(finding, frame):
            role, reason = "identifier", Text("it looks like {kind}", kind=finding.kind)
        elif _SECRET.search(words):
            role, reason = "sensitive", "its name says something people keep to themselves"
        elif _KNOWN.search(words):
            role, reason = "quasi-identifier", "others may know this about a person"
        elif finding is not None and finding.kind in PLACES:
            role = "quasi-identifier"
            reason = Text("it looks like {kind}, which others may know", kind=finding.kind)
        elif finding is not None and finding.kind == "date":
            role, reason = (
                "quasi-identifier",
                "others may know the date of an event; change this if nobody does",
            )
        elif finding is not None:
            role, reason = "identifier", Text("it looks like {kind}", kind=finding.kind)
        else:
            role, reason = "insensitive", "nothing in its name or values says more"
        suggested.append(SuggestedRole(column=name, role=role, reason=reason, finding=finding))
    return tuple(suggested)


def _names_people(finding: Finding, frame: pd.DataFrame) -> bool:
    """Return whether a column says who people are, whatever its name; few numbers are categories."""
    if finding.kind == "personal number":
        return bool(frame[finding.column].nunique() > len(frame) / 10)
    return finding.kind not in (*PLACES, "date", "unique values", RUNNING)
