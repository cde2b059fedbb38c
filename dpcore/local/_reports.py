"""Collected reports as JSON lines, each with its question and protocol.

So each line can be decoded alone.
"""

import json
from typing import Any

from dpcore.errors import ReadError, UsageError, wrong_file_kind_error
from dpcore.local._question import Question
from dpcore.local.base import Reports


def to_json_lines(question: Question, reports: Reports) -> str:
    """Write reports as JSON lines, one object per report."""
    head = json.dumps(question.to_dict(), ensure_ascii=False)[:-1]
    plain = question.protocol.to_plain(question.protocol.check_reports(reports))
    return "".join(f'{head}, "report": {json.dumps(report)}}}\n' for report in plain)


def from_json_lines(text: str | bytes) -> tuple[Question, Reports]:
    """Read the question and the reports from the lines of `to_json_lines`.

    Raises: ReadError for a line that is no report, or no line at all; ParameterError
        for reports of several questions, protocols or epsilons in one text.
    """
    try:
        lines = (
            text.decode("utf-8-sig") if isinstance(text, bytes) else text
        ).splitlines()
    except UnicodeDecodeError:
        raise wrong_file_kind_error() from None
    numbered = [
        (number, line) for number, line in enumerate(lines, start=1) if line.strip()
    ]
    if not numbered:
        raise ReadError("there are no reports", remedy="collect at least one answer")
    fields = [_parse_line(number, line) for number, line in numbered]
    first = _header_fields(fields[0])
    for (number, _), line_fields in zip(numbered, fields, strict=True):
        if _header_fields(line_fields) != first:
            raise _invalid_line_error(number)
    try:
        question = Question.from_dict(first)
        return question, question.protocol.from_plain(
            [line_fields["report"] for line_fields in fields]
        )
    except UsageError:
        raise _invalid_line_error(numbered[0][0]) from None


def _header_fields(fields: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in fields.items() if name != "report"}


def _parse_line(number: int, line: str) -> dict[str, Any]:
    try:
        fields = json.loads(line)
    except (ValueError, RecursionError):
        fields = None
    if not isinstance(fields, dict) or set(fields) != {
        "question",
        "protocol",
        "epsilon",
        "categories",
        "report",
    }:
        raise _invalid_line_error(number)
    return fields


def _invalid_line_error(number: int) -> ReadError:
    return ReadError(
        "line {line} is not a report, or it belongs to another question, protocol or "
        "epsilon",
        remedy="use the file as it was saved",
        line=number,
    )
