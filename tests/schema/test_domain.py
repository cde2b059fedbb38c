"""Domains and schemas: names, shapes and units."""

from __future__ import annotations

import pandas as pd
import pytest

import dpcore as dp
from dpcore.schema import Domain, ExcludedColumn

DOMAIN = Domain(names=("a", "b", "c"), sizes=(2, 3, 10**15))


def test_shapes_and_cells() -> None:
    """Shapes follow the order of the clique; products do not overflow."""
    assert DOMAIN.shape(("c", "a")) == (10**15, 2)
    assert DOMAIN.cells(("c", "a", "b")) == 6 * 10**15
    assert DOMAIN.cells(()) == 1
    assert DOMAIN.project(("b", "a")) == Domain(names=("b", "a"), sizes=(3, 2))


def test_a_size_is_found_without_a_search() -> None:
    """A choice among 75,000 pairs of 387 columns looks up three million sizes."""

    class Names(tuple[str, ...]):
        def index(self, *given: object) -> int:
            raise AssertionError("all names were searched")

    names = Names(f"c{place}" for place in range(400))
    assert Domain(names=names, sizes=(2,) * 399 + (3,)).cells(("c399", "c0")) == 6


def test_cliques_are_checked() -> None:
    """Unknown and doubled names are refused with the names that may be used."""
    assert DOMAIN.clique(["b", "a"]) == ("b", "a")
    with pytest.raises(dp.ParameterError, match="choose among 'a', 'b', 'c'"):
        DOMAIN.clique(["d"])
    with pytest.raises(dp.ParameterError, match="twice"):
        DOMAIN.clique(["a", "a"])


@pytest.mark.parametrize(
    ("names", "sizes"), [(("a",), (1, 2)), (("a", "a"), (1, 2)), (("a",), (0,))]
)
def test_domains_check_themselves(
    names: tuple[str, ...], sizes: tuple[int, ...]
) -> None:
    """A domain with a size for no name would count into the wrong axis."""
    with pytest.raises(dp.ParameterError):
        Domain(names=names, sizes=sizes)


def test_schema_of_a_table() -> None:
    """Columns outside the schema are left alone; declared and excluded names must not
    clash.
    """
    schema = dp.Schema(
        columns=(dp.Boolean("a"),),
        unit=dp.PrivacyUnit(max_rows=2, id_column="who"),
        excluded=(ExcludedColumn(name="who", reason="it names people"),),
    )
    frame = pd.DataFrame({"who": [1, 2], "a": [True, False], "more": ["x", "y"]})
    assert list(schema.encode(frame)) == ["a"]
    with pytest.raises(dp.SchemaError, match="no column 'who'"):
        schema.encode(frame[["a"]])
    with pytest.raises(dp.ParameterError, match="twice"):
        dp.Schema(
            columns=(dp.Boolean("a"),),
            unit=schema.unit,
            excluded=(ExcludedColumn(name="a", reason=""),),
        )
    assert "at most 2 rows, named by 'who'" in str(schema.unit)
    assert schema.from_data == {}
