"""Success rates with their confidence intervals, and the difference of two rates."""

import math
import statistics
from dataclasses import dataclass

from dpcore.errors import UsageError

CONFIDENCE = 0.999
"""Level of every interval: seven attacks are judged together, and their attempts share
the same few tables.
"""


@dataclass(frozen=True, kw_only=True)
class Rate:
    """Number of successes among independent attempts."""

    successes: int
    attempts: int

    def __post_init__(self) -> None:
        if not 0 <= self.successes <= self.attempts:
            raise UsageError(
                (
                    f"successes ({self.successes}) must be from 0 to the attempts "
                    f"({self.attempts})"
                ),
                remedy="count again",
            )

    @property
    def value(self) -> float:
        """The share of successes, 0 without attempts."""
        return self.successes / self.attempts if self.attempts else 0.0

    def interval(self, level: float = CONFIDENCE) -> tuple[float, float]:
        """Return Wilson's interval of the true rate, [0, 1] without attempts.

        Source: Wilson (1927).
        """
        if not self.attempts:
            return 0.0, 1.0
        z = statistics.NormalDist().inv_cdf((1 + level) / 2)
        n = self.attempts
        p = self.value
        middle = (p + z * z / (2 * n)) / (1 + z * z / n)
        half = z / (1 + z * z / n) * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
        return max(0.0, middle - half), min(1.0, middle + half)


def rate_difference(
    rate: Rate, control: Rate, level: float = CONFIDENCE
) -> tuple[float, float, float]:
    """Return rate minus control, followed by its lower and upper bound.

    Source: Newcombe (1998), method 10.
    """
    gap = rate.value - control.value
    (low, high), (other_low, other_high) = rate.interval(level), control.interval(level)
    down = math.hypot(rate.value - low, other_high - control.value)
    up = math.hypot(high - rate.value, control.value - other_low)
    return gap, max(-1.0, gap - down), min(1.0, gap + up)
