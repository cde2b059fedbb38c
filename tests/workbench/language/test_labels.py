"""Labels of cells, and what is asked about them, in the language of the reader."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.schema import Column
from workbench.evaluate.columns_view import column_chart
from workbench.language import labels
from workbench.language.messages import use_language
from workbench.report import asking, charts, explore, of_release
from workbench.report.document import render_page

ENGLISH_LABEL = re.compile(
    r"\(missing\)|\(other\)|\babove \d|\bbelow \d|\d to \d", re.ASCII
)
COLUMNS: tuple[Column, ...] = (
    dp.Real("gain", low=0, high=5_000, bin_width=1_000, special=(0.0, 1_530.5)),
    dp.Integer("age", low=0, high=99, bin_width=10, missing=True),
    dp.Categorical("area", categories=("10 to 20", "above 3"), other=True),
    dp.Boolean("smoker", missing=True),
    dp.Date("born", low="1990-01-01", high="1999-12-31", step="year"),
    dp.Time("seen", step=60),
    dp.Difference("left", start="born", unit="day", high=100),
)


@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.kind)
def test_english_labels_are_those_of_files(column: Column) -> None:
    """Pages and files would name one cell in two ways."""
    assert labels.cell_labels(column) == list(column.labels)


@pytest.mark.parametrize("language", ["de", "zh-Hans"])
@pytest.mark.parametrize("column", COLUMNS, ids=lambda column: column.kind)
def test_every_cell_has_its_own_translated_label(column: Column, language: str) -> None:
    """A chart would speak two languages, or draw two cells as one."""
    with use_language(language):
        said = labels.cell_labels(column)
    assert len(set(said)) == len(said) == column.size
    for label, translated in zip(column.labels, said, strict=True):
        if label in getattr(column, "categories", ()):
            assert translated == label  # values are nobody's to translate
        else:
            assert not ENGLISH_LABEL.search(translated)
            assert re.findall(r"\d+", translated) == re.findall(r"\d+", label)


def test_numbers_have_the_signs_of_the_language() -> None:
    """ "1530.5" reads as a date or a thousand in German."""
    with use_language("de"):
        said = labels.cell_labels(COLUMNS[0])
        assert said[0] == "0"
        assert said[1] == "über 0 bis 1000"
        assert said[3:5] == ["1530,5", "über 1530,5 bis 2000"]
        assert labels.from_words("above 1530.5") == "über 1530,5"
        assert labels.below_words("above 1530.5") == "bis 1530,5"


def test_a_range_beside_a_special_value_reads_well() -> None:
    """ "from above 0" and "below above 0" are no words."""
    assert labels.from_words("above 0") == "above 0"
    assert labels.below_words("above 0") == "up to 0"
    assert (
        labels.range_words("gain", "above 0", 2_000.0) == "gain above 0 and below 2000"
    )
    assert labels.range_words("gain", 0.0, "above 0") == "gain from 0 and up to 0"
    assert labels.range_words("gain", 0.0, 2_000.0) == "gain from 0 to below 2000"


@pytest.fixture(scope="module")
def release() -> dp.Release:
    """A release with cells of every kind that has a name."""
    rng = np.random.default_rng(5)
    frame = pd.DataFrame(
        {
            "gain": np.where(rng.random(900) < 0.5, 0.0, rng.uniform(0, 5_000, 900)),
            "age": pd.array(rng.integers(0, 99, 900), dtype="Int64"),
            "area": rng.choice(["10 to 20", "above 3", "elsewhere"], 900),
        }
    )
    frame.loc[:200, "age"] = pd.NA
    schema = dp.Schema(columns=COLUMNS[:3], unit=dp.PrivacyUnit(max_rows=1))
    recipe = dp.Marginals(cliques=(("gain",), ("age",), ("area",), ("age", "area")))
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=9), ledger=dp.MemoryLedger()
    )
    return curator.run(recipe, dp.PureDP(epsilon=9))


def _own_labels(page: str) -> list[str]:
    """Return English labels that people see on a page and are no value of the table."""
    seen = re.sub(r'value="[^"]*"|10 to 20|above 3', "", page)
    return ENGLISH_LABEL.findall(seen)


@pytest.mark.parametrize("language", ["de", "zh-Hans"])
def test_a_whole_page_speaks_one_language(release: dp.Release, language: str) -> None:
    """Charts, tables, sentences and the form of a shared page, and the page to explore."""
    with use_language(language):
        document = of_release.document(release)
        pages = [
            render_page(document).html(asking.question_form(release, "column=0")),
            render_page(document).html(asking.question_form(release, "column=1")),
            explore.interactive_section(release),
        ]
    assert [_own_labels(page) for page in pages] == [[], [], []]


def test_the_twin_in_english_is_found(release: dp.Release) -> None:
    """The search of the test above finds what it looks for."""
    found = _own_labels(render_page(of_release.document(release)).html())
    assert {"(missing)", "(other)", "above 0"} <= set(found)


def test_charts_speak_the_language(release: dp.Release) -> None:
    """Tooltips and the table beside a chart hold the same labels."""
    with use_language("de"):
        for name in ("gain", "age", "area"):
            (said,), counts = labels.chart_cells(release, release.answer((name,)))
            drawn = charts.column_bars(release.schema.column(name), said, counts)
            assert _own_labels(drawn.spec.to_json()) == []
            column = release.schema.column(name)
            judged = column_chart(
                {"x": np.ones(column.size)}, column=column, shares=False
            )
            assert _own_labels(judged.spec.to_json()) == []


@pytest.mark.parametrize("language", ["en", "de", "zh-Hans"])
def test_every_offered_bound_can_be_asked_for(
    release: dp.Release, language: str
) -> None:
    """The form offered bounds such as "above 0", and refused them when asked."""
    with use_language(language):
        form = asking.question_form(release, "column=0")
        offered = re.findall(r'<option value="((?:from|below)[^"]+)"', form)
        assert any("above" in value for value in offered)
        for value in offered:
            key, _sign, bound = value.partition("=")
            answer = asking.question_form(release, f"q={key}%3D{bound}")
            assert 'role="status"' in answer
            assert 'role="alert"' not in answer


def test_a_typed_category_is_found_by_its_name_on_the_page() -> None:
    """A column of many categories has a field, and the page names its cells."""
    column = dp.Categorical(
        "area", categories=tuple(f"a{number}" for number in range(80)), other=True
    )
    with use_language("de"):
        typed = asking.ColumnInputs(
            number=0, column=column, typed_categories=["(andere)"], ends=("", "")
        )
        assert typed.condition() == (["(other)"], "area: (andere)")
