from __future__ import annotations

import hashlib
import hmac

import numpy as np
import pandas as pd
import pytest

from dpcore.anonymize.coding import pseudonyms, rounded, top_bottom_coded
from dpcore.errors import ParameterError, SchemaError

KEY = b"0123456789abcdef"


def test_extremes_are_cut_off() -> None:
    """Broken: a person of 97 is still seen among the 90-year-olds, or a gap is filled."""
    ages = pd.Series([5.0, 40.0, 97.0, np.nan])
    assert top_bottom_coded(ages, bottom=10, top=90).tolist()[:3] == [10, 40, 90]
    assert top_bottom_coded(ages, top=90).isna().tolist() == [False, False, False, True]


def test_rounding_to_multiples() -> None:
    """Broken: halves do not go away from 0, whole numbers turn into fractions, or a gap is filled."""
    assert rounded(pd.Series([-8, -7, 2, 3, 7, 8]), base=5).tolist() == [-10, -5, 0, 5, 5, 10]
    assert rounded(pd.Series([-7.5, 2.5, 7.5]), base=5).tolist() == [-10, 5, 10]
    assert rounded(pd.Series([1, 2]), base=5).dtype == np.int64
    assert rounded(pd.Series([1.0, np.nan]), base=0.5).isna().tolist() == [False, True]


def test_pseudonyms_are_keyed_and_stable() -> None:
    """Broken: equal people get two pseudonyms, another key gives the same ones, or a gap becomes a person."""
    names = pd.Series(["Ann", "Bo", "Ann", None], index=[3, 1, 2, 0], name="who")
    drawn = pseudonyms(names, key=KEY)
    assert drawn.iloc[0] == hmac.new(KEY, b"Ann", hashlib.sha256).hexdigest()[:32]
    assert drawn.iloc[0] == drawn.iloc[2] != drawn.iloc[1]
    assert drawn.isna().tolist() == [False, False, False, True]
    assert drawn.index.tolist() == [3, 1, 2, 0]
    assert pseudonyms(names, key=KEY[::-1]).iloc[0] != drawn.iloc[0]


def test_bad_requests_are_refused() -> None:
    """Broken: text is clipped, bounds are crossed, a base of 0 divides, or a short key is taken."""
    for code in (lambda s: top_bottom_coded(s, top=1), lambda s: rounded(s, base=5)):
        with pytest.raises(SchemaError):
            code(pd.Series(["a"], name="c"))
    with pytest.raises(ParameterError):
        top_bottom_coded(pd.Series([1]), bottom=2, top=1)
    with pytest.raises(ParameterError):
        rounded(pd.Series([1]), base=0)
    with pytest.raises(ParameterError):
        pseudonyms(pd.Series(["a"]), key=b"short")
