"""What every ledger promises, once for all of them: in memory, in a SQLite file, on a
PostgreSQL server.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import sqlalchemy as sa
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    rule,
    run_state_machine_as_test,
)

import dpcore as dp
from dpcore.accounting.ledger import Charge, Ledger, Line
from dpcore.accounting.memory import MemoryLedger
from dpcore.accounting.own import ledger_of_person
from dpcore.errors import (
    BudgetExceeded,
    BudgetFixed,
    DpcoreError,
    LedgerCorrupt,
    LedgerError,
    ParameterError,
    RequestConflict,
    UsageError,
)
from tests.contracts.ledger_kinds import (
    DATASET,
    Kind,
    MemoryKind,
    PersonalKind,
    SqlKind,
    account,
    balance,
    die_before_commit,
    postgres_kind,
    race,
    reserve_and_die,
    run_process,
    sqlite_kind,
)
from tests.needs import need_postgres
from tests.tiers import but_first
from workbench.store.ledger.rows import account_row
from workbench.store.settings import Settings

POSTGRES = pytest.param("postgres", marks=pytest.mark.postgres)


@pytest.fixture(params=["memory", "personal", "sqlite", POSTGRES])
def kind(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Kind]:
    if request.param == "memory":
        yield MemoryKind()
    elif request.param == "personal":
        personal = PersonalKind(Settings(data_dir=tmp_path))
        yield personal
        personal.close()
    else:
        yield from _sql_kind(request.param, tmp_path)


@pytest.fixture(params=["sqlite", POSTGRES])
def sql_kind(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[SqlKind]:
    yield from _sql_kind(request.param, tmp_path)


def _sql_kind(name: str, folder: Path) -> Iterator[SqlKind]:
    if name == "sqlite":
        with sqlite_kind(folder) as kind:
            yield kind
    else:
        with postgres_kind(folder, need_postgres()) as kind:
            yield kind


@pytest.fixture
def ledger(kind: Kind) -> Ledger:
    ledger = kind.open()
    ledger.open(account())
    return ledger


def _charge(units: int, part: tuple[str, str] | None = None) -> Charge:
    return Charge(units=units, part=part)


def _spend(
    ledger: Ledger, request_id: str, units: int, part: tuple[str, str] | None = None
) -> None:
    ledger.reserve(
        DATASET, request_id, _charge(units, part), {"loss": {"epsilon": "1"}}
    )


def _states(ledger: Ledger) -> list[tuple[str, str]]:
    return [(line.request_id, line.state) for line in ledger.lines(DATASET)]


def _refused(
    error: type[DpcoreError], step: Callable[..., object], *arguments: Any
) -> None:
    with pytest.raises(error) as caught:
        step(*arguments)
    assert caught.type is error


# Accounts


def test_account_is_filed_once_and_found_again(ledger: Ledger) -> None:
    """Opening a data set again would start a second, empty budget."""
    _spend(ledger, "a", 400_000)
    assert ledger.open(account()) == account() == ledger.account(DATASET)
    assert _states(ledger) == [("", "opened"), ("a", "reserved")]


@pytest.mark.parametrize(
    "change",
    [
        {"units": 2_000_000},
        {"rule": "zcdp"},
        {"threshold_units": 5},
        {"unit": {"max_rows": 2}},
    ],
)
def test_budget_rule_and_unit_never_change(
    ledger: Ledger, change: dict[str, Any]
) -> None:
    """A spent budget could be opened anew with a larger one or a weaker promise."""
    _refused(BudgetFixed, ledger.open, account(**change))
    assert ledger.account(DATASET) == account()


def test_data_set_without_account_is_refused(ledger: Ledger) -> None:
    """Work on a data set nobody opened would be charged to nothing."""
    for step, arguments in [
        (ledger.reserve, ("other", "a", _charge(1), {})),
        (ledger.note, ("other", "a", {})),
        (ledger.commit, ("other", "a", {}, "release")),
        (ledger.verify, ("other",)),
    ]:
        _refused(LedgerError, step, *arguments)
    assert ledger.account("other") is None
    assert ledger.lines("other") == ()


def test_accounts_are_apart(ledger: Ledger) -> None:
    """Spending on one data set would use up, or hide, the budget of another."""
    ledger.open(account(dataset="other"))
    _spend(ledger, "a", 1_000_000)
    ledger.reserve("other", "a", _charge(1_000_000), {})
    assert [line.number for line in ledger.lines("other")] == [0, 1]
    ledger.verify("other")


# Requests


def test_reserve_then_commit(ledger: Ledger) -> None:
    """The charge, the end and the release of a request would not be found together."""
    _spend(ledger, "a", 400_000)
    assert balance(account(), ledger.lines(DATASET)).reserved == 400_000
    assert ledger.release(DATASET, "a") is None
    ledger.commit(DATASET, "a", {"events": []}, '{"release": "á\\u0000"}')
    assert _states(ledger)[1:] == [("a", "reserved"), ("a", "committed")]
    assert ledger.release(DATASET, "a") == '{"release": "á\\u0000"}'
    assert balance(account(), ledger.lines(DATASET)).spent == 400_000
    ledger.verify(DATASET)


def test_several_notes_are_written_together_or_not_at_all(ledger: Ledger) -> None:
    """Of tables that are published together, none would be unattacked with another."""
    ledger.note(DATASET, "taken", {})
    before = ledger.lines(DATASET)
    notes = {"first": {"at": 1}, "taken": {"at": 2}}
    _refused(RequestConflict, ledger.note_all, DATASET, notes)
    assert ledger.lines(DATASET) == before
    ledger.note_all(DATASET, {"first": {"at": 1}, "second": {"at": 2}})
    assert _states(ledger)[-2:] == [("first", "outside"), ("second", "outside")]
    assert [line.content["at"] for line in ledger.lines(DATASET)[-2:]] == [1, 2]
    ledger.verify(DATASET)


def test_a_request_id_is_used_once(ledger: Ledger) -> None:
    """A double click would pay twice."""
    _spend(ledger, "a", 100)
    ledger.note(DATASET, "n", {})
    for taken in ("a", "n"):
        _refused(RequestConflict, _spend, ledger, taken, 100)
        _refused(RequestConflict, ledger.note, DATASET, taken, {})
    ledger.commit(DATASET, "a", {}, "release")
    _refused(RequestConflict, _spend, ledger, "a", 100)
    assert _states(ledger)[1:] == [
        ("a", "reserved"),
        ("n", "outside"),
        ("a", "committed"),
    ]


def test_a_request_ends_once(ledger: Ledger) -> None:
    """A failed request could be given a release, or a release be replaced."""
    _spend(ledger, "good", 1)
    _spend(ledger, "bad", 1)
    ledger.commit(DATASET, "good", {}, "first")
    ledger.fail(DATASET, "bad", {})
    for request_id in ("good", "bad", "never reserved", ""):
        _refused(LedgerError, ledger.commit, DATASET, request_id, {}, "second")
        _refused(LedgerError, ledger.fail, DATASET, request_id, {})
    assert ledger.release(DATASET, "good") == "first"
    assert ledger.release(DATASET, "bad") is None
    ledger.verify(DATASET)


def test_beyond_the_budget_leaves_no_trace(ledger: Ledger) -> None:
    """A refused request would be charged, or the last unit could not be spent."""
    _spend(ledger, "a", 999_999)
    _refused(BudgetExceeded, _spend, ledger, "b", 2)
    _spend(ledger, "b", 1)
    _refused(BudgetExceeded, _spend, ledger, "c", 1)
    assert _states(ledger)[1:] == [("a", "reserved"), ("b", "reserved")]


def test_a_charge_is_above_zero(ledger: Ledger) -> None:
    """Something would be read for nothing, or a negative charge would give budget
    back.
    """
    _refused(UsageError, _spend, ledger, "a", 0)
    _refused(UsageError, _charge, -1)
    with pytest.raises(ParameterError):
        Charge(units=1, threshold_units=-1)
    assert len(ledger.lines(DATASET)) == 1


def test_reserved_and_failed_keep_their_charge(ledger: Ledger) -> None:
    """A run that failed after reading would be refunded."""
    _spend(ledger, "held", 300_000)
    _spend(ledger, "failed", 300_000)
    ledger.fail(DATASET, "failed", {"error": "MemoryError"})
    _refused(BudgetExceeded, _spend, ledger, "c", 400_001)
    now = balance(account(), ledger.lines(DATASET))
    assert (now.spent, now.reserved, now.remaining_units) == (300_000, 300_000, 400_000)


def test_parts_of_a_column_take_their_maximum(ledger: Ledger) -> None:
    """Disjoint parts would be charged as if they were the whole, or whole and parts as
    if disjoint.
    """
    _spend(ledger, "f", 600_000, ("sex", "Female"))
    _spend(ledger, "m", 700_000, ("sex", "Male"))
    _spend(ledger, "m2", 100_000, ("sex", "Male\x00\ud800"))
    _refused(BudgetExceeded, _spend, ledger, "x", 300_001, ("sex", "Male"))
    _refused(BudgetExceeded, _spend, ledger, "x", 300_001, ("city", "Rome"))
    _spend(ledger, "w", 200_000)
    _spend(ledger, "c", 100_000, ("city", "Rome"))
    _refused(BudgetExceeded, _spend, ledger, "x", 1)
    _spend(ledger, "f2", 100_000, ("sex", "Female"))
    assert ledger.lines(DATASET)[1].charge.part == ("sex", "Female")
    assert balance(account(), ledger.lines(DATASET)).remaining_units == 0
    ledger.verify(DATASET)


def test_threshold_delta_cannot_be_overdrawn(kind: Kind) -> None:
    """More delta would be used for finding categories than was promised."""
    ledger = kind.open()
    ledger.open(account(rule="zcdp", threshold_units=10))
    ledger.reserve(DATASET, "a", Charge(units=1, threshold_units=6), {})
    _refused(
        BudgetExceeded,
        ledger.reserve,
        DATASET,
        "b",
        Charge(units=1, threshold_units=5),
        {},
    )
    ledger.reserve(DATASET, "b", Charge(units=1, threshold_units=4), {})
    assert len(ledger.lines(DATASET)) == 3


# Lines


def test_lines_are_appended_and_never_changed(ledger: Ledger) -> None:
    """What the ledger once said could be taken back."""
    seen: tuple[Line, ...] = ()
    for step in (
        lambda: _spend(ledger, "a", 5),
        lambda: _spend(ledger, "b", 5),
        lambda: ledger.commit(DATASET, "b", {}, "release"),
        lambda: ledger.fail(DATASET, "a", {}),
        lambda: ledger.note(DATASET, "c", {"title": "compared"}),
    ):
        step()
        lines = ledger.lines(DATASET)
        assert lines[: len(seen)] == seen
        assert len(lines) == max(2, len(seen) + 1)
        seen = lines
    assert [line.number for line in seen] == list(range(6))
    assert not any(state in ("reserved", "opened") for _, state in _states(ledger)[3:])


def test_sql_never_updates_or_deletes_a_line(sql_kind: SqlKind) -> None:
    """The program itself would rewrite lines or releases."""
    ledger = sql_kind.open()
    statements: list[str] = []
    sa.event.listen(
        ledger._store._writer,
        "before_cursor_execute",
        lambda *event: statements.append(event[2]),
    )
    ledger.open(account())
    test_lines_are_appended_and_never_changed(ledger)
    assert {text.split()[0] for text in statements} - {"BEGIN"} == {
        "SELECT",
        "INSERT",
        "UPDATE",
        "DELETE",
    }
    assert {text.split()[2] for text in statements if text.startswith("DELETE")} == {
        "ledger_running"
    }
    updated = {
        text.split(" WHERE ")[0] for text in statements if text.startswith("UPDATE")
    }
    assert {text.split("=")[0] for text in updated} == {
        "UPDATE ledger_accounts SET head"
    }


TAMPERING: dict[str, Callable[[Kind], None]] = {
    "altered charge": lambda kind: kind.alter_line(1, units=1),
    "altered content": lambda kind: kind.alter_line(3, title="nothing"),
    "dropped first line": lambda kind: kind.drop_line(0),
    "dropped middle line": lambda kind: kind.drop_line(3),
    "dropped last line": lambda kind: kind.drop_line(5),
    "swapped lines": lambda kind: kind.swap_lines(1, 3),
    "altered release": lambda kind: kind.put_release("a", "other"),
    "dropped release": lambda kind: kind.drop_release("a"),
    "added release": lambda kind: kind.put_release("b", "release"),
    "altered account": lambda kind: kind.alter_account(2_000_000),
    "altered totals": lambda kind: kind.alter_totals(),
}


def _written(kind: Kind) -> Ledger:
    ledger = kind.open()
    ledger.open(account())
    _spend(ledger, "a", 5)
    ledger.commit(DATASET, "a", {}, "release")
    _spend(ledger, "b", 7, ("sex", "Male"))
    ledger.fail(DATASET, "b", {})
    _spend(ledger, "c", 9)
    ledger.verify(DATASET)
    return ledger


@pytest.mark.parametrize("tampering", TAMPERING)
def test_verify_finds(kind: Kind, tampering: str) -> None:
    """A ledger that was altered behind the program's back would pass for a true one."""
    ledger = _written(kind)
    TAMPERING[tampering](kind)
    _refused(LedgerCorrupt, ledger.verify, DATASET)


def test_no_spend_covers_up_a_dropped_last_line(kind: Kind) -> None:
    """Dropping the last charge and spending again would make the chain whole, and the
    charge forgotten.
    """
    ledger = _written(kind)
    kind.drop_line(5)
    _refused(LedgerCorrupt, _spend, ledger, "d", 1)
    _refused(LedgerCorrupt, ledger.verify, DATASET)


def test_lines_that_are_no_json_are_called_altered(sql_kind: SqlKind) -> None:
    """An altered ledger would show a traceback instead of what happened."""
    ledger = _written(sql_kind)
    sql_kind._run("UPDATE ledger_lines SET content = '{' WHERE number = 2")
    _refused(LedgerCorrupt, ledger.verify, DATASET)
    sql_kind._run("UPDATE ledger_accounts SET unit = '{'")
    _refused(LedgerCorrupt, ledger.account, DATASET)


# Time, processes and failures


def test_a_new_object_sees_everything(sql_kind: SqlKind) -> None:
    """A reload of the page, or a restart, would forget what was spent."""
    first = _written(sql_kind)
    again = sql_kind.open()
    assert again.key == first.key
    assert again.lines(DATASET) == first.lines(DATASET)
    assert again.release(DATASET, "a") == "release"
    again.verify(DATASET)
    _refused(RequestConflict, _spend, again, "c", 1)
    _refused(BudgetExceeded, _spend, again, "d", 1_000_000)


def test_a_curator_opened_again_finds_what_was_spent(kind: Kind) -> None:
    """The same table, uploaded after a reload, would have its whole budget again."""
    frame = pd.DataFrame({"sex": ["Female", "Male", "Male"] * 20})
    schema = dp.Schema(
        columns=(dp.Categorical("sex", categories=("Female", "Male")),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    budget = dp.PureDP(epsilon="1")
    loss = dp.PureDP(epsilon="0.75")
    release = dp.Curator.open(frame, schema, budget=budget, ledger=kind.open()).run(
        dp.Histogram("sex"), loss
    )

    again = dp.Curator.open(frame[::-1], schema, budget=budget, ledger=kind.open())
    assert again.balance().remaining_units == 250_000_000_000
    stored = again.run(dp.Histogram("sex"), loss)
    assert stored.request_id == release.request_id
    assert (stored.marginals["sex",].values == release.marginals["sex",].values).all()
    _refused(
        BudgetExceeded, lambda: again.run(dp.Histogram("sex"), loss, request_id="again")
    )
    again.verify()


def test_threads_never_overspend(kind: Kind) -> None:
    """Two tabs of one server could spend the same remainder."""
    ledgers = [kind.open(), kind.open()]
    ledgers[0].open(account(units=1_000))
    accepted: list[int] = []

    def spend(thread: int) -> None:
        for number in range(15):
            try:
                _spend(ledgers[thread % 2], f"{thread}-{number}", 50)
            except BudgetExceeded:
                continue
            accepted.append(thread)

    threads = [threading.Thread(target=spend, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(accepted) == 20
    assert balance(account(units=1_000), ledgers[1].lines(DATASET)).remaining_units == 0
    ledgers[1].verify(DATASET)


@pytest.mark.parametrize("look", ["account", "standing", "verify", "open"])
def test_a_line_that_comes_while_somebody_looks(
    look: str,
    sql_kind: SqlKind,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page would say that an older copy had been put back whenever two tabs worked
    at the same time.
    """
    ledger = sql_kind.open()
    other = sql_kind.open()
    ledger.open(account())
    asked = account() if look == "open" else DATASET
    _once_within_a_look(monkeypatch, lambda: other.note(DATASET, "a", {}))
    getattr(ledger, look)(asked)
    assert len(ledger.lines(DATASET)) == 2
    sql_kind.drop_line(1)  # the same look at an older copy
    _refused(LedgerCorrupt, getattr(ledger, look), asked)


def test_an_account_that_is_opened_while_somebody_looks(
    sql_kind: SqlKind,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The page would say that an account was lost which another tab has just opened."""
    ledger = sql_kind.open()
    other = sql_kind.open()
    _once_within_a_look(monkeypatch, lambda: other.open(account()))
    assert ledger.account(DATASET) is None
    assert ledger.account(DATASET) == account()


def _once_within_a_look(
    monkeypatch: pytest.MonkeyPatch, action: Callable[[], object]
) -> None:
    """Do something once in the middle of the next look at an account."""

    def row_and_action(*given: Any, **named: Any) -> Any:
        found = account_row(*given, **named)
        monkeypatch.setattr(
            "workbench.store.ledger.sql_ledger.account_row", account_row
        )
        action()
        return found

    monkeypatch.setattr("workbench.store.ledger.sql_ledger.account_row", row_and_action)


def test_one_of_two_budgets_opened_at_once_wins(kind: Kind) -> None:
    """Two tabs that open the same table at once would each believe in their own
    budget.
    """
    ledgers = [kind.open() for _ in range(4)]
    start = threading.Barrier(4)
    results: list[object] = []

    def open_account(number: int) -> None:
        start.wait()
        try:
            results.append(ledgers[number].open(account(units=number + 1)))
        except BudgetFixed as error:
            results.append(error.details["account"])

    threads = [
        threading.Thread(target=open_account, args=(number,)) for number in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [ledgers[0].account(DATASET)] * 4
    assert len(ledgers[0].lines(DATASET)) == 1


def test_a_process_killed_after_the_charge_keeps_it(sql_kind: SqlKind) -> None:
    """Killing the program at the right moment would give the budget back."""
    ledger = sql_kind.open()
    ledger.open(account())
    assert run_process(reserve_and_die, sql_kind.settings) == 7
    assert balance(account(), ledger.lines(DATASET)).reserved == 600_000
    _refused(BudgetExceeded, _spend, ledger, "b", 400_001)
    ledger.verify(DATASET)


def test_a_process_killed_within_the_charge_leaves_nothing(sql_kind: SqlKind) -> None:
    """Half a charge would be in the ledger, or its lock would stay for ever."""
    ledger = sql_kind.open()
    ledger.open(account())
    assert run_process(die_before_commit, sql_kind.settings) == 7
    assert _states(ledger) == [("", "opened")]
    _spend(ledger, "dies", 1_000_000)
    ledger.verify(DATASET)


def test_a_locked_ledger_is_given_up_in_bounded_time(sql_kind: SqlKind) -> None:
    """A page would hang, or show a traceback, while another program holds the
    database.
    """
    ledger = sql_kind.open(lock_timeout=0.2)
    ledger.open(account())
    is_sqlite = sql_kind.settings.database_url.startswith("sqlite")
    with sql_kind.connection() as other:
        other.exec_driver_sql(
            "BEGIN IMMEDIATE"
            if is_sqlite
            else "SELECT 1 FROM ledger_accounts FOR UPDATE"
        )
        with pytest.raises(
            LedgerError, match=r"locked the ledger .* nothing was written; try again"
        ):
            _spend(ledger, "a", 5)
        assert _states(ledger) == [("", "opened")]
    _spend(ledger, "a", 5)


@pytest.mark.parametrize("workers", but_first(1, [4, 16]))
def test_processes_spend_exactly_the_budget(sql_kind: SqlKind, workers: int) -> None:
    """Processes that spend at once would overspend, or lock each other out."""
    ledger = sql_kind.open()
    ledger.open(account())
    times = 50
    units = 32_000 // workers
    accepted = account().units // units
    refused = workers * times - accepted
    assert race(sql_kind.settings, workers=workers, times=times, units=units) == (
        accepted,
        refused,
        0,
    )
    lines = ledger.lines(DATASET)
    assert balance(account(), lines).remaining_units == 0
    assert len(lines) == 1 + accepted
    ledger.verify(DATASET)


# Against each other


class _Pair(RuleBasedStateMachine):
    """The same steps on a durable ledger and on one in memory."""

    ids = st.sampled_from(["a", "b", "c", "d", "e"])
    contents = st.dictionaries(
        st.text(max_size=3), st.none() | st.floats() | st.text(max_size=5), max_size=2
    )

    def __init__(self, ledger: Ledger, dataset: str) -> None:
        super().__init__()
        self.dataset = dataset
        self.ledgers = (ledger, MemoryLedger())
        for each in self.ledgers:
            each.open(account(dataset=dataset, units=20, threshold_units=9))

    def _both(self, method: str, *arguments: Any) -> None:
        outcomes = []
        for ledger in self.ledgers:
            try:
                outcomes.append(getattr(ledger, method)(self.dataset, *arguments))
            except DpcoreError as error:
                outcomes.append(str(error))
        assert outcomes[0] == outcomes[1]

    @rule(
        request_id=ids,
        units=st.integers(0, 12),
        threshold_units=st.integers(0, 4),
        part=st.none() | st.tuples(st.sampled_from("xy"), st.sampled_from("12")),
        content=contents,
    )
    def reserve(
        self,
        request_id: str,
        units: int,
        threshold_units: int,
        part: Any,
        content: dict[str, Any],
    ) -> None:
        charge = Charge(units=units, threshold_units=threshold_units, part=part)
        self._both("reserve", request_id, charge, content)

    @rule(
        request_id=ids, content=contents, release=st.text(st.characters(codec="ascii"))
    )
    def commit(self, request_id: str, content: dict[str, Any], release: str) -> None:
        self._both("commit", request_id, content, release.replace("\x00", ""))

    @rule(request_id=ids, content=contents)
    def fail(self, request_id: str, content: dict[str, Any]) -> None:
        self._both("fail", request_id, content)

    @rule(request_id=ids, content=contents)
    def note(self, request_id: str, content: dict[str, Any]) -> None:
        self._both("note", request_id, content)

    @rule(notes=st.dictionaries(ids, contents, max_size=3))
    def note_all(self, notes: dict[str, dict[str, Any]]) -> None:
        self._both("note_all", notes)

    @rule(request_id=ids)
    def release(self, request_id: str) -> None:
        self._both("release", request_id)

    @invariant()
    def agree(self) -> None:
        held = [ledger.lines(self.dataset) for ledger in self.ledgers]
        told = [
            [
                (
                    line.number,
                    line.request_id,
                    line.state,
                    line.charge,
                    repr(line.content),
                )
                for line in lines
            ]
            for lines in held
        ]
        assert told[0] == told[1]
        for ledger, lines in zip(self.ledgers, held, strict=True):
            assert balance(account(units=20), lines).remaining_units >= 0
            ledger.verify(self.dataset)


@pytest.mark.proof
def test_any_order_of_calls_gives_the_same_ledger(sql_kind: SqlKind) -> None:
    """The durable ledger would refuse, accept or remember something that the one in
    memory does not.
    """
    ledger = sql_kind.open()
    count = iter(range(10**6))
    run_state_machine_as_test(
        lambda: _Pair(ledger, f"data set {next(count)}"),
        settings=hypothesis_settings(
            max_examples=30, stateful_step_count=20, deadline=None
        ),
    )


def test_what_others_opened_is_told_to_nobody_else(kind: Kind) -> None:
    """Whoever may upload tables could guess who is in a colleague's: one of the guesses
    was opened before.
    """
    ledger = kind.open()
    schema = dp.Schema(
        columns=(dp.Integer("hiv", low=0, high=1),), unit=dp.PrivacyUnit(max_rows=1)
    )
    table = pd.DataFrame({"name": ["ann", "bob", "carol"], "hiv": [0, 1, 1]})
    budget = dp.PureDP(epsilon="0.1")
    owner = ledger_of_person(ledger, "owner")
    colleague = ledger_of_person(ledger, "colleague")
    opened = dp.Curator.open(table, schema, budget=budget, ledger=owner)
    opened.run(dp.Histogram("hiv"), budget)
    assert owner.account(dp.Curator.account_fingerprint(table, owner)) is not None
    assert (
        ledger_of_person(ledger, "owner").account(
            dp.Curator.account_fingerprint(table, owner)
        )
        is not None
    )
    for other in (colleague, ledger):
        dataset = dp.Curator.account_fingerprint(table, other)
        assert other.account(dataset) is None
        assert other.lines(dataset) == ()
    theirs = dp.Curator.open(table, schema, budget=budget, ledger=colleague)
    assert theirs.balance().spent == 0
    assert theirs.stored_request(dp.Histogram("hiv"), budget) is None
    for curator in (opened, theirs):
        curator.verify()
