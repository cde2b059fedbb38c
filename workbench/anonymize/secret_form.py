"""Forms of the privacy models for sensitive columns.

Each kind of demand registers itself.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import ClassVar

from streamlit.delta_generator import DeltaGenerator

from dpcore.anonymization.closeness import Distance, TCloseness
from dpcore.anonymization.models import (
    BetaLikeness,
    DistinctL,
    EntropyL,
    PrivacyModel,
    RecursiveCL,
)
from dpcore.registry import Registered
from workbench.language.messages import N_

ModelOf = Callable[[str], PrivacyModel]
"""From a column to a demand on it."""


class SecretForm(Registered, ABC):
    """Form of one kind of privacy model for a sensitive column.

    Attributes:
        title: what is demanded, as a message.
    """

    title: ClassVar[str]

    @classmethod
    @abstractmethod
    def choose(cls, place: DeltaGenerator, key: str) -> ModelOf:
        """Show the fields; return a function from a column to its privacy model.

        Args:
            place: where the fields are drawn.
            key: a text in which the keys of these fields end.
        """


class DistinctForm(SecretForm):
    kind = "distinct"
    title = N_("different values in each group (distinct l-diversity)")

    @classmethod
    def choose(cls, place: DeltaGenerator, key: str) -> ModelOf:
        least = _ask_l(place, key)
        return lambda column: DistinctL(column=column, l=least)


class EntropyForm(SecretForm):
    kind = "entropy"
    title = N_("well-spread values in each group (entropy l-diversity)")

    @classmethod
    def choose(cls, place: DeltaGenerator, key: str) -> ModelOf:
        least = _ask_l(place, key)
        return lambda column: EntropyL(column=column, l=float(least))


class RecursiveForm(SecretForm):
    kind = "recursive"
    title = N_("no value too frequent in any group (recursive (c, l)-diversity)")

    @classmethod
    def choose(cls, place: DeltaGenerator, key: str) -> ModelOf:
        least = _ask_l(place, key)
        c = place.number_input(
            "c", 0.1, 100.0, 3.0, key=f"anonymize-c{key}", persist_state="session"
        )
        return lambda column: RecursiveCL(column=column, c=float(c), l=least)


class ClosenessForm(SecretForm):
    kind = "t"
    title = N_("groups resemble the whole table (t-closeness)")
    distance: ClassVar[Distance] = "equal"

    @classmethod
    def choose(cls, place: DeltaGenerator, key: str) -> ModelOf:
        t = place.slider(
            "t", 0.05, 0.95, 0.4, key=f"anonymize-t{key}", persist_state="session"
        )
        return lambda column: TCloseness(
            column=column, t=float(t), distance=cls.distance
        )


class OrderedClosenessForm(ClosenessForm):
    kind = "t-ordered"
    title = N_(
        "groups resemble the whole table, for ordered values (t-closeness, ordered)"
    )
    distance = "ordered"


class HierarchicalClosenessForm(ClosenessForm):
    kind = "t-hierarchical"
    title = N_(
        "groups resemble the whole table, for values with a hierarchy (t-closeness, "
        "hierarchical)"
    )
    distance = "hierarchical"


class LikenessForm(SecretForm):
    kind = "likeness"
    title = N_(
        "no value much more frequent in a group than in the table (beta-likeness)"
    )

    @classmethod
    def choose(cls, place: DeltaGenerator, key: str) -> ModelOf:
        beta = place.number_input(
            "β", 0.1, 100.0, 2.0, key=f"anonymize-beta{key}", persist_state="session"
        )
        return lambda column: BetaLikeness(column=column, beta=float(beta))


def _ask_l(place: DeltaGenerator, key: str) -> int:
    return int(
        place.slider("l", 2, 10, 2, key=f"anonymize-l{key}", persist_state="session")
    )
