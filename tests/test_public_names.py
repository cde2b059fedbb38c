"""The names that scripts import."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from pathlib import Path

import pytest

import dpcore
from dpcore import errors

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


PROMISED = {
    "dpcore.anonymization": {
        "Hierarchy",
        "KAnonymity",
        "Plan",
        "apply",
        "quality",
        "suggest_hierarchy",
    },
    "dpcore.evaluation": {
        "Audit",
        "CountsOf",
        "Evaluation",
        "RowsEvaluation",
        "Trial",
        "range_query",
    },
    "dpcore.risk": {
        "attribute_risk",
        "column_sets",
        "find_identifiers",
        "link",
        "reidentification_risk",
    },
}


def public(package: str) -> set[str]:
    """The names of a package that are neither its modules nor for itself."""
    names = vars(importlib.import_module(package)).items()
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
        each
        for each in tree.body
        if isinstance(each, ast.ImportFrom) and each.module != "__future__"
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
