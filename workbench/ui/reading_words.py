"""What was read from a file, in sentences: said before any verdict about it."""

from collections.abc import Iterable, Sequence

from dpcore.io.options import BLANKS, ColumnReading, ReadOptions
from dpcore.text import Text
from workbench.language.messages import _, commas, translate
from workbench.language.wording import is_printed, printable

_SIGNS = {"\t": "tab", BLANKS: "blanks"}


def reading_sentences(
    options: ReadOptions, notes: Sequence[str] = (), columns: int | None = None
) -> list[str]:
    """Say which sheet, header, encoding, separator and signs were read, and what was
    left out.

    Args:
        options: under which the file was read.
        notes: what the reader says besides.
        columns: number of columns; None if it is not known.
    """
    facts = []
    if options.sheet is not None:
        facts.append(_("sheet {name}").format(name=printable(options.sheet)))
    if options.header is not None:
        line = (options.skip or 0) + 1
        facts.append(
            _("column names from line {line}").format(line=line)
            if options.header
            else _("no line with column names")
        )
    if options.encoding is not None:
        facts.append(_("encoding {name}").format(name=options.encoding))
    if options.separator is not None and options.sheet is None:
        sign = _SIGNS.get(options.separator, options.separator)
        facts.append(_("columns separated by {sign}").format(sign=sign))
    if columns is not None:
        facts.append(_("{columns} columns").format(columns=columns))
    sentences = [_("Read: {facts}.").format(facts=commas(facts))] if facts else []
    sentences += _column_sentences(options.columns or ())
    return [*sentences, *map(_note_words, notes)]


def _note_words(note: str) -> str:
    """Translate a note; in print none counts lines of people or points at one."""
    if is_printed() and isinstance(note, Text):
        if "line" in note.fields:
            return _("Some bytes of the text are damaged: they are shown as \ufffd")
        if note.many and "lines" in note.fields:
            return _(
                "Empty lines, totals, footnotes and repeated headers were left out"
            )
    return translate(note)


def _column_sentences(readings: Iterable[ColumnReading]) -> list[str]:
    """Say how the cells of columns are written that may be read in another way."""
    ways: dict[str, list[str]] = {}
    for reading in readings:
        ways.setdefault(_way(reading), []).append(printable(reading.column))
    return [sentence.format(columns=commas(names)) for sentence, names in ways.items()]


def _way(reading: ColumnReading) -> str:
    if reading.kind == "text":
        return _(
            "Read as text, although some values look like numbers or dates: {columns}."
        )
    if reading.kind == "number":
        written = "1.234,5" if reading.decimal == "," else "1,234.5"
        return _("Numbers written as {form}: {columns}.").replace("{form}", written)
    if reading.digits:
        return _("Dates written as {form}: {columns}.").replace(
            "{form}", reading.digits
        )
    order = _("day, month") if reading.day_first else _("month, day")
    words = _("Dates with {order}, years of two digits from {year} on: {columns}.")
    return words.replace("{order}", order).replace("{year}", str(reading.century))
