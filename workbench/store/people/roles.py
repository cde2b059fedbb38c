"""People who may use a server, and the roles that its settings give them.

Without `[auth]` in Streamlit's secrets there is one person, who sits at this computer.
With it, `[roles]` lists addresses, each a whole one or "*@" and a domain:

    [roles]
    stewards = ["ada@example.org"]
    analysts = ["*@example.org"]

The file is read anew when it changes: whoever is taken off the list is refused at the
next click.
"""

import re
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from dpcore.errors import ParameterError
from workbench.store.settings import secrets

SIGN_IN_HOURS = 12
"""Hours that a sign-in lasts, whatever the cookie says."""

_ADDRESS_PATTERN = re.compile(r"[^\s@]{1,200}@[^\s@]{1,200}")
Role = Literal["steward", "analyst"]
_ended_sign_ins: dict[str, float] = {}
"""The last second of sign-ins that have ended, by address; `sign_outs` keeps it for all
servers.
"""


@dataclass(frozen=True, kw_only=True)
class Person:
    """A person who may use this server.

    Attributes:
        address: as the provider confirmed it, in small letters; empty for the one
            person of a computer.
        role: a steward opens data and spends; an analyst sees releases that were shared
            with them.
    """

    address: str
    role: Role


LOCAL_PERSON = Person(address="", role="steward")


def sign_in_needed() -> bool:
    """Return whether the settings ask people to sign in."""
    return "auth" in secrets()


def person_of(claims: Mapping[str, Any]) -> Person | None:
    """Return the person to whom these sign-in claims belong.

    None without a role, or if the sign-in is over.
    """
    if not sign_in_needed():
        return LOCAL_PERSON
    address = address_of(claims)
    role = None if address is None else role_of(address)
    return (
        None if address is None or role is None else Person(address=address, role=role)
    )


def role_of(address: str) -> Role | None:
    """Return the role of an address, if it has one."""
    roles = secrets().get("roles", {})
    if is_listed(address, _texts(roles, "stewards")):
        return "steward"
    return "analyst" if is_listed(address, _texts(roles, "analysts")) else None


def address_with_role(address: str, role: Role = "analyst") -> str:
    """Return an address as it is stored, after checking that it has a role.

    Args:
        role: of a steward, or any.

    Raises: ParameterError for somebody without such a role.
    """
    address = address.strip().lower()
    if role_of(address) not in ("steward", role):
        raise ParameterError(
            "{address} does not have the needed role on this server",
            remedy="ask whoever runs this server",
            address=address[:200],
        )
    return address


def address_of(claims: Mapping[str, Any]) -> str | None:
    """Return the confirmed address of a person whose sign-in is still valid, or None.

    An address counts if its provider confirmed it, or if `trust_unconfirmed = true` and
    the provider never says so.
    """
    address = claims.get("email")
    issued = claims.get("iat")
    if (
        not claims.get("is_logged_in")
        or not isinstance(address, str)
        or not isinstance(issued, int | float)
    ):
        return None
    address = address.strip().lower()
    confirmed = claims.get("email_verified")
    if (
        confirmed is None
        and secrets().get("roles", {}).get("trust_unconfirmed") is True
    ):
        confirmed = True
    began = max(time.time() - SIGN_IN_HOURS * 3600, _ended_sign_ins.get(address, 0))
    is_now = began < issued < time.time() + 300
    is_confirmed = confirmed is True or confirmed == "true"
    return (
        address
        if is_now and is_confirmed and _ADDRESS_PATTERN.fullmatch(address)
        else None
    )


def end_sign_ins(address: str, issued: float) -> None:
    """Reject every sign-in of an address that was issued up to this time."""
    _ended_sign_ins[address] = max(issued, _ended_sign_ins.get(address, 0))


def is_listed(address: str, entries: Sequence[str]) -> bool:
    """Return whether an address, or "*@" and its domain, is on a list."""
    domain = "*@" + address.rpartition("@")[2]
    return any(entry.strip().lower() in (address, domain) for entry in entries)


def check_roles() -> None:
    """Refuse settings that would let in nobody, or everybody.

    Raises: ParameterError.
    """
    sections = secrets()
    stewards = _texts(sections.get("roles", {}), "stewards")
    if ("roles" in sections and "auth" not in sections) or (
        "auth" in sections and not stewards
    ):
        raise ParameterError(
            (
                "the secrets must say both how people sign in ([auth]) and who the "
                "stewards are ([roles])"
            ),
            remedy="correct it as docs/hosting.md says",
        )


def _texts(section: Any, name: str) -> list[str]:
    addresses = section.get(name, []) if isinstance(section, Mapping) else []
    return (
        [entry for entry in addresses if isinstance(entry, str)]
        if isinstance(addresses, Sequence)
        else []
    )
