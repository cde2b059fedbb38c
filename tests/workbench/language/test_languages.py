"""Which language a visitor gets, and how it writes numbers, days and lists."""

from __future__ import annotations

from typing import Any

import pytest

from dpcore.anonymization.closeness import TCloseness
from dpcore.anonymization.models import (
    AverageRisk,
    BetaLikeness,
    DeltaPresence,
    DistinctL,
    EntropyL,
    KAnonymity,
    KMap,
    RecursiveCL,
)
from dpcore.errors import ParameterError
from dpcore.schema import PrivacyUnit
from dpcore.text import Text
from tests.pages.test_pseudo_locale import Pseudo
from workbench.language import messages, wording
from workbench.language.catalogues import choose_language, language_of, languages
from workbench.language.messages import use_language


def test_languages_have_their_own_names() -> None:
    """Somebody who reads no English would not find their language in the switch."""
    assert languages() == {"en": "English", "de": "Deutsch", "zh-Hans": "中文"}


@pytest.mark.parametrize(
    ("code", "spoken"),
    [
        ("zh", "zh-Hans"),
        ("zh-CN", "zh-Hans"),
        ("zh-Hans", "zh-Hans"),
        ("zh_CN.UTF-8", "zh-Hans"),
        ("de-AT", "de"),
        ("de_DE.UTF-8", "de"),
        ("EN-us", "en"),
        ("fr", None),
        ("C.UTF-8", None),
        ("../../etc", None),
        ("", None),
    ],
)
def test_codes_of_browsers_and_shells_are_understood(
    code: str, spoken: str | None
) -> None:
    """A browser in Chinese would get English, as its code is not the name of the
    catalogue.
    """
    assert language_of(code) == spoken


@pytest.mark.parametrize(
    ("accepted", "spoken"),
    [
        ("de-DE,de;q=0.9,en;q=0.8", "de"),
        ("en;q=0.5, zh-CN", "zh-Hans"),
        ("fr-FR, fr;q=0.9, de;q=0.3, en;q=0.2", "de"),
        ("fr", "en"),
        ("", "en"),
        ("*;q=0.1, ;;q=,,", "en"),
        ("de;q=0.5, zh;q=0.50001", "zh-Hans"),
    ],
)
def test_the_most_wanted_language_is_spoken(accepted: str, spoken: str) -> None:
    """A visitor would get a language that they know less well than another."""
    assert choose_language(None, accepted) == spoken


def test_an_address_goes_before_the_browser() -> None:
    """A link made in Chinese would be read in the language of whoever opens it."""
    assert choose_language("zh-Hans", "de") == "zh-Hans"
    assert choose_language("xx", "de") == "de"
    assert choose_language(None, "") == "en"


NUMBERS = {
    "en": (
        "1,234.50",
        "12,345",
        "0.00422",
        "5.0\u202f%",
        "2\u202f%",
        "1.5e-09",
        "a, b and c",
        "a, b",
    ),
    "de": (
        "1.234,50",
        "12.345",
        "0,00422",
        "5,0\u202f%",
        "2\u202f%",
        "1,5e-09",
        "a, b und c",
        "a, b",
    ),
    "zh-Hans": (
        "1,234.50",
        "12,345",
        "0.00422",
        "5.0%",
        "2%",
        "1.5e-09",
        "a、b和c",
        "a、b",
    ),
}
DAYS = {
    "en": "2026-11-23 09:05",
    "de": "23.11.2026 09:05",
    "zh-Hans": "2026年11月23日 09:05",
}


@pytest.mark.parametrize("code", NUMBERS)
def test_numbers_are_written_as_the_language_writes_them(code: str) -> None:
    """1.234 would be read as a bit more than one, or as a thousand."""
    with use_language(code):
        message = messages.Sentence("{a:,.2f}|{b}|{c}|{share:.1%}|{limit}|{delta:g}")
        fields = {
            "b": wording.whole_number_text(12345),
            "c": wording.number(0.004216),
            "limit": wording.limit_words(0.02),
        }
        written = message.format(a=1234.5, share=0.05, delta=1.5e-9, **fields).split(
            "|"
        )
        lists = [messages.join(["a", "b", "c"]), messages.join_with_commas(["a", "b"])]
        assert (*written, *lists) == NUMBERS[code]
        assert messages.minute("2026-11-23T09:05:07.123456+00:00") == DAYS[code]


@pytest.mark.parametrize(
    ("number", "words"),
    [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1000, "1,000 rows")],
)
def test_a_number_of_things_takes_its_form(number: int, words: str) -> None:
    """The pages would speak of "1 rows"."""
    sentence = Text("{rows:,} row", many="{rows:,} rows", rows=number)
    assert sentence == words
    with use_language("en"):
        assert messages.translate(sentence) == words


def test_shares_in_charts_follow() -> None:
    """Axes would write numbers in another way than the sentences beside them."""
    with use_language("de"):
        assert messages.number_signs()["decimal"] == ","
        assert messages.number_signs()["thousands"] == "."
    with use_language("zh-Hans"):
        assert messages.number_signs()["percent"] == "%"


def test_one_request_does_not_change_the_language_of_another() -> None:
    """A visitor would get the language of whoever was answered before them."""
    with use_language("de"):
        with use_language("zh-Hans"):
            assert messages.language_code() == "zh-Hans"
        assert messages.language_code() == "de"
    assert messages.language_code() == "en"


def test_errors_without_fields_are_said_as_they_are() -> None:
    """A message with braces of its own would fail to be shown."""
    with use_language("de"):
        assert messages.problem_and_remedy(ParameterError("a {b", remedy="")) == (
            "a {b",
            "",
        )


def test_every_unit_and_model_of_a_guarantee_can_be_translated() -> None:
    """The promise on a page behind a link would say in English whom it protects."""
    facts: list[dict[str, Any]] = [
        {},
        {"id_column": "id"},
        {"id_column": "id", "from_data": True},
        {"id_column": "id", "found": "1/20"},
    ]
    units = [PrivacyUnit(max_rows=rows, **each) for rows in (1, 3) for each in facts]
    models = [
        KAnonymity(k=5),
        KMap(k=3),
        DeltaPresence(lowest=0.1, highest=0.5),
        DistinctL(column="income", l=2),
        EntropyL(column="income", l=2.5),
        RecursiveCL(column="income", c=2.0, l=3),
        TCloseness(column="income", t=0.2),
        BetaLikeness(column="income", beta=2.0),
        AverageRisk(most=0.1),
    ]
    known = {"de": Pseudo()}
    with pytest.MonkeyPatch.context() as patch, use_language("de"):
        patch.setattr(messages, "catalogue", known.__getitem__)
        for each in [*units, *models]:
            assert messages.translate_stored(str(each)).startswith("⟦"), each
            assert messages.translate_stored(str(each)).strip("⟦⟧") == str(each)
    assert (
        messages.translate_stored("add or remove one person (<b>)")
        == "add or remove one person (<b>)"
    )


@pytest.mark.parametrize(
    ("code", "text", "number"),
    [
        ("en", "1,234.5", 1234.5),
        ("de", "1.234,5", 1234.5),
        ("de", "0,5", 0.5),
        ("de", "0.5", 0.5),
        ("zh", "1,200", 1200),
    ],
)
def test_typed_numbers_are_read_as_they_are_written(
    code: str, text: str, number: float
) -> None:
    """A German reader who asks for 0,5 would be answered for 5."""
    with use_language(code):
        assert messages.parse_number(text) == number
