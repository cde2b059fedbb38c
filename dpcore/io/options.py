"""Options for reading a text file, and the reading of its cells."""

from dataclasses import dataclass, field
from typing import Literal

from dpcore.errors import UsageError

SEPARATORS = (",", ";", "\t", "|")
DECIMALS = (".", ",")


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """Options of a text file, None for what is to be seen from the file itself.

    Attributes:
        encoding: Python's name of it.
        separator: one of `SEPARATORS`.
        decimal: the sign before the decimals, one of `DECIMALS`.
        header: whether the first line names the columns.
        names: of the columns of a file without a header; column_1, column_2, ... where
            not given.
        skip: lines above the header, or above the rows where there is none.
        day_first: whether 06/04/2002 is 6 April.
    """

    encoding: str | None = None
    separator: str | None = None
    decimal: str | None = None
    header: bool | None = None
    names: tuple[str, ...] = ()
    skip: int | None = None
    day_first: bool | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "names", tuple(self.names))
        for name, value, allowed in (
            ("separator", self.separator, SEPARATORS),
            ("decimal", self.decimal, DECIMALS),
        ):
            if value is not None and value not in allowed:
                raise UsageError(
                    f"{name} ({value!r}) must be one of {' '.join(map(repr, allowed))}",
                    remedy="choose one from the list",
                )
        if self.skip is not None and self.skip < 0:
            raise UsageError(
                f"skip ({self.skip}) must be at least 0", remedy="use 0 or more"
            )


@dataclass(frozen=True, kw_only=True)
class Understood:
    """A column whose texts were read as numbers or dates of some country.

    Attributes:
        pattern: how they are written, such as "1.234,5 €" or "dd.mm.yyyy".
        examples: up to three of its texts, and what they were read as. Private.
    """

    column: str
    kind: Literal["number", "date"]
    pattern: str
    examples: tuple[tuple[str, str], ...] = field(repr=False)
