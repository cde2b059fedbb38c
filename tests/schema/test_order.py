"""The order of categories: bands, words with an order, and what a file says of it."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest

import dpcore as dp
from dpcore.io.read import read_table
from dpcore.schema.column import Categorical
from dpcore.schema.order import order_labels


def proposed(values: object, **attrs: object) -> Categorical:
    frame = pd.DataFrame({"x": values})
    frame.attrs.update(attrs)
    (column,) = dp.suggest_schema(frame).columns
    assert isinstance(column, Categorical)
    return column


@pytest.mark.parametrize(
    "ordered",
    [
        "0-4|5-9|10-14|85+",
        "<5|5-9|10-14",
        "under 18|18 to 24|25 to 34|65 and over",
        "unter 5|5 bis 9|10 bis 14|ab 15",
        "0-4 years|5-9 years|10-14 years",
        "$0-$9,999|$10,000-$19,999|$20,000+",
        "[0,5)|[5,10)|[10,15)",
        "Jan|Feb|Sep|Dec",
        "Montag|Dienstag|Sonntag",
        "周一|周二|周日",
        "S|M|L|XL",
        "low|medium|high",
        "Low|High",
        "strongly disagree|disagree|neutral|agree",
    ],
)
def test_bands_and_words_keep_their_order(ordered: str) -> None:
    """5-9 would stand behind 10-14, and high before low."""
    labels = ordered.split("|")
    column = proposed(sorted(labels) * 20)
    assert list(column.categories) == labels
    assert column.ordered
    assert set(column.from_data) >= {"kind", "categories", "ordered"}


@pytest.mark.parametrize("labels", ["A1|B2|C3", "M|F|S", "red|green|blue", "1a|2b|x"])
def test_other_labels_have_no_order(labels: str) -> None:
    """Codes would be taken for bands, or sexes for sizes."""
    assert order_labels(labels.split("|")) is None
    assert not proposed(labels.split("|") * 20).ordered


def test_one_row_changes_the_place_of_no_other_label() -> None:
    """One person's answer would move those of all others."""
    labels = ["10-14", "0-4", "5-9", "85+"]
    for new in ("15-19", "2-3", "<1", "40"):
        more = order_labels([*labels, new])
        assert more is not None
        assert tuple(label for label in more if label != new) == order_labels(labels)


def test_ordered_categories_of_pandas() -> None:
    """lo, mid and hi would be sorted as texts, and an unused one be missed."""
    levels = pd.CategoricalDtype(["lo", "mid", "hi", "top"], ordered=True)
    column = proposed(pd.Series(["hi", "lo", "mid"] * 20, dtype=levels))
    assert column.categories == ("lo", "mid", "hi", "top")
    assert column.ordered
    loose = pd.CategoricalDtype(["mid", "hi", "lo"])
    column = proposed(pd.Series(["hi", "lo", "mid"] * 20, dtype=loose))
    assert column.categories == ("hi", "lo", "mid")  # its order means nothing
    assert not column.ordered


def test_ordered_dictionaries_of_parquet() -> None:
    """The order would be lost on the way through a file."""
    levels = pd.CategoricalDtype(["lo", "mid", "hi"], ordered=True)
    out = io.BytesIO()
    pd.DataFrame({"x": pd.Series(["hi", "lo", "mid"] * 20, dtype=levels)}).to_parquet(
        out
    )
    frame = read_table(out.getvalue(), "x.parquet").frame
    (column,) = dp.suggest_schema(frame).columns
    assert isinstance(column, Categorical)
    assert column.categories == ("lo", "mid", "hi")
    assert column.ordered


@pytest.mark.parametrize("first", ["strong", "mild"])
def test_an_order_that_no_file_declares_is_not_that_of_its_first_row(
    first: str,
) -> None:
    """Who stands first would decide the order of labels, called that of the file."""
    values = [first, *["mild", "mid-level", "strong"] * 100]
    scale = ["none", "mild", "mid-level", "strong"]
    frame = pd.DataFrame({"pain": pd.Categorical(values, scale, ordered=True)})
    file = io.BytesIO()
    frame.to_parquet(file, use_dictionary=False)
    read = read_table(file.getvalue(), "x.parquet").frame
    by_appearance = pd.Categorical(values, list(dict.fromkeys(values)))
    for table in (read, pd.DataFrame({"pain": by_appearance})):
        pain = dp.suggest_schema(table).column("pain")
        assert isinstance(pain, Categorical)
        assert pain.categories == ("mid-level", "mild", "strong")
        assert not pain.ordered
    # twin: with a dictionary the file does declare it
    file = io.BytesIO()
    frame.to_parquet(file, row_group_size=50)
    read = read_table(file.getvalue(), "x.parquet").frame
    assert dp.suggest_schema(read).column("pain").labels[:4] == tuple(scale)


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_codes_of_spss_and_stata_order_their_labels(
    tmp_path: Path, ending: str
) -> None:
    """Good would stand before poor, and a scale with labels at its ends would become
    2, 3, ..., always, never.
    """
    import pyreadstat

    frame = pd.DataFrame(
        {"health": [1, 2, 3, 1] * 15, "scale": [1, 7, 4, 99] * 15, "y": range(60)}
    ).astype(float)
    labels = {
        "health": {1: "poor", 2: "middling", 3: "best"},
        "scale": {1: "never", 7: "always", 99: "no answer"},
    }
    file = tmp_path / f"x.{ending}"
    if ending == "sav":
        pyreadstat.write_sav(
            frame,
            str(file),
            variable_value_labels=labels,
            variable_measure={"health": "ordinal", "scale": "nominal", "y": "scale"},
        )
    else:
        whole = frame.astype(int)  # Stata labels whole numbers alone
        pyreadstat.write_dta(whole, str(file), variable_value_labels=labels)
    read = read_table(file.read_bytes(), file.name).frame
    schema = dp.suggest_schema(read)
    health = schema.column("health")
    assert isinstance(health, Categorical)
    assert health.categories == ("poor", "middling", "best")
    assert health.ordered == (ending == "sav")
    scale = schema.column("scale")
    assert isinstance(scale, dp.Integer)
    assert (scale.low, scale.high) == (1, 7)
