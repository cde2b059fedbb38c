"""Write what today's program stores into `stored/`: `python -m
tests.golden.write_stored`.

Run it before a change that must keep stored files, never after one; `test_stored` opens
each file again.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import shutil
import sqlite3
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import dpcore as dp
import dpcore.anonymization as da
import dpcore.local as dl
import dpcore.synthesis as ds
from dpcore.errors import BudgetExceeded
from workbench.store.database.store import Store
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.links.shares import LinkDraft, Shares
from workbench.store.links.surveys import Surveys
from workbench.store.people.owners import Owners
from workbench.store.people.personal import PersonalLedger
from workbench.store.people.roles import Person
from workbench.store.settings import Settings

FOLDER = Path(__file__).parent / "stored"
KEY = b"k" * 32
STEWARD = Person(address="ada@example.org", role="steward")
UNIT = dp.PrivacyUnit(max_rows=2, id_column="person")
SCHEMA = dp.Schema(
    columns=(
        dp.Integer("age", low=0, high=99, bin_width=10),
        dp.Categorical("sex", categories=("F", "M")),
        dp.Categorical("town", categories=("A", "B", "C"), other=True, missing=True),
        dp.Boolean("smoker"),
        dp.Real("weight", low=40.0, high=140.0, bin_width=10.0),
        dp.Date("seen", low="2024-01-01", high="2025-12-31", step="month"),
    ),
    unit=UNIT,
)
QUASI = {"age": "quasi-identifier", "town": "quasi-identifier", "sex": "sensitive"}


def file_of(name: str, kind: str) -> Path:
    """Where a release or a plan of this name is stored."""
    return FOLDER / f"{name.replace(' ', '-')}.{kind}.json"


def table() -> pd.DataFrame:
    """400 rows of 250 people."""
    rng = np.random.default_rng(1)
    age = rng.integers(0, 100, 400)
    return pd.DataFrame(
        {
            "person": [f"p{i}" for i in rng.integers(0, 250, 400)],
            "age": age,
            "sex": rng.choice(["F", "M"], 400),
            "town": rng.choice(["A", "B", "C", "Z", None], 400),
            "smoker": age + rng.integers(-20, 20, 400) > 50,
            "weight": np.round(rng.normal(75, 12, 400), 1),
            "seen": pd.Timestamp("2024-01-01")
            + pd.to_timedelta(rng.integers(0, 700, 400), unit="D"),
        },
    )


def recipes() -> dict[str, tuple[Any, Any]]:
    """One of each kind, with its loss."""
    pure = dp.PureDP(epsilon=2)
    zcdp = dp.ZCDP(rho="0.5")
    return {
        "histogram": (dp.Histogram("age"), pure),
        "marginals": (
            dp.Marginals(cliques=[("age", "sex"), ("town",), ()], weights=(1, 2, 3)),
            zcdp,
        ),
        "independent": (dp.Independent(columns=("age", "sex")), pure),
        "joint": (dp.Joint(columns=("sex", "smoker")), pure),
        "tree": (ds.Tree(ordered=frozenset({"age"})), zcdp),
        "adaptive": (dp.Adaptive(), zcdp),
        "some columns": (
            dp.SomeColumns(columns=("age", "sex"), recipe=ds.Tree()),
            pure,
        ),
        "categories": (ds.Categories("town", delta="1e-7"), pure),
        "gaussian": (ds.Gaussian(label="smoker", features=("age", "weight")), zcdp),
        "statistics": (ds.Statistics.for_column(SCHEMA, "weight"), pure),
    }


def plans() -> dict[str, da.Plan]:
    """One of each method, with every privacy model and metric somewhere."""
    hierarchies = {
        "age": da.build_intervals(range(100), (10, 20, 40)),
        "town": da.build_flat(("A", "B", "C", "Z")),
    }
    first = da.Plan(
        roles=QUASI, hierarchies=hierarchies, models=(da.KAnonymity(k=3),), limit=0.1
    )

    def plan(*models: Any, **changes: Any) -> da.Plan:
        return dataclasses.replace(first, models=models or first.models, **changes)

    return {
        "full domain": plan(
            da.KAnonymity(k=3),
            da.DistinctL(column="sex", l=2),
            metric=da.NonUniformEntropy(),
        ),
        "local recoding": plan(method="local recoding", suppressed="dropped"),
        "mondrian": plan(da.EntropyL(column="sex", l=1.2), method="mondrian"),
        "microaggregation": plan(
            method="microaggregation",
            limit=0.0,
            roles={**QUASI, "town": "insensitive"},
        ),
        "closeness": plan(
            da.TCloseness(column="sex", t=0.4), metric=da.AverageClassSize()
        ),
        "recursive": plan(
            da.RecursiveCL(column="sex", c=3.0, l=2), metric=da.Discernibility()
        ),
        "subset": plan(
            da.KMap(k=3),
            da.DeltaPresence(lowest=0.0, highest=0.9),
            roles={**QUASI, "kept": "insensitive"},
            subset="kept",
        ),
    }


def frame_of(plan: da.Plan) -> pd.DataFrame:
    """The rows that a plan of `plans` takes."""
    frame = table()[list(QUASI)].fillna({"town": "Z"})
    return frame.assign(kept=np.arange(len(frame)) % 3 > 0) if plan.subset else frame


@contextlib.contextmanager
def opened(folder: Path) -> Any:
    """The workbench's database in a folder, under the key of the tests."""
    store = Store(Settings(data_dir=folder, key=KEY))
    yield store
    store.close()


def ledger_of(store: Store) -> PersonalLedger:
    return PersonalLedger(
        ledger=SqlLedger(store),
        owners=Owners(store),
        person=STEWARD,
        current_person=lambda: STEWARD,
        opener=STEWARD.address,
    )


def curator_of(ledger: PersonalLedger) -> dp.Curator:
    """The table of this module, open over a ledger."""
    budget = dp.ApproxDP(epsilon=60, delta="1e-9", threshold_delta="1e-6")
    return dp.Curator.open(table(), SCHEMA, budget=budget, ledger=ledger)


def drawing(releases: Mapping[str, dp.Release]) -> dict[str, dp.Release]:
    """The releases whose model draws rows."""
    return {name: each for name, each in releases.items() if each.model_columns}


def digest(frame: pd.DataFrame) -> str:
    """Of a table as text."""
    return hashlib.sha256(frame.to_csv(index=False).encode()).hexdigest()


def _write_workbench(folder: Path) -> dict[str, Any]:
    with opened(folder) as store:
        ledger = ledger_of(store)
        curator = curator_of(ledger)
        dataset = curator.account.dataset
        releases = {
            name: curator.run(recipe, loss, request_id=name)
            for name, (recipe, loss) in recipes().items()
        }
        curator.run(
            dp.Histogram("age"),
            dp.PureDP(epsilon=1),
            part={"sex": "F"},
            request_id="part",
        )
        with contextlib.suppress(BudgetExceeded):
            curator.run(
                dp.Histogram("age"), dp.PureDP(epsilon=1000), request_id="too much"
            )
        for name, plan in plans().items():
            other = dp.Curator.open(
                frame_of(plan),
                dp.Schema(
                    columns=(dp.Categorical("sex", categories=("F", "M")),),
                    unit=dp.PrivacyUnit(max_rows=1),
                ),
                budget=dp.PureDP(epsilon=1),
                ledger=ledger,
            )
            anonymized = other.anonymize(plan)
            if name == "full domain":
                shares = Shares(store)
                link = LinkDraft(title="Anonymized", expires=_soon())
                syntactic = shares.make_syntactic(
                    anonymized,
                    ["No epsilon."],
                    link,
                    dataset=other.account.dataset,
                )
        token = Shares(store).make(
            releases["marginals"],
            LinkDraft(
                title="Ages", expires=_soon(), contents=frozenset(["counts", "rows"])
            ),
            dataset=dataset,
        )
        question = dl.Question(
            text="Do you?",
            categories=["yes", "no"],
            protocol="randomized response",
            epsilon="0.7",
        )
        key, _ = Surveys(store).make(question, people=3, days=3)
        for name, release in releases.items():
            file_of(name, "release").write_text(
                release.to_json() + "\n", encoding="utf-8"
            )
        return {
            "dataset": dataset,
            "lines": [dataclasses.asdict(each) for each in ledger.lines(dataset)],
            "spent": str(curator.balance().spent),
            "tokens": [token, syntactic],
            "survey": key,
            "drawn": {
                name: digest(each.sample(50, seed=3))
                for name, each in drawing(releases).items()
            },
            "anonymized": {
                name: digest(da.apply(frame_of(plan), plan))
                for name, plan in plans().items()
            },
        }


def _soon() -> datetime:
    return datetime.now(UTC) + timedelta(days=30)


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for old in FOLDER.iterdir():
        old.unlink()
    folder = Path(tempfile.mkdtemp())
    facts = _write_workbench(folder)
    with sqlite3.connect(folder / "workbench.sqlite") as file:
        (FOLDER / "workbench.sql").write_text(
            "\n".join(file.iterdump()) + "\n", encoding="utf-8"
        )
    shutil.rmtree(folder)
    (FOLDER / "schema.json").write_text(SCHEMA.to_json() + "\n", encoding="utf-8")
    for name, plan in plans().items():
        file_of(name, "plan").write_text(plan.to_json() + "\n", encoding="utf-8")
    (FOLDER / "facts.json").write_text(
        json.dumps(facts, indent=1) + "\n", encoding="utf-8"
    )


if __name__ == "__main__":
    main()
