"""Columns: every value to its cell and back, public bounds checked, nothing dropped in
silence.
"""

from __future__ import annotations

import datetime
import decimal

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.errors import ReadError
from dpcore.schema import Column, Date, Integer, OutsideCounts, Real, interval
from tests.tiers import examples

RNG = np.random.default_rng(0)
whole = st.integers(min_value=-(10**6), max_value=10**6)
texts = st.text(max_size=8).map(str.strip).filter(bool)


@st.composite
def integers(draw: st.DrawFn) -> Integer:
    low = draw(whole)
    high = low + draw(st.integers(0, 5_000))
    if high > low and draw(st.booleans()):
        inside = st.integers(low + 1, high)
        return Integer(
            "x",
            low=low,
            high=high,
            cuts=tuple(sorted(draw(st.sets(inside, min_size=1, max_size=9)))),
        )
    return Integer(
        "x",
        low=low,
        high=high,
        bin_width=draw(st.integers(1, 700)),
        missing=draw(st.booleans()),
    )


@st.composite
def reals(draw: st.DrawFn) -> Real:
    low = draw(st.floats(min_value=-1e6, max_value=1e6))
    span = draw(st.floats(min_value=1e-3, max_value=1e6))
    if draw(st.booleans()):
        return Real(
            "x", low=low, high=low + span, cuts=(low + span / 3, low + span / 2)
        )
    return Real(
        "x",
        low=low,
        high=low + span,
        bin_width=span / draw(st.floats(0.5, 500)),
        missing=True,
    )


@st.composite
def dates(draw: st.DrawFn) -> Date:
    low = draw(st.dates(datetime.date(1500, 1, 1), datetime.date(2500, 1, 1)))
    high = low + datetime.timedelta(days=draw(st.integers(0, 20_000)))
    step = draw(st.sampled_from(["day", "week", "month", "quarter", "year"]))
    return Date(
        "x", low=str(low), high=str(high), step=step, missing=draw(st.booleans())
    )


@st.composite
def categoricals(draw: st.DrawFn) -> dp.Categorical:
    kinds = st.sets(texts, min_size=1, max_size=9) | st.sets(
        whole, min_size=1, max_size=9
    )
    return dp.Categorical(
        "x",
        categories=tuple(draw(kinds)),
        other=draw(st.booleans()),
        missing=draw(st.booleans()),
    )


booleans = st.builds(
    lambda labels, missing: dp.Boolean(
        "x", true_label=labels[0], false_label=labels[1], missing=missing
    ),
    st.sampled_from([("True", "False"), ("yes", "no"), ("1", "0")]),
    st.booleans(),
)
columns = st.one_of(integers(), reals(), dates(), categoricals(), booleans)


@examples(300)
@given(columns, st.integers(0, 2**32))
def test_every_cell_comes_back(column: Column, seed: int) -> None:
    """A value drawn inside a cell must lie in that cell, or a synthetic table would
    drift.
    """
    codes = np.repeat(np.arange(column.size), 3)
    values = column.decode(codes, np.random.default_rng(seed))
    assert (column.encode(values) == codes).all()
    assert len(column.labels) == column.size
    assert column.check(values) == OutsideCounts(
        missing=3 * column.missing, other=3 * getattr(column, "other", 0)
    )


@examples(150)
@given(columns)
def test_columns_survive_json(column: Column) -> None:
    """A saved schema must be the schema that was saved."""
    schema = dp.Schema(
        columns=(column,), unit=dp.PrivacyUnit(max_rows=3, id_column="person")
    )
    assert dp.Schema.from_json(schema.to_json()) == schema


@given(integers())
def test_integers_stay_integers(column: Integer) -> None:
    """A synthetic age of 31.4 would give the table away, and break whatever reads
    it.
    """
    values = column.decode(np.arange(column.values_size), RNG)
    assert values.dtype == np.int64
    assert values.between(column.low, column.high).all()
    with_missing = Integer("x", low=0, high=3, missing=True).decode(
        np.array([0, 4, 3]), RNG
    )
    assert with_missing.dtype == "Int64"
    assert with_missing.isna().tolist() == [False, True, False]


@given(dates())
def test_dates_stay_dates(column: Date) -> None:
    """A synthetic date must be a day within the bounds, without a time."""
    values = column.decode(np.arange(column.values_size), RNG)
    assert pd.api.types.is_datetime64_any_dtype(values.dtype)
    assert values.between(pd.Timestamp(column.low), pd.Timestamp(column.high)).all()
    assert (values == values.dt.normalize()).all()


@pytest.mark.parametrize(
    ("step", "starts"),
    [
        ("week", ["2020-01-29", "2020-02-03", "2020-02-10"]),
        ("month", ["2020-01", "2020-02", "2020-03"]),
        ("quarter", ["2020-01-29", "2020-04-01", "2020-07-01"]),
        ("year", ["2020", "2021", "2022"]),
    ],
)
def test_steps_of_dates(step: str, starts: list[str]) -> None:
    """Cells start where people expect: on Mondays, first days of months, quarters and
    years.
    """
    column = Date("x", low="2020-01-29", high="2022-12-31", step=step)
    assert list(column.labels[:3]) == starts
    assert column.cell_of("2020-01-29") == 0
    assert column.cell_of("2023-01-01") == column.values_size


def test_cells_of_numbers() -> None:
    """Half-open cells, the last one closed, labels that say so, and a lookup by
    bound.
    """
    column = Integer("age", low=0, high=99, cuts=(18, 65), missing=True)
    assert column.labels == ("0 to 17", "18 to 64", "65 to 99", "(missing)")
    assert column.encode(pd.Series([17, 18, 64.9, 65, 99, None])).tolist() == [
        0,
        1,
        1,
        2,
        2,
        3,
    ]
    assert [column.cell_of(bound) for bound in (0, 18, 65, 100)] == [0, 1, 2, 3]
    with pytest.raises(dp.ParameterError, match="use a boundary such as 18 or 65"):
        column.cell_of(30)
    real = Real("x", low=0, high=1, bin_width=0.3)
    assert real.labels == ("0 to 0.3", "0.3 to 0.6", "0.6 to 0.9", "0.9 to 1")
    assert real.encode(pd.Series([0.0, 0.3, 0.95, 1.0])).tolist() == [0, 1, 3, 3]


def test_values_beyond_the_bounds_are_clipped_and_counted() -> None:
    """Nothing is dropped in silence: values outside move to the bound and the owner is
    told how many.
    """
    values = pd.Series([-5.0, 0.0, 99.0, 140.0, np.inf, -np.inf])
    for column in (
        Integer("x", low=0, high=99),
        Real("x", low=0, high=99, bin_width=1),
    ):
        codes = column.encode(values)
        assert (codes == [0, 0, codes[2], codes[2], codes[2], 0]).all()
        assert column.check(values) == OutsideCounts(clipped=4)
    days = pd.Series(["1999-12-31", "2000-01-01", "2001-06-01"])
    column = Date("x", low="2000-01-01", high="2000-12-31")
    assert column.encode(days).tolist() == [0, 0, 11]
    assert column.check(days) == OutsideCounts(clipped=2)


def test_other_and_missing_have_cells() -> None:
    """An unknown value goes to "other", a missing one to "missing": where declared;
    else it is refused.
    """
    values = pd.Series(["a", " a ", "z", "?", "", None])
    column = dp.Categorical(
        "x", categories=("a",), other=True, missing=True, missing_tokens=("?", "")
    )
    assert column.encode(values).tolist() == [0, 0, 1, 2, 2, 2]
    assert column.labels == ("a", "(other)", "(missing)")
    assert column.check(values) == OutsideCounts(other=1, missing=3)
    for strict in (
        dp.Categorical("x", categories=("a",), missing=True),
        dp.Categorical("x", categories=("a",), other=True),
    ):
        assert strict.check(values).refused > 0
        with pytest.raises(dp.SchemaError, match="'x'"):
            strict.encode(values)


def test_missing_tokens_of_numbers() -> None:
    """A code such as -1 for "unknown" must be missing in a column of numbers too, not a
    number.
    """
    column = Integer("x", low=0, high=9, missing=True, missing_tokens=("-1", "?"))
    assert column.encode(pd.Series([-1, 3])).tolist() == [10, 3]
    assert column.encode(pd.Series(["?", "3", None, "-1"])).tolist() == [10, 3, 10, 10]
    assert column.check(pd.Series([-1.0, 3.5])).missing == 1


def test_numbers_in_texts() -> None:
    """A column of numbers that was read as text, with spaces, is read as numbers; words
    are refused.
    """
    column = Integer("x", low=0, high=9)
    assert column.encode(pd.Series([" 4", "5 ", "6.0"])).tolist() == [4, 5, 6]
    with pytest.raises(dp.SchemaError):
        column.encode(pd.Series(["4", "four"]))


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([True, False, None], dtype="object"),
        pd.Series([True, False, None], dtype="boolean"),
        pd.Series(["true", "FALSE", "?"]),
    ],
    ids=["object", "boolean", "text"],
)
def test_booleans(values: pd.Series) -> None:
    """True and false in each of the forms that files bring."""
    column = dp.Boolean("x", missing=True, missing_tokens=("?",))
    assert column.encode(values).tolist() == [1, 0, 2]
    assert column.labels == ("False", "True", "(missing)")
    assert column.decode(np.array([1, 0, 2]), RNG).tolist() == [True, False, pd.NA]


def test_dates_in_every_form() -> None:
    """Texts, times of day, time zones and stamps must fall on their day."""
    column = Date("x", low="2020-01-01", high="2020-12-31", step="day", missing=True)
    stamps = pd.to_datetime(pd.Series(["2020-01-02", "2020-01-03"]))
    assert column.encode(stamps).tolist() == [1, 2]
    assert column.encode(stamps.dt.tz_localize("UTC")).tolist() == [1, 2]
    assert column.encode(stamps.dt.tz_localize("Asia/Tokyo")).tolist() == [
        0,
        1,
    ]  # 15:00 in UTC, the day before
    assert column.encode(
        pd.Series(["2020-01-02", "2020-01-03T23:59:59", None])
    ).tolist() == [1, 2, 366]
    assert column.encode(pd.Series([datetime.date(2020, 1, 2), None])).tolist() == [
        1,
        366,
    ]
    zones = pd.Series(
        [
            "2020-01-02T01:00+09:00",
            "2020-01-03 01:00:00.5 -0500",
            "2020-01-04T00:00:00Z",
        ]
    )
    assert column.encode(zones).tolist() == [1, 2, 3]
    with pytest.raises(dp.SchemaError):
        column.encode(pd.Series(["2020-13-45"]))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Integer("x", low=9, high=0),
        lambda: Integer("x", low=0.5, high=9),
        lambda: Integer("x", low=float("nan"), high=9),
        lambda: Integer("x", low=0, high=float("inf")),
        lambda: Integer("x", low=True, high=9),
        lambda: Integer("x", low="0", high=9),
        lambda: Integer("x", low=0, high=9, bin_width=0),
        lambda: Integer("x", low=0, high=9, bin_width=1.5),
        lambda: Integer("x", low=0, high=9, cuts=(3, 3)),
        lambda: Integer("x", low=0, high=9, cuts=(2.5,)),
        lambda: Integer("x", low=0, high=9, cuts=(0,)),
        lambda: Integer("x", low=0, high=9, cuts=(10,)),
        lambda: Integer("x", low=0, high=10**6),
        lambda: Integer("x", low=0, high=2**63, bin_width=2**60),
        lambda: Real("x", low=1.0, high=1.0, bin_width=1),
        lambda: Real("x", low=2.0, high=1.0, bin_width=1),
        lambda: Real("x", low=0, high=float("nan"), bin_width=1),
        lambda: Real("x", low=float("-inf"), high=1, bin_width=1),
        lambda: Real("x", low=0, high=1),
        lambda: Real("x", low=0, high=1, bin_width=1, cuts=(0.5,)),
        lambda: Real("x", low=0, high=1, bin_width=-1),
        lambda: Real("x", low=0, high=1, bin_width=float("nan")),
        lambda: Real("x", low=0, high=1, bin_width=1e-9),
        lambda: Real("x", low=0, high=1, cuts=(0.5, float("nan"))),
        lambda: Real("x", low=-1e308, high=1e308, bin_width=1e300),
        lambda: Real("x", low=1e16, high=1e16 + 8, bin_width=0.5),
        lambda: Date("x", low="2020-02-30", high="2021-01-01"),
        lambda: Date("x", low="2021-01-01", high="2020-01-01"),
        lambda: Date("x", low="NaT", high="2020-01-01"),
        lambda: Date("x", low="today", high="2020-01-01"),
        lambda: Date("x", low="2020-01-01", high="2021-01-01", step="hour"),
        lambda: Date("x", low="0001-01-01", high="9999-01-01", step="day"),
        lambda: dp.Categorical("x", categories=()),
        lambda: dp.Categorical("x", categories=("a", "a")),
        lambda: dp.Categorical("x", categories=("1", 1)),
        lambda: dp.Categorical("x", categories=(" a", "a")),
        lambda: dp.Categorical("x", categories=tuple(map(str, range(100_001)))),
        lambda: dp.Categorical("", categories=("a",)),
        lambda: dp.Boolean("x", true_label="yes", false_label="YES"),
        lambda: dp.PrivacyUnit(max_rows=0),
        lambda: dp.PrivacyUnit(max_rows=1.5),
        lambda: dp.PrivacyUnit(max_rows=True),
        lambda: dp.Schema(
            columns=(dp.Boolean("x"), dp.Boolean("x")), unit=dp.PrivacyUnit(max_rows=1)
        ),
    ],
)
def test_declarations_that_are_refused(wrong: object) -> None:
    """Bounds reversed, NaN or infinite, cells without end: refused when declared,
    before any data.
    """
    with pytest.raises(dp.ParameterError):
        wrong()


def test_a_column_of_50_000_categories() -> None:
    """Many categories are allowed in one column, and coded at once."""
    categories = tuple(f"c{i}" for i in range(50_000))
    column = dp.Categorical("x", categories=categories)
    assert column.size == 50_000
    assert column.encode(pd.Series(categories)).tolist() == list(range(50_000))


HOSTILE = [
    "![x](http://a.b/c)",
    "=cmd|' /C calc'!A0",
    "<script>alert(1)</script>",
    "a\nb",
    "\u202egnp.exe",
    "名前",
    " ",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names(name: str) -> None:
    """Names of columns and categories are data: they must pass through unharmed and
    unread.
    """
    column = dp.Categorical(name, categories=("a", "b", f"x{name}"), other=True)
    schema = dp.Schema(
        columns=(column, dp.Integer("n", low=0, high=1)),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    assert dp.Schema.from_json(schema.to_json()) == schema
    frame = pd.DataFrame({name: ["a", f"x{name}", "zz"], "n": [0, 1, 1]})
    assert schema.encode(frame)[name].tolist() == [0, 2, 3]
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    release = curator.run(dp.Joint(columns=(name, "n")), dp.PureDP(epsilon=1))
    assert list(release.sample(3).columns) == [name, "n"]


def test_plain_numbers_from_numpy() -> None:
    """Bounds and categories that come out of numpy must be saved as plain numbers."""
    column = dp.Categorical("x", categories=np.array([1, 2]))
    other = Integer(
        "y", low=np.int64(0), high=np.int32(5), cuts=tuple(np.array([2, 3]))
    )
    schema = dp.Schema(columns=(column, other), unit=dp.PrivacyUnit(max_rows=1))
    assert dp.Schema.from_json(schema.to_json()) == schema
    assert column.decode(np.array([1]), RNG).tolist() == [2]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{}",
        "[]",
        '{"version": 99}',
        '{"version": 1}',
        "null",
        '{"version": 1, "unit": 3}',
    ],
)
def test_what_is_no_schema(text: str) -> None:
    """A wrong file must be refused in words."""
    with pytest.raises((ReadError, dp.SchemaError)):
        dp.Schema.from_json(text)


def test_schema_of_an_unknown_kind() -> None:
    """A schema from a later program must not be half read."""
    schema = dp.Schema(
        columns=(dp.Boolean("x"),), unit=dp.PrivacyUnit(max_rows=1)
    ).to_json()
    with pytest.raises(ReadError, match="another kind of file"):
        dp.Schema.from_json(schema.replace('"boolean"', '"picture"'))
    with pytest.raises(ReadError):
        dp.Schema.from_json(schema.replace('"max_rows"', '"rows"'))


ODD = [
    "1",
    "1.0",
    "1.00",
    "01",
    "2.5",
    "-0",
    ".5",
    "1e3",
    "1e300",
    "?",
    "NA",
    "abc",
    " abc ",
    "True",
    "inf",
    "nan",
    "9007199254740993",
    "2020-01-01",
    "2020-01-01 10:00",
    "2020-01-01T10:00:00.123456789",
    "1500-01-01",
    "2020-01-01T10:00:00Z",
    "2020-01-01 10:00:00.5+02:00",
    "2020-01-01T10+01",
    "9999-12-31",
    "20200101",
    None,
]
ELEMENTWISE = [
    dp.Categorical(
        "x",
        categories=("1", "01", "2.50", "abc", "True"),
        other=True,
        missing=True,
        missing_tokens=("?",),
    ),
    dp.Boolean(
        "x",
        true_label="1",
        false_label="2.5",
        missing=True,
        missing_tokens=tuple(map(str, ODD)),
    ),
    dp.Integer("x", low=-5, high=3000, missing=True, missing_tokens=("?", "1.0")),
    dp.Real(
        "x",
        low=-5,
        high=3000,
        bin_width=0.5,
        missing=True,
        missing_tokens=("?", "2.50"),
    ),
    Date("x", low="1400-01-01", high="2300-01-01", step="year", missing=True),
]


@pytest.mark.parametrize("column", ELEMENTWISE, ids=lambda column: column.kind)
def test_a_cell_depends_on_its_own_value_alone(column: Column) -> None:
    """One person's odd value would change how the rows of all others are counted: no
    noise covers that.
    """
    alone = [column._encode(pd.Series([value], dtype="str"))[0][0] for value in ODD]
    for i, value in enumerate(ODD):
        for j, other in enumerate(ODD):
            codes = column._encode(pd.Series([value, other], dtype="str"))[0]
            assert codes.tolist() == [alone[i], alone[j]], (value, other)


def test_numbers_and_times_are_the_same_in_any_company() -> None:
    """One decimal or one time of day would rewrite the categories of all other rows."""
    numbers = dp.Categorical("x", categories=(1, 2), other=True)
    assert numbers.encode(pd.Series([1.0, 2.0, 2.5, 1e300])).tolist() == [0, 1, 2, 2]
    assert numbers.encode(pd.Series(["1.0", "2", "x"])).tolist() == [0, 1, 2]
    days = dp.Categorical(
        "x", categories=("2020-01-01", "2020-01-02 12:00:00"), other=True
    )
    stamps = pd.Series(
        np.array(["2020-01-01", "2020-01-02T12:00"], dtype="datetime64[s]")
    )
    assert days.encode(stamps).tolist() == [0, 1]
    assert days.encode(stamps[:1]).tolist() == [0]


@pytest.mark.parametrize("kind", ["decimal", "object"])
def test_decimals_fall_where_all_their_digits_say(kind: str) -> None:
    """As floats, .1 fell below a cut at .1, and a hair below it was at it; 0 and nearly
    0 shared a cell.
    """
    column = Real(
        "x",
        low=-1.0,
        high=2.0,
        cuts=(0.0, 0.1, 0.3, 1.0),
        special=(0.0, 1.5),
        missing=True,
    )
    cells = {
        "-0.0000000000000000001": 0,
        "0": 1,
        "0.0000000000000000001": 2,
        "0.0999999999999999999": 2,
        "0.1": 3,
        "0.1000000000000000001": 3,
        "0.2999999999999999999": 3,
        "0.3": 4,
        "0.9999999999999999999": 4,
        "1": 5,
        "1.5": 6,
        "1.5000000000000000001": 7,
        "1.4999999999999999999": 5,
        "9": 7,
    }
    numbers = [*map(decimal.Decimal, cells), None]
    exact = pd.ArrowDtype(pa.decimal128(25, 19))
    values = pd.Series(numbers, dtype=exact if kind == "decimal" else object)
    assert column.encode(values).tolist() == [*cells.values(), column.values_size]
    prices = [decimal.Decimal(cents).scaleb(-2) for cents in range(100_000)]
    every = Real("x", low=0.0, high=1000.0, bin_width=0.25)
    as_decimal = every.encode(
        pd.Series(prices, dtype=pd.ArrowDtype(pa.decimal128(8, 2)))
    )
    assert as_decimal.tolist() == [cents // 25 for cents in range(100_000)]


@pytest.mark.parametrize("fact", ["categories", "missing_tokens", "synonyms", "rules"])
def test_a_text_is_no_list(fact: str) -> None:
    """ "FM" would be two labels, and a text of a million signs as many."""
    facts = {"categories": ["F", "M"], fact: "FM" * 500_000}
    with pytest.raises(dp.ParameterError, match="must be a list"):
        Column.from_dict({"kind": "categorical", "name": "sex", **facts})


def test_a_million_values_are_drawn_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """A large table would take several times its memory while its values are drawn."""
    column = Integer("x", low=0, high=99, bin_width=10, missing=True)
    codes = np.random.default_rng(1).integers(0, column.size, 1_000)
    whole = column.decode(codes, np.random.default_rng(2))
    sizes: list[int] = []
    place = interval.place_in_cells

    def record(uniform: np.ndarray, slope: np.ndarray) -> np.ndarray:
        sizes.append(len(uniform))
        return place(uniform, slope)

    monkeypatch.setattr(interval, "place_in_cells", record)
    monkeypatch.setattr(interval, "BLOCK_ROWS", 300)
    in_blocks = column.decode(codes, np.random.default_rng(2))
    assert sizes == [300, 300, 300, 100]
    pd.testing.assert_series_equal(in_blocks, whole)


def test_texts_with_gaps_are_drawn_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """The texts of a large table would be in memory twice, to take some of them away."""

    def refuse(self: pd.Series, *given: object) -> pd.Series:
        raise AssertionError("all texts were copied")

    column = dp.Categorical("x", categories=("a", "b"), missing=True)
    codes = np.array([1, 2, 0], dtype=np.uint8)
    monkeypatch.setattr(pd.Series, "where", refuse)
    drawn = column.decode(codes, RNG)
    assert drawn.isna().tolist() == [False, True, False]
    assert drawn.dropna().tolist() == ["b", "a"]
