"""Rows drawn for known cells, against the conditional distribution by brute force."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

from dpcore.schema.domain import Domain
from dpcore.synthesis.graph import _evidence
from dpcore.synthesis.graph._evidence import _Message
from dpcore.synthesis.graph.junction_tree import JunctionTree
from dpcore.synthesis.graph.model import GraphicalModel

NAMES = tuple("abcdefg")
DOMAIN = Domain(names=NAMES, sizes=(2, 3, 2, 4, 3, 2, 3))
CLIQUES = [("a", "b"), ("b", "c"), ("c", "d"), ("c", "e"), ("e", "f", "b"), ("g",)]
ROWS = 60_000
KNOWN = [("a",), ("d", "f"), ("a", "d", "g"), ("c",), ("a", "d", "e", "f", "g"), NAMES]


def model(seed: int = 0) -> GraphicalModel:
    rng = np.random.default_rng(seed)
    factors = tuple(
        (clique, rng.random(DOMAIN.shape(clique)) ** 3 + 0.01) for clique in CLIQUES
    )
    tree = JunctionTree.build(DOMAIN, CLIQUES)
    return GraphicalModel(tree=tree, factors=factors, total=1.0)


def p_value(names: tuple[str, ...], seed: int = 1) -> float:
    """Of a chi-square test of all cells, for known cells that are uniform."""
    rng = np.random.default_rng(seed)
    known = {name: rng.integers(0, DOMAIN.size(name), ROWS) for name in names}
    drawn = model().sample_codes(ROWS, rng, known)
    assert all((drawn[name] == known[name]).all() for name in names)
    joint = model().marginal(NAMES)
    axes = tuple(axis for axis, name in enumerate(NAMES) if name not in names)
    conditional = joint / joint.sum(axis=axes, keepdims=True)
    rows: npt.NDArray[np.float64] = np.zeros(DOMAIN.sizes)
    np.add.at(rows, tuple(drawn[name] for name in NAMES), 1)
    expected = rows.sum(axis=axes, keepdims=True) * conditional
    # cells with few expected rows are added up
    order = np.argsort(expected, axis=None)
    groups = np.floor(np.cumsum(expected.ravel()[order]) / 10).astype(np.int64)
    found = np.bincount(groups, weights=rows.ravel()[order])
    wanted = np.bincount(groups, weights=expected.ravel()[order])
    present = wanted > 0
    statistic = ((found - wanted)[present] ** 2 / wanted[present]).sum()
    return float(stats.chi2.sf(statistic, present.sum() - 1))


@pytest.mark.parametrize("names", KNOWN[:-1])
def test_rows_follow_the_conditional_distribution(names: tuple[str, ...]) -> None:
    """Events would be drawn for somebody else than the person they belong to."""
    assert p_value(names) > 1e-6


def test_known_cells_below_a_node_count(monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above would pass if known cells further down were forgotten."""

    def forget(message: _Message, rows: object, codes: object, wanted: object) -> float:
        return 1.0

    monkeypatch.setattr(_Message, "read", forget)
    assert p_value(("d", "f")) < 1e-6


def test_all_known_cells_come_back() -> None:
    """Nothing is left to draw, and nothing may change."""
    rng = np.random.default_rng(3)
    known = {name: rng.integers(0, DOMAIN.size(name), 50) for name in NAMES}
    drawn = model().sample_codes(50, rng, known)
    assert {name: column.tolist() for name, column in drawn.items()} == {
        name: column.tolist() for name, column in known.items()
    }


def test_cells_that_cannot_be_count_as_unknown() -> None:
    """A person whom the model of events rules out would end the drawing."""
    domain = Domain(names=("a", "b", "c"), sizes=(2, 2, 2))
    table = np.array([[1.0, 0.0], [0.0, 1.0]])
    same = GraphicalModel(
        tree=JunctionTree.build(domain, [("a", "b"), ("b", "c")]),
        factors=((("a", "b"), table), (("b", "c"), table)),
        total=1.0,
    )
    rng = np.random.default_rng(0)
    known = {"a": np.zeros(100, np.int64), "c": np.ones(100, np.int64)}
    drawn = same.sample_codes(100, rng, known)
    assert set(drawn["b"].tolist()) <= {0, 1}


def test_rows_are_split_where_messages_are_large(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Messages of many rows would not fit into memory."""
    monkeypatch.setattr(_evidence, "MAX_MESSAGE_CELLS", 9_000)
    monkeypatch.setattr(_evidence, "MAX_CHANCES", 1_000)
    assert p_value(("a", "d", "g")) > 1e-6


def test_no_known_cells_draw_as_before() -> None:
    """Releases on file would draw other rows."""
    one = model().sample_codes(500, np.random.default_rng(4))
    other = model().sample_codes(500, np.random.default_rng(4), {})
    assert all((one[name] == other[name]).all() for name in NAMES)
