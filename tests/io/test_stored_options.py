"""Under stored options one person's row changes how no other row is read.

Each twin is a file of everybody and the same file with one person's row changed, so
that a fresh look reads all rows in another way, or refuses them. How the cells of a
column are written has twins of its own in `test_locales`.
"""

from __future__ import annotations

import dataclasses
import io
from collections.abc import Callable

import pandas as pd
import pytest
import xlsxwriter

from dpcore.errors import DpcoreError
from dpcore.io import ReadOptions, read_table
from dpcore.schema.values import as_text

PEOPLE = 40
HER_PLACE = 10


def lines(*head: str, row: Callable[[int], str], hers: str | None = None) -> str:
    """Return a file in which one person writes otherwise, if she does."""
    rows = [row(number) for number in range(PEOPLE)]
    if hers is not None:
        rows[HER_PLACE] = hers
    return "".join(f"{line}\n" for line in (*head, *rows))


def in_polish(hers: str | None) -> bytes:
    """Return a file of Windows-1250; she writes as if all were Cyrillic."""
    text = lines("miasto;lat", row=lambda number: f"Łódź;{20 + number}")
    data = text.encode("cp1250")
    if hers is None:
        return data
    words = "Москва Воронеж Тюмень Рязань Казань Самара Тула Киров Пермь Сочи"
    return data.replace(b";30", f" {words};30".encode("cp1251"))


def with_blanks(hers: str | None) -> bytes:
    """Return cells that blanks part; she writes no number."""
    return lines("id code", row=lambda number: f"A {number}", hers=hers).encode()


def in_one_column(hers: str | None) -> bytes:
    """Return one column, as one person writes no blank, until she does."""
    return lines(
        "id code", row=lambda number: f"A {number}", hers=hers or "A-10"
    ).encode()


def without_names(hers: str | None) -> bytes:
    """Return rows without a header; hers is the first one."""
    text = lines(row=lambda number: f"{number % 5},{'ab'[number % 2]}")
    first, _, rest = text.partition("\n")
    return f"{hers or first}\n{rest}".encode()


def with_two_headers(hers: str | None) -> bytes:
    """Return a table with groups of columns; hers has a word for a number."""
    row = lambda number: f"r{number % 3},{number},x"  # noqa: E731
    return lines(",2020,2021", "region,age,sex", row=row, hers=hers).encode()


def with_row_names(hers: str | None) -> bytes:
    """Return a file of R; she has the name of another row."""
    row = lambda number: f"p{number},{number},{number % 3}"  # noqa: E731
    return lines("age,sex", row=row, hers=hers).encode()


def with_a_title(hers: str | None) -> bytes:
    """Return few rows below titles of two cells; hers has a cell of many lines."""
    rows = [f"a{number};{number};x" for number in range(9)]
    titles = ["Report;2024", "made;2025", "place;age;sex"]
    return "\n".join([*titles, *rows, hers or "d;4;y", ""]).encode()


def in_a_workbook(hers: str | None) -> bytes:
    """Return two sheets of one length; hers is a row more on the second."""
    out = io.BytesIO()
    with xlsxwriter.Workbook(out) as book:
        for name, more in (("people", 0), ("other", 1 if hers else 0)):
            sheet = book.add_worksheet(name)
            sheet.write_row(0, 0, ["age", "sex"])
            for number in range(PEOPLE + more):
                sheet.write_row(number + 1, 0, [number, name[number % 2]])
    return out.getvalue()


TWINS: dict[str, tuple[str, Callable[[str | None], bytes], str, int]] = {
    "encoding": ("a.csv", in_polish, "Cyrillic", HER_PLACE),
    "separator, blanks": ("a.txt", with_blanks, "A twelve", HER_PLACE),
    "separator, none": ("a.txt", in_one_column, "A 10", HER_PLACE),
    "header": ("a.csv", without_names, "who,what", 0),
    "header_lines": ("a.csv", with_two_headers, "r1,forty,x", HER_PLACE),
    "row_fields": ("a.csv", with_row_names, "p3,39,0", HER_PLACE),
    "skip": ("a.csv", with_a_title, 'd;4;"y\nz\nz\nz"', 9),
    "sheet": ("a.xlsx", in_a_workbook, "one more", PEOPLE),
}
"""Name of the file, the file, her row, and its place."""
ELSEWHERE = {
    "columns": "twins of test_locales",
    "decimal": "said by a person, never seen",
    "day_first": "said by a person; what is seen is kept by column",
    "names": "said by a person, never seen",
    "is_known": "about promises, not about reading",
    "seen": "about promises, not about reading",
    "rules": "the version of the rules",
}


@pytest.mark.parametrize("twin", TWINS)
def test_her_row_changes_no_other(twin: str) -> None:
    """One person could change the counts by as many people as the file has."""
    name, make, hers, place = TWINS[twin]
    option = twin.partition(",")[0]
    alone = read_table(make(None), name)
    assert option in alone.options.seen
    others = others_in(alone.frame, place)
    with_her = read_table(make(hers), name, options=alone.options).frame
    assert others_in(with_her, place) == others
    # a fresh look reads the others in another way, or not at all
    try:
        fresh = others_in(read_table(make(hers), name).frame, place)
    except DpcoreError:
        return
    assert fresh != others


def test_every_option_has_a_twin() -> None:
    """An option that is new would be decided anew by each row that comes."""
    options = {option.name for option in dataclasses.fields(ReadOptions)}
    assert options == {twin.partition(",")[0] for twin in TWINS} | ELSEWHERE.keys()


def others_in(frame: pd.DataFrame, place: int) -> list[list[str]]:
    """Return the names and the canonical texts of all rows but hers."""
    rows = frame.drop(index=place, errors="ignore")
    texts = [as_text(rows[name]).astype(object).tolist() for name in rows]
    return [list(map(str, rows.columns)), *(list(map(str, each)) for each in texts)]
