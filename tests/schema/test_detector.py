"""One detector for schemas, audits and roles, in several languages and scripts."""

from __future__ import annotations

import pandas as pd
import pytest

import dpcore as dp
from dpcore.risk.identifiers import find_identifiers
from dpcore.risk.roles import suggest_roles
from dpcore.schema.detector import detect_identifier, name_words

FIRST = [
    "Anna",
    "Bernd",
    "Clara",
    "Dieter",
    "Eva",
    "Frank",
    "Greta",
    "Hans",
    "Ida",
    "Jörg",
]
LAST = [
    "Müller",
    "Schmidt",
    "Weiß",
    "Fischer",
    "Weber",
    "Meyer",
    "Wagner",
    "Becker",
    "Schulz",
    "Hoffmann",
    "Koch",
]
GIVEN = ["伟", "芳", "娜", "敏", "静", "丽", "强", "磊", "军", "洋", "勇"]
FAMILY = list("王李张刘陈杨赵黄周吴徐")


def chinese_id(number: int) -> str:
    from stdnum.iso7064 import mod_11_2

    body = f"110105199{number % 10}0{number % 9 + 1}1{number % 10}{number % 1000:03d}"
    return body + mod_11_2.calc_check_digit(body)


def german(rows: int = 240) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "Name": [f"{FIRST[i % 10]} {LAST[i % 11]}" for i in range(rows)],
            "Straße": [f"Hauptstraße {i % 40 + 1}" for i in range(rows)],
            "PLZ": [f"{10115 + i % 30}" for i in range(rows)],
            "Alter": [20 + i % 60 for i in range(rows)],
            "Geschlecht": ["m", "w"] * (rows // 2),
            "Diagnose": ["Grippe", "Asthma", "Krebs"] * (rows // 3),
            "Jahreseinkommen": [20_000 + 137 * i for i in range(rows)],
        },
    )


def chinese(rows: int = 240) -> pd.DataFrame:
    return pd.DataFrame(
        {
            "姓名": [FAMILY[i % 11] + GIVEN[i // 11 % 11] for i in range(rows)],
            "身份证号": [chinese_id(i) for i in range(rows)],
            "年龄": [20 + i % 60 for i in range(rows)],
            "城市": ["北京", "上海"] * (rows // 2),
            "诊断": ["感冒", "哮喘", "流感"] * (rows // 3),
        },
    )


@pytest.mark.parametrize(
    ("table", "out"), [(german, {"Name"}), (chinese, {"姓名", "身份证号"})]
)
def test_names_and_ids_are_left_out_of_the_schema_and_found_by_the_audit(
    table, out
) -> None:
    """120 full names would be proposed as public categories, an id number as a real
    number.
    """
    frame = table()
    schema = dp.suggest_schema(frame)
    left_out = {column.name for column in schema.excluded}
    assert out <= left_out
    assert out <= {finding.column for finding in find_identifiers(frame)}
    roles = {each.column: each.role for each in suggest_roles(frame)}
    assert all(roles[name] == "identifier" for name in out)


def test_roles_in_other_languages() -> None:
    """Alter, Geschlecht and Diagnose would be insensitive, incomes be dropped."""
    roles = {
        each.column: each.role
        for frame in (german(), chinese())
        for each in suggest_roles(frame)
    }
    for name in ("PLZ", "Alter", "Geschlecht", "年龄", "城市", "Straße"):
        assert roles[name] == "quasi-identifier", name
    for name in ("Diagnose", "Jahreseinkommen", "诊断"):
        assert roles[name] == "sensitive", name


@pytest.mark.parametrize("name", ["Einkommen", "revenu", "ingresos", "amount_in_euro"])
def test_amounts_are_no_keys(name: str) -> None:
    """A column of incomes, nearly all different, would be dropped as an identifier."""
    frame = pd.DataFrame({name: [12_345 + (i * 7_919) % 80_000 for i in range(500)]})
    assert frame[name].is_unique
    assert find_identifiers(frame) == []
    assert find_identifiers(pd.DataFrame({"key": range(1_000, 1_500)})) != []


@pytest.mark.parametrize(
    ("name", "values", "kind"),
    [
        ("Nachname", ["Müller", "Weiß"], "name of a person"),
        ("prénom", ["Zoé", "Ève"], "name of a person"),
        ("Kunde", ["Anna Müller", "Jörg Weiß"], "name of a person"),
        ("Kundennummer", ["K-17", "K-18"], "personal number"),
        ("病历号", ["A0017", "A0018"], "personal number"),
        ("电话", ["13800138000", "13900139000"], "phone number"),
        ("住址", ["北京市朝阳区1号", "上海市2号"], "address or place"),
        ("Geburtsdatum", ["19450731", "19610505"], "date"),
        ("Produktname", ["Apfel", "Birne"], None),
        ("filename", ["a.txt", "b.txt"], None),
        ("Kunde", ["ja", "nein"], None),
    ],
)
def test_kinds_by_name_in_several_languages(
    name: str, values: list[str], kind: str | None
) -> None:
    """A column of people would be published for want of an English header."""
    found = detect_identifier(name, values)
    assert (found.kind if found else None) == kind


def test_a_name_without_end_takes_no_time() -> None:
    """A header of ten thousand letters would hold the interpreter: only its beginning
    is looked at.
    """
    assert len(name_words("a" * 10_000)) <= 200


@pytest.mark.parametrize(
    "words", [("ja", "nein"), ("Oui", "Non"), ("Sí", "No"), ("是", "否"), ("Y", "N")]
)
def test_words_for_yes_and_no(words: tuple[str, str]) -> None:
    """An answer in another language would be a list of categories taken from the
    data.
    """
    frame = pd.DataFrame({"answer": [*words, words[0]] * 10})
    (column,) = dp.suggest_schema(frame).columns
    assert isinstance(column, dp.Boolean)
    assert (column.true_label, column.false_label) == words
    assert column.encode(frame["answer"])[:2].tolist() == [1, 0]
