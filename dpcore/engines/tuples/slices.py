"""Records of rows on disk, cut by whose they are.

A slice holds all records of its people, and fits.

What is on disk meanwhile are digests and hashes, no values; the files have no names and
end with the process.
"""

import tempfile
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Records = npt.NDArray[Any]
"""With a field "person" of two uint64 that are spread evenly."""

_ROWS = 1_000_000
"""Records in a slice, about."""
_MOST_SLICES = 256


class Slices:
    """Takes records in any order from several threads, and gives them back once, person
    by person.
    """

    def __init__(self, rows: int, kind: np.dtype[Any]) -> None:
        """Make one for about so many records."""
        self._kind = kind
        self._lock = threading.Lock()
        slices = min(_MOST_SLICES, rows // _ROWS + 1)
        self._files = [tempfile.TemporaryFile() for _ in range(slices)]  # noqa: SIM115

    def take(self, records: Records) -> None:
        """Keep some records.

        Raises: OSError, as where the disk is full.
        """
        of_slice = (records["person"][:, 0] % np.uint64(len(self._files))).astype(
            np.int64
        )
        records = records[np.argsort(of_slice, kind="stable")]
        ends = np.cumsum(np.bincount(of_slice, minlength=len(self._files)))
        with self._lock:
            for file, begin, end in zip(
                self._files, [0, *ends[:-1]], ends, strict=True
            ):
                file.write(records[begin:end].tobytes())

    def __iter__(self) -> Iterator[Records]:
        """Iterate over the records of each slice, which is gone then."""
        for file in self._files:
            file.seek(0)
            records = np.frombuffer(file.read(), dtype=self._kind)
            file.close()
            yield records
