"""A table that was changed a little is recognized; another one is not."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd

from dpcore.schema.values import READ_AS_TEXT
from dpcore.tables.digests import fingerprint
from dpcore.tables.sketch import Sketch, SketchedTable, TableSimilarity

KEY = b"k" * 32


def table(rows: int = 5_000, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "age": rng.integers(0, 90, rows),
            "sex": rng.choice(["F", "M"], rows),
            "note": "-",
        }
    )


def likeness(
    old: pd.DataFrame, new: pd.DataFrame, key: bytes = KEY
) -> TableSimilarity | None:
    kept = Sketch.from_dict(
        json.loads(json.dumps(SketchedTable.from_frame(old, KEY).sketch.to_dict()))
    )
    return SketchedTable.from_frame(new, key).compare(kept)


def test_a_changed_table_is_recognized() -> None:
    """Every small change is a new account with a full budget; the page must be able to
    say so.
    """
    old = table()
    shuffled = old.sample(frac=1, random_state=1)[["sex", "note", "age"]]
    assert likeness(old, shuffled) == TableSimilarity(rows=0, columns=3)
    changed = old.copy()
    changed.loc[7, "age"] = 95
    assert likeness(old, changed) == TableSimilarity(rows=2, columns=2)
    assert likeness(old, pd.concat([old, old.iloc[:1]])) == TableSimilarity(
        rows=1, columns=0
    )
    many = likeness(old, old.iloc[400:])
    assert many is not None
    assert many.rows is not None
    assert abs(many.rows - 400) < 60
    for other in (
        old.assign(note="new"),
        old.rename(columns={"note": "Note"}),
        old.assign(z=np.nan),
    ):
        assert likeness(old, other) == TableSimilarity(
            rows=None, columns=3 if "z" in other else 2
        )


def test_another_table_is_not() -> None:
    """A warning for every table would be read by nobody."""
    assert likeness(table(), table(seed=1).assign(note="x")) is None
    assert likeness(table(), table().iloc[:500].assign(age=1, note="x")) is None


def test_what_the_guarantees_say_is_not_recognized() -> None:
    """docs/guarantees.md would promise a question that nobody is asked, or warn of what
    is asked about.
    """

    def keyed(rows: int) -> pd.DataFrame:
        rng = np.random.default_rng(3)
        return table(rows).assign(
            patient=np.arange(rows), zip=rng.integers(1_000, 9_999, rows)
        )

    for rows, asked, unasked in (
        (3_000, 0.75, 0.6),
        (50_000, 0.9, 0.8),
        (200_000, 0.99, 0.97),
    ):
        old = keyed(rows)
        assert likeness(old, old.head(int(rows * asked))) is not None
        assert likeness(old, old.head(int(rows * unasked))) is None
    old = keyed(3_000)
    renewed = old.assign(patient=old["patient"] + 10_000)
    assert likeness(old, renewed) == TableSimilarity(rows=None, columns=4)
    assert likeness(old, renewed.assign(year=2026)) == TableSimilarity(
        rows=None, columns=4
    )
    for other in (renewed.iloc[1:], old.assign(year=2026).iloc[1:]):
        assert likeness(old, other) is None


def test_few_distinct_rows_say_little() -> None:
    """Two tables of other people with a few answers to choose from were taken for one
    and the same.
    """
    alike = 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        old, new = (
            pd.DataFrame(
                {
                    name: rng.choice(["yes", "no"], 300)
                    for name in ("smoker", "diabetes")
                }
            )
            for _ in range(2)
        )
        alike += likeness(old, new) is not None
        constant = [
            pd.DataFrame({"year": 2020, "age": rng.integers(0, 90, 300)})
            for _ in range(2)
        ]
        alike += likeness(*constant) is not None
    assert alike <= 3
    old = table().drop(columns="note")
    assert likeness(old, old.iloc[20:]) is not None


def test_a_sketch_is_small_and_keyed() -> None:
    """It is kept with the account: it must tell nothing to whoever has no key, and grow
    with no table.
    """
    assert (
        len(json.dumps(SketchedTable.from_frame(table(), KEY).sketch.to_dict())) < 1_500
    )
    assert likeness(table(), table(), key=b"another" * 5) is None


def test_sketches_on_file_stay_comparable() -> None:
    """A digest that changed would hide every table on file from the comparison."""
    frame = pd.DataFrame({"a": ["1", "01", None, "1.0"], "b": [1, 2, 2, 3]})
    seen = SketchedTable.from_frame(frame, KEY)
    assert seen.fingerprint == fingerprint(frame, KEY)
    assert seen.sketch.columns["a"] == "f4eab22af8861f7839f525a67214784b"
    read_as_text = frame.assign()
    read_as_text.attrs[READ_AS_TEXT] = True
    other = SketchedTable.from_frame(read_as_text, KEY)
    assert other.fingerprint == fingerprint(read_as_text, KEY) != seen.fingerprint
    assert other.sketch.columns["a"] == "c7e89bf6a5720a8cdac81533e3b5b086"
    shuffled = SketchedTable.from_frame(frame.iloc[::-1], KEY)
    assert shuffled == seen
