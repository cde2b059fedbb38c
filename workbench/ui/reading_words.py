"""Describe in sentences how a file was read."""

from collections.abc import Iterable, Sequence

from dpcore.io.options import BLANK_SEPARATOR, NO_SEPARATOR, ColumnReading, ReadOptions
from dpcore.text import Text
from workbench.language.messages import (
    N_,
    _,
    join_with_commas,
    translate,
    translate_table,
)
from workbench.language.wording import is_printing, make_printable

SEPARATOR_WORDS = {
    ",": N_("commas"),
    ";": N_("semicolons"),
    "|": N_("vertical bars"),
    "\t": N_("tabs"),
    BLANK_SEPARATOR: N_("blanks"),
}


def reading_sentences(
    options: ReadOptions, notes: Sequence[str] = (), columns: int | None = None
) -> list[str]:
    """Return sentences on how a file was read and what was left out.

    Args:
        options: under which the file was read.
        notes: what the reader says besides.
        columns: number of columns; None if it is not known.
    """
    facts = []
    if options.sheet is not None:
        facts.append(_("sheet {name}").format(name=make_printable(options.sheet)))
    if options.header is not None:
        facts.append(_header_words(options))
    if options.encoding is not None:
        facts.append(_("encoding {name}").format(name=options.encoding))
    if options.separator not in (None, NO_SEPARATOR) and options.sheet is None:
        words = translate_table(SEPARATOR_WORDS)
        sign = words.get(str(options.separator), options.separator)
        facts.append(_("columns separated by {sign}").format(sign=sign))
    if columns is not None:
        facts.append(_("{columns} columns").format(columns=columns))
    sentences = (
        [_("Read: {facts}.").format(facts=join_with_commas(facts))] if facts else []
    )
    sentences += _column_sentences(options.columns or ())
    return [*sentences, *map(_note_words, notes)]


def _header_words(options: ReadOptions) -> str:
    if not options.header:
        return _("no line with column names")
    line = (options.skip or 0) + 1
    if options.header_lines == 2:
        return _("column names from lines {line} and {next}").format(
            line=line, next=line + 1
        )
    return _("column names from line {line}").format(line=line)


def _note_words(note: str) -> str:
    """Translate a note; in print, leave out line numbers and counts of lines."""
    if is_printing() and isinstance(note, Text):
        if "line" in note.fields:
            return _("Some bytes of the text are damaged: they are shown as \ufffd.")
        if note.many and "lines" in note.fields:
            return _(
                "Empty lines, totals, footnotes and repeated headers were left out."
            )
    return _as_sentence(translate(note))


def _as_sentence(words: str) -> str:
    ends = words[-1:].isalnum() and words[-1:].isascii()
    return words[:1].upper() + words[1:] + ("." if ends else "")


def _column_sentences(readings: Iterable[ColumnReading]) -> list[str]:
    """Say how columns were read whose cells could be read in more than one way."""
    ways: dict[str, list[str]] = {}
    for reading in readings:
        ways.setdefault(_describe_column_reading(reading), []).append(
            make_printable(reading.column)
        )
    return [
        sentence.format(columns=join_with_commas(map(_name_in_list, names)))
        for sentence, names in ways.items()
    ]


def _name_in_list(name: str) -> str:
    """Return the name of a column, in quotation marks if it has a comma itself."""
    return f'"{name}"' if "," in name else name


def _describe_column_reading(reading: ColumnReading) -> str:
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
    words = _(
        "Dates read as {order}, year (a year written {two} is {year}): {columns}."
    )
    return (
        words.replace("{order}", order)
        .replace("{two}", f"{reading.century % 100:02}")
        .replace("{year}", str(reading.century))
    )
