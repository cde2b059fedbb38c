"""Roles of columns for an attacker who wants to recognize a person."""

from typing import Literal

Role = Literal["identifier", "quasi-identifier", "sensitive", "insensitive"]


ROLES: tuple[Role, ...] = ("identifier", "quasi-identifier", "sensitive", "insensitive")
