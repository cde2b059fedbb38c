"""No group of fewer people leaves than whoever runs the workbench allows, on any way
out of any engine.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest

import dpcore as dp
from dpcore.anonymization import KAnonymity, Plan
from dpcore.anonymization.choices import SUPPRESSED_TREATMENTS, SuppressedTreatment
from dpcore.anonymization.hierarchies.builders import build_flat
from dpcore.engines import base
from dpcore.errors import InfeasibleError
from tests.contracts.engine_kinds import ENGINES

FRAME = pd.DataFrame(
    {"zip": ["1"] * 20 + ["2"] * 20 + ["3"], "s": ["a", "b"] * 20 + ["HIV"]}
)
PLAN = Plan(
    roles={"zip": "quasi-identifier", "s": "sensitive"},
    hierarchies={"zip": build_flat(["1", "2", "3"])},
    models=(KAnonymity(k=5),),
    limit=0.05,
    node={"zip": 0},
)
SCHEMA = dp.Schema(
    columns=(dp.Categorical("zip", categories=("1", "2", "3")),),
    unit=dp.PrivacyUnit(max_rows=1),
)
LEAVE = {"kept", "blanked"}
"""Ways with suppressed rows in which the one of zip 3 is in the table, as a group of
one.
"""


@pytest.mark.parametrize(
    "kind",
    [
        pytest.param(kind, marks=[pytest.mark.proof] * (kind == "spark"))
        for kind in ENGINES
    ],
)
@pytest.mark.parametrize("suppressed", SUPPRESSED_TREATMENTS)
def test_the_table_that_leaves_is_judged(
    kind: str,
    suppressed: SuppressedTreatment,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A policy of k = 5 would let somebody with HIV leave in a group of one, where the
    plan has a k of 5.
    """
    ledger = dp.MemoryLedger()
    engine = ENGINES[kind][1](tmp_path, FRAME, SCHEMA, key=ledger.key)
    # as if the rows did not fit into memory: recoded where they are
    if kind != "frame":
        monkeypatch.setattr(base, "MAX_ROWS_IN_MEMORY", 1)
    curator = dp.Curator.open(
        engine,
        SCHEMA,
        budget=dp.PureDP(epsilon=1),
        ledger=ledger,
        identity=None if kind == "frame" else "people",
    )
    plan = replace(PLAN, suppressed=suppressed)
    place = tmp_path / "folder"
    if suppressed in LEAVE:
        assert curator.anonymize_to(tmp_path / "twin", plan, smallest_group=1) == 41
        with pytest.raises(InfeasibleError, match="has fewer than 5 rows"):
            curator.anonymize_to(place, plan, smallest_group=5)
        assert not place.exists()
        if kind == "frame":
            with pytest.raises(InfeasibleError, match="has fewer than 5 rows"):
                curator.anonymize(plan, smallest_group=5)
        return
    assert curator.anonymize_to(place, plan, smallest_group=5) == 40
    assert sorted(pq.read_table(place).to_pandas()["zip"].value_counts()) == [20, 20]
