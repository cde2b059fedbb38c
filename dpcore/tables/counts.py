"""Private exact counts and public noisy marginals, as two separate types."""

from __future__ import annotations

import base64
import math
import re
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NoReturn

import numpy as np
import numpy.typing as npt

from dpcore.errors import (
    DisclosureError,
    LimitError,
    UsageError,
    too_many_cells_error,
    too_many_columns_error,
)
from dpcore.schema.column import Column
from dpcore.schema.domain import Clique, Domain

MAX_CELLS = 2_000_000
"""Cells of one table of counts, at most."""
MAX_TOTAL_CELLS = 50_000_000
"""Cells of all tables of counts of one request, at most."""
MAX_CELLS_PER_PASS = 2**22
"""Cells counted in one pass over the rows, at most."""
MAX_COUNTING_BYTES = 8 * (MAX_TOTAL_CELLS + 2 * MAX_CELLS_PER_PASS)
"""Memory of counting, beyond the rows, at most: all cells, and two passes."""
MAX_AXES = 64
"""Columns of a table of counts: numpy allows no more axes."""

Noise = Literal["laplace", "gaussian", "max norm"]
Values = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Counts:
    """Private exact numbers of rows per cell.

    They print their clique only, and are never pickled.

    Attributes:
        clique: column names, one an axis.
        values: int64, in rows.
    """

    clique: Clique
    values: Integers

    def __repr__(self) -> str:
        return f"Counts(clique={self.clique}, private)"

    def __reduce__(self) -> NoReturn:
        raise DisclosureError(
            "exact counts are private and are not stored or sent", remedy="measure them"
        )


@dataclass(frozen=True, kw_only=True, eq=False)
class Marginal:
    """A public noisy table of counts.

    Attributes:
        clique: column names, one an axis; the empty clique is the number of rows.
        values: float64, noisy rows per cell, unbiased; may be negative.
        variance: of the noise of one cell, the same for all, in rows squared.
        noise: the distribution of the noise.
        pooled: whether draws of several tables were averaged, so that errors are no
            longer whole numbers.
        columns: the public facts about each axis, if known; a release knows them.
        signed: the columns of two cells of which only the difference was measured; the
            rest of the table is made up from other measurements. Empty if the table
            itself was measured.
        own: variance of one cell of a table that tells as much about these differences,
            in rows squared.
    """

    clique: Clique
    values: Values
    variance: float
    noise: Noise
    columns: tuple[Column, ...] = ()
    pooled: bool = False
    signed: Clique = ()
    own: float | None = None

    @property
    def measured_variance(self) -> float:
        """The variance of one measured cell, in rows squared."""
        return self.variance if self.own is None else self.own

    def half_width(self, level: float = 0.95) -> float:
        """Return half the width of a cell's interval at confidence `level`, in rows."""
        return half_width(self.variance, self.noise, level, pooled=self.pooled)

    def laplace_rate(self) -> float:
        """Return the epsilon of one row if this is one draw of Laplace noise."""
        return laplace_rate(self.variance)

    def interval(self, level: float = 0.95) -> tuple[Values, Values]:
        """Return lower and upper bounds of each true count at confidence `level`."""
        half = self.half_width(level)
        return self.values - half, self.values + half

    @property
    def total(self) -> float:
        """Noisy number of rows."""
        return float(self.values.sum())

    def project(self, clique: Clique) -> Marginal:
        """Sum over all columns that are not in `clique`; this costs no privacy."""
        values = project(self.values, self.clique, clique)
        return Marginal(
            clique=clique,
            values=values,
            variance=self.variance * (self.values.size // values.size),
            noise=self.noise,
            columns=tuple(
                column
                for name in clique
                for column in self.columns
                if column.name == name
            ),
            pooled=self.pooled,
        )

    def to_dict(self) -> dict[str, Any]:
        return {
            "clique": list(self.clique),
            "values": pack_array(self.values),
            "variance": self.variance,
            "noise": self.noise,
            "pooled": self.pooled,
            **({"signed": list(self.signed), "own": self.own} if self.signed else {}),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Marginal:
        """Read a marginal that `to_dict` wrote."""
        return cls(
            clique=tuple(fields["clique"]),
            values=unpack_array(fields["values"]),
            variance=fields["variance"],
            noise=fields["noise"],
            pooled=fields.get("pooled", False),
            signed=tuple(fields.get("signed", ())),
            own=fields.get("own"),
        )


def check_cells(
    domain: Domain, cliques: Sequence[Clique], *, limit: int = MAX_CELLS
) -> None:
    """Refuse cliques with too many cells or columns, or too many cells in all.

    Raises: LimitError that shows the number of cells.
    """
    together = sum(map(domain.cells, cliques))
    if together > MAX_TOTAL_CELLS and all(
        domain.cells(clique) <= limit for clique in cliques
    ):
        raise too_many_cells_error(together, MAX_TOTAL_CELLS)
    for clique in cliques:
        cells = domain.cells(clique)
        if len(clique) > MAX_AXES:
            raise too_many_columns_error()
        if cells > limit:
            raise LimitError(
                "the table over {names} would have {cells} cells, more than {limit}",
                remedy="use fewer columns, wider steps or fewer categories",
                cells=cells,
                limit=limit,
                names=", ".join(clique),
            )


def cell_mask(
    domain: Domain, name: str, cells: int | Iterable[int]
) -> npt.NDArray[np.bool_]:
    """Return a mask of the named cells of a column, one truth value per cell.

    Args:
        domain: of the columns.
        name: of the column.
        cells: number of a cell, or of several.

    Raises: ParameterError for no cell, or one that the column does not have.
    """
    numbers = np.atleast_1d(np.asarray(cells, dtype=np.int64))
    size = domain.size(name)
    if not numbers.size or numbers.min() < 0 or numbers.max() >= size:
        raise UsageError(
            f"column {name!r} has cells 0 to {size - 1} only",
            remedy="name one of them or several",
        )
    return np.isin(np.arange(size), numbers)


def cell_counts(
    cells: Sequence[npt.NDArray[np.integer]], shape: tuple[int, ...]
) -> Integers:
    """Count the rows in each cell of a table.

    Args:
        cells: the cell of each row in every column.
        shape: cells of each column.
    """
    places = np.ravel_multi_index(tuple(cells), shape)
    return np.bincount(places, minlength=math.prod(shape)).reshape(shape)


def half_width(
    variance: float, noise: Noise, level: float = 0.95, *, pooled: bool = False
) -> float:
    """Return the least w with P(|error| <= w) >= level, in whole rows.

    Gaussian noise: the normal quantile, rounded up, which holds for the discrete
    distribution too (Canonne, Kamath, Steinke 2020, proposition 25). Laplace noise: the
    quantile of the discrete Laplace distribution with that variance, or the normal
    quantile if that is larger (at levels below 0.91), so that it holds for one draw and
    for sums of many, whose distribution lies between the two. A pooled error may lie
    just beyond a whole number that a draw does not pass, so there it is about one row
    wider. Max-norm noise: for a given variance its distribution lies between the
    Laplace (one entry) and the uniform one (many), and the widest of their quantiles
    and the normal one holds for any number of entries.
    """
    if not 0 < level < 1:
        raise UsageError(
            f"level ({level}) must be between 0 and 1",
            remedy="use a level such as 0.95",
        )
    if variance == 0:
        return 0.0
    normal = statistics.NormalDist().inv_cdf((1 + level) / 2) * math.sqrt(variance)
    if noise == "gaussian":
        return float(math.ceil(normal + pooled / 2))
    if noise == "max norm":
        laplace = -math.log(1 - level) * math.sqrt(variance / 2)
        return float(math.ceil(max(laplace, normal, level * math.sqrt(3 * variance))))
    # P(|X| > w) = 2 exp(-t (w + 1)) / (1 + exp(-t))
    t = laplace_rate(variance)
    laplace = -math.log((1 - level) * (1 + math.exp(-t)) / 2) / t - 1
    return float(
        math.ceil(max(laplace + pooled, 0.0 if level >= 0.95 else normal) - 1e-9)
    )


def laplace_rate(variance: float) -> float:
    """Return t = 1 / scale of discrete Laplace noise, given its variance.

    Scales of at most a hundredth have a variance of 0.
    """
    return 2 * math.asinh(math.sqrt(0.5 / variance)) if variance else 100.0


def project(values: npt.NDArray[Any], clique: Clique, onto: Clique) -> npt.NDArray[Any]:
    """Sum a table over the columns not in `onto`; order the axes as in `onto`."""
    missing = [name for name in onto if name not in clique]
    if missing:
        raise UsageError(
            f"columns {missing} are not in the marginal over {list(clique)}",
            remedy="ask for its own columns",
        )
    sums = values.sum(
        axis=tuple(i for i, name in enumerate(clique) if name not in onto)
    )
    order = [name for name in clique if name in onto]
    return np.transpose(sums, [order.index(name) for name in onto])


def align_axes(
    table: npt.NDArray[Any], clique: Clique, node: Clique
) -> npt.NDArray[Any]:
    """Return a view of a table that broadcasts with one over a larger clique."""
    inside = [name for name in node if name in clique]
    turned = np.transpose(table, [clique.index(name) for name in inside])
    sizes = iter(turned.shape)
    return turned.reshape([next(sizes) if name in clique else 1 for name in node])


def pack_array(values: npt.NDArray[Any]) -> dict[str, Any]:
    """Encode an array for JSON: dtype, shape, base64 of its little-endian bytes."""
    array = np.ascontiguousarray(values)
    array = array.astype(array.dtype.newbyteorder("<"))
    data = base64.b64encode(array.tobytes()).decode()
    return {"dtype": array.dtype.str, "shape": list(values.shape), "data": data}


def unpack_array(fields: dict[str, Any]) -> npt.NDArray[Any]:
    """Decode the fields of `pack_array`.

    Raises: ParameterError for anything but a table of finite numbers.
    """
    if not re.fullmatch(r"<[fi][48]", fields["dtype"]) or any(
        size < 0 for size in fields["shape"]
    ):
        raise UsageError("a packed table must hold numbers", remedy="pack it again")
    flat = np.frombuffer(
        base64.b64decode(fields["data"]), dtype=np.dtype(fields["dtype"])
    )
    if not np.isfinite(flat).all():
        raise UsageError(
            "a packed table must hold finite numbers", remedy="pack it again"
        )
    return flat.reshape(fields["shape"]).copy()
