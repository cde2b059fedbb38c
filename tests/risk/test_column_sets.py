from __future__ import annotations

from itertools import combinations

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.errors import LimitError, ParameterError
from dpcore.risk.column_sets import measure_column_sets
from dpcore.tables.classes import IntArray, leaves_of
from tests.tiers import examples

SEVEN = [
    "sex",
    "age",
    "race",
    "marital-status",
    "education",
    "native-country",
    "workclass",
]
ROWS = st.lists(st.tuples(*[st.integers(0, 2)] * 4), min_size=1, max_size=25)


def codes_of(frame: pd.DataFrame) -> dict[str, IntArray]:
    return {name: leaves_of(frame, name).codes for name in frame}


@examples(50)
@given(rows=ROWS)
def test_against_brute_force(rows: list[tuple[int, ...]]) -> None:
    """Broken: a set's figures differ from looking at all pairs of rows."""
    names = list("abcd")
    found = {
        found.columns: found
        for found in measure_column_sets(
            codes_of(pd.DataFrame(rows, columns=names)), names
        )
    }
    assert len(found) == 15

    def alone(chosen: tuple[int, ...]) -> set[int]:
        seen = [tuple(row[c] for c in chosen) for row in rows]
        return {place for place, key in enumerate(seen) if seen.count(key) == 1}

    for size in range(1, 5):
        for chosen in combinations(range(4), size):
            seen = [tuple(row[c] for c in chosen) for row in rows]
            pairs = [a != b for a, b in combinations(seen, 2)]
            result = found[tuple(names[c] for c in chosen)]
            assert result.distinction == pytest.approx(len(set(seen)) / len(rows))
            assert result.separation == pytest.approx(
                sum(pairs) / len(pairs) if pairs else 1.0
            )
            assert result.uniques == pytest.approx(len(alone(chosen)) / len(rows))


@pytest.mark.shared
@pytest.mark.parametrize(
    ("columns", "distinction", "separation"),
    [
        (SEVEN, 0.367648, 0.999357),
        ([*SEVEN, "occupation", "salary-class"], 0.646575, 0.999906),
    ],
)
def test_adult_as_arx_measures_it(shared, columns, distinction, separation) -> None:
    """Broken: the figures of ARX are missed by a millionth."""
    adult = pd.read_csv(shared / "data/arx/adult_30162.csv", sep=";")
    found = measure_column_sets(codes_of(adult), columns)
    assert len(found) == 2 ** len(columns) - 1
    assert found[-1].distinction == pytest.approx(distinction, abs=1e-6)
    assert found[-1].separation == pytest.approx(separation, abs=1e-6)


def test_small_sets_only_and_too_many_sets() -> None:
    """Broken: fifteen columns are refused where pairs were asked for, or thirty are
    tried in all combinations.
    """
    wide = codes_of(pd.DataFrame({f"c{i}": [0, 1, i] for i in range(30)}))
    assert (
        max(
            len(found.columns)
            for found in measure_column_sets(wide, list(wide), max_columns=2)
        )
        == 2
    )
    with pytest.raises(LimitError):
        measure_column_sets(wide, list(wide))
    with pytest.raises(ParameterError):
        measure_column_sets(wide, [])
