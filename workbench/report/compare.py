"""Comparison of two releases: which differences exceed noise and chance.

The tables themselves are a draw of chance: another year of the same kind would have had
other counts. If people come independently, the variance of a count is at most its mean
times the largest number of rows of a person. Both errors are shown, and the sentences
about them hold together with all other sentences of the page.
"""

import statistics
from fractions import Fraction

import numpy as np
import pandas as pd

from dpcore.errors import ParameterError
from dpcore.release import Release
from dpcore.tables.counts import half_width
from workbench.language.labels import cell_labels
from workbench.language.messages import N_, _, join
from workbench.language.wording import (
    loss_words,
    make_printable,
    whole_number_text,
)
from workbench.report.document import Picture, TextTable
from workbench.report.sentences import measured_columns

HEADINGS = {
    "earlier": N_("earlier"),
    "now": N_("now"),
    "difference": N_("difference"),
    "noise": N_("true difference"),
    "chance": N_("with chance"),
    "verdict": N_("so"),
}
VERDICTS = {
    "2": N_("more than noise and chance explain"),
    "1": N_("larger than the noise, but it may be chance"),
    "0": N_("cannot be told"),
    "-1": N_("larger than the noise, but it may be chance"),
    "-2": N_("fewer than noise and chance explain"),
}


def comparable_columns(release: Release, earlier: Release) -> list[str]:
    """Return the columns that both releases can be compared by.

    Raises: ParameterError if there is none.
    """
    both = (release, earlier)
    names = [
        name
        for name in measured_columns(release)
        if name in measured_columns(earlier)
        and len({one.schema.column(name).labels for one in both}) == 1
        and all(one.answer((name,)).is_measured for one in both)
    ]
    if not names or len({(one.schema.unit.max_rows, one.part) for one in both}) > 1:
        raise ParameterError(
            (
                "the two releases have no column with the same cells, counted for the "
                "same unit"
            ),
            remedy="choose another release",
        )
    return names


def compare_cells(
    release: Release, earlier: Release, name: str, level: float
) -> pd.DataFrame:
    """Compare the counts of one column, cell by cell.

    Args:
        release: the later one.
        earlier: the one before.
        name: of the column.
        level: probability with which all intervals hold together against noise, and
            again against noise and chance.

    Returns: counts, their difference with both intervals, and the verdict: 2 for more
    than noise and chance explain, 1 for more than noise, negative for fewer, 0 for
    neither.
    """
    each = 1 - (1 - level) / release.schema.column(name).size
    answers = [one.answer((name,), level=each) for one in (release, earlier)]
    now, before = answers
    tables = [answer.table for answer in answers if answer.table is not None]
    law = tables[0].noise if tables[0].noise == tables[1].noise else "max norm"
    half = half_width(tables[0].variance + tables[1].variance, law, each, pooled=True)
    measured = tables[0].values - tables[1].values
    value = now.values - before.values
    low = np.minimum(measured - half, value)
    high = np.maximum(measured + half, value)
    rows = release.schema.unit.max_rows * np.maximum(now.high + before.high, 1.0)
    chance = statistics.NormalDist().inv_cdf((1 + each) / 2) * np.sqrt(rows)
    sure = 1 * (low > 0) + (low > chance) - 1 * (high < 0) - (high < -chance)
    verdict = np.where(now.counted_alone & before.counted_alone, sure, 0)
    counts = {"earlier": before.values, "now": now.values, "difference": value}
    sides = {
        "low": low,
        "high": high,
        "low with chance": low - chance,
        "high with chance": high + chance,
    }
    return pd.DataFrame(counts | sides | {"verdict": verdict})


def difference_picture(
    release: Release, earlier: Release, name: str, level: float
) -> Picture:
    """Return a table that compares one column, with a sentence above it.

    Args: as of `difference`.
    """
    seen = compare_cells(release, earlier, name, level)
    column = release.schema.column(name)
    labels = pd.Series(cell_labels(column)).map(
        lambda label: make_printable(label, max_length=40)
    )
    sides = [
        (_("more {cells}"), labels[seen["verdict"] == 2]),
        (_("fewer {cells}"), labels[seen["verdict"] == -2]),
    ]
    said = [words.format(cells=join([*some])) for words, some in sides if len(some)]
    written = seen.map(whole_number_text)
    shown = written[["earlier", "now", "difference"]].assign(
        noise=written["low"].str.cat(written["high"], sep=" … "),
        chance=written["low with chance"].str.cat(
            written["high with chance"], sep=" … "
        ),
        verdict=seen["verdict"].map(lambda each: _(VERDICTS[str(each)])),
    )
    shown.columns = pd.Index([_(HEADINGS[str(heading)]) for heading in shown])
    shown.insert(0, make_printable(name, max_length=60), labels, allow_duplicates=True)
    return Picture(
        sentence=_(
            "Noise and chance do not explain these differences: {cells}."
        ).format(cells="; ".join(said))
        if said
        else _("No difference is larger than noise and chance together."),
        title=_("{column}: now and earlier").format(
            column=make_printable(name, max_length=60)
        ),
        table=TextTable.from_frame(shown),
        folded=False,
    )


def joint_loss_sentence(release: Release, earlier: Release) -> str:
    """State the privacy loss, from both releases, of a person in both tables.

    Losses of different kinds are not added up. The charges for finding cells and rows
    per person are included, each search once.
    """
    added: dict[frozenset[str], dict[str, Fraction]] = {}
    for paid in (*release.losses_paid, *earlier.losses_paid):
        total = added.setdefault(frozenset(paid), dict.fromkeys(paid, Fraction(0)))
        for name, amount in paid.items():
            total[name] += Fraction(amount)
    losses = [
        {name: str(amount) for name, amount in total.items()}
        for total in added.values()
    ]
    return _(
        "For a person in both tables, the privacy loss of both releases "
        "together is {loss}."
    ).format(
        loss=join([*map(loss_words, losses)]),
    )
