"""CONTRIBUTING is executed: each recipe is followed in a copy of the project and taken
all the way.
"""

from __future__ import annotations

import re
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.architecture.modules import ROOT

KINDS = (
    "column",
    "recipe",
    "privacy model",
    "source",
    "evaluation",
    "page",
    "language",
)
BLOCK = re.compile(r"^( *)```\w+\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)
WALK = "tests/pages/walk_of_toys.py"
SUITES = {
    "column": ("tests/schema/test_one_row_at_a_time.py", "every_kind"),
    "recipe": ("tests/contracts/test_recipes.py", "EveryPair or every_recipe"),
    "privacy model": ("tests/contracts/test_privacy_models.py", "frequencies"),
    "source": ("tests/contracts/test_engines.py", "every_engine or feather and domain"),
    "evaluation": ("tests/workbench/records/test_lines.py", "every"),
    "page": ("tests/pages/test_pseudo_locale.py", "without_a_table"),
}
"""The suites in which the guide registers a toy, and the tests of them that are run
here.
"""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A block of the guide: what it holds, for which file, and where in it."""

    path: str
    place: str
    text: str

    def into(self, copy: Path) -> None:
        """Write it as the guide says."""
        file = copy / self.path
        if not file.exists():
            assert not self.place, f"{self.path} is not there"
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(self.text, encoding="utf-8")
            return
        lines = file.read_text(encoding="utf-8").splitlines(keepends=True)
        at = len(lines)
        if self.place != "at the end":
            places = [
                number for number, line in enumerate(lines, 1) if self.place in line
            ]
            assert places, f"{self.path} has no line with {self.place!r}"
            at = places[0]
        file.write_text(
            "".join([*lines[:at], self.text, *lines[at:]]), encoding="utf-8"
        )


def sections(guide: str) -> dict[str, str]:
    """The recipes of the guide, by their headings."""
    return {
        heading.removeprefix("an ").removeprefix("a "): text
        for heading, text in re.findall(
            r"^### ([^\n]*)\n(.*?)(?=^### |\Z)", guide, re.DOTALL | re.MULTILINE
        )
    }


def blocks(section: str) -> Iterator[Block]:
    """The blocks of a recipe, in order."""
    for _, text in BLOCK.findall(section):
        first, _, rest = textwrap.dedent(text).partition("\n")
        path, _, place = first.removeprefix("# ").partition(", ")
        yield Block(path=path, place=place.removeprefix("after: "), text=rest)


def command_lines(section: str) -> list[str]:
    """The commands of a recipe, in order."""
    return re.findall(r"^ {7}((?:make|\.venv/bin/\w+) .*)$", section, re.MULTILINE)


def commands(section: str) -> list[list[str]]:
    """The commands of a recipe that build something."""
    return [
        line.split()
        for line in command_lines(section)
        if line != "make test" and "pytest" not in line
    ]


pytestmark = pytest.mark.proof  # a copy of the project is set up and walked


@pytest.fixture(scope="module")
def recipes() -> dict[str, str]:
    guide = sections((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    return {
        kind: next(text for name, text in guide.items() if kind in name)
        for kind in KINDS
    }


@pytest.fixture(scope="module")
def outcomes(
    recipes: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> dict[str, str]:
    """What came of each test in a copy of the project with all toys: its message, empty
    where it passed.
    """
    copy = tmp_path_factory.mktemp("project")
    listed = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    for name in filter(None, listed.stdout.split("\0")):
        if (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes((ROOT / name).read_bytes())
    (copy / ".venv").symlink_to(sys.prefix)
    for section in recipes.values():
        for block in blocks(section):
            block.into(copy)
        for command in commands(section):
            if command[0] == "make":  # what is installed here is not installed anew
                command += ["-o", ".venv/dev"]
            run = subprocess.run(
                command, cwd=copy, capture_output=True, text=True, check=False
            )
            assert run.returncode == 0, f"{' '.join(command)}: {run.stderr}"
            if "init" in command:
                translate(copy)
    files = sorted({file for file, _ in SUITES.values()})
    chosen = " or ".join(
        ["walk_of_toys", *(f"({name})" for _, name in SUITES.values())]
    )
    report = copy / "report.xml"
    run = subprocess.run(
        [
            sys.executable,
            "-m",
            "pytest",
            WALK,
            *files,
            "-k",
            chosen,
            "-p",
            "no:cacheprovider",
            f"--junitxml={report}",
        ],
        cwd=copy,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode in (0, 1), run.stdout + run.stderr  # else no test was run
    return {
        f"{case.get('classname')}.{case.get('name')}": "".join(
            each.get("message", "") + (each.text or "")
            for each in case
            if each.tag in ("failure", "error")
        )
        for case in ElementTree.parse(report).iter("testcase")
    }


def translate(copy: Path) -> None:
    """Translate one message of the new catalogue."""
    catalogue = copy / "workbench/language/fr/LC_MESSAGES/workbench.po"
    text = catalogue.read_text(encoding="utf-8")
    message = 'msgid "What is publicly known"\nmsgstr "'
    assert message in text
    catalogue.write_text(
        text.replace(message, f"{message}Ce qui est connu"), encoding="utf-8"
    )


@pytest.mark.parametrize("kind", KINDS)
def test_the_guide_leads_there(kind: str, outcomes: dict[str, str]) -> None:
    """Steps that are followed would end in an error that names nothing, or in a kind
    that no page knows.
    """
    walked = f"tests.pages.walk_of_toys.test_{kind.replace(' ', '_')}"
    assert outcomes[walked] == ""


@pytest.mark.parametrize("kind", SUITES)
def test_the_suites_take_the_toy(kind: str, outcomes: dict[str, str]) -> None:
    """A suite of all kinds would not see the new one, or refuse it for what the guide
    does not say.
    """
    module = SUITES[kind][0].removesuffix(".py").replace("/", ".")
    of_suite = {
        name: message
        for name, message in outcomes.items()
        if name.startswith(f"{module}.")
    }
    assert of_suite
    assert {name: message for name, message in of_suite.items() if message} == {}


def recipes_without_the_whole_check(guide: str) -> list[str]:
    """Headings of recipes that do not end with a quick check and `make test`."""
    return [
        heading
        for heading, text in sections(guide).items()
        if len(command_lines(text)) < 2
        or "pytest tests/" not in command_lines(text)[-2]
        or command_lines(text)[-1] != "make test"
    ]


def test_every_recipe_ends_with_all_tests() -> None:
    """Somebody would follow a recipe to its end, and the next change find it red."""
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert len(sections(guide)) == 8
    assert recipes_without_the_whole_check(guide) == []
    assert recipes_without_the_whole_check(
        guide.replace("       make test\n\n### a page", "\n### a page")
    ) == ["evaluation"]


def test_the_first_commands_find_their_tests() -> None:
    """The first thing that a newcomer copies would run no test."""
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    named = re.findall(r"pytest (tests/\S+) -k (\w+)", guide)
    assert named
    for place, words in named:
        files = (
            [ROOT / place]
            if place.endswith(".py")
            else (ROOT / place).rglob("test_*.py")
        )
        assert any(
            re.search(rf"def test_\w*{words}", file.read_text(encoding="utf-8"))
            for file in files
        ), words


def test_a_step_that_is_left_out_is_noticed(
    recipes: dict[str, str], tmp_path: Path
) -> None:
    """The test would pass whatever the guide says: here a line is named that is not
    there.
    """
    (tmp_path / "workbench").mkdir()
    (tmp_path / "workbench" / "navigation.py").write_text(
        "pages = {}\n", encoding="utf-8"
    )
    listing = next(
        block
        for block in blocks(recipes["page"])
        if block.path == "workbench/navigation.py"
    )
    with pytest.raises(AssertionError, match="has no line"):
        listing.into(tmp_path)
