"""The draws: exact chances from bytes, whatever the bytes are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpcore.errors import ParameterError
from dpcore.local import _bits as bits
from tests.local.oracle import at_most_exp
from tests.statistical import laws


class Stream:
    """Given bytes in place of the system's."""

    def __init__(self, taken: bytes) -> None:
        self.left = taken

    def __call__(self, size: int) -> bytes:
        taken = self.left[:size]
        self.left = self.left[size:]
        assert len(taken) == size
        return taken


@given(st.binary(min_size=8, max_size=8), st.integers(0, 8), st.integers(0, 2**64 - 1))
def test_a_draw_compares_64_bits(word: bytes, shared: int, other: int) -> None:
    """Bytes drawn one by one must decide as the whole word would: else ties would shift
    the chance.
    """
    threshold = int.from_bytes(word[:shared] + other.to_bytes(8, "big")[shared:], "big")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bits, "urandom", Stream(word))
        assert bits.draw_bernoulli(threshold, 1)[0] == (
            int.from_bytes(word, "big") < threshold
        )


def test_thresholds_of_their_own() -> None:
    """With one threshold per person, every person must be compared with their own, in
    ties too.
    """
    words = np.random.default_rng(1).integers(
        0, 2**63, 1_000, dtype=np.uint64
    ) * np.uint64(2)
    thresholds = words.copy()
    # tied to the last byte, where one in three is below
    thresholds[::3] += np.uint64(1)
    rounds = b"".join(words.astype(">u8").tobytes()[place::8] for place in range(8))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bits, "urandom", Stream(rounds))
        drawn = bits.draw_bernoulli(thresholds, 1_000)
    assert (drawn == (words < thresholds)).all()


def test_chances_over_blocks() -> None:
    """Blocks must not share or lose draws: the chance holds over several of them."""
    threshold = int(2**64 * 0.3)
    drawn = bits.draw_bernoulli(threshold, 3 * bits.DRAWS_PER_BLOCK + 17)
    assert laws.share_fits(int(drawn.sum()), drawn.size, 0.3)
    assert not laws.share_fits(int(drawn.sum()), drawn.size, 0.32)
    assert bits.draw_bernoulli(threshold, 0).size == 0
    assert not bits.draw_bernoulli(0, 1_000).any()
    assert bits.draw_bernoulli(2**64 - 1, 1_000).all()


@pytest.mark.parametrize("bound", [1, 2, 3, 7, 15, 100, 255, 256])
def test_uniform_over_all_words(bound: int) -> None:
    """Every value must have equally many words: counted over all words of 16 bits."""
    words = np.arange(2**16, dtype="<u2")
    again = np.full(2**16, bound - 1, dtype="<u2")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bits, "urandom", Stream(words.tobytes() + again.tobytes()))
        drawn = bits.draw_uniform(bound, 2**16)
    counts = np.bincount(drawn, minlength=bound)
    counts[-1] -= 2**16 % bound  # the last words are refused, and these drawn again
    assert (counts == 2**16 // bound).all()


@pytest.mark.parametrize("bound", [7, 257, 65_537])
def test_uniform_draws(bound: int) -> None:
    """Uneven draws of false answers would bias the estimates."""
    drawn = bits.draw_uniform(bound, 200_000)
    parts = np.bincount(drawn * 7 // bound, minlength=7)
    sizes = np.bincount(np.arange(bound) * 7 // bound, minlength=7)
    assert laws.chi_square_of_counts(parts, 200_000 * sizes / bound) > laws.FALSE_ALARM
    assert (
        laws.chi_square_of_counts(
            parts, 200_000 * sizes[::-1] / bound * [1.1, *[1] * 5, 0.9]
        )
        < 1e-6
    )


@pytest.mark.parametrize("epsilon", ["1/1000", "1", "7/3", "30", "100"])
def test_thresholds_stay_below(epsilon: str) -> None:
    """A threshold rounded up would spend more than was asked."""
    number = Fraction(epsilon)
    for times in (Fraction(1), Fraction(1, 15), Fraction(9)):
        threshold = bits.threshold_of(bits.exp_rounded_down(number) * times)
        p = Fraction(threshold, 2**64)
        assert at_most_exp(p / (1 - p) / times, number)
        if threshold < 2**64 - 1:
            more = Fraction(threshold + 1, 2**64)
            assert threshold == 2**64 - 1 or not at_most_exp(
                more / (1 - more) / times, number
            )


@pytest.mark.parametrize(
    "epsilon", [0, -1, "0", "abc", float("nan"), float("inf"), None, True]
)
def test_epsilon_must_be_above_zero(epsilon: object) -> None:
    """Zero, negative or no number at all is refused, never taken for something else."""
    with pytest.raises(ParameterError, match="epsilon"):
        bits.check_epsilon(epsilon)  # type: ignore[arg-type]
