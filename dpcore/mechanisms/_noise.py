"""Discrete Laplace and Gaussian noise on integer counts, one draw per cell.

It comes from OpenDP and the system's randomness.
"""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from dpcore.tables.counts import Integers

_BLOCK_CELLS = 4_096
"""Cells that get noise in about a tenth of a second."""


def ignore_progress() -> None:
    """Do nothing: the default for callers that need no progress reports."""


def add_discrete_laplace(
    counts: Integers,
    *,
    noise_scale: float,
    on_draw: Callable[[], object] = ignore_progress,
) -> Integers:
    """Add independent discrete Laplace noise to each cell.

    Costs L1 sensitivity / noise_scale in epsilon (pure).

    Args:
        counts: int64 array of any shape, in rows.
        noise_scale: above 0, in rows; P(k) ~ exp(-|k| / noise_scale).
        on_draw: called several times a second before further draws; an error that it
            raises ends them.

    Returns: int64 array of the same shape.

    Source: Canonne, Kamath, Steinke (2020), section 5; sampled by OpenDP.
    """
    return _add_noise(_laplace_mechanism(noise_scale), counts, on_draw)


def add_discrete_gaussian(
    counts: Integers,
    *,
    noise_scale: float,
    on_draw: Callable[[], object] = ignore_progress,
) -> Integers:
    """Add independent discrete Gaussian noise to each cell.

    Costs (L2 sensitivity / noise_scale)^2 / 2 in rho (zCDP).

    Args:
        counts: int64 array of any shape, in rows.
        noise_scale: above 0, in rows; P(k) ~ exp(-k^2 / (2 noise_scale^2)).
        on_draw: as of `add_discrete_laplace`.

    Returns: int64 array of the same shape.

    Source: Canonne, Kamath, Steinke (2020), theorem 4; sampled by OpenDP.
    """
    return _add_noise(_gaussian_mechanism(noise_scale), counts, on_draw)


def opendp_measurements() -> Any:
    """Return OpenDP's module of measurements with its "contrib" feature enabled.

    This avoids OpenDP's slow prelude.
    """
    import opendp.measurements
    from opendp.mod import enable_features

    enable_features("contrib")
    return opendp.measurements


@functools.lru_cache(maxsize=256)
def _laplace_mechanism(noise_scale: float) -> Any:
    """Return OpenDP's Laplace mechanism at this scale.

    It is cached, as making it takes longer than drawing.
    """
    from opendp.metrics import l1_distance

    return opendp_measurements().make_laplace(
        _integer_vectors(), l1_distance(T="i64"), scale=noise_scale
    )


@functools.lru_cache(maxsize=256)
def _gaussian_mechanism(noise_scale: float) -> Any:
    from opendp.metrics import l2_distance

    return opendp_measurements().make_gaussian(
        _integer_vectors(), l2_distance(T="f64"), scale=noise_scale
    )


def _integer_vectors() -> Any:
    from opendp.domains import atom_domain, vector_domain

    return vector_domain(atom_domain(T="i64"))


def _add_noise(
    mechanism: Any, counts: Integers, on_draw: Callable[[], object]
) -> Integers:
    noisy = np.array(counts, dtype=np.int64).ravel()
    for start in range(0, noisy.size, _BLOCK_CELLS):
        on_draw()
        noisy[start : start + _BLOCK_CELLS] = mechanism(
            noisy[start : start + _BLOCK_CELLS]
        )
    return noisy.reshape(counts.shape)
