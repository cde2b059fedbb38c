"""Settings of a deployment, read once from the environment and Streamlit's secrets."""

import functools
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dpcore.errors import ParameterError
from dpcore.io.checks import DEFAULT_LIMITS, Limits

CHECKOUT = Path(__file__).resolve().parents[2]


LOOPBACK = ("localhost", "127.0.0.1", "::1")
LEVELS = ("debug", "info", "warning", "error")


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Everything that differs between deployments.

    Attributes:
        data_dir: folder for what must last: the SQLite file and the key.
        database_url: of the ledger; empty for a SQLite file in `data_dir`. May hold a password.
        key: secret of the ledger, 32 bytes; None for the one in a file of `data_dir`.
        lock_timeout: seconds that a spend waits for others before it gives up.
        limits: the largest table that is read.
        hosts: names by which the server may be asked for, without ports; "*" for any.
        metrics: whether Streamlit's metrics address is open.
        log_level: "debug", "info", "warning" or "error".
        demo: whether there are samples only, for visitors, on a disk that need not last.
        runs: how many long runs compute at once; more wait in line.
        tables: how many tables are open at once in all tabs, and `table_bytes` how large they are together.
        idle_minutes: how long a tab may do nothing before its tables go from memory.
        threads: how many read a connected source at a time.
        sources: the list of connected sources; None where there is none.
        policy: file of the limits of whoever runs this; None where there is none.
        files: folder whose files are opened where they lie; None for none.
        output: folder in which tables of any size are written; None where none are.
    """

    data_dir: Path = CHECKOUT / "var"
    database_url: str = field(default="", repr=False)
    key: bytes | None = field(default=None, repr=False)
    lock_timeout: float = 30.0
    limits: Limits = DEFAULT_LIMITS
    hosts: tuple[str, ...] = LOOPBACK
    metrics: bool = False
    log_level: str = "info"
    demo: bool = False
    runs: int = os.cpu_count() or 1
    tables: int = 100
    table_bytes: int = 4_000 * 10**6
    idle_minutes: float = 120
    threads: int = 2
    sources: Path | None = None
    policy: Path | None = None
    files: Path | None = None
    output: Path | None = None

    def __post_init__(self) -> None:
        url = self.database_url or f"sqlite:///{self.data_dir / 'workbench.sqlite'}"
        for prefix in ("postgres://", "postgresql://"):
            if url.startswith(prefix):
                url = "postgresql+psycopg://" + url.removeprefix(prefix)
        if not url.startswith(("sqlite:////", "postgresql+psycopg://")):
            raise _wrong("DATABASE_URL", "postgresql://..., sqlite:////...")
        object.__setattr__(self, "database_url", url)
        if self.key is not None and len(self.key) != 32:
            raise _wrong("WORKBENCH_KEY", _KEY)
        if self.log_level not in LEVELS:
            raise _wrong("WORKBENCH_LOG", ", ".join(LEVELS))


_KEY = "[0-9a-f]{64} (python -c 'import secrets; print(secrets.token_hex(32))')"


def _wrong(name: str, form: str) -> ParameterError:
    return ParameterError(
        "{name} must be of the form {form}", remedy="correct it as docs/hosting.md says", name=name, form=form
    )


def settings_from(values: Mapping[str, str]) -> Settings:
    """Read settings from environment variables, each of which may be missing or empty.

    WORKBENCH_DATA_DIR, DATABASE_URL, WORKBENCH_KEY; WORKBENCH_HOSTS: names with commas between, beside those
    of this computer; WORKBENCH_METRICS: "1" opens the metrics; WORKBENCH_LOG: level of the log;
    WORKBENCH_DEMO: "1" for samples only, kept in a temporary folder where nothing else is said.
    WORKBENCH_RUNS, WORKBENCH_TABLES, WORKBENCH_TABLE_MB, WORKBENCH_IDLE_MINUTES, WORKBENCH_THREADS: numbers.
    WORKBENCH_SOURCES: path of the list of connected sources. WORKBENCH_OUTPUT: folder for tables of any size;
    WORKBENCH_POLICY: file of limits; WORKBENCH_FILES: folder of files that are opened where they lie.

    Raises: ParameterError, which repeats neither the URL nor the key.
    """
    demo, folder = values.get("WORKBENCH_DEMO") == "1", values.get("WORKBENCH_DATA_DIR")
    if demo and not folder:
        folder = tempfile.mkdtemp(prefix="workbench-demo-")
    try:
        key = bytes.fromhex(values.get("WORKBENCH_KEY", ""))
    except ValueError:
        raise _wrong("WORKBENCH_KEY", _KEY) from None
    return Settings(
        data_dir=Path(folder).expanduser().absolute() if folder else Settings.data_dir,
        database_url=values.get("DATABASE_URL", ""),
        key=key or None,
        hosts=(
            *LOOPBACK,
            *(name.strip().lower() for name in values.get("WORKBENCH_HOSTS", "").split(",") if name),
        ),
        metrics=values.get("WORKBENCH_METRICS") == "1",
        log_level=values.get("WORKBENCH_LOG", "").lower() or "info",
        demo=demo,
        runs=int(_number(values, "WORKBENCH_RUNS", Settings.runs)),
        tables=int(_number(values, "WORKBENCH_TABLES", Settings.tables)),
        table_bytes=int(_number(values, "WORKBENCH_TABLE_MB", Settings.table_bytes / 10**6) * 10**6),
        idle_minutes=_number(values, "WORKBENCH_IDLE_MINUTES", Settings.idle_minutes),
        threads=int(_number(values, "WORKBENCH_THREADS", Settings.threads)),
        sources=_path(values.get("WORKBENCH_SOURCES")),
        policy=_path(values.get("WORKBENCH_POLICY")),
        files=_path(values.get("WORKBENCH_FILES")),
        output=_path(values.get("WORKBENCH_OUTPUT")),
    )


def _path(text: str | None) -> Path | None:
    return Path(text).expanduser().absolute() if text else None


def _number(values: Mapping[str, str], name: str, default: float) -> float:
    try:
        number = float(values.get(name, "") or default)
    except ValueError:
        number = 0.0
    if not 0 < number < 10**9 or (name.endswith(("RUNS", "TABLES", "THREADS")) and number < 1):
        raise _wrong(name, "> 0")
    return number


def unreadable(file: str) -> ParameterError:
    """Return the error of a file of this server that its administrator has to correct."""
    return ParameterError(
        "{file} of this server cannot be read", remedy="correct it as docs/hosting.md says", file=file
    )


@functools.cache
def read_settings() -> Settings:
    """Return the settings of this process; Streamlit's secrets go before the environment."""
    texts = {name: value for name, value in secrets().items() if isinstance(value, str)}
    return settings_from({**os.environ, **texts})


def secrets() -> Mapping[str, Any]:
    """Streamlit's secrets as they are now, or nothing where there is no such file.

    Raises: ParameterError for a file that cannot be read: going on without it would open an empty ledger
        beside the right one, and ask nobody to sign in.
    """
    import streamlit as st

    if st.secrets.load_if_toml_exists():
        return st.secrets
    if any(Path(file).exists() for file in st.config.get_option("secrets.files")):
        raise unreadable("secrets.toml")
    return {}
