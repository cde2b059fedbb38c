"""The page for whoever runs a server, where data lie beside it: places walked as the
page says.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
import uuid
from pathlib import Path

import numpy as np
import pandas as pd
import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict

from tests.needs import need_driver, need_postgres, need_spark

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "hosting.md").read_text(
    encoding="utf-8"
)
TABLES = """
CREATE TABLE visits AS SELECT i % 100 AS person, i % 10 AS age,
    CASE WHEN i % 100 < 40 THEN 1 ELSE 2 END AS zip, 2020 + i / 300 AS year,
    CASE WHEN i < 300 THEN 'in' ELSE 'out' END AS kind FROM generate_series(0, 999) i;
CREATE TABLE people AS SELECT i AS person, 'f' AS sex FROM generate_series(0, 99) AS i;
CREATE TABLE zips AS SELECT * FROM (VALUES (1, 'north'), (2, 'south')) AS t(code, region);
"""
PROGRAM = """
import json, os
import dpcore as dp
from workbench.store.settings import settings_from
from workbench.store.sources.sources import read_sources
(listed,) = read_sources(settings_from(os.environ).sources, os.environ)
columns = (dp.Integer("age", low=0, high=9), dp.Categorical("region", categories=("north", "south")))
schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=2, id_column="person"))
loss = dp.PureDP(epsilon="1000")
curator = dp.Curator.open(listed.source, schema, budget=loss, ledger=dp.MemoryLedger())
release = curator.run(dp.Marginals(cliques=[("region",)]), loss)
print(json.dumps([round(float(count)) for count in release.marginals[("region",)].values]))
"""


def walked(folder: Path, sources: str, **environment: str) -> list[int]:
    """The rows of two regions that count, two of each person, by a process with the
    settings of the page.
    """
    (folder / "sources.toml").write_text(sources)
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        env=os.environ
        | {"WORKBENCH_SOURCES": str(folder / "sources.toml")}
        | environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    counts: list[int] = json.loads(ended.stdout.splitlines()[-1])
    return counts


def visits() -> pd.DataFrame:
    """Three rows of each of 100 people, of whom 40 live in the north."""
    person = np.repeat(np.arange(100), 3)
    return pd.DataFrame(
        {
            "person": person,
            "age": person % 10,
            "region": np.where(person < 40, "north", "south"),
        },
    )


@pytest.mark.proof
def test_an_address_of_a_store_is_read_through_spark(tmp_path: Path) -> None:
    """What the page says of Spark's settings and of stores would be found wrong by
    whoever has neither here.

    The store is a folder by an address of Hadoop's file systems, with settings as s3a
    has its own.
    """
    need_spark()
    place = tmp_path / "store"
    place.mkdir()
    for number, half in enumerate((visits()[:150], visits()[150:])):
        half.to_parquet(place / f"{number}.parquet")
    assert (
        "`SPARK_CONF_DIR` with its `spark-defaults.conf`, where `spark.master` and "
        "the memory of"
    ) in PAGE
    assert "address as `location`" in PAGE
    (tmp_path / "spark-defaults.conf").write_text(
        "spark.master local[2]\nspark.driver.memory 1g\nspark.ui.enabled false\n"
        f"spark.hadoop.fs.viewfs.mounttable.clinic.link./visits {place.as_uri()}\n",
    )
    source = (
        '[[source]]\nname = "Visits"\nkind = "spark"\nlocation = '
        '"viewfs://clinic/visits"\n'
    )
    assert walked(
        tmp_path, source, SPARK_CONF_DIR=str(tmp_path), SPARK_LOCAL_IP="127.0.0.1"
    ) == [80, 120]


def test_the_source_of_the_page_is_read_by_a_role_that_may_only_read(
    tmp_path: Path,
) -> None:
    """The first source that an operator writes is this one: tables, joins, conditions,
    password and role.
    """
    need_driver()
    need_postgres()
    described = textwrap.dedent(PAGE[PAGE.index("    [[source]]") :].split("\n\n")[0])
    database = f"clinic_{uuid.uuid4().hex}"
    here = conninfo_to_dict(os.environ["DATABASE_URL"])
    with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as server:
        server.execute(f"CREATE DATABASE {database}")
        server.execute(f"CREATE ROLE {database} LOGIN PASSWORD 'only-for-tests'")
        try:
            with psycopg.connect(os.environ["DATABASE_URL"], dbname=database) as clinic:
                clinic.execute(TABLES)
                clinic.execute(
                    f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {database}"
                )
            location = (
                f"host={here['host']} port={here.get('port', 5432)} "
                f"dbname={database} user={database}"
            )
            source = described.replace("host=db dbname=clinic user=reader", location)
            assert source != described
            assert walked(tmp_path, source, CLINIC_PASSWORD="only-for-tests") == [
                80,
                120,
            ]
        finally:
            server.execute(f"DROP DATABASE {database} WITH (FORCE)")
            server.execute(f"DROP ROLE {database}")
