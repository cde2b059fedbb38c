"""Imports go down only, heavy libraries stay out of start-up, and engines stay behind
the curator.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator

from tests.architecture.modules import (
    NAMES,
    PATHS,
    ROOT,
    TOPS,
    core,
    imports,
    name_of,
    nodes,
    ours,
)

LAYERS = {
    "app": 11,
    "pages": 10,
    "workbench": 9,
    "dpcore.curator": 8,
    "dpcore.synthesis": 6,
    "dpcore.suppression": 6,
    "dpcore.local": 6,
    # an audit of a recipe's loss knows the recipes
    "dpcore.evaluation": 7,
    "dpcore.io": 6,
    "dpcore.mechanisms": 5,
    "dpcore.anonymization": 5,
    "dpcore.risk": 5,
    "dpcore.engines": 5,
    "dpcore.release": 5,
    "dpcore.model": 4,
    "dpcore.tables": 3,
    "dpcore.schema": 2,
    "dpcore.accounting": 2,
    "dpcore.registry": 1,
    "dpcore.json_text": 1,
    "dpcore.errors": 0,
    "dpcore.text": 0,
    "dpcore.roots": 0,
    "dpcore.progress": 0,
}
HEAVY = {
    "altair",
    "dp_accounting",
    "duckdb",
    "opendp",
    "pyarrow.csv",
    "pyarrow.parquet",
    "pyreadstat",
    "pyspark",
    "python_calamine",
    "scipy",
    "sklearn",
    "sqlalchemy",
    "streamlit",
    "xlsxwriter",
}
"""Never at module level in dpcore.

Of pyarrow, pandas itself loads the tables and `compute`, and no more.
"""
POST_PROCESSING = {"model", "release", "schema", "synthesis", "evaluation"}
"""Where rows are drawn from public numbers; everywhere else numpy's randomness has no
business.
"""


def part(module: str) -> str:
    """Return the part of the project that a module is in."""
    parts = module.split(".")
    return ".".join(parts[:2]) if parts[0] == "dpcore" else parts[0]


def at_start_up(tree: ast.Module) -> Iterator[str]:
    """Return what is imported with the module, not inside a function."""
    for node in tree.body:
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            yield from imports(ast.Module([node], []))


def test_imports_go_down_only() -> None:
    """A lower layer that knows an upper one, or its neighbor, cannot be understood
    without it.
    """
    up = []
    for path, tree in ours().items():
        own = part(name_of(path))
        for imported in imports(tree):
            other = part(imported)
            if imported.split(".")[0] not in TOPS or other == own or own == "dpcore":
                continue  # the package itself only gathers the public names
            # `import dpcore as dp`, the public names, is for those above the library
            known = (
                LAYERS[own] >= LAYERS["workbench"]
                if imported == "dpcore" or other not in LAYERS
                else LAYERS[other] < LAYERS[own]
            )
            if not known:
                up.append(f"{name_of(path)} imports {imported}")
    assert up == []


def test_every_package_has_a_layer() -> None:
    """A package without a layer could import, and be imported, at will."""
    assert {part(name_of(path)) for path in PATHS} - {"dpcore"} <= set(LAYERS)


def test_only_the_curator_holds_an_engine() -> None:
    """Whoever can import an engine can read rows without a charge."""
    users = {
        name_of(path)
        for path, tree in ours().items()
        if any(each.startswith("dpcore.engines") for each in imports(tree))
        and part(name_of(path)) != "dpcore.engines"
    }
    assert {part(each) for each in users} == {"dpcore.curator"}


def test_a_module_with_an_underscore_is_used_inside_its_package() -> None:
    """Others would come to stand on what may change at any time."""
    internal = {name: name.partition("._")[0] for name in NAMES if "._" in name}
    strangers = [
        f"{name_of(path)} imports {imported}"
        for path, tree in ours().items()
        for imported in imports(tree)
        for name, package in internal.items()
        if (imported == name or imported.startswith(f"{name}."))
        and not f"{name_of(path)}.".startswith(f"{package}.")
    ]
    assert internal
    assert strangers == []


def test_nothing_heavy_at_start_up() -> None:
    """A heavy library at module level makes every page wait for it."""
    for path, tree in core().items():
        names = [f"{name}." for name in at_start_up(tree)]
        heavy = {
            each for each in HEAVY if any(name.startswith(f"{each}.") for name in names)
        }
        assert not heavy, f"{name_of(path)} imports {heavy}"
        assert not any("opendp.prelude" in name for name in imports(tree))


def test_importing_the_library_is_light() -> None:
    """Also what others import for us counts: nothing heavy is loaded by `import
    dpcore`.
    """
    code = "import sys, dpcore; print(' '.join(sys.modules))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    assert not set(run.stdout.split()) & HEAVY


def test_numpy_randomness_is_for_post_processing() -> None:
    """Numpy's randomness near a private number would reveal it by its last bits, or by
    its seed.
    """
    for path, tree in core().items():
        drawn = {
            node.attr
            for node in nodes(tree)
            if isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Attribute)
            and node.value.attr == "random"
            and isinstance(node.value.value, ast.Name)
            and node.value.value.id in ("np", "numpy")
        }
        assert not any(name in ("random", "numpy.random") for name in imports(tree)), (
            name_of(path)
        )
        where = part(name_of(path)).split(".")[-1]
        allowed = {"Generator", "default_rng"} if where in POST_PROCESSING else set()
        assert drawn <= allowed, f"{name_of(path)} uses {drawn}"


def test_session_state_has_one_keeper() -> None:
    """Session state that several modules write is a second, secret count."""
    for path, tree in ours().items():
        touches = any(
            isinstance(node, ast.Attribute) and node.attr == "session_state"
            for node in nodes(tree)
        )
        assert not touches or name_of(path) == "workbench.session", name_of(path)


def test_no_unsafe_html() -> None:
    """Column names are text from strangers: they must never be markup."""
    for path, tree in ours().items():
        named = {node.arg for node in nodes(tree) if isinstance(node, ast.keyword)}
        assert not named & {"unsafe_allow_html", "unsafe_allow_javascript"}, name_of(
            path
        )


def test_the_library_is_pure() -> None:
    """dpcore has numbers in and numbers out: no prints, no files, no interface."""
    for path, tree in core().items():
        for node in nodes(tree):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
                assert node.func.id not in ("print", "open", "input", "eval", "exec"), (
                    name_of(path)
                )


def public(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.ClassDef]:
    """Public functions and classes of a module, and the public methods of its public
    classes.
    """
    for node in ast.iter_child_nodes(tree):
        if isinstance(
            node, (ast.FunctionDef, ast.ClassDef)
        ) and not node.name.startswith("_"):
            yield node
            if isinstance(node, ast.ClassDef):
                yield from public(node)


def contracts() -> set[str]:
    """Methods that are explained at one class; others of the same name keep the same
    contract.
    """
    return {
        method.name
        for _, tree in core().items()
        for node in nodes(tree)
        if isinstance(node, ast.ClassDef)
        for method in node.body
        if isinstance(method, ast.FunctionDef) and ast.get_docstring(method)
    }


def test_everything_public_is_explained() -> None:
    """What a reader cannot see (units, cost, errors) must be written where they
    look.
    """
    known = contracts() | {"to_dict"}
    for path, tree in core().items():
        assert ast.get_docstring(tree) or not tree.body, (
            f"{name_of(path)} has no docstring"
        )
        for node in public(tree):
            one_line = isinstance(node, ast.FunctionDef) and len(node.body) == 1
            explained = ast.get_docstring(node) or node.name in known or one_line
            assert explained, f"{name_of(path)}.{node.name} has no docstring"


REACH = """
import sys
import workbench.share.links, workbench.share.answers
print(*sys.modules, sep="\\n")
"""
NOT_FOR_STRANGERS = (
    "dpcore.curator",
    "dpcore.engines",
    "dpcore.evaluation",
    "workbench.session",
    "workbench.ui",
    "streamlit",
    "xlsxwriter",
)


def test_pages_for_strangers_load_nothing_that_reads_rows() -> None:
    """A fault in a page for strangers would run beside what holds the rows."""
    command = [sys.executable, "-c", REACH]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    loaded = run.stdout.splitlines()
    assert "workbench.share.links" in loaded
    assert [name for name in loaded if name.startswith(NOT_FOR_STRANGERS)] == []
