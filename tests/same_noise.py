"""The same noise at every run, for tests that are not about noise.

A page, a figure or a sentence is tested on releases. If their noise were new at every
run, one run in many would meet a draw that its author did not think of, and fail for
somebody who changed something else. So the measurer draws from a generator whose seed
is a function of what it is asked: the same counts at the same scale get the same noise,
in whatever order the tests run. A second equal request of one test gets other noise.
The keys of ledgers are the same at every run too, as they decide which rows of a person
count, and with that what noise is added to.

Tests of the noise itself, of its law and of what it promises keep OpenDP's: see
`OWN_NOISE`.
"""

from __future__ import annotations

import hashlib
import math
import random
import secrets
from collections import Counter
from collections.abc import Callable, Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from dpcore.accounting import memory
from dpcore.local import _bits
from dpcore.mechanisms import _noise, max_norm, measurer
from tests.statistical import laws
from workbench.store.database import keys, store

OWN_NOISE = {"contracts", "golden", "local", "mechanisms", "statistical"}
"""Folders whose tests draw OpenDP's noise, new at every run; so do servers of walks,
which are other processes.
"""
_LARGEST_TABLE = 10_000
"""Rows of noise within which the law of the discrete Gaussian is added up; beyond,
rounding makes no difference.
"""


class _SameNoise:
    """Stands in for the mechanisms of the measurer while a test runs.

    Attributes:
        is_drawn: whether it draws; otherwise the mechanisms do.
    """

    def __init__(self) -> None:
        self.is_drawn = False
        self._asked: Counter[bytes] = Counter()
        for module, name, own in (
            (measurer, "add_discrete_laplace", self._laplace),
            (measurer, "add_discrete_gaussian", self._gaussian),
            (measurer, "add_max_norm_noise", self._max_norm),
            (measurer, "select_high_score", self._select),
            (measurer, "thresholded_counts", self._thresholded),
            (_bits, "urandom", self._bytes),
            (np.random, "default_rng", self._unseeded),
        ):
            setattr(module, name, self._either(getattr(module, name), own))
        key = self._either(secrets.token_bytes, self._key)
        for module in (memory, keys, store):
            module.secrets = _Keys(key)

    def begin(self, path: Path) -> None:
        """Begin a test of this file, whose path begins below `tests`."""
        self.is_drawn = path.parts[0] not in OWN_NOISE
        self._asked.clear()

    def _either(
        self, mechanism: Callable[..., Any], own: Callable[..., Any]
    ) -> Callable[..., Any]:
        def draw(*given: Any, **named: Any) -> Any:
            if self.is_drawn:
                return own(mechanism, *given, **named)
            return mechanism(*given, **named)

        return draw

    def _seed(self, *asked: Any) -> int:
        """A seed for this request, other than those of equal ones of this test."""
        digest = hashlib.sha256(repr(asked).encode()).digest()
        self._asked[digest] += 1
        again = self._asked[digest].to_bytes(8)
        return int.from_bytes(hashlib.sha256(digest + again).digest()[:8])

    def _seeded(self, *asked: Any) -> np.random.Generator:
        return np.random.Generator(np.random.PCG64(self._seed(*asked)))

    def _laplace(
        self,
        _mechanism: object,
        counts: np.ndarray,
        *,
        noise_scale: float,
        on_draw: Callable[[], object] = _noise.ignore_progress,
    ) -> np.ndarray:
        _report_progress(counts, on_draw)
        rng = self._seeded("laplace", counts.tobytes(), noise_scale)
        return counts + laws.fast_laplace(counts.shape, noise_scale, rng)

    def _gaussian(
        self,
        _mechanism: object,
        counts: np.ndarray,
        *,
        noise_scale: float,
        on_draw: Callable[[], object] = _noise.ignore_progress,
    ) -> np.ndarray:
        _report_progress(counts, on_draw)
        rng = self._seeded("gaussian", counts.tobytes(), noise_scale)
        if (most := math.ceil(12 * noise_scale)) > _LARGEST_TABLE:
            drawn = np.rint(rng.normal(0, noise_scale, counts.shape)).astype(np.int64)
        else:
            law = laws.discrete_gaussian_pmf(noise_scale, most)
            drawn = rng.choice(len(law), counts.shape, p=law) - most
        return counts + drawn

    def _max_norm(
        self, mechanism: Callable[..., np.ndarray], sums: np.ndarray, *, scale: int
    ) -> np.ndarray:
        own = random.Random(self._seed("max norm", sums.tobytes(), scale))
        real = max_norm.secrets
        max_norm.secrets = _Below(own)
        try:
            return mechanism(sums, scale=scale)
        finally:
            max_norm.secrets = real

    def _select(
        self,
        mechanism: Callable[..., int],
        scores: np.ndarray,
        *,
        noise_scale: float,
        is_pure: bool,
    ) -> int:
        if not len(scores):
            return mechanism(scores, noise_scale=noise_scale, is_pure=is_pure)
        rng = self._seeded("select", scores.tobytes(), noise_scale, is_pure)
        draw = rng.exponential if is_pure else rng.gumbel
        noise = draw(size=len(scores)) * noise_scale
        return int(np.argmax(scores + noise))

    def _thresholded(
        self,
        mechanism: Callable[..., object],
        counts: Mapping[str, int],
        *,
        max_rows: int,
        epsilon: Fraction,
        delta: Fraction,
    ) -> dict[str, int]:
        # what it refuses is refused
        mechanism({}, max_rows=max_rows, epsilon=epsilon, delta=delta)
        scale = float(max_rows / epsilon)
        threshold = max_rows + scale * math.log(max_rows / (2 * float(delta)))
        noisy = self._laplace(
            None, np.array([*counts.values()], np.int64), noise_scale=scale
        )
        return {
            text: int(count)
            for text, count in sorted(zip(counts, noisy, strict=True))
            if count > threshold
        }

    def _bytes(self, _system: object, size: int) -> bytes:
        return random.Random(self._seed("bytes", size)).randbytes(size)

    def _key(self, _system: object, size: int) -> bytes:
        return random.Random(self._seed("key", size)).randbytes(size)

    def _unseeded(
        self, numpy: Callable[..., np.random.Generator], seed: Any = None
    ) -> np.random.Generator:
        return numpy(self._seed("unseeded") if seed is None else seed)


def _report_progress(counts: np.ndarray, on_draw: Callable[[], object]) -> None:
    for _ in range(0, counts.size, _noise._BLOCK_CELLS):
        on_draw()


class _Below:
    """What `max_norm` takes of `secrets`."""

    def __init__(self, rng: random.Random) -> None:
        self.randbelow = lambda below: rng.randrange(below)


class _Keys:
    """What ledgers take of `secrets`."""

    def __init__(self, draw: Callable[[int], bytes]) -> None:
        self.token_bytes = draw


SAME_NOISE = _SameNoise()
