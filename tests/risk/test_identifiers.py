from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpcore.errors import SchemaError
from dpcore.risk.identifiers import find_identifiers
from dpcore.schema.detector import _KINDS

# published examples of the issuing authorities and standards, of nobody
VALID = {
    "IBAN": [
        "GB82 WEST 1234 5698 7654 32",
        "DE89370400440532013000",
        "FR1420041010050500013M02606",
    ],
    "payment card number": [
        "4111 1111 1111 1111",
        "5500-0000-0000-0004",
        "378282246310005",
    ],
    "German Steuer-ID": ["86095742719", "47 036 892 816", "65929970489"],
    "NIR": ["255081416802538", "2 55 08 14 168 025 38"],
    "DNI": ["12345678Z", "X1234567L", "00000000-T"],
    "Italian codice fiscale": ["RSSMRA85T10A562S", "rss mra 85t10 a562s"],
    "Swedish personnummer": ["811218-9876", "19811218-9876", "8112189876"],
    "Chinese resident id": ["11010519491231002X", "440524188001010014"],
}


CHECKS = {kind.name: kind.is_valid for kind in _KINDS if kind.name in VALID}


@pytest.mark.parametrize("kind", VALID)
def test_published_examples_pass_and_each_changed_last_digit_fails(kind: str) -> None:
    """Broken: a valid number is not recognized, or the check digit is not looked at."""
    check = CHECKS[kind]
    for text in VALID[kind]:
        assert check(text)
        others = "0123456789" if text[-1].isdigit() else "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
        changed = [text[:-1] + other for other in others if other != text[-1].upper()]
        assert not any(check(other) for other in changed)


@pytest.mark.parametrize("kind", VALID)
def test_other_texts_fail(kind: str) -> None:
    """Broken: words, short numbers or another country's numbers pass."""
    for text in ("", "abc", "12345", "0" * 11, "0" * 16, "٣" * 11, "Ångström", "1e5"):
        assert not CHECKS[kind](text)


SAMPLES = {
    "e-mail": (
        "contact",
        ["a.b@example.org", "x@mail.example.com", "n+1@example.co.uk"],
    ),
    "URL": (
        "link",
        ["https://example.org/a?b=1", "www.example.org/x", "http://example.com"],
    ),
    "IP address": ("host", ["192.0.2.1", "198.51.100.255", "2001:db8::1"]),
    "IBAN": ("acct", VALID["IBAN"]),
    "payment card number": ("card", VALID["payment card number"]),
    "German Steuer-ID": ("c1", VALID["German Steuer-ID"]),
    "NIR": ("c2", VALID["NIR"]),
    "DNI": ("c3", VALID["DNI"]),
    "Italian codice fiscale": ("c4", VALID["Italian codice fiscale"][:1]),
    "Swedish personnummer": ("c5", VALID["Swedish personnummer"]),
    "Chinese resident id": ("c6", VALID["Chinese resident id"]),
    "NINO": ("c7", ["AB 12 34 56 C", "JG103759A", "ab123456d"]),
    "SSN": ("c8", ["078-05-1120", "219-09-9999", "457-55-5462"]),
    "date": (
        "when",
        [
            "1945-07-31",
            "31.12.1999",
            "12/31/1999",
            "5 May 1961",
            "1945-07-31T12:00:00Z",
        ],
    ),
    "phone number": (
        "contact_no",
        ["+44 20 7946 0958", "(202) 555-0143", "202-555-0143", "+49 30 901820"],
    ),
    "postal code": (
        "zip_code",
        ["33617", "02138-1234", "SW1A 1AA", "K1A 0B1", "1012 AB"],
    ),
    "name of a person": (
        "PatientName",
        ["Ada Lovelace", "Grace Hopper", "Ørsted, H. C.", "O'Neil"],
    ),
    "address or place": (
        "home_address",
        ["1 Main St", "Hauptstraße 5", "10 Downing Street"],
    ),
    "personal number": ("patient_id", ["P-0001", "P-0002", "P-0002"]),
}


@pytest.mark.parametrize("kind", SAMPLES)
def test_each_kind_is_found(kind: str) -> None:
    """SEEDS E8: a column of this kind goes unnoticed, is taken for another, or the
    reason shows a value.
    """
    name, values = SAMPLES[kind]
    found = find_identifiers(pd.DataFrame({"group": ["x"] * len(values), name: values}))
    assert [(finding.column, finding.kind) for finding in found] == [(name, kind)]
    assert found[0].share >= 0.8
    assert not any(value in found[0].reason for value in values)


def test_types_other_than_text() -> None:
    """Broken: dates of the type date, or zip codes that were read as numbers, go
    unnoticed.
    """
    frame = pd.DataFrame(
        {
            "seen": pd.to_datetime(["2001-02-03", "2004-05-06"]),
            "zip": [33617, 2138],
            "birthday": [19450731, 19610505],
        },
    )
    assert [found.kind for found in find_identifiers(frame)] == [
        "date",
        "postal code",
        "date",
    ]


def test_harmless_columns_are_left_alone() -> None:
    """Broken: ages, amounts, categories or measurements are called identifiers."""
    random = np.random.default_rng(0)
    frame = pd.DataFrame(
        {
            "age": random.integers(17, 90, 500),
            "income": random.integers(1_000, 9_999, 500),
            "weight": random.normal(70, 10, 500),
            "time": ["12:30:45"] * 500,
            "country_name": random.choice(["Norway", "Chile"], 500),
            "empty": [None] * 500,
            "suppressed": ["*"] * 500,
            "score": random.integers(10_000, 99_999, 500) // 10_000 * 11_111,
        },
    )
    assert find_identifiers(frame) == []


def test_nearly_unique_values() -> None:
    """Broken: a key of unknown shape goes unnoticed; few rows or fractions are called
    keys.
    """
    codes = [f"k{i:04d}z" for i in range(100)]
    (found,) = find_identifiers(pd.DataFrame({"ref": codes[:96] + ["same"] * 4}))
    assert (found.kind, found.share) == ("unique values", 0.96)
    assert find_identifiers(pd.DataFrame({"ref": codes[:9]})) == []


@pytest.mark.shared
def test_adult_has_no_identifier(shared) -> None:
    """Broken: a false alarm on a census table without identifiers."""
    assert find_identifiers(pd.read_csv(shared / "data/adult.csv")) == []


def test_a_table_without_rows_is_refused() -> None:
    """Broken: no rows count as no identifiers."""
    with pytest.raises(SchemaError):
        find_identifiers(pd.DataFrame({"a": []}))
