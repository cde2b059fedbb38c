"""Reads the plain part of YAML that the registry's schema and our entries are written in.

Mappings, lists of scalars, block texts, quoted texts, numbers and comments. Anything
else is an error, so that nothing passes unread.
"""

from __future__ import annotations

import json
import re
from typing import Any

KEY = re.compile(r"([\w$]+):(?:\s+(.*))?$")
WORDS = {"True": True, "False": False, "true": True, "false": False}


def read_yaml(text: str) -> Any:
    """Return what a YAML text of these parts says."""
    value, rest = _block(text.splitlines(), 0)
    assert rest == [], rest
    return value


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def _is_nothing(line: str) -> bool:
    return not line.strip() or line.lstrip().startswith("#")


def _block(lines: list[str], indent: int) -> tuple[Any, list[str]]:
    """Return the mapping or list that begins here, and the lines after it."""
    mapping: dict[str, Any] = {}
    listed: list[Any] = []
    while lines:
        if _is_nothing(lines[0]):
            lines = lines[1:]
            continue
        if _indent(lines[0]) < indent:
            break
        assert _indent(lines[0]) == indent, lines[0]
        line, lines = lines[0].strip(), lines[1:]
        if line.startswith("- "):
            listed.append(_scalar(line[2:]))
            continue
        match = KEY.match(line)
        assert match, line
        key, given = match[1], match[2] or ""
        assert key not in mapping, key
        if given == "|":
            mapping[key], lines = _text(lines, indent)
        elif given:
            mapping[key] = _scalar(given)
        else:
            inner = next(_indent(each) for each in lines if not _is_nothing(each))
            mapping[key], lines = _block(lines, inner)
    assert not (mapping and listed)
    return mapping or listed, lines


def _text(lines: list[str], indent: int) -> tuple[str, list[str]]:
    taken = []
    while lines and (not lines[0].strip() or _indent(lines[0]) > indent):
        taken.append(lines[0].strip())
        lines = lines[1:]
    return "\n".join(taken), lines


def _scalar(text: str) -> Any:
    if text.startswith('"'):
        value, end = json.JSONDecoder().raw_decode(text)
        assert not (rest := text[end:].strip()) or rest.startswith("#"), text
        return value
    text = text.partition(" #")[0].strip()
    if text in WORDS:
        return WORDS[text]
    if re.fullmatch(r"[-+]?\d+", text):
        return int(text)
    # as YAML 1.1 has it, which most readers follow: a number has a point
    if re.fullmatch(r"[-+]?\d+\.\d*(e[-+]\d+)?", text):
        return float(text)
    return text
