"""Values that are looked for in the memory of a process, as somebody with its core dump
would.
"""

from __future__ import annotations

import os
import re
import secrets
from pathlib import Path
from typing import Any

import numpy as np

_PAGE = os.sysconf("SC_PAGE_SIZE")
_VALUE = re.compile(rb"canary[0-9a-f]{12}")


def canaries(number: int) -> list[bytes]:
    """Values that are in no other place of the world."""
    return [b"canary" + secrets.token_hex(6).encode() for _ in range(number)]


def readable(process: int, values: list[bytes]) -> int:
    """How many of the values can be read in the memory of a process or its children."""
    found: set[bytes] = set()
    for each in (process, *_children(process)):
        with (
            open(f"/proc/{each}/maps") as maps,
            open(f"/proc/{each}/mem", "rb", 0) as memory,
            open(f"/proc/{each}/pagemap", "rb", 0) as pages,
        ):
            for line in maps:
                span, rights, *_ = line.split()
                start, end = (int(text, 16) for text in span.split("-"))
                if "r" in rights and "[v" not in line:
                    for begin, size in _there(pages, start, end):
                        try:
                            memory.seek(begin)
                            found.update(_VALUE.findall(memory.read(size)))
                        except (OSError, ValueError, OverflowError):
                            continue
    return len(found & set(values))


def _there(pages: Any, start: int, end: int) -> list[tuple[int, int]]:
    """Start and size of the parts that were ever filled: a gigabyte may be reserved of
    which none is.
    """
    pages.seek(start // _PAGE * 8)
    entries = np.frombuffer(pages.read((end - start) // _PAGE * 8), dtype=np.uint64)
    there = (entries >> np.uint64(62)) > 0  # in memory, or swapped out
    edges = np.flatnonzero(np.diff(there, prepend=False, append=False))
    return [
        (start + int(begin) * _PAGE, int(after - begin) * _PAGE)
        for begin, after in edges.reshape(-1, 2)
    ]


def _children(process: int) -> list[int]:
    found = []
    for each in Path("/proc").iterdir():
        if each.name.isdecimal():
            try:
                parent = int((each / "stat").read_text().rpartition(")")[2].split()[1])
            except OSError:
                continue
            if parent == process and os.access(each / "mem", os.R_OK):
                found.append(int(each.name))
    return found
