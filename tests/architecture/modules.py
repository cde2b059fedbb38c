"""The modules of the project and what each imports, read with `ast`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("app", "pages", "workbench", "dpcore")


def name_of(path: Path) -> str:
    """Return the dotted name of a module."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(
        ".__init__"
    )


@cache
def nodes(tree: ast.Module) -> tuple[ast.AST, ...]:
    """Return every node of a module, walked once for all tests."""
    return tuple(ast.walk(tree))


def imports(tree: ast.Module) -> Iterator[str]:
    """Iterate over dotted names that are imported, and refuse relative ones."""
    for node in nodes(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in line {node.lineno}"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


PATHS = [
    path
    for top in TOPS
    for path in (sorted((ROOT / top).rglob("*.py")) or [ROOT / f"{top}.py"])
]
NAMES = set(map(name_of, PATHS))


@cache
def ours() -> dict[Path, ast.Module]:
    """Parse every module of the project, when a test first needs it."""
    return {
        path: ast.parse(path.read_text(encoding="utf-8"), str(path)) for path in PATHS
    }


def core() -> dict[Path, ast.Module]:
    """Return the modules of the library."""
    return {
        path: tree
        for path, tree in ours().items()
        if name_of(path).split(".")[0] == "dpcore"
    }


def module_of(imported: str) -> str:
    """Return the module that an imported dotted name is, or lies in, as `a.b.Name` does
    in `a.b`.
    """
    return (
        imported
        if imported in NAMES or "." not in imported
        else imported.rpartition(".")[0]
    )


@cache
def arrows() -> list[tuple[str, str]]:
    """Return each (module, module that it imports), foreign ones too."""
    return sorted(
        {
            (name_of(path), module_of(each))
            for path, tree in ours().items()
            for each in imports(tree)
        },
    )
