"""Runs the steps of the Dockerfile where there is no container engine; then the server
as it would run there.

    sudo python3 deploy/rehearse.py

Each step runs in a copy of this computer's file system that is thrown away (an overlay
in a mount namespace), so that it needs Linux, root and util-linux, and what FROM brings
must be here: Debian with Python. The server runs as the user of the image, without
capabilities, on a read-only file system with /data and a /tmp in memory; its health
check, its user and what it may write are looked at. The last line says how it went.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
INSTRUCTION = re.compile(r"([A-Z]+)\s+(.*)")
SCRATCH = "import os, tempfile; print(os.path.dirname(tempfile.mkdtemp()))"
ASKS = (
    "import http.client as c; asked = c.HTTPConnection('127.0.0.1', 8501); "
    "asked.request('GET', '{1}', headers={{'Host': '{0}'}}); "
    "print(asked.getresponse().status)"
)
DEMO = (
    "from workbench.store.settings import read_settings as read; print(read().demo "
    "and read().is_demo_until_database)"
)
SCRIPT = """
set -eu
mount -t overlay overlay -o lowerdir=/,upperdir={work}/upper,workdir={work}/work {work}/root
mount -t proc proc {work}/root/proc
mount --rbind /dev {work}/root/dev
mount -t tmpfs tmpfs {work}/root/tmp
exec {python} {script} inside {work}
"""


def instructions(dockerfile: str) -> list[tuple[str, str]]:
    """(INSTRUCTION, rest) of each line; continued lines are one."""
    text = re.sub(r"\\\n\s*", " ", dockerfile)
    found = (
        INSTRUCTION.fullmatch(line.strip())
        for line in text.splitlines()
        if not line.startswith("#")
    )
    return [(each[1], each[2]) for each in found if each]


def main() -> int:
    """Make the copy of the file system, and go on inside it."""
    if os.geteuid() != 0 or sys.platform != "linux":
        print("rehearse: this needs Linux and root")
        return 2
    work = Path(tempfile.mkdtemp(prefix="rehearse-", dir="/var/tmp"))
    for name in ("upper", "work", "root", "context"):
        (work / name).mkdir()
    try:
        subprocess.run(
            f"git -C {ROOT} archive HEAD | tar -x -C {work}/context",
            shell=True,
            check=True,
        )
        script = SCRIPT.format(
            work=work, python=sys.executable, script=Path(__file__).resolve()
        )
        return subprocess.run(
            ["unshare", "--mount", "--fork", "sh", "-c", script], check=False
        ).returncode
    finally:
        shutil.rmtree(work, ignore_errors=True)


def inside(work: Path) -> int:
    """Run every step of the Dockerfile within the copy, then the server."""
    root = work / "root"
    folder = "/"
    user = "root"
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
    }
    environment |= {
        name: value
        for name, value in os.environ.items()
        if name.startswith(("PIP_", "SSL_"))
    }
    health: list[str] = []
    command: list[str] = []
    for name, rest in instructions(
        (ROOT / "deploy" / "Dockerfile").read_text(encoding="utf-8")
    ):
        print(f"rehearse: {name} {rest[:100]}", flush=True)
        if name == "RUN":
            subprocess.run(
                ["/usr/sbin/chroot", root, "sh", "-ec", f"cd {folder}; {rest}"],
                env=environment,
                check=True,
            )
        elif name == "WORKDIR":
            folder = rest
            (root / folder.lstrip("/")).mkdir(parents=True, exist_ok=True)
        elif name == "COPY":
            *sources, target = rest.split()
            for source in sources:
                place = (
                    root
                    / folder.lstrip("/")
                    / target
                    / ("" if target != "./" else source)
                )
                original = work / "context" / source
                (shutil.copytree if original.is_dir() else shutil.copy)(original, place)
        elif name in ("ENV", "ARG"):
            environment |= dict(part.split("=", 1) for part in shlex.split(rest))
        elif name == "USER":
            user = rest
        elif name == "HEALTHCHECK":
            health = json.loads(rest.partition("CMD ")[2])
        elif name == "CMD":
            command = json.loads(rest)
    return _serve(root, folder, user, environment, health, command)


def _serve(
    root: Path,
    folder: str,
    user: str,
    environment: dict[str, str],
    health: list[str],
    command: list[str],
) -> int:
    volumes = ("/data", "/scratch")
    for volume in volumes:
        subprocess.run(["mount", "-t", "tmpfs", "tmpfs", f"{root}{volume}"], check=True)
    subprocess.run(["mount", "-o", "remount,ro", f"{root}"], check=True)
    subprocess.run(
        ["/usr/sbin/chroot", root, "chown", f"{user}:{user}", *volumes], check=True
    )
    as_user = [
        "/usr/sbin/chroot",
        str(root),
        "setpriv",
        f"--reuid={user}",
        f"--regid={user}",
        "--clear-groups",
        "--no-new-privs",
        "--bounding-set=-all",
        "--inh-caps=-all",
        "env",
        f"--chdir={folder}",
    ]

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*as_user, *words],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    server = subprocess.Popen([*as_user, *command], env=environment)
    try:
        deadline = time.monotonic() + 120
        while (
            run(*health).returncode
            and time.monotonic() < deadline
            and server.poll() is None
        ):
            time.sleep(1)
        found = {
            "it is healthy": run(*health).returncode == 0,
            "it is nobody": run("id", "-u").stdout.strip() not in ("0", ""),
            "the program cannot be written": run("touch", f"{folder}/x").returncode
            != 0,
            "the system cannot be written": run("touch", "/etc/x").returncode != 0,
            "temporary files are in /scratch": run(
                "python", "-c", SCRATCH
            ).stdout.strip()
            == "/scratch",
            "a foreign name gets words": run(
                "python", "-c", ASKS.format("workbench.example.org", "/")
            ).stdout
            == "421\n",
            "a probe by number is answered": run(
                "python", "-c", ASKS.format("10.0.0.1", "/healthz")
            ).stdout
            == "200\n",
            "it refuses files": run("python", "-c", DEMO).stdout == "True\n",
            "the ledger is in /data": run(
                "test", "-s", "/data/workbench.sqlite"
            ).returncode
            == 0,
            "its key is the user's alone": run(
                "stat", "-c%a", "/data/ledger.key"
            ).stdout.strip()
            == "600",
        }
    finally:
        server.terminate()
        server.wait(60)
    found["it stops when it is told to"] = server.returncode is not None
    for words, holds in found.items():
        print(f"rehearse: {'yes' if holds else 'NO '} {words}")
    print("rehearse: passed" if all(found.values()) else "rehearse: FAILED")
    return 0 if all(found.values()) else 1


if __name__ == "__main__":
    sys.exit(inside(Path(sys.argv[2])) if sys.argv[1:2] == ["inside"] else main())
