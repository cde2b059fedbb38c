"""Texts that a spreadsheet would run as formulas, made harmless by an apostrophe in
front, and back.
"""

import re

# The signs, and their full-width forms, that start a formula; plain negative numbers
# are let through.
_FORMULA = re.compile(
    r"(?!-[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?\Z)[=+\-@\t\r\n＝＋－＠]"
)
_DISARMED = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")


def disarm(text: str) -> str:
    """Put an apostrophe in front of a text that begins like a formula."""
    return "'" + text if _FORMULA.match(text) else text


def disarm_both_ways(text: str) -> str:
    """Disarm a text for files that are read again.

    One that looks disarmed gets one more apostrophe.
    """
    return "'" + text if _FORMULA.match(text) or _DISARMED.match(text) else text


def rearm(text: str) -> str:
    """Return the text that `disarm_both_ways` was given."""
    return text[1:] if _DISARMED.match(text) else text
