"""Names of textbooks in the visible text of pages, beside the thing itself."""

from __future__ import annotations

import re

import pytest

from tests.pages.tab import Tab
from workbench.language.messages import use_language
from workbench.language.textbook_names import TEXTBOOK_NAMES, textbook_names
from workbench.learn.lessons import LESSONS
from workbench.learn.texts import TEXTS, page_and_part

NAMES = {
    "lesson noise": ["Laplace mechanism", "neighboring data sets"],
    "lesson floats": ["sensitivity", "discrete Laplace mechanism"],
    "lesson sequential": ["sequential composition", "privacy budget"],
    "lesson parallel": ["parallel composition"],
    "lesson after": ["post-processing"],
    "lesson ranges": ["range query", "percent error"],
    "lesson columns": ["contingency table", "curse of dimensionality"],
    "lesson holes": [
        "l-diversity",
        "linkage attack",
        "homogeneity attack",
        "re-identification",
    ],
    "lesson local": ["local differential privacy", "maximum likelihood"],
    "lesson hiding": ["cell suppression", "complementary suppression", "differencing"],
    "lesson unit": ["user-level", "event-level", "group privacy"],
    "lesson classes": ["hierarchical clustering", "covariance matrix"],
    "histogram": ["histogram", "Laplace mechanism"],
    "marginals": ["contingency table", "crosstab", "two-way marginal"],
    "table": ["synthetic data", "synthetic representation"],
    "learning": ["feature-level microaggregation", "normalization"],
    "statistics": ["private mean", "clipping bounds"],
    "range query": ["range query"],
    "drawn rows": ["synthetic data", "sampling"],
    "audit": ["re-identification", "linkage attack"],
    "anonymize": ["k-anonymity", "generalization", "suppression", "outlier removal"],
    "local design": ["randomized response", "unary encoding"],
    "local answer": ["perturbation"],
    "local estimate": ["frequency estimation", "discretization", "stochastic rounding"],
    "ledger": ["privacy budget", "sequential composition"],
    "questions": ["relative error", "percent error"],
    "columns": ["total variation distance"],
    "pairs": ["correlation"],
    "utility": ["utility", "classification accuracy", "mean squared error"],
}
"""Names that the texts use, by the place on the pages where each is found."""


def test_every_place_names_what_the_texts_call_it() -> None:
    """Somebody who comes from a text would look for its word in vain."""
    assert set(NAMES) == set(TEXTBOOK_NAMES)
    for place, names in NAMES.items():
        known = TEXTBOOK_NAMES[place].split(", ")
        missing = [name for name in names if not any(name in each for each in known)]
        assert missing == [], place
    assert len({name for names in NAMES.values() for name in names}) >= 35


def check_shown(tab: Tab, *places: str) -> None:
    """Compare the captions of a page with the names of its places."""
    assert tab.errors == ""
    captions = [each.value for each in tab.at.caption]
    for place in places:
        assert textbook_names(place) in captions, place


def test_lessons_carry_their_names(app: Tab) -> None:
    """A lesson would be known by its plain title alone."""
    check_shown(app.go("learn"), *(f"lesson {key}" for key in LESSONS))


@pytest.mark.parametrize(
    "kind", ["histogram", "marginals", "table", "learning", "statistics"]
)
def test_kinds_of_releases_carry_their_names(app: Tab, kind: str) -> None:
    """A contingency table would be found under "A few columns together" only."""
    tab = app.open().go("synthesize")
    tab.at.button(key=f"kind-{kind}").click().run()
    check_shown(tab, kind)


def test_a_release_says_range_query_and_synthetic_data(app: Tab) -> None:
    """Whoever looks for a range query would not see that it can be asked here."""
    check_shown(app.open().go("synthesize").release(), "range query", "drawn rows")


@pytest.mark.parametrize("page", ["audit", "anonymize", "ledger"])
def test_pages_carry_their_names(app: Tab, page: str) -> None:
    """A page would be known by its plain title alone."""
    check_shown(app.open().go(page), page)


def test_local_answers_carry_their_names(app: Tab) -> None:
    """Unary encoding or maximum likelihood would be found nowhere."""
    tab = app.go("local_dp")
    check_shown(tab, "local design")
    for part, place in (
        ("Answer", "local answer"),
        ("Read the answers", "local estimate"),
    ):
        tab.at.segmented_control(key="local-part").set_value(part).run()
        check_shown(tab, place)


def test_comparisons_carry_their_names(app: Tab) -> None:
    """The percent error of the texts would be found under "Questions" only."""
    tab = app.open().go("synthesize")
    tab.at.button(key="kind-table").click().run()
    tab.release().go("evaluate")
    for part, place in (
        ("Columns", "columns"),
        ("Pairs of columns", "pairs"),
        ("Questions", "questions"),
        ("Learning", "utility"),
    ):
        tab.at.segmented_control(key="evaluate-tab").set_value(part).run()
        check_shown(tab, place)


def test_the_index_of_the_texts_is_on_learn(app: Tab) -> None:
    """An instructor with a chapter in hand would have to know the pages already."""
    tab = app.go("learn")
    assert "Where to find the topics of the textbooks" in [
        each.label for each in tab.at.expander
    ]
    tab.unfold("Where to find the topics")
    table = next(
        each.value for each in tab.at.dataframe if "place in the text" in each.value
    )
    shown = table.set_index("place in the text")["page and what to click"]
    assert shown["6.3, listing 6.11"] == "Synthesize: A few columns together"
    assert shown["sequential composition"] == "Ledger; Learn: 3 · Every answer costs"
    assert shown["6.3, listing 6.2"] == "Evaluate: Questions"
    assert len(table) == len(TEXTS) > 60


def test_the_index_speaks_the_language_of_the_pages() -> None:
    """A German or Chinese reader would look for English titles that no page has."""
    with use_language("zh_Hans"):
        placed = [page_and_part(place) for line in TEXTS for place in line["shown"]]
    untranslated = [each for each in placed if not re.search("[\u4e00-\u9fff]", each)]
    assert untranslated == []
    with use_language("de"):
        assert page_and_part("Evaluate, Columns").endswith(": Spalten")


CHINESE = {
    "串行组合": ("lesson sequential", "ledger"),
    "并行组合": ("lesson parallel",),
    "后处理": ("lesson after",),
    "拉普拉斯": ("lesson noise", "histogram"),
    "隐私预算": ("ledger",),
    "列联表": ("marginals", "lesson columns"),
    "合成数据": ("table", "drawn rows"),
    "重新识别": ("audit", "lesson holes"),
    "离散化": ("local estimate",),
    "似然": ("lesson local",),
    "微聚合": ("learning",),
    "归一化": ("learning",),
    "异常值": ("anonymize",),
    "随机响应": ("local design",),
}
"""Names as the translated texts write them, by the places where each is found."""


def test_chinese_pages_name_what_the_texts_call_it() -> None:
    """A student with the translated book would look for its words in vain."""
    with use_language("zh_Hans"):
        shown = {place: textbook_names(place) for place in TEXTBOOK_NAMES}
    missing = [
        (name, place)
        for name, places in CHINESE.items()
        for place in places
        if name not in shown[place]
    ]
    assert missing == []
