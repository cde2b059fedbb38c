"""Proposed roles: what a column's name and values say, and that no proposal makes a
first run fail.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.anonymization.apply import apply
from dpcore.anonymization.hierarchies.suggest import suggest_together
from dpcore.anonymization.models import KAnonymity
from dpcore.anonymization.plan import Plan
from dpcore.errors import SchemaError
from dpcore.risk.roles import suggest_roles
from workbench import samples


def role_of(name: str, cells: object = "x") -> str:
    frame = pd.DataFrame({name: cells}, index=range(30) if np.isscalar(cells) else None)
    return suggest_roles(frame)[0].role


@pytest.mark.parametrize(
    "name",
    [
        "age",
        "Age",
        "birth_date",
        "date-of-birth",
        "ZIP code",
        "nativeCountry",
        "marital.status",
        "SEX",
    ],
)
def test_what_others_may_know_is_a_quasi_identifier(name: str) -> None:
    """The columns of every linkage attack would be published as they are."""
    assert role_of(name) == "quasi-identifier"


@pytest.mark.parametrize(
    "name",
    [
        "diagnosis",
        "HIV_test",
        "yearlyIncome",
        "salary-class",
        "religion",
        "test.result",
    ],
)
def test_what_people_keep_to_themselves_is_sensitive(name: str) -> None:
    """Nobody would be told that a group reveals its diagnosis."""
    assert role_of(name) == "sensitive"


KNOWN = """
iage isex Standort Geburtsort Wohnort Abteilung Lebensalter Geburtsjahr age2
AGEP Herkunftsland Bundesland Altersgruppe département ciudad città 部门 年龄
"""
SPECIAL = """
race ethnic_group Ethnie etnia 民族 Partei opinion_politique voto 政治 Religion
Konfession religión 宗教 Gewerkschaftsmitglied union_member syndicat sindicato
工会 genetic_test Gentest génétique 基因 fingerprint Biometrie 指纹
Krankenstandstage Behinderung HauptdiagnoseICD icd10 santé enfermedad salute
疾病 sexuelle_Orientierung 性取向 Vorstrafen Straftat condamnation delito
condanna 犯罪 Gehalt Nettoeinkommen Schulden Sozialhilfe sick_days dettes
deuda reddito 病假
"""
OTHERS = """
page message passage capacity agent unzipped Passwort Antwort Transport
Import Report Sport resort cohort general Schalter Verwalter stage image
storage mileage percentage Landwirtschaft Kreislauf alternative Haftung
Mannschaft Geographie consort creditor wagen trace grace embrace
"""


@pytest.mark.parametrize(
    ("role", "names"),
    [("quasi-identifier", KNOWN), ("sensitive", SPECIAL), ("insensitive", OTHERS)],
)
def test_names_and_parts_of_compounds(role: str, names: str) -> None:
    """A sick day would stay unprotected, a site unknown, or a page be taken for an
    age.
    """
    assert {name: role_of(name) for name in names.split()} == dict.fromkeys(
        names.split(), role
    )


ELSEWHERE = {
    "quasi-identifier": "wiek|płeć|kod pocztowy|Věk|pohlaví|kön|Leeftijd|ikä|Sukupuoli|"
    "sünniaeg|életkor|data urodzenia|idade|vârstă|starost|amžius|dzimums|ηλικία|ΦΥΛΟ|"
    "Yaş|возраст|дата рождения|вік|стать|年齢|성별|العمر|उम्र|jenis_kelamin|giới tính",
    "sensitive": "choroba|diagnóza|sjukdom|ziekte|sairaus|betegség|doença|boală|bolezen|"
    "διάγνωση|диагноз|захворювання|病名|진단|التشخيص|बीमारी|penyakit|hastalık|gaji",
}


@pytest.mark.parametrize(
    ("role", "header"),
    [(role, header) for role in ELSEWHERE for header in ELSEWHERE[role].split("|")],
)
def test_words_in_the_languages_of_statistics_offices(role: str, header: str) -> None:
    """Somebody's age would be published as it is under "wiek"."""
    assert role_of(header, [f"{i % 3}" for i in range(30)]) == role


def test_free_text_is_left_out_and_long_categories_are_not() -> None:
    """A note that names a patient would be published, or an occupation be taken for a
    note.
    """
    notes = [f"Mr Smith {i} came back on Monday with pain" for i in range(40)]
    assert role_of("remarks", notes) == "identifier"
    assert (
        role_of("诊断说明", [f"患者张伟第{i}次复诊说疼痛减轻" for i in range(40)])
        == "identifier"
    )
    kinds = [
        f"Machine operators, assemblers and inspectors of group {i % 3}"
        for i in range(40)
    ]
    assert role_of("duties", kinds) == "undecided"


@pytest.mark.parametrize(
    ("cells", "role"),
    [
        (["Zofia", "Jan", "Ewa"], "undecided"),
        (["王", "李", "张"], "undecided"),
        (["AB", "C1", "D2"], "undecided"),
        (["yes", "no", "yes"], "insensitive"),
        (["ja", "Nein", None], "insensitive"),
        (["male", "female", "other"], "insensitive"),
        (["0-4", "5-9", "10-14"], "insensitive"),
        (["Jan", "Feb", "Nov"], "insensitive"),
        (["high", "low", "medium"], "insensitive"),
        (["A", "B1", "C"], "insensitive"),
        ([True, False, None], "insensitive"),
        ([1.5, 2.5, None], "insensitive"),
    ],
)
def test_texts_of_which_nothing_is_known_are_not_decided(
    cells: list[object], role: str
) -> None:
    """First names under an unknown header would be published as they are."""
    assert role_of("kolumna", cells * 10) == role


def test_contact_data_are_left_out_whatever_they_are_called() -> None:
    """An e-mail address would be taken for where somebody lives, an insurance number
    for an illness.
    """
    assert (
        role_of("email address", [f"p{i}@example.org" for i in range(30)])
        == "identifier"
    )
    assert (
        role_of("Krankenversichertennummer", [f"A12345{i:04d}" for i in range(30)])
        == "identifier"
    )


def test_values_that_name_people_are_identifiers() -> None:
    """E-mail addresses and keys would stay in the published table."""
    assert role_of("contact", [f"p{i}@example.org" for i in range(30)]) == "identifier"
    assert role_of("reference", [f"X-{i * 37}" for i in range(30)]) == "identifier"
    assert (
        role_of("event", [f"2024-01-{i + 1:02}" for i in range(30)])
        == "quasi-identifier"
    )
    assert role_of("where", [f"{20_000 + i % 9}" for i in range(30)]) == "insensitive"
    assert role_of("home_town", ["A", "B", "C"] * 10) == "quasi-identifier"


def test_every_column_has_a_role_and_a_reason_without_a_value() -> None:
    """A reason would show a cell of the table."""
    frame = samples.hospital().head(500)
    found = suggest_roles(frame)
    assert [each.column for each in found] == list(frame.columns)
    cells = {str(cell) for cell in frame["name"]} | set(frame["zip"])
    assert all(
        each.reason and not any(cell in each.reason for cell in cells) for each in found
    )


def test_a_table_without_rows_is_refused() -> None:
    """Roles would be proposed from nothing."""
    with pytest.raises(SchemaError, match="no rows"):
        suggest_roles(pd.DataFrame({"age": []}))


@pytest.mark.parametrize("table", ["census", "hospital", "adult"])
def test_a_first_run_needs_no_reading(
    table: str, request: pytest.FixtureRequest
) -> None:
    """Roles and hierarchies as proposed and k = 5 would not bring a table."""
    if table == "adult":
        shared: Path = request.getfixturevalue("shared")
        frame = pd.read_csv(shared / "data" / "adult.csv").head(3_000)
    else:
        frame = {"census": samples.census, "hospital": samples.hospital}[table]().head(
            3_000
        )
    roles = {each.column: each.role for each in suggest_roles(frame)}
    known = [name for name, role in roles.items() if role == "quasi-identifier"]
    plan = Plan(
        roles=roles,
        hierarchies=suggest_together(frame, known),
        models=(KAnonymity(k=5),),
        limit=0.02,
    )
    made = apply(frame, plan)
    kept = made[(made[known] != "*").any(axis=1)]
    assert len(kept) >= 0.98 * len(frame)
    assert kept.groupby(known, dropna=False).size().min() >= 5
