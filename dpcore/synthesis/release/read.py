"""A reader for untrusted release files, with size limits and full validation.

Limits come before the parser: on bytes, and on how many values the text can hold.
Tables are read as finite numbers of the shape that the schema says. A release is
accepted only after a row was drawn and a question was asked. Nothing in the file is
ever run.
"""

import json
import math
import os
from fractions import Fraction
from pathlib import Path
from typing import Any, NoReturn, get_args

import numpy as np

from dpcore.errors import DpcoreError, ParameterError, ReadError, wrong_file_kind_error
from dpcore.release import Release, check_release_file
from dpcore.schema.domain import Domain
from dpcore.synthesis._categories import FoundCategories
from dpcore.synthesis.base import describe_recipe
from dpcore.synthesis.discrete.coarse_pairs import CoarsePairs
from dpcore.synthesis.discrete.concordance import Concordances
from dpcore.synthesis.discrete.model import SyntheticModel
from dpcore.synthesis.release.row_count import count_rows, queryable_columns
from dpcore.synthesis.statistics import Figures
from dpcore.tables.counts import MAX_TOTAL_CELLS, Marginal, Noise

MAX_FILE_BYTES = 50_000_000
"""Bytes of a release file that is read."""
MAX_VALUES = 2_000_000
"""Values and containers that the JSON text of a file may hold; tables are one text
each.
"""
MAX_TREE_CELLS = 20_000_000
"""Cells of a junction tree that a release may have."""
MAX_ROWS = 1e12
"""Largest count or loss in a release; no table has as many rows."""


def read_release(source: bytes | str | os.PathLike[str]) -> Release:
    """Read a release from a file that holds the output of `Release.to_json`.

    Needs neither table nor ledger. The digest shows that the file is whole; it does not
    show who made it.

    Args:
        source: path of the file, or its bytes.

    Raises: ReadError for a file that is no release, is too large, was altered, or is of
        a newer version; it says nothing of what the file holds.
    """
    size = len(source) if isinstance(source, bytes) else os.path.getsize(source)
    if size > MAX_FILE_BYTES:
        raise _too_large_error()
    data = source if isinstance(source, bytes) else Path(source).read_bytes()
    if sum(map(data.count, (b",", b"{", b"["))) > MAX_VALUES:
        raise _too_large_error()
    try:
        fields = json.loads(
            data, parse_constant=_refuse_constant, parse_float=_finite_float
        )
        _require_all(
            isinstance(fields, dict)
            and "digest" in fields
            and isinstance(fields["version"], int)
        )
        _check_file_is_whole(fields)
        release = Release.from_dict(fields)
        _check_tables(release)
        _check_texts(release)
        release.sample(2, seed=0)
        if queryable_columns(release):
            count_rows(release, {})
    except ReadError:
        raise
    except (
        DpcoreError,
        ArithmeticError,
        AttributeError,
        LookupError,
        RecursionError,
        TypeError,
        ValueError,
    ):
        raise wrong_file_kind_error() from None
    return release


def _check_file_is_whole(fields: dict[str, Any]) -> None:
    try:
        check_release_file(fields)
    except ParameterError as error:
        raise ReadError(
            error.problem_template, remedy=error.remedy_template, **error.details
        ) from None


def _check_texts(release: Release) -> None:
    """Refuse text fields that hold no text, and losses that hold no numbers.

    Pages show them.
    """
    guarantee = release.guarantee
    model = release.model
    promise = (guarantee.kind, guarantee.unit, guarantee.declared_by)
    texts = (release.request_id, release.created, *promise, *(release.part or ("", "")))
    _require_all(len(texts) == 7, *(isinstance(text, str) for text in texts))
    for loss in (guarantee.loss, *guarantee.stands_on):
        _require_all(
            loss.keys() & {"epsilon", "rho"},
            *(0 <= Fraction(amount) < MAX_ROWS for amount in loss.values()),
        )
    str(describe_recipe(release.recipe))
    if isinstance(model, Figures):
        release.schema.column(model.column)
        for figure in model.figures:
            numbers = (
                figure.value,
                figure.half_width or 0.0,
                figure.rank_error or 0.0,
                *(figure.cell or ()),
            )
            _require_all(isinstance(figure.name, str), *map(math.isfinite, numbers))
    if isinstance(model, FoundCategories):
        release.schema.column(model.column)
        _require_all(*(abs(count) < MAX_ROWS for count in model.counts.values()))


def _check_tables(release: Release) -> None:
    """Refuse impossible numbers, and tables that do not fit the schema."""
    schema = release.schema.domain
    model = release.model
    for name in model.columns:
        schema.size(name)
    domain = getattr(model, "domain", None)
    _require_all(
        not isinstance(domain, Domain)
        or all(schema.size(name) == domain.size(name) for name in domain.names)
    )
    for table in release.marginals.values():
        _check_table(table, schema.shape(schema.clique(table.clique)))
    for table in (*getattr(model, "marginals", ()), *getattr(model, "measured", ())):
        _check_table(table, schema.shape(table.clique))
    if isinstance(model, SyntheticModel):
        grouping = model.grouping
        coarse = model.grouping.group_domain
        _require_all(
            model.graph.domain == coarse, model.graph.tree.cells <= MAX_TREE_CELLS
        )
        for name in coarse.names:
            groups = grouping.groups[name]
            shares = grouping.shares[name]
            _require_all(
                {groups.shape, shares.shape} == {(schema.size(name),)},
                groups.min() >= 0,
            )
        for table in model.measurements:
            declared = table.values.shape == schema.shape(table.clique)
            _check_table(
                table, table.values.shape if declared else coarse.shape(table.clique)
            )
        if model.outside_pairs is not None:
            _check_coarse_pairs(model.outside_pairs, coarse)
        if model.concordances is not None:
            _check_concordances(model.concordances, coarse)
    _require_all(math.isfinite(model.total), abs(model.total) <= MAX_ROWS)


def _check_coarse_pairs(pairs: CoarsePairs, domain: Domain) -> None:
    """Refuse pairs whose coarse cells do not come from the model's cells."""
    cells = {}
    for name, groups in pairs.groups.items():
        numbers = np.unique(groups)
        cells[name] = len(numbers)
        _require_all(
            groups.dtype.kind == "i", np.array_equal(numbers, np.arange(len(numbers)))
        )
        _require_all(groups.shape == (domain.size(name),))
    for table in pairs.tables:
        first, second = domain.clique(table.clique)
        _check_table(table, (cells[first], cells[second]))


def _check_concordances(numbers: Concordances, domain: Domain) -> None:
    """Refuse concordances that do not fit the columns' cells or name no pair."""
    for name, sides in numbers.sides.items():
        _require_all(
            sides.shape == (domain.size(name),),
            np.isin(sides, (-1, 0, 1)).all(),
            sides.any(),
        )
    pairs = {frozenset(pair) for pair in numbers.rows}
    _require_all(len(pairs) == len(numbers.rows), all(len(pair) == 2 for pair in pairs))
    _require_all(*(numbers.sides.keys() >= pair for pair in pairs))
    _require_all(*(abs(rows) <= MAX_ROWS for rows in numbers.rows.values()))


def _check_table(table: Marginal, shape: tuple[int, ...]) -> None:
    _require_all(table.values.shape == shape, table.values.size <= MAX_TOTAL_CELLS)
    _require_all(
        0 <= table.variance <= MAX_ROWS**2,
        abs(table.values).max(initial=0.0) <= MAX_ROWS,
    )
    _require_all(table.noise in get_args(Noise))


def _require_all(*conditions: object) -> None:
    if not all(conditions):
        raise wrong_file_kind_error()


def _too_large_error() -> ReadError:
    return ReadError(
        "the release file is too large to be read",
        remedy="keep only the columns or rows that you need",
    )


def _refuse_constant(_: str) -> NoReturn:
    raise wrong_file_kind_error()


def _finite_float(text: str) -> Any:
    number = float(text)
    return number if math.isfinite(number) else _refuse_constant(text)
