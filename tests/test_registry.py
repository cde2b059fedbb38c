"""Kinds register themselves, whoever imports what first."""

from __future__ import annotations

import subprocess
import sys
from abc import ABC
from dataclasses import replace

import pytest

import dpcore as dp
from dpcore.errors import ParameterError
from dpcore.registry import Registered
from dpcore.schema import Column
from tests.architecture.modules import ROOT
from tests.schema.test_one_row_at_a_time import COLUMNS

READ = """
import sys
from dpcore.schema import Schema
print(*(column.kind for column in Schema.from_json(sys.stdin.read()).columns))
"""


def family() -> type[Registered]:
    class Fruit(Registered, ABC):
        pass

    return Fruit


def test_a_schema_alone_reads_every_kind_of_column() -> None:
    """A saved data set could be read back or not, by what else the program had
    imported.
    """
    examples = {column.kind: column for column in reversed(COLUMNS)}
    columns = tuple(replace(column, name=kind) for kind, column in examples.items())
    assert {column.kind for column in columns} == set(Column.kinds())
    saved = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1)).to_json()
    command = [sys.executable, "-c", READ]
    run = subprocess.run(
        command, cwd=ROOT, input=saved, capture_output=True, text=True, check=True
    )
    assert run.stdout.split() == [column.kind for column in columns]


def test_a_class_with_a_kind_registers_itself_in_its_own_family() -> None:
    """A kind would be missing where it is read back, or answer for a kind of another
    family.
    """
    fruit = family()
    other = family()
    apple = type("Apple", (fruit,), {"kind": "apple"})
    type("RedApple", (apple,), {})
    pear = type("Pear", (type("Pome", (fruit,), {}),), {"kind": "pear"})
    assert (fruit.kinds(), other.kinds()) == ({"apple": apple, "pear": pear}, {})
    assert (fruit.of_kind("pear"), apple.kinds()) == (pear, {"apple": apple})


def test_two_classes_of_one_kind_are_refused() -> None:
    """The later one would silently take the place of the first in everything that was
    saved.
    """
    fruit = family()
    type("Apple", (fruit,), {"kind": "apple"})
    with pytest.raises(
        ParameterError, match="Malus and Apple are both of the kind 'apple'"
    ):
        type("Malus", (fruit,), {"kind": "apple"})
    type("Apple", (fruit,), {"kind": "apple"})  # defined again, as a reload does


@pytest.mark.parametrize("kind", ["plum", None, ["apple"]])
def test_an_unknown_kind_is_named_with_those_that_are_known(kind: object) -> None:
    """A bare KeyError or StopIteration tells nobody which step was left out."""
    fruit = family()
    type("Apple", (fruit,), {"kind": "apple"})
    with pytest.raises(
        ParameterError, match=r"there is no Fruit of the kind .*; take one of: apple"
    ):
        fruit.of_kind(kind)
