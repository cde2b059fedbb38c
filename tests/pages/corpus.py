"""Tables that are hostile or odd, and valid as far as a stranger can tell: (content,
file name) by name.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable
from typing import Any

import pandas as pd

CORPUS: dict[str, tuple[bytes, str]] = {}


def _csv(
    name: str, header: Iterable[str], rows: Iterable[Iterable[object]], **how: Any
) -> None:
    lines = [",".join(map(str, row)) for row in (header, *rows)]
    text = how.get("end", "\n").join(lines) + how.get("last", "\n")
    CORPUS[name] = (text.encode(how.get("encoding", "utf-8")), "table.csv")


def _column(name: str, values: Iterable[object], header: str = "x") -> None:
    """A column of these values beside an ordinary one."""
    _csv(
        name,
        [header, "sex"],
        ([_quoted(value), "FM"[i % 2]] for i, value in enumerate(values)),
    )


def _quoted(value: object) -> str:
    return '"' + str(value).replace('"', '""') + '"'


def _parquet(name: str, **columns: Any) -> None:
    out = io.BytesIO()
    pd.DataFrame(columns).to_parquet(out)
    CORPUS[name] = (out.getvalue(), "table.parquet")


def _times(values: Iterable[str], n: int = 40) -> list[str]:
    given = list(values)
    return [given[i % len(given)] for i in range(n)]


# shapes
_csv("one column", ["x"], ([i % 3] for i in range(40)))
_csv("one column, one row", ["x"], [[1]])
_csv("one row", ["age", "sex"], [[30, "F"]])
_csv("two rows", ["age", "sex"], [[30, "F"], [40, "M"]])
_csv("ids only", ["patient_id"], ([i] for i in range(60)))
_csv("ids twice", ["patient_id"], ([i // 2] for i in range(60)))
_csv("all distinct", ["a", "b", "c"], ([f"u{i}", f"v{i}", i * 7919] for i in range(60)))
_csv("all the same", ["a", "b"], (["x", 1] for _ in range(60)))
_csv("all empty", ["a", "b"], (["", ""] for _ in range(20)))
_csv("one column all empty", ["a", "b"], (["", i % 2] for i in range(20)))
_csv("empty but one", ["a", "b"], (["x" if i == 7 else "", i % 2] for i in range(20)))
for _number in (63, 64, 65, 200):
    _csv(
        f"{_number} columns",
        [f"c{j}" for j in range(_number)],
        ([(i * j) % 3 for j in range(_number)] for i in range(20)),
    )
_csv(
    "1,000 columns, two used",
    [f"c{j}" for j in range(1000)],
    ([j % 2 for j in range(1000)] for _ in range(2)),
)
_csv(
    "two ids",
    ["person_id", "user_id", "x"],
    ([i // 2, i // 3, i % 2] for i in range(40)),
)
# dates
_column(
    "two time zones", _times(["2020-01-01T10:00:00+01:00", "2021-03-01T10:00:00+02:00"])
)
_column(
    "summer time", _times(["2020-01-01 10:00:00+01:00", "2020-07-01 10:00:00+02:00"])
)
_column("zone here and there", _times(["2020-01-01T10:00:00Z", "2020-07-01T10:00:00"]))
_column("year 0", _times(["0000-01-01", "2020-01-01"]))
_column("year 1", _times(["0001-01-01", "2020-01-01"]))
_column("year 9999", _times(["9999-12-31", "2020-01-01"]))
_column("years 1 and 9999", _times(["0001-01-01", "9999-12-31"]))
_column("year 10000", _times(["10000-01-01", "2020-01-01"]))
_column("year before 0", _times(["-0001-01-01", "2020-01-01"]))
_column("dates far apart", _times(["1677-09-21", "2262-04-12"]))
_column("dates beyond nanoseconds", _times(["1500-01-01", "2500-01-01"]))
_column("February 30", _times(["2020-02-30", "2020-02-28"]))
_column("one day", _times(["2020-01-01"]))
_column(
    "nanoseconds",
    _times(["2020-01-01T00:00:00.000000001", "2020-01-01T00:00:00.999999999"]),
)
_column("leap second", _times(["2016-12-31T23:59:60Z", "2016-12-31T23:59:59Z"]))
_column("24 o'clock", _times(["2020-01-01T24:00:00", "2020-01-01T00:00:00"]))
_column("weeks", _times(["2020-W01", "2020-W53"]))
_parquet(
    "timestamps far apart",
    t=pd.to_datetime(_times(["1677-09-22", "2262-04-11"])),
    x=[1, 2] * 20,
)
_parquet(
    "seconds far apart",
    t=pd.Series(_times(["0001-01-01", "9999-12-31"])).astype("datetime64[s]"),
    x=[1] * 40,
)
_parquet(
    "seconds of year 20000",
    t=pd.Series([569_000_000_000, 0] * 20).astype("datetime64[s]"),
    x=[1] * 40,
)
_parquet(
    "with a zone",
    t=pd.to_datetime(_times(["2020-01-01", "2021-01-01"])).tz_localize("Asia/Kolkata"),
    x=[1] * 40,
)
_parquet(
    "missing times",
    t=pd.to_datetime(pd.Series([None, "2020-01-01"] * 20)),
    x=[1, 2] * 20,
)
_parquet("null columns", a=[None] * 20, b=[1, 2] * 10)
_parquet(
    "booleans with holes",
    a=pd.array([True, None, False, True] * 5, dtype="boolean"),
    b=[1.5, None] * 10,
)
_parquet(
    "infinities",
    a=[float("inf"), float("-inf"), 1.0, float("nan")] * 10,
    b=["x", None] * 20,
)
_parquet("large integers", a=[2**63 - 1, -(2**63), 0, 1] * 10, b=[1, 2] * 20)
_parquet(
    "unsigned", a=pd.array([2**64 - 1, 0, 1, 2] * 10, dtype="uint64"), b=[1, 2] * 20
)
_parquet(
    "categories of numbers", a=pd.Categorical([1, 2, 3, 1] * 10), b=["x", "y"] * 20
)
_parquet("no text at all", a=["", " ", "  ", "\t"] * 10, b=[1, 2] * 20)
_parquet("NUL in a text", a=["a\x00b", "c"] * 20, b=[1, 2] * 20)
_parquet("zero rows but one", a=[1], b=["x"])
# numbers
_column("huge", _times(["1e308", "-1e308"]))
_column("beyond floats", _times(["1e309", "1"]))
_column("tiny", _times(["1e-320", "5e-324", "0"]))
_column("minus zero", _times(["-0", "0", "-0.0"]))
_column(
    "30 digits",
    _times(["123456789012345678901234567890", "123456789012345678901234567891"]),
)
_column("leading zeros", _times(["007", "07", "7"]))
_column("commas", _times(["1,5", "2,5"]))
_column(
    "words among numbers",
    _times(["1", "2", "NaN", "Infinity", "-inf", "0x10", "1_000"]),
)
_column("nearly the same", _times(["1.0000000000000001", "1.0000000000000002"]))
_column("ages of 200", _times(["200", "-5", "30"]), header="age")
_column("percent", _times(["10%", "20%"]))
# texts
for _name, _text in {
    "constructor": "constructor",
    "proto": "__proto__",
    "toString": "toString",
    "hasOwnProperty": "hasOwnProperty",
    "formula": "=1+1",
    "markdown": "**![x](http://a.example/b.png)**",
    "html": "<script>alert(1)</script>",
    "latex": "$\\frac{1}{0}$",
    "braces": "{0} {x} %s %(a)d",
    "bar": "a|b",
    "quotes": '""""',
    "backslash": "\\",
    "right to left": "\u202e\u05d0\u05d1",
    "zero width": "\u200b",
    "combining": "e\u0301\u0301\u0301",
    "emoji": "👩‍👩‍👧",
    "blanks": " " * 200,
    "long": "x" * 9_999,
    "line break": "a\nb",
    "tab": "a\tb",
    "null word": "null",
    "Arabic digits": "٣",
    "non-character": "\ufffe",
}.items():
    _column(f"category {_name}", _times([_text, "b", "c"]))
    if not set(_text) & set("\n\t\u202e") and _text.strip():
        _csv(
            f"column {_name}",
            [_quoted(_text), "sex"],
            ([i % 5, "FM"[i % 2]] for i in range(40)),
        )
_column("runs of blanks", [f"a{' ' * (500 + i)}b" for i in range(15)] * 2)
_column(
    "many blanks in a list", [f"{' ' * 2000}x{i}{' ' * 2000}y" for i in range(20)] * 2
)
_column("categories that differ in case", _times(["a", "A", "á", "a\u0301"]))
_column("missing words", _times(["?", "NA", "n/a", "-", "", "x"]))
# encodings
_rows = [[i % 9, "äöü"[i % 3]] for i in range(40)]
for _encoding in (
    "utf-16",
    "utf-16-le",
    "utf-16-be",
    "utf-8-sig",
    "latin-1",
    "gb18030",
):
    _csv(_encoding, ["x", "größe"], _rows, encoding=_encoding)
_csv("bare CR", ["x", "y"], _rows, end="\r")
_csv("CRLF and no last end", ["x", "y"], _rows, end="\r\n", last="")
_csv("semicolons", ["x;y"], ([f"{i};{i % 3}"] for i in range(40)))
_csv("columns by number", ["1", "2"], ([i % 3, i % 4] for i in range(40)))
_csv("a header without names", ["", ""], ([i % 3, i % 4] for i in range(40)))
_csv("column twice but for blanks", ["a", "a "], ([i % 3, i % 4] for i in range(40)))
_csv(
    "session words",
    ["kind", "reason", "column", "low"],
    ([i % 3, "x", i % 4, 1] for i in range(40)),
)

GROUPS = 12


def group(number: int) -> dict[str, tuple[bytes, str]]:
    """Every twelfth table, so that groups run side by side."""
    return dict(list(CORPUS.items())[number::GROUPS])


Walk = Callable[[str], None]
