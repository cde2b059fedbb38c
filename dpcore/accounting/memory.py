"""A ledger kept in memory, which is lost when the process ends."""

import secrets
import threading
from collections.abc import Mapping
from typing import Any

from dpcore.accounting.chain import (
    TAIL_LINES,
    check_chain,
    check_head,
    check_seal,
    check_tail,
    digest_release,
    head_of,
)
from dpcore.accounting.ledger import (
    NO_CHARGE,
    Account,
    Charge,
    Line,
    Standing,
    State,
    check_charge_fits,
    check_request_states,
    check_same_account,
    no_account_error,
    opening_content,
)


class MemoryLedger:
    """A ledger for one process."""

    def __init__(self) -> None:
        self.key = secrets.token_bytes(32)
        self._seal = secrets.token_bytes(32)
        self._lock = threading.Lock()
        self._standings: dict[str, Standing] = {}
        self._lines: dict[str, list[Line]] = {}
        self._heads: dict[str, str] = {}
        self._releases: dict[str, dict[str, str]] = {}

    def datasets(self) -> list[str]:
        with self._lock:
            return sorted(self._standings)

    def open(self, account: Account) -> Account:
        with self._lock:
            if account.dataset in self._standings:
                return check_same_account(
                    self._checked_standing(account.dataset).account, account
                )
            self._lines[account.dataset] = []
            self._releases[account.dataset] = {}
            self._append_line(
                Standing(account=account),
                "",
                "opened",
                NO_CHARGE,
                opening_content(account),
            )
            return account

    def account(self, dataset: str) -> Account | None:
        with self._lock:
            return (
                self._checked_standing(dataset).account
                if dataset in self._standings
                else None
            )

    def reserve(
        self, dataset: str, request_id: str, charge: Charge, content: dict[str, Any]
    ) -> None:
        with self._lock:
            standing = self._checked_standing(dataset)
            self._check_states(dataset, request_id, [])
            check_tail(self._seal, self._lines[dataset][-TAIL_LINES:])
            check_charge_fits(standing, charge)
            self._append_line(
                standing.with_change("reserved", charge),
                request_id,
                "reserved",
                charge,
                content,
            )

    def commit(
        self, dataset: str, request_id: str, content: dict[str, Any], release: str
    ) -> None:
        with self._lock:
            standing = self._checked_standing(dataset)
            if self._releases[dataset].get(request_id) == release:
                return
            self._end_request(
                standing,
                request_id,
                "committed",
                {**content, "release": digest_release(release)},
            )
            self._releases[dataset][request_id] = release

    def fail(self, dataset: str, request_id: str, content: dict[str, Any]) -> None:
        with self._lock:
            self._end_request(
                self._checked_standing(dataset), request_id, "failed", content
            )

    def note(self, dataset: str, request_id: str, content: dict[str, Any]) -> None:
        self.note_all(dataset, {request_id: content})

    def note_all(self, dataset: str, notes: Mapping[str, dict[str, Any]]) -> None:
        with self._lock:
            standing = self._checked_standing(dataset)
            for request_id in notes:
                self._check_states(dataset, request_id, [])
            for request_id, content in notes.items():
                self._append_line(standing, request_id, "outside", NO_CHARGE, content)

    def standing(self, dataset: str) -> Standing:
        with self._lock:
            return self._checked_standing(dataset)

    def lines(self, dataset: str) -> tuple[Line, ...]:
        with self._lock:
            return tuple(self._lines.get(dataset, ()))

    def release(self, dataset: str, request_id: str) -> str | None:
        with self._lock:
            return self._releases.get(dataset, {}).get(request_id)

    def verify(self, dataset: str) -> None:
        with self._lock:
            standing = self._standings.get(dataset)
            if standing is None:
                raise no_account_error()
            check_chain(
                self._seal,
                standing,
                self._lines[dataset],
                self._releases[dataset],
                self._heads[dataset],
            )

    def _checked_standing(self, dataset: str) -> Standing:
        standing = self._standings.get(dataset)
        if standing is None:
            raise no_account_error()
        lines = self._lines[dataset]
        check_head(
            self._seal, lines[-1] if lines else None, self._heads[dataset], standing
        )
        return standing

    def _check_states(
        self, dataset: str, request_id: str, expected: list[State]
    ) -> None:
        states = [
            line.state for line in self._lines[dataset] if line.request_id == request_id
        ]
        check_request_states(request_id, states, expected)

    def _end_request(
        self, standing: Standing, request_id: str, state: State, content: dict[str, Any]
    ) -> None:
        dataset = standing.account.dataset
        self._check_states(dataset, request_id, ["reserved"])
        (reserved,) = [
            line for line in self._lines[dataset] if line.request_id == request_id
        ]
        after = standing.with_change(state, check_seal(self._seal, reserved).charge)
        self._append_line(after, request_id, state, NO_CHARGE, content)

    def _append_line(
        self,
        standing: Standing,
        request_id: str,
        state: State,
        charge: Charge,
        content: dict[str, Any],
    ) -> None:
        dataset = standing.account.dataset
        lines = self._lines[dataset]
        line = Line.next_line(
            self._seal,
            previous=lines[-1] if lines else None,
            dataset=dataset,
            request_id=request_id,
            state=state,
            charge=charge,
            content=content,
            standing=standing.digest,
        )
        lines.append(line)
        self._heads[dataset] = head_of(self._seal, line)
        self._standings[dataset] = standing
