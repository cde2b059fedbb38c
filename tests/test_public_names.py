"""The names that scripts import."""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import pytest

import dpcore
from dpcore import errors

NAMED_IN_THE_GUIDE = {
    "ApproxDP", "Boolean", "Categorical", "Curator", "Date", "Histogram", "Independent", "Integer", "Joint",
    "Marginals", "MemoryLedger", "PrivacyUnit", "PureDP", "Real", "Release", "Schema", "range_query",
    "suggest_schema",
}  # fmt: skip


def test_the_promised_names_are_there() -> None:
    """Scripts import these names; they do not move."""
    assert set(dpcore.__all__) >= NAMED_IN_THE_GUIDE


def test_every_error_is_public() -> None:
    """Whoever calls the library must be able to catch what it raises."""
    classes = {name: value for name, value in vars(errors).items() if inspect.isclass(value)}
    ours = {name for name, value in classes.items() if value.__module__ == errors.__name__}
    assert ours <= set(dpcore.__all__)
    assert all(issubclass(getattr(dpcore, name), dpcore.DpcoreError) for name in ours)
    for name in ours:
        assert name in (errors.__doc__ or "")


PROMISED = {
    "dpcore.anonymize": {"Hierarchy", "KAnonymity", "Plan", "apply", "quality", "suggest_hierarchy"},
    "dpcore.evaluation": {
        "Audit",
        "CountsOf",
        "Evaluation",
        "RowsEvaluation",
        "Trial",
        "range_query",
    },
    "dpcore.risk": {"attribute_risk", "column_sets", "find_identifiers", "link", "reidentification_risk"},
}


def packages() -> list[str]:
    return [
        "dpcore",
        *(each.name for each in pkgutil.walk_packages(dpcore.__path__, "dpcore.") if each.ispkg),
    ]


@pytest.mark.parametrize("package", packages())
def test_lists_of_names_are_true(package: str) -> None:
    """A name in `__all__` that is not there, or twice, breaks a star import and misleads."""
    module = importlib.import_module(package)
    names = getattr(module, "__all__", [])
    assert len(set(names)) == len(names)
    assert all(hasattr(module, name) for name in names)


@pytest.mark.parametrize("package", PROMISED)
def test_rooms_name_what_they_promise(package: str) -> None:
    """Half of the library could be reached only through modules that may move."""
    names = importlib.import_module(package).__all__
    assert set(names) >= PROMISED[package]
    assert names == sorted(names)


def classes_of_kind(package: str, *, method: str) -> set[str]:
    """Names of the concrete public classes under a package that have such a method."""
    found = set()
    for each in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}."):
        for name, value in vars(importlib.import_module(each.name)).items():
            ours = inspect.isclass(value) and value.__module__ == each.name and not name.startswith("_")
            if (
                ours
                and hasattr(value, method)
                and not inspect.isabstract(value)
                and not value.__dict__.get("_is_protocol")
            ):
                found.add(name)
    return found


@pytest.mark.parametrize(
    ("package", "method"), [("dpcore.anonymize", "violations"), ("dpcore.evaluation", "compute")]
)
def test_all_of_a_kind_are_public(package: str, method: str) -> None:
    """A privacy model or an evaluation that was added would have no name that scripts may use."""
    found = classes_of_kind(package, method=method)
    assert len(found) > 6
    rooms = [each for each in packages() if each.startswith(package)]
    assert found <= {name for room in rooms for name in getattr(importlib.import_module(room), "__all__", [])}


def test_nothing_else_is_gathered() -> None:
    """What the package imports to show it must be in the list of what it shows."""
    gathered = {
        name
        for name, value in vars(dpcore).items()
        if not name.startswith("_") and not inspect.ismodule(value) and name != "annotations"
    }
    assert gathered == set(dpcore.__all__)


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
    curator = dp.Curator.open(frame, schema, budget=dp.PureDP(epsilon="3"), ledger=dp.MemoryLedger())
    release = curator.run(dp.Marginals(cliques=[("age",), ("age", "sex")]), loss=dp.PureDP(epsilon="0.5"))
    marginal = release.marginals[("age", "sex")]
    assert marginal.values.shape == (100, 2)
    assert marginal.variance > 0
    low, high = marginal.interval(0.95)
    assert (low < high).all()
    assert list(release.sample(rows=None).columns) == ["age", "sex"]
