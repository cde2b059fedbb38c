"""The methods of anonymization: what each needs and can, and how it recodes the rows of a plan."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Protocol

import pandas as pd

from dpcore.anonymize.choices import Choices, Chosen
from dpcore.anonymize.inputs import check_table, k_of, published_rows, secrets_of
from dpcore.anonymize.levels import carried_out, chosen
from dpcore.anonymize.models import KAnonymity, SensitiveModel
from dpcore.anonymize.partition.admission import Admission
from dpcore.anonymize.partition.microaggregation import microaggregate, published
from dpcore.anonymize.partition.mondrian import mondrian
from dpcore.anonymize.partition.recoding import local_recoding
from dpcore.anonymize.recoded import Recoded
from dpcore.errors import ParameterError
from dpcore.progress import OnProgress, silent


class Method(Protocol):
    """One method. Equal names are equal methods."""

    name: ClassVar[str]
    needs_hierarchies: ClassVar[bool]
    """Every quasi-identifier needs one; otherwise none is looked at."""
    searches: ClassVar[bool]
    """It looks for the best levels, one per column, and suppresses up to the limit of a plan."""
    cuts_freely: ClassVar[bool]
    """Groups are found row by row: they keep more, and published attacks aim at them."""

    @property
    def suppresses(self) -> bool:
        """Whether it can leave out rows."""

    def prepared(self, frame: pd.DataFrame, plan: Chosen, on_progress: OnProgress = silent) -> Chosen:
        """The plan with what the method chooses filled in. Raises: as `recode`, and what is raised by
        `on_progress`, which gets the stage and the share done of what takes long."""

    def recode(self, frame: pd.DataFrame, plan: Choices, on_progress: OnProgress = silent) -> Recoded:
        """Recode the published rows of a table; what the plan leaves open is chosen as `prepared` does.

        Raises: SchemaError when the roles do not fit the table, InfeasibleError when the models cannot be
            met, ParameterError for a model that the method does not check.
        """


@dataclass(frozen=True)
class _Named:
    name: ClassVar[str]
    searches: ClassVar[bool] = False
    needs_hierarchies: ClassVar[bool] = False
    cuts_freely: ClassVar[bool] = False

    def __str__(self) -> str:
        return self.name

    @property
    def suppresses(self) -> bool:
        return self.searches

    def prepared(self, frame: pd.DataFrame, plan: Chosen, on_progress: OnProgress = silent) -> Chosen:
        return plan


@dataclass(frozen=True)
class FullDomain(_Named):
    """One level per column for the whole table, the best one, and few rows suppressed."""

    name: ClassVar[str] = "full-domain"
    searches: ClassVar[bool] = True
    needs_hierarchies: ClassVar[bool] = True

    def prepared(self, frame: pd.DataFrame, plan: Chosen, on_progress: OnProgress = silent) -> Chosen:
        return plan if plan.node is not None else chosen(frame, plan, on_progress)

    def recode(self, frame: pd.DataFrame, plan: Choices, on_progress: OnProgress = silent) -> Recoded:
        return carried_out(frame, plan, on_progress)


@dataclass(frozen=True)
class LocalRecoding(_Named):
    """Levels that differ from group to group."""

    name: ClassVar[str] = "local recoding"
    needs_hierarchies: ClassVar[bool] = True
    cuts_freely: ClassVar[bool] = True

    def recode(self, frame: pd.DataFrame, plan: Choices, on_progress: OnProgress = silent) -> Recoded:
        rows, admission = _admitted(frame, plan, self)
        trees = {name: plan.hierarchies[name] for name in plan.quasi_identifiers}
        return local_recoding(rows, trees, admission=admission, limit=plan.limit)


@dataclass(frozen=True)
class Mondrian(_Named):
    """Groups cut along the data, with free intervals and sets."""

    name: ClassVar[str] = "mondrian"
    cuts_freely: ClassVar[bool] = True

    def recode(self, frame: pd.DataFrame, plan: Choices, on_progress: OnProgress = silent) -> Recoded:
        rows, admission = _admitted(frame, plan, self)
        return mondrian(rows, plan.quasi_identifiers, admission=admission)


@dataclass(frozen=True)
class Microaggregation(_Named):
    """Numbers become the means of groups of similar people."""

    name: ClassVar[str] = "microaggregation"

    def recode(self, frame: pd.DataFrame, plan: Choices, on_progress: OnProgress = silent) -> Recoded:
        rows, admission = _admitted(frame, plan, self)
        columns = plan.quasi_identifiers
        gate = admission.gate(rows) if admission.models else None
        found = microaggregate(rows, columns, k=admission.k, person=plan.counted, gate=gate)
        return published(rows, columns, found.clusters)


METHODS: dict[str, Method] = {
    method.name: method for method in (FullDomain(), LocalRecoding(), Mondrian(), Microaggregation())
}


def _admitted(frame: pd.DataFrame, plan: Choices, method: Method) -> tuple[pd.DataFrame, Admission]:
    """The published rows, and what a class of them needs."""
    check_table(frame, plan, suppresses=False)
    others = tuple(model for model in plan.models if not isinstance(model, KAnonymity))
    for model in others:
        if not isinstance(model, SensitiveModel):
            raise ParameterError(
                "{method} does not check {model}",
                remedy="take the full-domain method",
                method=method.name,
                model=model,
            )
    return published_rows(frame, plan), Admission(
        k=k_of(plan), models=others, secrets=secrets_of(plan), person=plan.counted
    )
