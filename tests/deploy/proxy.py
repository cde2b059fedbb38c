"""nginx in front of servers: the configuration of deploy/, in which names, ports and
folders are replaced.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.ports import free_port

ROOT = Path(__file__).resolve().parents[2]
NGINX = (
    os.environ.get("NGINX") or shutil.which("nginx") or shutil.which("/usr/sbin/nginx")
)
"""The one of this computer, or another version to try."""
TLS = re.compile(r"\n    (ssl_\w+|add_header Strict-Transport-Security) [^\n]*")


def configuration(
    folder: Path, own: str, servers: tuple[str, ...], *, path: str, tls: bool
) -> str:
    """The file of deploy/, for these servers, on this address."""
    text = (ROOT / "deploy" / "nginx.conf").read_text(encoding="utf-8")
    replaced = {
        "/tmp/": f"{folder}/",
        "error_log stderr": f"error_log {folder}/error",
        "/dev/stdout": f"{folder}/access",
        "listen 8443 ssl": f"listen {own} ssl" if tls else f"listen {own}",
        "/etc/nginx/tls/": f"{folder}/",
        "server app:8501 resolve;": " ".join(f"server {each};" for each in servers),
        "location / {": f"location {path} {{",
    }
    for before, after in replaced.items():
        assert text.count(before), before
        text = text.replace(before, after)
    return text if tls else TLS.sub("", text)


@contextmanager
def proxy(
    folder: Path, *servers: str, path: str = "/", tls: bool = False
) -> Iterator[str]:
    """nginx before these servers, until the block ends; host and port of it."""
    assert NGINX
    own = f"127.0.0.1:{free_port()}"
    file = folder / "nginx.conf"
    file.write_text(
        configuration(folder, own, servers, path=path, tls=tls), encoding="utf-8"
    )
    process = subprocess.Popen(
        [NGINX, "-c", str(file), "-e", str(folder / "error"), "-g", "daemon off;"],
        stderr=subprocess.DEVNULL,
    )
    try:
        _wait(own)
        yield own
    finally:
        process.terminate()
        process.wait(120)


def _wait(host: str) -> None:
    name, _, port = host.partition(":")
    end = time.monotonic() + 120
    while time.monotonic() < end:
        try:
            socket.create_connection((name, int(port)), timeout=1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise TimeoutError(host)
