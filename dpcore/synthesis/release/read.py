"""Reading a release file that a stranger may have made: within limits, and every number checked.

Limits come before the parser: on bytes, and on how many values the text can hold. Tables are read as finite
numbers of the shape that the schema says. What passes was tried out: a row was drawn and a question was
asked. Nothing in the file is ever run.
"""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any, NoReturn, get_args

import numpy as np

from dpcore.errors import DpcoreError, ParameterError, ReadError
from dpcore.release import Release, check_file_size, check_whole
from dpcore.schema.domain import Domain
from dpcore.synthesis.categories import FoundCategories
from dpcore.synthesis.discrete.coarse_pairs import Beyond
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.synthesis.release.row_count import askable, count_rows
from dpcore.synthesis.statistics import Figures
from dpcore.synthesis.stored import describe, load_model
from dpcore.tables.counts import MAX_CELLS_TOGETHER, Marginal, Noise

MAX_VALUES = 2_000_000
"""Values and containers that the JSON text of a file may hold; tables are one text each."""
MAX_TREE_CELLS = 20_000_000
MOST = 1e12
"""Rows, beyond any table that is read."""


def read_release(data: bytes) -> Release:
    """The release of a file. Raises: ReadError, which says nothing of what the file holds."""
    check_file_size(len(data))
    if sum(map(data.count, (b",", b"{", b"["))) > MAX_VALUES:
        raise ReadError(
            "the file holds more than {most} values", remedy="open the file of a release", most=MAX_VALUES
        )
    try:
        fields = json.loads(data, parse_constant=_refuse, parse_float=_finite)
        if not isinstance(fields, dict) or "digest" not in fields or not isinstance(fields["version"], int):
            raise _not_one()
        _check_whole(fields)
        release = Release.from_dict(fields, load_model=load_model)
        _check(release)
        _check_words(release)
        release.sample(2, seed=0)
        if askable(release):
            count_rows(release, {})
    except ReadError:
        raise
    except (DpcoreError, ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError):
        raise _not_one() from None
    return release


def _check_whole(fields: dict[str, Any]) -> None:
    try:
        check_whole(fields)
    except ParameterError as error:
        raise ReadError(error.problem_template, remedy=error.remedy_template, **error.details) from None


def _check_words(release: Release) -> None:
    """Refuse texts that are none, and a promise without its numbers: pages put them into sentences."""
    guarantee = release.guarantee
    promise = (guarantee.kind, guarantee.unit, guarantee.declared_by)
    texts = (release.request_id, release.created, *promise, *(release.part or ("", "")))
    if len(texts) != 7 or not all(isinstance(each, str) for each in texts):
        raise _not_one()
    for loss in (guarantee.loss, *guarantee.stands_on):
        if not loss.keys() & {"epsilon", "rho"} or any(
            not 0 <= Fraction(each) < MOST for each in loss.values()
        ):
            raise _not_one()
    str(describe(release.recipe))
    if isinstance(release.model, Figures):
        release.schema.column(release.model.column)
        for figure in release.model.figures:
            ends = figure.cell or ()
            found = (figure.value, figure.half_width or 0.0, figure.rank_error or 0.0, *ends)
            if not isinstance(figure.name, str) or not all(map(math.isfinite, found)):
                raise _not_one()
    if isinstance(release.model, FoundCategories):
        release.schema.column(release.model.column)
        if any(not abs(count) < MOST for count in release.model.counts.values()):
            raise _not_one()


def _check(release: Release) -> None:
    """Refuse numbers that no release has, and tables that do not fit the schema."""
    schema, model = release.schema.domain, release.model
    for name in model.columns:
        schema.size(name)
    own = getattr(model, "domain", None)
    if isinstance(own, Domain) and any(schema.size(name) != own.size(name) for name in own.names):
        raise _not_one()
    for table in release.marginals.values():
        _check_table(table, schema.shape(schema.clique(table.clique)))
    for table in getattr(model, "marginals", ()):
        _check_table(table, schema.shape(table.clique))
    if isinstance(model, SyntheticModel):
        coarse = model.grouping.coarse
        if model.graph.domain != coarse or model.graph.tree.cells > MAX_TREE_CELLS:
            raise _not_one()
        for name in coarse.names:
            shapes = {model.grouping.groups[name].shape, model.grouping.shares[name].shape}
            if shapes != {(schema.size(name),)} or model.grouping.groups[name].min() < 0:
                raise _not_one()
        for table in model.measurements:
            declared = table.values.shape == schema.shape(table.clique)
            _check_table(table, table.values.shape if declared else coarse.shape(table.clique))
        if model.beyond is not None:
            _check_beyond(model.beyond, coarse)
    if not math.isfinite(model.total) or abs(model.total) > MOST:
        raise _not_one()


def _check_beyond(beyond: Beyond, coarse: Domain) -> None:
    """Refuse pairs over cells that are no merged cells of the model."""
    cells = {}
    for name, groups in beyond.groups.items():
        numbers = np.unique(groups)
        whole = groups.dtype.kind == "i" and np.array_equal(numbers, np.arange(len(numbers)))
        if not whole or groups.shape != (coarse.size(name),):
            raise _not_one()
        cells[name] = len(numbers)
    for table in beyond.tables:
        first, second = coarse.clique(table.clique)
        _check_table(table, (cells[first], cells[second]))


def _check_table(table: Marginal, shape: tuple[int, ...]) -> None:
    sizes = table.values.shape == shape and table.values.size <= MAX_CELLS_TOGETHER
    numbers = 0 <= table.variance <= MOST**2 and abs(table.values).max(initial=0.0) <= MOST
    if not (sizes and numbers and table.noise in get_args(Noise)):
        raise _not_one()


def _not_one() -> ReadError:
    return ReadError(
        "the file is not a release that can be read", remedy="ask for it again where it was made"
    )


def _refuse(_: str) -> NoReturn:
    raise _not_one()


def _finite(text: str) -> Any:
    number = float(text)
    return number if math.isfinite(number) else _refuse(text)
