"""Settings of a deployment, read once from the environment and Streamlit's secrets."""

import functools
import os
import re
import tempfile
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from dpcore.errors import ParameterError
from dpcore.io.checks import DEFAULT_LIMITS, Limits

PACKAGES_FOLDER = Path(__file__).resolve().parents[2]
"""Where `workbench` and `dpcore` are imported from."""
_INSTALLED_FOLDER = PACKAGES_FOLDER / "workbench" / "installed"
APP_FOLDER = _INSTALLED_FOLDER if _INSTALLED_FOLDER.exists() else PACKAGES_FOLDER
"""The folder of `app.py`, `pages/` and `.streamlit/`.

It is the checkout; in a wheel `setup.py` puts them into `workbench/installed`.
"""
DATA_DIR = (
    PACKAGES_FOLDER / "var"
    if APP_FOLDER == PACKAGES_FOLDER
    else Path.home() / ".privacy-workbench"
)
"""Where the ledger is kept unless a setting names a folder.

An installed program would lose it with its next version beside its own files.
"""

LOOPBACK_HOSTS = ("localhost", "127.0.0.1", "::1")
SECRET_NAMES = ("WORKBENCH_KEY", "DATABASE_URL")
"""Variables that only the server itself needs."""
LOG_LEVELS = ("debug", "info", "warning", "error")
FRAME_CHOICES = ("none", "self")
CLOUD_HOST_ENDING = ".streamlit.app"
CLOUD_PATH = "/~/+"
"""End of the names on Streamlit Community Cloud, and where an app is there, within a
frame of the host.
"""
TEMPORARY_HOSTS = (CLOUD_HOST_ENDING, ".hf.space")
"""Ends of the names of hosts whose disk does not last: Streamlit Community Cloud,
Hugging Face Spaces.
"""
_LOOPBACK_NUMBER = re.compile(r"127(\.[0-9]{1,3}){3}")
_ROOT_PATTERN = re.compile(
    r"https?://(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?(/[A-Za-z0-9._~+/-]*)?"
)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that differs between deployments.

    Attributes:
        data_dir: folder for what must last: the SQLite file and the key.
        database_url: of the ledger; empty for a SQLite file in `data_dir`. May hold a
            password.
        key: secret of the ledger, 32 bytes; None for the one in a file of `data_dir`.
        lock_timeout: seconds that a spend waits for others before it gives up.
        limits: the largest table that is read.
        hosts: names by which the server may be asked for, without ports; "*" for any.
        address: public root of the links that are handed out, without a slash at its
            end; empty for the address that the browser shows.
        frames: which pages may show this one in a frame: "none", or "self" for those of
            its own address.
        metrics: whether Streamlit's metrics address is open.
        log_level: "debug", "info", "warning" or "error".
        demo: whether there are samples only, for visitors, on a disk that need not
            last.
        is_demo_until_database: whether it is a demo only because the disk of this host does not
            last, so that DATABASE_URL ends it.
        runs: how many long runs compute at once; more wait in line.
        tables: how many tables are open at once in all tabs, and `table_bytes` how
            large they are together.
        idle_minutes: how long a tab may do nothing before its tables go from memory.
        threads: how many read a connected source at a time.
        sources: the list of connected sources; None where there is none.
        policy: file of the limits of whoever runs this; None where there is none.
        files_folder: folder whose files are opened where they lie; None for none.
        output_folder: folder in which tables of any size are written; None where none are.
    """

    data_dir: Path = DATA_DIR
    database_url: str = field(default="", repr=False)
    key: bytes | None = field(default=None, repr=False)
    lock_timeout: float = 30.0
    limits: Limits = DEFAULT_LIMITS
    hosts: tuple[str, ...] = LOOPBACK_HOSTS
    address: str = ""
    frames: str = "none"
    metrics: bool = False
    log_level: str = "info"
    demo: bool = False
    is_demo_until_database: bool = False
    runs: int = os.cpu_count() or 1
    tables: int = 100
    table_bytes: int = 4_000 * 10**6
    idle_minutes: float = 120
    threads: int = 2
    sources: Path | None = None
    policy: Path | None = None
    files_folder: Path | None = None
    output_folder: Path | None = None

    def __post_init__(self) -> None:
        url = self.database_url or f"sqlite:///{self.data_dir / 'workbench.sqlite'}"
        for prefix in ("postgres://", "postgresql://"):
            if url.startswith(prefix):
                url = "postgresql+psycopg://" + url.removeprefix(prefix)
        if not url.startswith(("sqlite:////", "postgresql+psycopg://")):
            raise _wrong_setting_error(
                "DATABASE_URL", "postgresql://..., sqlite:////..."
            )
        object.__setattr__(self, "database_url", url)
        if self.key is not None and len(self.key) != 32:
            raise _wrong_setting_error("WORKBENCH_KEY", _KEY_FORM)
        if self.log_level not in LOG_LEVELS:
            raise _wrong_setting_error("WORKBENCH_LOG", ", ".join(LOG_LEVELS))
        if self.address and not _is_root(self.address):
            raise _wrong_setting_error(
                "WORKBENCH_ADDRESS",
                "https://name.example.org, https://name.example.org/path",
            )
        if self.frames not in FRAME_CHOICES:
            raise _wrong_setting_error("WORKBENCH_FRAMES", ", ".join(FRAME_CHOICES))


def is_loopback(address: str) -> bool:
    """Return whether an address leads a browser back to its own computer."""
    name = urlsplit(address if "//" in address else f"//{address}").hostname or ""
    return (
        name.endswith(".localhost")
        or name in LOOPBACK_HOSTS
        or bool(_LOOPBACK_NUMBER.fullmatch(name))
    )


def _is_root(address: str) -> bool:
    """Return whether an address can be the root of links."""
    if not _ROOT_PATTERN.fullmatch(address):
        return False
    try:
        return urlsplit(address).port != 0
    except ValueError:  # no such port
        return False


_KEY_FORM = "[0-9a-f]{64} (python -c 'import secrets; print(secrets.token_hex(32))')"


def _wrong_setting_error(name: str, form: str) -> ParameterError:
    return ParameterError(
        "{name} must be of the form {form}",
        remedy="correct it as docs/hosting.md says",
        name=name,
        form=form,
    )


def settings_from(values: Mapping[str, str]) -> Settings:
    """Make settings from environment variables, which may be missing or empty.

    WORKBENCH_DATA_DIR, DATABASE_URL, WORKBENCH_KEY.
    WORKBENCH_HOSTS: names, separated by commas, besides those of this computer.
    WORKBENCH_ADDRESS: public root of links; its name joins the hosts.
    WORKBENCH_FRAMES: "none" or "self".
    WORKBENCH_METRICS: "1" opens the metrics.
    WORKBENCH_LOG: level of the log.
    WORKBENCH_DEMO: "1" for samples only, in a temporary folder unless a data folder is
    named; "auto" for that until DATABASE_URL is set, the default on hosts whose disk is
    known not to last; "0" for own tables too. WORKBENCH_RUNS, WORKBENCH_TABLES,
    WORKBENCH_TABLE_MB, WORKBENCH_IDLE_MINUTES,
    WORKBENCH_THREADS: numbers.
    WORKBENCH_SOURCES: list of connected sources.
    WORKBENCH_OUTPUT: folder for tables of any size.
    WORKBENCH_POLICY: file of limits.
    WORKBENCH_FILES: folder whose files are opened where they lie.

    Raises: ParameterError, which repeats neither the URL nor the key.
    """
    address = values.get("WORKBENCH_ADDRESS", "").strip().rstrip("/")
    names = [
        name.strip().lower()
        for name in values.get("WORKBENCH_HOSTS", "").split(",")
        if name.strip()
    ]
    if address and _is_root(address):
        names.append(str(urlsplit(address).hostname))
    database = values.get("DATABASE_URL", "")
    demo = values.get("WORKBENCH_DEMO", "")
    if not demo:
        demo = "auto" if any(name.endswith(TEMPORARY_HOSTS) for name in names) else "0"
    if demo not in ("0", "1", "auto"):
        raise _wrong_setting_error("WORKBENCH_DEMO", "0, 1, auto")
    until_database = demo == "auto" and not database
    is_demo = demo == "1" or until_database
    try:
        key = bytes.fromhex(values.get("WORKBENCH_KEY", ""))
    except ValueError:
        raise _wrong_setting_error("WORKBENCH_KEY", _KEY_FORM) from None
    if demo == "auto" and database and not key:
        raise ParameterError(
            (
                "DATABASE_URL is set but WORKBENCH_KEY is not: a key on this "
                "temporary disk would be lost"
            ),
            remedy=(
                "set WORKBENCH_KEY; or WORKBENCH_DEMO=0 if the data folder is kept "
                "across restarts"
            ),
        )
    folder = values.get("WORKBENCH_DATA_DIR")
    if is_demo and not (folder and _can_be_written(Path(folder))):
        folder = tempfile.mkdtemp(prefix="workbench-demo-")
    return Settings(
        data_dir=Path(folder).expanduser().absolute() if folder else Settings.data_dir,
        database_url=database,
        key=key or None,
        hosts=tuple(dict.fromkeys((*LOOPBACK_HOSTS, *names))),
        address=address,
        frames=values.get("WORKBENCH_FRAMES", "").strip().lower() or "none",
        metrics=values.get("WORKBENCH_METRICS") == "1",
        log_level=values.get("WORKBENCH_LOG", "").lower() or "info",
        demo=is_demo,
        is_demo_until_database=until_database,
        runs=int(_number(values, "WORKBENCH_RUNS", Settings.runs)),
        tables=int(_number(values, "WORKBENCH_TABLES", Settings.tables)),
        table_bytes=int(
            _number(values, "WORKBENCH_TABLE_MB", Settings.table_bytes / 10**6) * 10**6
        ),
        idle_minutes=_number(values, "WORKBENCH_IDLE_MINUTES", Settings.idle_minutes),
        threads=int(_number(values, "WORKBENCH_THREADS", Settings.threads)),
        sources=_path(values.get("WORKBENCH_SOURCES")),
        policy=_path(values.get("WORKBENCH_POLICY")),
        files_folder=_path(values.get("WORKBENCH_FILES")),
        output_folder=_path(values.get("WORKBENCH_OUTPUT")),
    )


def check_data_dir(settings: Settings) -> None:
    """Refuse a data folder without write permission. Raises: ParameterError."""
    if not _can_be_written(settings.data_dir):
        raise ParameterError(
            "this program cannot write to the data folder {folder}",
            remedy=(
                "let its user write to the folder, or name another folder in "
                "WORKBENCH_DATA_DIR"
            ),
            folder=str(settings.data_dir),
        )


def _can_be_written(folder: Path) -> bool:
    """Return whether a folder can be written to, or made if it does not exist."""
    place = folder.expanduser().absolute()
    while not place.exists() and place != place.parent:
        place = place.parent
    return place.is_dir() and os.access(place, os.W_OK | os.X_OK)


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser().absolute() if text else None


def _number(values: Mapping[str, str], name: str, default: float) -> float:
    try:
        number = float(values.get(name, "") or default)
    except ValueError:
        number = 0.0
    if not 0 < number < 10**9 or (
        name.endswith(("RUNS", "TABLES", "THREADS")) and number < 1
    ):
        raise _wrong_setting_error(name, "> 0")
    return number


def unreadable_file_error(file: str) -> ParameterError:
    """Return the error for a server file that its administrator has to correct."""
    return ParameterError(
        "{file} of this server cannot be read",
        remedy="correct it as docs/hosting.md says",
        file=file,
    )


@functools.cache
def read_settings() -> Settings:
    """Return the settings of this process.

    Streamlit's secrets go before the environment. The key of the ledger and the address
    of its database leave the environment, so that no worker, JVM or executor that this
    process starts inherits them.
    """
    texts = {name: value for name, value in secrets().items() if isinstance(value, str)}
    settings = settings_from({**os.environ, **texts})
    for name in SECRET_NAMES:
        os.environ.pop(name, None)
    return settings


_secrets_were_read = threading.Event()
"""Set once a file was read: from then on Streamlit says what holds."""


def secrets() -> Mapping[str, Any]:
    """Return Streamlit's current secrets; an empty mapping if there is no file.

    Raises: ParameterError for a file that cannot be read: going on without it would
        open an empty ledger beside the right one and ask nobody to sign in.
    """
    import streamlit as st

    files = [Path(file) for file in st.config.get_option("secrets.files")]
    if not _secrets_were_read.is_set() and not any(file.exists() for file in files):
        return {}
    if st.secrets.load_if_toml_exists():
        _secrets_were_read.set()
        for name in SECRET_NAMES:
            if name in st.secrets:  # Streamlit writes them into the environment
                os.environ.pop(name, None)
        return st.secrets
    if any(file.exists() for file in files):
        raise unreadable_file_error("secrets.toml")
    return {}
