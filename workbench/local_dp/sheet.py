"""The sheet of a survey, with one code to scan per person."""

from collections.abc import Iterable
from pathlib import Path

from workbench.language.messages import _
from workbench.report.document import fragment

MOST = 500
"""Codes on a sheet; who asks more people has other ways to reach them."""


def sheet(
    question: str, root: str, tokens: Iterable[str], *, here_only: bool = False
) -> str:
    """Write one code per link as a page to print and to cut up, black on white in every
    look.

    Args:
        here_only: whether the codes open on this computer alone, which the page then
            says.
    """
    import segno

    codes = [
        segno.make(root + token, micro=False).svg_inline(omitsize=True, light="white")
        for token in tokens
    ]
    return fragment(
        "sheet.html",
        Path(__file__).parent,
        question=question,
        codes=codes,
        warning=_(
            "These addresses open on this computer only: nobody else can follow them."
        )
        if here_only
        else "",
    )
