"""Questions with public answers, and their reports as JSON lines."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpcore.local as dl
from dpcore.errors import DpcoreError, LimitError, ParameterError, ReadError

COLORS = ("red", "green", "blue", "«other»")
every = pytest.mark.parametrize("protocol", dl.Protocol.kinds())


def question(
    protocol: str = "optimized unary", epsilon: Any = 1, categories: Any = COLORS
) -> dl.Question:
    return dl.Question(
        text="Which color?", categories=categories, protocol=protocol, epsilon=epsilon
    )


@every
def test_lines_decode_alone(protocol: str) -> None:
    """What was collected must be readable from the lines only: question, protocol,
    epsilon and answers.
    """
    asked = question(protocol, "1/3")
    reports = asked.protocol.perturb(asked.encode(["red", "blue", "«other»"] * 50))
    text = dl.to_json_lines(asked, reports)
    assert len(text.splitlines()) == 150
    again, decoded = dl.from_json_lines(text.encode())
    assert again == asked
    assert (decoded == reports).all()
    one, report = dl.from_json_lines(text.splitlines()[7])
    assert one.protocol.estimate(report).people == 1
    assert dl.from_json_lines("\ufeff".encode() + text.encode())[0] == asked
    assert dl.from_json_lines(text.replace("\n", "\r\n\n"))[1].shape == reports.shape


@pytest.mark.parametrize(
    ("values", "categories", "codes"),
    [
        (["a", "b", "a"], ["a", "b"], [0, 1, 0]),
        (np.array([1, 3, 1]), [1, 2, 3], [0, 2, 0]),
        ([1.0, 3.0], ["1", "2", "3"], [0, 2]),
        ([np.int64(2)], [1, 2], [1]),
        ([True, False], [False, True], [1, 0]),
        (np.array([True, False]), ["False", "True"], [1, 0]),
        (pd.Categorical(["b", "a"], categories=["a", "b", "c"]), ["b", "a"], [0, 1]),
        (pd.Series(["x", "y"], dtype="category"), ["y", "x"], [1, 0]),
        (pd.Series([1, 2], dtype="Int64"), [1, 2], [0, 1]),
        ([" a "], ["a", "b"], [0]),
        ([], ["a", "b"], []),
    ],
)
def test_answers_of_many_types(
    values: Any, categories: list[Any], codes: list[int]
) -> None:
    """A value has one text: whole numbers, booleans and categoricals find their
    category.
    """
    assert question(categories=categories).encode(values).tolist() == codes


def test_the_callers_answers_stay() -> None:
    """Encoding must not change what it was given."""
    answers = pd.Series(["red", "blue"], dtype="category")
    kept = answers.copy()
    question().encode(answers)
    pd.testing.assert_series_equal(answers, kept)


@pytest.mark.parametrize(
    "answers", [["pink"], [None], [float("nan")], ["red", None], [1], ["RED"]], ids=str
)
def test_answers_outside_are_refused(answers: list[Any]) -> None:
    """An answer that is no category is refused, and not told to anybody who reads the
    error.
    """
    with pytest.raises(ParameterError) as caught:
        question().encode(answers)
    assert "pink" not in str(caught.value)


@pytest.mark.parametrize(
    "categories",
    [
        ["a"],
        [],
        "red",
        ["a", "a"],
        ["a", " a"],
        [1, 1.0],
        ["a", ""],
        ["a", None],
        ["a", "b" * 501],
    ],
    ids=str,
)
def test_bad_lists_of_categories(categories: Any) -> None:
    """A list with one answer, an empty one, or the same twice cannot be asked."""
    with pytest.raises((LimitError, ParameterError)):
        question(categories=categories)


def test_other_bad_questions() -> None:
    """Unknown protocols, bad epsilons and endless texts are sentences."""
    with pytest.raises(ParameterError, match="optimized unary"):
        question("RAPPOR")
    with pytest.raises(ParameterError, match="epsilon"):
        question(epsilon=0)
    with pytest.raises(ParameterError, match="500"):
        dl.Question(
            text="x" * 501, categories=COLORS, protocol="optimized unary", epsilon=1
        )
    with pytest.raises(LimitError):
        question(categories=range(70_000))


def lines(
    protocol: str = "randomized response", epsilon: Any = 1, categories: Any = COLORS
) -> str:
    asked = question(protocol, epsilon, categories)
    return dl.to_json_lines(asked, asked.protocol.perturb([0, 1]))


@pytest.mark.parametrize(
    "other",
    [
        lines("optimized unary"),
        lines(epsilon=2),
        lines(categories=COLORS[:3]),
        lines("Hadamard response"),
    ],
)
def test_mixed_reports_are_refused(other: str) -> None:
    """Reports of another protocol, epsilon or list of answers would be decoded into
    nonsense.
    """
    with pytest.raises(ReadError, match="line 3"):
        dl.from_json_lines(lines() + other)


@pytest.mark.parametrize(
    "text",
    [
        "",
        " \n\n",
        b"\xff\xfe",
        "{}",
        "[]",
        "nonsense",
        "[" * 100_000,
        lines()[:-20],
        lines() + lines()[:30],
        lines().replace('"report"', '"answer"'),
        lines().replace("}", ', "more": 1}'),
        "null",
        "12",
    ],
)
def test_broken_files_are_refused(text: str | bytes) -> None:
    """A truncated or foreign file must be refused whole, with the line named."""
    with pytest.raises(ReadError):
        dl.from_json_lines(text)


@pytest.mark.parametrize(
    "name", ["question", "protocol", "epsilon", "categories", "report"]
)
@pytest.mark.parametrize(
    "value",
    [None, True, -1, 1e300, "", "x", [], [1], {}, [[]], [None, None], "0" * 600],
    ids=str,
)
def test_every_field_may_be_anything(name: str, value: Any) -> None:
    """Files come from strangers: whatever a field holds, the answer is a sentence or a
    question.
    """
    fields = json.loads(lines().splitlines()[0])
    fields[name] = value
    try:
        dl.from_json_lines(json.dumps(fields))
    except DpcoreError:
        return
    assert name == "question"
