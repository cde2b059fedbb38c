"""Optimized local hashing: each person reports a hashed answer with few values."""

import re
from collections.abc import Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np

from dpcore.local._bits import (
    Integers,
    Words,
    chance_of,
    draw_bernoulli,
    draw_uniform,
    draw_words,
    exp_rounded_down,
    threshold_of,
)
from dpcore.local.base import Protocol, Reports, check_codes, wrong_reports_error

MAX_CELLS_OF_HASH = 65_536
"""Cells of a hash function, at most."""
HASH_WORDS = 2**32
"""Values of a hash before it is reduced to cells."""
REPORTS_PER_BLOCK = 1 << 14
"""Reports at a time, so that they stay in the processor's cache."""


class LocalHashing(Protocol):
    """Report a random hash function onto g cells, and the perturbed cell.

    The report is (a, b, cell): a category v has the cell [((a v + b) mod 2^64) >> 32] g
    >> 32. With a and b uniform over 64 bits the first shift gives pairwise independent,
    exactly uniform words of 32 bits (Dietzfelbinger 1996, theorem 3), so p and q are
    exact. g is the whole number nearest to e^epsilon + 1. Source: Wang et al. (2017),
    section 4.4.
    """

    kind = "local hashing"
    place = 5

    @cached_property
    def cells(self) -> int:
        """The number g of cells of a hash function."""
        return min(round(exp_rounded_down(self.epsilon) + 1), MAX_CELLS_OF_HASH)

    @cached_property
    def keep_threshold(self) -> int:
        """The threshold for reporting the true cell."""
        return threshold_of(exp_rounded_down(self.epsilon) / (self.cells - 1))

    @property
    def p(self) -> Fraction:
        return chance_of(self.keep_threshold)

    @cached_property
    def q(self) -> Fraction:
        """Chance that a report supports another, independently hashed category.

        Cells have floor(2^32 / g) or one more of the 2^32 words; S is the chance that
        two words share a cell. The reported cell is met with chance S if it is true,
        and with (1 - S) / (g - 1) if it is false.
        """
        small, larger = divmod(HASH_WORDS, self.cells)
        squares = larger * (small + 1) ** 2 + (self.cells - larger) * small**2
        shared = Fraction(squares, HASH_WORDS**2)
        return self.p * shared + (1 - self.p) * (1 - shared) / (self.cells - 1)

    @property
    def odds(self) -> Fraction:
        return self.p * (self.cells - 1) / (1 - self.p)

    @property
    def report_bits(self) -> int:
        return 128 + (self.cells - 1).bit_length()

    def perturb(self, codes: Any) -> Reports:
        own = check_codes(codes, self.categories)
        people = len(own)
        reports = np.empty((3, people), dtype=np.uint64)
        reports[:2] = draw_words(2 * people).reshape(people, 2).T
        cells = self._cells_of_words(
            reports[0] * own.astype(np.uint64) + reports[1]
        ).astype(np.int64)
        false = np.flatnonzero(~draw_bernoulli(self.keep_threshold, people))
        cells[false] = (
            cells[false] + 1 + draw_uniform(self.cells - 1, false.size)
        ) % self.cells
        reports[2] = cells
        return reports.T

    def check_reports(self, reports: Any) -> Reports:
        array = np.asarray(reports)
        if array.ndim != 2 or array.shape[1] != 3 or array.dtype != np.uint64:
            raise wrong_reports_error(self.kind)
        if array.size and array[:, 2].max() >= self.cells:
            raise wrong_reports_error(self.kind)
        return array

    def count_support(self, reports: Any) -> Integers:
        multiplier, state, cell = self.check_reports(reports).T
        counts = np.zeros(self.categories, dtype=np.int64)
        for start in range(0, len(cell), REPORTS_PER_BLOCK):
            part = slice(start, start + REPORTS_PER_BLOCK)
            step = multiplier[part]
            reported = cell[part]
            words = state[part].copy()
            for category in range(self.categories):
                counts[category] += np.count_nonzero(
                    self._cells_of_words(words) == reported
                )
                words += step
        return counts

    def _cells_of_words(self, words: Words) -> Words:
        """Return the hash cell of each 64-bit word."""
        cells: Words = words >> np.uint64(32)
        cells *= np.uint64(self.cells)
        cells >>= np.uint64(32)
        return cells

    def to_plain(self, reports: Reports) -> list[Any]:
        return [[f"{a:016x}{b:016x}", cell] for a, b, cell in reports.tolist()]

    def from_plain(self, plain: Sequence[Any]) -> Reports:
        for report in plain:
            well_made = (
                isinstance(report, list) and len(report) == 2 and type(report[1]) is int
            )
            if not (
                well_made
                and isinstance(report[0], str)
                and re.fullmatch("[0-9a-f]{32}", report[0])
            ):
                raise wrong_reports_error(self.kind)
            if not 0 <= report[1] < self.cells:
                raise wrong_reports_error(self.kind)
        rows = [(int(word[:16], 16), int(word[16:], 16), cell) for word, cell in plain]
        return self.check_reports(np.array(rows, dtype=np.uint64).reshape(-1, 3))

    def script_parameters(self) -> dict[str, Any]:
        return {"keep": f"{self.keep_threshold:016x}", "cells": self.cells}
