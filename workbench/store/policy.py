"""Limits set by whoever runs the workbench.

`WORKBENCH_POLICY` names a small TOML file:

    epsilon = 2     # most that may ever be spent on a table opened from now on
    delta = 1e-6
    k = 5           # fewest people in a group of an anonymized table
    [purposes]      # most epsilon proposed for a release; else a share of the budget
    open = 0.5      # also: report, learning, analysis
"""

from __future__ import annotations

import functools
import math
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dpcore.accounting.loss import ZCDP, AnyLoss, ApproxDP, epsilon_of_rho
from dpcore.errors import ParameterError
from workbench.store.settings import read_settings, unreadable_file_error

if TYPE_CHECKING:
    from dpcore.anonymization.plan import Plan
    from dpcore.schema.unit import PrivacyUnit
    from dpcore.suppression.plan import TablePlan

PURPOSES = ("report", "open", "learning", "analysis")
PROPOSED_EPSILON = 3.0
"""Epsilon of the whole budget that is proposed for a table."""
PROPOSED_SHARE = Fraction(1, 6)
"""Share of the budget that is proposed for one of several releases."""
PROPOSED_SHARE_BY_PURPOSE = dict.fromkeys(
    ("report", "open", "learning"), Fraction(1, 2)
)
"""The same by purpose, where one release is expected."""
_STRICTEST_DELTA = 1e-9


@dataclass(frozen=True, kw_only=True)
class Policy:
    """Limits on budgets and groups, and the share proposed for each purpose.

    Attributes:
        epsilon, delta: the most that may ever be spent on a table.
        k: the fewest people in a group of an anonymized table, and in a shown cell of
            an exact one.
        purposes: largest epsilon that is proposed, by purpose.
    """

    epsilon: float = math.inf
    delta: float = 1e-3  # nobody may state more
    k: int = 1
    purposes: Mapping[str, float] = field(default_factory=dict)

    @property
    def proposed_epsilon(self) -> float:
        """Epsilon of the budget that is proposed for a table."""
        return min(PROPOSED_EPSILON, self.epsilon)

    def __post_init__(self) -> None:
        numbers = (self.epsilon, self.delta, self.k, *self.purposes.values())
        if not set(self.purposes) <= {*PURPOSES} or min(numbers) <= 0:
            raise ValueError("no such purpose, or no number above 0")

    def proposed_share(self, purpose: str) -> Fraction:
        """Return the share of the budget that is proposed for a purpose."""
        return PROPOSED_SHARE_BY_PURPOSE.get(purpose, PROPOSED_SHARE)

    def check_budget(self, budget: AnyLoss) -> None:
        """Refuse a budget beyond the limits. Raises: ParameterError."""
        delta = (
            float(budget.delta + budget.threshold_delta)
            if isinstance(budget, ApproxDP)
            else 0.0
        )
        if isinstance(budget, ZCDP):
            epsilon = epsilon_of_rho(
                float(budget.rho), min(self.delta, _STRICTEST_DELTA)
            )
        else:
            epsilon = float(budget.epsilon)
        if epsilon > self.epsilon or delta > self.delta:
            raise ParameterError(
                (
                    "the policy of this workbench allows a table at most epsilon "
                    "{epsilon:g} and delta {delta:g}"
                ),
                remedy="choose smaller ones",
                epsilon=self.epsilon,
                delta=self.delta,
            )

    def check_plan(self, plan: Plan) -> None:
        """Refuse a plan that allows smaller groups than the limit, before any work.

        The table that leaves is judged again; see `smallest_group` of
        `Curator.anonymize`.

        Raises: ParameterError.
        """
        sizes: list[Any] = [
            getattr(model, "k", 1)
            for model in plan.models
            if model.kind == "k-anonymity"
        ]
        if max(sizes, default=1) < self.k:
            raise ParameterError(
                "the policy of this workbench asks for groups of at least {k}",
                remedy="raise k",
                k=self.k,
            )
        if self.k > 1 and plan.limit > 0 and plan.suppressed in ("kept", "blanked"):
            raise ParameterError(
                (
                    "the policy of this workbench asks for groups of at least {k}, "
                    "but the group of suppressed rows may be smaller"
                ),
                remedy=(
                    "leave suppressed rows out, or keep them only if there are "
                    "enough of them"
                ),
                k=self.k,
            )

    def check_table(self, plan: TablePlan) -> None:
        """Refuse an exact table that shows counts below the limit.

        Raises: ParameterError.
        """
        if plan.rule.threshold < self.k or (self.k > 1 and plan.exceptions):
            raise ParameterError(
                "the policy of this workbench asks for at least {k} people in every "
                "shown cell, without exceptions",
                remedy="raise the threshold of the rule, and remove the exceptions",
                k=self.k,
            )

    def smallest_group(self, unit: PrivacyUnit) -> int:
        """Return the smallest size that a group may have, in people or in rows.

        If no column names people, rows are counted, and `k` people may have `k *
        max_rows`.
        """
        rows = unit.max_rows if unit.id_column is None else 1
        return self.k * rows if self.k > 1 else 1


def read_policy() -> Policy:
    """Return the policy of this process.

    Raises: ParameterError for a file that cannot be read.
    """
    file = read_settings().policy
    return Policy() if file is None else _policy_in(file)


@functools.cache
def _policy_in(file: Path) -> Policy:
    try:
        return Policy(**tomllib.loads(file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError, AttributeError):
        raise unreadable_file_error(file.name) from None
