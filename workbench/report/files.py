"""File names of downloads: data set, content, epsilon and day."""

import re
from datetime import UTC, datetime
from fractions import Fraction

from dpcore.release import Release
from workbench.language.wording import loss_number

MAX_PART_LETTERS = 40
_UNSAFE_CHARACTERS = re.compile(r"[^\w.]+")


def file_name(
    name: str, what: str, ending: str, *, detail: str = "", day: str = ""
) -> str:
    """Return a file name such as "adult_histogram-age_epsilon-0.5_2026-11-21.csv".

    Args:
        name: of the data set; its file ending is dropped.
        what: such as "histogram age".
        ending: of the file, without a dot.
        detail: such as "epsilon 0.5".
        day: in ISO order; today if not given.
    """
    stem = re.sub(
        r"\.(csv|tsv|txt|data|parquet|xls[xm]?|ods|z?sav|dta|sas7bdat|deid)$",
        "",
        name,
        flags=re.I,
    )
    day = day or datetime.now(UTC).date().isoformat()
    parts = [_safe_name_part(part) for part in (stem, what, detail, day)]
    return "_".join(part for part in parts if part) + f".{ending}"


def release_file(name: str, release: Release, what: str, ending: str) -> str:
    """Name a file made from a release of the data set called `name`."""
    loss = release.guarantee.loss
    unit = "epsilon" if "epsilon" in loss else "rho"
    detail = f"{unit} {loss_number(Fraction(loss[unit]))}" if unit in loss else ""
    return file_name(name, what, ending, detail=detail, day=release.created[:10])


def _safe_name_part(text: str) -> str:
    """Return a part of a file name, cut after a whole word if it is long."""
    safe = _UNSAFE_CHARACTERS.sub("-", text).strip("-.")
    if len(safe) <= MAX_PART_LETTERS:
        return safe
    words = safe[: MAX_PART_LETTERS + 1].rpartition("-")[0]
    return (words or safe[:MAX_PART_LETTERS]).rstrip("-.")
