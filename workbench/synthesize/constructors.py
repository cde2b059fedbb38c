"""Write values as the Python code that constructs them, in a readable layout."""

import dataclasses
import inspect
from collections.abc import Iterable, Mapping
from fractions import Fraction
from typing import Any

import dpcore as dp

LINE_LENGTH = 88
_INDENTATION = "    "


class ConstructorWriter:
    """Writer of values as constructor calls, which also collects the imports they need.

    Attributes:
        imports: lines of the classes that are not in `dpcore` itself.

    >>> from dpcore.schema import Integer
    >>> ConstructorWriter().write(Integer("age", low=0, high=99))
    'dp.Integer("age", low=0, high=99)'
    """

    def __init__(self) -> None:
        self.imports: set[str] = set()

    def write(
        self, value: Any, *, prefix: str = "", omitted_fields: Iterable[str] = ()
    ) -> str:
        """Return the Python code that constructs a value.

        Args:
            value: a frozen dataclass of plain fields, or a plain value.
            prefix: what stands on the line before it, such as "schema = ".
            omitted_fields: fields of the value itself that are not written.

        Raises: TypeError for a value that is neither.
        """
        call = self._call(value, tuple(omitted_fields))
        return prefix + _lay_out(call, used=len(prefix))

    def _call(self, value: Any, leave_out: tuple[str, ...] = ()) -> "_Call | str":
        if dataclasses.is_dataclass(value) and not isinstance(value, type):
            return self._call_of_class(value, leave_out)
        if isinstance(value, str):
            return _quote_text(value)
        if value is None or isinstance(value, bool | int):
            return repr(value)
        if isinstance(value, float):
            return repr(float(value))
        if isinstance(value, Fraction):
            return _quote_text(write_exactly(value))
        if isinstance(value, Mapping):
            pairs = [(self._call(key), self._call(item)) for key, item in value.items()]
            return _Call(
                "{",
                [(f"{_write_on_one_line(key)}: ", item) for key, item in pairs],
                "}",
            )
        if isinstance(value, frozenset):
            items = [("", self._call(item)) for item in sorted(value)]
            return _Call("frozenset({", items, "})") if items else "frozenset()"
        if isinstance(value, tuple | list):
            items = [("", self._call(item)) for item in value]
            return _Call("(", items, ")", is_tuple=True)
        raise TypeError(type(value).__name__)

    def _call_of_class(self, value: Any, leave_out: tuple[str, ...]) -> "_Call":
        kind = type(value)
        name = kind.__name__
        if getattr(dp, name, None) is kind:
            name = f"dp.{name}"
        else:
            self.imports.add(f"from {kind.__module__} import {name}")
        items: list[tuple[str, _Call | str]] = []
        for field in _fields_in_reading_order(kind):
            given = getattr(value, field.name)
            if (
                field.name in leave_out
                or not field.init
                or given == _default_value(field)
            ):
                continue
            comes_first = not items and not field.kw_only and isinstance(given, str)
            items.append(("" if comes_first else f"{field.name}=", self._call(given)))
        return _Call(f"{name}(", items, ")")


@dataclasses.dataclass(frozen=True)
class _Call:
    """Code in brackets: the opening text, the items with their names, the closing
    text.
    """

    opening: str
    items: "list[tuple[str, _Call | str]]"
    closing: str
    is_tuple: bool = False


def write_exactly(number: Fraction) -> str:
    """Return a fraction exactly: as a decimal such as "0.1" if possible, else as
    "1/3".
    """
    decimal = f"{float(number):g}"
    return decimal if Fraction(decimal) == number else str(number)


def _fields_in_reading_order(kind: type) -> list[dataclasses.Field[Any]]:
    """Return the fields of a class: positional, then its own, then inherited ones.

    Bounds come before what all columns have.
    """
    own = inspect.get_annotations(kind)
    return sorted(
        dataclasses.fields(kind),
        key=lambda field: (field.kw_only, field.name not in own),
    )


def _default_value(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    return field.default


def _quote_text(text: str) -> str:
    """Return a Python string literal, in double quotes unless the text contains
    them.
    """
    written = repr(text)
    if written.startswith("'") and '"' not in text:
        return f'"{written[1:-1]}"'
    return written


def _write_on_one_line(code: _Call | str) -> str:
    """Return code on one line."""
    if isinstance(code, str):
        return code
    inside = ", ".join(name + _write_on_one_line(item) for name, item in code.items)
    if code.is_tuple and len(code.items) == 1:
        inside += ","
    return code.opening + inside + code.closing


def _lay_out(code: _Call | str, *, used: int = 0, depth: int = 0) -> str:
    """Return code on one line if it fits, else an item on each line.

    Plain values, such as categories, share lines.

    Args:
        used: columns that are taken on the first line.
        depth: of the indentation.
    """
    flat = _write_on_one_line(code)
    # A nested value is followed by a comma, which takes one more column.
    if isinstance(code, str) or used + len(flat) + (depth > 0) <= LINE_LENGTH:
        return flat
    indent = _INDENTATION * (depth + 1)
    lines: list[str] = []
    is_plain = all(not name and isinstance(item, str) for name, item in code.items)
    for name, item in code.items:
        head = indent + name
        text = head + _lay_out(item, used=len(head), depth=depth + 1) + ","
        if is_plain and lines and len(lines[-1]) + len(text.strip()) < LINE_LENGTH:
            lines[-1] += f" {text.strip()}"
        else:
            lines.append(text)
    return "\n".join([code.opening, *lines, _INDENTATION * depth + code.closing])
