"""Scripts that leave with a release."""

from __future__ import annotations

import dataclasses

import dpcore as dp
from dpcore.io import read_table
from workbench.store.ledger.datasets import Declaration, data_set_of, store_declaration
from workbench.synthesize.script import job_of, notebook, script

SCHEMA = dp.Schema(
    columns=(dp.Categorical("sex", categories=("F", "M")),),
    unit=dp.PrivacyUnit(max_rows=1),
)
ROWS = "sex,note,pay\n" + "".join(f"{'FM'[row % 2]},Smith,{row}\n" for row in range(40))
HERS = {
    "nobody": b"",
    "a name of a file of Windows": "F,Andrée,3\n".encode("cp1252"),
    "pay with a comma": b'F,Smith,"1.234,5"\n',
}


def programs(hers: bytes, told_options: frozenset[str] = frozenset()) -> str:
    """The script and the notebook of a release of a file."""
    read = read_table(ROWS.encode() + hers, "people.csv")
    declaration = Declaration(
        name="people.csv",
        schema=SCHEMA,
        reading=read.options,
        told_options=told_options,
    )
    declared = Declaration.from_dict(declaration.to_dict())
    assert dataclasses.replace(declared, schema=SCHEMA) == declaration
    ledger = dp.MemoryLedger()
    curator = dp.Curator.open(
        read.frame, SCHEMA, budget=dp.PureDP(epsilon=3), ledger=ledger
    )
    store_declaration(declaration, curator.account.dataset, ledger)
    release = curator.run(dp.Histogram("sex"), dp.PureDP(epsilon=1))
    data_set = data_set_of(curator.account.dataset, ledger)
    assert data_set is not None
    found = job_of(data_set, release)
    assert found is not None
    return script(*found) + notebook(*found)


def test_programs_hold_no_option_that_was_seen_from_the_file() -> None:
    """One person's letter, or sign, would stand in the script as an encoding."""
    texts = {name: programs(hers) for name, hers in HERS.items()}
    assert len(set(texts.values())) == 1
    assert "ReadOptions()" in texts["nobody"]


def test_an_option_that_a_person_set_is_in_the_program() -> None:
    """It would read the file in another way than the release was made from."""
    text = programs(b"", frozenset({"encoding", "header"}))
    assert "ReadOptions(encoding='utf-8', header=True)" in text
