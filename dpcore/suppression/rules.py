"""Rules about which counts are hidden, with presets of published ones."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

from dpcore.errors import ParameterError, UsageError

MAX_THRESHOLD = 10_000  # people
USUAL_BASES = (3, 5, 10, 15, 20, 25, 50)  # of rounded counts, in people


@dataclass(frozen=True, kw_only=True)
class HidingRule:
    """Which counts to hide, and what attackers are assumed to know.

    Attributes:
        threshold: fewest people in a cell that is shown.
        hide_zeros: whether cells without people are hidden too.
        hide_full: whether a cell that holds all people of its group is protected.
        members: whether the attacker knows which cells hold people.
        name: of the preset; empty for a rule of one's own.
    """

    threshold: int
    hide_zeros: bool = False
    hide_full: bool = False
    members: bool = False
    name: str = ""

    def __post_init__(self) -> None:
        whole = isinstance(self.threshold, int) and not isinstance(self.threshold, bool)
        if not whole or not 2 <= self.threshold <= MAX_THRESHOLD:
            raise ParameterError(
                "the fewest people in a shown cell must be a whole number from 2 to "
                "{most}",
                remedy="choose such a number, for example 10",
                most=MAX_THRESHOLD,
            )
        flags = (self.hide_zeros, self.hide_full, self.members)
        if not all(isinstance(flag, bool) for flag in flags):
            raise UsageError(
                "the choices of a rule are true or false", remedy="write one of both"
            )

    def find_possible_count(self, *, is_first: bool) -> int:
        """Return the count that readers must think possible for a hidden cell.

        Readers know that something small was the reason to hide cells. If the largest
        possible count of a cell leaves one person in another, that one may be the
        reason, and the threshold is enough. If it may leave nobody, one more person
        must be possible, unless empty cells are a reason too.

        Args:
            is_first: whether no earlier table limits the count.
        """
        knows_occupied = self.members or self.shows_zeros
        return self.threshold + (
            not self.hide_zeros and not (is_first and knows_occupied)
        )

    @property
    def min_base(self) -> int:
        """The smallest base to which counts may be rounded in place of hiding some.

        A count that is published as 0 may be anything below the base, so that the
        threshold is possible.
        """
        return self.threshold + 1

    @property
    def usual_base(self) -> int:
        """The base that is proposed for rounding: a common one if one is large enough."""
        large = (base for base in USUAL_BASES if base >= self.min_base)
        return next(large, self.min_base)

    @property
    def shows_zeros(self) -> bool:
        """Whether readers may rely on it that no hidden cell is empty.

        A full cell has empty ones beside it, so a rule that hides full cells hides
        some of these.
        """
        return not self.hide_zeros and not self.hide_full

    def hides(self, count: int) -> bool:
        """Return whether a count is too small to be shown."""
        return count < self.threshold and (count > 0 or self.hide_zeros)

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_dict(cls, fields: Mapping[str, Any] | str) -> HidingRule:
        """Read the output of `to_dict`, or the name of a preset.

        A rule with the name of a preset and other numbers loses the name.

        Raises: ParameterError for a preset that does not exist.
        """
        if not isinstance(fields, str):
            rule = cls(**fields)
            return rule if rule == PRESETS.get(rule.name) else replace(rule, name="")
        if fields not in PRESETS:
            raise ParameterError(
                "there is no rule of this name",
                remedy="choose one of {names}, or write your own rule",
                names=", ".join(PRESETS),
            )
        return PRESETS[fields]


PRESETS = {
    "acro": HidingRule(
        threshold=10, hide_zeros=True, hide_full=True, members=True, name="acro"
    ),
    "cms": HidingRule(threshold=11, name="cms"),
    "nhs": HidingRule(threshold=5, name="nhs"),
}
"""Rules by name.

acro: the default risk appetite of ACRO for counts, with zeros and full cells. cms: no
cell with 1 to 10 people (CMS cell size suppression policy). nhs: no cell with 1 to 4
people, as disclosure control of hospital statistics in England has it, without its
rounding.
"""
