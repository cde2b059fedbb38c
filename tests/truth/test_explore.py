"""The interactive page behind a link: sentences, bars and drawn rows, from the
release's own file again.
"""

from __future__ import annotations

import base64
import dataclasses
import html
import json
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from dpcore.release import Release
from tests.tiers import but_first
from tests.truth.figures import Figure, Marking, check, of_text
from tests.truth.released import Told
from tests.truth.test_share import released
from workbench.report import explore

INVENTED = (
    "Drawn rows are invented: none of them is a person. {drawn} rows were drawn "
    "from the noisy counts; each represents {share} of about {total} {counted}.|"
)
SENTENCES = re.compile(r'data-\w+="([^"]*)"|<p>(.*?)</p>')


def sentences(part: str, marking: Marking) -> list[Figure]:
    """Figures of the sentences of the page, those that its script writes too."""
    texts = [html.unescape(text) for pair in SENTENCES.findall(part) for text in pair]
    return [each for text in texts for each in of_text(text, marking, "")]


def facts_of(told: Told) -> dict[str, Callable[[Any], Any]]:
    """What is true of the sentences of the page."""
    drawn = min(20_000, round(told.total))
    return {
        INVENTED + "drawn": lambda _: drawn,
        INVENTED + "share": lambda _: told.total / drawn,
        INVENTED + "total": lambda _: told.total,
        "All {total} {counted}|total": lambda _: told.total,
        "About {rows} of {total} {counted}|total": lambda _: told.total,
    }


@pytest.mark.parametrize(
    "name", but_first(1, ["300 rows", "wide", "visits", "two-valued", "constants"])
)
def test_the_page_is_of_the_release(marking, name: str) -> None:
    """A reader would filter other counts than the page shows, or scale drawn rows to
    another number.
    """
    release, told = released(name)
    facts = facts_of(told)
    part = explore.interactive_section(release)
    assert check(sentences(part, marking), facts, set(), None) == set(facts)
    content = json.loads(
        re.findall(r'id="explore-content">(.*?)</script>', part, re.S)[0]
    )
    assert content["scale"] == pytest.approx(told.total / content["drawn"])
    assert [each["name"] for each in content["columns"]] == told.columns[:24]
    for column in content["columns"]:
        sides = told.of((column["name"],), column["width"])
        for end, values in zip(("values", "low", "high"), sides, strict=True):
            assert np.allclose(column[end], values, atol=0.51), (column["name"], end)
        codes = np.frombuffer(base64.b64decode(column["codes"]), np.uint8)
        assert len(codes) == content["drawn"]
        assert (
            codes.max()
            < len(column["labels"])
            == -(-column["cells"] // column["width"])
        )


def test_a_wrong_base_is_caught(marking, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above would not see rows scaled to another number of people."""
    release, told = released("300 rows")
    right = Release.answer

    def more(release: Release, clique: tuple[str, ...]) -> Any:
        answer = right(release, clique)
        return dataclasses.replace(answer, values=answer.values * 1.1)

    monkeypatch.setattr(Release, "answer", more)
    with pytest.raises(AssertionError, match="not true"):
        check(
            sentences(explore.interactive_section(release), marking),
            facts_of(told),
            set(),
            None,
        )
