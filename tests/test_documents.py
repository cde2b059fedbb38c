"""Documents are read by people who cannot ask back: what they say is compared with the
program.
"""

from __future__ import annotations

import ast
import functools
import importlib
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

import pytest

import dpcore
from dpcore.accounting.events import Mechanism
from tests.architecture.modules import ROOT
from tests.architecture.test_layers import LAYERS
from tests.architecture.test_rules import WORKBENCH
from tests.scripts import printed_by
from workbench.language.glossary import GLOSSARY
from workbench.learn.texts import TEXTS

DOCS = ROOT / "docs"
README = (ROOT / "README.md").read_text(encoding="utf-8")
MADE = {"build", "var", "__pycache__"}
"""Folders that running the program makes."""
CITED = re.compile(r"\bSEEDS\s+((?:[A-EGHP]\d+(?:\s*(?:,|to|and|;)\s*)?)+)")
ROW = re.compile(r"([A-EGHP])(\d+)")


def text_of(name: str) -> str:
    return (DOCS / name).read_text(encoding="utf-8")


def folders(under: Path) -> set[str]:
    """Folders that belong to the project, as paths with an ending slash."""
    names = {
        each.name
        for each in under.iterdir()
        if each.is_dir() and not each.name.startswith(".")
    }
    return {f"{name}/" for name in names - MADE if not name.endswith(".egg-info")}


def rows(text: str) -> Iterator[list[str]]:
    """The cells of every line of the tables in a page."""
    for line in text.splitlines():
        if line.startswith("|") and not set(line) <= set("|-: "):
            yield [cell.strip() for cell in line.strip("|").split("|")]


def test_the_script_of_the_readme_runs(tmp_path: Path) -> None:
    """The first lines that anybody tries would fail."""
    scripts = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert scripts
    people = [f"{i % 100},{'Female' if i % 3 else 'Male'}" for i in range(500)]
    (tmp_path / "people.csv").write_text(
        "\n".join(["age,sex", *people]), encoding="utf-8"
    )
    for script in scripts:
        printed_by(script, tmp_path)


def shape_of(readme: str) -> dict[str, list[str]]:
    """What must be the same in every language: levels of headings, commands, code,
    folders, files.
    """
    parts = {
        "headings": r"^#+(?= )",
        "commands": r"^    (make \w+|\.venv\S+)",
        "code": r"^```python$.*?^```$",
        "folders": r"`([\w.]+/)`",
        "pictures": r"\]\((docs/\S+)\)",
        "documents": r"`(docs/[\w./-]+\.md)`",
    }
    return {
        name: re.findall(form, readme, re.MULTILINE | re.DOTALL)
        for name, form in parts.items()
    }


@pytest.mark.release
def test_the_readme_in_chinese_says_the_same() -> None:
    """Who reads the Chinese one would follow commands, or look for parts, that are no
    more.

    Like every translation it is asked for by a release, not by a change.
    """
    chinese = shape_of((ROOT / "README.zh.md").read_text(encoding="utf-8"))
    english = shape_of(README)
    assert all(english.values())
    for name in english:
        both = (
            sorted(set(each[name])) if name != "code" else each[name]
            for each in (english, chinese)
        )
        ours, theirs = both
        assert ours == theirs, name
    assert len(english["headings"]) == len(chinese["headings"])


def test_the_readme_names_the_folders() -> None:
    """Somebody looks for a folder that is not there, or never learns of one that is."""
    table = README.partition("## Where things are")[2].partition("\n\n")[0]
    named = {
        name for cells in rows(table) for name in re.findall(r"`([\w.]+/)`", cells[0])
    }
    assert named == folders(ROOT)


def tree() -> list[str]:
    """The paths that the tree of the architecture page names."""
    block = re.search(
        r"## The tree\n\n```\n(.*?)```", text_of("architecture.md"), re.DOTALL
    )
    assert block
    paths = []
    above = [""]
    for line in block[1].splitlines():
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip())) // 2
        above = [*above[: depth + 1], above[depth] + name]
        paths.append(above[-1])
    return paths


def test_the_tree_is_true() -> None:
    """A map with folders that are gone or there twice, or without those that are new,
    leads astray.
    """
    there = {
        f"{path.parent.relative_to(ROOT).as_posix()}/"
        for path in (ROOT / "dpcore").rglob("__init__.py")
    }
    there |= {f"workbench/{name}" for name in folders(ROOT / "workbench")} | folders(
        ROOT
    )
    there |= {
        f"workbench/{parent}/{name}"
        for parent in ("server", "share", "store")
        for name in folders(ROOT / "workbench" / parent)
    }
    there |= {"docs/decisions/", "app.py", "setup.py"}
    there |= {
        path.relative_to(ROOT).as_posix()
        for top in ("dpcore", "workbench")
        for path in (ROOT / top).glob("*.py")
        if path.stem != "__init__"
    }
    assert sorted(tree()) == sorted(there)


def test_the_layers_are_those_that_are_checked() -> None:
    """The page would promise other layers than the test keeps."""
    table = text_of("architecture.md").partition("## Layers")[2].partition("\n\n1. ")[0]
    named = [
        (name, int(cells[0]))
        for cells in rows(table)
        if cells[0].isdigit()
        for name in re.findall(r"`([\w.]+)`", cells[1])
    ]
    assert sorted(named) == sorted(LAYERS.items())


def test_the_rules_are_those_that_are_checked() -> None:
    """The page would give another order of packages than the tests keep."""
    page = text_of("architecture.md")
    order = re.search(
        r"^4\. In `workbench`: (.*?),\s+then the packages of pages",
        page,
        re.MULTILINE | re.DOTALL,
    )
    assert order
    assert re.findall(r"`(\w+)`", order[1]) == list(WORKBENCH)


def test_the_glossary_is_the_one_of_the_pages() -> None:
    """A word would mean one thing on the page and another in the document."""
    written = {
        cells[0]: cells[1]
        for cells in rows(text_of("glossary.md"))
        if cells[0] != "word"
    }
    shown = {word: GLOSSARY[word] for word in GLOSSARY}
    assert len(shown) >= 20
    assert shown == {word: written[word] for word in shown}


def test_every_mechanism_is_explained() -> None:
    """The ledger would name noise whose cost nobody can look up."""
    page = text_of("guarantees.md").lower()
    assert [each for each in get_args(Mechanism) if each not in page] == []


def test_the_guarantees_name_files_that_exist() -> None:
    """Who checks a promise would look in vain for its code, or for its test."""
    checked = text_of("guarantees.md").partition("## How it is checked")[2]
    named = set(re.findall(r"`([\w/]+\.(?:py|js))`", checked))
    assert len(named) > 50
    roots = (ROOT, ROOT / "dpcore", ROOT / "tests")
    missing = [
        path
        for path in sorted(named)
        if not any((root / path).exists() for root in roots)
    ]
    assert missing == []


def test_every_decision_is_linked() -> None:
    """A decision that no page leads to is made a second time."""
    index = text_of("decisions/README.md")
    linked = set(re.findall(r"\]\((\d{4}-[\w-]+\.md)\)", index))
    assert linked == {path.name for path in (DOCS / "decisions").glob("0*.md")}
    pages = {path.name for path in DOCS.glob("*.md")} | {"decisions/README.md"}
    assert [page for page in sorted(pages) if f"docs/{page}" not in README] == []


def links() -> Iterator[tuple[Path, str]]:
    for path in [*ROOT.glob("*.md"), *DOCS.rglob("*.md")]:
        for target in re.findall(
            r"\]\(([^)#\s]+)[^)]*\)", path.read_text(encoding="utf-8")
        ):
            if "://" not in target:
                yield path, target


def test_links_lead_somewhere() -> None:
    """A link to a page that was moved."""
    assert [
        (path.name, target)
        for path, target in links()
        if not (path.parent / target).exists()
    ] == []


def cited() -> dict[str, Path]:
    """Every row that a test names, with all between in "A1 to A18", and a file that
    names it.
    """
    found: dict[str, Path] = {}
    for path in sorted((ROOT / "tests").rglob("*.py")):
        for passage in CITED.findall(path.read_text(encoding="utf-8")):
            last = 0
            for to, letter, number in re.findall(r"(to\s+)?([A-EGHP])(\d+)", passage):
                first = last + 1 if to else int(number)
                found |= {
                    f"{letter}{each}": path for each in range(first, int(number) + 1)
                }
                last = int(number)
    return found


def rows_named_by(path: Path, name: str) -> set[str]:
    """The rows that a test carries in its name or in its docstring."""
    node = next(
        each
        for each in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(each, ast.FunctionDef) and each.name == name
    )
    return between(
        f"{name.removeprefix('test_').upper().replace('_', ' ')} "
        f"{ast.get_docstring(node) or ''}"
    )


def between(text: str) -> set[str]:
    """Rows in a text, with all of "A1 to A18"."""
    named = set()
    last = 0
    for to, letter, number in re.findall(r"(to\s+)?\b([A-EGHP])(\d+)\b", text):
        first = last + 1 if to else int(number)
        named |= {f"{letter}{each}" for each in range(first, int(number) + 1)}
        last = int(number)
    return named


ROWS = {
    cells[0]: cells
    for cells in rows(text_of("seeds.md"))
    if ROW.fullmatch(cells[0]) and len(cells) == 2
}
PLACES = {
    cells[0]: cells
    for cells in rows(text_of("seeds.md"))
    if ROW.fullmatch(cells[0]) and len(cells) == 4
}


def test_cited_rows_exist() -> None:
    """A test would rest on a claim that nobody can read."""
    assert {"A1", "B27", "C10", "D11", "E13", "G11", "H7", "P12"} <= set(ROWS)
    assert len(ROWS) == 98 + 11 + 5
    assert {row: path.name for row, path in cited().items() if row not in ROWS} == {}


@pytest.mark.parametrize("row", ROWS)
def test_a_row_has_its_tests(row: str) -> None:
    """A claim that nothing tests would stand among those that are, or a test be moved
    away from its row.
    """
    tests = re.findall(r"`([\w/]+\.py)::(test_\w+)`", PLACES[row][3])
    assert tests, "a row without a test"
    for file, name in tests:
        assert row in rows_named_by(ROOT / "tests" / file, name), (
            f"{file}::{name} does not name {row}"
        )


@pytest.fixture(scope="module")
def sources() -> dict[str, str]:
    """What library and pages say, as one text each without line ends."""
    return {
        top: " ".join(
            " ".join(path.read_text(encoding="utf-8").replace('"\n', "").split())
            for folder in folders
            for ending in ("py", "toml")
            for path in (ROOT / folder).rglob(f"*.{ending}")
        )
        for top, folders in (("library", ["dpcore"]), ("pages", ["workbench", "pages"]))
    }


@functools.cache
def strings_on_pages() -> frozenset[str]:
    """Every text in the code of pages and of what they share, whole."""
    return frozenset(
        node.value
        for folder in ("workbench", "pages")
        for path in (ROOT / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )


@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_where_it_is_said_to_be(row: str, sources: dict[str, str]) -> None:
    """Somebody would look in vain for a function, for a page, or for a part of it."""
    _row, library, browser, _tests = PLACES[row]
    for name in re.findall(r"`([\w.]+)`", library):
        assert (ROOT / name.replace(".", "/")).exists() or re.search(
            rf"\b(class|def) {name.rpartition('.')[2]}\b",
            sources["library"],
        ), name
    if browser.startswith("nothing to show"):
        assert len(browser.partition(": ")[2]) > 10, "without a reason"
        return
    titles_of_parts = strings_on_pages()
    titles = re.findall(
        r'page_of\("\w+", _\("([\w ]+)"\)',
        (ROOT / "workbench/navigation.py").read_text("utf-8"),
    )
    for place in browser.split("; "):
        page, _comma, part = place.partition(", ")
        page, _blank, lesson = (
            page.partition(" ") if page.startswith("Learn ") else (page, "", "")
        )
        assert page in titles
        assert not part or {part, part[0].lower() + part[1:]} & titles_of_parts
        assert not lesson or f'title = "{lesson} · ' in sources["pages"]


def test_learn_has_the_index_of_the_texts() -> None:
    """The page would send a reader of a text elsewhere than this list does, or a row
    that can be shown be on no line.
    """
    index = [cells for cells in rows(text_of("seeds.md")) if len(cells) == 5][1:]
    assert [[line["text"], line["place"], line["shows"]] for line in TEXTS] == [
        cells[:3] for cells in index
    ]
    for (*_what, named, where), line in zip(index, TEXTS, strict=True):
        of_rows = [PLACES[row][2].split("; ") for row in named.split(", ")]
        places = list(dict.fromkeys(place for one in of_rows for place in one))
        assert where.split("; ") == places == line["shown"]
    indexed = [row for cells in index for row in cells[3].split(", ")]
    assert len(indexed) == len(set(indexed))
    shown = {row for row in ROWS if not PLACES[row][2].startswith("nothing to show")}
    assert shown - set(indexed) == {"G9"}, "the language of pages is in no text"


def test_the_check_of_rows_sees_what_is_missing() -> None:
    """The tests above would pass for a row that nobody tests."""
    assert between("A1 to A3, B7; D19 and XA5 are no rows of E") == {
        "A1",
        "A2",
        "A3",
        "B7",
        "D19",
    }
    assert "A2" not in rows_named_by(
        ROOT / "tests/golden/test_book.py", "test_losses_add_up"
    )
    assert "A2" in rows_named_by(
        ROOT / "tests/pages/test_seed_rows.py",
        "test_a2_the_original_is_counted_in_rows_before_anything_is_released",
    )


def test_what_is_cited_is_here() -> None:
    """A reader would look for a list that was never part of the project."""
    elsewhere = re.compile(r"\b([A-Z]{4,}\.md)\b|\(([A-F]\d+)\)(?!\")")
    cites = {
        (path.name, name or row)
        for folder in ("dpcore", "workbench", "pages", "share", "tests", "benchmarks")
        for path in sorted((ROOT / folder).rglob("*.py"))
        for name, row in elsewhere.findall(path.read_text(encoding="utf-8"))
    }
    assert {(path, name) for path, name in cites if not (ROOT / name).exists()} == set()


def test_the_changes_begin_with_this_version() -> None:
    """People would look up another version than the one they have."""
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    sections = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert sections[0] == "Unreleased"
    releases = [
        re.fullmatch(r"(\S+) - (\d{4}-\d\d-\d\d)", each) for each in sections[1:]
    ]
    assert all(releases), "a release has a number and a day"
    assert releases[0]
    assert releases[0][1] == dpcore.__version__
    days = [each[2] for each in releases if each]
    assert days == sorted(days, reverse=True)


GUIDES = "".join(
    (ROOT / name).read_text(encoding="utf-8")
    for name in ("CONTRIBUTING.md", "docs/architecture.md")
)


@pytest.mark.parametrize(
    "path",
    sorted(set(re.findall(r"`((?:dpcore|workbench|tests|pages)/[\w/.]+)`", GUIDES))),
)
def test_paths_in_the_guides_exist(path: str) -> None:
    """Whoever follows the guide would look for a file that is not there."""
    assert (ROOT / path).exists()


MAX_DECISION_WORDS = 1_500
FILES = [
    path.relative_to(ROOT).as_posix()
    for top in sorted(folders(ROOT))
    for path in (ROOT / top).rglob("*.*")
    if path.suffix in (".py", ".js", ".md")
]


def missing_files(text: str) -> set[str]:
    """Files in backticks, written whole or by the end of their path, that are gone."""
    named = set(re.findall(r"`((?:[\w.-]+/)+[\w-]+\.(?:py|js|md))[`:]", text))
    ours = {name for name in named if not name.startswith("streamlit/")}
    return {
        name
        for name in ours
        if not any(file == name or file.endswith(f"/{name}") for file in FILES)
    }


def missing_names(text: str) -> set[str]:
    """Dotted names of the library in backticks that it does not have."""
    named = set(re.findall(r"`((?:dpcore|dp)(?:\.\w+)+)", text))
    return {name for name in named if not is_in_library(name)}


def is_in_library(name: str) -> bool:
    """Whether a module or an attribute of one has this dotted name."""
    parts = ["dpcore", *name.split(".")[1:]]
    for length in range(len(parts), 0, -1):
        try:
            value: object = importlib.import_module(".".join(parts[:length]))
        except ImportError:
            continue
        for part in parts[length:]:
            if not hasattr(value, part):
                return False
            value = getattr(value, part)
        return True
    return False


PAGES = [
    path.relative_to(ROOT).as_posix()
    for path in [*DOCS.rglob("*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
]


@pytest.mark.parametrize("page", sorted(PAGES))
def test_what_a_page_names_is_there(page: str) -> None:
    """A reader would look for a file or a function that is gone."""
    text = (ROOT / page).read_text(encoding="utf-8")
    assert missing_files(text) == set()
    assert missing_names(text) == set()


def test_names_that_are_gone_are_seen() -> None:
    """The test above would pass whatever a page names."""
    assert missing_files("`discrete/swaps.py`, `docs/glossary.md`") == {
        "discrete/swaps.py"
    }
    assert missing_names("`dp.Curator.open`, `dp.Curator.shut(...)`") == {
        "dp.Curator.shut"
    }


def test_every_page_says_who_needs_it() -> None:
    """Somebody would read a page to its end to learn that it is for others."""
    pages = [*DOCS.rglob("*.md")]
    assert len(pages) > 30
    first = {path: path.read_text(encoding="utf-8").split("\n\n")[1] for path in pages}
    assert [
        path.name for path, text in first.items() if not text.startswith("Who needs th")
    ] == []


def test_a_decision_is_short() -> None:
    """Nobody reads a decision of eleven thousand words."""
    words = {
        path.name: len(path.read_text(encoding="utf-8").split())
        for path in (DOCS / "decisions").glob("0*.md")
    }
    assert len(words) > 20
    assert {
        name: count for name, count in words.items() if count > MAX_DECISION_WORDS
    } == {}


def test_the_readme_is_short_and_in_order() -> None:
    """A first visitor would look for the commands below a page of details."""
    lines = README.splitlines()
    assert len(lines) < 120
    order = ["![", "## Start", "```python", "## Where to go next"]
    assert [text for text in order if text not in README] == []
    places = [README.index(text) for text in order]
    assert places == sorted(places)
    assert "license" in "\n".join(lines[:20])


BENCHMARKS = sorted(
    path.stem for path in (ROOT / "benchmarks").glob("*.py") if path.stem != "__init__"
)


def test_a_benchmark_says_how_it_is_run() -> None:
    """A figure could not be measured again."""
    for name in BENCHMARKS:
        code = (ROOT / "benchmarks" / f"{name}.py").read_text(encoding="utf-8")
        said = ast.get_docstring(ast.parse(code)) or ""
        if "def main(" in code:
            assert f"python -m benchmarks.{name}" in said, name


def test_a_benchmark_has_a_user() -> None:
    """Scripts would be kept that nobody runs and whose figures nobody cites."""
    (run,) = re.findall(
        r"for name in ([\w ]+); do echo",
        (ROOT / "Makefile").read_text(encoding="utf-8"),
    )
    texts = [
        path.read_text(encoding="utf-8")
        for top in ("docs", "benchmarks", "tests")
        for path in (ROOT / top).rglob("*.*")
        if path.suffix in (".py", ".md") and path != Path(__file__).resolve()
    ]
    unused = [
        name
        for name in BENCHMARKS
        if name not in run.split()
        and not any(
            re.search(
                rf"benchmarks[./]{name}\.py|from benchmarks import .*\b{name}\b"
                rf"|from benchmarks\.{name} |`python -m benchmarks\.{name}\b",
                text,
            )
            for text in texts
        )
    ]
    assert unused == []


def defined_names() -> set[str]:
    """Classes, functions and constants of the program."""
    names = set()
    for top in ("dpcore", "workbench"):
        for path in (ROOT / top).rglob("*.py"):
            for node in ast.parse(path.read_text(encoding="utf-8")).body:
                if isinstance(node, ast.ClassDef | ast.FunctionDef):
                    names.add(node.name)
                elif isinstance(node, ast.Assign):
                    names |= {
                        target.id
                        for target in node.targets
                        if isinstance(target, ast.Name)
                    }
    return names


def test_the_vocabulary_is_that_of_the_code() -> None:
    """Somebody would look for a word's name in code and find another, or none."""
    lines = [cells for cells in rows(text_of("vocabulary.md")) if len(cells) == 3]
    words = [cells[0] for cells in lines if cells[0] != "word"]
    assert len(words) > 80
    assert sorted(words) == sorted(set(words))
    named = {name for cells in lines for name in re.findall(r"`(\w+)`", cells[2])}
    assert named - defined_names() == set()


@pytest.mark.parametrize("name", ["requirements", "requirements-dev"])
def test_the_lock_has_what_is_required(name: str) -> None:
    """`make app` installs the lock: a package that is required and not locked would be
    missing there.
    """
    lock = (ROOT / f"{name}.lock").read_text(encoding="utf-8")
    locked = set(re.findall(r"^([\w.-]+==[\w.]+) \\$", lock, re.MULTILINE))
    lines = (ROOT / f"{name}.txt").read_text(encoding="utf-8").splitlines()
    required = {re.sub(r"\[.*\]", "", line) for line in lines if "==" in line}
    assert required <= locked, "run `make lock`"
    assert lock.count("--hash=sha256:") >= len(locked)
