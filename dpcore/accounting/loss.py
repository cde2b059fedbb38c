"""Privacy losses as exact numbers, and their integer units in a ledger.

A loss is a rational number, never a float. In a ledger it is an integer number of units
of 1e-12: a charge is rounded up, a budget down.
"""

from __future__ import annotations

import bisect
import contextlib
import functools
import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import ClassVar

from dpcore.errors import ParameterError, UsageError
from dpcore.roots import find_root

Number = str | int | float | Decimal | Fraction

UNIT = 10**12
"""Units of a ledger per 1 of epsilon or rho."""
DELTA_UNIT = 10**18
"""Units of a ledger per 1 of delta."""
MAX_LOSS = 10**6
"""Largest epsilon or rho that is accepted."""


def exact_number(
    name: str, value: Number, *, at_most: Fraction | int = MAX_LOSS
) -> Fraction:
    """Return `value` as an exact number above 0 and at most `at_most`.

    Texts such as "0.5" or "1/2" are numbers too.

    Raises: ParameterError for anything else: no number, NaN, infinite, 0, negative, too
        large.
    """
    number = Fraction(0)
    if isinstance(value, Fraction):
        number = value
    elif isinstance(value, str) and re.fullmatch(r"\d{1,99}/0*[1-9]\d{0,98}", value):
        number = Fraction(value)
    elif not isinstance(value, bool):
        with contextlib.suppress(InvalidOperation, ValueError):
            decimal = Decimal(str(value).strip())
            if decimal.is_finite() and -40 <= decimal.adjusted() <= 40:
                number = Fraction(decimal)
    if not 0 < number <= at_most:
        raise ParameterError(
            "{name} ({value}) must be a number above 0 and at most {at_most:g}",
            remedy="use a number such as 0.5",
            name=name,
            value=str(value)[:40],
            at_most=float(at_most),
        )
    return number


@dataclass(frozen=True, init=False)
class PureDP:
    """Pure differential privacy with loss `epsilon`.

    Source: Dwork, McSherry, Nissim, Smith (2006).
    """

    name: ClassVar[str] = "epsilon"
    epsilon: Fraction

    def __init__(self, *, epsilon: Number) -> None:
        object.__setattr__(self, "epsilon", exact_number("epsilon", epsilon))

    @property
    def amount(self) -> Fraction:
        """The loss as one number: epsilon."""
        return self.epsilon

    def share(self, fraction: Fraction | float) -> PureDP:
        """Return the given fraction of this loss."""
        return PureDP(epsilon=self.epsilon * _exact_fraction(fraction))

    def __str__(self) -> str:
        return f"epsilon {float(self.epsilon):g}"


@dataclass(frozen=True, init=False)
class ZCDP:
    """Zero-concentrated differential privacy with loss `rho`.

    Source: Bun, Steinke (2016).
    """

    name: ClassVar[str] = "rho"
    rho: Fraction

    def __init__(self, *, rho: Number) -> None:
        object.__setattr__(self, "rho", exact_number("rho", rho))

    @property
    def amount(self) -> Fraction:
        """The loss as one number: rho."""
        return self.rho

    def share(self, fraction: Fraction | float) -> ZCDP:
        """Return the given fraction of this loss."""
        return ZCDP(rho=self.rho * _exact_fraction(fraction))

    def __str__(self) -> str:
        return f"rho {float(self.rho):g}"


@dataclass(frozen=True, init=False)
class ApproxDP:
    """Approximate differential privacy (`epsilon`, `delta`), by Gaussian noise.

    The noise keeps a rho.

    Attributes:
        epsilon, delta: the promise of all of `rho` together.
        threshold_delta: a further delta set aside for finding undeclared categories; 0
            if none is wanted. The whole promise is then (epsilon, delta +
            threshold_delta).
    """

    epsilon: Fraction
    delta: Fraction
    threshold_delta: Fraction

    def __init__(
        self, *, epsilon: Number, delta: Number, threshold_delta: Number = 0
    ) -> None:
        object.__setattr__(self, "epsilon", exact_number("epsilon", epsilon))
        for name, value in (("delta", delta), ("threshold_delta", threshold_delta)):
            if name == "threshold_delta" and value == 0:
                object.__setattr__(self, name, Fraction(0))
                continue
            number = exact_number(name, value, at_most=1)
            if number > Fraction(1, 1000):
                raise ParameterError(
                    "{name} ({number:g}) must be at most 1 / 1000; it is the chance "
                    "that "
                    "the promise does not hold at all",
                    remedy="lower {name}, preferably below 1 / number of people",
                    name=name,
                    number=float(number),
                )
            object.__setattr__(self, name, number)

    @property
    def rho(self) -> Fraction:
        """The largest rho that implies (epsilon, delta), in whole units of 1e-12."""
        return Fraction(_rho_units(self.epsilon, self.delta), UNIT)

    def __str__(self) -> str:
        return f"epsilon {float(self.epsilon):g}, delta {float(self.delta):g}"


Loss = PureDP | ZCDP
AnyLoss = PureDP | ZCDP | ApproxDP


def check_loss(loss: object, *, name: str) -> None:
    """Raise an error unless `loss` is a privacy loss.

    Raises:
        UsageError: names the argument, and how to write a loss.
    """
    if not isinstance(loss, AnyLoss):
        raise UsageError(
            f"the {name} must be a privacy loss, not {type(loss).__name__}",
            remedy="write dp.PureDP(epsilon=1), or ZCDP or ApproxDP likewise",
        )


def split_loss(
    loss: Loss, count: int, weights: Sequence[Fraction | float] | None = None
) -> tuple[Loss, ...]:
    """Split `loss` into `count` shares, equal or in proportion to weights.

    They add up to it exactly.
    """
    exact_weights = (
        [Fraction(1)] * count
        if weights is None
        else [Fraction(weight) for weight in weights]
    )
    whole = sum(exact_weights)
    return tuple(loss.share(weight / whole) for weight in exact_weights)


@functools.lru_cache(maxsize=4096)  # pages ask for the same amounts in every rerun
def epsilon_of_rho(rho: float, delta: float) -> float:
    """Return the epsilon that rho-zCDP implies at this delta, to within 1e-9."""
    if rho <= 0:
        return 0.0
    most = rho + 2 * math.sqrt(rho * math.log(1 / delta)) + 1
    return find_root(
        lambda epsilon: math.log(delta) - log_delta(rho, epsilon), 0.0, most
    )


def rho_of_epsilon(epsilon: Fraction) -> Fraction:
    """Return the smallest rho that epsilon-DP implies, rounded up to 1e-30.

    It is epsilon * tanh(epsilon / 2). Every epsilon-DP mechanism is a post-processing
    of binary randomized response (Kairouz, Oh, Viswanath 2015, theorem 3.2 with delta =
    0), whose Renyi divergence over alpha is largest as alpha tends to 1, where it is
    the Kullback-Leibler divergence, epsilon * tanh(epsilon / 2). For discrete Laplace
    noise of sensitivity 1 this is exact (Harrison, Manurangsi 2026).
    """
    import decimal

    with decimal.localcontext(prec=60, rounding=decimal.ROUND_CEILING):
        value = Decimal(epsilon.numerator) / Decimal(epsilon.denominator)
        if value > 200:
            return epsilon
        power = value.exp()
        rho = value * ((power - 1) / (power + 1)) + Decimal("1e-40")
        return Fraction(rho.quantize(Decimal("1e-30"), rounding=decimal.ROUND_CEILING))


def round_up_to_units(amount: Fraction) -> int:
    """Return a charge in whole units of 1e-12, rounded up."""
    return math.ceil(amount * UNIT)


def round_down_to_units(amount: Fraction) -> int:
    """Return a budget in whole units of 1e-12, rounded down."""
    return math.floor(amount * UNIT)


def _exact_fraction(fraction: Fraction | float) -> Fraction:
    return exact_number(
        "share",
        fraction if isinstance(fraction, Fraction) else float(fraction),
        at_most=1,
    )


def log_delta(rho: float, epsilon: float) -> float:
    """Return the logarithm of the delta that rho-zCDP implies at this epsilon.

    Source: Canonne, Kamath, Steinke (2020), proposition 7:
    inf over alpha > 1 of exp((alpha - 1)(alpha rho - epsilon)) / (alpha - 1) * (1 - 1 /
    alpha)^alpha. The exponent is convex in alpha, so this is a ternary search on
    log(alpha - 1). Budgets on file were computed by it to the unit: another search
    would give some of them another number of units.
    """

    def exponent(log_order: float) -> float:
        excess = math.exp(log_order)
        order = 1 + excess
        # Stable form: log(1 - 1/order) = -log(1 + 1/excess).
        return (
            excess * (order * rho - epsilon)
            - log_order
            - order * math.log1p(math.exp(-log_order))
        )

    low = -60.0
    high = 60.0
    for _ in range(100):
        left = low + (high - low) / 3
        right = high - (high - low) / 3
        low, high = (low, right) if exponent(left) < exponent(right) else (left, high)
    return exponent((low + high) / 2)


@functools.lru_cache(maxsize=256)
def _rho_units(epsilon: Fraction, delta: Fraction) -> int:
    target = math.log(delta.numerator) - math.log(delta.denominator)
    units = range(1, round_up_to_units(epsilon) + 1)
    fitting = bisect.bisect_left(
        units,
        True,
        key=lambda units: log_delta(units / UNIT, float(epsilon)) > target,
    )
    if fitting == 0:
        raise ParameterError(
            "this epsilon and delta are too small together", remedy="raise epsilon"
        )
    return fitting


def loss_fields(loss: AnyLoss) -> dict[str, str]:
    """Return a loss as plain data: name to exact number as text."""
    names = ("epsilon", "delta", "rho", "threshold_delta")
    return {
        name: str(getattr(loss, name)) for name in names if getattr(loss, name, None)
    }


def loss_from_fields(fields: Mapping[str, str]) -> AnyLoss:
    """Read the output of `loss_fields`.

    Raises: ParameterError for numbers that no loss has.
    """
    if "delta" in fields:
        return ApproxDP(
            **{name: text for name, text in fields.items() if name != "rho"}
        )
    if PureDP.name in fields:
        return PureDP(epsilon=fields[PureDP.name])
    return ZCDP(rho=fields[ZCDP.name])
