"""Tables of three columns, alone and with tables of fewer columns of the same people."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
import pytest

from dpcore.curator import tabulating
from dpcore.errors import DpcoreError, LimitError, ParameterError
from dpcore.suppression import PRESETS, PublishedTable, TablePlan
from tests.suppression.accounts import count_of, open_account, plan_by, publish
from tests.suppression.tables import count, groups, plan_of
from tests.suppression.test_sequences import DISTRICTS, RULES, Step, attack_sequences

TABLES: Sequence[tuple[str, ...]] = (
    ("town", "sex", "age"),
    ("age", "town", "sex"),
    ("town", "age"),
    ("town", "sex"),
    ("sex", "age"),
    ("town",),
)
SEQUENCES = 30
CHUNK = 10  # sequences in one test


def draw_frame(draw: np.random.Generator) -> pd.DataFrame:
    """Return people with a town, a sex and an age that have nothing to do with each other."""
    cells = [(town, sex, age) for town in "ABC" for sex in "fm" for age in "oy"]
    people = draw.choice([0, 1, 2, 4, 6, 9, 13], size=len(cells))
    rows = [
        cell for cell, number in zip(cells, people, strict=True) for _ in range(number)
    ]
    return pd.DataFrame(rows, columns=["town", "sex", "age"], dtype=object)


def run_sequence(seed: int) -> Iterator[Step]:
    """Publish up to three tables of one to three columns; yield after each one."""
    draw = np.random.default_rng([53, seed])
    frame = draw_frame(draw)
    curator = open_account(frame)
    tables: list[PublishedTable] = []
    for _ in range(3):
        columns = TABLES[draw.integers(0, len(TABLES))]
        rule = RULES[draw.integers(0, len(RULES))]
        try:
            tables.append(publish(curator, plan_by(rule, *columns)))
        except DpcoreError:
            continue
        # the attack of the tests counts wrong districts, of which there are none here
        own = frame.assign(district=frame["town"].map(DISTRICTS))
        yield Step(tables=list(tables), frame=own)


@pytest.mark.proof
@pytest.mark.parametrize("first", range(0, SEQUENCES, CHUNK))
def test_no_sequence_with_three_columns_tells_a_count(first: int) -> None:
    told, tried = attack_sequences(range(first, first + CHUNK), run_sequence)
    assert told == []
    assert tried["small counts"] > CHUNK


def test_a_few_sequences_with_three_columns_tell_no_count() -> None:
    """The quick part of the proof."""
    told, tried = attack_sequences(range(1_000, 1_003), run_sequence)
    assert told == []
    assert tried["with earlier ones"]


@pytest.mark.proof
def test_tables_that_ignore_each_other_are_rejected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The twin: without the earlier tables, the same sequences give counts away."""
    right = tabulating.tabulate
    monkeypatch.setattr(
        "dpcore.curator.curator.tabulate",
        lambda engine, plan, schema, earlier, others: right(
            engine, plan, schema, [], []
        ),
    )
    told, _ = attack_sequences(range(CHUNK), run_sequence)
    assert told


def test_counts_add_up_along_each_axis() -> None:
    """Every cell, with its totals, is the number of rows that pandas finds."""
    frame = draw_frame(np.random.default_rng(1))
    table = open_account(frame).exact_table(
        plan_by(PRESETS["nhs"], "town", "sex", "age")
    )
    layout = table.content.published.layout
    for cell, people in enumerate(table.content.true_counts):
        inside = pd.Series(True, index=frame.index)
        for name, label in zip(layout.columns, layout.labels(cell), strict=True):
            if label != "Total":
                inside &= frame[name] == label
        assert people == inside.sum()


def test_the_crosstab_has_a_line_for_each_pair_of_groups() -> None:
    """A frame of the file read again has the published counts and marks."""
    frame = draw_frame(np.random.default_rng(1))
    curator = open_account(frame)
    table = publish(curator, plan_by(PRESETS["nhs"], "town", "sex", "age"))
    heading, *lines = table.crosstab()
    assert heading == ["town", "sex", "Total", "o", "y"]
    assert len(lines) == 4 * 3
    for town, sex, *texts in lines:
        for age, text in zip(heading[2:], texts, strict=True):
            shown = count_of(table, town, sex, age)
            assert text == ("x" if shown is None else str(shown))
    assert PublishedTable.from_json(table.to_json()).crosstab() == [heading, *lines]


def test_a_plan_of_four_columns_is_refused() -> None:
    with pytest.raises(ParameterError, match="one to three different columns"):
        plan_by(PRESETS["nhs"], "a", "b", "c", "d")


def test_too_many_cells_of_three_columns_are_refused_with_their_number() -> None:
    """The limit counts the totals too."""
    trees = {name: groups(name, *[1] * 17) for name in "abc"}
    with pytest.raises(LimitError, match="the table has 5832 cells, and at most 5000"):
        plan_of(PRESETS["nhs"], **trees)


def test_a_plan_of_three_columns_goes_to_json_and_back() -> None:
    trees = {name: groups(name, 1, 1) for name in "abc"}
    plan = plan_of(PRESETS["acro"], **trees)
    assert TablePlan.from_json(plan.to_json()) == plan
    counts = count(plan, np.arange(8).reshape(2, 2, 2).tolist())
    assert counts[0] == 28


def test_a_table_of_three_columns_protects_one_of_two() -> None:
    """What the pairs of an earlier table show is hidden further in the third column."""
    cells = Counter(
        {(town, sex, age): 20 for town in "ABC" for sex in "fm" for age in "oy"}
    )
    cells["A", "f", "o"] = 2
    rows = [cell for cell, number in cells.items() for _ in range(number)]
    frame = pd.DataFrame(rows, columns=["town", "sex", "age"], dtype=object)
    curator = open_account(frame)
    first = publish(curator, plan_by(PRESETS["nhs"], "town", "sex"))
    assert None not in first.counts
    second = publish(curator, plan_by(PRESETS["nhs"], "town", "sex", "age"))
    assert count_of(second, "A", "f", "o") is None
    assert count_of(second, "A", "f", "y") is None  # 22 in all are shown
    assert dataclasses.replace(second, counts=first.counts).layout.shape == (4, 3, 3)
