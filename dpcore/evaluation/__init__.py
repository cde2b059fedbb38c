"""How good a release or a table is, measured against the original: internal reports."""

from dpcore.evaluation.distributions import Distribution, Distributions, distributions
from dpcore.evaluation.marginal_error import MarginalError, MarginalErrors, WayError, marginal_error
from dpcore.evaluation.range_errors import (
    ErrorQuantiles,
    NamedError,
    RangeErrors,
    RangeQueryErrors,
    WidthError,
)
from dpcore.evaluation.range_queries import percent_error, range_query

__all__ = [
    "Distribution",
    "Distributions",
    "ErrorQuantiles",
    "MarginalError",
    "MarginalErrors",
    "NamedError",
    "RangeErrors",
    "RangeQueryErrors",
    "WayError",
    "WidthError",
    "distributions",
    "marginal_error",
    "percent_error",
    "range_query",
]
