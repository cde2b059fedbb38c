"""Tables made elsewhere, or anonymized, as far as they have cells of the schema."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.optimize import linprog

import dpcore as dp
from dpcore.anonymization import (
    CellSuppression,
    FullDomain,
    KAnonymity,
    LocalRecoding,
    Mondrian,
    Plan,
    apply,
    suggest_hierarchy,
)
from dpcore.anonymization.methods import Method
from dpcore.evaluation._records import Codes
from dpcore.evaluation.declared import (
    LabeledColumn,
    LabeledRows,
    fit_to_schema,
    label_meanings,
)
from dpcore.evaluation.utility.similarity import measure_similarity
from dpcore.io import read_table
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
    assert table.left_out_columns == ("married",)
    assert table.left_out_row_share == pytest.approx(0.1)
    assert table.has_spread_labels
    assert list(table.frame.columns) == ["age", "city", "income", "children", "weight"]
    assert len(SCHEMA.encode(table.frame.assign(married="yes"))["age"]) == 180
    tens = table.frame["age"].astype(int) // 10
    assert tens.tolist() == (people(200, 1)["age"][20:] // 10).tolist()
    nothing = fit_to_schema(pd.DataFrame({"x": [1, 2]}), SCHEMA)
    assert (
        nothing.left_out_columns,
        nothing.has_spread_labels,
        list(nothing.frame.columns),
    ) == (
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
    assert not table.has_spread_labels
    assert table.frame["x"].tolist() == ["{a, b}", "*", "a"]


def expected_distance(
    column: Column, plan: Plan, original: pd.Series, labels: pd.Series
) -> float:
    """By fractions: each label adds its even share to every number that it names, or to
    every leaf below it, found level by level.
    """
    tree = plan.hierarchies.get(column.name)
    own = original.astype(str)
    shares: Counter[str] = Counter()
    for label, rows in labels.astype(str).value_counts().items():
        leaves = [label]
        ends = re.fullmatch(r"(\d+)-(\d+)", str(label))
        if isinstance(column, dp.Integer) and (ends or label == "*"):
            low, high = (column.low, column.high)
            if ends:
                low, high = int(ends[1]), int(ends[2])
            leaves = [str(number) for number in range(int(low), int(high) + 1)]
        elif tree is not None and label not in set(own):
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


def schema_and_plan(frame: pd.DataFrame, method: Method) -> tuple[dp.Schema, Plan]:
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
    return schema, plan


@pytest.mark.parametrize("method", but_first(1, [LocalRecoding(), Mondrian()]))
def test_every_row_of_the_census_is_read(method: Method) -> None:
    """More than half of the rows would be left out, and the worst column would be that
    of the others.
    """
    frame = samples.census().head(8_000)
    schema, plan = schema_and_plan(frame, method)
    made = apply(frame, plan)
    table = fit_to_schema(made, schema, label_meanings(plan.hierarchies))
    assert (len(table.frame), table.left_out_row_share, table.left_out_columns) == (
        len(made),
        0,
        (),
    )
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
    assert fit_to_schema(made, schema, label_meanings(plan.hierarchies)).frame.equals(
        table.frame
    )


def least_by_linear_program(
    original: Codes, own: Codes, labels: Sequence[tuple[int, ...]]
) -> float:
    """Choose the share of each label's rows in each of its cells; a row of a label may
    be in several of them in part.
    """
    rows = own.sum() + len(labels)
    cells = len(own)
    shares = [(place, cell) for place, label in enumerate(labels) for cell in label]
    # gaps come after the shares, one a cell
    cost = np.concatenate([np.zeros(len(shares)), np.full(cells, 0.5)])
    adds = np.array([[cell == at for _, cell in shares] for at in range(cells)])
    gap = own / rows - original / original.sum()
    limits = [
        np.hstack([sign * adds.reshape(cells, -1) / rows, -np.eye(cells)])
        for sign in (1, -1)
    ]
    once = [[place == row for place, _ in shares] for row in range(len(labels))]
    found = linprog(
        cost,
        A_ub=np.vstack(limits),
        b_ub=np.concatenate([-gap, gap]),
        A_eq=np.hstack([np.array(once, float), np.zeros((len(labels), cells))]),
        b_eq=np.ones(len(labels)),
    )
    return float(found.fun)


def test_wrong_detail_is_what_no_choice_of_values_takes_away() -> None:
    """Lost detail would be called wrong, or wrong detail lost."""
    rng = np.random.default_rng(5)
    for _table in range(200):
        cells = int(rng.integers(2, 5))
        original = rng.integers(0, 6, cells) + (np.arange(cells) == 0)
        own = rng.integers(0, 4, cells)
        labels = [
            tuple(np.flatnonzero(rng.random(cells) < 0.6).tolist()) or (0,)
            for _row in range(int(rng.integers(1, 6)))
        ]
        together = Counter(labels)
        column = LabeledColumn(
            own_counts=own,
            labels=tuple(
                LabeledRows(label=str(place), rows=count, cells=np.array(label))
                for place, (label, count) in enumerate(together.items())
            ),
        )
        assert column.least_distance(original) == pytest.approx(
            least_by_linear_program(original, own, labels), abs=1e-7
        )


METHODS = [FullDomain(), LocalRecoding(), Mondrian(), CellSuppression()]


@pytest.mark.parametrize("method", METHODS, ids=lambda method: str(method.kind))
def test_a_file_is_read_as_the_table_that_it_was_written_from(method: Method) -> None:
    """The same table would have two verdicts, by the way in which it came."""
    frame = samples.census().head(1_000)
    schema, plan = schema_and_plan(frame, method)
    made = apply(frame, plan)
    said = label_meanings(plan.hierarchies)
    here = fit_to_schema(made, schema, said)
    shuffled = made.sample(frac=1, random_state=3)
    read = read_table(shuffled.to_csv(index=False).encode(), "made.csv").frame
    there = fit_to_schema(read, schema, said)
    assert (here.left_out_row_share, here.unknown_row_share) == (0, 0)
    assert (there.left_out_row_share, there.unknown_row_share) == (0, 0)
    reports = [
        measure_similarity(frame, table.frame, schema, labels=table.labels)
        for table in (here, there)
    ]
    assert reports[0].columns == reports[1].columns
    assert [score.value for score in reports[0].scores] == pytest.approx(
        [score.value for score in reports[1].scores], rel=1e-12
    )
    # generalizing loses detail, and tells nothing that is wrong
    if method == FullDomain():
        labeled = [each for each in reports[0].columns if each.column in here.labels]
        assert labeled
        assert max(column.unexplained_distance for column in labeled) < 0.03
        assert max(column.distance for column in labeled) > 0.1


def test_labels_that_nobody_explains_are_told() -> None:
    """A file would be judged by the rows that were not changed."""
    column = dp.Categorical("x", categories=("north", "south", "east"))
    schema = dp.Schema(columns=(column,), unit=dp.PrivacyUnit(max_rows=1))
    frame = pd.DataFrame({"x": ["north"] * 6 + ["coast"] * 3 + ["inland"]})
    table = fit_to_schema(frame, schema)
    assert table.unknown_texts == {"x": ("coast", "inland")}
    assert table.unknown_row_share == pytest.approx(0.4)
    said = {"x": {"coast": ["north", "east", "never seen"]}}
    told = fit_to_schema(frame, schema, said)
    assert told.unknown_texts == {"x": ("inland",)}
    # no row is spread to a leaf without a cell
    assert (told.labels["x"].labels[0].cells == [0, 2]).all()
    assert len(told.frame) == 9
    assert fit_to_schema(frame, schema, excluded=["x"]).left_out_columns == ("x",)


@pytest.mark.parametrize(
    ("values", "low", "is_one_label"),
    [
        (["*"] * 4, 1, True),
        (["*", "*", "*", "2"], 1, False),
        (["[1, 3)", "[1, 3)", "[3, 5)", "[3, 5)"], 1, False),
        (["4"] * 4, 1, False),
        (["*"] * 4, 4, False),  # the only value there is
    ],
)
def test_one_label_in_every_row_is_told(
    values: list[str], low: int, is_one_label: bool
) -> None:
    """A column without any detail would pass for one with some."""
    schema = dp.Schema(
        columns=(dp.Integer("x", low=low, high=4),), unit=dp.PrivacyUnit(max_rows=1)
    )
    labels = fit_to_schema(pd.DataFrame({"x": values}), schema).labels
    assert any(each.is_one_label for each in labels.values()) == is_one_label
