"""The append-only ledger; each charge is written before any row is read.

A data set has one account: a budget, a rule and a privacy unit, fixed when it is
opened. Each request has a line "reserved", and later one more: "committed" or "failed".
If its process was believed dead, but was not, "committed" follows "failed". A reserved
line counts as spent, once, however it ends. Lines "outside" record work that the total
does not cover. Every line carries a keyed digest of itself, of the line before it and
of the account's standing after it; a sealed head names the last line, so that it cannot
be dropped either. A spend trusts only sealed data.
"""

from __future__ import annotations

import dataclasses
import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, Protocol

from dpcore.accounting.composition import Rule, total_units
from dpcore.accounting.loss import (
    DELTA_UNIT,
    UNIT,
    AnyLoss,
    ApproxDP,
    check_loss,
    loss_fields,
    round_down_to_units,
)
from dpcore.errors import (
    BudgetExceeded,
    BudgetFixed,
    LedgerCorrupt,
    LedgerError,
    RequestConflict,
    UsageError,
    budget_exceeded_error,
    text_length_error,
)

State = Literal["opened", "reserved", "committed", "failed", "outside"]


@dataclass(frozen=True, kw_only=True)
class Account:
    """The budget, rule and privacy unit of a data set, fixed when it is opened.

    Attributes:
        dataset: keyed fingerprint of the content, or the `source_dataset` of a
            connected source.
        rule: how charges add up; its text is accepted too.
        units: the budget, in 1e-12 of epsilon or rho.
        threshold_units: delta set aside for finding categories, in 1e-18.
        promise: the whole budget in numbers by name: epsilon, delta.
        unit: the privacy unit as plain data.
    """

    dataset: str
    rule: Rule
    units: int
    threshold_units: int = 0
    promise: dict[str, str] = field(default_factory=dict)
    unit: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "rule", Rule(self.rule))

    @classmethod
    def for_budget(cls, dataset: str, unit: dict[str, Any], budget: AnyLoss) -> Account:
        """Return the account of a data set for a budget and a privacy unit.

        Raises:
            UsageError: if the budget is no privacy loss.
        """
        check_loss(budget, name="budget")
        return cls(
            dataset=dataset,
            rule=Rule.for_budget(budget),
            units=round_down_to_units(
                budget.rho if isinstance(budget, ApproxDP) else budget.amount
            ),
            threshold_units=int(budget.threshold_delta * DELTA_UNIT)
            if isinstance(budget, ApproxDP)
            else 0,
            promise=loss_fields(budget),
            unit=unit,
        )

    @property
    def source(self) -> str | None:
        """Name of the connected source, or None for a table known by its content."""
        name = self.dataset.removeprefix(_SOURCE_PREFIX)
        return None if name == self.dataset else name

    def to_dict(self) -> dict[str, Any]:
        """Return the account as plain data, with the rule as text."""
        return {**dataclasses.asdict(self), "rule": self.rule.value}


_SOURCE_PREFIX = "source "
MAX_NAME_LENGTH = 57  # letters; with the prefix as long as a fingerprint, 64
_MAX_PART_LENGTH = 100  # of a column or category that a part names, in letters


def source_dataset(name: str) -> str:
    """Return the ledger's data set name for a connected source.

    Fingerprints are hexadecimal, so that no table is filed under the name of a source.
    """
    if not 1 <= len(name) <= MAX_NAME_LENGTH or not name.isprintable():
        raise text_length_error(MAX_NAME_LENGTH)
    return _SOURCE_PREFIX + name


@dataclass(frozen=True, kw_only=True)
class Charge:
    """The cost of a request in units of the account's rule.

    It is charged to the whole table or to one part.
    """

    units: int
    threshold_units: int = 0
    part: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        if self.units < 0 or self.threshold_units < 0:
            raise UsageError(
                "a charge must not be below 0", remedy="there are no refunds"
            )
        if any(len(name) > _MAX_PART_LENGTH for name in self.part or ()):
            raise text_length_error(_MAX_PART_LENGTH)


NO_CHARGE = Charge(units=0)


@dataclass(frozen=True, kw_only=True)
class Line:
    """One line of the ledger.

    Attributes:
        number: 0 for the line that opened the account, then rising by 1.
        content: the question or its result, as plain data; no private values.
        standing: digest of the account's standing after this line; empty before version
            2 of the ledger.
        previous, digest: links of the chain, hexadecimal.
    """

    dataset: str
    number: int
    request_id: str
    state: State
    charge: Charge
    content: dict[str, Any]
    at: str
    standing: str
    previous: str
    digest: str

    @classmethod
    def next_line(cls, key: bytes, *, previous: Line | None, **fields: Any) -> Line:
        """Return the next line of the chain, numbered, dated and sealed."""
        number = previous.number + 1 if previous else 0
        link = previous.digest if previous else ""
        at = datetime.now(UTC).isoformat(timespec="seconds")
        # Store the content exactly as JSON will return it, so that the seal still fits.
        fields["content"] = json.loads(json.dumps(fields["content"]))
        draft = cls(number=number, at=at, previous=link, digest="", **fields)
        return dataclasses.replace(draft, digest=draft.seal(key))

    def seal(self, key: bytes) -> str:
        """Return the digest this line must carry.

        It is HMAC-SHA-256 over all other fields.

        Raises: LedgerCorrupt for a content that no program of ours wrote.
        """
        # `asdict` is not used here because it would copy the content first.
        fields = {**vars(self), "charge": vars(self.charge)}
        del fields["digest"]
        if not self.standing:
            del fields["standing"]
        try:
            text = json.dumps(fields, sort_keys=True, ensure_ascii=True)
        except RecursionError as error:
            raise altered_line_error(self.number) from error
        return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Balance:
    """A budget split into spent, reserved and remaining units of 1e-12."""

    budget: int
    spent: int
    reserved: int

    def __repr__(self) -> str:
        units = {
            "left": self.remaining_units,
            "spent": self.spent,
            "reserved": self.reserved,
            "budget": self.budget,
        }
        numbers = (f"{name}={number / UNIT:g}" for name, number in units.items())
        return f"Balance({', '.join(numbers)})"

    @property
    def remaining_units(self) -> int:
        """Units that may still be spent."""
        return self.budget - self.spent - self.reserved


@dataclass(frozen=True, kw_only=True)
class Standing:
    """The totals of an account, against which the next spend is checked.

    Attributes:
        reserved: units charged so far, by part; None is the whole table.
        ended: the same of ended requests.
        threshold_units: delta charged so far, in 1e-18.
    """

    account: Account
    reserved: dict[tuple[str, str] | None, int] = field(default_factory=dict)
    ended: dict[tuple[str, str] | None, int] = field(default_factory=dict)
    threshold_units: int = 0

    def with_change(self, state: State, charge: Charge) -> Standing:
        """Return the totals after a request with this charge changes its state.

        Args:
            state: reserved, committed or failed; others change nothing.
            charge: of the request.
        """
        if state == "reserved":
            return dataclasses.replace(
                self,
                reserved=_add_charge(self.reserved, charge),
                threshold_units=self.threshold_units + charge.threshold_units,
            )
        if state in ("committed", "failed"):
            return dataclasses.replace(self, ended=_add_charge(self.ended, charge))
        return self

    @property
    def balance(self) -> Balance:
        """The account's balance: units spent, reserved and still available."""
        spent = _total_units(self.ended)
        return Balance(
            budget=self.account.units,
            spent=spent,
            reserved=_total_units(self.reserved) - spent,
        )

    def extra_units(self, charge: Charge) -> int:
        """Return how many units a charge would add to the total.

        It is less than the charge on a part if other parts have more.
        """
        return _total_units(_add_charge(self.reserved, charge)) - _total_units(
            self.reserved
        )

    def to_json(self) -> str:
        """Return the totals as the JSON text that is stored and sealed."""
        return json.dumps(
            {
                "account": self.account.to_dict(),
                "reserved": _units_to_list(self.reserved),
                "ended": _units_to_list(self.ended),
                "threshold_units": self.threshold_units,
            },
            sort_keys=True,
        )

    @classmethod
    def from_json(cls, text: str) -> Standing:
        """Read the output of `to_json`.

        Raises: LedgerCorrupt.
        """
        try:
            fields = json.loads(text)
            standing = cls(
                account=Account(**fields["account"]),
                reserved=_units_from_list(fields["reserved"]),
                ended=_units_from_list(fields["ended"]),
                threshold_units=fields["threshold_units"],
            )
            standing.to_json()  # fails if a field has another type, or is too deep
        except (ValueError, TypeError, LookupError, RecursionError) as error:
            raise altered_error() from error
        return standing

    @property
    def digest(self) -> str:
        """The fingerprint of the totals, kept in the line that led to them."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()


def _add_charge(
    units: dict[tuple[str, str] | None, int], charge: Charge
) -> dict[tuple[str, str] | None, int]:
    return {**units, charge.part: units.get(charge.part, 0) + charge.units}


def _total_units(units: dict[tuple[str, str] | None, int]) -> int:
    return total_units((amount, part) for part, amount in units.items())


def _units_to_list(units: dict[tuple[str, str] | None, int]) -> list[Any]:
    return sorted([list(part or ()), amount] for part, amount in units.items())


def _units_from_list(pairs: list[Any]) -> dict[tuple[str, str] | None, int]:
    return {(part[0], part[1]) if part else None: int(units) for part, units in pairs}


class Ledger(Protocol):
    """The interface of a ledger, with one transaction per method."""

    @property
    def key(self) -> bytes:
        """Secret key for fingerprints and for choosing the rows of a person that count.

        `ledger_of_person` gives each person a key of their own. It seals nothing:
        engines pass it to those who read rows for them.
        """

    def datasets(self) -> list[str]:
        """Return the names of all data sets that have an account."""

    def open(self, account: Account) -> Account:
        """Store a new account, or return the stored one.

        Raises: BudgetFixed if they differ.
        """

    def account(self, dataset: str) -> Account | None:
        """Return the account of a data set, if there is one."""

    def reserve(
        self, dataset: str, request_id: str, charge: Charge, content: dict[str, Any]
    ) -> None:
        """Write a charge to the ledger, before any row is read.

        Raises: BudgetExceeded or RequestConflict, which leave no trace.
        """

    def commit(
        self, dataset: str, request_id: str, content: dict[str, Any], release: str
    ) -> None:
        """Mark a reserved request as committed, and store its release with it."""

    def fail(self, dataset: str, request_id: str, content: dict[str, Any]) -> None:
        """Mark a reserved request as failed, and keep its charge."""

    def note(self, dataset: str, request_id: str, content: dict[str, Any]) -> None:
        """Record an action that differential privacy does not cover.

        Raises: RequestConflict if the id is taken.
        """

    def note_all(self, dataset: str, notes: Mapping[str, dict[str, Any]]) -> None:
        """Record several such actions by their ids: all of them, or none.

        Raises: RequestConflict if an id is taken.
        """

    def standing(self, dataset: str) -> Standing:
        """Return the totals of the account, checked against the seals.

        Raises: LedgerCorrupt if they were altered.
        """

    def lines(self, dataset: str) -> tuple[Line, ...]:
        """Return all lines of a data set, in order."""

    def release(self, dataset: str, request_id: str) -> str | None:
        """Return the stored release of a committed request."""

    def verify(self, dataset: str) -> None:
        """Check the whole chain of lines of a data set.

        Raises: LedgerCorrupt if the account, a line or a release was altered or
            dropped.
        """


def opening_content(
    account: Account, opened_by: str = "", forgotten_lines: int = 0
) -> dict[str, Any]:
    """Return the content of the line that opens an account.

    Args:
        account: the new account.
        opened_by: the person who opens it.
        forgotten_lines: number of lines of an earlier account of this data set that were
            forgotten on purpose.
    """
    more = {"by": opened_by, "forgotten": forgotten_lines}
    return {
        "account": account.to_dict(),
        **{name: amount for name, amount in more.items() if amount},
    }


def check_same_account(stored: Account, requested: Account) -> Account:
    """Return the stored account; refuse a different budget, rule or unit.

    Raises: BudgetFixed.
    """
    if stored == requested:
        return stored
    raise BudgetFixed(
        (
            "this data set was opened before with another budget or privacy unit, "
            "and neither can ever change"
        ),
        remedy="open it with the budget and privacy unit that are on file",
        account=stored,
    )


def check_charge_fits(standing: Standing, charge: Charge) -> None:
    """Refuse a charge that exceeds the account's remaining budget."""
    if charge.units == 0:
        raise UsageError("a charge must be above 0", remedy="state a loss")
    account = standing.account
    left = standing.balance.remaining_units
    if standing.extra_units(charge) > left:
        raise budget_exceeded_error(account.rule.unit, charge.units / 1e12, left / 1e12)
    if standing.threshold_units + charge.threshold_units > account.threshold_units:
        raise BudgetExceeded(
            ("finding these categories needs more delta than was set aside for it"),
            remedy=(
                "declare the categories, or open a data set with a larger "
                "threshold_delta"
            ),
        )


def no_account_error() -> LedgerError:
    """Return the error for a data set without an account."""
    return LedgerError(
        "this data set has no account in the ledger", remedy="open it with a budget"
    )


def conflict_error(request_id: str) -> RequestConflict:
    """Return the error for a request id already taken."""
    return RequestConflict(
        (
            "this request was made before: it is still running, or it failed; its "
            "charge stays"
        ),
        remedy="wait for its release, or make a new request",
        request_id=request_id,
    )


def check_request_states(
    request_id: str, states: Sequence[str], expected: list[State]
) -> None:
    """Check that a request has the expected states in the ledger so far.

    Args:
        states: of the request's lines.
        expected: none for a new request.
    """
    if list(states) != expected:
        raise (
            LedgerError(
                "no charge is held in the ledger for this request",
                remedy="reserve it first",
            )
            if expected
            else conflict_error(request_id)
        )


def altered_error() -> LedgerCorrupt:
    """Return the error for an altered ledger."""
    return corrupt_error("the ledger was altered, or a part of it is missing")


def altered_line_error(number: int) -> LedgerCorrupt:
    """Return the error for a line that was altered or does not follow the last."""
    return corrupt_error(
        "line {number} of the ledger was altered, or lines are missing before it",
        number=number,
    )


def corrupt_error(problem: str, **details: object) -> LedgerCorrupt:
    """Return a `LedgerCorrupt` error that states the problem."""
    return LedgerCorrupt(problem, remedy="restore the ledger from a backup", **details)
