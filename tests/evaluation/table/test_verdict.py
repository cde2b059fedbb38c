"""The verdict of the audit: the worst first, and the changes after which it would be
another.
"""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
import pytest

from dpcore.anonymization.hierarchies.suggest import suggest_hierarchy
from dpcore.evaluation.table.audit import AuditQuestion, AuditReport
from dpcore.evaluation.table.verdict import (
    MAX_UNIQUES_OF_ALL_COLUMNS,
    MAX_UNIQUES_OF_FEW_COLUMNS,
)
from dpcore.risk.roles import suggest_roles
from dpcore.schema import Categorical, PrivacyUnit, Schema
from dpcore.tables.rows import Microdata
from workbench.ui.verdict import judge_table

SCHEMA = Schema(
    columns=(Categorical("x", categories=("a",)),), unit=PrivacyUnit(max_rows=1)
)


def audit(frame: pd.DataFrame, **asked: object) -> AuditReport:
    """The audit as the page asks it, without a click."""
    return AuditQuestion.of(suggest_roles(frame), SCHEMA, **asked).compute(
        Microdata(frame), SCHEMA
    )


def staff(rows: int = 900) -> pd.DataFrame:
    """A list of staff as personnel departments have it."""
    rng = np.random.default_rng(1)
    days = pd.Timestamp("1985-01-01") + pd.to_timedelta(
        rng.permutation(14_600)[:rows], unit="D"
    )
    return pd.DataFrame(
        {
            "Personalnummer": [f"P{100_000 + 7 * place}" for place in range(rows)],
            "Nachname": rng.choice(
                ["Müller", "Fischer", "Weber", "Koch", "Bauer", "Wolf", "Klein"], rows
            ),
            "Geburtsjahr": rng.choice([1960, 1970, 1980, 1990], rows),
            "Geschlecht": rng.choice(["m", "w"], rows),
            "Standort": rng.choice(["Wien", "Graz"], rows),
            "Eintritt": days,
            "Gehalt": rng.integers(28_000, 98_000, rows),
            "Krankenstandstage": rng.poisson(8, rows),
            "Behinderung": rng.choice(["nein", "ja"], rows),
        },
    )


def test_names_and_unique_dates_are_no() -> None:
    """Broken: "0.6 % are unique" is said of a list that names everybody, whose dates of
    entry are unique.
    """
    found = audit(staff())
    assert found.verdict.answer == "no"
    assert found.verdict.naming_columns == ("Personalnummer", "Nachname")
    assert found.verdict.columns == ("Eintritt",)
    assert found.verdict.unique_share == 1.0
    without = audit(staff().drop(columns=["Personalnummer", "Nachname"]))
    assert (without.verdict.answer, without.verdict.naming_columns) == ("no", ())
    told = audit(
        staff().drop(columns=["Personalnummer", "Nachname"]),
        known=["Geschlecht", "Standort"],
    )
    assert told.verdict.worst_additional_column == ("Eintritt", 1.0)
    assert told.verdict.answer == "no"
    nothing = staff()[["Geschlecht", "Standort"]]
    assert audit(nothing).verdict.answer == "yes"


def test_a_running_number_names_nobody_and_notes_may() -> None:
    """Broken: the number of a row is taken for a name, or a note about a person for
    nothing.
    """
    plain = staff()[["Geschlecht", "Standort"]]
    assert audit(plain.assign(row=range(1, 901))).verdict.answer == "yes"
    notes = audit(
        plain.assign(
            remark=[f"spoke with Mr {place} about his leave" for place in range(900)]
        )
    )
    assert (notes.verdict.answer, notes.verdict.free_text_columns) == (
        "no",
        ("remark",),
    )


def naive_uniques(frame: pd.DataFrame, names: list[str]) -> float:
    """Share of rows that no other row is like."""
    return float(
        (frame.groupby(names, dropna=False)[names[0]].transform("size") == 1).mean()
    )


@pytest.mark.parametrize("seed", range(6))
def test_changes_are_enough_and_none_smaller_would_be(seed: int) -> None:
    """Broken: a change is proposed after which the answer is still no, or more than is
    needed is lost.
    """
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {
            "age": rng.integers(20, 20 + 12 * (seed + 2), 400),
            "sex": rng.choice(["F", "M"], 400),
            "zip": rng.choice(
                [f"336{number:02}" for number in range(10 + 8 * seed)], 400
            ),
            "job": rng.choice(list("abcdef"), 400),
        },
    )
    known = list(frame)
    found = audit(frame)
    trees = {
        name: suggest_hierarchy(frame[name]).read_column(frame[name]) for name in known
    }

    def bad(table: pd.DataFrame) -> bool:
        few = any(
            naive_uniques(table, [*names]) > MAX_UNIQUES_OF_FEW_COLUMNS
            for names in combinations(known, 3)
        )
        return few or naive_uniques(table, known) > MAX_UNIQUES_OF_ALL_COLUMNS

    def changed(labels: dict[str, int]) -> pd.DataFrame:
        table = frame.copy()
        for name, number in labels.items():
            tree, leaves = trees[name]
            level = next(
                at for at in range(tree.height + 1) if len(tree.labels(at)) == number
            )
            table[name] = tree.codes(level)[leaves]
        return table

    assert (found.verdict.answer == "no") == bad(frame)
    for way in found.verdict.improvements:
        labels = {step.column: step.values_after for step in way.steps}
        table = changed(labels)
        assert not bad(table)
        assert way.unique_share == pytest.approx(naive_uniques(table, known))
        for step in way.steps:
            tree = trees[step.column][0]
            finer = [len(tree.labels(at)) for at in range(1, tree.height + 1)]
            finer = [number for number in finer if number > step.values_after]
            assert not finer or bad(changed(labels | {step.column: min(finer)}))
    singles = [name for name in known if not bad(frame.assign(**{name: 0}))]
    assert seed == 0 or found.verdict.answer == "no"
    assert bool(found.verdict.improvements) >= bool(singles and bad(frame))


def cells(rng: np.random.Generator, rows: int, **columns: int) -> pd.DataFrame:
    """Answers with some common and some rare values, as surveys have them; kinds of
    each column.
    """
    law = {name: 1 / np.arange(1, kinds + 1) ** 0.7 for name, kinds in columns.items()}
    return pd.DataFrame(
        {
            name: np.array([f"{place:02}" for place in range(kinds)])[
                rng.choice(kinds, rows, p=law[name] / law[name].sum())
            ]
            for name, kinds in columns.items()
        },
    )


def public(name: str) -> pd.DataFrame:
    """A table in the shape of a public-use file."""
    rng = np.random.default_rng(sum(map(ord, name)))
    shapes = {
        "census sample": {
            "age_group": 12,
            "sex": 2,
            "region": 9,
            "education": 5,
            "marital": 4,
            "citizenship": 2,
        },
        "labour force": {
            "age_group": 8,
            "sex": 2,
            "state": 16,
            "occupation": 9,
            "workclass": 4,
            "income": 10,
        },
        "health interview": {
            "age_group": 7,
            "sex": 2,
            "education": 3,
            "bmi_class": 4,
            "smoker": 3,
            "disability": 2,
        },
        "time use": {
            "sex": 2,
            "age_group": 6,
            "household": 4,
            "weekday": 7,
            "activity": 10,
        },
        "victims of crime": {
            "sex": 2,
            "age_group": 6,
            "town": 3,
            "offence": 5,
            "reported": 2,
        },
        "road accidents": {
            "iage": 9,
            "isex": 2,
            "weather": 5,
            "light": 4,
            "road": 6,
            "injury": 4,
        },
        "school panel": {"sex": 2, "school": 4, "language": 5, "score": 6},
        "income and living": {
            "household": 5,
            "tenure": 3,
            "region": 5,
            "income": 10,
            "arrears": 2,
        },
        "microcensus in single years": {
            "age": 90,
            "sex": 2,
            "state": 16,
            "occupation": 40,
            "nationality": 30,
        },
        "travel diary": {"sex": 2, "age": 80, "car": 3, "commute": 5},
    }
    return cells(rng, 12_000, **shapes[name]).assign(record=range(1, 12_001))


REASONS = {
    "microcensus in single years": "single years of age, 40 occupations and 30 nationalities single out many",
}
"""Why the answer to a public table is no."""


@pytest.mark.parametrize(
    "name",
    [
        "census sample",
        "labour force",
        "health interview",
        "time use",
        "victims of crime",
        "road accidents",
        "school panel",
        "income and living",
        "microcensus in single years",
        "travel diary",
    ],
)
def test_public_tables_are_not_no_without_a_reason(name: str) -> None:
    """Broken: the light is red for every table, so that nobody looks at it any more."""
    found = audit(public(name))
    assert (found.verdict.answer == "no") == (name in REASONS)


def test_texts_of_which_nothing_is_known_are_named() -> None:
    """First names under an unknown header would pass with a plain yes."""
    frame = pd.DataFrame(
        {
            "region": ["north", "south"] * 100,
            "kolumna": ["Zofia", "Jan", "Ewa", "Piotr"] * 50,
            "answer": ["yes", "no"] * 100,
        }
    )
    report = audit(frame, known=["region"])
    assert report.undecided_columns == ("kolumna",)
    assert audit(frame, known=["region", "kolumna"]).undecided_columns == ()
    reasons = judge_table(report, ["region"]).reasons
    assert any(
        "whether the texts in kolumna name people" in reason for reason in reasons
    )
