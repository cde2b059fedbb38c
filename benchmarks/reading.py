"""How many awkward files, encodings, dates, numbers and marks are read as they are meant?

    python -m benchmarks.reading FOLDER
    python -m benchmarks.reading FOLDER --failures

FOLDER holds `files/` (inputs whose right answer is below) and the scripts
`sweep_encodings.py`, `sweep_forms.py` and `sweep_marks.py`, each of which prints a line
for a form that is not read and a total. Nothing is run without the folder. A period
such as 2021-03 is right if its column is one of dates.
"""

import os
import re
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from benchmarks.harness import Table, arguments, show
from dpcore.errors import DpcoreError
from dpcore.io import read_table
from dpcore.schema import suggest_schema

REFUSED = "refused"
PERIODS = (
    "2021-03",
    "03/2021",
    "Mar 2021",
    "March 2021",
    "2021M03 (Eurostat)",
    "2021-Q1",
    "2021Q1",
    "Q1 2021",
)
"""Forms of the sweep of dates that name a month or a quarter."""
RIGHT: dict[str, Any] = {
    "f01_mixed_grouping.csv": (60, {"amount": ("real", 0.2)}),
    "f02_excel_protected.csv": (40, {"v1": ("real", 0.2)}),
    "f03_utf8_one_bad_byte.csv": (121, {"city": ("categorical", "Zürich")}),
    "f05_cp1250.csv": (60, {"miasto": ("categorical", "Łódź")}),
    "f05b_cp1251.csv": (60, {"город": ("categorical", "Москва")}),
    "f05c_sjis.csv": (60, {"都市": ("categorical", "東京")}),
    "f05d_big5.csv": (60, {"城市": ("categorical", "臺北")}),
    "f05e_euckr.csv": (60, {"도시": ("categorical", "서울")}),
    "f05f_mac.csv": (60, {"ville": ("categorical", "Orléans")}),
    "f05g_cp850.csv": (60, {"stadt": ("categorical", "Köln")}),
    "f05h_iso8859_9.csv": (60, {"şehir": ("categorical", "İzmir")}),
    "f06_header_trailing_comma.csv": (40, {"age": ("integer", 20)}),
    "f06b_rows_trailing_comma.csv": (40, {"age": ("integer", 20)}),
    "f06c_both_trailing_comma.csv": (40, {"city": ("categorical", "A")}),
    "f07_duplicate_names.csv": REFUSED,
    "f08_r_row_names.csv": (40, {"age": ("integer", 20)}),
    "f13_yyyymmdd.csv": (80, {"dateOfBirth": ("date", "1555-02-17")}),
    "f13b_yyyymmdd_many.csv": (400, {"dateOfBirth": ("date", "1940-01-01")}),
    "f14_month_names.csv": (300, {"checkout": ("date", "2020-01-01")}),
    "f14b_month_names_long.csv": (300, {"checkout": ("date", "2020-01-01")}),
    "f14c_german_month.csv": (300, {"datum": ("date", "2020-01-01")}),
    "f15_two_digit_years.csv": (300, {"dob": ("date", "1950-01-01")}),
    "f16_mixed_dates.csv": (300, {"day": ("date", "2001-01-01")}),
    "f17_clock.csv": (300, {"sex": ("categorical", "F")}),
    "f18_periods.csv": (120, {"period": ("date", "2010-01-01")}),
    "f18b_month_slash.csv": (120, {"period": ("date", "2010-01-01")}),
    "f19_sep_line.csv": (40, {"age": ("integer", 20)}),
    "f20_titles_footnotes.csv": (40, {}),
    "f20b_footnote.csv": (40, {"region": ("categorical", "R0")}),
    "f20c_footnote_short.csv": (40, {"region": ("categorical", "R0")}),
    "f20d_total_row.csv": (40, {"region": ("categorical", "R0")}),
    "f21_eurostat.tsv": (30, {"2019": ("real", 0.5)}),
    "f22_mysql.csv": REFUSED,
    "f22b_backslash_n.csv": (60, {"age": ("integer", None)}),
    "f23_none_is_category.csv": (100, {}),
    "f24_blanks_case.csv": (100, {"sex": ("categorical", "F")}),
    "f26_parentheses.csv": (80, {"profit": ("real", -1100.5)}),
    "f26b_trailing_minus.csv": (80, {"profit": ("real", -100.5)}),
    "f27_comma_exponent.csv": (60, {"y": (("integer", "real"), 1.5)}),
    "f27b_nbsp.csv": (60, {"y": ("real", 1100.5)}),
    "f27c_indian.csv": (60, {"pay": ("integer", 110100)}),
    "f27d_plus.csv": (60, {"change": ("real", -0.5)}),
    "f27e_swiss.csv": (60, {"pay": ("real", 1100.5)}),
    "f27f_brl.csv": (60, {"pay": ("real", 1100.5)}),
    "f28_apostrophe.csv": (60, {"plz": ("categorical", "01000")}),
    "f29_html.xls": REFUSED,
    "f29b_tsv.xls": (40, {"age": ("integer", 20)}),
    "f30_jsonl.csv": REFUSED,
    "f30b_fixed_width.txt": (40, {"AGE": ("integer", 20)}),
    "f30c_json.json": REFUSED,
    "f31_single_quotes.csv": REFUSED,
    "f32_booleans.csv": (90, {}),
    "f32b_booleans_missing.csv": (90, {"smoker": ("boolean", "WAHR")}),
    "f32c_zero_one.csv": (90, {"n": ("integer", 0)}),
    "f33_float_ints.csv": (90, {"children": ("integer", None)}),
    "f34_big_ids.csv": (90, {"person_id": (None, 9007199254740993)}),
    "f35_long_cell.csv": REFUSED,
    "f36_concatenated.csv": (120, {"age": ("integer", 20)}),
    "f37_empty_columns.csv": (40, {"age": ("integer", 20)}),
    "f39_units.csv": (90, {"weight": ("integer", 50)}),
    "f40_fullwidth.csv": (60, {"年齢": ("integer", 20)}),
    "f41_epoch.csv": (200, {"created": ("date", "2020-09-13 12:26:40")}),
    "f42_latlon.csv": (120, {"place": (None, "48.0000, 11.0000")}),
    "f43_age_bands.csv": (90, {"ageband": ("categorical", "0-4")}),
    "f43b_age_bands_excel_dates.csv": (90, {"ageband": ("categorical", "0-4")}),
    "n03_guardian.csv": (300, {"Guardian": (None, "Peter A. Smith")}),
    "p02_time.parquet": (60, {}),
    "p03_duration.parquet": (60, {}),
    "p04_nested.parquet": (60, {}),
    "p05_struct.parquet": (60, {}),
    "p06_null_type.parquet": (60, {"x": ("integer", 1)}),
    "p07_pandas_index.parquet": (60, {"age": ("integer", 20)}),
    "p07b_pandas_filtered.parquet": (54, {"age": ("integer", 26)}),
    "p09_uuid.parquet": (60, {}),
    "s02_stata_missing.dta": (60, {"sat": ("integer", None)}),
    "s03_stata_dates.dta": (60, {"d": ("date", "2021-03-01")}),
    "s04_partial_labels.sav": (70, {"scale": ("integer", 1)}),
    "x01_hidden_first.xlsx": (None, {"age": ("integer", None)}),
    "x02_readme_first.xlsx": (None, {"age": ("integer", None)}),
    "x03_merged_rows.xlsx": (40, {"region": ("categorical", "R0")}),
    "x04_multi_header.xlsx": (40, {"2020 age": ("integer", 20)}),
    "x06_times.xlsx": (40, {"moment": ("date", "2020-01-01 08:00:00")}),
    "x08_total_and_source.xlsx": (40, {"age": ("integer", 20)}),
    "x09_text_and_numbers.xlsx": (40, {"day": ("date", "2021-03-01")}),
    "x13_ssn_on_second_sheet.xlsx": (200, {"birth_date": (None, None)}),
    "x14_hidden_list_first.xlsx": (200, {}),
}
"""Rows, and of some columns the kind that is proposed and the first cell."""


def main() -> None:
    """Score the files and the sweeps of a folder."""
    parser = arguments(__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--failures", action="store_true")
    options = parser.parse_args()
    lines = []
    for what, of, failures in (score_files(options.folder), *sweeps(options.folder)):
        lines.append((what, of - len(failures), of))
        if options.failures:
            print(what, *failures, sep="\n  ")
    table = Table.of("Read as meant", ("inputs", "right", "of"), lines)
    show([table], as_json=options.json)


def score_files(folder: Path) -> tuple[str, int, list[str]]:
    """Compare each file with what is right."""
    warnings.simplefilter("ignore")
    failures = [
        f"{name}: {problem}"
        for name, right in RIGHT.items()
        if (problem := find_problem(folder / "files" / name, right))
    ]
    return "files", len(RIGHT), failures


def find_problem(file: Path, right: Any) -> str:
    """Return what is wrong with the reading of a file, empty if nothing is."""
    try:
        frame = read_table(file.read_bytes(), file.name).frame
    except DpcoreError as error:
        return "" if right == REFUSED else f"refused: {error}"
    if right == REFUSED:
        return "not refused"
    rows, columns = right
    if rows is not None and len(frame) != rows:
        return f"{len(frame)} rows, not {rows}"
    try:
        proposed = {column.name: column for column in suggest_schema(frame).columns}
    except DpcoreError as error:
        return f"no schema: {error}"
    for name, (kind, first) in columns.items():
        if name not in frame:
            return f"no column {name}: {list(frame)}"
        kinds = (kind,) if isinstance(kind, str | None) else kind
        found = proposed[name].kind if name in proposed else None
        if None not in kinds and found not in kinds:
            return f"{name} is {found}"
        if first is not None and frame[name].iloc[0] != first:
            return f"{name} begins with {frame[name].iloc[0]!r}"
    return ""


def sweeps(folder: Path) -> list[tuple[str, int, list[str]]]:
    """Run the scripts of the folder and count what they print."""
    texts = {
        name: subprocess.run(
            [sys.executable, str(folder / f"sweep_{name}.py")],
            cwd=Path(__file__).resolve().parents[1],
            env={**os.environ, "PYTHONPATH": "."},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for name in ("encodings", "forms", "marks")
    }
    numbers, _, dates = texts["forms"].partition("numbers:")
    return [
        ("encodings", _last_count(texts["encodings"]), _lines(texts["encodings"])),
        ("dates", _last_count(dates), _failed_dates(dates)),
        ("numbers", numbers.count("\n"), _lines(numbers, "FAIL")),
        ("marks", texts["marks"].count("\n") - 1, _lines(texts["marks"], "", "<<<")),
    ]


def _last_count(text: str) -> int:
    return int(re.findall(r"of (\d+)", text)[-1])


def _lines(text: str, begin: str = "", end: str = "") -> list[str]:
    return [
        line
        for line in text.splitlines()
        if line.startswith(begin)
        and line.rstrip().endswith(end)
        and not re.fullmatch(r"\d+ of \d+ right", line)
    ]


def _failed_dates(text: str) -> list[str]:
    return [
        line
        for line in _lines(text, "FAIL")
        if not (line[6:32].strip() in PERIODS and line[33:].startswith("date"))
    ]


if __name__ == "__main__":
    main()
