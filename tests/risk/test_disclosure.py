from __future__ import annotations

import math
from collections import Counter
from unittest import mock

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.errors import ParameterError
from dpcore.risk import disclosure
from dpcore.risk.disclosure import measure_attribute_risk
from dpcore.tables.classes import equivalence_classes, leaves_of, renumber


@given(
    rows=st.lists(
        st.tuples(st.integers(0, 3), st.integers(0, 5)), min_size=1, max_size=40
    ),
    l=st.integers(1, 3),
    together=st.sampled_from([1, 7, 10**6]),
)
def test_against_the_definitions(
    rows: list[tuple[int, int]],
    l: int,  # noqa: E741
    together: int,
) -> None:
    """Broken: a figure is not what its definition, applied class by class, gives; some
    or all at once.
    """
    classes = renumber(np.array([row[0] for row in rows]), 4)
    secret = renumber(np.array([row[1] for row in rows]), 6)
    values = range(int(secret.max()) + 1)
    n = len(rows)
    prior = np.bincount(secret) / n
    with mock.patch.object(disclosure, "ROWS_PER_BATCH", together):
        found = measure_attribute_risk(classes, secret, l=l)
    distinct = []
    entropy = []
    ratio = []
    equal = []
    ordered = []
    gain = []
    certain = []
    for number in set(classes):
        inside = secret[classes == number]
        share = np.bincount(inside, minlength=len(values)) / len(inside)
        falling = sorted(Counter(inside.tolist()).values(), reverse=True)
        distinct.append(len(falling))
        entropy.append(-sum(p * math.log(p) for p in share if p))
        ratio.append(
            falling[0] / sum(falling[l - 1 :]) if len(falling) >= l else math.inf
        )
        equal.append(abs(share - prior).sum() / 2)
        ordered.append(abs(np.cumsum(share - prior)).sum() / max(1, len(values) - 1))
        gain.append((share / prior).max())
        certain.append(len(inside) if len(falling) == 1 else 0)
    assert found.distinct_l == min(distinct)
    assert found.entropy_l == pytest.approx(math.exp(min(entropy)))
    assert found.recursive_c == pytest.approx(max(ratio))
    assert found.t_equal == pytest.approx(max(equal))
    assert found.t_ordered == pytest.approx(max(ordered))
    assert found.posterior_ratio == pytest.approx(max(gain))
    assert found.homogeneous_classes == sum(size > 0 for size in certain)
    assert found.homogeneous_people == pytest.approx(sum(certain) / n)


def test_book_homogeneity_attack() -> None:
    """Broken: SEEDS B9 (table 6.5): k is 2, and still a class gives its secret away."""
    table = pd.DataFrame(
        {
            "zip": ["33617", "33617", "33620", "33620"],
            "d": ["flu", "cancer", "heart", "heart"],
        },
    )
    found = measure_attribute_risk(
        equivalence_classes(table, ["zip"]), leaves_of(table, "d").codes
    )
    assert (found.distinct_l, found.homogeneous_classes, found.homogeneous_people) == (
        1,
        1,
        0.5,
    )


def test_book_entropy() -> None:
    """Broken: SEEDS B10 (table 6.6 by zip): four rows with values 2, 1, 1 have l of 3
    and entropy l of 2.83.
    """
    table = pd.DataFrame(
        {"zip": ["336**"] * 4, "d": ["heart", "heart", "cancer", "infection"]}
    )
    found = measure_attribute_risk(
        equivalence_classes(table, ["zip"]), leaves_of(table, "d").codes
    )
    assert found.distinct_l == 3
    assert found.entropy_l == pytest.approx(2.83, abs=0.005)
    assert found.t_equal == pytest.approx(0)


def test_a_secret_with_30000_values() -> None:
    """Broken: memory grows with classes times values."""
    found = measure_attribute_risk(np.arange(30_000) // 2, np.arange(30_000))
    assert found.distinct_l == 2
    assert found.posterior_ratio == pytest.approx(15_000)


def test_l_of_zero_is_refused() -> None:
    """Broken: recursive diversity without a tail is computed."""
    with pytest.raises(ParameterError):
        measure_attribute_risk(np.array([0]), np.array([0]), l=0)


def test_pairs_counted_at_once_are_those_of_sorted_rows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """What a class reveals would depend on the number of rows of the table."""
    rng = np.random.default_rng(0)
    groups = np.unique(rng.integers(0, 40, 900), return_inverse=True)[1]
    values = rng.integers(0, 6, 900)
    monkeypatch.setattr(disclosure, "ROWS_PER_BATCH", 50)
    results = []
    for is_few in (True, False):
        monkeypatch.setattr(disclosure, "has_few_cells", lambda *_, few=is_few: few)
        results.append(measure_attribute_risk(groups, values))
    assert results[0] == results[1]
