"""Private search for the number of rows that count for each person.

It is found before anything else is read. The number of rows of each person is one value
per person. So a person who is added or removed changes one of them, however many rows
that person has: the sensitivity of the search is one person, and needs no cap.
"""

import bisect
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from dpcore.accounting.ledger import Account, Ledger
from dpcore.accounting.loss import Loss, PureDP
from dpcore.errors import UsageError
from dpcore.evaluation.base import PrivateEvaluation
from dpcore.mechanisms.measurer import Groups, Measurer
from dpcore.mechanisms.sensitivity import selection_scale
from dpcore.release import Guarantee, PrivateReport
from dpcore.schema.domain import Clique, Domain
from dpcore.schema.schema import Schema
from dpcore.schema.unit import PrivacyUnit
from dpcore.tables.counts import Counts
from dpcore.text import Text

ROW_CAPS = (1, 2, 3, 5, 10, 20, 50, 100)
"""The public list from which a number is chosen; whoever has more rows than the largest
counts as that.
"""
QUANTILE_ORDER = Fraction(9, 10)
"""Part of the people all of whose rows are to count."""


@dataclass(frozen=True, kw_only=True)
class RowsPerPersonQuestion(PrivateEvaluation):
    """Private search for the smallest of `ROW_CAPS` that most people do not exceed.

    It is a private quantile.

    Attributes:
        column: names the person.
    """

    kind = "rows of a person"
    counts_people = True

    column: str

    @property
    def ledger_names(self) -> tuple[str, ...]:
        return (self.column,)

    @property
    def source_guarantees(self) -> tuple[Guarantee, ...]:
        return ()

    def to_dict(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "column": self.column,
            "caps": list(ROW_CAPS),
            "order": str(QUANTILE_ORDER),
        }

    @classmethod
    def describe(cls, fields: Mapping[str, Any]) -> Text:
        """Describe the question by the name of the id column."""
        return Text(
            "Rows of one person that count, found privately, by {column}",
            column=fields["column"],
        )

    def check(self, schema: Schema) -> None:
        """Refuse a schema whose id column is not the column of the question.

        Raises: ParameterError.
        """
        if schema.unit.id_column != self.column:
            raise UsageError(
                f"people are not named by column {self.column!r}",
                remedy="name the id column",
            )

    def measure(self, measurer: Measurer, schema: Schema) -> dict[str, Any]:
        """Return {"max_rows": the value of `ROW_CAPS` that was found}."""
        return {
            "max_rows": ROW_CAPS[
                measurer.choose_quantile_cell(
                    self.column, QUANTILE_ORDER, measurer.loss, cells=len(ROW_CAPS)
                )
            ]
        }


def measurer_of_people(
    column: str, people: Callable[[], Mapping[int, int]], loss: Loss
) -> Measurer:
    """Return a measurer that counts people by their number of rows.

    Each person is one row, in the cells that end at `ROW_CAPS`.

    Args:
        column: names the person.
        people: reads the number of people by number of rows; called after the loss was
            taken off. Private.
        loss: to spend.
    """

    def counts(
        cliques: Sequence[Clique], *, groups: Mapping[str, Groups] | None = None
    ) -> list[Counts]:
        cells = np.zeros(len(ROW_CAPS), dtype=np.int64)
        for rows, number in people().items():
            cells[min(bisect.bisect_left(ROW_CAPS, rows), len(ROW_CAPS) - 1)] += number
        return [Counts(clique=clique, values=cells) for clique in cliques]

    return Measurer(
        counts,
        domain=Domain(names=(column,), sizes=(len(ROW_CAPS),)),
        loss=loss,
        max_rows=1,
    )


def largest_quantile_error(loss: PureDP, *, level: float = 0.95) -> float:
    """Return the error, in people, that the quantile stays below with chance `level`.

    Public. The exponential mechanism is off by more than scale * ln(candidates / chance
    of failure) with at most that chance (McSherry, Talwar 2007), and permute and flip
    is never worse (McKenna, Sheldon 2020).
    """
    return selection_scale(max_rows=1, loss=loss) * math.log(
        len(ROW_CAPS) / (1 - level)
    )


def read_privacy_unit(account: Account, ledger: Ledger) -> PrivacyUnit | None:
    """Return an account's privacy unit, or None until its `max_rows` is found.

    The first number found holds: the unit of an account never changes.
    """
    if "max_rows" in account.unit:
        return PrivacyUnit.from_dict(account.unit)
    lines = ledger.lines(account.dataset)
    searches = {
        line.request_id
        for line in lines
        if line.content.get("recipe", {}).get("kind") == RowsPerPersonQuestion.kind
    }
    for line in lines:
        if line.state == "committed" and line.request_id in searches:
            text = ledger.release(account.dataset, line.request_id)
            assert text is not None  # a line that is committed has its answer
            return PrivacyUnit.from_dict(
                {**account.unit, **PrivateReport.from_json(text).content}
            )
    return None
