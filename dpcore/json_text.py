"""Parse JSON texts from files, within limits on depth and digits."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dpcore.errors import DpcoreError, LimitError, UsageError, wrong_file_kind_error

MAX_DEPTH = 20
"""Lists and objects inside each other, at most."""
MAX_DIGITS = 100
"""Digits of a whole number, at most. Python takes a time that grows with their square."""


def parse_json(text: str | bytes) -> Any:
    """Parse the JSON text of a file.

    Raises: ReadError for text that is no JSON; LimitError for a nesting or a number
        beyond the limits. None repeats what the text holds.
    """
    try:
        content = json.loads(text, parse_int=_parse_whole_number)
    except RecursionError:
        raise _nesting_error() from None
    except ValueError:
        raise wrong_file_kind_error() from None
    _check_depth(content)
    return content


@contextmanager
def refuse_malformed_fields() -> Iterator[None]:
    """Turn errors from missing fields, or fields of a wrong type, into a ReadError.

    Other errors of the library pass.
    """
    try:
        yield
    except UsageError as error:
        raise wrong_file_kind_error() from error
    except DpcoreError:
        raise
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ) as error:
        raise wrong_file_kind_error() from error


def _parse_whole_number(digits: str) -> int:
    if len(digits) > MAX_DIGITS:
        raise LimitError(
            "a number in the file has more than {limit} digits",
            remedy="use the file as it was saved",
            limit=MAX_DIGITS,
        )
    return int(digits)


def _check_depth(content: Any) -> None:
    level = _child_containers([content])
    for _ in range(MAX_DEPTH):
        level = [child for container in level for child in _child_containers(container)]
    if level:
        raise _nesting_error()


def _child_containers(container: dict[str, Any] | list[Any]) -> list[Any]:
    """Return the lists and objects directly inside a list or an object."""
    children = container.values() if isinstance(container, dict) else container
    return [child for child in children if isinstance(child, dict | list)]


def _nesting_error() -> LimitError:
    return LimitError(
        "lists or objects in the file are nested more than {limit} levels deep",
        remedy="use the file as it was saved",
        limit=MAX_DEPTH,
    )
