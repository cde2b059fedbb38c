"""Checks of the chain of ledger lines, before a line is trusted or extended."""

import hashlib
import hmac
import itertools
from collections.abc import Sequence

from dpcore.accounting.ledger import (
    NO_CHARGE,
    Account,
    Charge,
    Line,
    Standing,
    altered_error,
    altered_line_error,
    conflict_error,
)

TAIL_LINES = 64  # checked before every spend


def digest_release(release: str) -> str:
    """Return the digest of a stored release, as its ledger line records it."""
    return hashlib.sha256(release.encode()).hexdigest()


def plan_digests(key: bytes, plan: str) -> tuple[str, str]:
    """Return the keyed digest of a plan, and the unkeyed one used by older lines.

    Releases of older lines are still found by the second one. It is no longer written.
    """
    return hmac.new(key, plan.encode(), hashlib.sha256).hexdigest(), hashlib.sha256(
        plan.encode()
    ).hexdigest()


def committed_request(
    lines: Sequence[Line], request_id: str | None, plan: tuple[str, str]
) -> str | None:
    """Return the id of a committed request, found by its id or by its plan.

    Raises: RequestConflict for another plan under this id, or a request that has not
        ended well.
    """
    if request_id is None:
        committed = {line.request_id for line in lines if line.state == "committed"}
        return next(
            (key for key in _requests_of_plan(lines, plan) if key in committed), None
        )
    of_request = [line for line in lines if line.request_id == request_id]
    if of_request and (
        of_request[-1].state != "committed"
        or of_request[0].content.get("plan") not in plan
    ):
        raise conflict_error(request_id)
    return request_id if of_request else None


def request_id_for_plan(
    key: bytes, lines: Sequence[Line], plan: tuple[str, str]
) -> str:
    """Return the id of a running or finished request of this plan, or a new id.

    The new id is the same for all who ask before one of them fails, and another one
    after each failure.
    """
    requests = _requests_of_plan(lines, plan)
    failed = {line.request_id for line in lines if line.state == "failed"}
    running = next((key for key in requests if key not in failed), None)
    fresh = hmac.new(
        key, f"request {len(requests)} {plan[0]}".encode(), hashlib.sha256
    ).hexdigest()[:32]
    return committed_request(lines, None, plan) or running or fresh


def _requests_of_plan(lines: Sequence[Line], plan: tuple[str, str]) -> list[str]:
    return [line.request_id for line in lines if line.content.get("plan") in plan]


def head_of(key: bytes, last: Line) -> str:
    """Return the seal of a data set's last line, stored apart from the lines."""
    return hmac.new(key, f"head {last.digest}".encode(), hashlib.sha256).hexdigest()


def check_head(key: bytes, last: Line | None, head: str, standing: Standing) -> None:
    """Check that a line is the sealed last one and records these totals.

    Raises: LedgerCorrupt.
    """
    if last is None or last.digest != last.seal(key) or head_of(key, last) != head:
        raise altered_error()
    if last.standing != standing.digest:
        raise altered_error()


def check_seal(key: bytes, line: Line) -> Line:
    """Return the line if its digest is valid; refuse it if it was altered.

    Raises: LedgerCorrupt.
    """
    if line.digest != line.seal(key):
        raise altered_line_error(line.number)
    return line


def check_tail(key: bytes, lines: Sequence[Line]) -> None:
    """Check the seals and links of the last `TAIL_LINES` lines, before a spend.

    Takes constant time.

    Raises: LedgerCorrupt.
    """
    for line in lines:
        check_seal(key, line)
    for before, line in itertools.pairwise(lines):
        if (line.previous, line.number) != (before.digest, before.number + 1):
            raise altered_line_error(line.number)


def check_chain(
    key: bytes,
    standing: Standing,
    lines: Sequence[Line],
    releases: dict[str, str],
    head: str,
) -> None:
    """Check everything that the ledger holds of one data set.

    Raises: LedgerCorrupt at the first line that does not fit.
    """
    if replay_lines(key, standing.account, lines, releases, head) != standing:
        raise altered_error()
    check_head(key, lines[-1], head, standing)


def replay_lines(
    key: bytes,
    account: Account,
    lines: Sequence[Line],
    releases: dict[str, str],
    head: str,
) -> Standing:
    """Check each ledger line in turn, and return the totals after the last one.

    Raises: LedgerCorrupt.
    """
    previous = ""
    standing = Standing(account=account)
    charges: dict[str, Charge] = {}
    for number, line in enumerate(lines):
        if (
            line.number != number
            or line.previous != previous
            or line.digest != line.seal(key)
        ):
            raise altered_line_error(number)
        if line.state == "reserved":
            charges[line.request_id] = line.charge
            standing = standing.with_change("reserved", line.charge)
        elif line.state in ("committed", "failed"):  # a charge ends once
            charge = charges.pop(line.request_id, NO_CHARGE)
            standing = standing.with_change(line.state, charge)
        if line.standing and line.standing != standing.digest:
            raise altered_line_error(number)
        previous = line.digest
    if not lines or head_of(key, lines[-1]) != head:
        raise altered_error()
    if lines[0].content.get("account") != account.to_dict():
        raise altered_error()
    stored = {
        request_id: digest_release(release) for request_id, release in releases.items()
    }
    if stored != {
        line.request_id: line.content["release"]
        for line in lines
        if line.state == "committed"
    }:
        raise altered_error()
    return standing
