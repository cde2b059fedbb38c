"""The limits of whoever runs the workbench are kept wherever a table is opened or
made.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.loss import AnyLoss, ApproxDP
from dpcore.anonymization import KAnonymity, Plan
from dpcore.anonymization.hierarchies.builders import build_flat
from dpcore.errors import InfeasibleError, ParameterError
from tests.contracts.ledger_kinds import SqlKind
from workbench import __main__ as commands
from workbench.anonymize import outcomes
from workbench.anonymize.state import AnonymizeState
from workbench.store import settings
from workbench.store.people.owners import Owners
from workbench.store.people.personal import PersonalLedger
from workbench.store.people.roles import LOCAL_PERSON
from workbench.store.policy import Policy, read_policy

LIMITS = "epsilon = 2\nk = 5"


@pytest.fixture
def limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A server with a policy: at most epsilon 2, groups of at least 5."""
    (tmp_path / "policy.toml").write_text(LIMITS)
    monkeypatch.setenv("WORKBENCH_POLICY", str(tmp_path / "policy.toml"))
    settings.read_settings.cache_clear()
    yield
    settings.read_settings.cache_clear()


@pytest.mark.usefixtures("limits")
@pytest.mark.parametrize("epsilon", ["2", "2.001"])
def test_the_ledger_opens_no_account_beyond_the_limits(
    kind: SqlKind, epsilon: str
) -> None:
    """A page or a command that forgets to compare would give a table more than the
    owner allows.
    """
    store = kind.open()
    table = pd.DataFrame({"hiv": [0, 1, 1]})
    ledger = PersonalLedger(
        ledger=store,
        owners=Owners(kind._stores[-1]),
        person=LOCAL_PERSON,
        current_person=lambda: LOCAL_PERSON,
        opener="",
    )
    schema = dp.Schema(
        columns=(dp.Integer("hiv", low=0, high=1),), unit=dp.PrivacyUnit(max_rows=1)
    )
    given = {"budget": dp.PureDP(epsilon=epsilon), "ledger": ledger}
    if epsilon == "2":
        dp.Curator.open(table, schema, **given)
        return
    with pytest.raises(ParameterError, match="allows a table at most epsilon 2"):
        dp.Curator.open(table, schema, **given)
    assert store.datasets() == [], (
        "no account came of it, which later openings would believe"
    )


@pytest.mark.usefixtures("limits")
def test_no_folder_and_no_table_of_small_groups(tmp_path: Path) -> None:
    """A folder would be written, or a table shown, in which people hide among fewer
    than the owner allows.
    """
    plan = Plan(
        roles={"zip": "quasi-identifier"},
        hierarchies={"zip": build_flat(["1", "2"])},
        models=(KAnonymity(k=4),),
    )
    with pytest.raises(ParameterError, match="groups of at least 5"):
        outcomes.write_table(None, plan, tmp_path / "folder")  # type: ignore[arg-type]  # it is not reached
    assert not (tmp_path / "folder").exists()


@pytest.mark.usefixtures("limits")
def test_the_table_that_leaves_is_judged_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A plan that says k = 5, and means it, would let out a smaller group that no plan
    tells of.
    """
    given: list[int] = []

    class Made(Exception):
        pass

    class Judged:
        def __init__(self, unit: dp.PrivacyUnit) -> None:
            self.schema = dp.Schema(columns=(), unit=unit)

        def anonymize(self, plan: Plan, *, smallest_group: int) -> None:
            given.append(smallest_group)
            raise Made

        def anonymize_to(self, place: Path, plan: Plan, *, smallest_group: int) -> None:
            given.append(smallest_group)
            raise Made

    plan = Plan(
        roles={"zip": "quasi-identifier"},
        hierarchies={"zip": build_flat(["1", "2"])},
        models=(KAnonymity(k=5),),
    )
    curator = Judged(dp.PrivacyUnit(max_rows=3))
    monkeypatch.setattr(outcomes, "try_plan", lambda *_: SimpleNamespace(plan=plan))
    monkeypatch.setattr(outcomes.progress_view, "wait_in_line", nullcontext)
    monkeypatch.setattr(outcomes.session, "make_cancel_poll", lambda: None)
    monkeypatch.setattr(commands, "_open_asked_table", lambda _: curator)
    (tmp_path / "plan.json").write_text(plan.to_json())
    asked = argparse.Namespace(plan=tmp_path / "plan.json", to=tmp_path / "folder")
    for leave in (
        lambda: outcomes.make_table(curator, AnonymizeState(), plan),  # type: ignore[arg-type]
        lambda: outcomes.write_table(curator, plan, tmp_path / "folder"),  # type: ignore[arg-type]
        lambda: commands.anonymize(asked),
    ):
        with pytest.raises(Made):
            leave()
    assert given == [15, 15, 15], "five people may have so many rows"


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
    """Somebody could spend more than the owner of the server allows, by another rule
    for instance.
    """
    policy = Policy(epsilon=2, delta=1e-6)
    if allowed:
        policy.check_budget(budget)
        return
    with pytest.raises(
        ParameterError, match="allows a table at most epsilon 2 and delta 1e-06"
    ):
        policy.check_budget(budget)


@pytest.mark.parametrize(
    ("unit", "last", "refused"),
    [
        (dp.PrivacyUnit(max_rows=1), ["a", "b", "c", "d", "e"], ""),
        (
            dp.PrivacyUnit(max_rows=1),
            ["alone"] * 5,
            "one value of 'id' is in more rows .*may have \\(1\\)",
        ),
        (
            dp.PrivacyUnit(max_rows=1),
            ["a", "b", "c", "d", "d"],
            "one value of 'id' is in more",
        ),
        (dp.PrivacyUnit(max_rows=1), ["a", "b", "c", "d", None], ""),
        (dp.PrivacyUnit(max_rows=5), ["alone"] * 5, "fewer than 25 rows"),
        (
            dp.PrivacyUnit(max_rows=5, id_column="id"),
            ["alone"] * 5,
            "do.* not meet the models",
        ),
    ],
)
def test_people_are_counted_and_not_their_rows(
    unit: dp.PrivacyUnit, last: list[str | None], refused: str
) -> None:
    """Five rows of one person would leave as a group of five, also where the table was
    declared to have one row a person.
    """
    frame = pd.DataFrame(
        {
            "id": [f"p{i}" for i in range(40)] + last,
            "visit": [i // 2 for i in range(45)],
            "zip": ["1"] * 40 + ["2"] * 5,
        }
    )
    schema = dp.Schema(
        columns=(dp.Categorical("zip", categories=("1", "2")),), unit=unit
    )
    plan = Plan(
        roles={"id": "identifier", "visit": "identifier", "zip": "quasi-identifier"},
        hierarchies={"zip": build_flat(["1", "2"])},
        models=(KAnonymity(k=5),),
        node={"zip": 0},
    )
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    smallest = Policy(k=5).smallest_group(unit)
    if not refused:
        curator.anonymize(plan, smallest_group=smallest)
        return
    with pytest.raises(InfeasibleError, match=refused):
        curator.anonymize(plan, smallest_group=smallest)


def test_without_a_policy_groups_may_have_any_size() -> None:
    """A workbench without limits would refuse tables of people with several rows."""
    assert Policy().smallest_group(dp.PrivacyUnit(max_rows=5)) == 1


def test_small_groups_are_refused() -> None:
    """A table could be published in which people hide among fewer others than the owner
    asks for.
    """
    plan = Plan(
        roles={"zip": "quasi-identifier"},
        hierarchies={"zip": build_flat(["1", "2"])},
        models=(KAnonymity(k=4),),
    )
    Policy(k=4).check_plan(plan)
    with pytest.raises(ParameterError, match="groups of at least 5"):
        Policy(k=5).check_plan(plan)
    for suppressed in ("kept", "blanked"):
        few = replace(plan, suppressed=suppressed, limit=0.05)  # type: ignore[arg-type]
        Policy(k=1).check_plan(few)
        with pytest.raises(
            ParameterError, match="the group of suppressed rows may be smaller"
        ):
            Policy(k=4).check_plan(few)
        Policy(k=4).check_plan(replace(few, limit=0))
    Policy(k=4).check_plan(replace(plan, suppressed="dropped", limit=0.05))


@pytest.mark.parametrize(
    "text",
    ["epsilon = 0", "k = 'five'", "[purposes]\nfun = 1", "largest = 3", "epsilon ="],
)
def test_a_policy_that_is_not_understood_is_refused(
    text: str, tmp_path: Path, monkeypatch
) -> None:
    """A slip in the file would leave the server without any limit, in silence."""
    (tmp_path / "policy.toml").write_text(text)
    monkeypatch.setenv("WORKBENCH_POLICY", str(tmp_path / "policy.toml"))
    settings.read_settings.cache_clear()
    with pytest.raises(ParameterError, match="cannot be read"):
        read_policy()
    settings.read_settings.cache_clear()
