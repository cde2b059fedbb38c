"""The error of every pair that the noise alone explains: from a release, so it may be published."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from dpcore.synthesis.discrete.model import SyntheticModel


@dataclass(frozen=True, kw_only=True, eq=False)
class NoiseErrors:
    """Expected total variation distance of each pair of columns by noise alone.

    Attributes:
        columns: in the model's order.
        pairs: (columns, columns), symmetric; of one column on the diagonal; at most 1. NaN for a pair that no
            noisy table held: there the error is that of the assumption that other columns explain the
            pair, which no release can tell.
    """

    columns: tuple[str, ...]
    pairs: npt.NDArray[np.float64]


def noise_errors(model: SyntheticModel) -> NoiseErrors:
    """The expected L1 norm of the noise over twice the total, pair by pair; reads the model only.

    With standard deviation s in each of n groups of cells it is n s sqrt(2 / pi) / (2 total) for Gaussian
    noise; Laplace noise of the same variance has a smaller mean, so this bounds it. The fit of the whole
    model lowers it further.
    """
    columns = tuple(name for name in model.columns if name in model.graph.domain.names)
    pairs = np.full((len(columns), len(columns)), np.nan)
    scale = math.sqrt(2 / math.pi) / (2 * max(model.total, 1.0))
    for i, first in enumerate(columns):
        for j, second in enumerate(columns[: i + 1]):
            clique = (first,) if i == j else (second, first)
            variance = model.variance_of(clique)
            if variance is not None:
                cells = model.graph.domain.cells(clique)
                pairs[i, j] = pairs[j, i] = min(1.0, cells * math.sqrt(variance) * scale)
    return NoiseErrors(columns=columns, pairs=pairs)
