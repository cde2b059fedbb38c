"""Extraction of messages for Babel, of `words.toml`, of `_` and `N_`, and of the sentences of the library."""

from __future__ import annotations

import ast
import tomllib
from collections.abc import Iterator
from typing import IO, Any

TEXTS = {"title", "says", "covers", "question"}
MARKS = {"_", "N_", "Text", "corrupt"}
ARGUMENTS = {"remedy", "reason"}
ERRORS = ("Error", "Exceeded", "BudgetFixed", "RequestConflict", "LedgerCorrupt")


def extract(
    file: IO[bytes], keywords: Any, comment_tags: Any, options: Any
) -> Iterator[tuple[int, str, str, list[str]]]:
    """(line, function, message, comments) of every message in one source file, for Babel."""
    for call in ast.walk(ast.parse(file.read())):
        if isinstance(call, ast.Call):
            name = ast.unparse(call.func).rpartition(".")[2]
            marked = [each.value for each in call.keywords if each.arg in ARGUMENTS]
            if name in MARKS or name.endswith(ERRORS) or name in ("on_progress", "progress"):
                marked += call.args[:1]
            for argument in marked:
                for message in _texts(argument):
                    yield argument.lineno, "", message, []


def extract_words(
    file: IO[bytes], keywords: Any, comment_tags: Any, options: Any
) -> Iterator[tuple[int, str, str, list[str]]]:
    """(line, function, message, comments) of every message in `words.toml`, for Babel."""
    for package, tables in tomllib.load(file).items():
        for name, messages in tables.items():
            for message in messages.values():
                yield 1, "", message, [f"{package}.{name}"]


def extract_texts(
    file: IO[bytes], keywords: Any, comment_tags: Any, options: Any
) -> Iterator[tuple[int, str, str, list[str]]]:
    """(line, function, message, comments) of every text for people in another data file, for Babel."""
    entries = [tomllib.load(file)]
    for entry in entries:
        entries += [
            each for lines in entry.values() if isinstance(lines, list) for each in lines if TEXTS & set(each)
        ]
        yield from ((1, "", entry[name], []) for name in sorted(TEXTS & set(entry)))


def _texts(argument: ast.expr) -> Iterator[str]:
    """Yield the text of an argument, or both where it is one of two."""
    if isinstance(argument, ast.Constant) and isinstance(argument.value, str) and argument.value:
        yield argument.value
    elif isinstance(argument, ast.IfExp):
        yield from _texts(argument.body)
        yield from _texts(argument.orelse)
