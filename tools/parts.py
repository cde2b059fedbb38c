"""The list of parts: every package of requirements.lock with version and license, as
CycloneDX 1.5 JSON.

`make parts` writes parts.json; `--licenses` prints a table for people instead.
"""

from __future__ import annotations

import json
import re
import sys
from importlib import metadata
from pathlib import Path

LOCK = Path(__file__).resolve().parents[1] / "requirements.lock"
_PINNED = re.compile(r"^([A-Za-z0-9._-]+)(?:\[[^\]]*\])?==([^ \\;]+)", re.MULTILINE)
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")


def parts(lock: str) -> list[dict[str, object]]:
    """One component a package of a lock file, in its order."""
    found = list(_PINNED.finditer(lock))
    ends = [each.start() for each in found[1:]] + [len(lock)]
    return [
        {
            "type": "library",
            "name": each[1],
            "version": each[2],
            "purl": f"pkg:pypi/{each[1].lower()}@{each[2]}",
            "licenses": [{"license": {"name": license_of(each[1])}}],
            "properties": [
                {"name": "sha256", "value": digest}
                for digest in _HASH.findall(lock[each.end() : end])
            ],
        }
        for each, end in zip(found, ends, strict=True)
    ]


def license_of(name: str) -> str:
    """What an installed package says of its license, in a few words."""
    try:
        told = metadata.metadata(name)
    except metadata.PackageNotFoundError:
        return "not installed here"
    if told.get("License-Expression"):
        return str(told["License-Expression"])
    classes = [
        each.split(" :: ")[-1]
        for each in told.get_all("Classifier") or []
        if "License ::" in each
    ]
    return (
        ", ".join(classes)
        or str(told.get("License") or "not said").splitlines()[0][:80]
    )


def main() -> None:
    listed = parts(LOCK.read_text(encoding="utf-8"))
    if "--licenses" in sys.argv:
        for part in listed:
            print(
                f"{part['name']!s:28} {part['version']!s:14} "
                f"{license_of(str(part['name']))}"
            )
        return
    bill = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "components": listed,
    }
    Path("parts.json").write_text(json.dumps(bill, indent=1) + "\n", encoding="utf-8")
    print(f"parts.json: {len(listed)} parts")


if __name__ == "__main__":
    main()
