"""What every verb of the measurer promises, in every view, under both losses, for one
and for several rows.

The record of a draw is what the ledger charges. So each verb's draws are held against
the exact law that its own record claims, and against twins with twice and with half the
noise, which must be rejected: too little noise breaks the promise, too much breaks the
error bars. So many draws are taken that a twin's statistic stays below the threshold
less than once in 1e9 runs: its p-value is about 1e-40. A new verb is put into `VERBS`,
a new view into `VIEWS`; `test_every_verb_and_view_is_here` fails until it is.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cache, cached_property, partial
from typing import NoReturn

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import dpcore as dp
from dpcore.accounting.events import Event
from dpcore.accounting.loss import Loss
from dpcore.curator.measuring import build_measurer
from dpcore.engines.remembered import CountCache
from dpcore.mechanisms.measurer import GRAIN, Measurer
from dpcore.schema.domain import Clique
from dpcore.tables.sums import UNITS_PER_ROW
from tests.needs import does_not_apply
from tests.statistical import laws
from tests.statistical.test_selection import exponential_law, permute_and_flip_law
from tests.tiers import but_first

A = 12
B = 40
TEXTS = 20
DELTA = Fraction(1, 10**6)
PART = ("sex", "F")
B_ROWS = {
    "F": (740, 2, 5, 5, 10, 1238, 0, 0, 400, 300, 300),
    "M": (740, 0, 0, 0, 0, 1260, 0, 0, 400, 300, 300),
}
"""Rows of each cell of b: the 0.37 quantile of cells 0 to 5 ends cell 0, few rows part
the next ones.
"""
SCHEMA = {
    rows: dp.Schema(
        columns=(
            dp.Integer("a", low=0, high=A - 1),
            dp.Integer("b", low=0, high=B - 1),
            dp.Categorical("sex", categories=("F", "M")),
            dp.Categorical("text", categories=(), other=True),
        ),
        unit=dp.PrivacyUnit(max_rows=rows),
    )
    for rows in (1, 3)
}


def frame() -> pd.DataFrame:
    rows = 2 * TEXTS * 150
    number = np.arange(rows)
    male = number // TEXTS % 2 == 1
    # among the rows of the same sex
    place = number // (2 * TEXTS) * TEXTS + number % TEXTS
    b = {
        sex: np.repeat(np.arange(len(cells)), cells)[place]
        for sex, cells in B_ROWS.items()
    }
    return pd.DataFrame(
        {
            "a": number % 7 % A,
            "b": np.where(male, b["M"], b["F"]),
            "sex": np.where(male, "M", "F"),
            "text": pd.Series(number % TEXTS).map("t{:03d}".format),
        },
    )


FRAME = frame()


@cache
def curator_of(rows: int) -> dp.Curator:
    """A curator for people of so many rows, whose engine counts the same cliques once
    for all tests.
    """
    curator = dp.Curator.open(
        FRAME, SCHEMA[rows], budget=dp.PureDP(epsilon=1), ledger=dp.MemoryLedger()
    )
    engine = curator._engine
    known = {
        part: CountCache(partial(engine.counts, part=part)) for part in (None, PART)
    }
    engine.counts = lambda cliques, *, part, groups: known[part](cliques, groups=groups)
    return curator


@dataclass(frozen=True)
class View:
    """A way to narrow a measurer, and what it then sees of the table."""

    narrow: Callable[[Measurer], Measurer] = lambda whole: whole
    groups: Mapping[str, np.ndarray] = field(default_factory=dict)
    part: tuple[str, str] | None = None

    @cached_property
    def rows(self) -> pd.DataFrame:
        seen = (
            FRAME if self.part is None else FRAME[FRAME[self.part[0]] == self.part[1]]
        )
        return seen.assign(
            **{name: group[seen[name]] for name, group in self.groups.items()}
        )

    def counts(self, measurer: Measurer, clique: Clique) -> np.ndarray:
        if not clique:
            return np.array(len(self.rows))
        table = np.zeros(measurer.domain.shape(clique), dtype=np.int64)
        np.add.at(table, tuple(self.rows[name].to_numpy() for name in clique), 1)
        return table


PAIRS = np.arange(A) // 2
VIEWS = {
    "plain": View(),
    "project": View(lambda whole: whole.project(("b", "text", "a"))),
    "coarsen": View(lambda whole: whole.coarsen({"a": PAIRS}), {"a": PAIRS}),
    "coarsen, twice, of some": View(
        lambda whole: (
            whole.project(("a", "b", "text"))
            .coarsen({"a": PAIRS})
            .coarsen({"a": PAIRS[:6]})
        ),
        {"a": PAIRS[PAIRS]},
    ),
    "part": View(part=PART),
    "coarsen of a part": View(
        lambda whole: whole.coarsen({"b": np.arange(B) // 2}),
        {"b": np.arange(B) // 2},
        PART,
    ),
}


class Draws:
    """What came out of one verb, with the law that its record claims for it, at any
    multiple of its scale.
    """

    def __init__(self, fits: Callable[[float], float]) -> None:
        self.p_value = fits


def additive(noise: np.ndarray, event: Event, unit: int) -> Draws:
    """Whole noise in units of 1 / unit rows, against discrete Laplace or Gaussian noise
    by ranks.
    """
    law = (
        stats.laplace
        if event.mechanism in ("discrete laplace", "threshold")
        else stats.norm
    )
    if event.mechanism == "max norm":
        assert noise.ndim == 2
        noise, law = np.abs(noise).max(axis=1), stats.gamma(noise.shape[1])
    return Draws(
        lambda factor: _by_bins(noise.ravel(), law, event.noise_scale * unit * factor)
    )


def _by_bins(noise: np.ndarray, law: stats.rv_continuous, scale: float) -> float:
    """Chi-square p-value over bins of whole numbers; the exact discrete law where the
    scale is small.
    """
    if scale < 100:
        pmf = (
            laws.discrete_laplace_pmf
            if law is stats.laplace
            else laws.discrete_gaussian_pmf
        )
        return laws.chi_square_p(noise, pmf(scale))
    edges = np.round(law.ppf(np.linspace(0, 1, 21)[1:-1]) * scale)
    chances = np.diff([0.0, *law.cdf((edges + 0.5) / scale), 1.0])
    seen = np.bincount(np.searchsorted(edges, noise), minlength=20)
    return laws.chi_square_of_counts(seen, chances * len(noise))


def chosen(choices: list[int], scores: np.ndarray, event: Event) -> Draws:
    """Choices among scores, in rows, against permute and flip or the exponential
    mechanism.
    """
    law = (
        permute_and_flip_law
        if event.mechanism == "permute and flip"
        else exponential_law
    )
    seen = np.bincount(choices, minlength=len(scores))

    def p_value(factor: float) -> float:
        expected = law(scores, event.noise_scale * factor) * len(choices)
        # so that rare ones are pooled with rare ones
        rare_first = np.argsort(expected, kind="stable")
        return laws.chi_square_of_counts(seen[rare_first], expected[rare_first])

    return Draws(p_value)


New = Callable[[], Measurer]
Run = tuple[Draws, list[Event], tuple[Clique, ...]]


def measure(new: New, view: View, loss: Loss) -> Run:
    measurer = new()
    cliques = (("b", "a"), ("a",), ())
    weights = (8, 1, 1)
    noise: list[np.ndarray] = []
    while sum(map(len, noise)) < 1_000:
        measurer = new()
        for marginal in measurer.measure(cliques, loss, weights):
            if marginal.clique == ("b", "a"):
                noise.append(
                    (marginal.values - view.counts(measurer, ("b", "a"))).ravel()
                )
    events = measurer.events
    return (
        additive(np.concatenate(noise).astype(np.int64)[:4_000], events[0], 1),
        events,
        cliques,
    )


def measure_rows(new: New, view: View, loss: Loss) -> Run:
    """The number of rows, which has one cell and no column."""
    noise = []
    for _ in range(800):
        measurer = new()
        noise.append(int(measurer.measure([()], loss)[0].values - len(view.rows)))
    return additive(np.array(noise), measurer.events[0], 1), measurer.events, ((),)


def gaps(new: New, view: View, loss: Loss) -> Run:
    noise = []
    cliques: tuple[Clique, ...] = (("a",), ("b",), ("a", "b"))
    estimates = {clique: view.counts(new(), clique) + 0.5 for clique in cliques}
    for _ in range(280):
        measurer = new()
        for clique, gap in measurer.measure_gaps(estimates, loss).items():
            noise.append(round((gap - 0.5 * estimates[clique].size) * GRAIN))
    return (
        additive(np.array(noise), measurer.events[0], GRAIN),
        measurer.events,
        cliques,
    )


def select(new: New, view: View, loss: Loss) -> Run:
    choices = []
    cliques: tuple[Clique, ...] = (("a",), ("b",), ("a", "b"), ())
    exact = {clique: view.counts(new(), clique).astype(float) for clique in cliques}
    for _ in range(900):
        measurer = new()
        estimates = {clique: counts.copy() for clique, counts in exact.items()}
        scale = float(measurer.rows)
        estimates[("b",)].ravel()[0] -= 6 * scale
        estimates[("a", "b")].ravel()[0] += 2 * scale
        chosen_clique = measurer.select_clique(estimates, loss, {("b",): 2 * scale})
        choices.append(cliques.index(chosen_clique))
    return (
        chosen(choices, np.array([0, 4, 2, 0]) * scale, measurer.events[0]),
        measurer.events,
        cliques,
    )


def sums(new: New, view: View, loss: Loss) -> Run:
    noise = []
    while sum(map(len, noise)) < 450:
        measurer = new()
        levels = np.arange(measurer.domain.size("b")) * (
            UNITS_PER_ROW // measurer.domain.size("b")
        )
        found = measurer.measure_sums(("a", "b"), [{}, {"b": levels}], loss)
        counts = view.counts(measurer, ("a", "b"))
        exact = np.stack(
            [counts.ravel() * UNITS_PER_ROW, (counts * levels).ravel()], axis=1
        )
        noise.append(np.rint(found.values * UNITS_PER_ROW).astype(np.int64) - exact)
    return (
        additive(np.concatenate(noise), measurer.events[0], UNITS_PER_ROW),
        measurer.events,
        (("a", "b"), ("a", "b")),
    )


def quantile(new: New, view: View, loss: Loss) -> Run:
    # rows by which the quantile lies outside each cell; a third of the rows is in later
    # ones, and left out
    scores = np.array([0, -2, -12] if "b" in view.groups else [0, 0, -2, -7, -12, -22])
    choices = []
    for _ in range(1_800):
        measurer = new()
        choices.append(
            measurer.choose_quantile_cell(
                "b", Fraction(37, 100), loss, cells=len(scores)
            )
        )
    return chosen(choices, scores, measurer.events[0]), measurer.events, (("b",),)


def find_common_texts(new: New, view: View, loss: Loss) -> Run:
    exact = view.rows["text"].value_counts()
    noise = []
    for _ in range(40):
        measurer = new()
        found = measurer.find_common_texts("text", loss, DELTA)
        assert len(found) == TEXTS
        noise += [count - int(exact[text]) for text, count in found.items()]
    return (
        additive(np.array(noise), measurer.events[0], 1),
        measurer.events,
        (("text",),),
    )


def assigned(new: New, view: View, loss: Loss) -> Run:
    measurer = new()

    def rule(rows: pd.DataFrame) -> np.ndarray:
        assert list(rows.columns) == ["b"]  # what is on record, and no more
        return rows["b"].to_numpy() * 20

    found = measurer.count_by_rule(rule, 800, ("b",), loss)
    noise = found.values - np.bincount(FRAME["b"] * 20, minlength=800)
    return (
        additive(noise.astype(np.int64), measurer.events[0], 1),
        measurer.events,
        (("b",),),
    )


VERBS = {
    "measure": measure,
    "measure, the number of rows": measure_rows,
    "measure_gaps": gaps,
    "select_clique": select,
    "measure_sums": sums,
    "choose_quantile_cell": quantile,
    "find_common_texts": find_common_texts,
    "count_by_rule": assigned,
}


def test_every_verb_and_view_is_here() -> None:
    """A verb whose noise nobody draws may carry none."""
    verbs = set()
    views = set()
    for name, member in inspect.getmembers(Measurer, inspect.isfunction):
        signature = inspect.signature(member)
        if (
            not name.startswith("_")
            and "loss" in signature.parameters
            and name != "gap_deviation"
        ):
            verbs.add(name)
        if signature.return_annotation == "Measurer":
            views.add(name)
    assert verbs == {name.split(",")[0] for name in VERBS}
    assert views <= {name.split(",")[0] for name in VIEWS}


class Read(Exception):
    """The rows were asked for something."""


def measurer_under(
    curator: dp.Curator, loss: Loss, part: tuple[str, str] | None = None
) -> Measurer:
    return build_measurer(curator._engine, curator.schema, loss, part, DELTA)


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_paid_before_it_reads(verb: str) -> None:
    """Rows would be read for an answer that is then refused, and the refusal be
    free.
    """
    loss = dp.PureDP(epsilon=1)
    paid = []

    def new() -> Measurer:
        measurer = measurer_under(curator_of(1), loss)

        def read(*given: object, **named: object) -> NoReturn:
            paid.append((measurer._purse.loss, len(measurer.events)))
            raise Read

        for reader in ("_counts", "_texts", "_sums", "_count_rule"):
            setattr(measurer, reader, read)
        return measurer

    with pytest.raises(Read):
        VERBS[verb](new, VIEWS["plain"], loss)
    ((left, events),) = paid
    assert left < loss.amount
    assert events > 0


@pytest.mark.parametrize("rows", but_first(1, [3, 1]))
@pytest.mark.parametrize(
    "loss", [dp.PureDP(epsilon="0.8"), dp.ZCDP(rho="0.3")], ids=lambda loss: loss.name
)
@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("verb", VERBS)
def test_draws_follow_the_law_on_record(
    verb: str, view: str, loss: Loss, rows: int
) -> None:
    """Noise of another law, width or unit than the record says would cost another loss
    than is charged.
    """
    seen = VIEWS[view]
    if verb == "count_by_rule" and seen.part:
        does_not_apply("no rule is applied to a part")
    if verb.startswith("select, two") and view != "plain":
        does_not_apply("each choice is one of `select`, drawn in all views")

    def new() -> Measurer:
        return seen.narrow(measurer_under(curator_of(rows), loss, seen.part))

    draws, events, reads = VERBS[verb](new, seen, loss)
    assert draws.p_value(1.0) > laws.FALSE_ALARM
    # twin: the record says more than was drawn
    assert draws.p_value(2.0) < laws.FALSE_ALARM
    assert draws.p_value(0.5) < laws.FALSE_ALARM  # twin: it says less
    costs = [
        event.epsilon if isinstance(loss, dp.PureDP) else event.rho for event in events
    ]
    total = sum(cost for cost in costs if cost is not None)
    assert total <= loss.amount
    least = (
        Fraction(1, 2) if events[0].mechanism == "threshold" else 1 - Fraction(1, 10**5)
    )
    assert total >= loss.amount * least
    assert tuple(clique for event in events for clique in event.reads) == reads
    assert {(event.rows, event.part) for event in events} == {(rows, seen.part)}
