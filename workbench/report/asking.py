"""Questions to a release: the form, what a person wrote into it, and the answer in words.

Nothing here reads anything but the release; what is asked is free and leaves no trace.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import parse_qsl

from dpcore.errors import DpcoreError, LimitError, ParameterError
from dpcore.release import Release
from dpcore.schema import Column, IntervalColumn
from dpcore.synthesis import RowCount, askable, count_rows
from dpcore.synthesis.release.row_count import Asked
from workbench.report.document import fragment
from workbench.ui.language import _
from workbench.ui.wording import answer_to, error_words, join
from workbench.ui.wording import printable as shown

MAX_QUERY = 8_000
MAX_FIELDS = 400
MAX_CHOICES = 60
"""Categories that are offered as boxes; a column of more has a field to write one into."""
MAX_OFFERED = 500
FROM, BELOW, IS = "from", "below", "is"


@dataclass(frozen=True, kw_only=True)
class Field:
    """One column in the form, with what a person wrote.

    Attributes:
        number: of the column in the release, which names its inputs.
        low, high: the bounds between which a range may lie; empty for categories.
        labels: categories; none for a range.
    """

    number: int
    name: str
    low: str = ""
    high: str = ""
    labels: tuple[str, ...] = ()
    typed: tuple[str, ...] = ()
    wanted: tuple[str, str] = ("", "")

    @property
    def boxes(self) -> bool:
        """Whether its categories are few enough for a box each."""
        return 0 < len(self.labels) <= MAX_CHOICES


@dataclass(kw_only=True)
class Question:
    """What was asked.

    Attributes:
        where: the conditions.
        words: the same for people.
        fields: the form as it was filled in.
        error: why it has no answer.
    """

    where: dict[str, Asked] = field(default_factory=dict)
    words: list[str] = field(default_factory=list)
    fields: list[Field] = field(default_factory=list)
    error: DpcoreError | None = None
    answer: RowCount | None = None


def section(release: Release, query: str) -> str:
    """The form as HTML, with the answer where the address holds a question."""
    question = ask(release, query)
    return fragment(
        "questions.html",
        fields=question.fields,
        answer=None if question.answer is None else answer_to(question.answer),
        asked=_("Asked: {conditions}").format(conditions=join(question.words) or _("all rows")),
        problem=None if question.error is None else " ".join(error_words(question.error)),
        words={
            "title": _("Ask a question"),
            "about": _(
                "How many rows fit? Choose columns, leave the others open. The answer is worked out from "
                "this release alone: it costs nothing, and the table is not touched."
            ),
            "from": _("from"),
            "below": _("to below"),
            "range": _("{low} to {high}"),
            "one": _("one category"),
            "button": _("How many rows?"),
            "names": {FROM: FROM, BELOW: BELOW, IS: IS},
        },
    )


def ask(release: Release, query: str) -> Question:
    """Read a question from the end of an address, and answer it."""
    question = Question()
    try:
        given = _given(query)
        _check_names(release, given)
        _read(release, given, question)
        if given:
            question.answer = count_rows(release, question.where)
    except DpcoreError as error:
        question.error = error
        if not question.fields:
            _read(release, {}, question)
    return question


def _given(query: str) -> dict[str, list[str]]:
    """Names and values that a person filled in."""
    if len(query) > MAX_QUERY:
        raise LimitError("the question is too long", remedy="choose fewer categories")
    try:
        pairs = parse_qsl(query, keep_blank_values=True, max_num_fields=MAX_FIELDS)
    except ValueError:
        raise LimitError("the question has too many conditions", remedy="choose fewer") from None
    found: dict[str, list[str]] = {}
    for name, value in pairs:
        found.setdefault(name, []).append(value.strip())
    return {name: [each for each in values if each] or [""] for name, values in found.items()}


def _check_names(release: Release, given: Mapping[str, list[str]]) -> None:
    columns = len(askable(release))
    known = {f"{part}-{number}" for part in (FROM, BELOW, IS) for number in range(columns)}
    if any(name not in known for name in given):
        raise ParameterError(
            "the question names a column that this release does not have",
            remedy="use the form on this page",
        )


def _read(release: Release, given: Mapping[str, list[str]], question: Question) -> None:
    """Fill in the form and the conditions."""
    for number, name in enumerate(askable(release)):
        column = release.schema.column(name)
        low, high = (given.get(f"{part}-{number}", [""])[0] for part in (FROM, BELOW))
        typed = tuple(each for each in given.get(f"{IS}-{number}", []) if each)
        question.fields.append(_field(column, number, typed, (low, high)))
        heading = shown(name, at_most=60)
        if isinstance(column, IntervalColumn):
            if low or high:
                ends = (_bound(column, low or column.bounds[0]), _bound(column, high or column.bounds[-1]))
                question.where[name] = ends
                question.words.append(
                    _("{column} from {low} to below {high}").format(
                        column=heading, low=_said(ends[0]), high=_said(ends[1])
                    )
                )
        elif typed:
            labels = _labels(column, typed)
            question.where[name] = labels
            question.words.append(
                _("{column}: {labels}").format(column=heading, labels=", ".join(map(shown, labels)))
            )


def _said(bound: float | str) -> str:
    return shown(f"{bound:g}" if isinstance(bound, float) and abs(bound) < 1e6 else bound)


def _field(column: Column, number: int, typed: tuple[str, ...], wanted: tuple[str, str]) -> Field:
    name = shown(column.name, at_most=60)
    if isinstance(column, IntervalColumn):
        low, high = (str(column.bounds[end]) for end in (0, -1))
        return Field(number=number, name=name, low=low, high=high, wanted=wanted)
    return Field(number=number, name=name, labels=tuple(map(shown, column.labels[:MAX_OFFERED])), typed=typed)


def _labels(column: Column, typed: tuple[str, ...]) -> list[str]:
    """Boxes send the number of a category; a field sends its text."""
    if len(column.labels) > MAX_CHOICES:
        return list(typed)
    numbers = [int(each) if each.isascii() and each.isdecimal() else -1 for each in typed]
    if any(not 0 <= each < len(column.labels) for each in numbers):
        raise ParameterError(
            "column {column!r} has no such category", remedy="use the form on this page", column=column.name
        )
    return [column.labels[each] for each in numbers]


def _bound(column: IntervalColumn, text: float | str) -> float | str:
    if column.kind == "date" or not isinstance(text, str):
        return text
    try:
        return float(text.replace(",", "")) if len(text) < 40 else float("nan")
    except ValueError:
        raise ParameterError(
            "a range of column {column!r} needs numbers",
            remedy="write them like {low}",
            column=column.name,
            low=column.bounds[0],
        ) from None
