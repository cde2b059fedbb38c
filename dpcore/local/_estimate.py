"""Unbiased frequencies of answers from reports, with variances and intervals."""

from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from dpcore.errors import ParameterError, UsageError
from dpcore.local._bits import Integers
from dpcore.tables.nearest import nearest_distribution

Values = npt.NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Estimate:
    """Frequency estimates of the categories among those who answered.

    Attributes:
        support: number of reports in support of each category; int64, (categories,).
        people: number of reports, above 0.
        p, q: chances that a report supports its sender's category, and a given other
            one.
        is_sample: whether those who answered were drawn from the people with these
            frequencies; an interval then includes the sampling error.
    """

    support: Integers
    people: int
    p: Fraction
    q: Fraction
    is_sample: bool = False

    def __post_init__(self) -> None:
        if self.people < 1:
            raise ParameterError(
                "there are no reports", remedy="collect at least one answer"
            )
        if self.p == self.q:
            raise UsageError(
                (
                    f"p and q ({float(self.p)}) must differ: such reports do not "
                    "depend "
                    "on the answer"
                ),
                remedy="choose p above q",
            )

    @property
    def frequencies(self) -> Values:
        """Unbiased estimates of the shares, (support / people - q) / (p - q).

        Noise takes some below 0 or above 1.

        Source: Wang et al. (2017), equation 1; Warner (1965) for two categories.
        """
        share: Values = (self.support / self.people - float(self.q)) / float(
            self.p - self.q
        )
        return share

    def interval(self, confidence: float) -> tuple[Values, Values]:
        """Return lower and upper bounds of score intervals, per category.

        They hold the shares whose expected support is within z standard deviations of
        the observed one, with the variance at that very share (Wilson 1927), so that
        they keep their confidence for rare answers too. They are cut to 0 .. 1.
        """
        # Solve the quadratic inequality of the score interval for the share.
        z = normal_quantile(confidence)
        gap = float(self.p - self.q)
        base = float(self.q * (1 - self.q))
        slope = float(self.p * (1 - self.p)) - base
        scale = z * z / (self.people * gap * gap)
        shift = scale * slope / 2
        # Sampling the people adds share * (1 - share) to the variance.
        quadratic = 1 + scale * gap * gap * self.is_sample
        shift += scale * gap * gap * self.is_sample / 2
        center = (self.frequencies + shift) / quadratic
        inside = center * center - (self.frequencies**2 - scale * base) / quadratic
        half = np.sqrt(np.maximum(inside, 0.0))
        return np.clip(center - half, 0, 1), np.clip(center + half, 0, 1)

    def log_likelihood(self, category: int, shares: npt.ArrayLike) -> Values:
        """Return the log-likelihood of possible true shares of one category.

        Its maximum between 0 and 1 is the unbiased frequency, cut to 0 .. 1: for two
        categories this is the maximum likelihood estimate (Warner 1965, equation 2).

        Args:
            category: its number.
            shares: true shares, from 0 to 1.
        """
        hits = int(self.support[category])
        chance = float(self.q) + np.asarray(shares, dtype=np.float64) * float(
            self.p - self.q
        )
        with np.errstate(divide="ignore"):
            logs: Values = hits * np.log(chance) + (self.people - hits) * np.log1p(
                -chance
            )
        return logs

    @property
    def distribution(self) -> Values:
        """The probability distribution nearest to the estimates; no longer unbiased."""
        return nearest_distribution(self.frequencies, 1.0)


def normal_quantile(confidence: float) -> float:
    """Return the z value of a two-sided normal interval at this confidence.

    Raises: ParameterError for a confidence outside 0 to 1.
    """
    if not 0 < confidence < 1:
        raise UsageError(
            f"confidence ({confidence}) must be between 0 and 1", remedy="give 0.95"
        )
    return NormalDist().inv_cdf((1 + confidence) / 2)


def frequency_variance(share: float, people: int, p: Fraction, q: Fraction) -> float:
    """Return the variance of a frequency estimate, given the true share.

    [share p (1 - p) + (1 - share) q (1 - q)] / (n (p - q)^2): a sum of independent draws of
    two kinds.
    """
    if people < 1:
        raise UsageError(
            "there must be at least one person", remedy="say how many people answer"
        )
    noise = share * float(p * (1 - p)) + (1 - share) * float(q * (1 - q))
    return noise / (people * float(p - q) ** 2)
