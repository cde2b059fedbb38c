"""Two neighbouring tables, one transcript: the noise that is drawn on one is handed to
the run on the other.

The draws themselves are taken over, below everything that charges, splits or counts a
loss. So for any recipe or question, without knowing what it does, it is known of a pair
of tables that differ by one person:

- whether both runs ask the same, in the same order, with the same scales and shapes, and end alike;
- whether all that is published, in the release and in the ledger, is the same byte by byte, so that nothing
  exact is in it, as what was asked and drawn is the same;
- how much more likely the whole transcript is on one of them than on the other, exactly or from above.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import dpcore as dp
from dpcore.accounting.composition import Rule
from dpcore.mechanisms import measurer as drawing


class AnotherQuestionError(Exception):
    """The run on the neighbour asks what the first one did not."""


@dataclass
class Draw:
    """One draw of noise: of what law, from which exact numbers, and what came out."""

    law: str
    exact: Any
    scale: Any
    answer: Any


@dataclass
class Tape:
    """The draws of a run, and the losses of the transcript once it was handed to the
    neighbour.

    Attributes:
        epsilons: of each release of the transcript, of draws that have an epsilon; a
            release begins when it is charged.
        rho: of draws that have none.
    """

    draws: list[Draw] = field(default_factory=list)
    place: int | None = None
    epsilons: list[float] = field(default_factory=lambda: [0.0])
    rho: float = 0.0

    def handed(self, law: str, exact: Any, scale: Any, draw: Callable[[], Any]) -> Any:
        """Draw and keep, or take the answer that was kept, and add what it tells the
        two tables apart by.
        """
        if self.place is None:
            answer = draw()
            self.draws.append(Draw(law, exact, scale, answer))
            return answer
        if self.place == len(self.draws):
            raise AnotherQuestionError(f"one more draw: {law}")
        kept = self.draws[self.place]
        self.place += 1
        asked = (law, scale, _shape(exact))
        before = (kept.law, kept.scale, _shape(kept.exact))
        if asked != before:
            raise AnotherQuestionError(f"{asked} in place of {before}")
        self._lose(law, kept.exact, exact, scale)
        return kept.answer

    def _lose(self, law: str, before: Any, now: Any, scale: Any) -> None:
        if law == "names":
            rows, epsilon = scale[:2]
            change = sum(
                abs(before.get(text, 0) - now.get(text, 0)) for text in {*before, *now}
            )
            self.epsilons[-1] += change * epsilon / rows
            return
        moved = np.asarray(now, dtype=np.float64) - np.asarray(before, dtype=np.float64)
        if not moved.size:
            return
        if law == "laplace":
            self.epsilons[-1] += float(np.abs(moved).sum()) / scale
        elif law == "gaussian":
            self.rho += float((moved**2).sum()) / (2 * scale**2)
        elif law == "max norm":  # of each line the largest entry
            self.epsilons[-1] += float(np.abs(moved).max(axis=1).sum()) / scale
        else:
            self.choose(law, float(np.ptp(moved)) / scale)

    def choose(self, law: str, span: float) -> None:
        """Add a choice among scores whose differences move by `span` scales at most.

        Each chance moves by a factor of e^span at most, and the choice has rho span^2 /
        8 (Cesar, Rogers 2021, "Bounding, concentrating, and truncating", on the bounded
        range of the exponential mechanism).
        """
        if law == "pure choice":
            self.epsilons[-1] += span
        else:
            self.rho += span**2 / 8


def _shape(exact: Any) -> Any:
    return None if isinstance(exact, Mapping) else np.shape(exact)


@contextmanager
def taped(tape: Tape) -> Iterator[None]:
    """Take over every draw of noise in this process."""
    laplace = drawing.add_discrete_laplace
    gaussian = drawing.add_discrete_gaussian
    lines = drawing.add_max_norm_noise
    choice = drawing.select_high_score
    names = drawing.thresholded_counts

    def additive(law: str, draw: Callable[..., Any]) -> Callable[..., Any]:
        def drawn(counts: Any, *, noise_scale: float, on_draw: object = None) -> Any:
            exact = np.array(counts)
            return tape.handed(
                law, exact, noise_scale, lambda: draw(exact, noise_scale=noise_scale)
            )

        return drawn

    def chosen(scores: Any, *, noise_scale: float, is_pure: bool) -> Any:
        law = "pure choice" if is_pure else "choice"
        exact = np.array(scores)
        return tape.handed(
            law,
            exact,
            noise_scale,
            lambda: choice(exact, noise_scale=noise_scale, is_pure=is_pure),
        )

    def named(counts: Any, *, max_rows: int, epsilon: Fraction, delta: Fraction) -> Any:
        scale = (max_rows, float(epsilon), delta)
        draw = lambda: names(counts, max_rows=max_rows, epsilon=epsilon, delta=delta)  # noqa: E731
        return tape.handed("names", dict(counts), scale, draw)

    def summed(exact: Any, *, scale: int) -> Any:
        return tape.handed(
            "max norm", np.array(exact), scale, lambda: lines(exact, scale=scale)
        )

    reserve = dp.MemoryLedger.reserve

    def reserved(*given: Any, **named: Any) -> Any:
        tape.epsilons.append(0.0)
        return reserve(*given, **named)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dp.MemoryLedger, "reserve", reserved)
        patch.setattr(drawing, "add_discrete_laplace", additive("laplace", laplace))
        patch.setattr(drawing, "add_discrete_gaussian", additive("gaussian", gaussian))
        patch.setattr(drawing, "add_max_norm_noise", summed)
        patch.setattr(drawing, "select_high_score", chosen)
        patch.setattr(drawing, "thresholded_counts", named)
        yield


@dataclass
class Outcome:
    """How a run ended, what it published, and what it was charged, in units of the
    account's rule.
    """

    end: str
    published: str = ""
    charged: float = 0.0


@dataclass
class Pair:
    """What is known of one question on two neighbouring tables."""

    faults: list[str]
    share: float = 0.0
    """Of the charge that the transcript spends."""
    draws: int = 0
    end: str = ""


Ask = Callable[[dp.Curator, str], Any]
"""Asks a curator something under a request id, and returns what is published."""


def compare(first: dp.Curator, second: dp.Curator, ask: Ask, request: str) -> Pair:
    """Ask both curators the same, hand over the noise, and say what differs.

    Args:
        first, second: of neighbours, with one budget and one key.
    """
    tape = Tape()
    with taped(tape):
        one = _outcome(first, ask, request)
        tape.place = 0
        other = _outcome(second, ask, request)
    faults = []
    if one.end != other.end:
        faults.append(f"they end as {one.end!r} and {other.end!r}")
    elif tape.place < len(tape.draws):
        faults.append("the neighbour draws less")
    if one.published != other.published:
        faults.append(
            f"what is published differs: {_difference(one.published, other.published)}"
        )
    if one.charged != other.charged:
        faults.append("they are charged differently")
    rule = first.account.rule
    # each release has a rho of its own, and these add up
    of_epsilon = sum(
        rule.to_units(dp.PureDP(epsilon=Fraction(epsilon))) / 1e12
        for epsilon in tape.epsilons
        if epsilon
    )
    spent = tape.rho + of_epsilon
    if rule is Rule.BASIC and tape.rho:
        faults.append("a draw has no epsilon, and the account is one of epsilon")
    share = spent / one.charged if one.charged else float(spent > 0)
    if share > 1 + 1e-6:
        faults.append(f"the transcript spends {share:.6f} of the charge")
    return Pair(faults=faults, share=share, draws=len(tape.draws), end=one.end)


def _outcome(curator: dp.Curator, ask: Ask, request: str) -> Outcome:
    before = len(curator.lines())
    end = "published"
    text = ""
    try:
        text = ask(curator, request).to_json()
    except AnotherQuestionError as error:
        end = str(error)
    except dp.DpcoreError as error:
        end = f"{type(error).__name__}: {error}"
    lines = curator.lines()[before:]
    on_file = [
        (line.state, dataclasses.asdict(line.charge), _without(line.content, "release"))
        for line in lines
    ]
    published = _without(json.loads(text), "created", "digest") if text else {}
    balance = dataclasses.asdict(curator.balance())
    told = json.dumps(
        [published, on_file, balance, repr(curator)], sort_keys=True, default=str
    )
    return Outcome(end, told, sum(line.charge.units for line in lines) / 1e12)


def _without(content: Any, *names: str) -> Any:
    """Content without the time of day, and without digests of what has it."""
    if isinstance(content, Mapping):
        return {
            name: _without(each, *names)
            for name, each in content.items()
            if name not in names
        }
    return (
        [_without(each, *names) for each in content]
        if isinstance(content, list | tuple)
        else content
    )


def _difference(one: str, other: str) -> str:
    place = next(
        (
            at
            for at, pair in enumerate(zip(one, other, strict=False))
            if pair[0] != pair[1]
        ),
        0,
    )
    return f"{one[max(0, place - 60) : place + 40]} / {other[place : place + 40]}"
