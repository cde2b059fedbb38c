"""Catalogues that are whole, keep fields and terms, and promise what the English
sentences promise.
"""

from __future__ import annotations

import re
import string
from functools import cache
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog, Message
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po

ROOT = Path(__file__).resolve().parents[3]
LANGUAGES = sorted(
    path.parents[1].name
    for path in (ROOT / "workbench/language").glob("*/*/workbench.po")
)
TERMS = {
    row[0]: dict(zip(("de", "zh_Hans"), row[1:], strict=True))
    for line in (ROOT / "docs/languages.md").read_text(encoding="utf-8").splitlines()
    if len(row := [cell.strip() for cell in line.strip("|").split(" | ")]) == 3
}
OF_THE_FIELD = {
    "differential privacy": (
        r"differential privacy",
        "differential privacy",
        "差分隐私",
    ),
    "differentially private": (
        r"differentially private",
        "differenziell privat",
        "差分隐私",
    ),
    "quasi-identifier": (r"quasi-identifier", "quasi-identifikator", "准标识符"),
    "synthetic data": (r"synthetic data", "synthetische", "合成数据"),
    "synthetic table": (r"synthetic table", "synthetische", "合成表"),
    "marginal": (r"\bmarginals?\b", "randverteilung", "边际"),
    "histogram": (r"histogram", "histogramm", "直方图"),
    "ledger": (r"\bledger\b(?!\.key)", "budgetbuch", "账本"),
    "k-anonymity": (r"k-anonymity", "k-anonymität", "k-匿名"),
    "randomized response": (r"randomized response", "randomized response", "随机响应"),
    "information loss": (r"information loss", "informationsverlust", "信息损失"),
    "equivalence class": (r"equivalence class", "äquivalenzklasse", "等价类"),
    "microaggregation": (r"microaggregation", "mikroaggregation", "微聚集"),
    "total variation distance": (
        r"total variation distance",
        "totalvariationsabst",
        "总变差距离",
    ),
    "sensitive attribute": (r"sensitive attribute", "sensible", "敏感属性"),
    "re-identification": (r"re-identification", "reidentifizierung", "重标识"),
    "epsilon": (r"(?<!{)\bepsilon\b(?!})", "epsilon", "epsilon"),
}
"""Terms: how English says them, and what a translation must hold, in whatever
ending.
"""
PROMISES = {
    "Differentially private with {loss}.": ("ifferenziell privat", "差分隐私"),
    (
        "Limits what anybody can learn about whether one person is in the table. "
        "Protected change: {unit}."
    ): (
        "eine",
        "一个人|某人|某个人|任一个人",
    ),
    "Anything computed from this release alone is as safe as the release.": (
        "ebenso|genauso|so sicher",
        "同样|一样",
    ),
    "Not covered, because it was taken from the data itself: {facts}.": (
        "[Nn]icht",
        "不|未",
    ),
    "Not covered: other releases about the same people. Their losses add up.": (
        "[Nn]icht",
        "不|未",
    ),
    "Numbers with noise added, so that nobody can be found in them.": (
        "niemand",
        "没有人|无法|任何人|无人",
    ),
    "Internal: this report reads the original. Do not publish it.": (
        "nicht",
        "请勿|不要|勿|切勿",
    ),
    (
        "Drawn rows are invented: they follow the noisy counts, and none of them is a "
        "person."
    ): (
        "kein|niemand",
        "没有|不是|并非|都不",
    ),
}
"""Sentences that promise or warn, and what each translation must say."""


@cache
def catalogue(language: str) -> Catalog:
    """The messages of a language."""
    with (ROOT / f"workbench/language/{language}/LC_MESSAGES/workbench.po").open(
        "rb"
    ) as file:
        return read_po(file, locale=language)


@cache
def extracted() -> set[str | tuple[str, ...]]:
    """All messages that the program has now."""
    cfg = (ROOT / "workbench/language/babel.cfg").read_text(encoding="utf-8")
    names = dict(re.findall(r"^(\w+) = (\S+)$", cfg, re.MULTILINE))
    methods = [
        (path, names.get(name, name))
        for name, path in re.findall(r"^\[(\w+): (\S+)\]$", cfg, re.MULTILINE)
    ]
    return {
        message[2]
        for top in ("pages", "share", "workbench", "dpcore")
        for message in extract_from_dir(ROOT / top, methods)
    }


def translated(language: str) -> list[tuple[str, str]]:
    """Each English form with its translation; a plural gives a pair for each form."""
    pairs = []
    for message in catalogue(language):
        if message.id and message.string:
            one = (
                [(message.id, message.string)]
                if isinstance(message.id, str)
                else zip_forms(message)
            )
            pairs += [(source, target) for source, target in one if target]
    return pairs


def zip_forms(message: Message) -> list[tuple[str, str]]:
    """Pair the forms of a plural; a language of one form has that of many."""
    sources = message.id if len(message.string) > 1 else message.id[-1:]
    return list(zip(sources, message.string, strict=True))


def fields(text: str) -> list[tuple[str | None, str | None, str | None]] | int:
    """Names, formats and conversions of the fields of a message, whatever their
    order.
    """
    try:
        return sorted(
            (name, form, how or "")
            for _text, name, form, how in string.Formatter().parse(text)
            if name is not None
        )
    except ValueError:
        return text.count("{")


@pytest.mark.release
@pytest.mark.parametrize("language", LANGUAGES)
def test_every_message_is_translated(language: str) -> None:
    """A page would change into English in the middle of a sentence."""
    messages = [message for message in catalogue(language) if message.id]
    missing = [message.id for message in messages if not all(message.string or [""])]
    fuzzy = [message.id for message in messages if message.fuzzy]
    assert not missing, f"{len(missing)} without a translation, such as {missing[:3]}"
    assert not fuzzy, f"{len(fuzzy)} to be looked at again, such as {fuzzy[:3]}"


@pytest.mark.release
@pytest.mark.parametrize("language", LANGUAGES)
def test_catalogues_have_the_messages_of_now(language: str) -> None:
    """What a change of code says would stay English: run `make messages`."""
    known = {
        message.id if isinstance(message.id, str) else tuple(message.id)
        for message in catalogue(language)
        if message.id
    }
    spoken = {
        message if isinstance(message, str) else tuple(message)
        for message in extracted()
    }
    added = sorted(map(str, spoken - known))
    gone = sorted(map(str, known - spoken))
    assert not added, f"{len(added)} new messages, such as {added[:3]}"
    assert not gone, f"{len(gone)} messages that are gone, such as {gone[:3]}"


@pytest.mark.parametrize("language", LANGUAGES)
def test_fields_are_those_of_the_message(language: str) -> None:
    """A sentence would fail to be filled in, or lose its number."""
    assert [
        (source, target)
        for source, target in translated(language)
        if fields(source) != fields(target)
    ] == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_bold_words_end(language: str) -> None:
    """A page would show asterisks: Markdown ends bold words at no sign that a letter
    follows at once.
    """
    assert [
        target for _source, target in translated(language) if has_open_bold(target)
    ] == []
    assert has_open_bold("**得到：**每一列")
    assert not has_open_bold("**得到**：每一列，**{number} 列**。")


def has_open_bold(text: str) -> bool:
    """Whether bold words end with a sign, and a letter or a field follows at once."""
    parts = text.split("**")
    return any(
        re.search(r"[^\w}]$", inner) and re.match(r"[\w{]", rest)
        for inner, rest in zip(parts[1::2], parts[2::2], strict=False)
    )


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_term_is_translated_in_one_way(language: str) -> None:
    """A reader would take two words for two things."""
    place = {"de": 1, "zh_Hans": 2}[language]
    other = [
        (term, source, target)
        for term, words in OF_THE_FIELD.items()
        for source, target in translated(language)
        if re.search(words[0], source, re.IGNORECASE)
        and words[place] not in target.casefold().replace("\xad", "")
    ]
    assert other == []


@pytest.mark.parametrize("language", LANGUAGES)
def test_anonymous_is_said_only_where_it_is_meant(language: str) -> None:
    """What is de-identified, and still personal data, would be called anonymous."""
    word = {"de": "anonym", "zh_Hans": "匿名"}[language]
    assert [
        (source, target)
        for source, target in translated(language)
        if word in target.casefold() and "anonym" not in source.casefold()
    ] == []


@pytest.mark.release
@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("sentence", PROMISES)
def test_promises_are_as_strong_as_in_english(language: str, sentence: str) -> None:
    """A reader would trust a release for what it does not promise."""
    target = dict(translated(language)).get(sentence, "")
    assert re.search(PROMISES[sentence][LANGUAGES.index(language)], target), target


def test_terms_of_the_test_are_those_of_the_page() -> None:
    """The page of terms would say another word than the catalogues."""
    for term, (_pattern, german, chinese) in OF_THE_FIELD.items():
        row = next(row for name, row in TERMS.items() if re.search(rf"\b{term}", name))
        assert german[:8] in row["de"].casefold()
        assert chinese in row["zh_Hans"]
