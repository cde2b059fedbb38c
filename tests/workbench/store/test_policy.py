"""The limits of whoever runs the workbench are kept wherever a table is opened or made."""

from __future__ import annotations

from pathlib import Path

import pytest

import dpcore as dp
from dpcore.accounting.loss import AnyLoss, ApproxDP
from dpcore.anonymize import KAnonymity, Plan
from dpcore.anonymize.hierarchies.builders import flat
from dpcore.errors import ParameterError
from workbench.store import settings
from workbench.store.policy import Policy, read_policy


@pytest.mark.parametrize(
    ("budget", "allowed"),
    [
        (dp.PureDP(epsilon="2"), True),
        (dp.PureDP(epsilon="2.001"), False),
        (ApproxDP(epsilon="2", delta="1e-6"), True),
        (ApproxDP(epsilon="1", delta="1e-5"), False),
        (ApproxDP(epsilon="1", delta="1e-6", threshold_delta="1e-9"), False),
        (dp.ZCDP(rho="0.04"), True),  # epsilon 1.8 at delta 1e-9
        (dp.ZCDP(rho="0.06"), False),  # epsilon 2.2
    ],
)
def test_a_budget_beyond_the_limits_is_refused(budget: AnyLoss, allowed: bool) -> None:
    """Somebody could spend more than the owner of the server allows, by another rule for instance."""
    policy = Policy(epsilon=2, delta=1e-6)
    if allowed:
        policy.check_budget(budget)
        return
    with pytest.raises(ParameterError, match="allows a table at most epsilon 2 and delta 1e-06"):
        policy.check_budget(budget)


def test_small_groups_are_refused() -> None:
    """A table could be published in which people hide among fewer others than the owner asks for."""
    plan = Plan(
        roles={"zip": "quasi-identifier"}, hierarchies={"zip": flat(["1", "2"])}, models=(KAnonymity(k=4),)
    )
    Policy(k=4).check_plan(plan)
    with pytest.raises(ParameterError, match="groups of at least 5"):
        Policy(k=5).check_plan(plan)


@pytest.mark.parametrize(
    "text", ["epsilon = 0", "k = 'five'", "[purposes]\nfun = 1", "largest = 3", "epsilon ="]
)
def test_a_policy_that_is_not_understood_is_refused(text: str, tmp_path: Path, monkeypatch) -> None:
    """A slip in the file would leave the server without any limit, in silence."""
    (tmp_path / "policy.toml").write_text(text)
    monkeypatch.setenv("WORKBENCH_POLICY", str(tmp_path / "policy.toml"))
    settings.read_settings.cache_clear()
    with pytest.raises(ParameterError, match="cannot be read"):
        read_policy()
    settings.read_settings.cache_clear()
