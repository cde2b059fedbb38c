"""Results: public releases with their guarantees, and reports for the owner only."""

from __future__ import annotations

import dataclasses
import hashlib
import itertools
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any, Generic, NoReturn, TypeVar

import numpy as np
import pandas as pd

from dpcore.accounting.composition import Rule, total_loss
from dpcore.accounting.loss import (
    ZCDP,
    AnyLoss,
    ApproxDP,
    Loss,
    PureDP,
    loss_fields,
    loss_from_fields,
)
from dpcore.errors import DisclosureError, ParameterError, UsageError
from dpcore.model import Model, Ranks, load_model
from dpcore.schema.column import Codes
from dpcore.schema.domain import Clique
from dpcore.schema.origin import READING_MARK, TEXT_FACTS, CellSearch, Origin
from dpcore.schema.schema import DECLARED_SOURCE, Schema
from dpcore.tables.answer import CliqueCounts, get_most_precise
from dpcore.tables.counts import Marginal, cell_mask
from dpcore.tables.nearest import nearest_distribution
from dpcore.tables.rows import PublicTable
from dpcore.text import Text

RELEASE_VERSION = 1
DIFFERENTIAL_PRIVACY = "differential privacy"
"""The kind of guarantee that every release has."""
ROUNDING_SHARE = 1e-6
"""Share by which a variance that was written as a float may miss a loss."""
LEAST_NOISE_VARIANCE = 2 * math.exp(-100)
"""Of Laplace noise so small that it is written as none."""
MAX_DRAWN_ROWS = 10_000_000
MAX_UNCERTAIN_ROWS = 10_000
"""Up to so many rows are drawn even where the noisy counts do not tell how many there
are.
"""
Report = TypeVar("Report")


@dataclass(frozen=True, kw_only=True)
class Guarantee:
    """What a release promises, for whom, and on which assumptions.

    Attributes:
        kind: "differential privacy", or "syntactic" for k-anonymity and its kin, which
            has no epsilon.
        loss: the whole loss: epsilon, or epsilon and delta, or rho; texts of exact
            numbers.
        stands_on: the losses of earlier releases that are in `loss`, because their
            numbers are carried on.
        unit: who is protected, in words, with the neighboring relation.
        from_data: facts that were taken from the data and are not covered by the
            promise, by column.
        known_from: the owner's source for the facts about a column, by column.
        found: the searches that found cells privately, by column; their cost is not in
            `loss`.
        models: the syntactic models that hold, in words.
        declared_by: whose word it is that each row of the source comes from one person;
            nobody can check it.
        exact_tables: how many exact tables were published from the same account; the
            promise does not cover what these tell.
        reading_from_data: whether how the file of the table is written was read from
            that file, so that one person may change how everybody's cells are read.
    """

    kind: str
    loss: Mapping[str, str] = field(default_factory=dict)
    unit: str = ""
    from_data: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    known_from: Mapping[str, str] = field(default_factory=dict)
    found: Mapping[str, CellSearch] = field(default_factory=dict)
    models: tuple[str, ...] = ()
    stands_on: tuple[Mapping[str, str], ...] = ()
    declared_by: str = ""
    exact_tables: int = 0
    reading_from_data: bool = False

    @classmethod
    def syntactic(
        cls, models: tuple[str, ...], *, counts: str, declared_by: str = ""
    ) -> Guarantee:
        """Return the guarantee of an anonymized table.

        Args:
            models: the syntactic models that hold, in words.
            counts: unit of their sizes: rows, people, households.
            declared_by: whose word it is that each row of a source comes from one
                person.
        """
        return cls(
            kind="syntactic", unit=counts, models=models, declared_by=declared_by
        )

    def as_metadata(self) -> dict[str, str]:
        """Return the guarantee as metadata of a Parquet file."""
        return {"guarantee": json.dumps(self.to_dict())}

    def to_dict(self) -> dict[str, Any]:
        found = {name: search.to_json() for name, search in self.found.items()}
        return {
            "kind": self.kind,
            "loss": dict(self.loss),
            "stands_on": [dict(loss) for loss in self.stands_on],
            "unit": self.unit,
            "from_data": {name: list(facts) for name, facts in self.from_data.items()},
            "known_from": dict(self.known_from),
            **({"found": found} if found else {}),
            "models": list(self.models),
            **({"declared_by": self.declared_by} if self.declared_by else {}),
            **({"exact_tables": self.exact_tables} if self.exact_tables else {}),
            **({"reading_from_data": True} if self.reading_from_data else {}),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Guarantee:
        """Read the output of `to_dict`."""
        from_data = fields["from_data"]
        is_guessed = fields.get("reading_from_data", False)
        if not isinstance(is_guessed, bool):
            raise _contradiction_error(Text("how the file of the table was read"))
        of_before = any(READING_MARK in facts for facts in from_data.values())
        return cls(
            kind=fields["kind"],
            loss=fields["loss"],
            stands_on=tuple(fields.get("stands_on", ())),
            unit=fields["unit"],
            from_data={
                name: tuple(fact for fact in facts if fact != READING_MARK)
                for name, facts in from_data.items()
                if set(facts) != {READING_MARK}
            },
            reading_from_data=is_guessed or of_before,
            known_from=fields.get("known_from", {}),
            found={
                name: CellSearch.from_json(search, name)
                for name, search in fields.get("found", {}).items()
            },
            models=tuple(fields["models"]),
            declared_by=fields.get("declared_by", ""),
            exact_tables=int(fields.get("exact_tables", 0)),
        )


def guarantee_of(
    schema: Schema,
    loss: AnyLoss,
    rule: Rule,
    delta: Fraction = Fraction(0),
    stands_on: tuple[Guarantee, ...] = (),
    facts_from_data: Mapping[str, tuple[str, ...]] | None = None,
) -> Guarantee:
    """Return the guarantee of a release, including earlier releases it builds on.

    It covers everything that an earlier release cost, searches that the schema does not
    name included, and excepts everything that an earlier guarantee excepts.

    Args:
        schema: what was declared.
        loss: what the release spends.
        rule: how losses add up.
        delta: its part of the budget's delta that names categories.
        stands_on: guarantees of earlier releases.
        facts_from_data: those of the recipe, by column.
    """
    earlier = [_loss_spent(guarantee.loss) for guarantee in stands_on]
    searches = dict.fromkeys(
        search
        for guarantee in stands_on
        for search in guarantee.found.values()
        if search not in schema.found.values()
    )
    earlier += [_loss_spent(search.loss) for search in searches]
    together = total_loss([rule.convert(loss), *earlier]) if earlier else loss
    delta += sum(
        Fraction(guarantee.loss.get("threshold_delta", 0)) for guarantee in stands_on
    )
    own = Guarantee(
        kind=DIFFERENTIAL_PRIVACY,
        loss=loss_fields(together) | ({"threshold_delta": str(delta)} if delta else {}),
        stands_on=tuple(map(loss_fields, earlier)),
        unit=str(schema.unit),
        from_data=schema.from_data,
        known_from=_sources_by_column(schema),
        found=schema.found,
        declared_by=schema.declared_by,
        reading_from_data=schema.reading_from_data
        or any(guarantee.reading_from_data for guarantee in stands_on),
    )
    for marks in (facts_from_data or {}, *(other.from_data for other in stands_on)):
        own = _add_marks(own, marks)
    return own


def check_earlier_releases(stands_on: tuple[Guarantee, ...], schema: Schema) -> None:
    """Refuse earlier releases whose loss cannot be added to that of a new one.

    Raises: ParameterError where an earlier release has no loss, or protects others.
    """
    for guarantee in stands_on:
        if not guarantee.loss:
            raise ParameterError(
                "the earlier release is not differentially private",
                remedy="choose a release of this data set",
            )
        if guarantee.unit != str(schema.unit):
            raise ParameterError(
                (
                    "the earlier release protects a different privacy unit "
                    "({earlier}) from this data set ({unit}), so their losses "
                    "cannot be added"
                ),
                remedy="choose a release with this privacy unit",
                earlier=guarantee.unit,
                unit=str(schema.unit),
            )


@dataclass(frozen=True, kw_only=True, eq=False)
class Release:
    """A public result: noisy marginals, the model learned from them, and a guarantee.

    Attributes:
        request_id: of the ledger line that paid for it.
        recipe: what was asked, as plain data.
        schema: the public facts about the columns.
        marginals: clique -> noisy marginal.
        model: draws rows.
        created: when, in UTC.
        part: (column, category) when only one part of the table was read.
    """

    request_id: str
    recipe: dict[str, Any]
    schema: Schema
    guarantee: Guarantee
    marginals: Mapping[Clique, Marginal]
    model: Model
    created: str
    part: tuple[str, str] | None = None

    def __post_init__(self) -> None:
        for marginal in self.marginals.values():
            if not isinstance(marginal, Marginal):
                raise DisclosureError(
                    "a release takes noisy marginals only, not {kind}",
                    remedy="measure the counts first",
                    kind=type(marginal).__name__,
                )
        described = {
            clique: dataclasses.replace(
                marginal, columns=tuple(map(self.schema.column, clique))
            )
            for clique, marginal in self.marginals.items()
        }
        object.__setattr__(self, "marginals", described)

    def __repr__(self) -> str:
        loss = " ".join(f"{name}={text}" for name, text in self.guarantee.loss.items())
        tables = " ".join(" x ".join(clique) for clique in list(self.marginals)[:5])
        more = " ..." if len(self.marginals) > 5 else ""
        return f"Release({self.recipe.get('kind')!r}, {loss}, tables: {tables}{more})"

    @property
    def losses_paid(self) -> tuple[dict[str, str], ...]:
        """All losses charged for the release: its own, and those of private searches.

        A search for cells of several columns counts once, and so does the one for rows
        per person.
        """
        rows = self.schema.unit.found
        searches = dict.fromkeys(self.guarantee.found.values())
        return (
            dict(self.guarantee.loss),
            *(search.loss for search in searches),
            *([{PureDP.name: rows}] if rows else []),
        )

    @property
    def model_columns(self) -> tuple[str, ...]:
        """Columns of the rows drawn by `sample`, in the schema's order."""
        drawn = self.model.columns
        return tuple(name for name in self.schema.domain.names if name in drawn)

    def sample(
        self, rows: int | None = None, *, seed: int | None = None
    ) -> pd.DataFrame:
        """Draw synthetic rows with the schema's columns. Free: nothing is charged.

        Args:
            rows: how many, from 0; None for as many as the noisy counts say.
            seed: for drawing the same rows again; it has no part in the privacy noise.

        Raises: ParameterError for a number of rows that cannot be drawn, or if noise
            alone would decide it.
        """
        number = self.choose_row_count(rows)
        rng = np.random.default_rng(seed)
        codes, ranks = self.draw_ranked(number, rng)
        return self.decode(codes, ranks, rng)

    def choose_row_count(self, rows: int | None) -> int:
        """Return how many rows are drawn if a caller asks for `rows`; see `sample`."""
        if rows is None:
            rows = min(max(0, round(self.model.total)), MAX_DRAWN_ROWS)
            if rows > MAX_UNCERTAIN_ROWS and not self.has_reliable_row_count:
                raise UsageError(
                    "the noise of this release is larger than its number of rows",
                    remedy="say how many rows to draw: sample(rows=...)",
                )
        check_rows(rows)
        return int(rows)

    def decode(
        self,
        codes: dict[str, Codes],
        ranks: Ranks,
        rng: np.random.Generator,
        known: Mapping[str, pd.Series] | None = None,
    ) -> pd.DataFrame:
        """Return drawn cell numbers as rows with values.

        Args:
            codes: of the columns to decode; emptied, to free memory.
            ranks: inside cells, of the columns that have them.
            rng: of the post-processing.
            known: columns with values, which copies of them repeat; not returned.
        """
        known = known or {}
        columns = {
            # `pop` frees the codes of each column once its values are drawn
            column.name: column.decode(
                codes.pop(column.name), rng, ranks.pop(column.name, None)
            )
            for column in self.schema.columns
            if column.name in codes
        }
        declared = [column for column in self.schema.columns if column.name in columns]
        # Add the times of day first: differences start from whole time stamps, and
        # copies repeat them.
        for column in declared:
            if len(column.source_columns) == 1:
                column.combine_drawn(columns, rng)
        for copy, original in self.model.copies:
            if copy in columns:
                columns[copy] = {**known, **columns}[original].copy()
        for column in declared:
            if len(column.source_columns) > 1:
                column.combine_drawn(columns, rng)
        return pd.DataFrame(columns, copy=False)  # each column is its own already

    def draw_codes(self, rows: int, rng: np.random.Generator) -> dict[str, Codes]:
        """Draw rows as cell numbers, by column.

        None is missing in the columns of `columns_without_gaps`.
        """
        codes = self.draw_ranked(rows, rng)[0]
        # sums of cell numbers would pass the end of a small type
        return {name: column.astype(np.int64) for name, column in codes.items()}

    def draw_ranked(
        self, rows: int, rng: np.random.Generator
    ) -> tuple[dict[str, Codes], Ranks]:
        """Draw cell numbers without gaps, and ranks inside cells where known."""
        codes, ranks = self.model.sample_ranked(rows, rng)
        sizes = self._sizes_without_gaps(codes)
        has_gap = np.zeros(rows, dtype=np.bool_)
        for name, size in sizes.items():
            has_gap |= codes[name] >= size
        if not has_gap.any():
            return codes, ranks
        # Take another drawn row as a whole, so that whatever holds in every row still
        # holds.
        if not has_gap.all():
            taken = np.arange(rows)
            taken[has_gap] = rng.choice(np.flatnonzero(~has_gap), int(has_gap.sum()))
            return (
                {name: column[taken] for name, column in codes.items()},
                {name: column[taken] for name, column in ranks.items()},
            )
        return codes | self._fill_gaps(codes, sizes, rng), ranks

    def draw_known(
        self, known: Mapping[str, Codes], rng: np.random.Generator
    ) -> tuple[dict[str, Codes], Ranks]:
        """Draw the other columns for rows of known cells, as cell numbers and ranks.

        Args:
            known: column -> cell of each row.
            rng: of the post-processing.

        Raises: ParameterError if the model cannot.
        """
        codes, ranks = self.model.sample_known(known, rng)
        drawn = {name: codes[name] for name in codes if name not in known}
        filled = self._fill_gaps(drawn, self._sizes_without_gaps(drawn), rng)
        return drawn | filled, ranks

    def _sizes_without_gaps(self, codes: Mapping[str, Codes]) -> dict[str, int]:
        """Return the cells of values of the drawn columns that have no gaps."""
        return {
            name: self.schema.column(name).values_size
            for name in self.columns_without_gaps & codes.keys()
        }

    def _fill_gaps(
        self,
        codes: Mapping[str, Codes],
        sizes: Mapping[str, int],
        rng: np.random.Generator,
    ) -> dict[str, Codes]:
        """Return the columns of `sizes`, with values of other drawn rows in gaps."""
        return {
            name: _fill_missing(codes[name], size, rng)
            for name, size in sorted(sizes.items())
        }

    @property
    def has_reliable_row_count(self) -> bool:
        """Whether the number of rows exceeds its noise in the most precise table."""
        halves = [table.project(()).half_width() for table in self.marginals.values()]
        return self.model.total > min(halves, default=0.0)

    @cached_property
    def columns_without_gaps(self) -> frozenset[str]:
        """Names of columns whose cell for missing values may hold nothing but noise.

        A public rule declared the cell, nobody said that values are missing, and the
        noisy count does not show it either. So drawn rows have none, and charts leave
        the cell out.
        """
        names = (
            column.name
            for column in self.schema.columns
            if column.missing
            and column.origin("missing") == Origin.RULE
            and column.values_size
        )
        return frozenset(name for name in names if self._shows_no_missing(name))

    def chart_cells(
        self, counts: CliqueCounts
    ) -> tuple[list[tuple[str, ...]], CliqueCounts]:
        """Return the labels of each column and the counts for a chart.

        Cells of `columns_without_gaps` are left out.
        """
        columns = [self.schema.column(name) for name in counts.clique]
        cells = [
            column.values_size
            if column.name in self.columns_without_gaps
            else column.size
            for column in columns
        ]
        labels = [
            column.labels[:size] for column, size in zip(columns, cells, strict=True)
        ]
        return labels, counts.first_cells(cells)

    def _shows_no_missing(self, name: str) -> bool:
        tables = [
            table.project((name,))
            for table in self.marginals.values()
            if name in table.clique
        ]
        if not tables:
            return False
        clearest = min(tables, key=lambda table: table.variance)
        return bool(clearest.values[-1] <= clearest.half_width())

    def given(self, cells: Mapping[str, int | Sequence[int]]) -> Release:
        """Return this release restricted to rows with the given cells. Free.

        For example `given({"age": range(20, 30)})`.

        Args:
            cells: column -> cell number, or several of which a row has one.

        Raises: ParameterError for unknown columns or cells; InfeasibleError if there
            are no such rows.
        """
        for name, numbers in cells.items():
            cell_mask(self.schema.domain, name, numbers)
        return dataclasses.replace(self, model=self.model.given(cells))

    def sample_table(
        self, rows: int | None = None, *, seed: int | None = None
    ) -> PublicTable:
        """Draw rows as `sample` does, as a public table for export."""
        return PublicTable(self.sample(rows, seed=seed))

    def answer(self, columns: Clique, *, level: float = 0.95) -> CliqueCounts:
        """Return the model's counts over some columns, with intervals.

        Free.

        Args:
            columns: of one of the release's tables, axes in this order; empty for the
                number of rows.
            level: chance with which each interval holds its own count.

        Raises: ParameterError for columns that no table of the release holds together.
        """
        answer = self.model.answer(columns, level)
        if answer is not None:
            return answer
        measured = get_most_precise(self.marginals.values(), columns).project(columns)
        return CliqueCounts.from_marginal(
            nearest_distribution(measured.values, measured.total), measured, level
        )

    def table(self, columns: Clique, *, level: float = 0.95) -> pd.DataFrame:
        """Return one row per cell of some columns: labels, count and interval. Free.

        The columns "rows", "low" and "high" are those of `answer`, so that all tables
        of a release have one total; "as measured" is the noisy count before the tables
        were made to agree, where it was published. Where a column of the schema has
        such a name, "count: " is put before them.

        >>> import dpcore as dp
        >>> people = pd.DataFrame({"sex": ["Female", "Male"] * 500})
        >>> columns = (dp.Categorical("sex", categories=("Female", "Male")),)
        >>> schema = dp.Schema(columns=columns, unit=dp.PrivacyUnit(max_rows=1))
        >>> curator = dp.Curator.open(
        ...     people, schema, budget=dp.PureDP(epsilon="1"), ledger=dp.MemoryLedger()
        ... )
        >>> release = curator.run(dp.Histogram("sex"), loss=dp.PureDP(epsilon="1"))
        >>> list(release.table(("sex",)))
        ['sex', 'rows', 'low', 'high', 'as measured']

        Args:
            columns: as of `answer`.
            level: chance with which each interval holds its own count.
        """
        answer = self.answer(columns, level=level)
        figures = {"rows": answer.values, "low": answer.low, "high": answer.high}
        if columns in self.marginals:
            figures["as measured"] = self.marginals[columns].values
        cells = list(
            itertools.product(*(self.schema.column(name).labels for name in columns))
        )
        frame = (
            pd.DataFrame(cells, columns=list(columns))
            if columns
            else pd.DataFrame(index=[0])
        )
        prefix = "count: " if set(figures) & set(self.schema.domain.names) else ""
        for name, values in figures.items():
            frame[prefix + name] = np.ravel(values)
        return frame

    def to_json(self) -> str:
        """Return the content of a release file: JSON text with a version and a digest."""
        fields = {
            "version": RELEASE_VERSION,
            "request_id": self.request_id,
            "recipe": self.recipe,
            "schema": json.loads(self.schema.to_json()),
            "guarantee": self.guarantee.to_dict(),
            "marginals": [marginal.to_dict() for marginal in self.marginals.values()],
            "model": self.model.to_dict(),
            "created": self.created,
            "part": self.part,
        }
        return json.dumps({**fields, "digest": _digest(fields)})

    @classmethod
    def from_json(cls, text: str) -> Release:
        """Read the output of `to_json`.

        Raises: ParameterError for a release of another version.
        """
        return cls.from_dict(json.loads(text))

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Release:
        """Build a release from the fields of its JSON text, checked as by `from_json`.

        Texts that mean missing or count as others, which earlier versions wrote, are
        taken out: they may be those of single people. So is the digest of such a file,
        by which anybody could try texts out.
        """
        check_release_file(fields)
        marginals = [Marginal.from_dict(marginal) for marginal in fields["marginals"]]
        schema = Schema.from_json(json.dumps(fields["schema"]))
        guarantee = Guarantee.from_dict(fields["guarantee"])
        # guarantees of version 1 did not mark every fact taken from the rows, named no
        # sources at first, and described units in other words
        if fields["schema"]["version"] == 1:
            guarantee = dataclasses.replace(
                _add_marks(guarantee, schema.from_data),
                unit=str(schema.unit),
                known_from=_sources_by_column(schema),
            )
        check_origins(guarantee, schema)
        model = load_model(fields["model"])
        groups = (
            marginals,
            getattr(model, "marginals", ()),
            getattr(model, "measurements", ()),
        )
        _check_loss(guarantee, groups, schema.unit.max_rows)
        columns = tuple(column.without_texts() for column in schema.columns)
        schema = dataclasses.replace(schema, columns=columns)
        return cls(
            request_id=fields["request_id"],
            recipe=fields["recipe"],
            schema=schema,
            guarantee=guarantee,
            marginals={marginal.clique: marginal for marginal in marginals},
            model=model,
            created=fields["created"],
            part=tuple(fields["part"]) if fields["part"] else None,
        )


def _fill_missing(codes: Codes, size: int, rng: np.random.Generator) -> Codes:
    """Replace each missing value by that of another drawn row.

    Args:
        size: cells of values.
    """
    is_missing = codes >= size
    if not is_missing.any():
        return codes
    donors = np.arange(size) if is_missing.all() else codes[~is_missing]
    filled = codes.copy()
    filled[is_missing] = rng.choice(donors, int(is_missing.sum()))
    return filled


def _add_marks(guarantee: Guarantee, marks: Mapping[str, tuple[str, ...]]) -> Guarantee:
    """Return the guarantee, extended by the facts that a declaration marks."""
    together = {
        name: (*guarantee.from_data.get(name, ()), *marks.get(name, ()))
        for name in (*guarantee.from_data, *marks)
    }
    unique = {name: tuple(dict.fromkeys(facts)) for name, facts in together.items()}
    return dataclasses.replace(guarantee, from_data=unique)


def check_origins(guarantee: Guarantee, schema: Schema) -> None:
    """Refuse a guarantee that leaves out or contradicts what its schema says.

    Raises: ParameterError.
    """
    promised = {name: set(facts) for name, facts in guarantee.from_data.items()}
    for name, facts in schema.from_data.items():
        if not set(facts) <= promised.get(name, set()):
            raise ParameterError(
                (
                    "the guarantee does not list everything that was taken from the "
                    "data of column {name!r}"
                ),
                remedy="use the file as it was saved",
                name=name,
            )
    for column in schema.columns:
        if guarantee.found.get(column.name) != column.found:
            raise ParameterError(
                (
                    "the guarantee and column {name!r} state different costs for "
                    "the search for its cells"
                ),
                remedy="use the file as it was saved",
                name=column.name,
            )
    checks = (
        (Text("who is protected"), guarantee.unit == str(schema.unit)),
        (
            Text("the sources of the declared facts"),
            _without_placeholders(guarantee.known_from)
            == _without_placeholders(_sources_by_column(schema)),
        ),
        (
            Text("who declared that each row comes from one person"),
            guarantee.declared_by == schema.declared_by,
        ),
        (
            Text("how the file of the table was read"),
            guarantee.reading_from_data >= schema.reading_from_data,
        ),
        (
            Text("the earlier releases that this release builds on"),
            _covers_earlier_losses(guarantee),
        ),
    )
    for what, holds in checks:
        if not holds:
            raise _contradiction_error(what)


def _contradiction_error(what: Text) -> ParameterError:
    return ParameterError(
        "the guarantee contradicts its own file: {what}",
        remedy="use the file as it was saved",
        what=what,
    )


def _sources_by_column(schema: Schema) -> dict[str, str]:
    """Return the owner's source for the facts about each column that has one."""
    return {
        column.name: column.known_from for column in schema.columns if column.known_from
    }


def _without_placeholders(known_from: Mapping[str, str]) -> dict[str, str]:
    """Return the sources that have a name, so without the placeholder `DECLARED`."""
    return {
        name: source for name, source in known_from.items() if source != DECLARED_SOURCE
    }


def _covers_earlier_losses(guarantee: Guarantee) -> bool:
    """Return whether the stated loss covers those of the earlier releases in it."""
    if not guarantee.stands_on:
        return True
    try:
        stated = _loss_spent(guarantee.loss)
        earlier = total_loss(tuple(map(_loss_spent, guarantee.stands_on)))
        if isinstance(stated, ZCDP):
            return Rule.ZCDP.to_units(stated) >= Rule.ZCDP.to_units(earlier)
    except ParameterError:
        return False
    return isinstance(earlier, PureDP) and stated.amount >= earlier.amount


def _check_loss(
    guarantee: Guarantee, groups: Iterable[Sequence[Marginal]], max_rows: int
) -> None:
    """Refuse a guarantee that states less loss than the noise of its tables implies.

    Args:
        groups: tables of one model or release each; the losses of those that are one
            draw each add up.
        max_rows: rows of a person.

    Raises: ParameterError.
    """
    if guarantee.kind != DIFFERENTIAL_PRIVACY or not guarantee.loss:
        raise ParameterError(
            "the guarantee of a release must be differential privacy",
            remedy="use the file as it was saved",
        )
    stated = _loss_spent(guarantee.loss)
    for tables in groups:
        by_clique = {table.clique: table for table in tables}
        draws = [table for table in by_clique.values() if _is_one_draw(table)]
        least = [_least_loss(table, stated, max_rows) for table in tables]
        together = sum(_loss_of_draw(table, stated, max_rows) for table in draws)
        if max(together, *least, 0.0) > float(stated.amount) * (1 + ROUNDING_SHARE):
            raise ParameterError(
                (
                    "the guarantee states a smaller loss than the noise in its "
                    "counts implies"
                ),
                remedy="use the file as it was saved",
            )


def _is_one_draw(table: Marginal) -> bool:
    """Return whether a table's counts are one draw of noise from a known
    distribution.
    """
    return not table.pooled and not table.signed and table.noise != "max norm"


def _loss_of_draw(table: Marginal, stated: Loss, max_rows: int) -> float:
    """Return the loss of one draw of noise, as epsilon or rho like the stated one."""
    if table.noise == "gaussian":
        if not isinstance(stated, ZCDP) or not table.variance:
            return math.inf
        return max_rows**2 / (2 * table.variance)
    epsilon = max_rows * table.laplace_rate()
    if isinstance(stated, ZCDP):
        return epsilon * math.tanh(epsilon / 2)
    return epsilon


def _least_loss(table: Marginal, stated: Loss, max_rows: int) -> float:
    """Return the least loss with which an unbiased count can have a table's variance.

    By the bound of Hammersley, Chapman and Robbins, a count that `max_rows` rows change
    has a variance of at least max_rows^2 / chi^2; chi^2 between neighbors is at most
    4 sinh(epsilon / 2)^2, and exp(2 rho) - 1.
    """
    change = max_rows / (2 ** len(table.signed) if _is_contrast(table) else 1)
    ratio = change / math.sqrt(table.variance or LEAST_NOISE_VARIANCE)
    if isinstance(stated, ZCDP):
        return math.log1p(ratio**2) / 2
    return 2 * math.asinh(ratio / 2)


def _is_contrast(table: Marginal) -> bool:
    """Return whether cells hold differences alone, which a row changes by a half.

    Each column of which the difference was measured halves the change again.
    """
    return bool(table.signed) and all(
        not table.values.sum(axis=table.clique.index(name)).any()
        for name in table.signed
    )


def _loss_spent(fields: Mapping[str, str]) -> Loss:
    loss = loss_from_fields(fields)
    return ZCDP(rho=loss.rho) if isinstance(loss, ApproxDP) else loss


def check_rows(rows: object) -> None:
    """Refuse a number of rows that cannot be drawn."""
    if (
        isinstance(rows, bool)
        or not isinstance(rows, (int, np.integer))
        or not 0 <= rows <= MAX_DRAWN_ROWS
    ):
        raise UsageError(
            f"rows ({rows}) must be a whole number from 0 to {MAX_DRAWN_ROWS}",
            remedy="ask for fewer rows",
        )


def check_release_file(fields: Mapping[str, Any]) -> None:
    """Refuse a release file of another version, or with altered content.

    Raises: ParameterError.
    """
    if fields["version"] != RELEASE_VERSION:
        raise ParameterError(
            "the file has version {version}, but this program reads version {readable}",
            remedy="open it with the program that made it",
            version=fields["version"],
            readable=RELEASE_VERSION,
        )
    is_older = fields["schema"]["version"] == 1  # some of these have no digest
    if fields.get("digest", None if is_older else "") not in (None, _digest(fields)):
        raise ParameterError(
            "the release was altered after it was made",
            remedy="use the file as it was saved",
        )


def _digest(fields: Mapping[str, Any]) -> str:
    content = {name: value for name, value in fields.items() if name != "digest"}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


@dataclass(frozen=True, kw_only=True, eq=False)
class AnonymizedTable:
    """Rows generalized and suppressed by a plan; they may be exported.

    There is no differential privacy.

    Attributes:
        table: the rows.
        plan: JSON text of the exact plan that makes the same table again. Private: its
            hierarchies list the values of the original, those of suppressed rows too.
        guarantee: the syntactic models that hold; it has no epsilon.
        follow_up: JSON text of the values behind the pseudonyms of the table; empty
            without any. Private.
    """

    table: PublicTable
    plan: str
    guarantee: Guarantee
    follow_up: str = field(default="", repr=False)


@dataclass(frozen=True, kw_only=True)
class AnonymizedPair:
    """Two linked tables, generalized by a plan; they may be exported.

    There is no differential privacy.

    Attributes:
        people: a row for each person who stays, with a random name.
        events: the events of these people, with the name of the person.
        guarantee: the syntactic model that holds; it has no epsilon.
        levels: column that others may know -> the level that it was given.
        left_out_people: how many people are left out. Private.
    """

    people: PublicTable
    events: PublicTable
    guarantee: Guarantee
    levels: Mapping[str, int]
    left_out_people: int = field(repr=False)


@dataclass(frozen=True, kw_only=True)
class PrivateReport:
    """A charged, noisy answer to a question about the original; it may be shared.

    Attributes:
        request_id: of the ledger line that paid for it.
        kind: what it answers, in a word or two.
        about: what it asks about: names of columns, or parameters.
        content: the answer as plain data.
        created: when, in UTC.
    """

    request_id: str
    kind: str
    about: tuple[str, ...]
    content: dict[str, Any]
    guarantee: Guarantee
    created: str

    def to_json(self) -> str:
        """Return the report as JSON text with a version."""
        fields = dataclasses.asdict(self) | {"guarantee": self.guarantee.to_dict()}
        return json.dumps({"version": RELEASE_VERSION, "report": fields})

    @classmethod
    def from_json(cls, text: str) -> PrivateReport:
        """Read the output of `to_json`.

        Texts that mean missing or count as others, and reasons, which earlier versions
        wrote of columns with found cells, are taken out, as of a release. Marks of
        these columns are in the guarantee too.

        Raises: ParameterError for a text of another kind.
        """
        fields = json.loads(text).get("report")
        if not fields:
            raise UsageError(
                "this request made a release, not a report",
                remedy="open it as a release",
            )
        columns = _declared_columns(fields["content"])
        guarantee = Guarantee.from_dict(fields["guarantee"])
        marks = {
            column["name"]: tuple(
                fact for fact in column["from_data"] if fact != READING_MARK
            )
            for column in columns
            if {*column.get("from_data", ())} - {READING_MARK}
        }
        content = fields["content"] | ({"columns": columns} if columns else {})
        read = {
            "guarantee": _add_marks(guarantee, marks),
            "about": tuple(fields["about"]),
            "content": content,
        }
        return cls(**fields | read)


def _declared_columns(content: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the column declarations in an answer, without private texts."""
    columns = content.get("columns", ())
    if not all(isinstance(column, dict) for column in columns):
        return []  # names
    private = (*TEXT_FACTS, "reason")
    return [
        {name: value for name, value in column.items() if name not in private}
        for column in columns
    ]


@dataclass(frozen=True, kw_only=True, eq=False)
class InternalReport(Generic[Report]):
    """A result computed from the original, for its owner only; it is never shared."""

    kind: str
    content: Report = field(repr=False)

    def __reduce__(self) -> NoReturn:
        raise DisclosureError(
            "an internal report reads the original and is not stored or sent",
            remedy="release instead",
        )
