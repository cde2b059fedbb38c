"""Charts as shapes with places, which a template writes as SVG. Colors are those of the page, by class.

Drawn for a phone: 360 units wide, so that a letter of 12 units can be read at 390 pixels.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from workbench.ui.wording import number, printable

WIDTH = 360.0
_LEFT, _TOP, _HEIGHT, _FOOT = 44.0, 24.0, 170.0, 34.0
_LINE, _BAR = 34.0, 11.0
_LABEL = 46


@dataclass(frozen=True)
class Rect:
    x: float
    y: float
    width: float
    height: float
    kind: str
    opacity: float = 1.0


@dataclass(frozen=True)
class Line:
    x1: float
    y1: float
    x2: float
    y2: float
    kind: str


@dataclass(frozen=True)
class Text:
    x: float
    y: float
    text: str
    anchor: str = "start"


@dataclass(frozen=True, kw_only=True)
class Drawing:
    """Shapes on a plane of `WIDTH` by `height` units."""

    height: float
    rects: tuple[Rect, ...]
    lines: tuple[Line, ...]
    texts: tuple[Text, ...]

    width = WIDTH


def bars(
    labels: Sequence[str],
    values: Sequence[float],
    ends: Sequence[tuple[float, float]],
    *,
    upright: bool,
    unit: str,
    title: str = "",
) -> Drawing:
    """One bar for each count, with its error bar.

    Args:
        ends: of the interval of every count; empty for none.
        unit: what is counted, in a word.
        upright: bars beside each other, for cells in an order; else one under the other, with whole labels.
    """
    most = max([1e-9, *values, *(high for _low, high in ends)])
    return (_upright if upright else _lying)(labels, values, ends, most, unit, title)


def _lying(
    labels: Sequence[str],
    values: Sequence[float],
    ends: Sequence[tuple[float, float]],
    most: float,
    unit: str,
    title: str,
) -> Drawing:
    room, rects, lines = WIDTH - 64, [], []
    texts = [Text(WIDTH, 12, unit, "end")]
    for i, (label, value) in enumerate(zip(labels, values, strict=True)):
        top = i * _LINE
        end = room * max(0.0, value) / most
        texts.append(Text(0, top + 12, printable(label, at_most=_LABEL)))
        texts.append(Text(WIDTH, top + 26, number(value), "end"))
        rects.append(Rect(0, top + 17, end, _BAR, "value"))
        if ends:
            low, high = (room * end / most for end in ends[i])
            middle = top + 17 + _BAR / 2
            lines.append(Line(low, middle, high, middle, "error"))
            lines += [Line(at, middle - 4, at, middle + 4, "error") for at in (low, high)]
    return Drawing(height=len(labels) * _LINE + 4, rects=tuple(rects), lines=tuple(lines), texts=tuple(texts))


def _upright(
    labels: Sequence[str],
    values: Sequence[float],
    ends: Sequence[tuple[float, float]],
    most: float,
    unit: str,
    title: str,
) -> Drawing:
    step = (WIDTH - _LEFT - 4) / len(labels)

    def at(value: float) -> float:
        return _TOP + _HEIGHT * (1 - min(1.0, max(0.0, value) / most))

    lines = [Line(_LEFT, at(tick), WIDTH - 4, at(tick), "grid") for tick in ticks(most)]
    texts = [Text(_LEFT - 5, at(tick) + 4, number(tick), "end") for tick in ticks(most)]
    texts.append(Text(0, 12, unit))
    rects = []
    for i, value in enumerate(values):
        x = _LEFT + i * step
        rects.append(Rect(x + step * 0.08, at(value), step * 0.84, at(0) - at(value), "value"))
        if ends:
            middle = x + step / 2
            lines.append(Line(middle, at(ends[i][0]), middle, at(ends[i][1]), "error"))
    shown = min(len(labels), 4)
    for place in range(shown):
        i = round(place * (len(labels) - 1) / max(1, shown - 1))
        anchor = "start" if place == 0 else "end" if place == shown - 1 and shown > 1 else "middle"
        x = _LEFT + i * step if place == 0 else WIDTH - 4 if anchor == "end" else _LEFT + (i + 0.5) * step
        texts.append(Text(x, _TOP + _HEIGHT + 15, printable(labels[i], at_most=14), anchor))
    texts.append(
        Text((_LEFT + WIDTH) / 2, _TOP + _HEIGHT + _FOOT - 3, printable(title, at_most=40), "middle")
    )
    return Drawing(
        height=_TOP + _HEIGHT + _FOOT + 4, rects=tuple(rects), lines=tuple(lines), texts=tuple(texts)
    )


def grid(values: Sequence[Sequence[float]], rows: Sequence[str], columns: Sequence[str]) -> Drawing:
    """A table of counts as shades; darker is more."""
    left = 96.0
    most = max([1e-9, *(value for line in values for value in line)])
    width = (WIDTH - left) / len(columns)
    height = max(14.0, min(26.0, 300 / len(rows)))
    rects = tuple(
        Rect(left + j * width, i * height, width, height, "cell", max(0.0, value) / most)
        for i, line in enumerate(values)
        for j, value in enumerate(line)
    )
    texts = [
        Text(left - 6, (i + 0.5) * height + 4, printable(label, at_most=15), "end")
        for i, label in enumerate(rows)
    ]
    bottom = len(rows) * height
    ends = [(0, "start"), (len(columns) - 1, "end")] if len(columns) > 1 else [(0, "start")]
    for j, anchor in ends:
        x = left if anchor == "start" else WIDTH
        texts.append(Text(x, bottom + 15, printable(columns[j], at_most=22), anchor))
    return Drawing(height=bottom + 22, rects=rects, lines=(), texts=tuple(texts))


def ticks(most: float) -> list[float]:
    """Round numbers from 0 up to `most`, three to six of them."""
    power = 10.0 ** math.floor(math.log10(most))
    step = next(step for step in (power / 5, power / 2, power, 2 * power) if most / step <= 5)
    return [step * i for i in range(int(most / step) + 1)]
