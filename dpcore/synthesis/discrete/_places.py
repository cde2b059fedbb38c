"""Positions of values inside merged cells, chosen to keep rank correlations.

A column is drawn by runs of cells that noise lets stand out, and each value then gets a
cell of its run. Drawn at random, two columns that rise together would be independent
inside their runs: of a wide column in five runs that loses a sixth of a strong rank
correlation. So the rows get normal scores with the correlations that the concordances
tell, each score inside its run, and the values of a run are placed in the order of
their scores. All cells keep their expected rows. It reads noisy numbers alone.

Source: Gibbs sampling of a truncated normal law, Geweke (1991); as a copula of ordered
cells it is the model of Hoff (2007), "Extending the rank likelihood".
"""

import itertools
from collections.abc import Mapping, Sequence

import numpy as np

from dpcore.schema.domain import Clique
from dpcore.synthesis._sampling import Integers
from dpcore.tables.counts import Values

# sweeps of the sampler, begun at independent scores
MIN_SWEEPS = 3
MAX_SWEEPS = 10
MAX_DRAWN_SCORES = 2_000_000  # in all sweeps, if more than MIN_SWEEPS are made
MIN_EIGENVALUE = 0.02  # of the correlations, which noise may leave indefinite
MAX_CORRELATION = 0.99


def draw_positions_in_runs(
    codes: Mapping[str, Integers],
    shares: Mapping[str, Values],
    correlations: Mapping[Clique, float],
    rng: np.random.Generator,
) -> dict[str, Values]:
    """Draw the relative position of each value inside its run, from 0 to 1.

    Args:
        codes: column -> run of each row.
        shares: column -> shares of the runs that have an order, which come first; a row
            in a later run has no place in the order.
        correlations: pair -> correlation of the normal scores.
        rng: of the drawing.
    """
    from scipy.special import ndtr, ndtri

    names = sorted({name for pair in correlations for name in pair})
    if len(names) < 2:
        return {}
    # 1. Compute the score interval of each run, and draw initial scores independently.
    lows, highs = [], []
    for name in names:
        ends = np.cumsum(shares[name]) / shares[name].sum()
        run = codes[name]
        known = run < len(ends)
        run = np.minimum(run, len(ends) - 1)
        lows.append(np.where(known, np.append(0.0, ends[:-1])[run], 0.0))
        highs.append(np.where(known, np.minimum(ends[run], 1.0), 1.0))
    low = ndtri(np.array(lows))
    high = ndtri(np.array(highs))
    uniform = np.array(lows) + (np.array(highs) - np.array(lows)) * rng.random(
        low.shape
    )
    scores = _clip_scores(ndtri(uniform), low, high)
    # 2. Redraw each score given the scores of the row's other columns.
    precision = np.linalg.inv(correlation_matrix(names, correlations))
    sweeps = MAX_DRAWN_SCORES // max(1, scores.size)
    for _ in range(min(max(sweeps, MIN_SWEEPS), MAX_SWEEPS)):
        for place in range(len(names)):
            variance = 1 / precision[place, place]
            others = precision[place] @ scores - precision[place, place] * scores[place]
            mean = -variance * others
            deviation = variance**0.5
            below = ndtr((low[place] - mean) / deviation)
            above = ndtr((high[place] - mean) / deviation)
            chance = below + (above - below) * rng.random(len(mean))
            drawn = mean + deviation * ndtri(chance)
            scores[place] = _clip_scores(drawn, low[place], high[place])
    # 3. Spread the values of each run evenly, in the order of their scores.
    return {
        name: _relative_ranks_in_runs(codes[name], scores[place], rng)
        for place, name in enumerate(names)
    }


def correlation_matrix(
    names: Sequence[str], correlations: Mapping[Clique, float]
) -> Values:
    """Return the correlations as a matrix without negative eigenvalues."""
    matrix = np.eye(len(names))
    for (i, first), (j, second) in itertools.combinations(enumerate(names), 2):
        number = correlations.get(
            (first, second), correlations.get((second, first), 0.0)
        )
        matrix[i, j] = matrix[j, i] = np.clip(number, -MAX_CORRELATION, MAX_CORRELATION)
    values, vectors = np.linalg.eigh(matrix)
    matrix = (vectors * np.maximum(values, MIN_EIGENVALUE)) @ vectors.T
    scale = np.sqrt(np.diagonal(matrix))
    cleaned: Values = matrix / np.outer(scale, scale)
    return cleaned


def _clip_scores(scores: Values, low: Values, high: Values) -> Values:
    """Clip scores to their bounds and make them finite."""
    bounded = np.clip(
        np.nan_to_num(scores, nan=0.0, posinf=8.0, neginf=-8.0), low, high
    )
    return np.clip(bounded, -8.0, 8.0)


def _relative_ranks_in_runs(
    run: Integers, scores: Values, rng: np.random.Generator
) -> Values:
    order = np.lexsort((scores, run))
    rows = np.bincount(run)
    rank = np.empty(len(run))
    rank[order] = np.arange(len(run)) - (np.cumsum(rows) - rows)[run[order]]
    places: Values = (rank + rng.random(len(run))) / rows[run]
    return places
