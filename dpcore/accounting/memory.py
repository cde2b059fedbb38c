"""A ledger in memory, for scripts and tests: it ends with the process."""

from __future__ import annotations

import secrets
import threading
from typing import Any

from dpcore.accounting.ledger import (
    NOTHING,
    Account,
    Charge,
    Line,
    State,
    check_chain,
    check_head,
    check_reserve,
    check_same,
    check_states,
    digest_of,
    head_of,
    no_account,
    open_content,
)


class MemoryLedger:
    """A ledger for one process: nothing outlasts it."""

    def __init__(self) -> None:
        self.key = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._accounts: dict[str, Account] = {}
        self._lines: dict[str, list[Line]] = {}
        self._heads: dict[str, str] = {}
        self._releases: dict[str, dict[str, str]] = {}

    def open(self, account: Account) -> Account:
        with self._lock:
            stored = self._accounts.get(account.dataset)
            if stored is not None:
                return check_same(stored, account)
            self._accounts[account.dataset] = account
            self._lines[account.dataset] = []
            self._releases[account.dataset] = {}
            self._append(account.dataset, "", "opened", NOTHING, open_content(account))
            return account

    def account(self, dataset: str) -> Account | None:
        with self._lock:
            return self._accounts.get(dataset)

    def reserve(self, dataset: str, request_id: str, charge: Charge, content: dict[str, Any]) -> None:
        with self._lock:
            account = self._account(dataset)
            self._check_states(dataset, request_id, [])
            reserved = [line.charge for line in self._lines[dataset] if line.state == "reserved"]
            check_reserve(account, reserved, charge)
            self._append(dataset, request_id, "reserved", charge, content)

    def commit(self, dataset: str, request_id: str, content: dict[str, Any], release: str) -> None:
        with self._lock:
            self._check_states(dataset, request_id, ["reserved"])
            sealed = {**content, "release": digest_of(release)}
            self._append(dataset, request_id, "committed", NOTHING, sealed)
            self._releases[dataset][request_id] = release

    def fail(self, dataset: str, request_id: str, content: dict[str, Any]) -> None:
        with self._lock:
            self._check_states(dataset, request_id, ["reserved"])
            self._append(dataset, request_id, "failed", NOTHING, content)

    def note(self, dataset: str, request_id: str, content: dict[str, Any]) -> None:
        with self._lock:
            self._check_states(dataset, request_id, [])
            self._append(dataset, request_id, "outside", NOTHING, content)

    def lines(self, dataset: str) -> tuple[Line, ...]:
        with self._lock:
            return tuple(self._lines.get(dataset, ()))

    def release(self, dataset: str, request_id: str) -> str | None:
        with self._lock:
            return self._releases.get(dataset, {}).get(request_id)

    def verify(self, dataset: str) -> None:
        with self._lock:
            check_chain(
                self.key,
                self._account(dataset),
                self._lines[dataset],
                self._releases[dataset],
                self._heads[dataset],
            )

    def _account(self, dataset: str) -> Account:
        if dataset not in self._accounts:
            raise no_account()
        return self._accounts[dataset]

    def _check_states(self, dataset: str, request_id: str, expected: list[State]) -> None:
        self._account(dataset)
        states = [line.state for line in self._lines[dataset] if line.request_id == request_id]
        check_states(request_id, states, expected)

    def _append(
        self, dataset: str, request_id: str, state: State, charge: Charge, content: dict[str, Any]
    ) -> None:
        lines = self._lines[dataset]
        previous = lines[-1] if lines else None
        if state != "opened":
            check_head(self.key, previous, self._heads[dataset])
        line = Line.sealed(
            self.key,
            previous=previous,
            dataset=dataset,
            request_id=request_id,
            state=state,
            charge=charge,
            content=content,
        )
        lines.append(line)
        self._heads[dataset] = head_of(self.key, line)
