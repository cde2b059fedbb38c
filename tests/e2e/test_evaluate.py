"""From a release to a verdict, and a foreign file to its attacks, in a real browser."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.e2e.browser import SECOND


def people(rows: int, seed: int) -> bytes:
    """Invented people, as a file."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, rows)
    rich = np.where(age + rng.normal(0, 8, rows) > 50, "yes", "no")
    table = {"age": age, "weight": rng.normal(70, 9, rows).round(1), "sex": rng.choice(["F", "M"], rows)}
    return pd.DataFrame({**table, "rich": rich}).to_csv(index=False).encode()


def drop(person, place: int, content: bytes) -> None:
    """Choose a file for one of the fields, from the top."""
    field = person.page.locator("input[type=file]").nth(place)
    field.set_input_files({"name": "made.csv", "mimeType": "text/csv", "buffer": content})
    person.page.wait_for_timeout(SECOND)
    person.rest()


def test_the_verdict_and_the_figures_stand_on_one_screen(visitor):
    """Somebody who asks "how good is it?" would have to scroll for the answer."""
    person = visitor().open(people(300, 1)).go("Synthesize").release().go("Evaluate")
    for text in ("Fit for", "Worst column", "Look at"):
        place = person.sees(text, 60).page.get_by_text(text).first.bounding_box()
        assert place["y"] + place["height"] < 800
    person.sees("internal: reads the original, do not publish")


def test_a_copy_made_elsewhere_is_caught(visitor):
    """The quick audit of a file would not work with a mouse and two files."""
    person = visitor().open(people(300, 1)).go("Evaluate")
    drop(person, 0, people(300, 1))
    person.sees("Worst column", 60)
    person.page.get_by_role("radio", name="Disclosure").or_(
        person.page.get_by_role("button", name="Disclosure", exact=True)
    ).first.click()
    person.rest()
    drop(person, 1, people(300, 2))
    person.page.get_by_role("button", name="Attack", exact=True).click()
    person.sees("People in it are exposed", 120).sees("6 of 6")
