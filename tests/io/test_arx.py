"""Projects of ARX: what its window shows is what opens here, and nothing in the file is
ever run.
"""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from dpcore.anonymization import (
    AverageClassSize,
    AverageRisk,
    BetaLikeness,
    DeltaPresence,
    Discernibility,
    DistinctL,
    EntropyL,
    InformationLoss,
    KAnonymity,
    KMap,
    NonUniformEntropy,
    RecursiveCL,
    TCloseness,
    apply,
)
from dpcore.errors import LimitError, ReadError
from dpcore.io import Limits, ReadResult, read_table
from dpcore.synthesis import read_release
from tests.io.arx_project import (
    AGES,
    HIERARCHIES,
    USUAL,
    packed,
    parts,
    project,
    row_set,
)
from tests.needs import ARX

SUBSET = [True] * 5 + [False] * 2 + [True] * 3
MODELS = {
    "5-anonymity": KAnonymity(k=5),
    "(3)-map": KMap(k=3),
    "(0.0,0.5)-presence": DeltaPresence(lowest=0, highest=0.5),
    "distinct-3-diversity for attribute 'diagnosis'": DistinctL(
        column="diagnosis", l=3
    ),
    "shannon-entropy-2.5-diversity for attribute 'diagnosis'": EntropyL(
        column="diagnosis", l=2.5
    ),
    "recursive-(4.0,2)-diversity for attribute 'diagnosis'": RecursiveCL(
        column="diagnosis", c=4, l=2
    ),
    "0.2-closeness with equal ground-distance for attribute 'diagnosis'": TCloseness(
        column="diagnosis",
        t=0.2,
    ),
    "1.0E-3-closeness with hierarchical ground-distance for attribute 'diagnosis'": TCloseness(
        column="diagnosis",
        t=0.001,
        distance="hierarchical",
    ),
    "0.4-closeness with ordered distance for attribute 'diagnosis'": TCloseness(
        column="diagnosis",
        t=0.4,
        distance="ordered",
    ),
    "2.5-basic likeness for attribute 'diagnosis'": BetaLikeness(
        column="diagnosis", beta=2.5
    ),
    "(0.2)-avg-reidentification-risk": AverageRisk(most=0.2),
}
METRICS = {
    USUAL: InformationLoss(),
    "Average equivalence class size": AverageClassSize(),
    "Non-monotonic discernability": Discernibility(),
    "Non-uniform entropy": NonUniformEntropy(),
}


def read(data: bytes, **options: object) -> ReadResult:
    return read_table(data, "own.deid", **options)  # type: ignore[arg-type]


def test_a_project_opens_with_all_that_it_says() -> None:
    """Whoever comes from ARX would make hierarchies, roles and demands again by
    hand.
    """
    read_back = read(
        project(
            criteria=("Inclusion", *MODELS),
            limit=0.04,
            weights={"age": 1.0},
            subset=SUBSET,
        ),
    )
    plan = read_back.plan
    assert plan is not None
    assert plan.roles == {
        "name": "identifier",
        "age": "quasi-identifier",
        "sex": "quasi-identifier",
        "diagnosis": "sensitive",
        "visits": "insensitive",
    }
    assert {
        name: (len(each.values), each.height) for name, each in plan.hierarchies.items()
    } == {
        "age": (40, 2),
        "sex": (2, 1),
        "diagnosis": (3, 2),
    }
    assert plan.hierarchies["age"].to_csv() == AGES
    assert plan.models == tuple(MODELS.values())
    assert (plan.limit, plan.metric) == (0.04, InformationLoss(weights={"age": 2.0}))
    assert plan.subset is not None
    assert read_back.frame[plan.subset].tolist() == SUBSET
    assert read_back.frame["age"].tolist() == [31, 34, 38, 39, 33, 61, 62, 64, 67, 68]
    assert [str(note) for note in read_back.notes] == [
        "The project file contains the original table: do not pass it on",
    ]


@pytest.mark.parametrize("words", METRICS)
def test_what_is_minimized_is_taken_over(words: str) -> None:
    """Another node would be the best one here than there."""
    plan = read(project(metric=words)).plan
    assert plan is not None
    assert plan.metric == METRICS[words]


def test_the_arithmetic_mean_is_told_from_the_geometric_one() -> None:
    """The mean over the columns is in Java's objects alone; the wrong one finds another
    node.
    """
    plan = read(project(objects=b"t\x00\x0fARITHMETIC_MEAN")).plan
    assert plan is not None
    assert plan.metric == InformationLoss(mean="arithmetic")


def test_the_plan_makes_the_table_of_the_published_rows() -> None:
    """The plan would be for show."""
    result = read(project(subset=SUBSET, limit=0.0))
    assert result.plan is not None
    table = apply(result.frame, result.plan)
    assert len(table) == sum(SUBSET)
    assert list(table.columns) == ["age", "sex", "diagnosis", "visits"]
    assert table.groupby(["age", "sex"]).size().min() >= 2


@pytest.mark.parametrize(
    ("choices", "note"),
    [
        (
            {"criteria": ["2-anonymity", "(1.0,0.1)-DP"]},
            "the plan leaves them out: (1.0,0.1)-DP",
        ),
        ({"criteria": ["(1.0,0.1)-DP"]}, "the plan leaves them out: (1.0,0.1)-DP"),
        (
            {"criteria": ["(1.0E-4)-population-uniqueness (dankar)"]},
            "The plan uses this one instead: 5-anonymity",
        ),
        (
            {"metric": "Classification accuracy"},
            "The project minimizes Classification accuracy, which is not supported here. "
            "The plan minimizes information",
        ),
        (
            {"metric": "Loss (0.1/0.2/1.0)"},
            "minimizes Loss (0.1/0.2/1.0), which is not supported here.",
        ),
        (
            {"more": {"visits": "<min>1</min>"}},
            "The plan leaves out the project's limits on the levels of these columns: visits",
        ),
        (
            {
                "more": {
                    "age": (
                        "<microaggregationFunction>Arithmetic "
                        "mean</microaggregationFunction>"
                    )
                }
            },
            "The project averages these columns (microaggregation); the plan does not: age",
        ),
    ],
)
def test_what_is_not_taken_over_is_said(choices: dict[str, object], note: str) -> None:
    """A demand that went missing in silence would be believed to hold."""
    result = read(project(**choices))
    assert result.plan is not None
    assert any(note in each for each in result.notes[1:])
    instead = any(
        "The plan uses this one instead: 5-anonymity" in each for each in result.notes
    )
    assert result.plan.models == (KAnonymity(k=5 if instead else 2),)


def test_a_hierarchy_that_ends_early_gets_its_last_level() -> None:
    """ARX takes hierarchies without one label for all; the whole project would be
    refused for one.
    """
    plan = read(project(hierarchies=HIERARCHIES | {"sex": "F\nM\n"})).plan
    assert plan is not None
    assert plan.hierarchies["sex"].levels == (("F", "M"), ("*", "*"))


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 200])
def test_the_research_subset_is_that_of_java(rows: int) -> None:
    """A bit off by one publishes a row that nobody chose."""
    marks = np.random.default_rng(rows).random(rows) < 0.5
    marks[0] = False
    table = [("P", 30 + place % 40, "F", "flu", 1) for place in range(rows)]
    result = read(project(rows=table, subset=marks.tolist()))
    assert result.plan is not None
    assert result.plan.subset is not None
    pd.testing.assert_series_equal(
        result.frame[result.plan.subset],
        pd.Series(marks),
        check_names=False,
        check_index=False,
    )


ENTITY = (
    "<!DOCTYPE c [<!ENTITY a "
    '"5-anonymity">]><config><criterion>&a;</criterion></config>'
)
ROLELESS = "<definition><assigment><name>age</name></assigment></definition>"
REFUSED = {
    "an entity": {"input/config.xml": ENTITY.encode()},
    "an entity in another encoding": {"input/config.xml": ENTITY.encode("utf-16")},
    "no xml": {"input/definition.xml": b"<definition><assigment>"},
    "a part that swells": {"input/hierarchies/age.csv": b"30;*\n" * 2_000_000},
    "a column without a role": {"input/definition.xml": ROLELESS.encode()},
    "a limit without a number": {
        "input/config.xml": b"<c><relativeMaxOutliers>x</relativeMaxOutliers></c>"
    },
}


@pytest.mark.parametrize("what", REFUSED)
def test_hostile_projects_are_refused_without_their_content(what: str) -> None:
    """A stranger's project could fill the memory, read files, or end in a traceback."""
    with pytest.raises(ReadError, match="named deid, but is damaged") as refusal:
        read(packed(parts() | REFUSED[what]))
    assert "30;" not in str(refusal.value)


@pytest.mark.parametrize(
    "missing", ["project.xml", "input/config.dat", "data/input.csv"]
)
def test_a_project_without_a_part_is_refused(missing: str) -> None:
    """ARX saves projects without a table; nothing could be opened of one."""
    files = parts()
    del files[missing]
    with pytest.raises(ReadError, match="named deid, but is damaged"):
        read(packed(files))


def test_what_is_no_zip_or_too_large_is_refused() -> None:
    """The limits of tables would not hold for what a project unpacks to."""
    with pytest.raises(ReadError, match="named deid, but is damaged"):
        read(b"age,sex\n1,F\n")
    with pytest.raises(LimitError):
        read(project(), limits=Limits(bytes=2_000))


def test_a_subset_of_another_table_is_refused() -> None:
    """Other rows than ARX's would be published."""
    with pytest.raises(ReadError, match="named deid, but is damaged"):
        read(packed(parts() | {"input/config.dat": row_set([True, False] * 20)}))


def test_a_project_is_nothing_to_share() -> None:
    """It holds the raw table: whoever opens it as a release must be refused."""
    with pytest.raises(ReadError):
        read_release(project())


@pytest.mark.parametrize(
    ("stored", "node"),
    [
        (["[1, 10]", "[1, 0]", "[2, 1]"], {"age": 2, "sex": 1}),
        (["[0, 1]"], {"age": 0, "sex": 1}),
        (["[1, 0]", "[0, 1]", "[30, 39]"], {"age": 0, "sex": 1}),
        (["[1, 0, 1]", "[3, 0]", "[1, 2]", "[1,0]", "[-1, 0]"], None),
        ([], None),
    ],
)
def test_the_applied_levels_are_taken_over(
    stored: list[str], node: dict[str, int] | None
) -> None:
    """A project would not open as it was left: other levels would be searched for. A
    label of an interval is no node.
    """
    result = read(project(stored=stored))
    assert result.plan is not None
    assert result.plan.node == node
    told = "The levels are those that the project had applied" in result.notes
    assert told == (node is not None)


def test_a_project_that_averages_has_no_levels_to_take_over() -> None:
    """A node without the averaged columns would be no node of the plan."""
    more = {"age": "<microaggregationFunction>Mean</microaggregationFunction>"}
    result = read(project(stored=["[1]", "[1, 0]"], more=more))
    assert result.plan is not None
    assert result.plan.node is None


# of ARX's own window: rows, published rows, k, limit, leaves and levels of two
# hierarchies
NODES = {
    "example": [0, 2, 0, 1, 2, 1, 1, 1, 0],
    "example3": [0, 3, 0, 0, 2, 1, 0, 1, 0],
    "example4": [0, 2, 0, 1, 2, 1, 1, 1, 0],
}
FIGURES = {
    "example": (30_162, 5_692, 5, 1.0, {"age": (100, 5), "education": (16, 4)}),
    "example2": (68_725, 68_725, 5, 1.0, {"Age": (93, 7), "Income": (464, 7)}),
    "example3": (
        30_162,
        30_162,
        None,
        1.0,
        {"age": (100, 5), "native-country": (41, 3)},
    ),
    "example4": (30_162, 5_692, 5, 1.0, {"occupation": (14, 3), "workclass": (8, 3)}),
    "example5": (30_162, 5_692, 5, 1.0, {"age": (100, 5), "salary-class": (2, 2)}),
}


@pytest.mark.proof
@pytest.mark.parametrize("name", FIGURES)
def test_the_example_projects_of_arx_open(name: str) -> None:
    """The format is documented nowhere: a small project of our own could misread it in
    the same way.

    `ARX_PROJECTS` names the folder of ARX's example projects, `data` of its sources.
    """
    folder = Path(os.environ.get("ARX_PROJECTS", "/nowhere"))
    if not (folder / f"{name}.deid").exists():
        pytest.skip(ARX)
    result = read_table((folder / f"{name}.deid").read_bytes(), f"{name}.deid")
    plan, (rows, published, k, limit, trees) = result.plan, FIGURES[name]
    assert plan is not None
    assert (len(result.frame), plan.limit) == (rows, limit)
    assert (
        rows if plan.subset is None else int(result.frame[plan.subset].sum())
    ) == published
    assert set(plan.roles.values()) == {"quasi-identifier"}
    assert len(plan.roles) == (30 if name == "example2" else 9)
    if k is not None:
        assert KAnonymity(k=k) in plan.models
    for column, (leaves, levels) in trees.items():
        hierarchy = plan.hierarchies[column]
        assert (len(hierarchy.values), len(hierarchy.levels)) == (leaves, levels)
    for column, hierarchy in plan.hierarchies.items():
        assert (hierarchy.encode(result.frame[column]) >= 0).all()
    assert (plan.node and list(plan.node.values())) == NODES.get(name)
