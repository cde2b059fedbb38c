"""Records of single noise draws, from which a run's loss can be recomputed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from dpcore.accounting.loss import rho_of_epsilon
from dpcore.errors import UsageError

Mechanism = Literal[
    "discrete laplace",
    "discrete gaussian",
    "permute and flip",
    "exponential",
    "threshold",
    "max norm",
]


@dataclass(frozen=True, kw_only=True)
class Event:
    """The record of one noise draw by a mechanism.

    Attributes:
        mechanism: the noise.
        reads: cliques with exact counts, or sums over rows, read by this one draw; each
            is one query.
        rows: most rows of a person; one query changes by at most this in L1, L2 and
            L-infinity.
        noise_scale: in rows; of the distribution named by `mechanism`, above 0. An
            exact float.
        delta: chance of failure, for "threshold" only.
        part: (column, category) if only the rows of one publicly declared part were
            read.
        times: number of choices of this kind, each among what those before it left;
            1 but in lines of earlier versions.
    """

    mechanism: Mechanism
    reads: tuple[tuple[str, ...], ...]
    rows: int
    noise_scale: float
    delta: Fraction = Fraction(0)
    part: tuple[str, str] | None = None
    times: int = 1

    def __post_init__(self) -> None:
        if not (math.isfinite(self.noise_scale) and self.noise_scale > 0):
            raise UsageError(
                f"noise_scale ({self.noise_scale}) must be above 0",
                remedy="use a positive number of rows",
            )

    @property
    def epsilon(self) -> Fraction | None:
        """Loss in pure epsilon, or None if the mechanism has none.

        Laplace: L1 sensitivity / scale (Dwork et al. 2006). Permute and flip,
        exponential: 2 * L-infinity sensitivity / scale (McKenna, Sheldon 2020). Max
        norm: L-infinity sensitivity / scale, however many queries (Hardt, Talwar 2010).
        """
        scale = Fraction(self.noise_scale)
        if self.mechanism == "discrete gaussian":
            return None
        if self.mechanism in ("permute and flip", "exponential"):
            return 2 * self.rows * self.times / scale
        if self.mechanism == "max norm":
            return self.rows / scale
        return self.rows * len(self.reads) / scale

    @property
    def rho(self) -> Fraction:
        """The loss as the rho of zCDP.

        Gaussian: squared L2 sensitivity / (2 scale^2) (Canonne, Kamath, Steinke 2020,
        theorem 4). Exponential: epsilon^2 / 8 of each choice, by bounded range (Cesar,
        Rogers 2021, lemma 3.2). The others: from their pure epsilon.
        """
        if self.epsilon is None:
            scale = Fraction(self.noise_scale)
            return Fraction(self.rows**2 * len(self.reads)) / (2 * scale**2)
        if self.mechanism == "exponential":
            return self.epsilon**2 / 8 / self.times
        return rho_of_epsilon(self.epsilon)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data for a ledger line.

        The scale is written as an exact hexadecimal float.
        """
        fields: dict[str, Any] = {
            "mechanism": self.mechanism,
            "reads": [list(clique) for clique in self.reads],
            "rows": self.rows,
            "noise_scale": self.noise_scale.hex(),
        }
        if self.delta:
            fields["delta"] = str(self.delta)
        if self.part:
            fields["part"] = list(self.part)
        if self.times > 1:
            fields["times"] = self.times
        return fields

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Event:
        """Read the output of `to_dict`."""
        return cls(
            mechanism=fields["mechanism"],
            reads=tuple(tuple(clique) for clique in fields["reads"]),
            rows=fields["rows"],
            noise_scale=float.fromhex(fields["noise_scale"]),
            delta=Fraction(fields.get("delta", 0)),
            part=tuple(fields["part"]) if "part" in fields else None,
            times=fields.get("times", 1),
        )
