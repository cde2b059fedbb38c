"""Ports for the servers that tests start."""

from __future__ import annotations

import itertools
import os
import socket

FIRST = 10_000
OF_A_PROCESS = 64
PROCESSES = (32_768 - FIRST) // OF_A_PROCESS
"""Rows of ports, all below those that Linux gives to whoever asks for any port."""
_own_row = FIRST + os.getpid() % PROCESSES * OF_A_PROCESS
_turns = itertools.cycle(range(_own_row, _own_row + OF_A_PROCESS))


def free_port() -> int:
    """A port of this computer that nobody uses, nor is given before a server has it.

    A server needs seconds until it listens. Any free port of the system could be given
    to another process meanwhile, which would then answer in its place.
    """
    for port in itertools.islice(_turns, OF_A_PROCESS):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port
    raise OSError(f"no port of {_own_row} and the following {OF_A_PROCESS} is free")
