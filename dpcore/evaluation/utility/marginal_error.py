"""Distances between small marginals of two tables, against sampling error."""

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import UsageError, no_common_columns_error, no_rows_error
from dpcore.evaluation._records import EVALUATION_SEED
from dpcore.schema.column import Codes
from dpcore.schema.domain import Clique
from dpcore.schema.schema import Schema
from dpcore.tables.counts import MAX_CELLS
from dpcore.tables.distance import total_variation


@dataclass(frozen=True, kw_only=True)
class MarginalError:
    """Total variation distances over all marginals with the same number of columns.

    Attributes:
        way: columns in each clique.
        cliques: number of compared cliques.
        mean, worst: distances in [0, 1]; 0 is equal, 1 is no cell in common.
        worst_clique: with the distance `worst`.
        floor: mean distance of a bootstrap of the original, by sampling alone.
        independent: mean distance of the original with each column shuffled, without
            any relation.
    """

    way: int
    cliques: int
    mean: float
    worst: float
    worst_clique: Clique
    floor: float
    independent: float


@dataclass(frozen=True, kw_only=True, eq=False)
class MarginalErrorReport:
    """Distances between the marginals of a table and of the original.

    Attributes:
        columns: of both tables, in the schema's order.
        ways: one entry per number of columns.
        pairs: distances of the two-way marginals, (columns, columns), of one column on
            the diagonal; NaN if not compared.
    """

    columns: tuple[str, ...]
    ways: tuple[MarginalError, ...]
    pairs: npt.NDArray[np.float64]


def measure_marginal_error(
    original: pd.DataFrame,
    other: pd.DataFrame,
    schema: Schema,
    ways: Sequence[int] = (1, 2, 3),
    max_cliques: int | None = None,
    on_share: Callable[[float], None] = lambda share: None,
) -> MarginalErrorReport:
    """Return the total variation distances of all marginals with `ways` columns.

    Reads the original: the result is internal.

    Args:
        original: the rows, with at least one.
        other: a table with some of the schema's columns, with at least one row.
        schema: of both tables.
        ways: numbers of columns, from 1.
        max_cliques: most cliques to compare of each way, chosen at random; None for
            all.
        on_share: called with the share of cliques done.

    Raises: ParameterError if there is nothing to compare; SchemaError for a value
        without a cell.
    """
    columns = tuple(
        name for name in schema.domain.names if name in original and name in other
    )
    if not columns:
        raise no_common_columns_error()
    if not len(original) or not len(other):
        raise no_rows_error()
    if not ways or any(not 1 <= way <= len(columns) for way in ways):
        raise UsageError(
            (
                f"ways ({tuple(ways)}) must be from 1 to {len(columns)}, the columns "
                "of "
                "both tables"
            ),
            remedy="ask for fewer columns at once",
        )
    rng = np.random.default_rng(EVALUATION_SEED)
    tables = _ComparedTables(original, other, schema, columns, rng)
    pairs = np.full((len(columns), len(columns)), np.nan)
    errors = []
    compared: dict[int, list[tuple[int, ...]]] = {}
    for way in sorted(set(ways)):
        cliques = list(itertools.combinations(range(len(columns)), way))
        if max_cliques is not None and len(cliques) > max_cliques:
            chosen = np.sort(rng.choice(len(cliques), max_cliques, replace=False))
            cliques = [cliques[i] for i in chosen]
        compared[way] = cliques
    number = sum(map(len, compared.values()))
    done = itertools.count()

    def distances_of(clique: tuple[int, ...]) -> list[float]:
        on_share(next(done) / number)
        return tables.distances(clique)

    for way, cliques in compared.items():
        distances, floor, independent = np.array(
            [distances_of(clique) for clique in cliques]
        ).T
        worst = int(distances.argmax())
        errors.append(
            MarginalError(
                way=way,
                cliques=len(cliques),
                mean=float(distances.mean()),
                worst=float(distances[worst]),
                worst_clique=tuple(columns[i] for i in cliques[worst]),
                floor=float(floor.mean()),
                independent=float(independent.mean()),
            ),
        )
        if way <= 2:
            for clique, distance in zip(cliques, distances, strict=True):
                pairs[clique[0], clique[-1]] = pairs[clique[-1], clique[0]] = distance
    return MarginalErrorReport(columns=columns, ways=tuple(errors), pairs=pairs)


class _ComparedTables:
    """Cell numbers of the original, another table and the shuffled original.

    They stand one below the other. A bootstrap of the original is the number of times
    each of its rows was drawn. Columns are renumbered by the cells that occur, so that
    most marginals are small enough to count without sorting.
    """

    def __init__(
        self,
        original: pd.DataFrame,
        other: pd.DataFrame,
        schema: Schema,
        columns: tuple[str, ...],
        rng: np.random.Generator,
    ) -> None:
        rows = len(original)
        self._codes: list[Codes] = []
        self._sizes: list[int] = []
        for name in columns:
            column = schema.column(name)
            own = column.encode(column.values_of(original))
            both = np.concatenate(
                [own, column.encode(column.values_of(other)), rng.permutation(own)]
            )
            used = np.zeros(column.size, dtype=bool)
            used[both] = True
            self._codes.append((np.cumsum(used) - 1)[both])
            self._sizes.append(int(used.sum()))
        self._own = slice(rows)
        self._other = slice(rows, rows + len(other))
        self._shuffled = slice(rows + len(other), None)
        self._times_drawn = np.bincount(rng.integers(rows, size=rows), minlength=rows)

    def distances(self, clique: tuple[int, ...]) -> list[float]:
        """Return distances of the other table, a bootstrap and a shuffled original."""
        flat = self._codes[clique[0]]
        cells = self._sizes[clique[0]]
        for column in clique[1:]:
            if cells > MAX_CELLS:  # renumber, so that the product stays far below 2^63
                occurring, flat = np.unique(flat, return_inverse=True)
                cells = len(occurring)
            flat = flat * self._sizes[column] + self._codes[column]
            cells *= self._sizes[column]
        if cells > MAX_CELLS:
            occurring, flat = np.unique(flat, return_inverse=True)
            cells = len(occurring)
        own = np.bincount(flat[self._own], minlength=cells)
        others = (
            np.bincount(flat[self._other], minlength=cells),
            np.bincount(flat[self._own], self._times_drawn, minlength=cells),
            np.bincount(flat[self._shuffled], minlength=cells),
        )
        return [total_variation(own, other) for other in others]
