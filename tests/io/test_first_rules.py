"""Files of accounts of earlier versions are read as they were then.

`first_rules.json` holds files, the options that were stored for them, and the
fingerprint of the table, as commit fa2511dd wrote them.
"""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest

from dpcore.io import ReadOptions, read_table
from dpcore.io.options import CURRENT_RULES, FIRST_RULES
from dpcore.tables.digests import fingerprint

KEY = b"k" * 32
FILES = json.loads(
    Path(__file__).with_name("first_rules.json").read_text(encoding="utf-8")
)


def read(file: dict[str, Any], rules: int) -> str:
    data = base64.b64decode(file["data"])
    options = ReadOptions(**file["options"], rules=rules)
    return fingerprint(read_table(data, file["name"], options=options).frame, KEY)


@pytest.mark.parametrize("file", FILES, ids=lambda file: str(file["name"]))
def test_the_first_rules_read_a_file_as_it_was_read(file: dict[str, Any]) -> None:
    """The same bytes would be another table, with another budget."""
    assert read(file, FIRST_RULES) == file["fingerprint"]


def test_the_rules_of_today_would_read_most_of_them_otherwise() -> None:
    """Twin: without the version of the rules nothing is found."""
    same = [read(file, CURRENT_RULES) == file["fingerprint"] for file in FILES]
    assert sum(same) <= len(FILES) / 2
