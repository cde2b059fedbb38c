"""An attack on floating-point noise, whose last bits reveal the true count.

Source: Mironov, On significance of the least significant bits for differential privacy
(CCS 2012).
"""

import math

import numpy as np
import numpy.typing as npt

_UNIFORM_STEP = 2.0**-53
"""A uniform number of NumPy is a multiple of this."""


def add_textbook_noise(
    count: float, draws: int, rng: np.random.Generator
) -> npt.NDArray[np.float64]:
    """Return a count with textbook Laplace noise of scale 1 added, `draws` times.

    Not private.
    """
    return np.array([count + _inverse_laplace(number) for number in rng.random(draws)])


def is_possible_release(release: float, count: float) -> bool:
    """Return whether `add_textbook_noise` can turn this count into exactly this release.

    It tries the uniform numbers around the one that the noise would need: if none of
    them gives the release to the last bit, the count is ruled out with certainty.
    """
    noise = release - count
    near = math.exp(-abs(noise)) / 2
    middle = round((near if noise < 0 else 1 - near) / _UNIFORM_STEP)
    return any(
        count + _inverse_laplace((middle + step) * _UNIFORM_STEP) == release
        for step in range(-8, 9)
        if 0 < middle + step < 2**53
    )


def _inverse_laplace(uniform: float) -> float:
    """Return the Laplace quantile of scale 1 at a uniform number."""
    return math.log(2 * uniform) if uniform < 0.5 else -math.log(2 - 2 * uniform)


def share_ruled_out(
    *, count: float, neighbor: float, draws: int, rng: np.random.Generator
) -> float:
    """Return the share of noisy releases of `count` that `neighbor` cannot produce."""
    releases = add_textbook_noise(count, draws, rng)
    return (
        sum(not is_possible_release(release, neighbor) for release in releases) / draws
    )
