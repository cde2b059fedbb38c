"""Hierarchies: levels that nest, files as ARX writes them, coverage, missing and
suppressed cells.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.hierarchies.suggest import suggest_hierarchy
from dpcore.errors import HierarchyError
from dpcore.schema.values import MISSING, SUPPRESSED, list_texts
from tests.anonymization.oracle import hierarchies

FILE = "33617;336**;*\n33620;336**;*\n23620;236**;*\n"


def test_codes_labels_and_leaf_counts() -> None:
    """Else classes are formed from the wrong labels, and loss counts the wrong
    leaves.
    """
    zips = Hierarchy.from_csv(FILE)
    assert zips.height == 2
    assert zips.labels(1) == ("336**", "236**")
    assert zips.codes(1).tolist() == [0, 0, 1]
    assert zips.leaf_counts(1).tolist() == [2, 2, 1]
    assert zips.leaf_counts(2).tolist() == [3, 3, 3]


@given(hierarchy=hierarchies())
def test_csv_round_trip(hierarchy: Hierarchy) -> None:
    """Else an exported hierarchy is not the one that was used."""
    assert Hierarchy.from_csv(hierarchy.to_csv(), ";") == hierarchy


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff" + FILE,
        FILE.replace(";", ","),
        FILE.replace(";", "\t"),
        FILE.replace("\n", "\r\n"),
        FILE + FILE,
        FILE + "\n",
        FILE.replace("33617", '"33617"'),
    ],
    ids=[
        "byte order mark",
        "comma",
        "tab",
        "CRLF",
        "repeated lines",
        "empty line",
        "quoted",
    ],
)
def test_files_as_people_have_them(text: str) -> None:
    """Else a hierarchy that is right is refused for its form."""
    assert Hierarchy.from_csv(text) == Hierarchy.from_csv(FILE)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "needs exactly one line"),
        ("a;x;*\nb;*\n", "needs exactly one line"),
        ("a;x;*\na;y;*\n", "needs exactly one line"),
        ("a;x;u;*\nb;x;v;*\n", "level 2 does not nest"),
        ("a;x\nb;y\n", "needs exactly one line"),
    ],
    ids=["empty", "ragged", "two paths", "not nested", "no common top"],
)
def test_what_is_no_hierarchy_is_refused(text: str, message: str) -> None:
    """Else generalizing further could separate what was joined, and k would not be
    monotone.
    """
    with pytest.raises(HierarchyError, match=message):
        Hierarchy.from_csv(text)


def test_values_without_a_line_have_no_leaf() -> None:
    """Else such a row would be published under another value's labels."""
    column = pd.Series(["33617", "99999", None, "*", "11111"])
    leaves = Hierarchy.from_csv(FILE).cover_special_cells(column).encode(column)
    assert (leaves < 0).tolist() == [False, True, False, False, True]


def test_missing_and_suppressed_cells_are_leaves_of_their_own() -> None:
    """Else a missing cell joins a real value, or a file that was anonymized before is
    refused.
    """
    column = pd.Series(["33617", None, SUPPRESSED])
    zips = Hierarchy.from_csv(FILE).cover_special_cells(column)
    assert [zips.values[leaf] for leaf in zips.encode(column)] == [
        "33617",
        MISSING,
        SUPPRESSED,
    ]
    assert zips.levels[1][-2:] == (MISSING, SUPPRESSED)
    assert zips.leaf_counts(0).tolist() == [1, 1, 1, 1, 5]
    assert Hierarchy.from_csv(FILE).cover_special_cells(
        pd.Series(["33617"])
    ) == Hierarchy.from_csv(FILE)


def test_a_hierarchy_of_one_level_can_be_extended() -> None:
    """Else a constant column with a gap fails."""
    one = Hierarchy(values=("x",), levels=(("x",),))
    assert one.extend([MISSING]).levels == (("x", MISSING), ("x", "x"))


def test_encode_marks_values_without_a_path() -> None:
    """Else an unknown value silently becomes a known one."""
    assert Hierarchy.from_csv(FILE).encode(pd.Series(["33620", "99999"])).tolist() == [
        1,
        -1,
    ]


def test_cells_as_text() -> None:
    """Else 39 in the hierarchy does not match 39.0 that a gap has made of the
    column.
    """
    cells = [
        39,
        39.0,
        1.5,
        "a",
        None,
        np.nan,
        True,
        pd.Timestamp("2020-02-03"),
        np.int64(7),
    ]
    assert list_texts(cells) == [
        "39",
        "39",
        "1.5",
        "a",
        MISSING,
        MISSING,
        "True",
        "2020-02-03",
        "7",
    ]
    assert list_texts(pd.Series([39, None]).unique()) == ["39", MISSING]


def test_an_exported_hierarchy_runs_nothing_and_comes_back() -> None:
    """A spreadsheet would run a value as a formula, or disarming would change the
    hierarchy.
    """
    values = ("=1+1", "+1", "@SUM(1)", "-2", "-x", "'=1", "''=1", "plain", "\uff1d1")
    hierarchy = Hierarchy(values=values, levels=(values, ("*",) * len(values)))
    text = hierarchy.to_csv()
    assert not [
        line for line in text.splitlines() if line.lstrip('"')[0] in "=+@\uff1d"
    ]
    assert Hierarchy.from_csv(text) == hierarchy


PATHS = (("München", "Süd", "*"), ("Köln", "West", "*"), ("Berlin", "Ost", "*"))


@pytest.mark.parametrize(
    "text",
    [
        "München; Süd; *\nKöln; West; *\nBerlin; Ost; *\n",
        "München ; Süd ; *\nKöln ; West ;  *\nBerlin ; Ost ; *\n",
        "München;Süd;*;\r\nKöln;West;*;\r\nBerlin;Ost;*; \r\n",
        '"München","Süd"," *"\n"Köln","West","*"\n"Berlin","Ost","*"\n',
    ],
)
def test_blanks_and_a_last_separator_are_no_labels(text: str) -> None:
    """The top level would be " *", which is not the mark for suppressed, or ""."""
    read = Hierarchy.from_csv(text)
    assert tuple(zip(*read.levels, strict=True)) == PATHS


def test_a_header_of_a_hierarchy_is_named() -> None:
    """The file was refused as if its lines differed in length."""
    with pytest.raises(HierarchyError, match="first line of the hierarchy is a header"):
        Hierarchy.from_csv("city;region;all\nMünchen;Süd;*\nKöln;West;*\n")
    with pytest.raises(HierarchyError, match="needs exactly one line"):
        Hierarchy.from_csv("a;b;c\nd;e;f\n")


def test_zip_codes_beside_longer_ones() -> None:
    """02134 and 02134-1234 would never meet below *."""
    codes = pd.Series(
        ["02134", "02134-1234", "02139-0001", "90210", "90210-4321"] * 9, name="zip"
    )
    made = suggest_hierarchy(codes)
    paths = dict(zip(made.values, zip(*made.levels, strict=True), strict=True))
    assert paths["02134-1234"] == (
        "02134-1234",
        "02134",
        "0213*",
        "021**",
        "02***",
        "0****",
        "*",
    )
    assert paths["02134"][1:] == paths["02134-1234"][1:]
