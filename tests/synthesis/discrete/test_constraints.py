"""Facts from outside hold in every drawn row, whatever the noise says."""

from __future__ import annotations

import json

import numpy as np
import pytest

import dpcore as dp
from dpcore.errors import InfeasibleError, LimitError, ParameterError
from dpcore.progress import silent
from dpcore.schema import Domain
from dpcore.synthesis import Adaptive, Recipe, Tree
from dpcore.synthesis.discrete.constraints import Constraints, Determines, Impossible
from tests.synthesis.standin import Table

DOMAIN = Domain(names=("age", "married", "school", "years"), sizes=(20, 3, 8, 4))
YEARS = (0, 0, 1, 1, 2, 2, 3, 3)
RULES = Constraints(
    impossible=(Impossible(columns=("age", "married"), cells=(tuple(range(6)), (1, 2))),),
    determines=(Determines(column="school", target="years", cells=YEARS),),
)


def people(rows: int, seed: int) -> Table:
    """Rows that keep the rules; most cells are rare."""
    rng = np.random.default_rng(seed)
    age = np.minimum(rng.geometric(0.12, rows) - 1, 19)
    school = np.minimum(age // 3 + rng.integers(0, 3, rows), 7)
    married = np.where(age < 6, 0, rng.integers(0, 3, rows))
    return Table({"age": age, "married": married, "school": school, "years": np.array(YEARS)[school]}, DOMAIN)


@pytest.mark.parametrize("recipe", [Tree(constraints=RULES), Adaptive(constraints=RULES)])
@pytest.mark.parametrize("epsilon", ["0.01", 1, 100])
@pytest.mark.parametrize("rows", [1, 5000])
def test_constraints_hold_in_every_row(recipe: Recipe, epsilon: str | int, rows: int) -> None:
    """One child that is married, or one degree with the wrong years, and nobody trusts the table."""
    recipe.check(DOMAIN)
    measurer = people(rows, 1).measurer(dp.PureDP(epsilon=epsilon))
    _, model = recipe.fit(measurer, silent)
    codes = model.sample_codes(20_000, np.random.default_rng(2))
    assert not np.any((codes["age"] < 6) & (codes["married"] > 0))
    np.testing.assert_array_equal(codes["years"], np.array(YEARS)[codes["school"]])


def test_determined_column_is_never_read() -> None:
    """Measuring what another column decides would pay twice for one fact."""
    table = people(2000, 3)
    Adaptive(constraints=RULES).fit(table.measurer(dp.ZCDP(rho=1)), silent)
    assert not any("years" in clique for cliques in table.read for clique in cliques)


def test_without_the_rules_noise_breaks_them() -> None:
    """The twin: the same table without constraints must show rows that break them, or nothing was tested."""

    def breaks_them() -> bool:
        _, model = Adaptive().fit(people(500, 1).measurer(dp.PureDP(epsilon="0.05")), silent)
        codes = model.sample_codes(20_000, np.random.default_rng(2))
        return bool(np.any((codes["age"] < 6) & (codes["married"] > 0)))

    # One fit in four happens to keep them; that sixteen do is rarer than one in a billion.
    assert any(breaks_them() for _ in range(16))


@pytest.mark.parametrize(
    ("rules", "error"),
    [
        (Constraints(impossible=(Impossible(columns=("age",), cells=((20,),)),)), ParameterError),
        (Constraints(impossible=(Impossible(columns=("age",), cells=(tuple(range(20)),)),)), InfeasibleError),
        (
            Constraints(determines=(Determines(column="school", target="years", cells=(0, 1)),)),
            ParameterError,
        ),
        (
            Constraints(
                determines=(
                    Determines(column="school", target="years", cells=YEARS),
                    Determines(column="years", target="married", cells=(0, 1, 2, 0)),
                )
            ),
            ParameterError,
        ),
    ],
)
def test_wrong_rules_are_refused_before_any_charge(rules: Constraints, error: type[Exception]) -> None:
    """A rule that cannot be kept must be refused by `check`, which runs before the ledger is touched."""
    with pytest.raises(error):
        Tree(constraints=rules).check(DOMAIN)


def test_rules_that_need_too_large_a_tree_are_refused() -> None:
    """A clique of constraints that cannot fit must be a clear refusal, not a crash for want of memory."""
    names = tuple(f"c{i}" for i in range(9))
    domain = Domain(names=names, sizes=(10,) * 9)
    rule = Impossible(columns=names, cells=((0,),) * 9)
    with pytest.raises(LimitError):
        Adaptive(constraints=Constraints(impossible=(rule,))).check(domain)


def test_json_keeps_the_rules() -> None:
    """A stored model must keep the rules when rows are drawn again."""
    assert Constraints.from_dict(json.loads(json.dumps(RULES.to_dict()))) == RULES


@pytest.mark.proof
def test_tree_that_constraints_would_make_huge_is_cut() -> None:
    """Edges that close loops with constraints must find room, or memory has no bound."""
    names = tuple(f"c{i}" for i in range(8))
    domain = Domain(names=names, sizes=(60,) * 8)
    rng = np.random.default_rng(1)
    base = rng.integers(0, 60, 50_000)
    table = Table({name: (base + rng.integers(0, 3, 50_000)) % 60 for name in names}, domain)
    rules = Constraints(
        impossible=tuple(
            Impossible(columns=pair, cells=((0,), (30,)))
            for pair in zip(names, names[1:] + names[:1], strict=True)
        )
    )
    for recipe in (Tree(constraints=rules), Adaptive(constraints=rules)):
        recipe.check(domain)
        _, model = recipe.fit(table.measurer(dp.ZCDP(rho=10)), silent)
        assert model.graph.tree.cells <= 4_000_000
