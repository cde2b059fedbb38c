"""Page of a release, with its pictures, their tables, and its promise."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Collection, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.accounting.loss import epsilon_of
from dpcore.release import Release
from dpcore.schema import Clique, IntervalColumn
from dpcore.synthesis import Figures, FoundCategories, SyntheticModel, askable, describe
from workbench.ui.charts import fold_labels, fold_table, folded
from workbench.ui.language import Words, _, said
from workbench.ui.report import asking, downloads, explore
from workbench.ui.report.document import Document, Picture, TextTable, linked, page
from workbench.ui.report.drawing import grid, lying_bars, upright_bars
from workbench.ui.wording import (
    USUAL_DELTA,
    counted_words,
    epsilon_words,
    figure_words,
    guarantee_words,
    hundredths,
    loss_words,
    number,
    whole,
)
from workbench.ui.wording import printable as shown

MAX_COLUMNS, MAX_PAIRS, MAX_LINES, MAX_BARS, MAX_SIDE = 24, 8, 300, 60, 20
LYING_BARS = 14
EVERYTHING = frozenset(downloads.CONTENTS)
FIGURES = Words("report.figures")


def document(
    release: Release, *, title: str = "", note: str = "", contents: Collection[str] = EVERYTHING
) -> Document:
    """Return the page of a release, for a server that answers its links and questions."""
    return Document(
        title=shown(title, at_most=120) or shown(said(describe(release.recipe)), at_most=200),
        badge="private",
        badge_text=_("differentially private · {loss}").format(loss=loss_words(release.guarantee.loss)),
        note="\n".join(shown(line, at_most=2_000) for line in note.splitlines()),
        about=_about(release),
        pictures=tuple(_pictures(release)),
        promise=tuple(_promise(release)),
        reading=tuple(_reading(release)),
        downloads=linked(downloads.files(release, contents)),
        asks=downloads.QUESTIONS in contents and bool(askable(release)),
    )


def file(release: Release) -> bytes:
    """Return the page of a release as one file that needs no server."""
    complete = dataclasses.replace(document(release), asks=False, downloads=downloads.embedded(release))
    return page(complete).html().encode()


def content(release: Release, shown: Document, name: str) -> bytes:
    """Return the bytes of a file of a release, or its interactive page. Args: shown: the document on it."""
    if name != explore.PAGE:
        return downloads.content(release, name)
    questions = asking.section(release, "") if shown.asks else ""
    return page(shown, explore.section(release)).html(questions).encode()


def interactive_file(release: Release) -> bytes:
    """Return the interactive page of a release that is `explorable`, as one file that needs no server."""
    notice = _("This is a file: it cannot be revoked. Whoever has it may keep it and pass it on.")
    complete = dataclasses.replace(document(release), asks=False, downloads=(), notice=notice)
    return content(release, complete, explore.PAGE)


def _about(release: Release) -> tuple[str, ...]:
    sentences = [
        _(
            "{what}: numbers from a table of personal data, changed by random noise so that they tell next "
            "to nothing about any one person. Made on {day}."
        ).format(what=shown(said(describe(release.recipe)), at_most=400), day=shown(release.created[:10])),
        _("Protected: whether one person is in the table at all ({unit}).").format(
            unit=shown(release.guarantee.unit, at_most=200)
        ),
    ]
    if counted := counted_words(release.schema.unit):
        sentences.append(counted)
    if release.part is not None:
        column, category = map(shown, release.part)
        sentences.append(
            _("Only rows with {category} in {column} were counted.").format(category=category, column=column)
        )
    return tuple(sentences)


def _pictures(release: Release) -> list[Picture]:
    model = release.model
    if isinstance(model, Figures):
        return [_figures(model)]
    if isinstance(model, FoundCategories):
        return [_found(model)]
    tables = list(release.marginals)
    pictures = []
    if tables:
        total = release.answer(())
        pictures.append(
            Picture(
                title=_("{rows} rows in all, give or take {half}").format(
                    rows=whole(float(total.values)), half=number(total.reach)
                )
            )
        )
    names = [name for name in release.schema.domain.names if any(name in clique for clique in tables)]
    pictures += [_one_way(release, name) for name in names[:MAX_COLUMNS]]
    pairs = [clique for clique in tables if len(clique) == 2]
    pictures += [_two_way(release, pair) for pair in pairs[:MAX_PAIRS]]
    return pictures


def _one_way(release: Release, name: str) -> Picture:
    column = release.schema.column(name)
    labels, counts = folded(column.labels, release.answer((name,)), most=MAX_BARS)
    heading, values = shown(name, at_most=60), counts.values.tolist()
    ends = list(zip(counts.low.tolist(), counts.high.tolist(), strict=True))
    alt = _("Bar chart of {cells} noisy counts of {column}. The largest, {top}, has {rows} rows.").format(
        cells=len(labels),
        column=heading,
        top=shown(labels[int(np.argmax(values))]),
        rows=whole(max(values)),
    )
    drawing = (
        upright_bars(labels, values, ends, unit=_("rows"), alt=alt, title=name)
        if isinstance(column, IntervalColumn) or len(labels) > LYING_BARS
        else lying_bars(labels, values, ends, unit=_("rows"), alt=alt)
    )
    return Picture(
        title=_("{column}: each count is within {half} rows of the truth in 95 of 100 cases").format(
            column=heading, half=number(counts.reach)
        ),
        drawing=drawing,
        table=_table((heading,), [(label,) for label in labels], counts.values, counts.low, counts.high),
    )


def _two_way(release: Release, pair: Clique) -> Picture:
    names = tuple(shown(name, at_most=40) for name in pair)
    labels = [release.schema.column(name).labels for name in pair]
    counts = release.answer(pair)
    rows, columns = (fold_labels(each, MAX_SIDE) for each in labels)
    alt = _("Noisy counts of {a} by {b}, darker is more rows.").format(a=names[0], b=names[1])
    return Picture(
        title=_(
            "{a} and {b} together: each count is within {half} rows of the truth in 95 of 100 cases"
        ).format(a=names[0], b=names[1], half=number(counts.reach)),
        drawing=grid(fold_table(counts.values, MAX_SIDE).tolist(), rows, columns, alt=alt),
        table=_table(names, list(itertools.product(*labels)), counts.values, counts.low, counts.high),
    )


def _table(names: Sequence[str], cells: Sequence[tuple[str, ...]], *counts: npt.ArrayLike) -> TextTable:
    """Write cells with their rows, and with low and high where `counts` has them."""
    figures = np.stack([np.ravel(each) for each in counts], axis=1)[:MAX_LINES]
    left_out = len(cells) - len(figures)
    return TextTable(
        headings=(*names, *(_("rows"), _("low"), _("high"))[: len(counts)]),
        lines=tuple(
            (*map(shown, cell), *map(whole, line))
            for cell, line in zip(cells[:MAX_LINES], figures.tolist(), strict=True)
        ),
        note=_("{count} more lines are in the file of counts.").format(count=f"{left_out:,}")
        if left_out
        else "",
    )


def figures_table(model: Figures) -> pd.DataFrame:
    """Return a line per figure, with its value and what it may be off by."""
    return pd.DataFrame(
        [
            {
                _("figure"): figure_name(figure.name),
                _("value"): figure_words(figure),
                _("off by, at most"): _plus_minus(figure.half_width),
                _("places off, at most"): _plus_minus(figure.rank_error),
            }
            for figure in model.figures
        ]
    )


def _plus_minus(half: float | None) -> str:
    return "" if half is None else f"± {number(half)}"


def figure_name(name: str) -> str:
    """Return what people call a figure of a release, such as "quantile 1/2"."""
    if name in FIGURES:
        return FIGURES[name]
    try:
        share = 100 * float(Fraction(name.removeprefix("quantile ")))
    except (ValueError, ZeroDivisionError):
        return shown(name)
    return _("{share} of the rows lie below").format(share=hundredths(share))


def _figures(model: Figures) -> Picture:
    return Picture(
        title=_("{column}: each interval holds in 95 of 100 cases").format(column=shown(model.column)),
        table=TextTable.of(figures_table(model)),
        folded=False,
    )


def _found(model: FoundCategories) -> Picture:
    heading = shown(model.column, at_most=60)
    ranked = sorted(model.counts.items(), key=lambda each: -each[1])
    labels, values = [label for label, _count in ranked], [float(count) for _label, count in ranked]
    alt = _("Bar chart of {cells} noisy counts of {column}.").format(cells=len(labels), column=heading)
    return Picture(
        title=_("{column}: the categories that enough people share").format(column=heading),
        drawing=lying_bars(labels[:MAX_BARS], values[:MAX_BARS], (), unit=_("rows"), alt=alt)
        if labels
        else None,
        table=_table((heading,), [(label,) for label in labels], values),
    )


def _promise(release: Release) -> list[str]:
    loss = {name: float(Fraction(text)) for name, text in release.guarantee.loss.items()}
    epsilon = loss.get("epsilon")
    if epsilon is None:
        epsilon = epsilon_of(loss["rho"], float(USUAL_DELTA))
    first, *others = guarantee_words(release.guarantee, shown=shown)
    return [
        first,
        epsilon_words(epsilon),
        *others,
        _("Not covered: other releases about the same people. Their losses add up."),
        _(
            "Not covered: what is true of a group. That a disease is common in a town can be told from such "
            "numbers whether or not somebody of the town is in the table."
        ),
    ]


def _reading(release: Release) -> list[str]:
    sentences = [
        _(
            "Every count has noise. The thin line across a bar, and low and high in the table, are where the "
            "true count lies in 95 of 100 cases."
        ),
        _("Small counts are mostly noise. Trust differences that are larger than the lines."),
    ]
    if isinstance(release.model, Figures | FoundCategories):
        sentences = [_("Every number has noise.")]
    if release.model_columns:
        sentences.append(
            _("Drawn rows are invented: they follow the noisy counts, and none of them is a person.")
        )
    if isinstance(release.model, SyntheticModel):
        sentences.append(
            _(
                "How two columns go together is known where they were counted together; for other pairs it "
                "follows from those."
            )
        )
    return sentences
