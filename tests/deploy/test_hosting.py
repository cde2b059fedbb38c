"""The page for whoever runs a server: its units and commands do what it says."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from dpcore.accounting.ledger import Charge
from tests.contracts.ledger_kinds import DATASET, account
from tests.needs import SYSTEMD
from workbench.store.database.store import Store
from workbench.store.ledger.sql_ledger import SqlLedger
from workbench.store.people.owners import Owners
from workbench.store.settings import Settings

ROOT = Path(__file__).resolve().parents[2]
DEPLOY = ROOT / "deploy"
PAGE = (ROOT / "docs" / "hosting.md").read_text(encoding="utf-8")
KEY = "ab" * 32


def _ledger(folder: Path, **settings: object) -> None:
    """A ledger with one account and three lines, of nobody who signed in."""
    store = Store(Settings(data_dir=folder, **settings))  # type: ignore[arg-type]
    ledger = SqlLedger(store)
    ledger.open(account())
    Owners(store)
    ledger.reserve(DATASET, "r", Charge(units=1), {})
    ledger.commit(DATASET, "r", {}, "release")
    store.close()


def _run(command: str, **settings: str) -> subprocess.CompletedProcess[str]:
    environment = {
        name: value for name, value in os.environ.items() if name != "DATABASE_URL"
    }
    words = shlex.split(command)
    return subprocess.run(
        [sys.executable, *words[1:]] if words[0].startswith("python") else words,
        cwd=ROOT,
        env={**environment, **settings},
        capture_output=True,
        text=True,
        check=False,
    )


def _lines(unit: Path, name: str) -> list[str]:
    """The values of a setting of a unit."""
    return re.findall(rf"^{name}=(.*)$", unit.read_text(encoding="utf-8"), re.MULTILINE)


@pytest.mark.proof
@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason=SYSTEMD)
def test_the_units_are_read_by_systemd(tmp_path: Path) -> None:
    """A setting that systemd does not know is left out without a word, and with it what
    it guards.
    """
    for unit in DEPLOY.glob("privacy-workbench*.*"):
        text = unit.read_text(encoding="utf-8").replace(
            "/opt/privacy-workbench", str(ROOT)
        )
        (tmp_path / unit.name).write_text(text)
    for unit in sorted(tmp_path.iterdir()):
        ended = subprocess.run(
            ["systemd-analyze", "verify", "--man=no", str(unit)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert not re.search(
            r"Unknown|Failed to parse|Invalid|not executable", ended.stderr
        ), ended.stderr


@pytest.mark.proof
def test_the_nightly_backup_holds_the_ledger(tmp_path: Path) -> None:
    """The operator would find out at the restore that every night an empty folder was
    copied.
    """
    unit = DEPLOY / "privacy-workbench-backup.service"
    data = tmp_path / "var"
    kept = tmp_path / "kept"
    _ledger(data, key=bytes.fromhex(KEY))
    (command,), (cleaning,) = _lines(unit, "ExecStart"), _lines(unit, "ExecStartPost")
    replaced = {
        "/var/lib/privacy-workbench-backup": str(kept),
        ".venv/bin/python": sys.executable,
        "$$": "$",  # as systemd reads it
        "%%": "%",
    }
    for before, after in replaced.items():
        assert before in command
        command = command.replace(before, after)
        cleaning = cleaning.replace(before, after)
    kept.mkdir()
    (kept / "old").mkdir()
    os.utime(kept / "old", (0, 0))
    ended = _run(command, WORKBENCH_DATA_DIR=str(data), WORKBENCH_KEY=KEY)
    assert "1 accounts, 3 lines\nbackup: done" in ended.stdout, ended.stderr
    assert _run(cleaning).returncode == 0
    (backup,) = kept.iterdir()
    again = _run(
        f"python -m workbench restore {backup}",
        WORKBENCH_DATA_DIR=str(tmp_path / "other"),
        WORKBENCH_KEY=KEY,
    )
    assert "restore: done" in again.stdout
    server = DEPLOY / "privacy-workbench.service"
    # one user, one folder
    for name in ("User", "DynamicUser", "WorkingDirectory", "Environment"):
        assert _lines(unit, name) == _lines(server, name), name


COMMANDS = {
    "make backup TO=folder KEY_TO=other": "python -m workbench backup {0}/b1 {0}/k1",
    # with WORKBENCH_KEY: the nightly backup
    "python -m workbench backup /data/backup-1": None,
    "make restore FROM=folder KEY_FROM=other": "python -m workbench restore {0}/b1 {0}/k1",
    "python -m workbench restore /data/backup-1": None,
    "python -m workbench check": "python -m workbench check",
    "python -m workbench adopt ada@example.org": "python -m workbench adopt ada@example.org",
    "make rekey": "python -m workbench rekey",
    # tests/workbench/store/test_sturdy.py
    "python -m workbench rekey /a/safe/place/new.key": None,
    "make accept": "python -m workbench accept",
    "python -m workbench --help": "python -m workbench --help",
    "python -m workbench": None,  # as the beginning of the others
    "make app": None,  # every test that serves
    "make app FILES=folder": None,  # test_admission.py
    "make app PORT=8502": None,  # Streamlit's own option
    "make app LISTEN=0.0.0.0": None,  # Streamlit's own option
    "make engines": None,  # installs packages
    "make wheel": None,  # tests/test_package.py builds it
    # test_commands.py
    "python -m workbench release job.json --to r.json --as ada@example.org": None,
    "python -m workbench link TABLE": None,  # test_commands.py
}
"""Commands of the page, and how they are tried here, in this order; None where another
test does.
"""


def test_every_command_of_the_page_is_tried() -> None:
    """A command that was renamed or never worked would be found by an operator in
    need.
    """
    told = re.findall(r"((?:make |python -m )[^`\n|#]+)", PAGE)
    named = {
        " ".join(re.sub(r"(, then.*|\)$| now$)", "", each).split()) for each in told
    }
    assert {each for each in named if not each.startswith("make one")} == set(COMMANDS)
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    for command in COMMANDS:
        if command.startswith("make "):
            assert re.search(rf"^{command.split()[1]}:", makefile, re.MULTILINE), (
                command
            )


@pytest.mark.proof
def test_the_commands_of_the_page_work(tmp_path: Path) -> None:
    """The operator would be left with a sentence of argparse in the night of the
    restore.
    """
    _ledger(tmp_path / "var")
    for command in COMMANDS.values():
        if command is not None:
            ended = _run(
                command.format(tmp_path), WORKBENCH_DATA_DIR=str(tmp_path / "var")
            )
            assert ended.returncode == 0, (command, ended.stdout, ended.stderr)


@pytest.mark.parametrize(
    "command", re.findall(r"^    (python3 -c '.*?')", PAGE, re.MULTILINE)
)
def test_the_secrets_can_be_made(command: str) -> None:
    """A key of another length is refused at the start."""
    made = _run(command).stdout.strip()
    assert len(made) >= 32
    if "token_hex" in command:
        Settings(key=bytes.fromhex(made))


def test_the_page_names_the_files_of_the_unit() -> None:
    """A file that is missing keeps the unit from starting, and nothing says which."""
    server = DEPLOY / "privacy-workbench.service"
    for path in re.findall(
        r"/etc/privacy-workbench/\w[\w.]*", server.read_text(encoding="utf-8")
    ):
        assert path in PAGE
    user = re.search(
        r"--uid (\d+)", (DEPLOY / "Dockerfile").read_text(encoding="utf-8")
    )
    assert user
    assert f"chown {user[1]} deploy/secrets.toml" in PAGE
