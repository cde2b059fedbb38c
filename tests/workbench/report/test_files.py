"""Names of downloads: the data set, what it is, its epsilon, and the day."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pandas as pd

import dpcore as dp
from workbench.report.files import file_name, release_file

ROOT = Path(__file__).parents[3]


def test_a_name_says_data_set_what_epsilon_and_day() -> None:
    """anonymized.csv, plan.json and release-cd93d794.csv could not be told apart a week
    later.
    """
    schema = dp.Schema(
        columns=(dp.Integer("age", low=0, high=9),), unit=dp.PrivacyUnit(max_rows=1)
    )
    frame = pd.DataFrame({"age": [1, 2, 3]})
    budget = dp.PureDP(epsilon="1/2")
    curator = dp.Curator.open(frame, schema, budget=budget, ledger=dp.MemoryLedger())
    release = curator.run(dp.Histogram("age"), budget)
    name = release_file("clients 2026.xlsx", release, "counts", "csv")
    assert re.fullmatch(r"clients-2026_counts_epsilon-0\.5_\d{4}-\d\d-\d\d\.csv", name)
    assert (
        file_name("../a\nb.csv", "audit", "html", day="2026-01-02")
        == "a-b_audit_2026-01-02.html"
    )


def test_no_download_of_a_page_has_a_fixed_name() -> None:
    """Two data sets would overwrite each other's files."""
    fixed = []
    seen = 0
    for path in [*ROOT.glob("workbench/**/*.py"), *ROOT.glob("pages/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if (
                isinstance(node, ast.Call)
                and ast.unparse(node.func) == "file_view.download"
            ):
                seen += 1
                named = node.args[2:3]
                fixed += [
                    f"{path.name}:{node.lineno}"
                    for each in named
                    if isinstance(each, ast.Constant)
                ]
                assert named, f"{path.name}:{node.lineno} has no name"
    assert seen > 15
    assert fixed == []


def test_internal_files_say_so_however_long_their_name_is() -> None:
    """A long name was cut before the word, and the public file had the same name."""
    cut = []
    for path in [*ROOT.glob("workbench/**/*.py"), *ROOT.glob("pages/*.py")]:
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) == "file_name":
                cut += [
                    f"{path.name}:{node.lineno}"
                    for what in node.args[1:2]
                    if isinstance(what, ast.JoinedStr)
                    and "internal" in ast.unparse(what)
                ]
    assert cut == [], "a name of any length ends in this word"
    name = "exact table district sex education level"
    public = file_name("survey.csv", name, "html", day="2026-01-02")
    internal = file_name(
        "survey.csv", name, "html", detail="internal", day="2026-01-02"
    )
    assert public != internal
    assert "_internal_" in internal


def test_long_names_end_after_a_word_and_two_formats_differ() -> None:
    made = "anonymized 3-anonymity distinct-3-diversity of Diagnosis"
    table = file_name("survey.csv", made, "csv", day="2026-01-02")
    assert table == "survey_anonymized-3-anonymity-distinct-3_2026-01-02.csv"
    for_spreadsheets = file_name(
        "survey.csv", made, "csv", detail="spreadsheet", day="2026-01-02"
    )
    assert for_spreadsheets != table
    one_word = file_name("x" * 60, "rows", "csv", day="2026-01-02")
    assert one_word == "x" * 40 + "_rows_2026-01-02.csv"
