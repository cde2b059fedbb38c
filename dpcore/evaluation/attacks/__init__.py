"""Attacks on the people in a release, with a control, and an audit with canaries."""

from dpcore.evaluation.attacks.base import AttackResult
from dpcore.evaluation.attacks.canaries import CanaryReport, canary_audit
from dpcore.evaluation.attacks.disclosure import Attacks, Disclosure, HeldOut, disclosure

__all__ = [
    "AttackResult",
    "Attacks",
    "CanaryReport",
    "Disclosure",
    "HeldOut",
    "canary_audit",
    "disclosure",
]
