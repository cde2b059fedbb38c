"""Rows drawn in another process are the rows that would be drawn here."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest

import dpcore as dp
from dpcore.errors import ParameterError
from dpcore.io import to_csv, to_xlsx
from dpcore.io.folder import unfinished_name
from dpcore.release import Release
from dpcore.synthesis import Independent, sample_steps
from tests.workbench.server.workers.test_workers import opened
from workbench.server.workers import drawing, process, reading
from workbench.server.workers.callbacks import StoppedError, cancelled_by


@pytest.fixture(scope="module")
def release() -> Release:
    return opened().run(
        Independent(columns=("age", "sex", "city")), dp.PureDP(epsilon=1)
    )


def test_what_is_made_of_drawn_rows(release: Release) -> None:
    """The page would show other rows than its files hold, or test others than it
    shows.
    """
    table = release.sample_table(300, seed=0)
    head = process.compute(drawing.draw_first_rows, release, 300)
    pd.testing.assert_frame_equal(head, table.frame.head(drawing.MAX_SHOWN_ROWS))
    assert drawing.csv_file(release, 300) == to_csv(table)
    other = release.sample_table(300, seed=1)
    assert drawing.csv_file(release, 300, 1) == to_csv(other) != to_csv(table)
    file = io.BytesIO(drawing.parquet_file(release, 300, "promise", 1))
    pd.testing.assert_frame_equal(pd.read_parquet(file), other.frame, check_dtype=False)
    assert process.compute(
        drawing.check_combinations, release, 300, 1, ["sex"], 5
    ).passed
    file = io.BytesIO(drawing.parquet_file(release, 300, "promise"))
    pd.testing.assert_frame_equal(pd.read_parquet(file), table.frame, check_dtype=False)
    assert process.compute(drawing.draw_and_test, release, 300, 0) == sample_steps(
        table.frame
    )
    asked = process.compute(drawing.closeness_recipe, release, 300, 0, ["age", "sex"])
    assert sum(asked.counts) == pytest.approx(release.model.total)
    assert drawing.xlsx_file(release, 300, 1) == to_xlsx(other)
    with pytest.raises(ParameterError, match="must be a whole number"):
        drawing.csv_file(release, -1)


def test_release_files_are_read_within_limits(release: Release) -> None:
    """A stranger's file of 50 MB would hold every page while it is parsed."""
    assert (
        reading.read_release(release.to_json().encode()).to_json() == release.to_json()
    )
    with pytest.raises(dp.errors.ReadError):
        reading.read_release(b"[" * 1_000_000)


def test_a_folder_that_nobody_wants_any_more(release: Release, tmp_path: Path) -> None:
    """The ended process cannot clean up: half a table would stay; or another writer's
    half would go.
    """
    other = unfinished_name(tmp_path / "out")
    other.mkdir()
    with (
        pytest.raises(StoppedError),
        cancelled_by(lambda: any(tmp_path.rglob("part-*.parquet"))),
    ):
        drawing.write_folder(release, 10**9, tmp_path / "out")
    assert list(tmp_path.iterdir()) == [other]
