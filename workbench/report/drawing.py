"""Charts as SVG without scripts, in the colors of their page.

Drawn for a phone: 360 units wide, so that a letter of 12 units can be read at 390
pixels.
"""

import math
from collections.abc import Sequence
from xml.etree import ElementTree

from workbench.language.wording import make_printable, number, whole_number_text

WIDTH = 360.0
_LEFT_MARGIN = 44.0
_TOP_MARGIN = 24.0
_PLOT_HEIGHT = 170.0
_BOTTOM_MARGIN = 34.0
_NEEDLE_WIDTH = 1.5  # of a bar for one value
_MAX_BARS_WITH_EDGED_ERRORS = 24  # narrower bars would be hidden by the edges
_LINE_HEIGHT = 34.0
_BAR_HEIGHT = 11.0
_MAX_LABEL_LETTERS = 46
_MAX_TICK_LETTERS = 10
"""Letters of a label that has a line of its own, and of one of four that share a
line.
"""
_MAX_SHORT_TICK_LETTERS = 7  # letters of labels of which four share a line
_MAX_GRID_LABELS = 10  # labels below a table of shades
_LEGEND_SHADES = 5
Intervals = Sequence[tuple[float, float]]


class Drawing:
    """Shapes on a plane of `WIDTH` by `height` units, written as SVG by a template.

    Args:
        alt: the drawing in words.
    """

    def __init__(self, height: float, alt: str) -> None:
        box = f"0 0 {WIDTH:g} {height:.1f}"
        self._root = ElementTree.Element(
            "svg", {"viewBox": box, "role": "img", "aria-label": alt}
        )

    def __html__(self) -> str:
        return ElementTree.tostring(self._root, encoding="unicode")

    def rect(
        self,
        css_class: str,
        x: float,
        y: float,
        width: float,
        height: float,
        opacity: float = 1.0,
    ) -> None:
        """Add a rectangle with a CSS class of the page."""
        shade = {"fill-opacity": f"{opacity:.3f}"} if opacity < 1 else {}
        self._add(
            "rect", {"class": css_class, **shade}, x=x, y=y, width=width, height=height
        )

    def line(self, css_class: str, x1: float, y1: float, x2: float, y2: float) -> None:
        """Add a line with a CSS class of the page."""
        self._add("line", {"class": css_class}, x1=x1, y1=y1, x2=x2, y2=y2)

    def error_line(
        self, x1: float, y1: float, x2: float, y2: float, *, has_edge: bool = True
    ) -> None:
        """Add a line of an error bar, with an edge by which it is seen on a bar."""
        if has_edge:
            self.line("edge", x1, y1, x2, y2)
        self.line("error", x1, y1, x2, y2)

    def text(
        self, x: float, y: float, text: str, anchor: str = "start", *, turn: float = 0
    ) -> None:
        """Add a text at a point, turned by an angle in degrees.

        It begins, ends or has its middle at the point.
        """
        turned = {"transform": f"rotate({turn:g} {x:.1f} {y:.1f})"} if turn else {}
        self._add("text", {"text-anchor": anchor, **turned}, x=x, y=y).text = text

    def _add(
        self, tag: str, fields: dict[str, str], **places: float
    ) -> ElementTree.Element:
        placed = {name: f"{place:.1f}" for name, place in places.items()}
        return ElementTree.SubElement(self._root, tag, placed | fields)


def horizontal_bars(
    labels: Sequence[str],
    values: Sequence[float],
    ends: Intervals,
    *,
    unit: str,
    alt: str,
) -> Drawing:
    """Draw horizontal bars, each with its whole label.

    Args:
        labels: of the bars.
        values: of the bars, in `unit`.
        ends: of the interval of every count; empty for none.
        unit: what is counted, in a word.
        alt: the drawing in words.
    """
    scale = (WIDTH - 64) / _largest(values, ends)
    drawing = Drawing(len(labels) * _LINE_HEIGHT + 4, alt)
    drawing.text(WIDTH, 12, unit, "end")
    for i, (label, value) in enumerate(zip(labels, values, strict=True)):
        top = i * _LINE_HEIGHT
        drawing.text(0, top + 12, make_printable(label, max_length=_MAX_LABEL_LETTERS))
        drawing.text(WIDTH, top + 26, whole_number_text(value), "end")
        drawing.rect("value", 0, top + 17, scale * max(0.0, value), _BAR_HEIGHT)
    for i, (low, high) in enumerate(ends):
        middle = i * _LINE_HEIGHT + 17 + _BAR_HEIGHT / 2
        drawing.error_line(scale * low, middle, scale * high, middle)
        for end in (scale * low, scale * high):
            drawing.error_line(end, middle - 4, end, middle + 4)
    return drawing


def vertical_bars(
    labels: Sequence[str],
    values: Sequence[float],
    ends: Intervals,
    *,
    unit: str,
    alt: str,
    title: str,
    spans: Sequence[tuple[float, float]] = (),
    undrawn_text: str = "",
) -> Drawing:
    """Draw vertical bars for ordered cells, over an axis with a few labels.

    Args:
        labels: of the bars, of which four are shown, or three long ones.
        values: of the bars, in `unit`.
        ends: of the interval of every count; empty for none.
        unit: what is counted, in a word.
        alt: the drawing in words.
        title: of the axis below the bars.
        spans: from where to where each bar reaches, from 0 to 1; bars of one width if
            not given.
        undrawn_text: what is not drawn, with its count.
    """
    most = _largest(values, ends)
    right = WIDTH - 4
    plot = WIDTH - _LEFT_MARGIN - 4
    step = 1 / len(labels)
    spans = spans or [
        ((i + 0.08) * step, (i + 0.92) * step) for i in range(len(labels))
    ]

    def middle_of(bar: int) -> float:
        return _LEFT_MARGIN + plot * sum(spans[bar]) / 2

    drawing = Drawing(_TOP_MARGIN + _PLOT_HEIGHT + _BOTTOM_MARGIN + 4, alt)

    def height_of(value: float) -> float:
        return _TOP_MARGIN + _PLOT_HEIGHT * (1 - min(1.0, max(0.0, value) / most))

    drawing.text(0, 12, unit)
    if undrawn_text:
        drawing.text(WIDTH - 4, 12, make_printable(undrawn_text, max_length=24), "end")
    for tick in _ticks(most):
        drawing.line("grid", _LEFT_MARGIN, height_of(tick), right, height_of(tick))
        drawing.text(_LEFT_MARGIN - 5, height_of(tick) + 4, number(tick), "end")
    for i, value in enumerate(values):
        top = height_of(value)
        start, end = spans[i]
        drawing.rect(
            "value",
            _LEFT_MARGIN + plot * start,
            top,
            max(plot * (end - start), _NEEDLE_WIDTH),
            height_of(0) - top,
        )
    for i, (low, high) in enumerate(ends):
        middle = middle_of(i)
        drawing.error_line(
            middle,
            height_of(low),
            middle,
            height_of(high),
            has_edge=len(ends) <= _MAX_BARS_WITH_EDGED_ERRORS,
        )
    last = len(labels) - 1
    foot = _TOP_MARGIN + _PLOT_HEIGHT + 15
    drawing.text(
        _LEFT_MARGIN, foot, make_printable(labels[0], max_length=_MAX_TICK_LETTERS)
    )
    longest = max(len(make_printable(label)) for label in labels)
    inner = (1 / 3, 2 / 3) if longest <= _MAX_SHORT_TICK_LETTERS else (1 / 2,)
    between = {
        min(range(len(labels)), key=lambda bar: abs(sum(spans[bar]) / 2 - at))
        for at in inner
    }
    for i in sorted(between - {0, last}):
        drawing.text(
            middle_of(i),
            foot,
            make_printable(labels[i], max_length=_MAX_TICK_LETTERS),
            "middle",
        )
    if last:
        drawing.text(
            right,
            foot,
            make_printable(labels[last], max_length=_MAX_TICK_LETTERS),
            "end",
        )
    drawing.text(
        (_LEFT_MARGIN + WIDTH) / 2,
        foot + _BOTTOM_MARGIN - 18,
        make_printable(title, max_length=40),
        "middle",
    )
    return drawing


def shaded_table(
    values: Sequence[Sequence[float]],
    rows: Sequence[str],
    columns: Sequence[str],
    *,
    names: Sequence[str],
    unit: str,
    alt: str,
) -> Drawing:
    """Draw a table of counts as shades of one color, the largest count darkest.

    Args:
        values: of the cells, in `unit`.
        rows: labels of the rows.
        columns: labels of the columns.
        names: of what the rows are, and the columns.
        unit: what is counted, in a word.
        alt: the drawing in words.
    """
    left = 96.0
    letters = max(min(14, len(label)) for label in columns)
    most = _largest([value for line in values for value in line], ())
    width = (WIDTH - left) / len(columns)
    height = max(16.0, min(26.0, 300 / len(rows)))
    top = 44.0
    bottom = top + len(rows) * height
    drawing = Drawing(bottom + 26 + 4.6 * letters, alt)
    shade = (WIDTH - left) / 3 / _LEGEND_SHADES
    for i in range(_LEGEND_SHADES + 1):
        drawing.rect("shade", left + 14 + i * shade, 2, shade, 12, i / _LEGEND_SHADES)
    drawing.text(left, 12, "0")
    drawing.text(
        left + 20 + (_LEGEND_SHADES + 1) * shade,
        12,
        f"{whole_number_text(most)} {unit}",
    )
    drawing.text(left - 6, top - 8, make_printable(names[0], max_length=14), "end")
    drawing.text(left, top - 8, make_printable(names[1], max_length=36))
    for i, (label, line) in enumerate(zip(rows, values, strict=True)):
        for j, value in enumerate(line):
            drawing.rect(
                "cell",
                left + j * width,
                top + i * height,
                width,
                height,
                max(0.0, value) / most,
            )
        drawing.text(
            left - 6,
            top + (i + 0.5) * height + 4,
            make_printable(label, max_length=13),
            "end",
        )
    for j in range(0, len(columns), -(-len(columns) // _MAX_GRID_LABELS)):
        drawing.text(
            left + (j + 0.5) * width + 4,
            bottom + 12,
            make_printable(columns[j], max_length=14),
            "end",
            turn=-40,
        )
    return drawing


def _largest(values: Sequence[float], ends: Intervals) -> float:
    return max([1e-9, *values, *(high for _low, high in ends)])


def _ticks(most: float) -> list[float]:
    """Return three to six round numbers from 0 up to `most`."""
    power = 10.0 ** math.floor(math.log10(most))
    step = next(
        step for step in (power / 5, power / 2, power, 2 * power) if most / step <= 5
    )
    return [step * i for i in range(int(most / step) + 1)]
