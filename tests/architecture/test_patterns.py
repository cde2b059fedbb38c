"""Patterns of regular expressions mean the same in every version of Python that we run on.

Before version 3.11.4, a possessive group may match too much: a file with an open quotation
mark was read as if the rest were one cell.
"""

from __future__ import annotations

import ast
import re

from tests.architecture.modules import name_of, nodes, ours

POSSESSIVE_GROUP = re.compile(r"\)(?:[*+?]|\{[0-9,]+\})\+|\(\?>")


def test_no_pattern_has_a_possessive_group() -> None:
    found = [
        (name_of(path), node.lineno)
        for path, tree in ours().items()
        for node in nodes(tree)
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and POSSESSIVE_GROUP.search(node.value)
    ]
    assert found == []


def test_possessive_groups_are_seen_and_single_characters_let_pass() -> None:
    for pattern in ("(?:a|b)*+", "(a)?+", "(?:ab){2,3}+", "(?>a|b)", "x(y)++"):
        assert POSSESSIVE_GROUP.search(pattern), pattern
    for pattern in (r"a*+", r"[^)]*+", r"(?:a|b)*", r"\s++(?:a)?"):
        assert POSSESSIVE_GROUP.search(pattern) is None, pattern
