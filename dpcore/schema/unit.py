"""Who is protected: the privacy unit, and with it the neighboring relation."""

from __future__ import annotations

from dataclasses import dataclass

from dpcore.errors import ParameterError


@dataclass(frozen=True, kw_only=True)
class PrivacyUnit:
    """One person, who holds at most `max_rows` rows. Neighbors: add or remove one person.

    Attributes:
        max_rows: rows a person may have, at least 1; the L1 sensitivity of one table of counts.
        id_column: the column that names the person. With it, at most `max_rows` rows of each person are
            kept, chosen by a keyed hash; without it, the bound is the declared truth about the table.
    """

    max_rows: int
    id_column: str | None = None

    def __post_init__(self) -> None:
        if isinstance(self.max_rows, bool) or not isinstance(self.max_rows, int) or self.max_rows < 1:
            raise ParameterError(
                "max_rows ({max_rows}) must be a whole number of at least 1",
                remedy="state how many rows one person may have",
                max_rows=self.max_rows,
            )

    def __str__(self) -> str:
        rows = "one row" if self.max_rows == 1 else f"at most {self.max_rows} rows"
        person = f"one person ({rows}" + (f", named by {self.id_column!r})" if self.id_column else ")")
        return f"add or remove {person}"

    def to_dict(self) -> dict[str, object]:
        return {"max_rows": self.max_rows, "id_column": self.id_column, "neighbours": "add or remove"}
