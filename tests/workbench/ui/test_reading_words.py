"""What is said of a file that was read."""

from __future__ import annotations

from dpcore.io import read_table
from dpcore.io.encoding import DAMAGED_UTF8
from dpcore.io.options import ReadOptions
from workbench.language.wording import printing
from workbench.ui.reading_words import reading_sentences

ROWS = "sex,age\n" + "F,31\nM,40\n" * 20


def test_a_printed_file_counts_no_lines_and_points_at_none() -> None:
    """A report in whole percent would tell in which line one person stands."""
    files = {
        "left out": (ROWS + "\n,\n\n").encode(),
        "damaged": ROWS.encode() + b"F\xff,31\n",
    }
    for name, data in files.items():
        options = ReadOptions(encoding=DAMAGED_UTF8 if name == "damaged" else None)
        read = read_table(data, "table.csv", options=options)
        said = reading_sentences(read.options, read.notes)[-1]
        assert any(sign.isdigit() for sign in said), said
        with printing():
            printed = reading_sentences(read.options, read.notes)[-1]
        assert name in printed
        assert not any(sign.isdigit() for sign in printed)
