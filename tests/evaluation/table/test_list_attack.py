"""A list of known people against an anonymized table, by an attacker who knows the
hierarchies.
"""

from __future__ import annotations

import pandas as pd
import pytest

import dpcore as dp
from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from dpcore.anonymization.methods import Method
from dpcore.anonymization.models import KAnonymity
from dpcore.anonymization.plan import Plan
from dpcore.evaluation.table.list_attack import attack_with_list
from dpcore.release import AnonymizedTable
from dpcore.risk.linkage import attack_by_linkage

TREES = {
    "zip": Hierarchy.from_csv(
        "02138;0213*;*\n02139;0213*;*\n02141;0214*;*\n02199;0219*;*"
    ),
    "birth": Hierarchy.from_csv(
        "1945;1940s;*\n1950;1950s;*\n1951;1950s;*\n1961;1960s;*"
    ),
}
VISITS = pd.DataFrame(
    {
        "zip": ["02138", "02139", "02138", "02141", "02141", "02199"],
        "birth": ["1945", "1945", "1950", "1951", "1950", "1961"],
        "diagnosis": list("abcdef"),
    },
)
VOTERS = VISITS[["zip", "birth"]].assign(name=list("ABCDEF"))


def made(method: str, k: int) -> AnonymizedTable:
    """The visits, anonymized."""
    plan = Plan(
        roles={
            "zip": "quasi-identifier",
            "birth": "quasi-identifier",
            "diagnosis": "insensitive",
        },
        hierarchies=TREES if Method.of_kind(method).needs_hierarchies else {},
        models=(KAnonymity(k=k),),
        limit=0.2,
        method=Method.of_kind(method)(),
    )
    schema = dp.Schema(
        columns=tuple(
            dp.Categorical(name, categories=tuple(sorted(set(VISITS[name]))))
            for name in VISITS
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    ledger = dp.MemoryLedger()
    return dp.Curator.open(
        VISITS, schema, budget=dp.PureDP(epsilon="1"), ledger=ledger
    ).anonymize(plan)


@pytest.mark.parametrize("method", ["full-domain", "local recoding"])
def test_nobody_meets_fewer_than_k_rows(method: str) -> None:
    """SEEDS B12: to compare labels with values finds nobody, and proves nothing:
    attackers recode too.
    """
    assert attack_by_linkage(VISITS, VOTERS, ["zip", "birth"]).unique_matches == 6
    found = attack_with_list(made(method, 2), VOTERS)
    assert found.people == 6
    assert found.matched_people >= 5
    assert found.unique_matches == 0
    assert found.smallest_class_rows >= 2


def test_rows_are_counted_by_hand() -> None:
    """A person who fits two groups would count one of them, or a stranger none."""
    table = made("full-domain", 2)
    rows = table.table.frame
    of_each = [
        sum(
            all(
                label
                in {
                    value,
                    *(
                        level[TREES[name].values.index(value)]
                        for level in TREES[name].levels
                    ),
                }
                for name, value, label in (
                    ("zip", who.zip, row.zip),
                    ("birth", who.birth, row.birth),
                )
            )
            for row in rows.itertuples()
        )
        for who in VOTERS.itertuples()
    ]
    found = attack_with_list(table, VOTERS)
    assert found.matched_people == sum(each > 0 for each in of_each)
    assert found.smallest_class_rows == min(each for each in of_each if each)
    assert found.expected_correct == pytest.approx(
        sum(1 / each for each in of_each if each)
    )
    stranger = pd.DataFrame({"zip": ["99999"], "birth": ["1950"]})
    assert attack_with_list(table, stranger).unique_matches == 0


def test_what_cannot_be_recoded_is_said() -> None:
    """Zero people found would be taken for safety."""
    with pytest.raises(dp.ParameterError, match="cuts its groups freely"):
        attack_with_list(made("mondrian", 2), VOTERS)
    with pytest.raises(dp.ParameterError, match="too few columns in common"):
        attack_with_list(made("full-domain", 2), VOTERS[["name"]])


def test_a_list_is_compared_in_what_it_holds() -> None:
    """A voter list without the date of admission would find nobody, or not be taken."""
    table = made("full-domain", 2)
    found = attack_with_list(table, VOTERS[["zip"]])
    assert found.unique_matches == 0
    assert found.matched_people >= attack_with_list(table, VOTERS).matched_people
