"""The names that scripts import."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import subprocess
import sys
from pathlib import Path

import pytest

import dpcore
from dpcore import errors
from tests.architecture.modules import ROOT

NAMED_IN_THE_GUIDE = {
    "ApproxDP",
    "Boolean",
    "Categorical",
    "Curator",
    "Date",
    "Histogram",
    "Independent",
    "Integer",
    "Joint",
    "Marginals",
    "MemoryLedger",
    "PrivacyUnit",
    "PureDP",
    "Real",
    "Release",
    "Schema",
    "range_query",
    "suggest_schema",
}


def test_the_promised_names_are_there() -> None:
    """Scripts import these names; they do not move."""
    assert public("dpcore") >= NAMED_IN_THE_GUIDE


def test_every_error_is_public() -> None:
    """Whoever calls the library must be able to catch what it raises."""
    classes = {
        name: value for name, value in vars(errors).items() if inspect.isclass(value)
    }
    ours = {
        name for name, value in classes.items() if value.__module__ == errors.__name__
    }
    assert ours <= public("dpcore")
    assert all(issubclass(getattr(dpcore, name), dpcore.DpcoreError) for name in ours)
    for name in ours:
        assert name in (errors.__doc__ or "")


AT_THE_TOP = {
    "AuditQuestion",
    "KAnonymity",
    "OptimizedUnary",
    "Plan",
    "RandomizedResponse",
    "anonymize",
    "audit",
    "evaluate",
    "read_table",
}


def test_what_a_script_needs_is_at_the_top() -> None:
    """Half of the library would have no name at the door."""
    assert public("dpcore") >= AT_THE_TOP


def test_names_for_type_checkers_are_those_of_the_program() -> None:
    """A name would be there for an editor and missing when the script runs."""
    tree = ast.parse(Path(dpcore.__file__ or "").read_text(encoding="utf-8"))
    seen = {
        (name.name, node.module)
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("dpcore")
        for name in node.names
    }
    assert seen == {(name, dpcore._MODULE_BY_NAME[name]) for name in dpcore.__all__}
    for name in dpcore.__all__:
        assert getattr(dpcore, name) is not None
    with pytest.raises(AttributeError, match="no_such_name"):
        _ = dpcore.no_such_name


def test_the_library_loads_what_is_used() -> None:
    """A script that states one loss would wait for all engines and pandas."""
    code = """
import sys, dpcore
print([name for name in sys.modules if name.startswith(("dpcore.", "pandas"))])
dpcore.PureDP(epsilon=1)
print(any(name.startswith("dpcore.engines") for name in sys.modules))
"""
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert run.stdout.splitlines() == ["[]", "False"]


PROMISED = {
    "dpcore.anonymization": {
        "Hierarchy",
        "KAnonymity",
        "Plan",
        "apply",
        "measure_quality",
        "suggest_hierarchy",
    },
    "dpcore.evaluation": {
        "AuditQuestion",
        "CountsQuestion",
        "Evaluation",
        "RowsEvaluation",
        "TrialQuestion",
        "range_query",
    },
    "dpcore.risk": {
        "measure_attribute_risk",
        "measure_column_sets",
        "find_identifiers",
        "attack_by_linkage",
        "measure_reidentification_risk",
    },
}


def public(package: str) -> set[str]:
    """The names of a package that are neither its modules nor for itself."""
    module = importlib.import_module(package)
    if package == "dpcore":
        return set(module.__all__)
    names = vars(module).items()
    return {
        name
        for name, value in names
        if not name.startswith("_") and not inspect.ismodule(value)
    }


def packages() -> list[str]:
    return [
        "dpcore",
        *(
            each.name
            for each in pkgutil.walk_packages(dpcore.__path__, "dpcore.")
            if each.ispkg
        ),
    ]


@pytest.mark.parametrize("package", packages())
def test_what_a_package_imports_is_public_by_its_name(package: str) -> None:
    """A name without "as" is private to type checkers: a script that imports it would
    be marked as wrong.
    """
    tree = ast.parse(
        Path(importlib.import_module(package).__file__ or "").read_text(
            encoding="utf-8"
        )
    )
    lines = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom)
        and node.module not in ("__future__", "typing")
    ]
    names = [name for line in lines for name in line.names]
    assert [name.name for name in names if name.asname != name.name] == []
    assert len({name.name for name in names}) == len(names)


@pytest.mark.parametrize("package", PROMISED)
def test_rooms_name_what_they_promise(package: str) -> None:
    """Half of the library could be reached only through modules that may move."""
    assert public(package) >= PROMISED[package]


def classes_of_kind(package: str, *, method: str) -> set[str]:
    """Names of the concrete public classes under a package that have such a method."""
    found = set()
    for each in pkgutil.walk_packages(
        importlib.import_module(package).__path__, f"{package}."
    ):
        for name, value in vars(importlib.import_module(each.name)).items():
            ours = (
                inspect.isclass(value)
                and value.__module__ == each.name
                and not name.startswith("_")
            )
            if (
                ours
                and hasattr(value, method)
                and not inspect.isabstract(value)
                and not value.__dict__.get("_is_protocol")
            ):
                found.add(name)
    return found


@pytest.mark.parametrize(
    ("package", "method"),
    [("dpcore.anonymization", "violations"), ("dpcore.evaluation", "compute")],
)
def test_all_of_a_kind_are_public(package: str, method: str) -> None:
    """A privacy model or an evaluation that was added would have no name that scripts
    may use.
    """
    found = classes_of_kind(package, method=method)
    assert len(found) > 6
    rooms = [each for each in packages() if each.startswith(package)]
    assert found <= {name for room in rooms for name in public(room)}


def test_usage_of_the_guide() -> None:
    """The lines that the documentation shows must run as they are."""
    import pandas as pd

    import dpcore as dp

    frame = pd.DataFrame({"age": [17, 20, 99], "sex": ["Female", "Male", "Male"]})
    schema = dp.Schema(
        columns=(
            dp.Integer("age", low=0, high=99, bin_width=1),
            dp.Categorical("sex", categories=("Female", "Male")),
        ),
        unit=dp.PrivacyUnit(max_rows=1),
    )
    curator = dp.Curator.open(
        frame, schema, budget=dp.PureDP(epsilon="3"), ledger=dp.MemoryLedger()
    )
    release = curator.run(
        dp.Marginals(cliques=[("age",), ("age", "sex")]), loss=dp.PureDP(epsilon="0.5")
    )
    marginal = release.marginals[("age", "sex")]
    assert marginal.values.shape == (100, 2)
    assert marginal.variance > 0
    low, high = marginal.interval(0.95)
    assert (low < high).all()
    assert list(release.sample(rows=None).columns) == ["age", "sex"]
