"""The privacy unit: who is protected, and the neighboring relation."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from dpcore.errors import ParameterError, SchemaError, UsageError

MAX_ROWS_PER_PERSON = 2**53 - 1
"""The largest whole number that every browser and every JSON reader keeps."""


@dataclass(frozen=True, kw_only=True)
class PrivacyUnit:
    """Whom a release protects: one person with at most `max_rows` rows.

    Neighbors differ by one person, added or removed.

    Attributes:
        max_rows: rows a person may have, from 1 to `MAX_ROWS_PER_PERSON`; the L1 sensitivity of
            one table of counts.
        id_column: the one column that names the person, joined from several if need be.
            With it, at most `max_rows` rows of each person are kept, chosen by a keyed
            hash; without it, the bound is the declared truth about the table. People
            who share a value are protected together, as one.
        from_data: whether `max_rows` was chosen by what the rows of the table showed.
        found: the epsilon for which `max_rows` was found privately, as an exact text;
            empty where it was not.
    """

    max_rows: int
    id_column: str | None = None
    from_data: bool = False
    found: str = ""

    def __post_init__(self) -> None:
        whole = isinstance(self.max_rows, int) and not isinstance(self.max_rows, bool)
        if not whole or not 1 <= self.max_rows <= MAX_ROWS_PER_PERSON:
            raise ParameterError(
                "max_rows ({max_rows}) must be a whole number from 1 to {most}",
                remedy="state how many rows one person may have",
                max_rows=self.max_rows,
                most=MAX_ROWS_PER_PERSON,
            )
        if isinstance(self.id_column, list | tuple):
            raise ParameterError(
                "a person must be identified by one column, not by {number}: {columns}",
                remedy=(
                    "add one column that combines them, such as A-17 for number 17 "
                    "of hospital A, and use that column"
                ),
                number=len(self.id_column),
                columns=", ".join(map(str, self.id_column)),
            )
        named = isinstance(self.id_column, str) and self.id_column != ""
        if not named and (self.id_column is not None or self.from_data or self.found):
            raise UsageError(
                (
                    "id_column must be the name of a column; without one nothing is "
                    "taken from the data"
                ),
                remedy=(
                    "name the column, or leave it out where no column names the person"
                ),
            )
        if self.found and (
            self.from_data
            or not re.fullmatch(r"[1-9]\d{0,29}(/[1-9]\d{0,29})?", self.found)
        ):
            raise UsageError(
                (
                    "found must be the epsilon of a private search, whose number is "
                    "not "
                    "taken from the data"
                ),
                remedy="write a fraction such as 1/20",
            )

    def __str__(self) -> str:
        rows = "one row" if self.max_rows == 1 else f"at most {self.max_rows} rows"
        if self.id_column:
            taken = ", a number that was taken from the data" if self.from_data else ""
            if self.found:
                epsilon = float(Fraction(self.found))
                taken = (
                    ", a number that was found privately for another epsilon of "
                    f"{epsilon:g}"
                )
            return (
                f"add or remove one person ({rows}{taken}, named by {self.id_column!r})"
            )
        return (
            "add or remove one person "
            f"({rows}{', declared and not checked' if self.max_rows > 1 else ''})"
        )

    def covers(self, declared: PrivacyUnit) -> bool:
        """Return whether this unit protects all rows of each person of another unit.

        Also if nothing checks rows.
        """
        if declared.id_column is not None:
            return self == declared
        return self.id_column is None and self.max_rows >= declared.max_rows

    def check_covers(self, declared: PrivacyUnit | None) -> None:
        """Refuse a unit that protects less than the source's operator declared.

        Raises: SchemaError.
        """
        if declared is not None and not self.covers(declared):
            raise SchemaError(
                (
                    "the operator of this source declared: {unit}; this privacy "
                    "unit would promise less"
                ),
                remedy="choose a privacy unit that protects at least as much",
                unit=declared,
            )

    def to_dict(self) -> dict[str, object]:
        fields: dict[str, object] = {
            "max_rows": self.max_rows,
            "id_column": self.id_column,
            "neighbours": "add or remove",
        }
        if self.found:
            fields["found"] = self.found
        return fields | ({"from_data": True} if self.from_data else {})

    def to_account(self) -> dict[str, object]:
        """Return the unit for an account, which stores no privately found
        `max_rows`.
        """
        fields = self.to_dict()
        return {
            name: fields[name]
            for name in fields
            if name != "max_rows" or not self.found
        }

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any]) -> PrivacyUnit:
        """Read the output of `to_dict`.

        Raises: KeyError, ParameterError.
        """
        return cls(
            max_rows=fields["max_rows"],
            id_column=fields["id_column"],
            from_data=bool(fields.get("from_data", False)),
            found=fields.get("found", ""),
        )
