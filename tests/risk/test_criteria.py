"""Published criteria: an invented hospital's table, which violates nothing, and one for
each clause.
"""

from __future__ import annotations

import datetime
import json
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

import dpcore as dp
from dpcore.errors import ParameterError
from dpcore.evaluation.table.criteria import EvidenceQuestion
from dpcore.risk.criteria import (
    CRITERIA_FOLDER,
    ClauseOutcome,
    Criterion,
    Evidence,
    judge_clauses,
    list_criteria,
    read_answers,
)
from dpcore.tables.rows import Microdata


def evidence(
    frame: pd.DataFrame,
    criterion: Criterion,
    id_column: str | None = None,
    *,
    year: int,
) -> tuple[Evidence, ...]:
    schema = dp.Schema(
        columns=(dp.Categorical("any", categories=("x",)),),
        unit=dp.PrivacyUnit(max_rows=1, id_column=id_column),
    )
    return EvidenceQuestion(criterion=criterion.rule, year=year).compute(
        Microdata(frame), schema
    )


def exit_code(outcomes: tuple[ClauseOutcome, ...]) -> int:
    states = {each.state for each in outcomes}
    return 1 if "violation" in states else 2 if "question" in states else 0


SAFE = Criterion.load("hipaa-safe-harbor")
YEAR = 2026
ROWS = 40
PEOPLE = [
    ("Ada", "Byron"),
    ("Alan", "Mathison"),
    ("Grace", "Murray"),
    ("Emmy", "Amalie"),
]


def hospital(**cells: list[object]) -> pd.DataFrame:
    """Stays of an invented hospital, released as the Safe Harbor text allows; `cells`
    are repeated.
    """
    columns = {
        "state": ["NH", "VT", "MA"],
        "sex": ["F", "M"],
        "zip": ["000", "011", "100"],
        "age": ["34", "71", "89", "90+", "90 or older"],
        "birth_year": ["1992", "1955", "1937", "on or before 1936"],
        "admission_year": [2024, 2025],
        "diagnosis": ["I10", "E11.9", "J18.9", "1234.05"],
        "days": [1, 5, 12, 93],
        "cost": [1234.05, 99.5, 12020.1],
        **cells,
    }
    return pd.DataFrame(
        {name: (values * ROWS)[:ROWS] for name, values in columns.items()}
    )


def violations(
    frame: pd.DataFrame, criterion: Criterion = SAFE, year: int = YEAR
) -> dict[str, list[str]]:
    outcomes = judge_clauses(criterion, evidence(frame, criterion, year=year), {}, {})
    return {
        each.clause.id: [column.column for column in each.columns]
        for each in outcomes
        if each.state == "violation"
    }


GOLDEN = {  # clause -> columns that violate it, and nothing else
    "(i)(A)": [
        {"patient_name": [" ".join(each) for each in PEOPLE]},
        {"Initials": ["A.L.", "AMT", "EN"]},
        {"employer": ["Acme Mills", "Town Bakery"]},
        {"mother name": ["Anne", "Ethel"]},
    ],
    "(i)(B)": [
        {"city": ["Concord", "Keene"]},  # without any ZIP code
        {"county": ["Coos"]},
        {"precinct": [4, 7]},
        {"zip": ["036", "100"]},  # 13,153 people
        {"zip": ["03601"]},
        {"zip": ["059**"]},
        {"zip": [36, 100, 0]},  # as a number, which lost its zero
        {"zip": ["008"]},  # no area of the Census begins so: nothing is known
        {"residence_latitude": [43.21, 43.99]},
        {"plz": ["80331"]},
    ],
    "(i)(C)": [
        {"birth_year": [1931, 1990]},  # by itself, and whatever was left out beside it
        {"birth_year": ["1930-1939"]},
        {"age": [34, 95]},
        {"age": ["85-94"]},
        {"age": ["90"]},
        {"admitted": ["2024-03-01", "2024-03-09"]},
        {"admitted": ["2024-03"]},
        {"admitted": ["03/2024"]},
        {"admitted": ["9 March 2024"]},
        {"admitted": ["09.03.2024", "in spring"]},  # one cell of two
        {"admitted": [pd.Timestamp(2024, 3, 1)]},
        {"admission_month": [3, 4]},
    ],
    "(i)(D)": [{"contact": ["(603) 555-0100"]}, {"contact": ["603-555-0100", "none"]}],
    "(i)(E)": [{"fax": ["603-555-0100"]}],
    "(i)(F)": [{"remark": ["none", "write to a@b.org please"]}],
    "(i)(G)": [{"remark": ["123-45-6789", "none"]}, {"ssn": ["6789"]}],
    "(i)(H)": [{"MRN": ["H-20417", "H-20418"]}, {"patient number": [40_001, 40_002]}],
    "(i)(I)": [{"member_id": ["XJH881", "XJH882"]}],
    "(i)(J)": [{"account": ["10023-77", "10023-78"]}],
    "(i)(K)": [{"driver_license": ["NHL 12345678"]}],
    "(i)(L)": [
        {"license plate": ["NH 3127"]},
        {"remark": ["1HGCM82633A004352", "none"]},
    ],
    "(i)(M)": [{"pacemaker": ["SN-40021"]}, {"remark": ["00:1B:44:11:3A:B7", "none"]}],
    "(i)(N)": [{"remark": ["see https://example.org/p/7", "none"]}],
    "(i)(O)": [{"remark": ["192.0.2.7", "none"]}],
    "(i)(P)": [{"fingerprint": ["a91f", "77c0"]}],
    "(i)(Q)": [
        {"photo": ["p1.jpg", "p2.jpg"]},
        {"remark": ["data:image/png;base64,AA", "none"]},
    ],
}


def test_the_hospital_violates_nothing_that_a_table_can_show() -> None:
    """A table that follows the text to the letter would be refused, and nobody would
    trust a refusal.
    """
    assert violations(hospital()) == {}
    outcomes = judge_clauses(SAFE, evidence(hospital(), SAFE, year=YEAR), {}, {})
    assert [each.clause.id for each in outcomes if each.state == "question"] == [
        "(i)(R)",
        "(ii)",
    ]
    assert exit_code(outcomes) == 2


@pytest.mark.parametrize(
    ("clause", "cells"),
    [(clause, cells) for clause, tables in GOLDEN.items() for cells in tables],
    ids=lambda value: (
        value if isinstance(value, str) else json.dumps(value, default=str)
    ),
)
def test_each_clause_is_violated_by_itself(
    clause: str, cells: dict[str, list[object]]
) -> None:
    """A violation would be missed, or be blamed on another clause."""
    assert violations(hospital(**cells)) == {clause: list(cells)}


def test_every_clause_of_the_text_has_a_golden_table_or_a_question() -> None:
    """A clause from (A) to (R), or (ii), would be left out."""
    asked = {each.id for each in SAFE.clauses if each.question}
    assert [each.id for each in SAFE.clauses] == [
        *(f"(i)({letter})" for letter in "ABCDEFGHIJKLMNOPQR"),
        "(ii)",
    ]
    assert set(GOLDEN) | asked == {each.id for each in SAFE.clauses}
    assert not set(GOLDEN) & asked


@pytest.mark.parametrize(
    "cells",
    [
        {"state": ["036"]},  # three digits that are no ZIP code
        {"email_consent": ["yes", "no"]},
        {"insurance": ["Medicare", "private"]},
        {"device": ["stent", "none"]},
        {"birth_country": ["US", "CA"]},
        {"parental_age_group": ["20-29", "30-39"]},
        {"vehicle_accident": ["yes", "no"]},
        {"score": ["3.1415", "12.25", "1/2"]},
        {"months_of_stay": [1, 2]},
        {"decile": ["decile 3", "decile 9"]},
        {"age": ["*", "34"]},
        {"zip": ["011", "100", "100**", "000"]},
        {"birth_year": [1937, 2001]},  # 89 at most
    ],
    ids=json.dumps,
)
def test_what_the_text_allows_is_no_violation(cells: dict[str, list[object]]) -> None:
    """Harmless columns would be blamed, and people would learn to look away."""
    assert violations(hospital(**cells)) == {}


def test_a_year_comes_of_age() -> None:
    """The year of birth that is allowed would stand still while people grow old."""
    frame = hospital(birth_year=[1937])
    assert violations(frame, year=2026) == {}
    assert violations(frame, year=2027) == {"(i)(C)": ["birth_year"]}


def test_people_are_counted_not_rows() -> None:
    """Somebody with ten stays would count ten times."""
    frame = pd.DataFrame(
        {"birth_year": [1931] * 10 + [1950] * 2, "person": [7] * 10 + [8, 9]}
    )
    (seen,) = evidence(frame, SAFE, "person", year=YEAR)
    assert seen == Evidence(clause="(i)(C)", column="birth_year", people=1)


def test_columns_that_look_like_codes_are_named_beside_the_question() -> None:
    """Whoever answers for "any other unique identifying number" would not see that one
    is there.
    """
    frame = hospital(household_id=[f"h{i}" for i in range(ROWS)])
    outcomes = judge_clauses(SAFE, evidence(frame, SAFE, year=YEAR), {}, {})
    (codes,) = (each for each in outcomes if each.clause.id == "(i)(R)")
    assert codes.state == "question"
    assert [each.column for each in codes.columns] == ["household_id"]


@pytest.mark.parametrize(
    ("k", "violated"),
    [
        (2, {"0.05", "0.09", "1/11", "0.2", "1/3"}),
        (3, {"0.05", "0.09", "1/11", "0.2"}),
        (5, {"0.05", "0.09", "1/11"}),
        (10, {"0.05", "0.09", "1/11"}),
        (11, {"0.05", "0.09"}),  # 1/11 is more than .09
        (12, {"0.05"}),
        (20, set()),
    ],
)
def test_thresholds_are_compared_exactly(k: int, violated: set[str]) -> None:
    """Eleven people would pass at .09, or fail at 1/11, by rounding."""
    criterion = Criterion.load("maximum-risk")
    outcomes = judge_clauses(criterion, (), {"k": k}, {})
    assert {
        each.clause.id for each in outcomes if each.state == "violation"
    } == violated
    assert violated == {
        each.id for each in criterion.clauses if Fraction(each.at_most) < Fraction(1, k)
    }
    assert (
        exit_code(judge_clauses(Criterion.load("maximum-risk 1/11"), (), {"k": 11}, {}))
        == 0
    )
    assert (
        exit_code(judge_clauses(Criterion.load("maximum-risk 0.09"), (), {"k": 11}, {}))
        == 1
    )


@pytest.mark.parametrize(
    ("cells", "columns"),
    [
        ([0, 11, 250], []),
        ([0, 10, 250], ["cases"]),
        ([1, 11, 12], ["cases"]),
        (["<11", "11", "250"], []),
        ([11.0, 3.0, np.nan], ["cases"]),
    ],
)
def test_cells_of_one_to_ten(cells: list[object], columns: list[str]) -> None:
    """A small count would be shown, or a zero hidden."""
    criterion = Criterion.load("cms-cell-size")
    found = violations(
        pd.DataFrame({"county": ["a", "b", "c"], "cases": cells}), criterion
    )
    assert found == ({"1": columns} if columns else {})


ANSWERS = """
rule = "hipaa-safe-harbor"
["(i)(R)"]
answer = "yes"
by = "Ada Byron, privacy officer"
on = 2026-11-01
["(ii)"]
answer = "{answer}"
by = "Ada Byron"
on = 2026-11-01
"""


@pytest.mark.parametrize(("answer", "code"), [("yes", 0), ("no", 1)])
def test_a_person_answers(answer: str, code: int) -> None:
    """A "no" would pass, or a "yes" be recorded without a name and a day."""
    answers = read_answers(ANSWERS.format(answer=answer), SAFE)
    outcomes = judge_clauses(SAFE, (), {}, answers)
    assert exit_code(outcomes) == code
    assert outcomes[-1].answer is not None
    assert (outcomes[-1].answer.person, outcomes[-1].answer.date) == (
        "Ada Byron",
        datetime.date(2026, 11, 1),
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("hipaa-safe-harbor", "opinion-05-2014"),
        ("(ii)", "(iii)"),
        ("(ii)", "(i)(A)"),  # which no person can answer away
        ('by = "Ada Byron"\n', 'by = " "\n'),
        ('by = "Ada Byron"\n', ""),
        ('"yes"', '"maybe"'),
        ('"yes"', "true"),
        ("2026-11-01", "2999-01-01"),
        ("2026-11-01", '"today"'),
        ("rule", "no toml ["),
    ],
)
def test_answers_that_are_none_are_refused(old: str, new: str) -> None:
    """A check would pass by a file that answers something else, or is nobody's."""
    text = ANSWERS.format(answer="yes").replace(old, new)
    with pytest.raises(ParameterError):
        read_answers(text, SAFE)


def test_every_criterion_says_where_it_is_from() -> None:
    """A clause would be believed without a source, a version and the day on which it
    was read.
    """
    assert set(list_criteria()) == {
        "cms-cell-size",
        "hipaa-expert-determination",
        "hipaa-safe-harbor",
        "maximum-risk",
        "opinion-05-2014",
    }
    for rule in list_criteria():
        criterion = Criterion.load(rule)
        assert all((criterion.source, criterion.version, criterion.covers))
        assert criterion.read <= datetime.date.today()
        ids = [each.id for each in criterion.clauses]
        assert len(set(ids)) == len(ids)
        words = (CRITERIA_FOLDER / f"{rule}.toml").read_text().lower()
        assert "compliant" not in words
        assert "anonymous" not in words
    with pytest.raises(ParameterError, match="nothing with this name; take one of cms"):
        Criterion.load("../../pyproject")
    with pytest.raises(ParameterError, match="nothing with this name; take one of cms"):
        Criterion.load("hipaa-safe-harbor (S)")
