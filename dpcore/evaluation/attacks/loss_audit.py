"""A lower bound on the loss of a recipe, from runs on an invented table.

Some invented people, the canaries, are each in the table or out of it by a coin, run by
run. The attacker knows everybody else, and guesses by the likelihood of the tables that
the release holds. For each canary the two tables are neighbors, whatever the others'
coins; so under mu-GDP a guess is right with chance Phi(mu / 2) at most, under
epsilon-DP with chance e^epsilon / (1 + e^epsilon) at most (Dong, Roth, Su 2022; Kairouz,
Oh, Viswanath 2015), and so is the mean of all guesses of a run. It needs no assumption
that guesses of one run are independent, for runs are. Under epsilon-DP this holds of
clear guesses alone, too, so that unclear ones are left out.

The bound comes from a wager against the claim: of a stake of 1, a part is put on every
run at odds that are fair if the claim is true, so that a fortune of 1 / alpha refutes it
at level alpha, whenever one stops. Sources: Waudby-Smith, Ramdas (2024), "Estimating
means of bounded random variables by betting"; canaries: Steinke, Nasr, Jagielski (2023);
likelihood of a stored measurement: Golob et al. (2026), arXiv 2604.18352.
"""

from __future__ import annotations

import functools
import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.accounting.attacker import true_positives_of_mu, true_positives_of_rho
from dpcore.errors import UsageError
from dpcore.evaluation.attacks._stored_tables import (
    Codes,
    StoredTable,
    has_pure_loss,
    read_stored_tables,
)
from dpcore.release import Release
from dpcore.roots import find_root
from dpcore.schema.schema import Schema
from dpcore.synthesis.release.attacker import stated_loss
from dpcore.tables.counts import Values

FALSE_ALARM_RATES = (0.01, 0.05, 0.1, 0.2, 0.5)
"""Shares of false alarms at which the achieved curve is told."""
_WAGER_SHARES = (0.1, 0.3, 0.95)
"""Parts of the stake for each wager; the stake is split evenly over all of them."""
_CLEAR_GUESS_LEVELS = (0.0, 0.95)
"""Log-ratios above which a guess is clear under pure epsilon, in parts of the largest
one; there is a wager on each.
"""
_LOG_RATIO_STEP = 1e-4
"""Step of log-ratios in the exact law of several tables."""
_MAX_LOSS = 50.0
"""Largest epsilon or mu that is searched."""


@dataclass(frozen=True, kw_only=True)
class LossAudit:
    """Privacy loss that runs on an invented table prove.

    Attributes:
        unit: "epsilon" of pure differential privacy, or "mu" of Gaussian noise.
        stated_loss: the loss of the release; a mu of sqrt(2 rho).
        max_provable_loss: the largest loss that the stated one allows such runs to prove; above
            sqrt(2 rho), since noise of less than about two rows tells more than a mu
            says, and keeps its rho all the same.
        measured_loss: the loss of the tables that the release holds, mean over the runs.
        proved_loss: the proved loss, at most the true one with chance `level`.
        level: that chance.
        right_share: share of right guesses; a coin has one half.
        expected_right_share: by the exact law of the noise of the tables.
        runs_per_side: runs with each canary, and without it, on average.
        canaries: invented people.
        curve: share of false alarms -> true positives achieved, and by the exact law.
        seconds: that the audit took.
    """

    unit: str
    stated_loss: float
    max_provable_loss: float
    measured_loss: float
    proved_loss: float
    level: float
    right_share: float
    expected_right_share: float
    runs_per_side: int
    canaries: int
    curve: dict[float, tuple[float, float]]
    seconds: float

    @property
    def is_refuted(self) -> bool:
        """Whether more loss was proved than stated, so that the noise is too small."""
        return self.proved_loss > self.max_provable_loss


def audit_loss(
    run: Callable[[pd.DataFrame], Release],
    schema: Schema,
    *,
    runs: int = 1_000,
    canaries: int = 300,
    rows: int = 1_000,
    level: float = 0.95,
    max_seconds: float = math.inf,
    seed: int | None = 0,
) -> LossAudit:
    """Run a recipe on invented tables, and return a lower bound on its loss.

    Reads nothing private. Canaries and other rows lie evenly in the declared cells.

    Args:
        run: from a table without a column of people to a release.
        schema: of the table.
        runs: each canary is in about half of them.
        canaries: each has all the rows that the privacy unit allows, all alike.
        rows: of the others.
        level: chance that the bound is not above the true loss.
        max_seconds: after which no other run begins; the bound still holds.
        seed: of the invented rows and coins; not of the noise.

    Raises: ParameterError if the release holds no tables; errors of `run`.
    """
    if runs < 2 or canaries < 1 or rows < 1:
        raise UsageError(
            "an audit needs two runs, a canary and a row",
            remedy="raise runs, canaries and rows",
        )
    began = time.monotonic()
    rng = np.random.default_rng(seed)
    # 1. Invent the rows; the canaries come first.
    people = schema.unit.max_rows
    frame = _invent_rows(schema, canaries + rows, rng)
    codes = {
        column.name: column.encode(frame[column.name]) for column in schema.columns
    }
    # 2. In each run, toss a coin for each canary, and guess from the release.
    scores: list[Values] = []
    sides: list[npt.NDArray[np.bool_]] = []
    tables_of_runs: list[list[StoredTable]] = []
    release: Release | None = None
    for number in range(runs):
        if number > 1 and time.monotonic() - began > max_seconds:
            break
        inside = rng.random(canaries) < 0.5
        times = np.concatenate([inside * people, np.ones(rows, dtype=np.int64)])
        held = np.repeat(np.arange(canaries + rows), times)
        release = run(frame.iloc[rng.permutation(held)].reset_index(drop=True))
        tables = read_stored_tables(release)
        if not tables:
            raise UsageError(
                "this release holds no tables of counts",
                remedy="audit a recipe that publishes tables",
            )
        scores.append(_log_ratios(tables, codes, times, canaries, people))
        sides.append(inside)
        tables_of_runs.append(tables)
    assert release is not None
    # 3. Bound the loss by the guesses, and compute the law that they should follow.
    pure = has_pure_loss(release)
    laws = [_noise_law(tables, people, pure) for tables in tables_of_runs]
    clear = _CLEAR_GUESS_LEVELS if pure else (0.0,)
    guesses = [
        _count_guesses(score, inside, law.loss, clear)
        for score, inside, law in zip(scores, sides, laws, strict=True)
    ]
    right, made = (np.array(shares) for shares in zip(*guesses, strict=True))
    stated = float(stated_loss(release).amount)
    achieved = _roc_curve(np.concatenate(scores), np.concatenate(sides))
    return LossAudit(
        unit="epsilon" if pure else "mu",
        stated_loss=stated if pure else math.sqrt(2 * stated),
        max_provable_loss=stated if pure else _largest_mu(stated),
        measured_loss=statistics.fmean(law.loss for law in laws),
        proved_loss=loss_bound(right, made, level=level, pure=pure),
        level=level,
        right_share=float(right[:, 0].mean()),
        expected_right_share=statistics.fmean(law.correct_guess_chance for law in laws),
        runs_per_side=len(right) // 2,
        canaries=canaries,
        curve={
            alarms: (
                achieved(alarms),
                statistics.fmean(law.curve[place] for law in laws),
            )
            for place, alarms in enumerate(FALSE_ALARM_RATES)
        },
        seconds=time.monotonic() - began,
    )


def max_right_chance(loss: float, *, pure: bool) -> float:
    """Return the largest chance of a right guess at this epsilon or mu."""
    if pure:
        return 1 / (1 + math.exp(-loss))
    return statistics.NormalDist().cdf(loss / 2)


def _largest_mu(rho: float) -> float:
    """Return the mu of Gaussian DP that allows the guesses of rho-zCDP.

    That is the mu at which the best attacker guesses right as often as any attacker on
    rho-zCDP can.
    """
    alarms = np.linspace(0.0005, 0.9995, 1_000)
    found = np.array([true_positives_of_rho(rho, rate) for rate in alarms])
    right = min(0.5 + float((found - alarms).max()) / 2, 1 - 1e-9)
    return 2 * statistics.NormalDist().inv_cdf(right)


def loss_bound(right: Values, made: Values, *, level: float, pure: bool) -> float:
    """Return the largest epsilon or mu that the runs refute, or 0 if there is none.

    Args:
        right: (runs, kinds of guesses), right guesses over canaries.
        made: of the same shape, guesses over canaries; all ones for a mu.
        level: 1 minus the chance of refuting what is true.
        pure: whether the claim is an epsilon, else it is a mu.
    """

    def evidence(loss: float) -> float:
        chance = max_right_chance(loss, pure=pure)
        gains = right / chance - made
        fortunes = [np.log1p(stake * gains).sum(axis=0) for stake in _WAGER_SHARES]
        return float(np.logaddexp.reduce(np.concatenate(fortunes))) - math.log(
            len(_WAGER_SHARES) * right.shape[1]
        )

    wanted = -math.log(1 - level)
    if evidence(0.0) <= wanted:
        return 0.0
    # The evidence falls as the claimed loss rises
    return find_root(lambda loss: wanted - evidence(loss), 0.0, _MAX_LOSS)


def _count_guesses(
    scores: Values,
    inside: npt.NDArray[np.bool_],
    loss: float,
    clear: tuple[float, ...],
) -> tuple[list[float], list[float]]:
    """Return the share of right guesses, and of all guesses, for each kind of guess."""
    made = [np.abs(scores) >= share * loss for share in clear]
    right = (scores > 0) == inside
    return (
        [float((right & is_made).mean()) for is_made in made],
        [float(is_made.mean()) for is_made in made],
    )


@dataclass(frozen=True, kw_only=True)
class _NoiseLaw:
    """Exact distribution figures of the noise in some tables.

    Attributes:
        loss: epsilon or mu of all of them together.
        correct_guess_chance: chance of a right guess.
        curve: true positives at `FALSE_ALARM_RATES`.
    """

    loss: float
    correct_guess_chance: float
    curve: tuple[float, ...]


def _noise_law(tables: list[StoredTable], rows: int, pure: bool) -> _NoiseLaw:
    if pure:
        losses = sorted(round(table.laplace_epsilon(rows), 4) for table in tables)
        return _laplace_law(tuple(losses), rows)
    mu = math.hypot(*(rows / math.sqrt(table.variance) for table in tables))
    return _NoiseLaw(
        loss=mu,
        correct_guess_chance=max_right_chance(mu, pure=False),
        curve=tuple(true_positives_of_mu(mu, alarms) for alarms in FALSE_ALARM_RATES),
    )


@functools.lru_cache(maxsize=64)
def _laplace_law(epsilons: tuple[float, ...], rows: int) -> _NoiseLaw:
    """Return the noise figures of tables with discrete Laplace noise.

    With a shift of `rows`, a table's log-ratio is +epsilon beyond the shift, -epsilon
    below 0, and rises in even steps between. Sums are rounded to `_LOG_RATIO_STEP`.
    """
    sums = np.zeros(1)
    inside: Values = np.ones(1)
    for epsilon in epsilons:
        q = math.exp(-epsilon / rows)
        steps = np.arange(rows + 1)
        chances = q ** (rows - steps) * (1 - q) / (1 + q)
        chances[[0, -1]] = q**rows / (1 + q), 1 / (1 + q)
        ratios = (2 * steps / rows - 1) * epsilon
        added = np.round(np.add.outer(sums, ratios) / _LOG_RATIO_STEP).ravel()
        places, index = np.unique(added, return_inverse=True)
        weights = np.multiply.outer(inside, chances).ravel()
        inside = np.bincount(index.ravel(), weights=weights).astype(np.float64)
        sums = places * _LOG_RATIO_STEP
    # The distribution without a person mirrors the distribution with that person
    found = np.append(0.0, np.cumsum(inside[::-1]))
    alarms = np.append(0.0, np.cumsum(inside))
    return _NoiseLaw(
        loss=math.fsum(epsilons),
        correct_guess_chance=float(
            inside[sums > 0].sum() + inside[sums == 0].sum() / 2
        ),
        curve=tuple(
            float(np.interp(rate, alarms, found)) for rate in FALSE_ALARM_RATES
        ),
    )


def _invent_rows(schema: Schema, rows: int, rng: np.random.Generator) -> pd.DataFrame:
    return pd.DataFrame(
        {
            column.name: column.decode(rng.integers(column.size, size=rows), rng)
            for column in schema.columns
        }
    )


def _log_ratios(
    tables: list[StoredTable],
    codes: Codes,
    times: npt.NDArray[np.int64],
    canaries: int,
    rows: int,
) -> Values:
    """Return each canary's log-likelihood ratio, summed over a release's tables.

    Args:
        times: how often each row is in the table; canaries come first.
    """
    scores = np.zeros(canaries)
    own = {name: cells[:canaries] for name, cells in codes.items()}
    for table in tables:
        place, added = table.cells_and_signs(codes)
        counts = np.bincount(place, weights=added * times, minlength=table.values.size)
        theirs = slice(0, canaries)
        others = counts[place[theirs]] - added[theirs] * times[theirs]
        scores += table.log_ratios(own, others, rows)
    return scores


def _roc_curve(
    scores: Values, inside: npt.NDArray[np.bool_]
) -> Callable[[float], float]:
    """Return the ROC curve: the true positive rate as a function of false alarms.

    Ties are broken by a coin.
    """
    levels, place = np.unique(np.round(scores, 9), return_inverse=True)
    found = np.bincount(place[inside], minlength=len(levels))[::-1].cumsum()
    alarms = np.bincount(place[~inside], minlength=len(levels))[::-1].cumsum()
    at = np.append(0.0, alarms / alarms[-1])
    reached = np.append(0.0, found / found[-1])
    return lambda rate: float(np.interp(rate, at, reached))
