"""Tables made elsewhere, or anonymized, as far as they have cells of the schema."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction

import pandas as pd
import pytest

import dpcore as dp
from dpcore.anonymization import (
    KAnonymity,
    LocalRecoding,
    Mondrian,
    Plan,
    apply,
    suggest_hierarchy,
)
from dpcore.anonymization.methods import Method
from dpcore.evaluation.declared import fit_to_schema
from dpcore.evaluation.utility.similarity import measure_similarity
from dpcore.schema import Column
from tests.evaluation.people import SCHEMA, people
from tests.tiers import but_first
from workbench import samples

KNOWN = ("age", "sex", "ethnic_group", "education", "marital", "native_region")


def test_a_foreign_table_as_far_as_it_fits() -> None:
    """One column of strange values would keep a whole file from being compared."""
    frame = people(200, 1).assign(married="perhaps", extra=1)
    frame["age"] = [
        f"[{age // 10 * 10}, {age // 10 * 10 + 10})" for age in frame["age"]
    ]
    frame.loc[:19, "children"] = 99
    frame["city"] = frame["city"].where(frame.index >= 20, "Z")
    table = fit_to_schema(frame, SCHEMA)
    assert table.left_out == ("married",)
    assert table.rows_left_out == pytest.approx(0.1)
    assert table.spread
    assert list(table.frame.columns) == ["age", "city", "income", "children", "weight"]
    assert len(SCHEMA.encode(table.frame.assign(married="yes"))["age"]) == 180
    tens = table.frame["age"].astype(int) // 10
    assert tens.tolist() == (people(200, 1)["age"][20:] // 10).tolist()
    nothing = fit_to_schema(pd.DataFrame({"x": [1, 2]}), SCHEMA)
    assert (nothing.left_out, nothing.spread, list(nothing.frame.columns)) == (
        (),
        False,
        [],
    )


NUMBER = dp.Integer("x", low=0, high=9)
TEXT = dp.Categorical(
    "x", categories=("red", "blue", "grey"), missing=True, missing_tokens=("?",)
)
CODE = dp.Categorical("x", categories=("331", "332", "401"))
DAY = dp.Date("x", low="2001-01-01", high="2001-12-31", step="day")


@pytest.mark.parametrize(
    ("column", "label", "values"),
    [
        (NUMBER, "[2, 5)", "2 3 4"),
        (NUMBER, "[2, 5]", "2 3 4 5"),
        (NUMBER, "2-5", "2 3 4 5"),
        (NUMBER, "*", "0 1 2 3 4 5 6 7 8 9"),
        (TEXT, "{blue, red}", "blue red"),
        (TEXT, "{?, red}", "(missing) red"),
        (TEXT, "*", "red blue grey"),
        (CODE, "33*", "331 332"),
        (CODE, "[332, 500]", "332 401"),
        (
            DAY,
            "[2001-01-30, 2001-02-02]",
            "2001-01-30 2001-01-31 2001-02-01 2001-02-02",
        ),
    ],
)
def test_a_label_counts_as_each_of_its_values(
    column: Column, label: str, values: str
) -> None:
    """Rows of a generalized label would be left out, or all counted in the middle of an
    interval.
    """
    schema = dp.Schema(columns=(column,), unit=dp.PrivacyUnit(max_rows=1))
    table = fit_to_schema(pd.DataFrame({"x": [label] * 600}), schema)
    cells = Counter(column.labels[code] for code in schema.encode(table.frame)["x"])
    assert cells == dict.fromkeys(values.split(), 600 // len(values.split()))


def test_values_and_strange_texts_stay() -> None:
    """A declared category would be taken for a label, or a label of unknown meaning
    would be guessed.
    """
    own = dp.Categorical("x", categories=("{a, b}", "*", "a", "b"))
    schema = dp.Schema(columns=(own,), unit=dp.PrivacyUnit(max_rows=1))
    frame = pd.DataFrame({"x": ["{a, b}", "*", "a", "{a, c}"]})
    table = fit_to_schema(frame, schema)
    assert not table.spread
    assert table.frame["x"].tolist() == ["{a, b}", "*", "a"]


def expected_distance(
    column: Column, plan: Plan, original: pd.Series, labels: pd.Series
) -> float:
    """By fractions: each label adds to every leaf below it, found level by level, its
    even share.
    """
    tree = plan.hierarchies.get(column.name)
    own = original.astype(str)
    shares: Counter[str] = Counter()
    for label, rows in labels.astype(str).value_counts().items():
        leaves = [label]
        if tree is not None and label not in set(own):
            level = next(each for each in tree.levels if label in each)
            leaves = [
                leaf
                for leaf, above in zip(tree.values, level, strict=True)
                if above == label
            ]
        for leaf in leaves:
            shares[column.labels[column.encode(pd.Series([leaf]))[0]]] += Fraction(
                rows, len(leaves)
            )
    counts = Counter(column.labels[code] for code in column.encode(original))
    return float(
        sum(
            abs(shares[cell] / len(labels) - Fraction(counts[cell], len(own)))
            for cell in column.labels
        )
        / 2,
    )


@pytest.mark.parametrize("method", but_first(1, [LocalRecoding(), Mondrian()]))
def test_every_row_of_the_census_is_read(method: Method) -> None:
    """More than half of the rows would be left out, and the worst column would be that
    of the others.
    """
    frame = samples.census().head(8_000)
    schema = dp.Schema(
        columns=dp.suggest_schema(frame).columns, unit=dp.PrivacyUnit(max_rows=1)
    )
    plan = Plan(
        roles={
            name: "quasi-identifier" if name in KNOWN else "insensitive"
            for name in frame
        },
        hierarchies={name: suggest_hierarchy(frame[name]) for name in KNOWN},
        models=(KAnonymity(k=5),),
        method=method,
    )
    made = apply(frame, plan)
    table = fit_to_schema(made, schema, plan.hierarchies)
    assert (len(table.frame), table.rows_left_out, table.left_out) == (len(made), 0, ())
    report = measure_similarity(frame, table.frame, schema)
    if method == LocalRecoding():
        distances = {
            column.name: expected_distance(
                column, plan, frame[column.name], made[column.name]
            )
            for column in schema.columns
        }
        shown = {each.column: each.distance for each in report.columns}
        assert shown == pytest.approx(distances, abs=0.005)
        assert report.columns[0].column == max(
            distances, key=lambda name: distances[name]
        )
    assert report.columns[0].distance < 0.1
    assert fit_to_schema(made, schema, plan.hierarchies).frame.equals(table.frame)
