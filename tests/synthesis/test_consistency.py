"""Marginals made to agree, against weighted least squares with dense matrices."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import dpcore as dp
from dpcore.schema import Clique, Domain
from dpcore.synthesis._consistency import (
    combine_evidence,
    consistent_variances,
    make_consistent,
)
from dpcore.tables.counts import Marginal
from tests.statistical import laws
from tests.tiers import examples


def summing(domain: Domain, clique: Clique) -> np.ndarray:
    """The matrix that turns a flat table over the whole domain into the flat marginal
    over `clique`.
    """
    cells = list(itertools.product(*map(range, domain.sizes)))
    places = [domain.names.index(name) for name in clique]
    matrix = np.zeros((domain.cells(clique), len(cells)))
    for column, cell in enumerate(cells):
        row = 0
        for place in places:
            row = row * domain.sizes[place] + cell[place]
        matrix[row, column] = 1
    return matrix


def least_squares(
    domain: Domain, marginals: list[Marginal]
) -> tuple[list[np.ndarray], list[np.ndarray]]:
    """The agreeing tables of least weighted change, and the variances of their
    cells.
    """
    matrices = [summing(domain, marginal.clique) for marginal in marginals]
    weights = np.concatenate(
        [np.full(m.values.size, 1 / m.variance) for m in marginals]
    )
    stacked = np.vstack(matrices)
    seen = np.concatenate([marginal.values.ravel() for marginal in marginals])
    root = np.sqrt(weights)
    table = np.linalg.lstsq(stacked * root[:, None], seen * root, rcond=1e-12)[0]
    inverse = np.linalg.pinv(stacked.T @ (stacked * weights[:, None]), rcond=1e-12)
    fitted = [
        (m @ table).reshape(each.values.shape)
        for m, each in zip(matrices, marginals, strict=True)
    ]
    return fitted, [
        np.diag(m @ inverse @ m.T).reshape(f.shape)
        for m, f in zip(matrices, fitted, strict=True)
    ]


@st.composite
def problems(draw: st.DrawFn) -> tuple[Domain, list[Marginal]]:
    names = "abcd"[: draw(st.integers(1, 4))]
    domain = Domain(
        names=tuple(names), sizes=tuple(draw(st.integers(1, 3)) for _ in names)
    )
    subsets = [
        frozenset(c)
        for n in range(len(names) + 1)
        for c in itertools.combinations(names, n)
    ]
    chosen = draw(
        st.lists(st.sampled_from(subsets), min_size=1, max_size=5, unique=True)
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    marginals = []
    for columns in chosen:
        clique = tuple(draw(st.permutations(sorted(columns))))
        values = rng.normal(10, 5, domain.shape(clique))
        variance = draw(st.floats(min_value=0.1, max_value=100))
        marginals.append(
            Marginal(clique=clique, values=values, variance=variance, noise="gaussian")
        )
    return domain, marginals


@examples(150)
@given(problems())
def test_agrees_with_dense_least_squares(
    problem: tuple[Domain, list[Marginal]],
) -> None:
    """The closed form must be the least-squares answer, its variances too: quotes
    promise them.
    """
    domain, marginals = problem
    found = make_consistent(domain, marginals)
    tables, variances = least_squares(domain, marginals)
    for ours, table, variance, asked in zip(
        found, tables, variances, marginals, strict=True
    ):
        assert ours.clique == asked.clique
        np.testing.assert_allclose(ours.values, table, atol=1e-9, rtol=1e-9)
        np.testing.assert_allclose(
            np.full(table.shape, ours.variance), variance, atol=1e-9, rtol=1e-9
        )
        assert ours.variance <= asked.variance * (1 + 1e-9)


@examples(150)
@given(problems(), st.data())
def test_sums_of_cells_agree_with_dense_least_squares(
    problem: tuple[Domain, list[Marginal]],
    data: st.DataObject,
) -> None:
    """The interval of a question must be that of the least-squares sum, whatever cells
    it adds.
    """
    domain, marginals = problem
    whole = data.draw(st.sampled_from(marginals)).clique
    clique = (
        tuple(data.draw(st.lists(st.sampled_from(whole), unique=True))) if whole else ()
    )
    masks = {
        name: np.array(data.draw(st.lists(st.booleans(), min_size=size, max_size=size)))
        for name, size in zip(clique, domain.shape(clique), strict=True)
    }
    matrices = [summing(domain, marginal.clique) for marginal in marginals]
    weights = np.concatenate(
        [np.full(m.values.size, 1 / m.variance) for m in marginals]
    )
    stacked = np.vstack(matrices)
    seen = np.concatenate([marginal.values.ravel() for marginal in marginals])
    inverse = np.linalg.pinv(stacked.T @ (stacked * weights[:, None]), rcond=1e-12)
    table = inverse @ stacked.T @ (weights * seen)
    asked = np.ones(domain.shape(clique), dtype=bool)
    for axis, name in enumerate(clique):
        asked &= masks[name].reshape(
            [-1 if at == axis else 1 for at in range(len(clique))]
        )
    added = summing(domain, clique).T @ asked.ravel()
    told = combine_evidence(domain, marginals, clique)
    assert told is not None
    found = told.sum(masks)
    assert float(found.values) == pytest.approx(float(added @ table), abs=1e-7)
    assert found.variance == pytest.approx(float(added @ inverse @ added), abs=1e-7)
    cells = told.table()
    np.testing.assert_allclose(
        cells.values.ravel(), summing(domain, clique) @ table, atol=1e-7
    )


@examples(100)
@given(problems())
def test_common_columns_agree(problem: tuple[Domain, list[Marginal]]) -> None:
    """Two tables of one release must not contradict each other on a column they
    share.
    """
    found = make_consistent(*problem)
    for first, second in itertools.combinations(found, 2):
        common = tuple(sorted(set(first.clique) & set(second.clique)))
        np.testing.assert_allclose(
            first.project(common).values, second.project(common).values, atol=1e-8
        )


def test_noiseless_marginals_stay() -> None:
    """Tables that already agree must not be changed."""
    rng = np.random.default_rng(2)
    domain = Domain(names=("a", "b", "c"), sizes=(4, 3, 5))
    table = rng.integers(0, 50, domain.sizes).astype(float)
    whole = Marginal(
        clique=("a", "b", "c"), values=table, variance=1.0, noise="laplace"
    )
    asked = [
        whole.project(clique) for clique in (("a", "b"), ("c", "b"), ("c", "a"), ())
    ]
    for before, after in zip(asked, make_consistent(domain, asked), strict=True):
        np.testing.assert_allclose(after.values, before.values, atol=1e-9)


def test_variance_is_what_is_seen() -> None:
    """The variance that remains, as quotes state it, must be that of real draws."""
    domain = Domain(names=("a", "b"), sizes=(3, 4))
    cliques: list[Clique] = [("a",), ("a", "b"), ("b",)]
    own = [4.0, 2.0, 8.0]
    stated = consistent_variances(domain, cliques, own)
    rng = np.random.default_rng(3)
    seen: list[list[float]] = [[], [], []]
    for _ in range(2_000):
        noisy = [
            Marginal(
                clique=c,
                values=rng.normal(0, v**0.5, domain.shape(c)),
                variance=v,
                noise="gaussian",
            )
            for c, v in zip(cliques, own, strict=True)
        ]
        for place, marginal in zip(seen, make_consistent(domain, noisy), strict=True):
            place.append(marginal.values.ravel()[0])
    for place, variance in zip(seen, stated, strict=True):
        assert laws.variance_fits(np.array(place), 0.0, variance)


def test_too_many_shared_columns_are_refused() -> None:
    """Two marginals over the same 13 columns share 8,192 sets: refused, not waited
    for.
    """
    names = tuple("abcdefghijklmno")
    domain = Domain(names=names, sizes=(1,) * 15)
    marginals = [
        Marginal(
            clique=clique, values=np.zeros((1,) * 14), variance=1.0, noise="laplace"
        )
        for clique in (names[:14], names[1:])
    ]
    with pytest.raises(dp.LimitError, match="too many columns to compute together"):
        make_consistent(domain, marginals)


def contrast(
    domain: Domain, clique: Clique, signed: Clique, sums: np.ndarray, variance: float
) -> Marginal:
    """Differences along `signed`, as a table of which only these count."""
    values = sums / 2 ** len(signed)
    for _ in signed:
        values = np.multiply.outer(values, np.array([1.0, -1.0]))
    return Marginal(
        clique=clique,
        values=values,
        variance=variance / 4 ** len(signed),
        noise="gaussian",
        signed=signed,
        own=variance / 2 ** len(signed),
    )


def test_differences_agree_with_tables_as_least_squares_say() -> None:
    """A difference taken for a whole table would add noise to what it never measured,
    or hide its own.
    """
    domain = Domain(names=("a", "b", "c"), sizes=(2, 2, 3))
    rng = np.random.default_rng(8)
    sign = np.array([[1.0, -1.0]])
    whole = [(), ("b",), ("c",), ("a", "c")]
    tables = [
        Marginal(
            clique=c,
            values=rng.normal(9, 3, domain.shape(c)),
            variance=1.0 + i,
            noise="gaussian",
        )
        for i, c in enumerate(whole)
    ]
    differences = [
        (("a",), ("a",), 3.0),
        (("a", "b"), ("a", "b"), 2.0),
        (("c", "a"), ("a",), 5.0),
    ]
    rows = []
    seen = []
    variances = []
    for each in tables:
        rows.append(summing(domain, each.clique))
        seen.append(each.values.ravel())
        variances += [each.variance] * each.values.size
    for clique, signed, variance in differences:
        by = tuple(name for name in clique if name not in signed)
        drawn = rng.normal(2, 3, domain.shape(by))
        tables.append(contrast(domain, clique, signed, drawn, variance))
        summed = np.eye(1)
        for name in clique:
            summed = np.kron(
                summed, sign if name in signed else np.eye(domain.size(name))
            )
        rows.append(summed @ summing(domain, clique))
        seen.append(drawn.ravel())
        variances += [variance] * drawn.size
    stacked = np.vstack(rows)
    weights = 1 / np.array(variances)
    best = np.linalg.lstsq(
        stacked * np.sqrt(weights)[:, None], np.concatenate(seen) * np.sqrt(weights)
    )[0]
    inverse = np.linalg.pinv(stacked.T @ (stacked * weights[:, None]), rcond=1e-12)
    for each, agreed in zip(tables, make_consistent(domain, tables), strict=True):
        matrix = summing(domain, each.clique)
        np.testing.assert_allclose(agreed.values.ravel(), matrix @ best, atol=1e-8)
        np.testing.assert_allclose(
            agreed.variance, np.diag(matrix @ inverse @ matrix.T), atol=1e-8
        )
    # the twin: differences taken for tables
    plain = [
        Marginal(clique=t.clique, values=t.values, variance=t.variance, noise=t.noise)
        for t in tables
    ]
    assert not np.allclose(
        make_consistent(domain, plain)[4].values.ravel(),
        summing(domain, ("a",)) @ best,
        atol=1e-2,
    )
