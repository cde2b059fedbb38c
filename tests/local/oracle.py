"""The law of every protocol by brute force, from its definition in the paper, in
fractions.
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from fractions import Fraction

import dpcore.local as dl

Law = dict[Hashable, Fraction]


def law(protocol: dl.Protocol, value: int) -> Law:
    """Chance of each report of a person with this category; reports as tuples or
    numbers.
    """
    k = protocol.categories
    if isinstance(protocol, dl.RandomizedResponse):
        keep = Fraction(protocol.keep_threshold, 2**64)
        return {
            other: keep if other == value else (1 - keep) / (k - 1)
            for other in range(k)
        }
    if isinstance(protocol, dl.SymmetricUnary | dl.OptimizedUnary):
        yes = Fraction(protocol.own_bit_threshold, 2**64)
        no = Fraction(protocol.other_bit_threshold, 2**64)
        found: Law = {}
        for bits in itertools.product((0, 1), repeat=k):
            chance = Fraction(1)
            for place, bit in enumerate(bits):
                one = yes if place == value else no
                chance *= one if bit else 1 - one
            found[bits] = chance
        return found
    if isinstance(protocol, dl.SubsetSelection):
        keep = Fraction(protocol.keep_threshold, 2**64)
        sets = list(itertools.combinations(range(k), protocol.size))
        with_own = sum(value in each for each in sets)
        return {
            each: keep / with_own
            if value in each
            else (1 - keep) / (len(sets) - with_own)
            for each in sets
        }
    assert isinstance(protocol, dl.HadamardResponse)
    keep = Fraction(protocol.keep_threshold, 2**64)
    size = protocol.possible_reports
    return {
        number: 2 * (keep if agrees(number, value) else 1 - keep) / Fraction(size)
        for number in range(size)
    }


def agrees(number: int, value: int) -> bool:
    """Whether the Hadamard matrix has +1 in this row and column: by its recursive
    definition.
    """
    sign = 1
    row = number
    column = value + 1
    while row and column:
        if row & 1 and column & 1:
            sign = -sign
        row = row >> 1
        column = column >> 1
    return sign > 0


def supports(protocol: dl.Protocol, report: Hashable, value: int) -> bool:
    """Whether a report speaks for a category."""
    if isinstance(protocol, dl.RandomizedResponse):
        return report == value
    if isinstance(protocol, dl.SymmetricUnary | dl.OptimizedUnary):
        return bool(report[value])  # type: ignore[index]
    if isinstance(protocol, dl.SubsetSelection):
        return value in report  # type: ignore[operator]
    return agrees(report, value)  # type: ignore[arg-type]


def at_most_exp(ratio: Fraction, epsilon: Fraction) -> bool:
    """Whether a ratio is proved to be at most e^epsilon: by a partial sum of its
    series, from below.
    """
    term = total = Fraction(1)
    for step in range(1, 40 + 4 * int(epsilon)):
        term *= epsilon / step
        total += term
    return ratio <= total
