"""Columns of simple numbers are read at once, to what each text would be read as."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.io import read_table
from dpcore.io._text_column import TextColumn
from tests.tiers import examples

SIMPLE = st.builds(
    "{}{}{}{}".format,
    st.sampled_from(["", "-"]),
    st.sampled_from([0, 1, 12, 123, 1234, 12345]),
    st.sampled_from(["", ","]),
    st.sampled_from(["5", "50", "500", "5000"]),
)
OTHER = st.sampled_from(
    ["n/a", "NA", "x", "1.234,5", "1,5 €", "(1,5)", "01,5", "1e5", "1,", ",5", "", "-"]
)


@examples(200)
@given(
    texts=st.lists(SIMPLE, min_size=3, max_size=40),
    others=st.lists(OTHER, max_size=2),
    use_points=st.booleans(),
)
def test_they_are_read_as_text_by_text(
    texts: list[str], others: list[str], use_points: bool
) -> None:
    """A column would mean something else, depending on the way through the reader."""
    cells = [*texts, *others]
    if use_points:
        cells = [cell.replace(",", ".") for cell in cells]
    data = ("k;v\n" + "".join(f"a;{cell}\n" for cell in cells)).encode()
    at_once = read_table(data, "a.csv")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(TextColumn, "simple_decimal_sign", None)
        one_by_one = read_table(data, "a.csv")
    pd.testing.assert_frame_equal(at_once.frame, one_by_one.frame)
    assert at_once.frame.attrs == one_by_one.frame.attrs
    assert at_once.options == one_by_one.options
    assert at_once.understood_columns == one_by_one.understood_columns


def test_the_way_at_once_is_taken() -> None:
    """Twin: without it the test above would compare nothing."""
    rows = [f"{value:.2f}".replace(".", ",") for value in np.arange(0, 50, 0.37)]
    data = ("k;v\n" + "".join(f"a;{row}\n" for row in [*rows, "n/a"])).encode()
    with pytest.MonkeyPatch.context() as patch:
        patch.delattr(TextColumn, "read_simple")
        with pytest.raises(AttributeError):
            read_table(data, "a.csv")
