"""Recommended protocols for a question, ordered by expected error."""

import math
from dataclasses import dataclass

from dpcore.accounting.loss import Number
from dpcore.local.base import Protocol


@dataclass(frozen=True, kw_only=True)
class ProtocolOption:
    """A protocol with its expected error.

    Attributes:
        standard_error: of a frequency, as a share of the people: the root of the mean
            variance over the categories, whatever people answer.
        largest_error: the largest standard error of one category, whatever people
            answer.
        times_best: standard error over the least one of all options; 1 for the best.
    """

    protocol: Protocol
    standard_error: float
    largest_error: float
    times_best: float


def recommend_protocols(
    categories: int, epsilon: Number, people: int
) -> tuple[ProtocolOption, ...]:
    """Return all protocols for a question, the one with the least variance first.

    Reads no data.

    Args:
        categories: how many answers are possible.
        epsilon: the loss of one answer.
        people: how many answers are expected.

    Raises: ParameterError for fewer than 2 categories or 1 person; LimitError for too
        many categories.
    """
    protocols = [
        kind(categories=categories, epsilon=epsilon)
        for kind in Protocol.kinds().values()
    ]
    errors = [math.sqrt(protocol.mean_variance(people)) for protocol in protocols]
    best = min(errors)
    options = [
        ProtocolOption(
            protocol=protocol,
            standard_error=error,
            largest_error=math.sqrt(protocol.largest_variance(people)),
            times_best=max(1.0, error / best),
        )
        for protocol, error in zip(protocols, errors, strict=True)
    ]
    return tuple(sorted(options, key=lambda option: round(option.times_best, 9)))
