"""Page of a release: pictures, their tables, and the guarantee."""

import dataclasses
import itertools
from collections.abc import Collection, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pandas as pd

from dpcore.accounting.loss import Loss, epsilon_of_rho
from dpcore.release import Release
from dpcore.schema import Clique, Column
from dpcore.synthesis import (
    Figures,
    FoundCategories,
    SyntheticModel,
    attacker_limits,
    count_rows,
    describe_recipe,
    queryable_columns,
)
from dpcore.tables.answer import CliqueCounts
from workbench.language.labels import bound_text, chart_cells, translate_labels
from workbench.language.messages import (
    N_,
    _,
    day,
    name_and_text,
    ngettext,
    translate,
    translate_table,
)
from workbench.language.wording import (
    DEFAULT_DELTA,
    attacker_words,
    counted_rows_words,
    epsilon_words,
    figure_words,
    guarantee_words,
    loss_words,
    number,
    other_half_words,
    percent_number,
    whole_number_text,
)
from workbench.language.wording import make_printable as shown
from workbench.report import asking, compare, downloads, explore, sentences
from workbench.report.charts import (
    Extents,
    find_tall_cells,
    fold_cells,
    fold_labels,
    fold_table,
    uneven_extents,
)
from workbench.report.document import (
    BADGES,
    Document,
    Picture,
    TextTable,
    link_files,
    render_page,
)
from workbench.report.drawing import (
    Drawing,
    Intervals,
    horizontal_bars,
    shaded_table,
    vertical_bars,
)

MAX_COLUMNS = 24
MAX_PAIRS = 8
MAX_TABLE_LINES = 300
MAX_BARS = 60
MAX_CELLS_PER_SIDE = 20
MAX_HORIZONTAL_BARS = 20
ALL_CONTENTS = frozenset(translate_table(downloads.CONTENTS))
FIGURE_NAMES = {
    "mean": N_("mean"),
    "variance": N_("variance"),
    "standard deviation": N_("standard deviation"),
    "distance": N_("rows that differ"),
}


def document(
    release: Release,
    *,
    title: str = "",
    note: str = "",
    contents: Collection[str] = ALL_CONTENTS,
    pictures: Sequence[Clique] | None = None,
    earlier: Release | None = None,
    pair_loss: Loss | None = None,
) -> Document:
    """Return the page of a release, for a server that answers links and questions.

    Args:
        release: what the page shows.
        title: of the page; what was released, if not given.
        note: of whoever shares it.
        contents: what is given, of `downloads.CONTENTS`.
        pictures: columns of the charts to show, in their order; all, the clearest
            first, if not given.
        earlier: a release of an earlier table to compare with.
        pair_loss: of one half of a release of linked tables, the loss of both halves
            together.
    """
    compared = compare.comparable_columns(release, earlier) if earlier else []
    level = sentences.joint_level(release, 2 * len(compared))
    title = shown(title, max_length=120) or shown(
        translate(describe_recipe(release.recipe)), max_length=200
    )
    drawn = pictures_of(
        release, chart_columns(release) if pictures is None else pictures, level
    )
    lead = _count_sentence(release, level)
    differences = (
        [compare.difference_picture(release, earlier, name, level) for name in compared]
        if earlier
        else []
    )
    preview = _("Numbers with noise added, so that nobody can be found in them.")
    if downloads.PREVIEW in contents:
        preview = " ".join([lead, *(picture.sentence for picture in drawn[:1])])
    return Document(
        title=title,
        lead=lead,
        badge="private",
        badge_text=f"{_(BADGES['private'])} · {loss_words(release.guarantee.loss)}",
        note="\n".join(shown(line, max_length=2_000) for line in note.splitlines()),
        about=(
            *_about_sentences(release),
            *([compare.joint_loss_sentence(release, earlier)] if earlier else ()),
        ),
        pictures=(*drawn, *differences),
        promise=(
            *_guarantee_sentences(release),
            *([other_half_words(pair_loss)] if pair_loss is not None else ()),
            *(_earlier_promise(earlier) if earlier else ()),
        ),
        explanations=needed_explanations(release),
        downloads=link_files(downloads.file_names(release, contents)),
        takes_questions=downloads.QUESTIONS in contents
        and bool(queryable_columns(release)),
        citation=downloads.citation(release, title),
        preview=preview,
    )


def stand_alone_page(release: Release, pair_loss: Loss | None = None) -> bytes:
    """Return a release's page as one file that needs no server.

    Args:
        pair_loss: as of `document`.
    """
    complete = dataclasses.replace(
        document(release, pair_loss=pair_loss),
        takes_questions=False,
        downloads=downloads.embedded_data(
            downloads.file_names(release, {downloads.COUNTS, downloads.MODEL}),
            lambda name: downloads.file_content(release, name, pair_loss),
        ),
    )
    return render_page(complete).html().encode()


def file_content(
    release: Release,
    page_document: Document,
    name: str,
    pair_loss: Loss | None = None,
) -> bytes:
    """Return the bytes of a file of a release, or of its interactive page.

    Args:
        page_document: the document on it.
        pair_loss: as of `document`.
    """
    if name != explore.EXPLORE_FILE:
        return downloads.file_content(release, name, pair_loss)
    questions = (
        asking.question_form(release, "") if page_document.takes_questions else ""
    )
    section = explore.interactive_section(release)
    return render_page(page_document, section, name).html(questions).encode()


def interactive_file(release: Release, pair_loss: Loss | None = None) -> bytes:
    """Return the interactive page of an `explorable` release as one file.

    Args:
        pair_loss: as of `document`.
    """
    complete = without_server(document(release, pair_loss=pair_loss))
    return file_content(release, complete, explore.EXPLORE_FILE)


def without_server(page_document: Document) -> Document:
    """Return the document of an interactive page for a file, which warns of itself."""
    return dataclasses.replace(
        page_document,
        takes_questions=False,
        downloads=(),
        notice=_(
            "This is a file and cannot be revoked. Whoever has it may keep it and "
            "pass it on."
        ),
    )


def _about_sentences(release: Release) -> tuple[str, ...]:
    sentences = [
        _(
            "{what}: numbers from a table of personal data. Random noise was added, "
            "which limits what they can reveal about any one person. Made on {day}.",
        ).format(
            what=shown(translate(describe_recipe(release.recipe)), max_length=400),
            day=day(release.created),
        ),
    ]
    if counted := counted_rows_words(release.schema.unit):
        sentences.append(counted)
    if release.part is not None:
        column, category = map(shown, release.part)
        sentences.append(
            _("Only rows with {category} in {column} were counted.").format(
                category=category, column=column
            ),
        )
    return tuple(sentences)


def chart_columns(release: Release) -> list[Clique]:
    """Return the columns with charts, the one with the clearest shape first."""
    names = [(name,) for name in sentences.measured_columns(release)[:MAX_COLUMNS]]
    counts = [release.answer(name) for name in names]
    clear = [
        float(table.values.std()) / max(table.max_distance_to_bound, 1e-9)
        for table in counts
    ]
    first = [names.pop(clear.index(max(clear)))] if names else []
    return [
        *first,
        *names,
        *[clique for clique in release.marginals if len(clique) == 2][:MAX_PAIRS],
    ]


def _count_sentence(release: Release, level: float) -> str:
    """State the number of people or rows as an interval.

    It holds together with all other sentences of the page.
    """
    if not release.marginals:
        return ""
    total = release.answer((), level=level)
    return _("{rows} {counted} were counted, give or take {half}.").format(
        rows=whole_number_text(float(total.values)),
        counted=sentences.counted_noun(release),
        half=number(total.max_distance_to_bound),
    )


def pictures_of(
    release: Release, cliques: Sequence[Clique], level: float
) -> list[Picture]:
    """Draw the charts of these columns; each sentence above one holds at `level`."""
    model = release.model
    if isinstance(model, Figures):
        return [_figures_picture(model)]
    if isinstance(model, FoundCategories):
        return [_categories_picture(model)]
    there = chart_columns(release)
    return [
        _two_way_picture(release, clique)
        if len(clique) == 2
        else _one_way_picture(release, clique[0], level)
        for clique in map(tuple, cliques)
        if clique in there
    ]


def _column_bars(
    release: Release, name: str
) -> tuple[list[str], list[float], Intervals]:
    """Return labels, counts and interval ends of a column's bars.

    Unordered cells that may be empty become one bar.
    """
    column = release.schema.column(name)
    (cells,), counts = release.chart_cells(release.answer((name,)))
    few = [
        label for label, low in zip(cells, counts.low.tolist(), strict=True) if low <= 0
    ]
    if column.is_interval or not 1 < len(few) < len(cells):
        names = translate_labels(column, cells)
        labels, counts = fold_cells(names, counts, max_cells=MAX_BARS)
        return (
            labels,
            counts.values.tolist(),
            [*zip(counts.low.tolist(), counts.high.tolist(), strict=True)],
        )
    rest = count_rows(release, {name: few})
    kept = counts.low > 0
    labels = [
        *translate_labels(column, (cell for cell in cells if cell not in few)),
        _("others, too few to show one by one"),
    ]
    ends = [
        *zip(counts.low[kept].tolist(), counts.high[kept].tolist(), strict=True),
        (rest.low, rest.high),
    ]
    return labels, [*counts.values[kept].tolist(), rest.value], ends


def _one_way_picture(release: Release, name: str, level: float) -> Picture:
    column = release.schema.column(name)
    unit = sentences.counted_noun(release)
    (cells,), counts = chart_cells(release, release.answer((name,)))
    labels, counts = fold_cells(cells, counts, max_cells=MAX_BARS)
    heading = shown(name, max_length=60)
    alt = _("Bar chart of {cells} noisy counts of {column}.").format(
        cells=len(labels), column=heading
    )
    bars, values, ends = _column_bars(release, name)
    extents = uneven_extents(column, MAX_BARS)
    drawing = (
        _bars_by_width(
            extents, _bar_ticks(column, cells, bars), values, ends, unit, alt, name
        )
        if extents is not None
        else vertical_bars(
            _bar_ticks(column, cells, bars),
            values,
            ends,
            unit=unit,
            alt=alt,
            title=name,
        )
        if column.is_interval or len(bars) > MAX_HORIZONTAL_BARS
        else horizontal_bars(bars, values, ends, unit=unit, alt=alt)
    )
    return Picture(
        sentence=sentences.claim_sentence(release, name, level),
        title=_accuracy_title(heading, counts, unit),
        drawing=drawing,
        table=_counts_table(
            (heading,),
            [(label,) for label in labels],
            counts.values,
            counts.low,
            counts.high,
        ),
    )


def _bars_by_width(
    extents: Extents,
    ticks: Sequence[str],
    values: Sequence[float],
    ends: Intervals,
    unit: str,
    alt: str,
    title: str,
) -> Drawing:
    """Draw cells of different widths as bars; the height is the count per unit.

    Cells beside the numbers, such as that of missing ones, are in the table alone; a
    single value that would dwarf all others is written above the bars.
    """
    widths = extents.widths.tolist()
    heights = np.array(values[: len(widths)]) / extents.widths
    tall = find_tall_cells(heights, extents.is_narrow).tolist()
    cells = [cell for cell in range(len(widths)) if not tall[cell]]
    beside = "; ".join(
        name_and_text(ticks[cell], whole_number_text(values[cell]))
        for cell in range(len(widths))
        if tall[cell]
    )
    return vertical_bars(
        [ticks[cell] for cell in cells],
        [values[cell] / widths[cell] for cell in cells],
        [(ends[cell][0] / widths[cell], ends[cell][1] / widths[cell]) for cell in cells]
        if ends
        else (),
        unit=_("{counted} per unit of {column}").format(counted=unit, column=title),
        alt=alt,
        title=title,
        spans=[extents.spans[cell] for cell in cells],
        undrawn_text=beside,
    )


def _accuracy_title(column: str, counts: CliqueCounts, unit: str) -> str:
    return _(
        "{column}: each count is within {half} {counted} of the truth in 95 of 100 "
        "cases"
    ).format(
        column=column,
        half=number(counts.max_distance_to_bound),
        counted=unit,
    )


def _bar_ticks(
    column: Column, cells: Sequence[str], bars: Sequence[str]
) -> Sequence[str]:
    """Return the labels below bars; for numbers and dates, each bar's lower bound."""
    if not column.is_interval:
        return bars
    starts = list(map(bound_text, column.bounds[:-1]))
    return [*starts, *cells[len(starts) :]][:: -(-len(cells) // MAX_BARS)]


def _two_way_picture(release: Release, pair: Clique) -> Picture:
    names = tuple(shown(name, max_length=40) for name in pair)
    labels, counts = chart_cells(release, release.answer(pair))
    rows, columns = (fold_labels(side, MAX_CELLS_PER_SIDE) for side in labels)
    together = _("{a} and {b} together").format(a=names[0], b=names[1])
    unit = sentences.counted_noun(release)
    values = fold_table(counts.values, MAX_CELLS_PER_SIDE).tolist()
    return Picture(
        title=_accuracy_title(together, counts, unit),
        drawing=shaded_table(
            values, rows, columns, names=names, unit=unit, alt=together
        ),
        table=_counts_table(
            names,
            list(itertools.product(*labels)),
            counts.values,
            counts.low,
            counts.high,
        ),
    )


def _counts_table(
    names: Sequence[str], cells: Sequence[tuple[str, ...]], *counts: npt.ArrayLike
) -> TextTable:
    """Return a table of cells with their counts, and with intervals if given."""
    figures = np.stack([np.ravel(values) for values in counts], axis=1)[
        :MAX_TABLE_LINES
    ]
    left_out = len(cells) - len(figures)
    return TextTable(
        headings=(*names, *(_("rows"), _("low"), _("high"))[: len(counts)]),
        lines=tuple(
            (*map(shown, cell), *map(whole_number_text, line))
            for cell, line in zip(
                cells[:MAX_TABLE_LINES], figures.tolist(), strict=True
            )
        ),
        note=ngettext(
            "{number:,} more line is in the file of counts.",
            "{number:,} more lines are in the file of counts.",
            left_out,
        )
        if left_out
        else "",
    )


def figures_table(model: Figures) -> pd.DataFrame:
    """Return a line per figure: its value and its error."""
    return pd.DataFrame(
        [
            {
                _("figure"): figure_name(figure.name),
                _("value"): figure_words(figure),
                _("off by"): _plus_minus(figure.half_width),
                _("places off, at most"): _plus_minus(figure.rank_error),
            }
            for figure in model.figures
        ],
    )


def _plus_minus(half: float | None) -> str:
    return "" if half is None else f"± {number(half)}"


def figure_name(name: str) -> str:
    """Return a figure's name for people, such as "quantile 1/2"."""
    if name in FIGURE_NAMES:
        return _(FIGURE_NAMES[name])
    try:
        share = 100 * float(Fraction(name.removeprefix("quantile ")))
    except (ValueError, ZeroDivisionError):
        return shown(name)
    return _("value below which {share} of the rows lie").format(
        share=percent_number(share)
    )


def _figures_picture(model: Figures) -> Picture:
    return Picture(
        title=_("{column}: each interval holds in 95 of 100 cases").format(
            column=shown(model.column)
        ),
        table=TextTable.from_frame(figures_table(model)),
        folded=False,
    )


def _categories_picture(model: FoundCategories) -> Picture:
    heading = shown(model.column, max_length=60)
    ranked = sorted(model.counts.items(), key=lambda each: -each[1])
    labels = [label for label, _count in ranked]
    values = [float(count) for _label, count in ranked]
    alt = _("Bar chart of {cells} noisy counts of {column}.").format(
        cells=len(labels), column=heading
    )
    return Picture(
        title=_("{column}: the categories shared by enough people").format(
            column=heading
        ),
        drawing=horizontal_bars(
            labels[:MAX_BARS], values[:MAX_BARS], (), unit=_("rows"), alt=alt
        )
        if labels
        else None,
        table=_counts_table((heading,), [(label,) for label in labels], values),
    )


def _guarantee_sentences(release: Release) -> list[str]:
    loss = {
        name: float(Fraction(text)) for name, text in release.guarantee.loss.items()
    }
    epsilon = loss.get("epsilon")
    if epsilon is None:
        epsilon = epsilon_of_rho(loss["rho"], float(DEFAULT_DELTA))
    first, *others = guarantee_words(release.guarantee, escape=shown)
    limits = attacker_words(attacker_limits(release))
    return [first, epsilon_words(epsilon), limits, *others]


def _earlier_promise(earlier: Release) -> list[str]:
    """Return the guarantee of the release that this one is compared with."""
    *sentences, _anything = guarantee_words(earlier.guarantee, escape=shown)
    return [
        _("About the earlier release: {sentence}").format(sentence=sentence)
        for sentence in sentences
    ]


def needed_explanations(release: Release) -> frozenset[str]:
    """Return the names of the explanations in `page.html` that the page needs."""
    needed = {
        "counts": not isinstance(release.model, Figures | FoundCategories),
        "drawn": bool(release.model_columns),
        "pairs": isinstance(release.model, SyntheticModel),
    }
    return frozenset(name for name in needed if needed[name])
