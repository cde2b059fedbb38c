"""Columns that name people: headers in the languages of statistics offices, the shape of
full names, and telephone numbers that are not amounts.
"""

from __future__ import annotations

import random
import tomllib
from pathlib import Path

import pandas as pd
import pytest

import dpcore as dp
import dpcore.schema
from dpcore.risk.identifiers import find_identifiers
from dpcore.risk.roles import suggest_roles
from dpcore.schema.detector import detect_identifier, name_words

FIRST = [
    "Mary",
    "John",
    "Ann",
    "Peter",
    "Lucy",
    "Mark",
    "Jane",
    "Paul",
    "Rose",
    "Tom",
    "Kate",
    "Luke",
]
LAST = [
    "Smith",
    "Jones",
    "Brown",
    "Taylor",
    "Wilson",
    "Davies",
    "Evans",
    "Thomas",
    "Roberts",
    "Walker",
]
FULL = [f"{first} {last}" for first in FIRST for last in LAST]
INITIALS = [f"{first} {last[0]}. {last}" for first in FIRST for last in LAST]
TURNED = [f"{last}, {first}" for first in FIRST for last in LAST]

ENGLISH = {
    "name|Full Name|pt_name|PatName|NAME_OF_PATIENT|Client|Employee|Student|Contact": FULL,
    "Emergency contact|Next of kin|Mother|Father|Spouse|Guardian|Signature|Author": FULL,
    "Owner|Respondent|Participant|Subject|Applicant|Tenant|Physician|Teacher|who": INITIALS,
    "Last, First|Column1|guardian_2": TURNED,
    "lastname|last_name|lname|LName|last|surname|family_name|family|maiden_name": LAST,
    "firstname|fname|first|given_name|forename|christian name|middle|nickname": FIRST,
}


@pytest.mark.parametrize(
    ("header", "values"),
    [(header, ENGLISH[some]) for some in ENGLISH for header in some.split("|")],
)
def test_english_headers_of_names(header: str, values: list[str]) -> None:
    """A column called forename, or "Mary A. Smith" under Client, would be published in a
    table that is called 5-anonymous.
    """
    frame = pd.DataFrame({header: values * 2, "x": list("ab") * len(values)})
    assert suggest_roles(frame)[0].role == "identifier"
    assert header in {column.name for column in dp.suggest_schema(frame).excluded}


HEADERS = (
    "Vorname|Nachname|Patientenname|Familienname|prénom|nom_de_famille|Nombre|Apellidos|"
    "Nome|Cognome|Primeiro nome|Sobrenome|Nume|Prenume|Voornaam|Achternaam|Fornavn|"
    "Efternavn|Förnamn|Efternamn|fornamn|Etunimi|Sukunimi|Eesnimi|Perekonnanimi|Név|"
    "Keresztnév|Vezetéknév|Imię|Nazwisko|Imię i nazwisko|Jméno|Příjmení|PrijmeniPacienta|"
    "Meno|Priezvisko|Ime|Priimek|Prezime|Собствено име|Фамилия|Имя|ИмяПациента|ФИО|Ім'я|"
    "Прізвище|Vardas|Pavardė|Vārds|Uzvārds|Όνομα|Επώνυμο|ΟΝΟΜΑ|Ainm|Sloinne|Isem|Kunjom|"
    "Adı Soyadı|Ad|Nama|Nama Lengkap|Họ và tên|Tên|Meisjesnaam|Voorletters|الكنية"
)
SCRIPTS = {
    "姓名": ["王伟", "李娜", "张敏", "刘洋", "陈静", "赵磊"],
    "氏名": ["佐藤 花子", "鈴木 一郎", "高橋 健", "田中 愛", "伊藤 翔"],
    "患者": ["王伟", "李娜", "张敏", "刘洋", "陈静", "赵磊"],
    "성명": ["김민수", "이서연", "박지훈", "최유진", "정하늘"],
    "이름": ["민수", "서연", "지훈", "유진", "하늘"],
    "Tên bệnh nhân": ["Nguyễn Văn An", "Trần Thị Bình", "Lê Văn Cường", "Phạm Dung"],
    "Hausarzt": ["Anna Novak", "Peter Horvat", "Lucie Bianchi", "Tom Jansen"],
    "Encarregado de educação": ["Ana Silva", "Rui Costa", "Inês Lopes", "João Melo"],
    "성씨": ["김", "이", "박", "최", "정"],
    "اسم المريض": ["أحمد علي", "فاطمة حسن", "عمر خالد", "ليلى سعيد", "زينب محمد"],
    "पहला नाम": ["आरव", "अनन्या", "विवान", "दिया", "आदित्य"],
    "पिता": ["राम कुमार", "श्याम लाल", "मोहन दास", "सोहन सिंह", "गोपाल वर्मा"],
}


@pytest.mark.parametrize("header", HEADERS.split("|"))
def test_headers_of_names_in_other_languages(header: str) -> None:
    """Nazwisko and Imię would be published as they are."""
    found = detect_identifier(header, LAST)
    assert found is not None
    assert found.kind == "name of a person"


@pytest.mark.parametrize(("header", "values"), SCRIPTS.items())
def test_names_in_other_scripts(header: str, values: list[str]) -> None:
    """Words of scripts without blanks, or with vowel signs, would fall apart."""
    found = detect_identifier(header, values)
    assert found is not None
    assert found.kind == "name of a person"


def test_each_list_of_words_has_the_languages_of_the_offices() -> None:
    """A language would be lost from the data file without notice."""
    lists = tomllib.loads(
        (Path(dpcore.schema.__file__).parent / "people.toml").read_text("utf-8")
    )
    offices = (
        "bg cs da de el en es et fi fr ga hr hu it lt lv mt nl pl pt ro sk sl sv "
        "zh ja ko ar tr ru uk hi id vi"
    )
    assert set(offices.split()) <= set(lists["names"])


@pytest.mark.parametrize("header", ["remarks2", "Column1", "x", "поле"])
def test_many_full_names_are_a_finding_under_any_header(header: str) -> None:
    """Three hundred people's names would be taken for categories."""
    frame = pd.DataFrame({header: INITIALS, "age": range(120)})
    (finding,) = [
        finding for finding in find_identifiers(frame) if finding.column == header
    ]
    assert finding.kind == "full names"
    assert suggest_roles(frame)[0].role == "identifier"


@pytest.mark.parametrize(
    ("header", "values"),
    [
        ("region", [f"{one} {two}" for one in FIRST for two in ("Hill", "Ford")]),
        ("x", [f"{place} County" for place in LAST + FIRST]),
        ("x", [f"University of {place}" for place in LAST + FIRST]),
        ("x", [f"{first} eats {last}" for first in FIRST for last in LAST]),
        ("x", FULL[:19]),  # few categories
        ("x", [f"{first}{number}" for first in FIRST for number in range(9)]),
        ("product name", FULL),
        ("Gemeindename", LAST),
        ("Subject", ["Physics", "Chemistry", "Computer Science", "History"]),
        ("Employee", ["Full time", "Part time", "No"]),
        ("first", ["Yes", "No"]),
        ("last", [f"day {number}" for number in range(9)]),
        ("성별", ["남", "여"]),
        ("品名", ["りんご", "みかん"]),
    ],
)
def test_what_names_no_person(header: str, values: list[str]) -> None:
    """Places, products, subjects and answers would be called people."""
    found = detect_identifier(header, values)
    assert found is None or found.kind not in ("name of a person", "full names")


def test_a_known_column_keeps_its_role_whatever_its_values_look_like() -> None:
    """Jobs of two capitalized words would be dropped as names."""
    jobs = [f"{kind} {job}" for kind in LAST for job in ("Driver", "Nurse", "Cook")]
    for header, role in (("Beruf", "quasi-identifier"), ("therapy", "sensitive")):
        assert suggest_roles(pd.DataFrame({header: jobs}))[0].role == role


@pytest.mark.parametrize("sign", ["+", "00"])
def test_amounts_with_a_sign_are_no_telephone_numbers(sign: str) -> None:
    """A column of +1234.50 would be left out as telephone numbers."""
    drawn = random.Random(1)
    amounts = [f"{sign}{drawn.randint(1_000, 9_999_999)}.50" for _ in range(50)]
    phones = [f"{sign}49 30 {drawn.randint(100_000, 9_999_999)}" for _ in range(50)]
    assert detect_identifier("balance", amounts) is None
    assert (
        detect_identifier("balance", [text.replace(".", ",") for text in amounts])
        is None
    )
    assert (
        detect_identifier("balance", [f"{sign}{number}" for number in range(150, 200)])
        is None
    )
    found = detect_identifier("balance", phones)
    assert found is not None
    assert found.kind == "phone number"


def test_headers_of_telephone_numbers_in_other_languages() -> None:
    """A telephone number without a plus would be a number to be drawn."""
    for header in [
        "телефон",
        "電話",
        "전화번호",
        "Telefonas",
        "puhelin",
        "Τηλέφωνο",
        "هاتف",
        "मोबाइल",
    ]:
        found = detect_identifier(header, ["030 1234567", "040 7654321", "089 555333"])
        assert found is not None, header
        assert found.kind == "phone number", header


@pytest.mark.parametrize(
    ("headers", "value", "kind"),
    [
        (
            "PESEL|rodné číslo|isikukood|Henkilötunnus|OIB|ЕГН|ИНН|αμκα|CNP|kimlik no",
            "85010{}",
            "personal number",
        ),
        (
            "adres|Adresa|osoite|aadress|lakcím|διεύθυνση|адрес|住所|주소|alamat|पता",
            "Main {}",
            "address or place",
        ),
    ],
)
def test_numbers_and_addresses_in_other_languages(
    headers: str, value: str, kind: str
) -> None:
    """The number that a state gave to a person would be published."""
    for header in headers.split("|"):
        found = detect_identifier(
            header, [value.format(number) for number in range(100, 400)]
        )
        assert found is not None, header
        assert found.kind == kind, header


def test_words_of_a_name_keep_their_marks() -> None:
    """The vowel signs of Hindi, and decomposed accents, would part words."""
    assert name_words("पहला नाम") == "पहला नाम"
    assert name_words("Jme\u0301no") == "jméno"
    assert name_words("ИмяПациента") == "имя пациента"
