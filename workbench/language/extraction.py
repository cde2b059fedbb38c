"""Extraction of messages for Babel from code, data files and the library."""

import ast
import builtins
import tomllib
from collections.abc import Iterator
from typing import IO, Any

MESSAGE_FUNCTIONS = {"_", "N_", "capital", "Text", "corrupt"}
PLURAL_FUNCTIONS = {"ngettext"}
MESSAGE_ARGUMENTS = {"remedy", "reason"}
NON_MESSAGE_KEYS = {
    "key",
    "kind",
    "page",
    "term",
    "notebook",
    "logarithmic",
    "number",
    "columns",
    "rows",
    "known",
    "shown",
}
NON_MESSAGE_KEYS |= {"source", "version", "id", "tests", "figure", "at_most"}
"""Keys of records under which no text is a message."""
ERROR_NAME_ENDINGS = (
    "Error",
    "Exceeded",
    "BudgetFixed",
    "RequestConflict",
    "LedgerCorrupt",
)
PROGRAMMER_ERRORS = ("UsageError", "DisclosureError", "OperationalError")
"""Errors that no page lets a person cause: they stay in English, and a page shows an id
of the log.
"""


def extract(
    file: IO[bytes],
    keywords: Any,
    comment_tags: Any,
    options: Any,
) -> Iterator[tuple[int, str, str | tuple[str, ...], list[str]]]:
    """Yield (line, function, message, comments) of every message in a source file."""
    for call in ast.walk(ast.parse(file.read())):
        if isinstance(call, ast.Call):
            of, _dot, name = ast.unparse(call.func).rpartition(".")
            if name in PROGRAMMER_ERRORS or of == "altair":
                continue
            marked = [
                argument.value
                for argument in call.keywords
                if argument.arg in MESSAGE_ARGUMENTS
            ]
            if many := [
                argument.value for argument in call.keywords if argument.arg == "many"
            ]:
                yield (
                    call.lineno,
                    "ngettext",
                    (*_string_literals(call.args[0]), *_string_literals(many[0])),
                    [],
                )
            elif name in PLURAL_FUNCTIONS:
                yield (
                    call.lineno,
                    "ngettext",
                    (*_string_literals(call.args[0]), *_string_literals(call.args[1])),
                    [],
                )
            elif name in MESSAGE_FUNCTIONS or (
                name.endswith(ERROR_NAME_ENDINGS) and not hasattr(builtins, name)
            ):
                marked += call.args[:1]
            for argument in marked:
                for message in _string_literals(argument):
                    yield argument.lineno, "", message, []


def extract_words(
    file: IO[bytes],
    keywords: Any,
    comment_tags: Any,
    options: Any,
) -> Iterator[tuple[int, str, str, list[str]]]:
    """Yield (line, function, message, comments) of every message in a data file."""
    for package, records in tomllib.load(file).items():
        yield from (
            (1, "", message, [package]) for message in _translatable_texts(records)
        )


def extract_kinds(
    file: IO[bytes],
    keywords: Any,
    comment_tags: Any,
    options: Any,
) -> Iterator[tuple[int, str, str, list[str]]]:
    """Yield (line, function, message, comments) for names of kinds of identifiers."""
    yield from (
        (1, "", kind["name"], ["kind"])
        for kind in tomllib.load(file)["kinds"]
        if not kind["name"].isupper()
    )


def _translatable_texts(data: Any) -> Iterator[str]:
    """Yield the texts in nested records that are messages for people."""
    if isinstance(data, str) and any(map(str.isalpha, data)):
        yield data
    if isinstance(data, dict):
        data = [value for key, value in data.items() if key not in NON_MESSAGE_KEYS]
    if isinstance(data, list):
        for record in data:
            yield from _translatable_texts(record)


def _string_literals(argument: ast.expr) -> Iterator[str]:
    """Yield the string literal of an argument, or both literals of a conditional."""
    if (
        isinstance(argument, ast.Constant)
        and isinstance(argument.value, str)
        and argument.value
    ):
        yield argument.value
    elif isinstance(argument, ast.IfExp):
        yield from _string_literals(argument.body)
        yield from _string_literals(argument.orelse)
