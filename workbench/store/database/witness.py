"""The last line seen of each account, kept as number and digest beside the key.

A database that was restored from an older copy, or that lost an account, is consistent
in itself; only the witness knows that it is older than what was seen. The files are
small, written after each line and never waited for: one that lags notices less. A
fingerprint names its own file; a connected source, whose name may hold any character,
has a file named by the digest of its name.
"""

import hashlib
import re
import uuid
from pathlib import Path

from dpcore.errors import LedgerCorrupt

SeenLine = tuple[int, str] | None
"""Number and digest of the last line that was seen, or None for a data set that was
not.
"""
_FORGOTTEN_NUMBER = -1
_FILE_NAME = re.compile(r"[0-9A-Za-z]{1,64}")


def check_line_present(is_seen: bool) -> None:
    """Raise an error if an account lacks the last line seen of it.

    An account that does not exist must not have been seen either.

    Raises: LedgerCorrupt if the line is absent or another.
    """
    if not is_seen:
        raise LedgerCorrupt(
            (
                "this ledger is older than the lines already seen of it, as if an "
                "older copy had been restored"
            ),
            remedy=(
                "restore the newest copy of the ledger; or, to forget what was "
                "spent, run `make accept`"
            ),
        )


class Witness:
    """Folder with a file for each data set, which keeps the last line seen of it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def note(self, dataset: str, number: int, digest: str) -> None:
        """Remember a line, unless a later one was seen."""
        if (self.last_seen(dataset) or (-1, ""))[0] < number:
            self.accept(dataset, number, digest)

    def accept(self, dataset: str, number: int, digest: str) -> None:
        """Record a line as the last one seen, even if a later one was seen before."""
        path = self._path(dataset)
        named = "" if path.name == dataset else f" {dataset}"
        draft = path.with_name(f"{path.name}.{uuid.uuid4().hex}")
        try:
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            draft.write_text(f"{number} {digest}{named}", encoding="utf-8")
            draft.replace(path)
        except OSError:  # a full disk keeps nobody from what the database has taken
            draft.unlink(missing_ok=True)

    def forget(self, dataset: str) -> None:
        """Record that a data set has no account any more.

        The number of lines seen is kept for its next account.
        """
        seen = self.last_seen(dataset)
        if seen is not None:
            self.accept(dataset, _FORGOTTEN_NUMBER, str(seen[0] + 1))

    def last_seen(self, dataset: str) -> SeenLine:
        """Return the number and digest of the last line seen of a data set, or None.

        Read it before the transaction whose lines it is compared with.
        """
        seen = self._read(dataset)
        return None if seen is None or seen[0] == _FORGOTTEN_NUMBER else seen

    def forgotten_lines(self, dataset: str) -> int:
        """Return how many lines a removed account had."""
        seen = self._read(dataset)
        return int(seen[1]) if seen is not None and seen[0] == _FORGOTTEN_NUMBER else 0

    def _read(self, dataset: str) -> SeenLine:
        try:
            number, digest, *_ = (
                self._path(dataset).read_text(encoding="utf-8").split(" ", 2)
            )
            return int(number), digest
        except (FileNotFoundError, ValueError):
            return None

    def datasets(self) -> list[str]:
        """Return all data sets seen, except those that were forgotten."""
        if not self._folder.is_dir():
            return []
        files = [
            path for path in self._folder.iterdir() if _FILE_NAME.fullmatch(path.name)
        ]
        texts = {
            path.name: path.read_text(encoding="utf-8", errors="replace")
            for path in files
        }
        return sorted(
            text.split(" ", 2)[2] if text.count(" ") > 1 else name
            for name, text in texts.items()
            if not text.startswith(f"{_FORGOTTEN_NUMBER} ")
        )

    def _path(self, dataset: str) -> Path:
        named = _FILE_NAME.fullmatch(dataset) is not None
        return self._folder / (
            dataset if named else hashlib.sha256(dataset.encode()).hexdigest()
        )
