"""Who may come in: the addresses of the settings against what the provider says of
somebody.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import pytest

from dpcore.errors import ParameterError
from workbench.store.people import roles

AUTH = (
    '[auth]\nredirect_uri = "http://localhost:8501/oauth2callback"\ncookie_secret = '
    '"c"\n'
)
LISTS = (
    '[roles]\nstewards = ["Ada@Example.org "]\nanalysts = ["*@lab.example", '
    '"eve@example.org"]\n'
)


def claims(address: Any = "ada@example.org", **fields: Any) -> dict[str, Any]:
    return {
        "is_logged_in": True,
        "email": address,
        "email_verified": True,
        "iat": time.time() - 60,
        **fields,
    }


def _role(**fields: Any) -> str | None:
    person = roles.person_of(claims(**fields))
    return None if person is None else person.role


def test_without_sign_in_there_is_one_person(
    write_secrets: Callable[[str], None],
) -> None:
    """A laptop would ask for a sign-in, or a server with [auth] take strangers for its
    owner.
    """
    assert roles.person_of({}) == roles.LOCAL_PERSON
    write_secrets(AUTH + LISTS)
    assert roles.sign_in_needed()
    assert roles.person_of({}) is None


def test_roles_are_those_of_the_lists(write_secrets: Callable[[str], None]) -> None:
    """Somebody would spend who may only look, or come in who is on no list."""
    write_secrets(AUTH + LISTS)
    found = {
        address: _role(address=address)
        for address in (
            "ada@example.org",
            "ADA@EXAMPLE.ORG",
            "eve@example.org",
            "any@lab.example",
            "any@example.org",
            "ada@example.org.evil",
            "any@sub.lab.example",
            "*@lab.example",
            "a b@lab.example",
            "",
            7,
            None,
        )
    }
    assert found == {
        "ada@example.org": "steward",
        "ADA@EXAMPLE.ORG": "steward",
        "eve@example.org": "analyst",
        "any@lab.example": "analyst",
        # no provider gives such an address; its domain is listed
        "*@lab.example": "analyst",
        **dict.fromkeys(
            (
                "a b@lab.example",
                "any@example.org",
                "ada@example.org.evil",
                "any@sub.lab.example",
                "",
                7,
                None,
            ),
        ),
    }


def test_only_a_sign_in_that_lasts_counts(write_secrets: Callable[[str], None]) -> None:
    """A cookie of last month, or an address that nobody confirmed, would open the
    data.
    """
    write_secrets(AUTH + LISTS)
    now = time.time()
    for fields in (
        {"is_logged_in": False},
        {"email_verified": False},
        {"iat": now - roles.SIGN_IN_HOURS * 3600 - 1},
        {"iat": now + 3600},
        {"iat": None},
        {"iat": "soon"},
    ):
        assert _role(**fields) is None, fields
    assert _role(email_verified=True, iat=int(now)) == "steward"


def test_a_removed_person_is_refused_at_once(
    write_secrets: Callable[[str], None],
) -> None:
    """Whoever left the team would go on until the server is started again."""
    write_secrets(AUTH + LISTS)
    assert _role() == "steward"
    write_secrets(AUTH + '[roles]\nstewards = ["bob@example.org"]\n')
    assert _role() is None
    write_secrets(AUTH + "[roles\n")
    with pytest.raises(ParameterError, match="cannot be read"):
        roles.person_of(claims())


@pytest.mark.parametrize(
    "text", [LISTS, AUTH, AUTH + "[roles]\nstewards = []\n", AUTH + 'roles = "all"\n']
)
def test_settings_that_let_in_everybody_or_nobody_are_refused(
    write_secrets: Callable[[str], None],
    text: str,
) -> None:
    """A typing error in the secrets would open a server to everybody without a word."""
    write_secrets(text)
    with pytest.raises(ParameterError, match=r"how people sign in"):
        roles.check_roles()
