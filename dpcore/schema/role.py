"""Roles of columns for an attacker who wants to recognize a person."""

from typing import Literal, get_args

Role = Literal[
    "identifier", "quasi-identifier", "sensitive", "insensitive", "undecided"
]
"""An undecided column is one that a person has to look at: no plan publishes it."""

ROLES: tuple[Role, ...] = get_args(Role)
