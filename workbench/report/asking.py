"""Questions to a release: from a filled-in form to the answer in words.

Nothing here reads anything but the release; questions are free and leave no trace.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import parse_qs

from dpcore.errors import DpcoreError, LimitError, ParameterError
from dpcore.release import Release
from dpcore.schema import Column, IntervalColumn
from dpcore.synthesis import count_rows, queryable_columns
from dpcore.synthesis.release.row_count import Condition, range_ends_error
from workbench.language.labels import (
    bound_text,
    cell_labels,
    range_words,
    translate_labels,
)
from workbench.language.messages import (
    _,
    capital,
    join,
    join_with_commas,
    parse_number,
)
from workbench.language.wording import COUNTED_WORDS, error_words, row_count_sentences
from workbench.language.wording import make_printable as shown
from workbench.report.document import fill_template
from workbench.report.sentences import counted_noun

MAX_QUERY_LETTERS = 1_000
"""Letters of a question in an address."""
MAX_BOXES = 60
"""Categories that are offered as boxes; a column of more has a field to write one
into.
"""
MAX_OFFERED_CATEGORIES = 500
MAX_OFFERED_BOUNDS = 12
"""Bounds of a column that the short form offers."""
FROM_INPUT = "from"
BELOW_INPUT = "below"
IS_INPUT = "is"
SHORT_FORM_INPUT = "q"
COLUMN_INPUT = "column"
"""Number of the column whose values are offered next."""
TABLE_INPUT = "table"
"""Which of two linked tables is asked."""


@dataclass(frozen=True, kw_only=True)
class ColumnInputs:
    """The filled-in inputs of one column.

    Attributes:
        number: of the column in the release; it names the inputs.
        typed_categories: numbers of the ticked boxes, or the text of a category.
        ends: bounds of a range, as typed.
    """

    number: int
    column: Column
    typed_categories: list[str]
    ends: tuple[str, str]

    @property
    def name(self) -> str:
        """Name of the column as people see it."""
        return shown(self.column.name, max_length=60)

    @property
    def bounds(self) -> list[str]:
        """Smallest and largest bound of a range; empty for categories."""
        column = self.column
        ends = (column.bounds[0], column.bounds[-1]) if column.bounds else ()
        return list(map(bound_text, ends))

    @property
    def labels(self) -> list[str]:
        """Categories that the form offers."""
        return [
            shown(label) for label in cell_labels(self.column)[:MAX_OFFERED_CATEGORIES]
        ]

    @property
    def has_boxes(self) -> bool:
        """Whether each category has a box of its own."""
        return len(self.labels) <= MAX_BOXES

    def condition(self) -> tuple[Condition, str] | None:
        """Return the condition of these inputs, and its words; None if they are empty.

        Raises: ParameterError for a bound that is no number, and for a category that is
            not there.
        """
        column = self.column
        if isinstance(column, IntervalColumn):
            if not any(self.ends):
                return None
            usual = (column.bounds[0], column.bounds[-1])
            low, high = (
                _parse_bound(column, end or bound)
                for end, bound in zip(self.ends, usual, strict=True)
            )
            words = range_words(self.name, low, high)
            return (low, high), shown(words, max_length=200)
        if not self.typed_categories:
            return None
        labels = (
            self._ticked_categories() if self.has_boxes else self._named_categories()
        )
        names = map(shown, translate_labels(column, labels))
        return labels, _("{column}: {labels}").format(
            column=self.name, labels=join_with_commas(names)
        )

    @property
    def offered_bounds(self) -> list[float | str]:
        """Bounds inside the range that the short form offers."""
        bounds = self.column.bounds[1:-1]
        return bounds[:: max(1, -(-len(bounds) // MAX_OFFERED_BOUNDS))]

    def _named_categories(self) -> list[str]:
        """Return the categories that were typed, by their names on the page."""
        names = dict(zip(cell_labels(self.column), self.column.labels, strict=True))
        return [names.get(text, text) for text in self.typed_categories]

    def _ticked_categories(self) -> list[str]:
        numbers = [
            int(text) if text.isascii() and text.isdecimal() else -1
            for text in self.typed_categories
        ]
        if any(not 0 <= number < len(self.column.labels) for number in numbers):
            raise ParameterError(
                "column {column!r} has no such category",
                remedy="use the form on this page",
                column=self.column.name,
            )
        return [self.column.labels[number] for number in numbers]


def linked_question_form(releases: Mapping[str, Release], query: str) -> str:
    """Return the form that asks one of two linked tables, which the reader chooses.

    Args:
        releases: of "people" and "events", the first one first.
        query: as of `question_form`; it may name the chosen table.
    """
    chosen = next(iter(releases))
    parts = []
    for part in query.split("&"):
        name, _sign, value = part.partition("=")
        if name == TABLE_INPUT and value in releases:
            chosen = value
        elif part:
            parts.append(part)
    return question_form(
        releases[chosen], "&".join(parts), tables=tuple(releases), table=chosen
    )


def question_form(
    release: Release, query: str, *, tables: Sequence[str] = (), table: str = ""
) -> str:
    """Return the form as HTML, with the answer if the address holds a question.

    Args:
        release: the one that is queried.
        query: the end of the address, as a browser sends a form.
        tables: linked tables that the reader chooses from; none for a single table.
        table: the one of them that `release` is of.
    """
    inputs = _column_inputs(release, {})
    where = {}
    words = []
    problem = None
    count = None
    chosen: list[str] = []
    column = None
    filled = False
    try:
        given = _read_inputs(release, query)
        chosen = given.pop(SHORT_FORM_INPUT, [])
        column = _chosen_column(inputs, given.pop(COLUMN_INPUT, []), chosen)
        filled = bool(given) and not chosen
        if given or chosen:
            inputs = _column_inputs(release, given)
            for column_inputs in inputs:
                if condition := column_inputs.condition():
                    where[column_inputs.column.name], sentence = condition
                    words.append(sentence)
            count = count_rows(release, where)
    except DpcoreError as error:
        problem = " ".join(error_words(error))
    return fill_template(
        "questions.html",
        fields=inputs,
        column=column,
        condition=chosen[0] if chosen else "",
        filled=filled,
        answer=None
        if count is None
        else row_count_sentences(count, counted_noun(release)),
        asked=_("Asked: {conditions}").format(conditions=join(words) or _("all rows")),
        problem=problem,
        counted=counted_noun(release),
        tables={name: capital(COUNTED_WORDS[name]) for name in tables},
        table=table,
    )


def _chosen_column(
    inputs: Sequence[ColumnInputs], numbers: Sequence[str], chosen: Sequence[str]
) -> ColumnInputs | None:
    """Return the column that was chosen, or that of the first condition."""
    if not numbers:
        numbers = [text.partition("=")[0].partition("-")[2] for text in chosen[:1]]
    by_number = {str(column_inputs.number): column_inputs for column_inputs in inputs}
    if not all(text in by_number for text in numbers):
        raise _no_such_input()
    return by_number[numbers[0]] if numbers else None


def _column_inputs(
    release: Release, given: Mapping[str, list[str]]
) -> list[ColumnInputs]:
    return [
        ColumnInputs(
            number=number,
            column=release.schema.column(name),
            typed_categories=given.get(f"{IS_INPUT}-{number}", []),
            ends=(
                "".join(given.get(f"{FROM_INPUT}-{number}", [])[:1]),
                "".join(given.get(f"{BELOW_INPUT}-{number}", [])[:1]),
            ),
        )
        for number, name in enumerate(queryable_columns(release))
    ]


def _read_inputs(release: Release, query: str) -> dict[str, list[str]]:
    """Read the inputs by their names, including those of the short form."""
    if len(query) > MAX_QUERY_LETTERS:
        raise LimitError("the question is too long", remedy="choose fewer categories")
    given = {
        name: [text for value in values if (text := value.strip())]
        for name, values in parse_qs(query, keep_blank_values=True).items()
    }
    for condition in given.get(SHORT_FORM_INPUT, []):
        name, _sign, value = condition.partition("=")
        given.setdefault(name, []).append(value)
    ends = {
        f"{end}-{number}"
        for end in (FROM_INPUT, BELOW_INPUT)
        for number in range(len(queryable_columns(release)))
    }
    known = (
        ends
        | {f"{IS_INPUT}-{number}" for number in range(len(queryable_columns(release)))}
        | {SHORT_FORM_INPUT, COLUMN_INPUT}
    )
    if not set(given) <= known or any(
        len(values) > 1 for name, values in given.items() if name in ends
    ):
        raise _no_such_input()
    return given


def _no_such_input() -> ParameterError:
    return ParameterError(
        (
            "the question names a column that this release does not have, or a bound "
            "twice"
        ),
        remedy="use the form on this page",
    )


def _parse_bound(column: IntervalColumn, text: float | str) -> float | str:
    if column.kind == "date" or text in column.bounds or not isinstance(text, str):
        return text
    try:
        return parse_number(text) if len(text) < 40 else float("nan")
    except ValueError:
        raise range_ends_error(column) from None
