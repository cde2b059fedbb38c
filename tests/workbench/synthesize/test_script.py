"""Programs that make a release again: they run, and write a table."""

from __future__ import annotations

import dataclasses
import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpcore as dp
from dpcore.accounting.loss import AnyLoss
from dpcore.io import ReadOptions, read_table
from dpcore.synthesis import load_recipe
from dpcore.synthesis.base import Recipe
from tests.contracts.test_recipes import DELTA, LOSSES, RECIPES, SCHEMA, frame
from workbench.store.ledger.datasets import (
    Declaration,
    load_data_set,
    store_declaration,
)
from workbench.store.sources.job import Job
from workbench.synthesize.script import (
    file_reading_code,
    job_of,
    rows_to_draw,
    write_job_notebook,
    write_script,
)

BUDGET = dp.ApproxDP(epsilon=50, delta="1e-9", threshold_delta="1e-6")
OFFERED = [name for name in RECIPES if name != "Closeness"]
"""Closeness compares with drawn rows that a script does not have: `job_of` is None."""
FIGURES = ("Statistics", "Categories")
"""Recipes without rows to draw."""
OF_SEX = dp.Schema(
    columns=(dp.Categorical("sex", categories=("F", "M")),),
    unit=dp.PrivacyUnit(max_rows=1),
)
ROWS = "sex,note,pay\n" + "".join(f"{'FM'[row % 2]},Smith,{row}\n" for row in range(40))
HERS = {
    "nobody": b"",
    "a name of a file of Windows": "F,Andrée,3\n".encode("cp1252"),
    "pay with a comma": b'F,Smith,"1.234,5"\n',
}


def job_for(recipe: Recipe, loss: AnyLoss, **fields: Any) -> Job:
    """A job on the table of the contract of recipes."""
    return Job(
        table="table.csv",
        schema=SCHEMA,
        budget=BUDGET,
        recipe=recipe,
        loss=loss,
        **fields,
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with the table, where a program is run."""
    frame(400).to_csv(tmp_path / "table.csv", index=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize("loss", LOSSES, ids=str)
@pytest.mark.parametrize("name", OFFERED)
def test_a_script_of_every_recipe_writes_a_table(
    name: str, loss: AnyLoss, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Whoever ran a downloaded script got arrays on the screen, and no table."""
    recipe = RECIPES[name]
    job = job_for(recipe, loss)
    names: dict[str, Any] = {}
    exec(write_script(job, file_reading_code(job.table), rows=100), names)
    written = {path.name for path in folder.iterdir()} - {"table.csv", "release.json"}
    assert len(written) == 1
    table = pd.read_csv(folder / written.pop())
    assert name in FIGURES or len(table) == 100
    assert "Quote(" in capsys.readouterr().out
    release = names["release"]
    assert (
        release.guarantee.loss
        == dp.Release.from_json((folder / "release.json").read_text()).guarantee.loss
    )
    assert load_recipe(release.recipe) == recipe
    assert names["schema"] == SCHEMA


def test_a_notebook_has_the_same_steps(folder: Path) -> None:
    """A notebook would make another release than the script."""
    job = job_for(RECIPES["Histogram"], LOSSES[0], part=("sex", "F"))
    reading = file_reading_code(job.table, "separator=','")
    cells = json.loads(write_job_notebook(job, reading, 10))["cells"]
    code = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    text = write_script(job, reading, 10)
    assert "\n\n".join(code) in text
    names: dict[str, Any] = {}
    exec("\n".join(code), names)
    assert names["release"].part == ("sex", "F")
    assert len(pd.read_csv(folder / "synthetic.csv")) == 10
    assert all(step.startswith("# ") for step in code[1:]), "a step without a comment"
    assert 'part={"sex": "F"}' in text
    assert 'options = dp.ReadOptions(separator=",")' in text.replace("'", '"')


def test_the_rule_that_was_chosen_is_in_the_script() -> None:
    """A script showed a budget of another kind than its loss, without a word."""
    pure, zero = (
        write_script(job_for(RECIPES["Histogram"], loss), "") for loss in LOSSES
    )
    assert "The rule is basic composition" in pure
    assert 'loss = dp.PureDP(epsilon="1")' in pure
    assert "The rule is zCDP" in zero
    assert 'loss = dp.ZCDP(rho="0.1")' in zero
    for text in (pure, zero):
        assert (
            'dp.ApproxDP(epsilon="50", delta="1e-09", threshold_delta="1e-06")' in text
        )
    third = job_for(RECIPES["Histogram"], dp.PureDP(epsilon="1/3"))
    assert 'loss = dp.PureDP(epsilon="1/3")' in write_script(third, "")


def test_what_noise_alone_would_decide_is_a_number() -> None:
    """The script of a small table ended with an error after it had paid."""
    people = frame(3)
    curator = dp.Curator.open(
        people, SCHEMA, budget=dp.PureDP(epsilon=3), ledger=dp.MemoryLedger()
    )
    # one draw in twenty has a number of rows beyond its interval
    draws = (
        curator.run(dp.Joint(("age", "town")), dp.PureDP(epsilon=f"0.001{digits}"))
        # the same job at the same loss is the same release again
        for digits in range(10, 30)
    )
    drowned = next(draw for draw in draws if not draw.has_reliable_row_count)
    rows = rows_to_draw(drowned)
    assert rows is not None
    assert rows >= 1
    job = job_for(RECIPES["Histogram"], LOSSES[0])
    assert f"release.sample(rows={rows})" in write_script(job, "", rows)
    assert "release.sample()" in write_script(job, "", None)


def test_a_name_is_never_code() -> None:
    """The suffix of a file would run on the computer of whoever runs the script."""
    name = 'table.c"+print("run")+"'
    names: dict[str, Any] = {"Path": Path}
    code = file_reading_code(name).splitlines()[0]
    exec(code, names)
    assert names["name"] == name


def test_a_recipe_that_no_call_makes_is_read_back() -> None:
    """The script of a recipe that somebody added could not be written."""
    recipe = dp.Histogram("age")
    object.__setattr__(recipe, "column", 1j)  # a field of another type
    text = write_script(job_for(recipe, LOSSES[0]), "")
    assert "from dpcore.synthesis import load_recipe" in text
    assert "recipe = load_recipe({'kind': 'histogram', 'column': 1j})" in text


def test_delta_of_categories_is_kept() -> None:
    """A threshold would be set with another delta than the one that was chosen."""
    text = write_script(job_for(RECIPES["Categories"], LOSSES[1]), "")
    assert Fraction(DELTA) == Fraction("1e-07")
    assert 'Categories("town", delta="1e-07")' in text


def programs(hers: bytes, options: ReadOptions | None = None) -> str:
    """The script and the notebook of a release of a file."""
    read = read_table(
        ROWS.encode() + hers, "people.csv", options=options or ReadOptions()
    )
    declaration = Declaration(
        name="people.csv",
        schema=OF_SEX,
        reading=read.options,
    )
    declared = Declaration.from_dict(declaration.to_dict())
    assert dataclasses.replace(declared, schema=OF_SEX) == declaration
    ledger = dp.MemoryLedger()
    curator = dp.Curator.open(
        read.frame, OF_SEX, budget=dp.PureDP(epsilon=3), ledger=ledger
    )
    store_declaration(declaration, curator.account.dataset, ledger)
    release = curator.run(dp.Histogram("sex"), dp.PureDP(epsilon=1))
    data_set = load_data_set(curator.account.dataset, ledger)
    assert data_set is not None
    found = job_of(data_set, release)
    assert found is not None
    return write_script(*found) + write_job_notebook(*found)


def test_programs_hold_no_option_that_was_seen_from_the_file() -> None:
    """One person's letter, or sign, would stand in the script as an encoding."""
    texts = {name: programs(hers) for name, hers in HERS.items()}
    assert len(set(texts.values())) == 1
    assert "ReadOptions" not in texts["nobody"]


def test_a_job_does_not_name_the_file() -> None:
    """The name of a file may be a fact about its rows."""
    ledger = dp.MemoryLedger()
    frame = pd.DataFrame({"sex": ["F", "M"] * 50})
    curator = dp.Curator.open(frame, OF_SEX, budget=dp.PureDP(epsilon=3), ledger=ledger)
    declaration = Declaration(name="hiv-clinic-4817.csv", schema=OF_SEX)
    store_declaration(declaration, curator.account.dataset, ledger)
    release = curator.run(dp.Histogram("sex"), dp.PureDP(epsilon=1))
    data_set = load_data_set(curator.account.dataset, ledger)
    assert data_set is not None
    found = job_of(data_set, release)
    assert found is not None
    assert found[0].table == "table.csv"
    assert "hiv-clinic" not in found[0].to_json()


def test_an_option_that_a_person_set_is_in_the_program() -> None:
    """It would read the file in another way than the release was made from."""
    text = programs(b"", ReadOptions(encoding="utf-8", header=True))
    assert "ReadOptions(encoding='utf-8', header=True)" in text


def test_a_program_reads_a_file_by_the_rules_of_its_account() -> None:
    """The table of an earlier version would be read in another way."""
    assert "ReadOptions(rules=1)" in programs(b"", ReadOptions(rules=1))
