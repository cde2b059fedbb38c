"""Attacks on the people in a release, with a control, and an audit with canaries."""

from dpcore.evaluation.attacks.base import AttackResult as AttackResult
from dpcore.evaluation.attacks.canaries import CanaryReport as CanaryReport
from dpcore.evaluation.attacks.canaries import canary_audit as canary_audit
from dpcore.evaluation.attacks.disclosure import Attacks as Attacks
from dpcore.evaluation.attacks.disclosure import Disclosure as Disclosure
from dpcore.evaluation.attacks.disclosure import HeldOut as HeldOut
from dpcore.evaluation.attacks.disclosure import disclosure as disclosure
