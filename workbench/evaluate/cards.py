"""Cards of the comparison, one per column or group of pairs.

Their scale begins at perfect.
"""

import html
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpcore.evaluation.utility import measures
from dpcore.evaluation.utility.similarity import ColumnSimilarity, SimilarityReport
from workbench.evaluate.relations import (
    level_of_kept,
    list_relations,
    mean_kept_share,
)
from workbench.evaluate.report import is_misleading
from workbench.language.messages import _, name_and_text
from workbench.language.wording import percent
from workbench.report.charts import legend_entry
from workbench.report.document import fill_template

# Smallest distance at the right end of a scale. A smaller one would make differences by
# chance look large.
MIN_SCALE_END = 0.05
MAX_UNMENTIONED_SHARE = (
    0.02  # share of wrong rows in a column that a card does not mention
)
LEVEL_COLORS = {"good": "#009E73", "mixed": "#E69F00", "poor": "#D55E00"}
CHANCE_COLOR = "#8A8A8A"
INDEPENDENT_COLOR = "#56B4E9"


@dataclass(frozen=True, kw_only=True)
class Card:
    """Card of the comparison: a distance on a scale, with a verdict.

    Attributes:
        level: "good", "mixed" or "poor"; the word says the same.
        value: distance from the original, in [0, 1]; 0 is perfect.
        floor: what chance alone brings.
        independent: what independent columns would score; None where they are no
            competitor.
        lines: further sentences.
    """

    title: str
    level: str
    word: str
    value: float
    floor: float
    independent: float | None = None
    lines: tuple[str, ...] = ()


def column_cards(similarity: SimilarityReport) -> list[Card]:
    """Return a card per column, worst first."""
    return [_column_card(column) for column in similarity.columns]


def _column_card(column: ColumnSimilarity) -> Card:
    level = "mixed"
    word = _("use with care")
    if is_misleading(column):
        level = "poor"
        word = _("do not use")
    elif column.distance <= max(MAX_UNMENTIONED_SHARE, 2 * column.floor):
        level = "good"
        word = _("good")
    lines = []
    if column.deciles is not None:
        lines.append(
            name_and_text(
                _("error of the deciles, as a share of the range"),
                percent(column.deciles),
            )
        )
    if column.rare_values[0]:
        lines.append(
            name_and_text(
                _("rare values kept"),
                f"{column.rare_values[1]} / {column.rare_values[0]}",
            )
        )
    return Card(
        title=column.column,
        level=level,
        word=word,
        value=column.distance,
        floor=column.floor,
        lines=tuple(lines),
    )


def pair_cards(similarity: SimilarityReport) -> list[Card]:
    """Return a card per column for its pairs with all others, worst first."""
    if similarity.score(measures.COARSE_PAIR_DISTANCE) is None:
        return []
    relations = list_relations(similarity)
    cards: list[tuple[float, Card]] = []
    for name, value, floor, alone in zip(
        similarity.marginals.columns, *similarity.relations, strict=True
    ):
        kept = mean_kept_share([each for each in relations if name in each.columns])
        share = "–" if kept is None else percent(kept)
        card = Card(
            title=name,
            level=level_of_kept(kept),
            word=name_and_text(_("relations kept"), share),
            value=float(value),
            floor=float(floor),
            independent=float(alone),
        )
        cards.append((2.0 if kept is None else kept, card))
    return [card for _kept, card in sorted(cards, key=lambda each: each[0])]


def filter_cards(cards: Sequence[Card], text: str) -> list[Card]:
    """Return the cards with a text in their title."""
    return [card for card in cards if text.casefold() in card.title.casefold()]


def cards_html(cards: Sequence[Card], *, end: float) -> str:
    """Return the cards as HTML, all on a scale from 0 to `end`."""
    marks = {
        "floor": (_("another sample"), CHANCE_COLOR),
        "independent": (_("independent columns"), INDEPENDENT_COLOR),
    }
    words: dict[str, Any] = {
        "marks": marks,
        "colors": LEVEL_COLORS,
        "percent": percent,
        "named": name_and_text,
    }
    return fill_template(
        "cards.html", Path(__file__).parent, cards=cards, end=end, **words
    )


def scale_end(cards: Sequence[Card]) -> float:
    """Return the right end of a scale for all of the cards."""
    return max(
        [
            MIN_SCALE_END,
            *(max(card.value, card.floor, card.independent or 0) for card in cards),
        ]
    )


def legend(*, has_independent: bool) -> str:
    """Draw the legend of the marks on the scales as HTML."""
    marks = [
        legend_entry(LEVEL_COLORS["good"], _("release")),
        legend_entry(CHANCE_COLOR, _("another sample"), bar=True),
    ]
    if has_independent:
        marks.append(
            legend_entry(INDEPENDENT_COLOR, _("independent columns"), bar=True)
        )
    words = _("The left end is perfect (0 %). All cards have the same scale.")
    return f'<small aria-hidden="true">{"".join(marks)} {html.escape(words)}</small>'
