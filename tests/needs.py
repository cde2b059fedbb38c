"""What some tests need beside the ordinary packages; where it is missing they are
skipped for one reason.

`make test` ends with how many were skipped for each; `.ci/run` runs them all once the
rest is installed.
"""

from __future__ import annotations

import importlib.util
import os
import shutil

import pytest

POSTGRES = (
    "PostgreSQL: DATABASE_URL names no server, or its drivers are not installed "
    "(make engines)"
)
SPARK = "Spark: PySpark or Java is not installed (make engines)"
NGINX = "nginx: it is not installed"
BROWSER = "a browser: no Chromium is installed"
SHARED = "the reference tables: they are not in ../shared"
SYSTEMD = "systemd: it is not installed"
ARX = "ARX's example projects: ARX_PROJECTS names no folder"
REASONS = (POSTGRES, SPARK, NGINX, BROWSER, SHARED, SYSTEMD, ARX)


def need_postgres() -> str:
    """Return the address of a PostgreSQL server."""
    url = os.environ.get("DATABASE_URL", "")
    if not url.startswith("postgres"):
        pytest.skip(POSTGRES)
    return url


def need_driver() -> None:
    """Go on where tables in PostgreSQL can be read as a source."""
    if importlib.util.find_spec("adbc_driver_postgresql") is None:
        pytest.skip(POSTGRES)


def need_spark() -> None:
    """Go on where Spark can be started."""
    if importlib.util.find_spec("pyspark") is None or shutil.which("java") is None:
        pytest.skip(SPARK)


def does_not_apply(reason: str) -> None:
    """End a test that a table of combinations holds and that has nothing to check: it
    is no skipped one.
    """
    pytest.skip(f"{NOT_APPLICABLE}: {reason}")


NOT_APPLICABLE = "not applicable"
