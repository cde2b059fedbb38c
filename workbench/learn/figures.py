"""Figures of the Learn page; slow ones are computed once per process.

Nothing here reads a person's table: rows are those of the invented census, behind a
curator with a ledger of its own that ends with the lesson.
"""

import dataclasses
import functools
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.accounting.composition import optimal_epsilon, total_units
from dpcore.accounting.loss import UNIT, PureDP, epsilon_of_rho, rho_of_epsilon
from dpcore.accounting.memory import MemoryLedger
from dpcore.anonymization.hierarchies.builders import build_flat
from dpcore.curator import Curator
from dpcore.evaluation.attacks.float_noise import (
    add_textbook_noise,
    is_possible_release,
    share_ruled_out,
)
from dpcore.evaluation.utility.range_errors import RangeErrorsQuestion
from dpcore.local import Estimate, RandomizedResponse, recommend_protocols
from dpcore.mechanisms.laws import Law, laplace_law, largest_loss
from dpcore.risk.linkage import Linkage, attack_by_linkage
from dpcore.schema import Categorical, PrivacyUnit, Real, Schema, suggest_schema
from dpcore.schema.suggest import without_missing
from dpcore.suppression import HidingRule, PublishedTable, ShownColumn, TablePlan
from dpcore.suppression.hide import find_risky_cells
from dpcore.suppression.layout import Layout
from dpcore.suppression.outcome import CountBounds
from dpcore.suppression.protect import attack_all, protect_table
from dpcore.synthesis import Gaussian, GaussianModel, Histogram, Independent, Marginals
from workbench import samples
from workbench.language.messages import N_

# Both the voter list and the hospital visits have these columns.
LINKED_COLUMNS = ["zip", "birth_date", "sex"]
# The lesson counts these census columns together, adding one at a time in this order.
CENSUS_COLUMNS = ("age", "marital", "occupation", "education")
COLUMNS_WITH_MISSING = ("occupation",)
"""Columns of the invented census in which cells can be empty."""
TEXTBOOK_DRAWS = 2_000  # textbook releases, of which the leaking ones are counted
CLASS_COLUMN = N_("class")
AREAS = ("A", "B", "C", "D", "E", "F")
AGES = ("0-17", "18-39", "40-59", "60-79", "80+")
PEOPLE_BY_AREA_AND_AGE = (
    (24, 41, 37, 19, 3),
    (18, 35, 29, 22, 12),
    (31, 4, 33, 27, 15),
    (22, 38, 2, 20, 11),
    (17, 29, 26, 1, 14),
    (4, 33, 30, 25, 16),
)
"""Invented counts of people; five are below ten, no two in one row or column."""


@functools.cache
def neighboring_laws(
    count: int, epsilon: float, *, rows: int = 1, protected_rows: int = 1
) -> tuple[pd.DataFrame, float]:
    """Return two neighboring distributions of a noisy count and their largest ratio.

    Args:
        count: rows of all others.
        epsilon: of the answer.
        rows: of the person.
        protected_rows: of a person, for which the noise is large enough.
    """
    scale = protected_rows / epsilon
    laws = {N_("without you"): laplace_law(count, noise_scale=scale)}
    laws[N_("with you")] = laplace_law(count + rows, noise_scale=scale)
    # about 98 % of the noise is within four scales
    reach = max(4, math.ceil(4 * scale))
    shown = pd.concat(
        [
            _chances_between(law, count - reach, count + rows + reach).assign(
                table=name
            )
            for name, law in laws.items()
        ],
    )
    return shown, math.exp(largest_loss(*laws.values()))


def mean_error(protected_rows: int, epsilon: float) -> float:
    """Return the mean absolute error of a count, in rows.

    Args:
        protected_rows: as of `neighboring_laws`.
        epsilon: of the answer.
    """
    law = laplace_law(0, noise_scale=protected_rows / epsilon)
    return float(np.abs(law.outcomes) @ law.chances)


def _chances_between(law: Law, low: float, high: float) -> pd.DataFrame:
    inside = (law.outcomes >= low) & (law.outcomes <= high)
    return pd.DataFrame({"answer": law.outcomes[inside], "chance": law.chances[inside]})


def simulate_float_leak(count: int) -> tuple[float, float, bool]:
    """Return how often textbook releases leak, one example, and whether it leaks.

    A release leaks if its last bits rule out one person less.
    """
    rng = np.random.default_rng()
    share = share_ruled_out(
        count=float(count), neighbor=count - 1.0, draws=TEXTBOOK_DRAWS, rng=rng
    )
    release = float(add_textbook_noise(float(count), 1, rng)[0])
    return share, release, not is_possible_release(release, count - 1.0)


@functools.cache
def textbook_laws() -> dict[str, Law]:
    """Return the four noise distributions of the source documents by name.

    Their epsilon is 1, 1, 2, and 2 together.
    """
    once = laplace_law(0, noise_scale=1.0)
    better = laplace_law(0, noise_scale=0.5)
    return {
        N_("F1: one answer at epsilon 1"): once,
        N_("F2: another answer at epsilon 1"): once,
        N_("F3: one answer at epsilon 2"): better,
        N_("F combined: the average of F1 and F2"): once.add(once).map(
            lambda sums: sums / 2
        ),
    }


def overlaid_laws(names: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return chances of errors of up to 4 rows for the named laws, and their spreads.

    The average of two answers has steps of half a row. What lies half way between two
    rows counts for both in equal parts, so that the chances of a law add up to 1 and
    all laws can be compared.
    """
    frames = []
    lines = []
    for name in names:
        law = textbook_laws()[name]
        frames.append(_chances_between(_split_half_rows(law), -4, 4).assign(law=name))
        lines.append((name, law.variance, float(np.abs(law.outcomes) @ law.chances)))
    return pd.concat(frames), pd.DataFrame(lines, columns=["law", "variance", "off"])


def _split_half_rows(law: Law) -> Law:
    """Move the chance of each half row in equal parts to the whole rows beside it."""
    halves = np.rint(2 * law.outcomes).astype(np.int64)
    if not (halves % 2).any():
        return law
    low, high = halves // 2, -(-halves // 2)
    rows = np.arange(low.min(), high.max() + 1)
    below, above = (
        np.bincount(places - rows[0], law.chances / 2, len(rows))
        for places in (low, high)
    )
    chances: npt.NDArray[np.float64] = np.add(below, above, dtype=np.float64)
    return dataclasses.replace(law, outcomes=rows.astype(np.float64), chances=chances)


def loss_of_two_answers() -> float:
    """Return the loss of two answers at epsilon 1.

    It is reached if both are at or below the smaller count.
    """
    one = laplace_law(0, noise_scale=1.0)
    other = laplace_law(1, noise_scale=1.0)
    return 2 * largest_loss(one, other)


def loss_of_average(rows_below: int) -> float:
    """Return the loss if the average lies `rows_below` under the smaller count.

    It is below 2 everywhere. The sum of two noises has
    P(sum = t) proportional to q^|t| (|t| + (1 + q^2) / (1 - q^2)) with q = exp(-1),
    and one person more moves the sum by 2.
    """
    spread = 1 / math.tanh(1)  # (1 + q^2) / (1 - q^2)
    return 2 + math.log((2 * rows_below + spread) / (2 * rows_below + 2 + spread))


def loss_by_average() -> pd.DataFrame:
    """Tabulate the loss of the average by its value, beside that of both answers."""
    lines = []
    for below in (0, 1, 2, 3, 5, 8, 12, 20, 30, 50, 75, 100):
        lines.append(
            {
                "below": below,
                "known": N_("the average alone"),
                "loss": loss_of_average(below),
            }
        )
        lines.append(
            {"below": below, "known": N_("both answers"), "loss": loss_of_two_answers()}
        )
    return pd.DataFrame(lines)


@functools.cache
def compose_losses(
    epsilon: float, delta: float = 1e-6, max_answers: int = 100
) -> pd.DataFrame:
    """Return the total loss of 1 to `max_answers` answers by three composition
    rules.
    """
    rho = float(rho_of_epsilon(PureDP(epsilon=repr(epsilon)).epsilon))
    lines = []
    for times in sorted({1, 2, 5, *range(10, max_answers + 1, 10)}):
        for way, cost in (
            (N_("basic: epsilons add up"), epsilon * times),
            (N_("zCDP: rhos add up"), epsilon_of_rho(rho * times, delta)),
            (
                N_("tightest bound, if all answers are planned in advance"),
                optimal_epsilon(epsilon, times, delta=delta),
            ),
        ):
            lines.append({"answers": times, "way": way, "epsilon": cost})
    return pd.DataFrame(lines)


def cost_of_groups(groups: int, epsilon: float) -> tuple[float, float]:
    """Return the cost of one count per group: if groups are disjoint, if they overlap.

    Args:
        groups: number of groups.
        epsilon: epsilon of one count.
    """
    units = round(epsilon * UNIT)
    apart = total_units((units, ("group", str(group))) for group in range(groups))
    overlapping = total_units((units, None) for _group in range(groups))
    return apart / UNIT, overlapping / UNIT


def add_up_mechanisms(lines: Iterable[tuple[float, str]]) -> tuple[float, float]:
    """Return the total cost of several mechanisms to one person, and the plain sum.

    Those on all people add up. Those on parts that share nobody cost what the most
    expensive part costs, and those on one part add up.

    Args:
        lines: epsilon, and the name of the part; empty for all people.
    """
    parts: defaultdict[str, float] = defaultdict(float)
    for epsilon, part in lines:
        parts[part] += epsilon
    everybody = parts.pop("", 0.0)
    return everybody + max(parts.values(), default=0.0), everybody + sum(parts.values())


@functools.cache
def loss_after_postprocessing(epsilon: float) -> pd.DataFrame:
    """Return the loss of an answer as it is and after each post-processing step."""
    count = 3
    law, neighbor = (
        laplace_law(center, noise_scale=1 / epsilon) for center in (count, count + 1)
    )
    steps = {
        N_("as it is"): lambda answers: answers,
        N_("negative answers set to 0"): lambda answers: np.maximum(answers, 0),
        N_("guess: is it above 3?"): lambda answers: (answers > count) * 1.0,
        N_("thrown away"): lambda answers: answers * 0,
    }
    return pd.DataFrame(
        {
            "computed": list(steps),
            "epsilon": [
                largest_loss(law.map(step), neighbor.map(step))
                for step in steps.values()
            ],
        },
    )


@functools.cache
def _census() -> tuple[pd.DataFrame, Schema]:
    frame = samples.census()[[*CENSUS_COLUMNS]]
    columns = (
        column if column.name in COLUMNS_WITH_MISSING else without_missing(column)
        for column in suggest_schema(frame).columns
    )
    return frame, Schema(columns=tuple(columns), unit=PrivacyUnit(max_rows=1))


def _open_curator(frame: pd.DataFrame, schema: Schema) -> Curator:
    """Open an invented table with a separate ledger."""
    return Curator.open(
        frame, schema, budget=PureDP(epsilon="1000"), ledger=MemoryLedger()
    )


@functools.cache
def errors_by_width(epsilon: float) -> pd.DataFrame:
    """Return errors of range counts by width: from a histogram and asked directly."""
    curator = _open_curator(*_census())
    loss = PureDP(epsilon=repr(epsilon))
    release = curator.run(Histogram("age"), loss=loss)
    errors = curator.evaluate(
        RangeErrorsQuestion(source=release, column="age", loss=loss)
    ).content
    lines = []
    for width in errors.widths:
        for way, error in (
            (N_("added up from a histogram"), width.answer_errors),
            (N_("asked directly"), width.direct_errors),
        ):
            if error is not None:
                lines.append({"ages": width.width, "way": way, "percent": error.median})
    return pd.DataFrame(lines)


@functools.cache
def errors_by_columns(epsilon: float) -> pd.DataFrame:
    """Return the error of age counts if zero to three more columns are counted too.

    The error of a cell is in percent of the rows of a mean one.
    """
    curator = _open_curator(*_census())
    loss = PureDP(epsilon=repr(epsilon))
    column = curator.schema.column("age")
    true = np.bincount(column.encode(_census()[0]["age"]), minlength=column.size)
    lines = []
    for ways in range(1, len(CENSUS_COLUMNS) + 1):
        clique = CENSUS_COLUMNS[:ways]
        marginal = curator.run(Marginals(cliques=(clique,)), loss=loss).marginals[
            clique
        ]
        noisy = marginal.values
        # Divide the 95 % error of a cell by the rows of a mean cell.
        error = 100 * marginal.half_width() * marginal.values.size / true.sum()
        # Sum out all other columns, then take the total variation distance of the ages.
        counts = np.maximum(noisy, 0).reshape(column.size, -1).sum(axis=1)
        distance = np.abs(counts / counts.sum() - true / true.sum()).sum() / 2
        lines.append(
            {
                "columns": " × ".join(clique),
                "cells": noisy.size,
                "distance": float(distance),
                "error": error,
            },
        )
    return pd.DataFrame(lines)


@functools.cache
def error_by_rows(epsilon: float) -> pd.DataFrame:
    """Return a count's mean error in percent by the number of drawn rows.

    It is the count of ages 20 to 64, in ten tables of each length.
    """
    release = _open_curator(*_census()).run(
        Histogram("age"), loss=PureDP(epsilon=repr(epsilon))
    )
    true = _census()[0]["age"].between(20, 64).sum()
    lines = []
    for name, rows in (("5", 5), ("10000", 10_000), (N_("as many as counted"), None)):
        counts = [
            release.sample(rows, seed=seed)["age"].between(20, 64).sum()
            for seed in range(10)
        ]
        lines.append(
            {
                "rows": name,
                "error": float(np.abs(np.array(counts) / true - 1).mean() * 100),
            }
        )
    return pd.DataFrame(lines)


@functools.cache
def _patients() -> pd.DataFrame:
    return samples.hospital().drop_duplicates("patient_id")


@functools.cache
def link_voters_and_visits() -> Linkage:
    """Link the invented voter list with the invented hospital's visits."""
    return attack_by_linkage(_patients(), samples.voter_list(), LINKED_COLUMNS)


@functools.cache
def attack_with_voter_list(epsilon: float) -> tuple[pd.DataFrame, float]:
    """Match the voter list with the visits, and with a private release of them.

    Returns: a line per table, with the people found and the share of them whose
        diagnosis is that of the row, in percent; and the share of the most frequent
        diagnosis.
    """
    frame = _patients()[[*LINKED_COLUMNS, "diagnosis"]]
    schema = Schema(
        columns=suggest_schema(frame, missing=False).columns,
        unit=PrivacyUnit(max_rows=1),
    )
    release = _open_curator(frame, schema).run(
        Independent(columns=schema.domain.names),
        loss=PureDP(epsilon=repr(epsilon)),
    )
    drawn = release.sample(len(frame), seed=0).astype({"birth_date": str})
    # a claim joins a person and a row that are both unique by the linked columns
    known = samples.voter_list().drop_duplicates(LINKED_COLUMNS, keep=False)
    lines = []
    for name, table in ((N_("original"), frame), (N_("drawn rows"), drawn)):
        claims = known.merge(
            table.drop_duplicates(LINKED_COLUMNS, keep=False), on=LINKED_COLUMNS
        )
        right = claims.merge(_patients(), on=["name", *LINKED_COLUMNS, "diagnosis"])
        lines.append((name, len(claims), 100 * len(right) / max(1, len(claims))))
    guess = float(frame["diagnosis"].value_counts(normalize=True).iloc[0])
    return pd.DataFrame(lines, columns=["table", "found", "right"]), guess


@functools.cache
def coin_likelihood(p: float) -> tuple[pd.DataFrame, Estimate]:
    """Return the likelihood of each true share, and the estimate from 1,000 people.

    100 and 1,000 people are asked, three in ten of whom are a yes; the reports are as
    many as expected.

    Args:
        p: probability that the coin lets the truth through.
    """
    # randomized response of two answers tells the truth with p = e^eps / (1 + e^eps)
    law = RandomizedResponse(categories=2, epsilon=f"{math.log(p / (1 - p)):.15f}")
    shares = np.linspace(0, 1, 51)
    frames = []
    for name, people in (("100", 100), ("1000", 1_000)):
        yes = round(people * (0.3 * p + 0.7 * (1 - p)))
        estimate = Estimate(
            support=np.array([people - yes, yes]), people=people, p=law.p, q=law.q
        )
        logs = estimate.log_likelihood(1, shares)
        fits = np.exp(logs - logs.max())
        frames.append(
            pd.DataFrame({"share": shares, "likelihood": fits, "people": name})
        )
    return pd.concat(frames), estimate


def truth_chance_by_epsilon() -> pd.DataFrame:
    """Return the chance of sending the true answer by epsilon, for 2, 4 and 16 answers.

    Of k answers the true one is sent with chance e^epsilon / (e^epsilon + k - 1).
    """
    epsilons = np.linspace(0, 6, 61)
    return pd.concat(
        [
            pd.DataFrame(
                {
                    "epsilon": epsilons,
                    "chance": np.exp(epsilons) / (np.exp(epsilons) + answers - 1),
                    "answers": str(answers),
                }
            )
            for answers in (2, 4, 16)
        ]
    )


def linkage_steps() -> pd.DataFrame:
    """Return the percentage of patients that zip, birth date and sex make unique.

    The steps are those by which the governor of Massachusetts was found in 1997.
    """
    patients = _patients()
    steps = {
        N_("zip"): ["zip"],
        N_("zip and birth date"): ["zip", "birth_date"],
        N_("zip, birth date and sex"): ["zip", "birth_date", "sex"],
    }
    return pd.DataFrame(
        [
            (name, 100 * float((~patients.duplicated(known, keep=False)).mean()))
            for name, known in steps.items()
        ],
        columns=["known", "alone"],
    )


@functools.cache
def error_by_cluster_size() -> pd.DataFrame:
    """Return the sampling errors of a cluster's mean and covariance by its size.

    Clusters of so many rows are drawn from one normal law of two columns with
    correlation one half; what is off is the mean of the means, and of the covariances.
    """
    rng = np.random.default_rng(0)
    law = np.array([[1.0, 0.5], [0.5, 1.0]])
    lines = []
    for rows in (5, 10, 25, 50, 100, 200, 400):
        drawn = rng.multivariate_normal(np.zeros(2), law, size=(2_000, rows))
        means = drawn.mean(axis=1)
        centered = drawn - means[:, None]
        covariances = np.einsum("crx,cry->cxy", centered, centered) / (rows - 1)
        lines += [
            (rows, float(np.abs(means).mean()), N_("mean")),
            (rows, float(np.abs(covariances - law).mean()), N_("covariance")),
        ]
    return pd.DataFrame(lines, columns=["rows", "off", "figure"])


@functools.cache
def release_by_class(epsilon: float) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Release four invented features by class, and compare the results with the table.

    Returns: shares of places of `a` in the class 1; features that are joined, with 1 -
        correlation in drawn rows; and means, spreads and the correlation of `a` and `b`
        in each class.
    """
    from scipy.cluster.hierarchy import linkage as join_clusters
    from scipy.special import ndtr

    # invent features: a and b share one hidden number, c and d another; the label
    # shifts a and b
    rng = np.random.default_rng(5)
    label = rng.choice([-1, 1], 5_000)
    pairs = rng.normal(0, 0.2, (5_000, 2))
    shifts = np.multiply.outer(label, [0.3, 0.3, 0, 0]) + pairs[:, [0, 0, 1, 1]]
    frame = pd.DataFrame(
        np.clip(rng.normal(shifts, 0.08), -1, 1), columns=[*"abcd"]
    ).assign(label=label)
    # Release the features by class, and draw rows.
    features = (Real(name, low=-1, high=1, bin_width=0.01) for name in "abcd")
    columns = (*features, Categorical("label", categories=(-1, 1)))
    schema = Schema(columns=columns, unit=PrivacyUnit(max_rows=1))
    recipe = Gaussian.for_schema(schema, label="label", groups=None)
    release = _open_curator(frame, schema).run(
        recipe, loss=PureDP(epsilon=repr(epsilon))
    )
    model = release.model
    drawn = release.sample(5_000, seed=0)
    assert isinstance(model, GaussianModel)
    # Compare the table, the noisy normal law and the drawn rows of each class.
    edges = np.linspace(-1, 1, 41)
    shares = []
    lines = []
    for code, sign in enumerate((-1, 1)):
        center = model.moments.centers[code]
        law = model.moments.covariances[code]
        rows = [
            table.loc[table["label"].astype(int) == sign, ["a", "b"]]
            for table in (frame, drawn)
        ]
        noisy = np.diff(ndtr((edges - center[0]) / math.sqrt(law[0, 0])))
        counted = [np.histogram(table["a"], edges)[0] / len(table) for table in rows]
        moments = [(table.mean().to_numpy(), table.cov().to_numpy()) for table in rows]
        for of, share, (mean, covariance) in (
            (N_("original"), counted[0], moments[0]),
            (N_("release"), noisy, (center, law)),
            (N_("drawn rows"), counted[1], moments[1]),
        ):
            spread = np.sqrt(np.diag(covariance))
            lines.append(
                (
                    sign,
                    of,
                    *mean[:2],
                    *spread[:2],
                    covariance[0, 1] / spread[0] / spread[1],
                )
            )
            shares.append(pd.DataFrame({"place": edges[:-1], "share": share, "of": of}))
    # join features by average linkage of 1 - correlation in the drawn rows
    tree = join_clusters(
        1 - drawn[[*"abcd"]].corr().to_numpy()[np.triu_indices(4, 1)], "average"
    )
    names = [*"abcd"]
    for one, other in tree[:, :2].astype(int):
        names.append(f"{names[one]} + {names[other]}")
    return (
        pd.concat(shares[3:]),
        pd.DataFrame({"joined": names[4:], "distance": tree[:, 2]}),
        pd.DataFrame(
            lines,
            columns=[CLASS_COLUMN, "of", "μ(a)", "μ(b)", "σ(a)", "σ(b)", "r(a, b)"],
        ),
    )


@functools.cache
def local_and_central_errors(epsilon: float, categories: int) -> pd.DataFrame:
    """Return the standard error of a share for local answers and for a curator."""
    # The noise of a count does not depend on the number of people; the noise of a share
    # is divided by that number.
    central = math.sqrt(laplace_law(0, noise_scale=1 / epsilon).variance)
    lines = []
    for people in (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000):
        best = recommend_protocols(categories, repr(epsilon), people)[0]
        lines.append(
            {
                "people": people,
                "trust": N_("trust nobody"),
                "error": best.standard_error,
            }
        )
        lines.append(
            {
                "people": people,
                "trust": N_("trust a curator"),
                "error": central / people,
            }
        )
    return pd.DataFrame(lines)


@dataclasses.dataclass(frozen=True, kw_only=True)
class HiddenCounts:
    """Result of an attack on a table whose small counts are hidden.

    Attributes:
        cells: of the table, with its totals.
        small_counts: counts that the rule hides.
        exposed_counts: of these, those that come out exactly while nothing else is hidden.
        extra_hidden: counts that are hidden besides, to protect these.
        alone, protected: how many values fit each small count, before and after.
    """

    cells: int
    small_counts: int
    exposed_counts: int
    extra_hidden: int
    values_unprotected: pd.DataFrame
    values_protected: pd.DataFrame


@functools.cache
def hide_small_counts(threshold: int) -> HiddenCounts:
    """Hide the small counts of a table, attack it, and protect it."""
    plan = TablePlan(
        columns=(
            ShownColumn(column="area", hierarchy=build_flat(AREAS)),
            ShownColumn(column="age", hierarchy=build_flat(AGES)),
        ),
        rule=HidingRule(threshold=threshold),
    )
    layout = plan.build_layout()
    finest = np.zeros(layout.shape, dtype=np.int64)
    rows, columns = (
        [axis.finest_group[value] for value in values]
        for axis, values in zip(layout.axes, (AREAS, AGES), strict=True)
    )
    finest[np.ix_(rows, columns)] = PEOPLE_BY_AREA_AND_AGE
    counts = layout.add_up(finest)
    small = find_risky_cells(layout, counts, plan.rule)
    table = PublishedTable(
        layout=layout,
        counts=tuple(
            None if cell in small else count
            for cell, count in enumerate(counts.tolist())
        ),
        rule=plan.rule,
    )
    found = attack_all([table], [counts], (), with_bounds=True).bounds
    alone = {cell: found[0, cell] for cell in small}
    made = protect_table(plan, counts)
    return HiddenCounts(
        cells=layout.size,
        small_counts=len(small),
        exposed_counts=sum(bound.low == bound.high for bound in alone.values()),
        extra_hidden=len(made.reasons) - len(small),
        values_unprotected=_count_possible_values(layout, alone),
        values_protected=_count_possible_values(
            layout, {cell: made.bounds[cell] for cell in small}
        ),
    )


def _count_possible_values(
    layout: Layout, bounds: Mapping[int, CountBounds]
) -> pd.DataFrame:
    """Return how many values are possible for each cell."""
    return pd.DataFrame(
        {
            "cell": [" · ".join(layout.labels(cell)) for cell in bounds],
            "values": [bound.high - bound.low + 1 for bound in bounds.values()],
        }
    )
