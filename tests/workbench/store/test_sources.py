"""The list of connected sources: what it may say, who may open what, and where passwords are."""

from __future__ import annotations

from pathlib import Path

import pytest

from dpcore.errors import ParameterError
from workbench.store.roles import ALONE, Person
from workbench.store.sources import sources_in, sources_of

POSTGRES = """
[[source]]
name = "Clinic"
kind = "postgres"
location = "host=db dbname=clinic user=reader"
query = "SELECT * FROM visits"
password = "CLINIC_PASSWORD"
people = ["ada@example.org", "*@office.example"]
"""
FILES = '[[source]]\nname = "Visits"\nkind = "parquet"\nlocation = "/data/visits"\n'


def listed(folder: Path, text: str, **environment: str):
    (folder / "sources.toml").write_text(text)
    return sources_in(folder / "sources.toml", environment)


def test_a_list_is_read(tmp_path: Path) -> None:
    """Nobody could connect anything; and without a list there is nothing to connect."""
    clinic, visits = listed(tmp_path, POSTGRES + FILES, CLINIC_PASSWORD="it's")
    assert clinic.source.location == "host=db dbname=clinic user=reader password='it\\'s'"
    assert "it" not in repr(clinic).replace("visits", "")
    assert (visits.source.name, visits.source.kind, visits.known()) == ("Visits", "parquet", None)
    assert sources_in(None, {}) == ()


def test_who_may_open_a_source(tmp_path: Path) -> None:
    """A steward of one office would open the people of another."""
    both = listed(tmp_path, POSTGRES + FILES, CLINIC_PASSWORD="x")

    def names(address: str, role="steward"):
        return [each.source.name for each in sources_of(Person(address=address, role=role), both)]

    assert names("ada@example.org") == names("bob@office.example") == ["Clinic", "Visits"]
    assert names("eve@example.org") == ["Visits"]
    assert names("ada@example.org", "analyst") == []
    assert sources_of(None, both) == ()
    assert len(sources_of(ALONE, both)) == 2


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
        POSTGRES.replace("host=db dbname=clinic user=reader", "postgresql://reader:hunter2@db/clinic"),
        POSTGRES.replace('query = "SELECT * FROM visits"\n', ""),
    ],
)
def test_a_wrong_list_is_refused(tmp_path: Path, text: str) -> None:
    """A slip would connect another table, or file two under one name; passwords do not belong there."""
    with pytest.raises(ParameterError) as refused:
        listed(tmp_path, text)
    assert "hunter2" not in str(refused.value)
