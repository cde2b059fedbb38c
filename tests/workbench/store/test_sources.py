"""The list of connected sources: what it may say, who may open what, and where
passwords are.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest

from dpcore.errors import ParameterError
from dpcore.schema.source import Condition, Join
from workbench.store.people.roles import LOCAL_PERSON, Person
from workbench.store.sources.sources import read_sources, sources_of

POSTGRES = """
[[source]]
name = "Clinic"
kind = "postgres"
location = "host=db dbname=clinic user=reader"
table = "visits"
columns = ["person", "age"]
where = [["year", ">=", 2020], ["day", "<", 2024-05-01], ["kind", "=", "in"]]
joins = [{table = "zips", on = "zip", key = "code", columns = ["region"], public = true}]
password = "CLINIC_PASSWORD"
people = ["ada@example.org", "*@office.example"]
"""
FILES = '[[source]]\nname = "Visits"\nkind = "parquet"\nlocation = "/data/visits"\n'


def listed(folder: Path, text: str, **environment: str):
    (folder / "sources.toml").write_text(text)
    return read_sources(folder / "sources.toml", environment)


def test_a_list_is_read(tmp_path: Path) -> None:
    """Nobody could connect anything; and without a list there is nothing to connect."""
    clinic, visits = listed(tmp_path, POSTGRES + FILES, CLINIC_PASSWORD="it's")
    assert (
        clinic.source.location == "host=db dbname=clinic user=reader password='it\\'s'"
    )
    assert "it's" not in repr(clinic).replace("\\", "")
    assert "host=db" not in repr(clinic)
    assert clinic.source.table == "visits"
    assert clinic.source.columns == ("person", "age")
    assert clinic.source.where == (
        Condition(column="year", comparison=">=", value=2020),
        Condition(column="day", comparison="<", value=date(2024, 5, 1)),
        Condition(column="kind", comparison="=", value="in"),
    )
    assert clinic.source.joins == (
        Join(table="zips", on="zip", key="code", columns=("region",), public=True),
    )
    assert (visits.source.name, visits.source.kind, visits.read_schema()) == (
        "Visits",
        "parquet",
        None,
    )
    assert read_sources(None, {}) == ()


def test_somebodys_word_for_a_query(tmp_path: Path) -> None:
    """Free SQL would be read on nobody's word, or the name would not reach the
    guarantees.
    """
    text = (
        'query = "SELECT * FROM source"\nrows = "one person each, declared by Ada '
        'Lovelace"\n'
    )
    (visits,) = listed(tmp_path, FILES + text)
    assert visits.source.declared_by == "Ada Lovelace"


def test_who_may_open_a_source(tmp_path: Path) -> None:
    """A steward of one office would open the people of another."""
    both = listed(tmp_path, POSTGRES + FILES, CLINIC_PASSWORD="x")

    def names(address: str, role="steward"):
        return [
            each.source.name
            for each in sources_of(Person(address=address, role=role), both)
        ]

    assert (
        names("ada@example.org") == names("bob@office.example") == ["Clinic", "Visits"]
    )
    assert names("eve@example.org") == ["Visits"]
    assert names("ada@example.org", "analyst") == []
    assert sources_of(None, both) == ()
    assert len(sources_of(LOCAL_PERSON, both)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "not toml [",
        FILES + FILES,
        FILES.replace('"Visits"', '""'),
        FILES.replace('"Visits"', "7"),
        FILES.replace("parquet", "oracle"),
        FILES.replace("location", "place"),
        FILES + "people = [1]\n",
        POSTGRES,
        POSTGRES.replace("user=reader", "user=reader password=hunter2"),
        POSTGRES.replace(
            "host=db dbname=clinic user=reader", "postgresql://reader:hunter2@db/clinic"
        ),
        POSTGRES.replace('table = "visits"\n', ""),
        FILES + 'query = "SELECT * FROM source"\n',
        FILES + 'query = "SELECT * FROM source"\nrows = "one person each"\n',
        FILES
        + 'query = "SELECT * FROM source"\nrows = "one person each, declared by "\n',
        FILES + 'columns = "age"\n',
        FILES + 'where = [["age", ">="]]\n',
        FILES + 'where = ["age >= 7"]\n',
        FILES + 'where = [["age", ">= 7 OR", 7]]\n',
        FILES + 'joins = [{table = "zips"}]\n',
        FILES + "joins = [7]\n",
    ],
)
def test_a_wrong_list_is_refused(tmp_path: Path, text: str) -> None:
    """A slip would connect another table, or file two under one name; passwords do not
    belong there.
    """
    with pytest.raises(ParameterError) as refused:
        listed(tmp_path, text)
    assert "hunter2" not in str(refused.value)
