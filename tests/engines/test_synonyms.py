"""What counts as what, and what cannot be read, is the same whichever engine reads
it.
"""

from __future__ import annotations

from pathlib import Path

import pandas as pd

import dpcore as dp
from dpcore.engines.connect import engine_of
from dpcore.schema.source import Source


def test_synonyms_and_unreadable_cells_on_every_engine(tmp_path: Path) -> None:
    """A censored or an odd cell could be another cell in a file than in memory, or fail
    a paid run.
    """
    odd = ["<0,5", "00.x", "k.A.", None]
    frame = pd.DataFrame(
        {
            "crp": [
                odd[row % 4] if row % 5 == 0 else f"{row % 9}.5" for row in range(900)
            ],
            "ward": ["A", "a", "B"] * 300,
        },
    )
    crp = dp.Real(
        "crp",
        low=0,
        high=10,
        bin_width=1,
        missing=True,
        missing_tokens=("k.A.",),
        unreadable_is_missing=True,
        synonyms=(("<0,5", "0.25"),),
        special=(0.25,),
    )
    ward = dp.Categorical("ward", categories=("A", "B"), synonyms=(("a", "A"),))
    schema = dp.Schema(columns=(crp, ward), unit=dp.PrivacyUnit(max_rows=1))
    frame.to_parquet(tmp_path / "a.parquet")
    frame.to_csv(tmp_path / "a.csv", index=False)
    sources = [
        Source(name=kind, kind=kind, location=str(tmp_path / f"a.{kind}"))
        for kind in ("parquet", "csv")
    ]  # type: ignore[arg-type]
    counted = [
        [
            table.values.tolist()
            for table in engine_of(each, schema, key=b"k" * 32).counts(
                [("crp",), ("ward",)]
            )
        ]
        for each in (frame, *sources)
    ]
    plain = frame["crp"].map({"<0,5": "0.25"}).fillna(frame["crp"])
    missing = pd.to_numeric(plain, errors="coerce").isna().sum()
    assert counted[0][0][1] == (frame["crp"] == "<0,5").sum()
    assert counted[0][0][-1] == missing
    assert counted[0][1] == [600, 300]
    assert counted[0] == counted[1] == counted[2]
