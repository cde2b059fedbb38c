"""A column of texts as its distinct texts, and its conversion to numbers."""

import re
from collections.abc import Callable, Mapping
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dpcore.schema.suggest import is_dominant_kind
from dpcore.schema.words import means_missing

_INTEGER = r"(?:0|-?[1-9][0-9]*)"  # no leading zeros: 01234 is a code
_LONG_INTEGER = r"-?[0-9]{16,}"
NUMBER = r"-?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
PLAIN_NUMBER = re.compile(NUMBER)
_AS_TEXT_MARK = r"^'([0-9])"
"""The sign by which spreadsheets keep 01234 from becoming a number."""
SAMPLE_TEXTS = 30
"""Distinct texts of a column of which half must fit before all are looked at."""

_SIMPLE_NUMBER = r"-?(?:0|[1-9][0-9]*)(?:{sign}[0-9]+)?"
_AMBIGUOUS_NUMBER = r"-?(?:0|[1-9][0-9]*|[1-9][0-9]{{0,2}}{sign}[0-9]{{3}})"
"""Simple numbers that the other decimal sign reads too: whole ones, and thousands."""
_THOUSANDS_NUMBER = r"-?[1-9][0-9]{{0,2}}{sign}[0-9]{{3}}"
_MAX_OTHER_TEXTS = 1_000
"""Texts beside simple numbers that are looked at one by one."""
_MAX_PAIRS = 1_000
"""Texts that changed of which examples are taken."""

ReadText = Callable[[str], str | None]


class TextColumn:
    """A column of texts, stored as its distinct texts and a place for each cell.

    Args:
        column: an Arrow array of texts.
        drops_marks: whether the sign that keeps 01234 from becoming a number is
            dropped.
    """

    def __init__(self, column: Any, *, drops_marks: bool = True) -> None:
        coded = column.dictionary_encode()
        self.arrow = coded.dictionary
        self.indices = pc.if_else(
            pc.equal(self.arrow, "").take(coded.indices), None, coded.indices
        )
        self.merges = False  # whether two texts became one
        if (
            drops_marks
            and pc.any(pc.match_substring_regex(self.arrow, _AS_TEXT_MARK)).as_py()
        ):
            self._replace_texts(
                pc.replace_substring_regex(self.arrow, _AS_TEXT_MARK, r"\1")
            )
        self.plain = self._all_match(NUMBER)
        self._counts: dict[str, int] | None = None

    @property
    def counts(self) -> dict[str, int]:
        """Number of cells of each text, without empty texts and marks for missing."""
        if self._counts is None:
            rows = {
                row["values"]: row["counts"]
                for row in self.indices.value_counts().to_pylist()
            }
            self._counts = {
                text: rows.get(place, 0)
                for place, text in enumerate(self.arrow.to_pylist())
                if not means_missing(text)
            }
        return self._counts

    @cached_property
    def simple_decimal_sign(self) -> str | None:
        """The decimal sign of a column of simple numbers; None for other columns.

        All texts are digits with at most a minus and this sign, but for marks for
        missing, and some have the sign. Such columns are read at once, not text by
        text.
        """
        first = next((text for text in self.sample() if "," in text or "." in text), "")
        sign = "," if "," in first else "."
        if not first:
            return None
        is_simple = self._matches_pattern(_SIMPLE_NUMBER, sign)
        others = self.arrow.filter(pc.invert(is_simple))
        if len(others) > _MAX_OTHER_TEXTS:
            return None
        return sign if all(map(means_missing, others.to_pylist())) else None

    def has_clear_sign(self) -> bool:
        """Return whether some number would be unreadable with the other decimal
        sign.
        """
        sign = self.simple_decimal_sign or ""
        is_clear = pc.and_not(
            self._matches_pattern(_SIMPLE_NUMBER, sign),
            self._matches_pattern(_AMBIGUOUS_NUMBER, sign),
        )
        return bool(pc.any(is_clear).as_py())

    def has_thousands(self) -> bool:
        """Return whether the sign could separate thousands in some number."""
        return bool(
            pc.any(
                self._matches_pattern(_THOUSANDS_NUMBER, self.simple_decimal_sign or "")
            ).as_py()
        )

    def _matches_pattern(self, pattern: str, sign: str) -> Any:
        filled = pattern.format(sign=re.escape(sign))
        return pc.match_substring_regex(self.arrow, rf"\A{filled}\z")

    def read_simple(self) -> list[tuple[str, str]]:
        """Replace the decimal sign by a point; return examples of old and new texts."""
        sign = self.simple_decimal_sign or ""
        old = self.arrow
        is_simple = self._matches_pattern(_SIMPLE_NUMBER, sign)
        new = pc.if_else(is_simple, pc.replace_substring(old, sign, "."), old)
        changed = pc.indices_nonzero(pc.not_equal(old, new)).slice(0, _MAX_PAIRS)
        self._set_texts(new)
        return list(
            zip(
                old.take(changed).to_pylist(),
                new.take(changed).to_pylist(),
                strict=True,
            )
        )

    def sample(self) -> list[str]:
        """Return the first distinct texts, without marks for missing."""
        first = self.arrow.slice(0, 4 * SAMPLE_TEXTS).to_pylist()
        return [text for text in first if not means_missing(text)][:SAMPLE_TEXTS]

    def reads_half(self, read: ReadText) -> bool:
        """Return whether `read` accepts at least half of the sample."""
        sample = self.sample()
        return 2 * sum(read(text) is not None for text in sample) >= len(sample)

    def reads_most(self, read: ReadText) -> bool:
        """Return whether `read` accepts most cells, not counting marks for missing."""
        if not self.reads_half(read):
            return False
        others = [count for text, count in self.counts.items() if read(text) is None]
        return is_dominant_kind(sum(self.counts.values()), others)

    def _all_match(self, pattern: str) -> bool:
        if not all(
            PLAIN_NUMBER.fullmatch(text)
            for text in self.arrow.slice(0, SAMPLE_TEXTS).to_pylist()
            if text
        ):
            return False
        matches = pc.match_substring_regex(self.arrow, rf"\A(?:{pattern})?\z")
        return bool(pc.all(matches).as_py()) and any(self.arrow.slice(0, 2).to_pylist())

    def would_merge(self, read: ReadText) -> bool:
        """Return whether `read` would make two different texts the same."""
        texts = [read(text) or text for text in self.counts]
        return len({*texts}) < len(texts)

    def read(self, read: ReadText) -> list[tuple[str, str]]:
        """Replace each text by what `read` returns; return pairs of old and new texts.

        A text that is not read stays as it is.
        """
        now = {text: read(text) or text for text in self.counts}
        changed = [pair for pair in now.items() if pair[0] != pair[1]]
        if changed:
            self.rewrite(dict(changed))
        return changed

    def rewrite(self, new: Mapping[str, str]) -> None:
        """Replace the texts that are keys of `new` by their values."""
        texts = [new.get(text, text) for text in self.arrow.to_pylist()]
        self._set_texts(pa.array(texts, pa.string()))

    def _set_texts(self, texts: Any) -> None:
        self._replace_texts(texts)
        self.plain = self._all_match(NUMBER)
        self._counts = None
        self.__dict__.pop("simple_decimal_sign", None)

    def _replace_texts(self, texts: Any) -> None:
        self.merges |= (
            pc.count_distinct(texts).as_py() < pc.count_distinct(self.arrow).as_py()
        )
        self.arrow = texts

    def values(self, *, may_be_id: bool) -> Any:
        """Return the cells as an Arrow array of whole numbers, floats or texts."""
        if not self.plain:
            return self.arrow.take(self.indices)
        present = pc.if_else(pc.equal(self.arrow, ""), None, self.arrow)
        complete = self.indices.null_count == 0
        if pc.all(pc.match_substring_regex(present, rf"\A{_INTEGER}\z")).as_py():
            # Longer numbers would lose digits, so that two ids could become one: int64
            # holds 18 digits, and float64 holds 15.
            if pc.max(pc.utf8_length(pc.utf8_ltrim(present, "-"))).as_py() > (
                18 if complete else 15
            ):
                return self.arrow.take(self.indices)
            numbers = present.cast(pa.int64())
        else:
            numbers = present.cast(pa.float64())
        finite = pc.all(pc.is_finite(numbers)).as_py()
        # 12.1 and 12.10, or 0 and -0, may be two ids, so a column that may hold ids
        # stays text, and so does any column with very long numbers. Elsewhere they are
        # one number, like the prices 1.50 and 1.5.
        apart = (
            pc.count_distinct(pc.add(numbers, 0)).as_py()
            == pc.count_distinct(present).as_py()
        )
        long = (
            numbers.type == pa.float64()
            and pc.any(
                pc.match_substring_regex(present, rf"\A{_LONG_INTEGER}\z")
            ).as_py()
        )
        if not finite or long or (may_be_id and not apart):
            return self.arrow.take(self.indices)
        self.merges |= not apart
        return numbers.take(self.indices)
