"""From a release to its verdict, in a real browser."""

from __future__ import annotations

import numpy as np
import pandas as pd


def people(rows: int, seed: int) -> bytes:
    """Invented people, as a file."""
    rng = np.random.default_rng(seed)
    age = rng.integers(20, 80, rows)
    rich = np.where(age + rng.normal(0, 8, rows) > 50, "yes", "no")
    table = {"age": age, "weight": rng.normal(70, 9, rows).round(1), "sex": rng.choice(["F", "M"], rows)}
    return pd.DataFrame({**table, "rich": rich}).to_csv(index=False).encode()


def test_the_verdict_and_the_figures_stand_on_one_screen(visitor):
    """Somebody who asks "how good is it?" would have to scroll for the answer."""
    person = visitor().open(people(300, 1)).go("Synthesize").release().go("Evaluate")
    for text in ("Fit for", "Worst column", "Look at"):
        place = person.sees(text, 60).page.get_by_text(text).first.bounding_box()
        assert place["y"] + place["height"] < 800
    person.sees("internal: reads the original, do not publish")
