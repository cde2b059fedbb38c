"""Two files about the same people: declared, opened and released together."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from dpcore.accounting.loss import UNIT
from tests.pages.tab import Tab


def patients(number: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    return pd.DataFrame(
        {
            "patient": [f"p{i:04d}" for i in range(number)],
            "sex": rng.choice(["F", "M"], number),
            "age": rng.integers(0, 90, number),
        }
    )


def stays(people: pd.DataFrame) -> pd.DataFrame:
    rng = np.random.default_rng(2)
    owners = np.repeat(people["patient"].to_numpy(), rng.integers(0, 4, len(people)))
    return pd.DataFrame(
        {
            "patient": owners,
            "ward": rng.choice(["A", "B", "C"], len(owners)),
            "nights": rng.integers(1, 15, len(owners)),
        }
    )


def as_csv(frame: pd.DataFrame) -> bytes:
    return frame.to_csv(index=False).encode()


def bring(
    app: Tab, people: pd.DataFrame | None = None, events: pd.DataFrame | None = None
) -> Tab:
    """Bring both files."""
    people = patients() if people is None else people
    events = stays(people) if events is None else events
    app.go("upload").upload(as_csv(people), "patients.csv")
    second = [
        each for each in app.at.file_uploader if str(each.key).startswith("second-file")
    ]
    second[0].upload("stays.csv", as_csv(events), "text/csv").run()
    return app


def say_cap(app: Tab, most: int) -> Tab:
    groups = app.at.get("button_group")
    cap = [each for each in groups if each.label.startswith("Maximum number of rows")]
    cap[0].set_value(most).run()
    return app


def open_pair(app: Tab, button: str = "Open the data set") -> Tab:
    return say_cap(bring(app), 3).press("Leave out what does not fit").press(button)


def test_two_files_are_opened_together(app: Tab) -> None:
    bring(app)
    assert app.errors == ""
    print(app.text)
    print([b.label for b in app.at.button])
    say_cap(app, 3)
    assert app.errors == ""
    app.press("Leave out what does not fit")
    print(app.text)
    print([(b.label, b.disabled) for b in app.at.button])
    app.press("Open the data set")
    print(app.errors)
    print(app.text)
    assert 1


def test_release(app: Tab) -> None:
    open_pair(app, "See what you would get")
    assert app.errors == ""
    print(app.text, [b.label for b in app.at.button], [(m.label,m.value) for m in app.at.metric])
    app.release()
    print(app.errors)
    print(app.text)
    print([b.label for b in app.at.button], [b.label for b in app.at.get("download_button")])
    app.go("ledger")
    print(app.text)
    print(app.at.dataframe[0].value.to_string())
    app.go("evaluate")
    print(app.text)
    assert 0
