"""README's two commands are what is tried first, where nothing of ours is installed."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
(WORKFLOW,) = (ROOT / ".github" / "workflows").glob("*.yml")
LATER = ["make engines", "make skipped", "make release-check", "make proofs"]
"""What is run after them, in this order."""


def commands_of_readme() -> list[str]:
    """The commands under Start."""
    start = README.partition("## Start\n")[2].partition("\n\n")[0]
    return re.findall(r"^    (make \w+)", start, re.MULTILINE)


def commands_in(script: str) -> list[str]:
    """The calls of make, in their order."""
    return re.findall(
        r"^(?:\s*(?:- run: )?(?:setsid |DATABASE_URL=\S+ )?)(make \w[\w-]*)",
        script,
        re.MULTILINE,
    )


def problems(script: str) -> list[str]:
    """What a stranger would meet and the script does not."""
    steps = commands_in(script)
    ours = [each for each in steps if each in commands_of_readme()]
    found = []
    if sorted(ours) != sorted(commands_of_readme()):
        found.append(
            f"the commands of README are {commands_of_readme()}, and it runs {ours}"
        )
    if [each for each in steps if each not in (*ours, "make lint")] != LATER:
        found.append(f"it runs {steps}")
    if any(steps.index(each) > steps.index("make engines") for each in ours):
        found.append("engines are installed first")
    return found


@pytest.mark.parametrize(
    "path", [ROOT / ".ci" / "run", WORKFLOW], ids=lambda path: path.name
)
def test_the_commands_of_readme_are_run_first(path: Path) -> None:
    """The first thing that a stranger does was red, as checks ran with more installed
    than README says.
    """
    assert commands_of_readme() == ["make app", "make test"]
    assert problems(path.read_text(encoding="utf-8")) == []


def test_the_clone_of_the_checks_is_bare() -> None:
    """A server, tables or an environment of this computer would be there that a
    stranger does not have.
    """
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    before = script.partition("\nmake test")[0]
    for line in (
        "unset DATABASE_URL",
        'git clone --quiet "$checkout" "$folder/workbench"',
        'cd "$folder/workbench"',
    ):
        assert line in before
    for later in (
        "make engines",
        "shared",
        "install postgresql",
        "initdb",
        "install nginx",
    ):
        assert later not in before.partition("# b.")[2]


@pytest.mark.parametrize(
    "change",
    [
        ("\nmake test", "\nmake engines\nmake test"),
        ("\nmake test", "\nmake tests"),
        ("setsid make app", "setsid streamlit run app.py"),
        ("make skipped", "true"),
    ],
)
def test_a_script_that_does_otherwise_is_seen(change: tuple[str, str]) -> None:
    """The tests above would pass whatever is run."""
    script = (ROOT / ".ci" / "run").read_text(encoding="utf-8")
    assert change[0] in script
    assert problems(script.replace(*change)) != []
