"""Folders that several write at once, that are left unfinished, or whose rows have
other types by batch.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from decimal import Decimal
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy.stats import norm

from dpcore.errors import ParameterError
from dpcore.io import _mixing as mixing
from dpcore.io import folder as folders
from dpcore.io.folder import unfinished_name, write_folder, write_shuffled
from dpcore.tables.arrow import to_frame
from dpcore.tables.rows import PublicTable
from tests.statistical import laws


def tables(letter: str, number: int) -> Iterator[PublicTable]:
    for _ in range(number):
        yield PublicTable(pd.DataFrame({"a": [letter] * 3}))


def one_by_one(
    work: Callable[[int], tuple[str, int]], number: int
) -> list[tuple[str, int]]:
    return [work(each) for each in range(number)]


def letters(folder: Path) -> set[str]:
    return set(pd.read_parquet(folder)["a"])


def test_two_writers_of_one_name(tmp_path: Path) -> None:
    """A second writer would delete what the first has written, or put its files among
    those of the first.
    """
    place = tmp_path / "out"
    begun = threading.Event()
    goes_on = threading.Event()
    failed: list[Exception] = []

    def slow() -> Iterator[PublicTable]:
        yield from tables("A", 2)
        begun.set()
        assert goes_on.wait(60)
        yield from tables("A", 2)

    def first() -> None:
        try:
            write_folder(slow(), place)
        except ParameterError as error:
            failed.append(error)

    thread = threading.Thread(target=first)
    thread.start()
    assert begun.wait(60)
    for each in tmp_path.iterdir():  # however long it takes: it is held
        os.utime(each, (0, 0))
    with pytest.raises(ParameterError, match="could not"):
        write_shuffled(
            lambda put: (_ for _ in ()).throw(OSError(28, "full")),
            place,
            rows=1,
            spread=one_by_one,
        )
    assert write_folder(tables("B", 1), place) == 3
    goes_on.set()
    thread.join()
    assert [error.problem for error in failed] == [
        "something with the name of this folder exists already"
    ]
    assert letters(place) == {"B"}
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_a_name_that_is_taken_at_the_last_moment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Between the last look and the renaming, somebody else's table may have got the
    name.
    """
    place = tmp_path / "out"
    write_folder(tables("A", 1), place)
    monkeypatch.setattr(folders, "_check_free", lambda folder: None)
    with pytest.raises(ParameterError, match="something with the name"):
        write_folder(tables("B", 1), place)
    assert letters(place) == {"A"}
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def test_what_an_ended_process_left_is_removed(tmp_path: Path) -> None:
    """Halves of large tables would fill the disk; but what looks like one, or is being
    written, stays.
    """
    old = unfinished_name(tmp_path / "other")
    new = unfinished_name(tmp_path / "other")
    for each in (old, new, tmp_path / ".mine.unfinished"):
        each.mkdir()
        (each / "part").write_text("")
    for each in (old, tmp_path / ".mine.unfinished"):
        os.utime(each, (0, 0))
    write_folder(tables("A", 1), tmp_path / "out")
    assert {each.name for each in tmp_path.iterdir()} == {
        new.name,
        ".mine.unfinished",
        "out",
    }


def test_folders_on_the_way_are_removed_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Empty folders would stay wherever a disk was full; and a crash would leave names
    without rows.
    """
    (tmp_path / "a").mkdir()

    def full() -> Iterator[PublicTable]:
        yield from tables("A", 1)
        raise OSError(28, "No space left on device")

    with pytest.raises(ParameterError, match="could not be written"):
        write_folder(full(), tmp_path / "a" / "b" / "c" / "out")
    assert [each.name for each in tmp_path.rglob("*")] == ["a"]
    synced: list[bool] = []
    place = tmp_path / "a" / "b" / "out"
    monkeypatch.setattr(os, "fsync", lambda handle: synced.append(place.exists()))
    write_folder(tables("A", 2), place)
    assert synced == [False] * 3 + [True]  # files and folder, then the name


KINDS = [
    pa.int8(),
    pa.int16(),
    pa.int32(),
    pa.int64(),
    pa.uint8(),
    pa.uint16(),
    pa.uint32(),
    pa.uint64(),
    pa.float32(),
    pa.float64(),
    pa.bool_(),
    pa.string(),
    pa.date32(),
    pa.timestamp("us"),
    pa.decimal128(9, 2),
    pa.dictionary(pa.int8(), pa.string()),
    pa.null(),
]


@pytest.mark.parametrize("kind", KINDS, ids=str)
def test_types_do_not_depend_on_the_first_rows(
    tmp_path: Path, kind: pa.DataType
) -> None:
    """Whole numbers would become decimal ones where somebody without one happens to
    come first.
    """
    some = pa.array([None if kind == pa.null() else 1, None], pa.int8())
    if kind in (pa.date32(), pa.timestamp("us")):
        some = some.cast(pa.int32()).cast(pa.date32())
    if pa.types.is_dictionary(kind):
        some = some.cast(pa.string())
    some = pa.nulls(2) if kind == pa.null() else some.cast(kind)
    batches = {"full": some[:1], "some": some, "none": some[1:], "no rows": some[:0]}
    found = set()
    for first in batches:
        order = [first, *(name for name in batches if name != first)]
        frames = [to_frame(pa.record_batch({"a": batches[name]})) for name in order]
        write_shuffled(
            lambda put, frames=frames: [put(each) for each in frames],
            tmp_path / first,
            rows=4,
            spread=one_by_one,
        )
        found.add(
            pq.read_schema(tmp_path / first / "part-00000.parquet").field("a").type
        )
    assert len(found) == 1
    if pa.types.is_integer(kind):
        assert found == {kind}


def test_decimals_keep_the_digits_of_all_batches(tmp_path: Path) -> None:
    """The first rows of a data base would say how many digits all others may have."""
    frames = [
        pd.DataFrame({"a": [Decimal(text), None]})
        for text in ("1.5", "12345.25", "0.125")
    ]
    write_shuffled(
        lambda put: [put(each) for each in [*frames, frames[0][1:]]],
        tmp_path / "out",
        rows=7,
        spread=one_by_one,
    )
    written = pq.read_table(tmp_path / "out")["a"]
    assert written.type == pa.decimal128(8, 3)
    assert set(written.to_pylist()) == {
        None,
        *map(Decimal, ("1.5", "12345.25", "0.125")),
    }


def test_what_a_process_did_again_is_in_the_table_once(tmp_path: Path) -> None:
    """Whoever ends in the midst leaves batches and files whose rows another one has
    written too.
    """
    first = pd.DataFrame({"a": range(500)})
    second = pd.DataFrame({"a": range(500, 900)})

    def repeated(put: Callable[[pd.DataFrame], str]) -> list[str]:
        put(first)  # and its name did not come back
        return [put(first), put(second)]

    def again(
        work: Callable[[int], tuple[str, int]], number: int
    ) -> list[tuple[str, int]]:
        return [(work(each), work(each))[1] for each in range(number)]

    assert write_shuffled(repeated, tmp_path / "out", rows=600_000, spread=again) == 900
    parts = [
        pd.read_parquet(each)["a"] for each in sorted((tmp_path / "out").iterdir())
    ]
    assert len(parts) == 4
    # by chance: 225 on average, 13 their standard deviation
    assert all(len(part) > 100 for part in parts)
    assert sorted(pd.concat(parts)) == list(range(900))
    assert [each.name for each in tmp_path.iterdir()] == ["out"]


def tells_of_the_original(order: np.ndarray) -> bool:
    """Whether rows that are in an order by chance would hardly ever be in this one.

    By the correlation of a place with the one before, and by how often the next row is
    a later one: under chance the first has mean 0 and variance 1 / (n - 1), the second
    (n - 1) / 2 and (n + 1) / 12.
    """
    n = len(order)
    correlation = np.corrcoef(np.arange(n), order)[0, 1] * np.sqrt(n - 1)
    rises = (np.count_nonzero(np.diff(order) > 0) - (n - 1) / 2) / np.sqrt((n + 1) / 12)
    # of ten figures
    return bool(max(abs(correlation), abs(rises)) > norm.isf(laws.FALSE_ALARM / 20))


@pytest.mark.parametrize("rows", [4_000, 600_000])
def test_places_tell_nothing_of_the_original(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    rows: int,
) -> None:
    """Whoever knows that a table is sorted by the day of admission would read the day
    from the place.
    """
    frames = [pd.DataFrame({"a": range(start, start + 2_000)}) for start in (0, 2_000)]

    def orders(place: Path) -> list[np.ndarray]:
        write_shuffled(
            lambda put: [put(each) for each in frames],
            place,
            rows=rows,
            spread=one_by_one,
        )
        files = [
            pd.read_parquet(each)["a"].to_numpy() for each in sorted(place.iterdir())
        ]
        assert sorted(np.concatenate(files)) == list(range(4_000))
        return files

    files = orders(tmp_path / "out")
    assert len(files) == (1 if rows == 4_000 else 4)
    assert not any(map(tells_of_the_original, files))
    if rows == 4_000:  # twin: as they came
        as_they_came = SimpleNamespace(
            **{
                **vars(np),
                "argsort": lambda keys, **_: np.arange(len(keys), dtype=np.int64),
            },
        )
        monkeypatch.setattr(mixing, "np", as_they_came)
        assert all(map(tells_of_the_original, orders(tmp_path / "twin")))


def test_rows_of_no_one_type_are_refused_in_our_words(tmp_path: Path) -> None:
    """Arrow's words quote the cell that did not fit, and a page would show them."""
    for frames in (
        [pd.DataFrame({"a": [1, "secret"]})],
        [pd.DataFrame({"a": [1]}), pd.DataFrame({"a": ["secret"]})],
        [pd.DataFrame({"a": [2**53 + 1]}), pd.DataFrame({"a": [1.5]})],
    ):
        with pytest.raises(
            ParameterError, match="could not be written as Parquet"
        ) as refused:
            write_shuffled(
                lambda put, frames=frames: [put(each) for each in frames],
                tmp_path / "out",
                rows=2,
                spread=one_by_one,
            )
        assert "secret" not in str(refused.value)
        assert refused.value.__cause__ is None
        assert refused.value.__suppress_context__
        assert not list(tmp_path.iterdir())
