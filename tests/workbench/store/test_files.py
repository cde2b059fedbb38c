"""Files that are opened where they lie: which are listed, and on which servers."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import duckdb
import pandas as pd
import pytest

import dpcore as dp
from dpcore.errors import DpcoreError
from workbench.store.settings import Settings
from workbench.store.sources import files


def test_only_own_files_that_can_be_tables_are_listed(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A link, a device, a hidden file or somebody else's would be read as if the folder
    held it.
    """
    folder = tmp_path / "folder"
    outside = tmp_path / "outside.csv"
    outside.write_text("age\n1\n")
    (folder / "2024").mkdir(parents=True)
    (folder / ".hidden").mkdir()
    for place in (
        "a.csv",
        "2024/b.parquet",
        ".c.csv",
        ".hidden/d.csv",
        "e.xlsx",
        "tab\t.csv",
    ):
        (folder / place).write_text("age\n1\n")
    (folder / "link.csv").symlink_to(outside)
    (folder / "up").symlink_to(tmp_path)
    os.mkfifo(folder / "pipe.csv")
    listed = [each.source for each in files.files_under(folder)]
    assert [(each.name, each.kind) for each in listed] == [
        ("a.csv", "csv"),
        ("2024/b.parquet", "parquet"),
    ]
    assert [Path(each.location) for each in listed] == [
        folder / "a.csv",
        folder / "2024" / "b.parquet",
    ]
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    assert files.files_under(folder) == files.files_under(None) == ()


def test_base_tables_of_duckdb_are_listed(tmp_path: Path) -> None:
    """A view may look at rows of others, and a file of another program would have an
    extension fetched.
    """
    with duckdb.connect(tmp_path / "clinic.duckdb") as connection:
        connection.execute(
            "CREATE TABLE visits AS SELECT 1 AS age; CREATE VIEW all_visits AS FROM "
            "visits"
        )
        connection.execute(
            'CREATE SCHEMA s; CREATE TABLE s.b (x INT); CREATE TABLE "a.b" (x INT)'
        )
    (tmp_path / "no.duckdb").write_bytes(b"SQLite format 3\0" + bytes(100))
    listed = files.files_under(tmp_path)
    assert [each.source.name for each in listed] == [
        "clinic.duckdb/visits",
        "clinic.duckdb/s.b",
    ]


@pytest.mark.parametrize("kind", ["csv", "parquet", "duckdb"])
def test_a_file_that_was_swapped_is_not_followed(tmp_path: Path, kind: str) -> None:
    """Whoever may write to the folder would have a file read that they may not read
    themselves.
    """
    folder = tmp_path / "folder"
    outside = tmp_path / "outside"
    for place, sex in ((folder, "F"), (outside, "M")):
        place.mkdir()
        frame = pd.DataFrame({"sex": [sex] * 3})
        if kind == "csv":
            frame.to_csv(place / "a.csv", index=False)
        elif kind == "parquet":
            frame.to_parquet(place / "a.parquet")
        else:
            with duckdb.connect(place / "a.duckdb") as connection:
                connection.execute("CREATE TABLE people AS FROM frame")
    (listed,) = files.files_under(folder)
    file = Path(listed.source.location)
    schema = dp.Schema(
        columns=(dp.Categorical("sex", categories=("F", "M")),),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    given = {"budget": dp.PureDP(epsilon=1), "ledger": dp.MemoryLedger()}
    curator = dp.Curator.open(listed.source, schema, **given)
    for place, target in ((file, outside / file.name), (folder, outside)):
        place.rename(tmp_path / "away")
        place.symlink_to(target)
        with pytest.raises(DpcoreError, match="no file"):
            dp.Curator.look(listed.source, 5)
        with pytest.raises(DpcoreError, match="no file"):
            dp.Curator.open(listed.source, schema, **given)
        with contextlib.suppress(DpcoreError):  # DuckDB reads no file that was moved
            assert curator._engine.texts("sex") == {"F": 3}
        place.unlink()
        (tmp_path / "away").rename(place)
    assert len(dp.Curator.look(listed.source, 5).frame) == 3


def test_a_duckdb_file_with_changes_beside_it_is_refused(tmp_path: Path) -> None:
    """Rows that DuckDB keeps beside its file until a checkpoint would be missing."""
    with duckdb.connect(tmp_path / "a.duckdb") as connection:
        connection.execute("CREATE TABLE people AS SELECT 1 AS age")
    (listed,) = files.files_under(tmp_path)
    assert len(dp.Curator.look(listed.source, 5).frame) == 1
    (tmp_path / "a.duckdb.wal").write_bytes(b"")
    with pytest.raises(DpcoreError, match="changes that are not written into it yet"):
        dp.Curator.look(listed.source, 5)


def test_the_folder_is_not_walked_at_each_click(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A large folder would make every page slow, or a new file would never be
    listed.
    """
    clock = [1_000.0]
    monkeypatch.setattr(files.time, "monotonic", lambda: clock[0])
    names = []
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text("age\n1\n")
        names.append(len(files.all_sources(Settings(files_folder=tmp_path, threads=3))))
    clock[0] += 10
    sources = files.all_sources(Settings(files_folder=tmp_path, threads=3))
    assert [*names, len(sources)] == [1, 1, 2]
    assert {each.source.threads for each in sources} == {3}


def test_long_names_are_names_of_accounts(tmp_path: Path) -> None:
    """Two files would have one account, or a file with a long name none."""
    for end in "ab":
        (tmp_path / f"{'x' * 80}{end}.csv").write_text("age\n1\n")
    names = {each.source.name for each in files.files_under(tmp_path)}
    assert [len(name) for name in names] == [57, 57]


@pytest.mark.parametrize(
    "setting", [{"demo": True}, {"hosts": ("workbench.example.org",)}]
)
def test_a_server_of_several_people_opens_no_files(
    tmp_path: Path, setting: dict[str, object]
) -> None:
    """Strangers would open whatever the person who started the server may read."""
    files.check_folder(Settings(files_folder=tmp_path))
    with pytest.raises(DpcoreError, match="one person"):
        files.check_folder(Settings(files_folder=tmp_path, **setting))


def test_a_wide_folder_is_named_exactly(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A slip of the pen would open a whole home, or a folder of keys."""
    home = tmp_path / "home"
    link = tmp_path / "link"
    for folder in (home, home / ".ssh", home / "data"):
        folder.mkdir()
    link.symlink_to(home)
    monkeypatch.setattr(Path, "home", lambda: home)
    for fine in (
        home,
        home / ".ssh",
        home / "data",
        link / "data",
        home / ".ssh" / ".." / "data",
    ):
        files.check_folder(Settings(files_folder=fine))
    for wrong in (link, link / ".ssh", home / "data" / "..", home / "none"):
        with pytest.raises(DpcoreError, match="must be a folder"):
            files.check_folder(Settings(files_folder=wrong))
