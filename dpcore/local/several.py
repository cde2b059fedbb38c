"""Several questions to the same person, who splits epsilon or answers a random one."""

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

from dpcore.accounting.loss import Number
from dpcore.errors import UsageError
from dpcore.local._bits import check_epsilon, draw_uniform
from dpcore.local._estimate import Estimate
from dpcore.local.base import Protocol, Reports, check_codes

Way = Literal["split", "sample"]


@dataclass(frozen=True, kw_only=True)
class SeveralQuestions:
    """One protocol per question, and the division of a person's loss among them.

    Attributes:
        protocols: one per question, in order.
        way: "split": everybody answers all questions, and their losses add up.
            "sample": everybody answers one question, drawn with equal chances whatever
            they would say, at the largest loss of them all.
    """

    protocols: tuple[Protocol, ...]
    way: Way

    def __post_init__(self) -> None:
        if not self.protocols:
            raise UsageError(
                "there must be at least one question", remedy="name the questions"
            )

    @property
    def epsilon(self) -> Fraction:
        """The loss of one person over all questions."""
        losses = [protocol.epsilon for protocol in self.protocols]
        return sum(losses, Fraction(0)) if self.way == "split" else max(losses)

    def perturb(self, answers: Sequence[Any]) -> tuple[Reports, ...]:
        """Return the randomized reports, one array per question.

        Costs each person `epsilon` in all.

        Args:
            answers: the categories of all people, one list per question; is not
                changed.

        Raises: ParameterError for lists of different lengths, or another number of
            them.
        """
        if len(answers) != len(self.protocols):
            raise UsageError(
                (
                    f"there are {len(answers)} lists of answers for "
                    f"{len(self.protocols)} questions"
                ),
                remedy="give one list per question",
            )
        codes = [
            check_codes(answer, protocol.categories)
            for answer, protocol in zip(answers, self.protocols, strict=True)
        ]
        if len({len(categories) for categories in codes}) > 1:
            raise UsageError(
                "the lists of answers have different lengths",
                remedy="give every person's answer to each",
            )
        if self.way == "split":
            return tuple(
                protocol.perturb(categories)
                for protocol, categories in zip(self.protocols, codes, strict=True)
            )
        drawn = draw_uniform(len(codes), len(codes[0]))
        return tuple(
            protocol.perturb(categories[drawn == place])
            for place, (protocol, categories) in enumerate(
                zip(self.protocols, codes, strict=True)
            )
        )

    def estimate(self, reports: Sequence[Any]) -> tuple[Estimate, ...]:
        """Return unbiased estimates of the frequencies, one per question.

        Under "sample" only those who drew a question have answered it.

        Args:
            reports: one list per question, as `perturb` returned them.

        Raises: ParameterError for a question without reports, or reports of another
            protocol.
        """
        estimates = (
            protocol.estimate(answered)
            for protocol, answered in zip(self.protocols, reports, strict=True)
        )
        return tuple(
            dataclasses.replace(estimate, is_sample=self.way == "sample")
            for estimate in estimates
        )

    def mean_variances(self, people: int) -> tuple[float, ...]:
        """Return, per question, the variance averaged over its categories.

        Args:
            people: how many are asked.

        Under "sample" a question has people / questions answers. That these are drawn
        from the people adds share (1 - share) (1 / answers - 1 / people), on average
        over the categories at most that of even shares.
        """
        answers = (
            people if self.way == "split" else max(1, people // len(self.protocols))
        )
        drawn = 1 / answers - 1 / people
        return tuple(
            protocol.mean_variance(answers)
            + (1 - 1 / protocol.categories) / protocol.categories * drawn
            for protocol in self.protocols
        )


def ask_all_questions(
    kind: type[Protocol], sizes: Sequence[int], epsilon: Number
) -> SeveralQuestions:
    """Let everybody answer every question, at an even share of `epsilon` each.

    Args:
        kind: the protocol of all questions.
        sizes: number of categories per question.
        epsilon: the loss of one person over all questions.
    """
    loss_each = check_epsilon(epsilon) / max(1, len(sizes))
    protocols = tuple(kind(categories=size, epsilon=loss_each) for size in sizes)
    return SeveralQuestions(protocols=protocols, way="split")


def ask_one_question(
    kind: type[Protocol], sizes: Sequence[int], epsilon: Number
) -> SeveralQuestions:
    """Let each person answer one random question at the full `epsilon`.

    It is better than `ask_all_questions`, unless there are few questions.

    Args:
        kind: the protocol of all questions.
        sizes: number of categories per question.
        epsilon: the loss of one person over all questions.

    Source: Wang et al. (ICDE 2019), section IV; Nguyen et al. (2016).
    """
    protocols = tuple(kind(categories=size, epsilon=epsilon) for size in sizes)
    return SeveralQuestions(protocols=protocols, way="sample")
