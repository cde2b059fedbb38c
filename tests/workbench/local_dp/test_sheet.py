"""The sheet of a survey: one code per link, and nothing of what the question or the
address says runs.
"""

from __future__ import annotations

import re

import segno

from workbench.local_dp.form import link_sheet

ROOT = "http://127.0.0.1:8501/answer/"
TOKENS = [letter * 43 for letter in "abc"]


def test_each_person_has_a_code_of_their_own() -> None:
    """Two pupils would get one code, of which the second finds a link that was used."""
    drawn = re.findall(
        r'class="qrline" stroke="#000" d="([^"]+)"',
        link_sheet("How <b>often</b>?", ROOT, TOKENS),
    )
    assert len(set(drawn)) == 3
    for path, token in zip(drawn, TOKENS, strict=True):
        assert cells(path) == {
            (x, y)
            for y, line in enumerate(segno.make(ROOT + token, micro=False).matrix)
            for x, dark in enumerate(line)
            if dark
        }


def test_a_question_is_text() -> None:
    """A question with a tag in it would change the page that is printed."""
    page = link_sheet("How <b>often</b>?", ROOT, TOKENS)
    assert "<b>" not in page
    assert "<script" not in page


def test_a_sheet_of_this_computer_says_so() -> None:
    """A class would scan codes that open on nobody's telephone."""
    assert "work only on this computer" in link_sheet(
        "How often?", ROOT, TOKENS, is_local_only=True
    )
    assert "work only on this computer" not in link_sheet(
        "How often?", "https://a.example/answer/", TOKENS
    )


def cells(path: str) -> set[tuple[int, int]]:
    """The dark squares of a code, from lines of a pen: m moves and h draws, relative to
    where it is.
    """
    border = 4
    x = 0.0
    y = 0.0
    dark = set()
    for command, numbers in re.findall(r"([Mmh])([-0-9. ]+)", path):
        moved = [float(each) for each in re.findall(r"-?[0-9.]+", numbers)]
        if command == "h":
            dark |= {
                (round(x) + step - border, round(y - 0.5) - border)
                for step in range(int(moved[0]))
            }
            x += moved[0]
        elif command == "M":
            x, y = moved
        else:
            x = x + moved[0]
            y = y + moved[1]
    return dark
