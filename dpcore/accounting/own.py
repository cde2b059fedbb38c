"""A view of a ledger under one person's key, and keys derived for one purpose."""

import hashlib
import hmac
from typing import Any, cast

from dpcore.accounting.ledger import Ledger


def ledger_of_person(ledger: Ledger, person: str) -> Ledger:
    """Return a view of the ledger that uses this person's own key.

    Whether a table was opened before, how much was spent on it and what was released is
    visible only to people with access to its account: the fingerprint of the same
    table, uploaded by somebody else, leads nowhere else. So nobody can find out by
    guessing tables who is in one. A person with a role on an account is given the
    ledger of the person who opened it.

    Args:
        ledger: of the server.
        person: as the server knows them; not empty.
    """
    return cast(Ledger, _PersonLedger(ledger, person))


def derive_key(key: bytes, purpose: str) -> bytes:
    """Derive a key for one purpose by HMAC-SHA-256.

    The first key cannot be found from it.
    """
    return hmac.new(key, purpose.encode(), hashlib.sha256).digest()


class _PersonLedger:
    """A ledger that makes fingerprints with one person's key."""

    def __init__(self, ledger: Ledger, person: str) -> None:
        self._ledger = ledger
        self.key = derive_key(ledger.key, f"person {person}")

    def __getattr__(self, name: str) -> Any:
        return getattr(self._ledger, name)
