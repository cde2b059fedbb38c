"""What the key's side has seen of each ledger: number and digest of its last line, beside the key.

A database that was put back from an older copy, or lost an account, is whole in itself. It is older than
what was seen here. The files are small, written after each line and never waited for: one that is behind
only notices less.
"""

from __future__ import annotations

import re
import uuid
from pathlib import Path

_NAME = re.compile(r"[0-9A-Za-z]{1,64}")


class Witness:
    """A folder with one file per data set."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def note(self, dataset: str, number: int, digest: str) -> None:
        """Remember a line, unless a later one was seen."""
        path = self._path(dataset)
        if path is None or (self.last(dataset) or (-1, ""))[0] >= number:
            return
        self.accept(dataset, number, digest)

    def accept(self, dataset: str, number: int, digest: str) -> None:
        """Take a line for the last one, whatever was seen before."""
        path = self._path(dataset)
        if path is None:
            return
        draft = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft.write_text(f"{number} {digest}", encoding="ascii")
            draft.replace(path)
        except OSError:  # a full disk keeps nobody from what the database has taken
            draft.unlink(missing_ok=True)

    def forget(self, dataset: str) -> None:
        """Take a data set for one that was never seen."""
        path = self._path(dataset)
        if path is not None:
            path.unlink(missing_ok=True)

    def last(self, dataset: str) -> tuple[int, str] | None:
        """Number and digest of the last line that was seen; None for a data set that was not."""
        path = self._path(dataset)
        try:
            number, digest = path.read_text(encoding="ascii").split() if path else ("", "")
            return int(number), digest
        except (FileNotFoundError, ValueError):
            return None

    def datasets(self) -> list[str]:
        """All that were seen."""
        if not self._folder.is_dir():
            return []
        return sorted(path.name for path in self._folder.iterdir() if _NAME.fullmatch(path.name))

    def _path(self, dataset: str) -> Path | None:
        return self._folder / dataset if _NAME.fullmatch(dataset) else None
