"""A demo: samples for everybody, each with a budget of their own, and no files."""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from dpcore.errors import ParameterError
from tests.ports import free_port
from tests.workbench.server.web.client import (
    ROOT,
    Visitor,
    get,
    serving,
    wait_for,
)
from workbench.store.settings import settings_from

SAMPLE = "Open this sample"


@pytest.mark.proof
def test_visitors_share_no_budget_and_send_no_files() -> None:
    """One visitor would empty the samples for all others, or leave a real table on a
    public server.
    """
    with serving(WORKBENCH_DEMO="auto") as demo:
        first, second = (Visitor(demo.host).run() for _ in range(2))
        for visitor in (first, second):
            assert "This is a demo" in visitor.text()
            assert "The disk of this host is not permanent" in visitor.text()
            assert not visitor.elements("file_uploader")
            visitor.press(SAMPLE)
            if not any(
                button.label.startswith("Open the data set")
                for button in visitor.elements("button")
            ):
                raise AssertionError(visitor.text()[:2000])
            visitor.press("Open the data set")
            assert "The data set is open" in visitor.text()
        assert (
            first.put(f"/_stcore/upload_file/{first.session}/1", b"a\n1\n", "x.csv")
            == 403
        )
        with sqlite3.connect(demo.folder / "var" / "workbench.sqlite") as database:
            rows = database.execute(
                "SELECT opener, steward FROM data_set_owners"
            ).fetchall()
        assert len(set(rows)) == 2
        assert all(opener == steward != "" for opener, steward in rows)
        assert first.cookies["workbench_visitor"] not in str(rows)


@pytest.mark.proof
def test_the_image_alone_is_a_demo(tmp_path: Path) -> None:
    """`docker run -p 8501:8501 IMAGE` would end with a message about settings, or take
    real tables.

    There is no engine here: the settings and the command of the image run in this
    environment, as a host runs them whose user may not write to /data.
    """
    text = re.sub(
        r"\\\n\s*", " ", (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    )
    settings = dict(
        part.split("=", 1)
        for part in re.findall(r"^ENV (.*)", text, re.MULTILINE)[0].split()
    )
    command = json.loads(re.findall(r"^CMD (.*)", text, re.MULTILINE)[0])
    (tmp_path / "data").touch()
    changed = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "WORKBENCH_DATA_DIR": str(tmp_path / "data"),
        "TMPDIR": str(tmp_path),
        "HOME": str(tmp_path),
        "PORT": str(free_port()),
    }
    host = f"127.0.0.1:{changed['PORT']}"
    with subprocess.Popen(
        command, cwd=ROOT, env={**settings, **changed}, stderr=subprocess.DEVNULL
    ) as image:
        try:
            wait_for(host)
            visitor = Visitor(host).run()
            assert "The disk of this host is not permanent" in visitor.text()
            assert not visitor.elements("file_uploader")
            assert (
                visitor.put(
                    f"/_stcore/upload_file/{visitor.session}/1", b"a\n1\n", "x.csv"
                )
                == 403
            )
            visitor.press(SAMPLE)
            assert get(host, "/", Host="workbench.example.org")[0] == 421
        finally:
            image.terminate()
    assert image.returncode in (0, -15)  # it ended by the signal


def test_a_demo_needs_no_disk_that_lasts(tmp_path: Path) -> None:
    """A host with a read-only checkout could not show the samples."""
    made = [settings_from({"WORKBENCH_DEMO": "1"}).data_dir for _ in range(2)]
    assert made[0] != made[1]
    for folder in made:
        assert os.stat(folder).st_mode & 0o077 == 0
        folder.rmdir()
    kept = str(tmp_path / "kept")
    assert settings_from(
        {"WORKBENCH_DEMO": "1", "WORKBENCH_DATA_DIR": kept}
    ).data_dir == Path(kept)
    (tmp_path / "file").touch()
    other = settings_from(
        {"WORKBENCH_DEMO": "1", "WORKBENCH_DATA_DIR": str(tmp_path / "file")}
    ).data_dir
    assert other != tmp_path / "file"  # a host that runs the image as a user of its own
    other.rmdir()
    assert not settings_from({"WORKBENCH_DEMO": "0"}).demo


def test_a_disk_that_does_not_last_takes_samples_only() -> None:
    """A ledger that the host forgets would let a table be spent again and again."""
    database = {"DATABASE_URL": "postgresql://me@db/ledger", "WORKBENCH_KEY": "ab" * 32}
    for host in (
        {"WORKBENCH_DEMO": "auto"},
        {"WORKBENCH_HOSTS": "bench.streamlit.app"},
        {"WORKBENCH_ADDRESS": "https://me-bench.hf.space"},
    ):
        settings = settings_from(host)
        assert settings.demo
        assert settings.is_demo_until_database
        settings.data_dir.rmdir()
        assert not settings_from(host | database).demo
        with pytest.raises(ParameterError, match="WORKBENCH_KEY is not"):
            settings_from(host | {"DATABASE_URL": database["DATABASE_URL"]})
        assert settings_from(host | database | {"WORKBENCH_DEMO": "1"}).demo
        assert not settings_from(host | {"WORKBENCH_DEMO": "0"}).demo
    for lasting in ({}, {"WORKBENCH_HOSTS": "bench.example.org"}):
        assert not settings_from(lasting).demo
