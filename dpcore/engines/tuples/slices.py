"""Store of row records on disk, in slices by person.

A slice holds all records of its people, and fits into memory.

Only digests and hashes are on disk, no values; the files have no names and end with the
process.
"""

import tempfile
import threading
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

Records = npt.NDArray[Any]
"""Records with a field "person" of two uint64, uniform hashes."""

_ROWS_PER_SLICE = 1_000_000
"""Records of a slice, about."""
_MAX_SLICES = 256
"""Slices, at most, since each is an open file."""


class Slices:
    """Store of records that returns all records of a person together."""

    def __init__(self, rows: int, dtype: np.dtype[Any]) -> None:
        """Create empty slices for about `rows` records."""
        self._kind = dtype
        self._lock = threading.Lock()
        slices = min(_MAX_SLICES, rows // _ROWS_PER_SLICE + 1)
        self._files = [tempfile.TemporaryFile() for _ in range(slices)]  # noqa: SIM115

    def store(self, records: Records) -> None:
        """Store some records; any thread may call this.

        Raises: OSError, as if the disk is full.
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
        """Yield the records of each slice, and delete the slice."""
        for file in self._files:
            file.seek(0)
            records = np.frombuffer(file.read(), dtype=self._kind)
            file.close()
            yield records
