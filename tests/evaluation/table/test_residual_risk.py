"""What is left to fear in a table that was made: counted again from the table
itself.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from dpcore.anonymization.apply import apply
from dpcore.anonymization.hierarchies.suggest import suggest_hierarchy
from dpcore.anonymization.models import DistinctL, KAnonymity, KMap
from dpcore.anonymization.plan import Plan
from dpcore.errors import InfeasibleError
from dpcore.evaluation.table.residual_risk import (
    RISK_LEVELS,
    ResidualRiskQuestion,
    ResidualRiskReport,
)
from dpcore.schema import Integer, PrivacyUnit, Schema
from dpcore.tables.rows import Microdata

KNOWN = ["age", "zip"]
SCHEMA = Schema(
    columns=(Integer("age", low=0, high=99, bin_width=1),), unit=PrivacyUnit(max_rows=9)
)


def people(rows: int = 300) -> pd.DataFrame:
    rng = np.random.default_rng(6)
    return pd.DataFrame(
        {
            "who": rng.integers(0, rows // 2, rows),
            "age": rng.integers(20, 60, rows),
            "zip": rng.choice(["33617", "33620", "23620"], rows, p=[0.6, 0.35, 0.05]),
            "illness": rng.choice(["flu", "cold", "ulcer"], rows),
            "visits": rng.integers(0, 4, rows),
        },
    )


def plan_for(frame: pd.DataFrame, **changes: object) -> Plan:
    roles = {"who": "identifier", "age": "quasi-identifier", "zip": "quasi-identifier"}
    plan = Plan(
        roles=roles | {"illness": "sensitive", "visits": "insensitive"},
        hierarchies={name: suggest_hierarchy(frame[name]) for name in KNOWN},
        models=(KAnonymity(k=4),),
        limit=0.05,
    )
    return replace(plan, **changes)


def outcome(
    frame: pd.DataFrame, plan: Plan, schema: Schema = SCHEMA
) -> ResidualRiskReport:
    return ResidualRiskQuestion(plan=plan).compute(Microdata(frame), schema)


@pytest.mark.parametrize("person", [None, "who"])
@pytest.mark.parametrize("suppressed", ["checked", "dropped", "kept"])
def test_figures_are_those_of_the_table_that_leaves(
    person: str | None, suppressed: str
) -> None:
    """Broken: the report praises rows that do not leave, forgets suppressed ones that
    do, or counts rows.
    """
    frame = people()
    plan = plan_for(frame, suppressed=suppressed, person=person)
    made = apply(frame, plan)
    found = outcome(frame, plan)
    whose = frame["who"] if person else pd.Series(frame.index)
    rows = made.assign(whose=whose.loc[made.index])
    sizes = rows.groupby(KNOWN)["whose"].nunique()
    risk: dict[int, float] = {}
    for age, zip_code, who in zip(rows["age"], rows["zip"], rows["whose"], strict=True):
        risk[who] = max(risk.get(who, 0), 1 / sizes[(age, zip_code)])
    assert found.published_rows == len(made)
    assert found.published_side.risk.k == sizes.min()
    assert found.published_side.risk.people == len(risk)
    assert found.marketer_risk == pytest.approx(np.mean(list(risk.values())))
    assert found.highest_risk == pytest.approx(max(risk.values()))
    ends = [np.inf, *RISK_LEVELS]
    shares = [
        np.mean([low <= each + 1e-12 and each + 1e-12 < high for each in risk.values()])
        for high, low in zip(ends, RISK_LEVELS, strict=False)
    ]
    assert found.prosecutor_shares == pytest.approx(shares)
    assert found.journalist_shares == found.prosecutor_shares
    groups = rows.groupby([*KNOWN, "illness", "visits"])["whose"].nunique()
    alone = {
        who
        for *cells, who in rows[[*KNOWN, "illness", "visits", "whose"]].itertuples(
            index=False
        )
        if groups[tuple(cells)] == 1
    }
    assert found.linkable == pytest.approx(len(alone) / len(risk))
    starred = rows[(made[KNOWN] == "*").all(axis=1)]
    assert found.hidden_people == starred["whose"].nunique()
    held = rows.drop_duplicates([*KNOWN, "whose", "illness"])
    assert (
        found.published_side.secret_risks["illness"].distinct_l
        == held.groupby(KNOWN)["illness"].nunique().min()
    )


def test_a_population_hides_from_the_journalist() -> None:
    """Broken: who knows the population only is taken to know the table, or the other
    way round.
    """
    frame = people().assign(mine=np.arange(300) % 3 == 0)
    plan = plan_for(
        frame, subset="mine", models=(KAnonymity(k=2), KMap(k=6)), suppressed="dropped"
    )
    found = outcome(frame, plan)
    plan = found.plan
    codes = {name: plan.hierarchies[name].levels for name in KNOWN}
    label = {
        name: dict(zip(codes[name][0], codes[name][plan.node[name]], strict=True))
        for name in KNOWN
    }
    printed = [
        tuple(label[name][str(cell)] for name, cell in zip(KNOWN, row, strict=True))
        for row in frame[KNOWN].itertuples(index=False)
    ]
    crowd = Counter(printed)
    made = apply(frame, plan)
    risks = [1 / crowd[printed[place]] for place in made.index]
    assert found.marketer_risk == pytest.approx(np.mean(risks))
    assert found.highest_risk == pytest.approx(max(risks))
    assert found.highest_risk <= 1 / 6 + 1e-12
    assert found.published_side.risk.highest > found.highest_risk


def test_blanked_rows_give_nothing_away() -> None:
    """Broken: a value that was blanked counts as given away, or one that leaves does
    not.
    """
    frame = pd.DataFrame(
        {"age": [30] * 98 + [90] * 2, "illness": ["flu", "cold"] * 49 + ["ulcer"] * 2}
    )
    roles = {"age": "quasi-identifier", "illness": "sensitive"}
    plan = Plan(
        roles=roles,
        hierarchies={"age": suggest_hierarchy(frame["age"])},
        models=(KAnonymity(k=5),),
        limit=0.02,
    )
    kept, blanked = (
        outcome(frame, replace(plan, suppressed=way)) for way in ("kept", "blanked")
    )
    assert kept.hidden_people == blanked.hidden_people == 2
    assert kept.published_side.risk.k == blanked.published_side.risk.k == 2
    assert kept.published_side.secret_risks["illness"].homogeneous_classes == 1
    assert blanked.published_side.secret_risks["illness"].homogeneous_classes == 0
    assert outcome(frame, replace(plan, suppressed="checked")).published_rows == 98


def test_nothing_left_is_said() -> None:
    """Broken: a table without a row gets a report, or a traceback."""
    frame = people()
    with pytest.raises(InfeasibleError, match="larger than the number of rows"):
        outcome(
            frame,
            plan_for(
                frame, models=(KAnonymity(k=301),), limit=1.0, suppressed="dropped"
            ),
        )
    with pytest.raises(InfeasibleError):
        outcome(frame, plan_for(frame, models=(DistinctL(column="illness", l=9),)))
