"""Columns: public facts about their values, and the cell number of each value.

A column turns values into cell numbers (`encode`) and cell numbers back into values
(`decode`). Here are categories and booleans; columns of numbers and dates are in
`interval`. The cells are, in order: the declared ones, then one for "other" where
declared, then one for missing where declared.
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, MutableMapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.errors import ParameterError, SchemaError, UsageError
from dpcore.registry import Registered
from dpcore.schema.origin import (
    CELL_FACTS,
    CENSORED_RULE,
    FACTS_BY_RULE,
    HIGHEST_AGE,
    MISSING_WORDS_RULE,
    NUMBER_LIMIT,
    ONLY_NUMBERS_RULE,
    SPELLINGS_RULE,
    TEXT_FACTS,
    VALUE_FACTS,
    CellSearch,
    Origin,
    censored_number,
    fold_text,
    means_missing,
)
from dpcore.schema.values import (
    MISSING,
    OTHER_LABEL,
    as_text,
    declared_texts,
    exact_text,
    map_texts,
    parse_number,
)
from dpcore.text import Text

Codes = npt.NDArray[np.int64]
DrawRanks = Callable[[], npt.NDArray[np.float64]]
"""Draws the rank of each value among those of its cell, from 0 to 1."""

MAX_COLUMN_CELLS = 100_000
_NON_TEXT_DTYPES = "iufbM"
"""Kinds of numpy types whose values are no texts."""
_LIST_FACTS = (
    "categories",
    "special",
    "cuts",
    "rules",
    "missing_tokens",
    "synonyms",
    "from_data",
)
"""Facts that are lists; a text would be taken apart into its signs."""
_NON_FACT_FIELDS = ("name", "rules", "from_data", "known_from", "found", "reason", "of")
"""Fields that are no facts of their own: `of` belongs to the kind."""


@dataclass(frozen=True, kw_only=True)
class OutsideCounts:
    """Counts of values outside the declaration of a private column, for its owner only.

    All are counts of rows. `clipped` rows move to the nearest bound, `other` rows go to
    the cell "other", `missing` rows to the cell for missing. `refused` rows have no
    cell to go to.
    """

    clipped: int = 0
    other: int = 0
    missing: int = 0
    refused: int = 0


@dataclass(frozen=True, kw_only=True)
class Column(Registered, ABC, home="dpcore.schema"):
    """The base of every kind of column: its name and the public facts about it.

    Attributes:
        name: as in the table's header.
        missing: whether there is a cell for missing values.
        rules: public rules by which values are read, of `readable_by`.
        missing_tokens: texts that stand for missing, such as "?", besides those of the
            rules.
        synonyms: pairs of texts: the first counts as the second, such as "low" as 0.25.
        from_data: names of the facts that were taken from the data and not known from
            outside.
        known_from: where the other facts are known from, in one line.
        found: the search that found the cells privately; None for others.
        reason: why this declaration was suggested, for its owner's eyes; it leaves with
            nothing.
    """

    readable_by: ClassVar[tuple[str, ...]] = (MISSING_WORDS_RULE,)
    """Public rules by which a column of this kind can be read."""
    is_interval: ClassVar[bool] = False
    """Whether the cells are intervals in their order, of numbers, days or times."""
    holds_days: ClassVar[bool] = False
    holds_numbers: ClassVar[bool] = False
    is_whole: ClassVar[bool] = False
    """Whether all values are whole numbers."""
    has_labels: ClassVar[bool] = False
    """Whether each cell stands for a label, such as a category."""

    name: str = field(kw_only=False)
    missing: bool = False
    rules: tuple[str, ...] = ()
    missing_tokens: tuple[str, ...] = ()
    synonyms: tuple[tuple[str, str], ...] = ()
    from_data: tuple[str, ...] = ()
    known_from: str = field(default="", compare=False)
    found: CellSearch | None = field(default=None, compare=False)
    reason: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise UsageError(
                "a column needs a name", remedy="give the name as in the table's header"
            )
        for fact in _LIST_FACTS:
            if isinstance(getattr(self, fact, ()), str):
                raise ParameterError(
                    "{fact} of column {name!r} must be a list, but is a single text",
                    remedy="write a list with each item as a separate text",
                    fact=fact,
                    name=self.name,
                )
        object.__setattr__(self, "missing_tokens", tuple(self.missing_tokens))
        object.__setattr__(self, "from_data", tuple(self.from_data))
        object.__setattr__(self, "rules", tuple(self.rules))
        for rule in self.rules:
            if rule not in self.readable_by:
                raise ParameterError(
                    (
                        "column {name!r} names the reading rule {rule!r}, which "
                        "columns of its kind do not have"
                    ),
                    remedy=(
                        "open the file with the program that made it, or remove the "
                        "rule"
                    ),
                    name=self.name,
                    rule=rule,
                )
        pairs = tuple(map(tuple, self.synonyms))
        if any(
            len(pair) != 2 or not all(isinstance(text, str) for text in pair)
            for pair in pairs
        ):
            raise UsageError(
                f"the synonyms of column {self.name!r} must be pairs of texts",
                remedy="give each text with the one that it counts as",
            )
        object.__setattr__(self, "synonyms", pairs)

    @property
    @abstractmethod
    def values_size(self) -> int:
        """Number of cells, not counting the cell for missing values."""

    @property
    def size(self) -> int:
        """Number of cells, including the cell for missing values."""
        return self.values_size + self.missing

    @cached_property
    def labels(self) -> tuple[str, ...]:
        """One label per cell, for display."""
        return self._value_labels() + ((MISSING,) if self.missing else ())

    @property
    def declared_labels(self) -> tuple[str, ...]:
        """Texts of the values that have a cell of their own, in the order of the cells."""
        return self.labels[: self.values_size]

    @property
    def bounds(self) -> list[float | str]:
        """Where the cells begin and the last one ends; empty for columns without order."""
        return []

    @property
    def facts(self) -> tuple[str, ...]:
        """Names of the declared facts, each with an origin."""
        fields = (
            field.name
            for field in dataclasses.fields(self)
            if field.name not in _NON_FACT_FIELDS
        )
        return (
            "kind",
            *fields,
            *(("spellings",) if SPELLINGS_RULE in self.rules else ()),
        )

    def origin(self, fact: str) -> Origin:
        """Return the origin of a fact."""
        if fact in self.from_data:
            return Origin.DATA
        if self.found and fact in CELL_FACTS:
            return Origin.FOUND
        return Origin.RULE if self._follows_rule(fact) else Origin.TOLD

    def _follows_rule(self, fact: str) -> bool:
        """Return whether a public rule declares a fact with the value that it has.

        A rule says one thing. Its opposite is somebody's word.
        """
        if not any(fact in FACTS_BY_RULE[rule] for rule in self.rules):
            return False
        if fact in FACTS_BY_RULE[MISSING_WORDS_RULE]:
            return bool(getattr(self, fact))
        return fact != "high" or bool(getattr(self, fact) == HIGHEST_AGE)

    @property
    def values_origin(self) -> Origin:
        """The least public of the origins of the facts about the column's values."""
        origins = {self.origin(fact) for fact in self.facts if fact in VALUE_FACTS}
        return next(
            origin
            for origin in (Origin.DATA, Origin.FOUND, Origin.RULE, Origin.TOLD)
            if origin in origins
        )

    @property
    def declared_facts(self) -> tuple[str, ...]:
        """Names of the facts that are known only from the person who declared them.

        Defaults that hold for every column are not among them.
        """
        defaults = {field.name: field.default for field in dataclasses.fields(self)}
        return tuple(
            fact
            for fact in self.facts
            if self.origin(fact) == Origin.TOLD
            and (fact not in defaults or getattr(self, fact) != defaults[fact])
        )

    def without_texts(self, facts: Iterable[str] = TEXT_FACTS) -> Column:
        """Return the column without its private texts and its reason."""
        without: dict[str, Any] = dict.fromkeys(facts, ())
        return dataclasses.replace(self, reason="", **without)

    @property
    def source_columns(self) -> tuple[str, ...]:
        """Names of the table's columns from which the values are computed."""
        return (self.name,)

    def values_of(self, frame: pd.DataFrame) -> pd.Series:
        """Return the value of this column for each row of a table."""
        return frame[self.name]

    def combine_drawn(
        self, drawn: MutableMapping[str, pd.Series], rng: np.random.Generator
    ) -> None:
        """Combine drawn values of this column with those of other columns, in place."""

    def encode(self, values: pd.Series) -> Codes:
        """Return the cell number of each row, int64.

        Raises: SchemaError for a value without a cell.
        """
        codes, outside = self._encode(self.read(values))
        if outside.refused:
            raise SchemaError(
                "column {column!r} holds values that fit none of its declared cells",
                remedy=(
                    "declare a cell for missing or other values, or change the "
                    "declaration"
                ),
                column=self.name,
            )
        return codes

    def check(self, values: pd.Series) -> OutsideCounts:
        """Count the rows whose values the declaration does not cover.

        Private, for the owner of the table only.
        """
        return self._encode(self.read(values))[1]

    def decode(
        self,
        codes: Codes,
        rng: np.random.Generator,
        ranks: npt.NDArray[np.floating] | None = None,
    ) -> pd.Series:
        """Draw a value for each cell number.

        Inside an interval, values follow the slope of the cells around it.

        Args:
            codes: cell numbers.
            rng: of the drawing.
            ranks: rank of each value among those of its cell, from 0 to 1; drawn at
                random if None.
        """
        present = codes < self.values_size
        return self._decode(
            codes if present.all() else np.where(present, codes, 0),
            present,
            lambda: (
                rng.random(len(codes)) if ranks is None else ranks.astype(np.float64)
            ),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the declaration as plain data, `kind` first.

        Defaults are left out, and so is the reason, which may reveal the data.
        """
        fields: dict[str, Any] = {"kind": self.kind}
        for fact in dataclasses.fields(self):
            value = getattr(self, fact.name)
            if value != fact.default and fact.name != "reason":
                fields[fact.name] = list(value) if isinstance(value, tuple) else value
        if self.found is not None:
            fields["found"] = self.found.to_json()
        return fields

    @staticmethod
    def from_dict(fields: Mapping[str, Any]) -> Column:
        """Read the output of `to_dict`.

        Raises: ParameterError for an unknown kind, or a declaration that breaks its
            rules; KeyError or TypeError for plain data that is no declaration.
        """
        values: dict[str, Any] = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in fields.items()
        }
        if "found" in values:
            values["found"] = CellSearch.from_json(values["found"], values["name"])
        return Column.of_kind(values.pop("kind"))(**values)

    @abstractmethod
    def _value_labels(self) -> tuple[str, ...]: ...

    @abstractmethod
    def _encode(self, values: pd.Series) -> tuple[Codes, OutsideCounts]: ...

    @abstractmethod
    def _decode(
        self,
        codes: Codes,
        present: npt.NDArray[np.bool_],
        draw_ranks: DrawRanks,
    ) -> pd.Series: ...

    def read(self, values: pd.Series) -> pd.Series:
        """Replace texts that count as other values, by synonyms and public rules.

        Each value is replaced on its own, whatever the others are.
        """
        by_rule = (
            CENSORED_RULE in self.rules and values.dtype.kind not in _NON_TEXT_DTYPES
        )
        if not self.synonyms and not by_rule:
            return values
        texts = as_text(values)
        meant = {}
        if by_rule:
            numbers = {text: censored_number(text) for text in texts.dropna().unique()}
            meant = {
                text: f"{number:.12g}"
                for text, number in numbers.items()
                if number is not None
            }
        if self.synonyms:
            firsts, seconds = zip(*self.synonyms, strict=True)
            meant |= dict(zip(declared_texts(firsts), seconds, strict=True))
        replaced = texts.map(meant)
        if replaced.isna().all():
            return values
        return values.astype(object).where(replaced.isna(), replaced)

    def is_missing(self, values: pd.Series) -> npt.NDArray[np.bool_]:
        """Return a mask of missing values, including words that mean missing."""
        missing = values.isna().to_numpy(dtype=bool)
        if (
            MISSING_WORDS_RULE in self.rules
            and values.dtype.kind not in _NON_TEXT_DTYPES
        ):
            texts = as_text(values)
            words = [
                text for text in texts.dropna().unique() if self._means_missing(text)
            ]
            missing = missing | texts.isin(words).to_numpy(dtype=bool)
        if not self.missing_tokens:
            return missing
        tokens = declared_texts(self.missing_tokens)
        numbers = [number for number in map(parse_number, tokens) if number is not None]
        if values.dtype.kind in "iuf" and all(
            abs(number) < 2**53 for number in numbers
        ):
            is_token = values.isin(numbers)
        else:
            is_token = as_text(values).isin(tokens)
        return missing | is_token.to_numpy(dtype=bool)

    def spell_as_declared(self, texts: pd.Series) -> pd.Series:
        """Return texts as they are declared; unknown texts stay as they are."""
        return texts

    def _means_missing(self, text: str) -> bool:
        return means_missing(text)

    def _place_missing(
        self,
        codes: Codes,
        missing: npt.NDArray[np.bool_],
        unreadable: npt.NDArray[np.bool_],
        clipped: int,
    ) -> tuple[Codes, OutsideCounts]:
        """Give missing rows the number of their cell; count the rows without a cell."""
        refused = int(unreadable.sum())
        if self.missing:
            codes[missing] = self.values_size
        else:
            refused += int(missing.sum())
        return codes, OutsideCounts(
            clipped=clipped, missing=int(missing.sum()), refused=refused
        )


@dataclass(frozen=True, kw_only=True)
class Categorical(Column):
    """A column of categories from a public list.

    Attributes:
        categories: the categories; texts, or whole numbers.
        other: whether there is a cell for every other value; without it such a value is
            refused.
        ordered: whether the order of the categories means something.
    """

    kind: ClassVar[str] = "categorical"
    has_labels: ClassVar[bool] = True
    readable_by: ClassVar[tuple[str, ...]] = (
        MISSING_WORDS_RULE,
        SPELLINGS_RULE,
        ONLY_NUMBERS_RULE,
    )

    categories: tuple[str | int, ...]
    other: bool = False
    ordered: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        plain = (
            int(category) if _is_whole(category) else str(category)
            for category in self.categories
        )
        object.__setattr__(self, "categories", tuple(plain))
        texts = list(self._index)
        if not texts and not self.other:
            raise ParameterError(
                "column {line!r} needs {fact}",
                remedy="fill in {fact}",
                line=self.name,
                fact=Text("categories"),
            )
        if len(set(texts)) != len(texts):
            raise ParameterError(
                "column {name!r} lists a category twice",
                remedy="rename one of them",
                name=self.name,
            )
        check_column_cells(self.name, len(texts))

    @property
    def values_size(self) -> int:
        return len(self.categories) + self.other

    def _value_labels(self) -> tuple[str, ...]:
        return tuple(map(str, self.categories)) + ((OTHER_LABEL,) if self.other else ())

    def _encode(self, values: pd.Series) -> tuple[Codes, OutsideCounts]:
        missing = self.is_missing(values)
        texts = as_text(values)
        if ONLY_NUMBERS_RULE in self.rules:
            words = [text for text in texts.dropna().unique() if not _is_number(text)]
            missing = missing | texts.isin(words).to_numpy(dtype=bool)
        names = pd.Index(self.fold_texts(texts))
        codes: Codes = self._index.get_indexer(names).astype(np.int64)
        if self._rounded_index is not self._index:
            codes = np.where(codes < 0, self._rounded_index.get_indexer(names), codes)
        unknown = (codes < 0) & ~missing
        codes[codes < 0] = len(self.categories) if self.other else 0
        if not self.other:
            return self._place_missing(codes, missing, unknown, 0)
        placed, outside = self._place_missing(codes, missing, np.zeros_like(missing), 0)
        return placed, dataclasses.replace(outside, other=int(unknown.sum()))

    def fold_texts(self, texts: pd.Series) -> pd.Series:
        """Return texts in the spelling used for comparison."""
        if SPELLINGS_RULE not in self.rules:
            return texts
        return map_texts(texts, fold_text)

    @property
    def declared_labels(self) -> tuple[str, ...]:
        return tuple(declared_texts(self.categories))

    def spell_as_declared(self, texts: pd.Series) -> pd.Series:
        if SPELLINGS_RULE not in self.rules:
            return texts
        categories = dict(
            zip(self._index, declared_texts(self.categories), strict=True)
        )
        return map_texts(texts, lambda text: categories.get(fold_text(text), text))

    def _means_missing(self, text: str) -> bool:
        return (
            means_missing(text) and self._comparison_text([text])[0] not in self._index
        )

    @cached_property
    def _index(self) -> pd.Index:
        return pd.Index(
            self._comparison_text(map(exact_text, self.categories)), dtype="str"
        )

    def _comparison_text(self, texts: Iterable[str]) -> list[str]:
        return [
            fold_text(text) if SPELLINGS_RULE in self.rules else text for text in texts
        ]

    @cached_property
    def _rounded_index(self) -> pd.Index:
        """Index of the categories, with numbers of too many digits rounded to floats.

        If several meet in one float, the first one counts.
        """
        near = pd.Index(
            self._comparison_text(declared_texts(self.categories)), dtype="str"
        )
        is_new = ~near.isin(self._index) & ~near.duplicated()
        if not is_new.any():
            return self._index
        rounded: pd.Index = near.where(is_new, self._index)
        return rounded

    def _decode(
        self, codes: Codes, present: npt.NDArray[np.bool_], draw_ranks: DrawRanks
    ) -> pd.Series:
        values: list[Any] = (
            [*self.categories, OTHER_LABEL] if self.other else list(self.categories)
        )
        if all(isinstance(value, int) for value in values):
            return whole_numbers(np.array(values, dtype=np.int64)[codes], present)
        texts = pd.array([str(value) for value in values], dtype="str")
        return _texts_of_codes(texts, codes, present)


@dataclass(frozen=True, kw_only=True)
class Boolean(Column):
    """A column of truth values, with declared texts for true and false."""

    kind: ClassVar[str] = "boolean"
    has_labels: ClassVar[bool] = True

    true_label: str = "True"
    false_label: str = "False"

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.true_label.strip().lower() == self.false_label.strip().lower():
            raise ParameterError(
                "column {name!r} lists a category twice",
                remedy="rename one of them",
                name=self.name,
            )

    @property
    def values_size(self) -> int:
        return 2

    def _value_labels(self) -> tuple[str, ...]:
        return (self.false_label, self.true_label)

    def spell_as_declared(self, texts: pd.Series) -> pd.Series:
        true, false = self._find_true_and_false(texts)
        return texts.mask(true, self.true_label).mask(false, self.false_label)

    def _find_true_and_false(self, texts: pd.Series) -> tuple[pd.Series, pd.Series]:
        lower = texts.str.lower()
        labels = declared_texts([self.true_label.lower(), self.false_label.lower()])
        return lower.isin([labels[0], "true"]), lower.isin([labels[1], "false"])

    def _encode(self, values: pd.Series) -> tuple[Codes, OutsideCounts]:
        missing = self.is_missing(values)
        if pd.api.types.is_bool_dtype(values.dtype):
            return self._place_missing(
                values.fillna(False).to_numpy(np.int64),
                missing,
                np.zeros_like(missing),
                0,
            )
        true, false = (
            found.to_numpy(dtype=bool)
            for found in self._find_true_and_false(as_text(values))
        )
        return self._place_missing(
            true.astype(np.int64), missing, ~(true | false | missing), 0
        )

    def _decode(
        self, codes: Codes, present: npt.NDArray[np.bool_], draw_ranks: DrawRanks
    ) -> pd.Series:
        if (self.false_label, self.true_label) == ("False", "True"):
            return pd.Series(codes.astype(bool)).astype("boolean").where(present)
        texts = pd.array([self.false_label, self.true_label], dtype="str")
        return _texts_of_codes(texts, codes, present)


def _texts_of_codes(
    texts: pd.api.extensions.ExtensionArray,
    codes: Codes,
    present: npt.NDArray[np.bool_],
) -> pd.Series:
    """Return the text of each number, missing where it is not present."""
    if present.all():
        return pd.Series(texts.take(codes))
    # `Series.where` would hold the texts of a large table twice.
    places = np.where(present, codes.astype(np.intp), -1)
    return pd.Series(texts.take(places, allow_fill=True))


def _is_number(text: str) -> bool:
    number = parse_number(text)
    return number is not None and abs(number) < NUMBER_LIMIT


def whole_numbers(numbers: Codes, present: npt.NDArray[np.bool_]) -> pd.Series:
    """Return whole numbers as int64, or nullable Int64 if some are missing."""
    if present.all():
        return pd.Series(numbers)
    return pd.Series(pd.arrays.IntegerArray(numbers.copy(), ~present))


def _is_whole(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and not isinstance(value, bool)


def check_column_cells(name: str, cells: float) -> None:
    """Refuse a column with more than `MAX_COLUMN_CELLS` cells."""
    if cells > MAX_COLUMN_CELLS:
        raise ParameterError(
            "the table over {names} would have {cells} cells, more than {limit}",
            remedy="use fewer columns, wider steps or fewer categories",
            names=name,
            cells=f"{cells:.0f}",
            limit=MAX_COLUMN_CELLS,
        )
