"""People in groups of rows, counted by pandas alone: what is known of a group, and what
it gives away.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

MISSING = "(missing)"


def cells(file: bytes) -> pd.DataFrame:
    """A file of commas as texts: numbers in one form, without blanks around, gaps by
    one word. A line without any value is no row.
    """
    rows = pd.read_csv(pd.io.common.BytesIO(file), dtype=str, keep_default_na=False)
    filled = rows.apply(lambda column: column.str.strip().ne("")).any(axis=1)
    return rows[filled].reset_index(drop=True).map(text)


def text(cell: str) -> str:
    """One cell as it is compared."""
    cell = cell.strip().removesuffix(".0") or MISSING
    return MISSING if cell == "k.A." else cell


def _rank(value: str) -> tuple[float, str]:
    """Numbers in their order, then texts in that of theirs."""
    is_number = value.removeprefix("-").replace(".", "", 1).isdigit()
    return (float(value) if is_number else np.inf), value


class People:
    """Rows with a person each (`person`, one a row) in groups by columns.

    Attributes:
        sizes: people of each group. of_rows: the same for each row's group.
        smallest: people of the smallest group of each person.
    """

    def __init__(
        self, rows: pd.DataFrame, columns: Sequence[str], person: pd.Series
    ) -> None:
        self.rows = rows.assign(**{"the person": person.loc[rows.index]})
        self.columns = list(columns)
        grouped = self.rows.groupby(self.columns)["the person"]
        self.sizes = grouped.nunique()
        self.of_rows = grouped.transform("nunique")
        self.smallest = self.of_rows.groupby(self.rows["the person"]).min()

    def __len__(self) -> int:
        return len(self.smallest)

    @property
    def unique(self) -> float:
        """Share of people with a row that is like nobody else's."""
        return float((self.smallest == 1).mean())

    @property
    def average_risk(self) -> float:
        return float((1 / self.smallest).mean())

    @property
    def groups_each(self) -> float:
        """Groups in which a person has rows, on average."""
        return float(self.sizes.sum() / len(self))

    def _shares(self, secret: str) -> tuple[pd.DataFrame, pd.Series]:
        """People by group and value, each once; and in the whole table by value, each
        once.
        """
        held = self.rows[[*self.columns, secret, "the person"]].drop_duplicates()
        table = (
            held.groupby([*self.columns, secret]).size().unstack(secret, fill_value=0)
        )
        whole = (
            held[[secret, "the person"]]
            .drop_duplicates()[secret]
            .value_counts(normalize=True)
        )
        return table, whole.reindex(table.columns)

    def times(self, secret: str) -> float:
        """How many times more likely a value becomes, at most, once the group is
        known.
        """
        table, whole = self._shares(secret)
        return float((table.div(table.sum(axis=1), axis=0) / whole).to_numpy().max())

    def t(self, secret: str) -> float:
        """Largest total variation between a group and the table."""
        table, whole = self._shares(secret)
        return float(
            (table.div(table.sum(axis=1), axis=0) - whole).abs().sum(axis=1).max() / 2
        )

    def t_ordered(self, secret: str) -> float:
        """Largest earth mover's distance along the order of the values, scaled to 1."""
        table, whole = self._shares(secret)
        order = sorted(table.columns, key=_rank)
        apart = table.div(table.sum(axis=1), axis=0)[order] - whole[order]
        return float(
            apart.cumsum(axis=1).abs().sum(axis=1).max() / max(1, len(order) - 1)
        )

    def different(self, secret: str) -> int:
        """Different values in the group that has fewest."""
        return int((self._shares(secret)[0] > 0).sum(axis=1).min())

    def entropy_l(self, secret: str) -> float:
        table = self._shares(secret)[0]
        share = table.div(table.sum(axis=1), axis=0).to_numpy()
        logs = np.log(share, out=np.zeros_like(share), where=share > 0)
        return float(np.exp(-(share * logs).sum(axis=1).max()))

    def recursive_c(self, secret: str) -> float:
        """The largest ratio of the most frequent value to all others together."""
        table = self._shares(secret)[0]
        rest = table.sum(axis=1) - table.max(axis=1)
        return (
            float("inf")
            if (rest == 0).any()
            else float((table.max(axis=1) / rest).max())
        )

    def revealing(self, secret: str) -> tuple[int, float]:
        """Groups in which all have one value, and the share of people with a row in
        such a group.
        """
        values = self.rows.groupby(self.columns)[secret]
        inside = self.rows[values.transform("nunique") == 1]
        return int((values.nunique() == 1).sum()), inside["the person"].nunique() / len(
            self
        )
