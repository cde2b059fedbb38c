"""The person of a tab, and the ledger with the rights of that person."""

import threading

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from dpcore.errors import LedgerError
from workbench.store import start
from workbench.store.people import roles
from workbench.store.people.personal import PersonalLedger, ReadSoFar
from workbench.store.people.roles import Person
from workbench.store.settings import LOOPBACK_HOSTS, read_settings

_STANDINGS_READ = threading.local()
"""What the run of this thread has read of the ledger; each page run has one thread."""


def read_by_run() -> ReadSoFar | None:
    """Return what this run of a page has read of the ledger; None outside of one.

    A page shows one state of the ledger: its header, price and button agree, and the
    ledger is asked once. What spends asks the ledger itself.
    """
    context = get_script_run_ctx(suppress_warning=True)
    if context is None:
        return None
    # Streamlit makes new cursors for every run of a page or of a fragment
    run = context.cursors
    if getattr(_STANDINGS_READ, "run", None) is not run:
        _STANDINGS_READ.run = run
        _STANDINGS_READ.so_far = ReadSoFar()
    so_far: ReadSoFar = _STANDINGS_READ.so_far
    return so_far


def person() -> Person | None:
    """Return the person of this tab; None if that person has no role.

    Raises: ParameterError.
    """
    return roles.person_of(st.user.to_dict())


def ledger() -> PersonalLedger:
    """Return the durable ledger as the person of this tab may use it.

    Raises: LedgerError, ParameterError.
    """
    context = get_script_run_ctx()
    # sign-in claims of the tab; they are emptied when its browser signs out
    claims = context.user_info if context else {}
    who = roles.person_of(claims)
    if who is None:
        raise LedgerError("you are not signed in any more", remedy="sign in again")
    visitor = claims.get("visitor")
    return PersonalLedger(
        ledger=start.ledger(),
        owners=start.owners(),
        person=who,
        current_person=lambda: roles.person_of(claims),
        opener=who.address,
        visitor=f"visitor {visitor}" if visitor and not who.address else "",
        cached_standings=read_by_run,
    )


def is_steward() -> bool:
    """Return whether the person of this tab may open data and spend."""
    who = person()
    return who is not None and who.role == "steward"


def is_shared_server() -> bool:
    """Return whether other people may reach or run this server."""
    return roles.sign_in_needed() or read_settings().hosts != LOOPBACK_HOSTS


def is_demo() -> bool:
    """Return whether this server shows samples only."""
    return read_settings().demo


def signed_in_address() -> str | None:
    """Return the signed-in address of this browser, with or without a role."""
    return roles.address_of(st.user.to_dict())


def is_signed_in() -> bool:
    """Return whether a person signed in with this browser, however long ago."""
    return bool(st.user.get("is_logged_in"))


def sign_in_failed() -> bool:
    """Return whether the provider sent this browser back without a person."""
    return st.query_params.get("sign-in") == "failed"
