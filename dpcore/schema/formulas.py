"""Make texts harmless that a spreadsheet would run as formulas.

An apostrophe in front makes them harmless; `rearm` removes it.
"""

import re

# The signs that start a formula, also in their full-width forms. Plain negative numbers
# are not formulas.
_FORMULA_START = re.compile(
    r"(?!-[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?\Z)[=+\-@\t\r\n＝＋－＠]"
)
_DISARMED_START = re.compile(r"'+[=+\-@\t\r\n＝＋－＠]")


def begins_formula(text: str) -> bool:
    """Return whether a spreadsheet could run a text as a formula."""
    return _FORMULA_START.match(text) is not None


def disarm(text: str) -> str:
    """Put an apostrophe in front of a text that begins like a formula."""
    return "'" + text if begins_formula(text) else text


def disarm_reversibly(text: str) -> str:
    """Disarm a text so that `rearm` can restore it.

    A text that looks disarmed already gets one more apostrophe.
    """
    return (
        "'" + text
        if _FORMULA_START.match(text) or _DISARMED_START.match(text)
        else text
    )


def rearm(text: str) -> str:
    """Restore a text from the output of `disarm_reversibly`."""
    return text[1:] if _DISARMED_START.match(text) else text
