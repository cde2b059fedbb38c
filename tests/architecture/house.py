"""The modules of the house and what each imports, read with `ast`."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TOPS = ("app", "server", "pages", "share", "workbench", "dpcore")


def modules(*tops: str) -> Iterator[tuple[Path, ast.Module]]:
    """Every module under these folders, parsed."""
    for top in tops:
        paths = [ROOT / f"{top}.py"] if top in ("app", "server") else sorted((ROOT / top).rglob("*.py"))
        for path in paths:
            yield path, ast.parse(path.read_text(encoding="utf-8"), str(path))


def name_of(path: Path) -> str:
    """The dotted name of a module."""
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


def imports(tree: ast.AST) -> Iterator[str]:
    """Dotted names that are imported, relative ones refused."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"relative import in line {node.lineno}"
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


OURS = list(modules(*TOPS))
CORE = list(modules("dpcore"))
NAMES = {name_of(path) for path, _ in OURS}


def module_of(imported: str) -> str:
    """The module that an imported dotted name is or lies in: `a.b.Name` lies in `a.b`."""
    return imported if imported in NAMES or "." not in imported else imported.rpartition(".")[0]


ARROWS = sorted({(name_of(path), module_of(each)) for path, tree in OURS for each in imports(tree)})
"""(module, module that it imports), foreign ones too."""
