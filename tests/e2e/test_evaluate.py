"""From a release to its verdict, in a real browser."""

from __future__ import annotations

import numpy as np
import pandas as pd

from tests.e2e.browser import Person, wait_until


def people(rows: int, seed: int) -> bytes:
    """Invented people, as a file."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, rows)
    rich = np.where(age + rng.normal(0, 8, rows) > 50, "yes", "no")
    table = {
        "age": age,
        "weight": rng.normal(70, 9, rows).round(1),
        "sex": rng.choice(["F", "M"], rows),
    }
    return pd.DataFrame({**table, "rich": rich}).to_csv(index=False).encode()


def stop_what_runs(person: Person, again: str) -> None:
    """Press Stop once something computes; its process must end, and the page must offer
    it again.
    """
    # Streamlit has a button of that name itself
    stop = person.page.locator(".st-key-stop-heavy button")
    stop.wait_for()
    wait_until(person.server.computing, "something computes")
    stop.click()
    stop.wait_for(state="detached")
    person.rest()
    # it was sent the signal, and may take a moment to give its memory back
    wait_until(lambda: not person.server.computing(), "nothing computes", seconds=10)
    assert person.page.get_by_role("button", name=again, exact=True).is_enabled()


def charges(lines):
    """All lines but the notes that something was compared with the original."""
    return [line for line in lines if line[1] != "outside"]


def test_the_verdict_is_on_one_screen_and_stop_ends_what_computes(visitor):
    """Somebody who asks "how good is it?" would have to scroll for the answer.

    A minute of computing would go on for nobody, hold a place in the line, or cost
    something.
    """
    person = (
        visitor()
        .open(people(5_000, 1))
        .go("Synthesize")
        .press("A whole table")
        .release()
    )
    person.go("Evaluate")
    # the answer and all six figures
    for text in ("Fit for", "Worst column", "Disclosure"):
        person.stands_on_one_screen(person.page.get_by_text(text).first, text)
    person.sees("internal: based on the original, do not publish")
    before = person.server.lines()
    person.page.get_by_text("Compare the methods").click()
    person.rest()
    person.page.get_by_role("button", name="Compare", exact=True).click()
    stop_what_runs(person, "Compare")
    person.page.get_by_test_id("stButtonGroup").get_by_text("Learning").click()
    box = person.page.get_by_label("Splits")
    box.fill("10")
    box.press("Enter")
    person.rest().page.get_by_role("button", name="Learn", exact=True).click()
    stop_what_runs(person, "Learn")
    assert charges(person.server.lines()) == charges(before)
    assert (
        person.sees("internal: based on the original")
        .button("Download as one HTML file")
        .is_visible()
    )
