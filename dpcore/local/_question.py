"""A survey question with its public list of answers and its protocol.

Nothing else is needed to decode a report.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd

from dpcore.accounting.loss import Number
from dpcore.errors import ParameterError, UsageError, text_length_error
from dpcore.local._bits import Integers
from dpcore.local.base import Protocol, check_categories
from dpcore.schema.values import as_text

MAX_TEXT = 500
"""Characters of a question or an answer, at most."""


@dataclass(frozen=True, init=False)
class Question:
    """A question, its possible answers, and the protocol that randomizes them.

    Attributes:
        text: the question, for people.
        categories: the possible answers, chosen without looking at anybody's; distinct
            texts.
        protocol: with as many categories.
    """

    text: str
    categories: tuple[str, ...]
    protocol: Protocol

    def __init__(
        self, *, text: str, categories: Iterable[Any], protocol: str, epsilon: Number
    ) -> None:
        if isinstance(categories, str) or not isinstance(categories, Iterable):
            raise UsageError(
                "categories must be a list of answers",
                remedy='write ["never", "sometimes", "often"]',
            )
        labels = tuple(as_text(pd.Series(list(categories), dtype=object)))
        check_categories(len(labels))
        if (
            not all(
                isinstance(written, str) and len(written) <= MAX_TEXT
                for written in (text, *labels)
            )
            or "" in labels
        ):
            raise text_length_error(MAX_TEXT)
        if len(set(labels)) != len(labels):
            raise ParameterError(
                "a category is named twice", remedy="rename one of them"
            )
        kind = Protocol.of_kind(str(protocol)[:40])
        object.__setattr__(self, "text", text)
        object.__setattr__(self, "categories", labels)
        object.__setattr__(
            self, "protocol", kind(categories=len(labels), epsilon=epsilon)
        )

    @property
    def epsilon(self) -> Fraction:
        """The loss of one answer."""
        return self.protocol.epsilon

    def encode(self, answers: Any) -> Integers:
        """Return the category number of each answer, int64.

        Private, as these are the true answers.

        Args:
            answers: a list, array, series or pandas categorical of labels, of any type
                that has a text; a number has one text (1, 1.0 and "1" are the same). Is
                not changed.

        Raises: ParameterError for missing answers, and answers that are no category.
        """
        codes, kinds = pd.factorize(pd.Series(answers, copy=True))
        place = {label: code for code, label in enumerate(self.categories)}
        known = np.array(
            [place.get(text, -1) for text in as_text(pd.Series(kinds))], dtype=np.int64
        )
        if (codes < 0).any() or (known < 0).any():
            raise UsageError(
                (
                    f"an answer is missing, or none of the {len(self.categories)} "
                    "categories"
                ),
                remedy="add a category for other answers before anybody is asked",
            )
        return known[codes] if len(known) else np.empty(0, dtype=np.int64)

    def to_dict(self) -> dict[str, Any]:
        """Return plain data; epsilon is written as text to stay exact."""
        return {
            "question": self.text,
            "protocol": self.protocol.kind,
            "epsilon": str(self.epsilon),
            "categories": list(self.categories),
        }

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Question:
        """Read the output of `to_dict`.

        Raises: ParameterError for fields that make no question.
        """
        if not isinstance(fields["epsilon"], str) or not re.fullmatch(
            "[0-9/.]{1,99}", fields["epsilon"]
        ):
            raise UsageError(
                "the epsilon of the question is no exact number",
                remedy="take the question as it was saved",
            )
        return cls(
            text=fields["question"],
            categories=fields["categories"],
            protocol=fields["protocol"],
            epsilon=fields["epsilon"],
        )
