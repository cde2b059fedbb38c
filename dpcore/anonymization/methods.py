"""The methods of anonymization, with what each needs and how it recodes the rows of a
plan.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from dpcore.anonymization.fulldomain.metrics import Separable
from dpcore.anonymization.inputs import Inputs
from dpcore.anonymization.levels import check_node, recoded_by_levels
from dpcore.anonymization.models import KAnonymity, SensitiveModel
from dpcore.anonymization.partition.admission import Gate
from dpcore.anonymization.partition.cells import suppress_cells
from dpcore.anonymization.partition.microaggregation import microaggregate, published
from dpcore.anonymization.partition.mondrian import mondrian
from dpcore.anonymization.partition.recoding import local_recoding
from dpcore.anonymization.recoded import Recoded
from dpcore.errors import ParameterError
from dpcore.progress import OnProgress, silent
from dpcore.registry import Registered


@dataclass(frozen=True)
class Method(Registered, ABC, home="dpcore.anonymization"):
    """One method of anonymization, which registers itself by its `kind`.

    Equal kinds are equal methods.
    """

    kind: ClassVar[str]
    """The name under which plans are stored."""
    needs_hierarchies: ClassVar[bool] = False
    """Every quasi-identifier needs one; otherwise none is looked at."""
    searches: ClassVar[bool] = False
    """It looks for the best levels, one per column, and suppresses up to the limit of a
    plan.
    """
    cuts_freely: ClassVar[bool] = False
    """Groups are found row by row: they keep more, and published attacks aim at
    them.
    """

    def __str__(self) -> str:
        return self.kind

    @abstractmethod
    def recode(self, inputs: Inputs, on_progress: OnProgress = silent) -> Recoded:
        """Recode the published rows of a table.

        Args:
            inputs: the table and the plan.
            on_progress: gets the stage of what takes long and the share done; what it
                raises ends it.

        Raises: InfeasibleError when the models cannot be met, ParameterError for a
            model that the method does not check.
        """

    def gate(self, inputs: Inputs) -> Gate:
        """Return what a class of the published rows needs, of a method that checks k
        and sensitive columns.

        Raises: as `recode`.
        """
        others = [
            each
            for each in inputs.plan.models
            if not (each.joint or isinstance(each, KAnonymity))
        ]
        for model in others:
            if not isinstance(model, SensitiveModel):
                raise ParameterError(
                    "{method} does not check {model}",
                    remedy="take the full-domain method, or choose less",
                    method=self.kind,
                    model=model,
                )
        return Gate.of(inputs.rows, inputs.plan.k, others, counts=inputs.plan.counts)


class FullDomain(Method):
    """One level per column for the whole table, the best one, and few rows
    suppressed.
    """

    kind = "full-domain"
    searches = True
    needs_hierarchies = True

    def recode(self, inputs: Inputs, on_progress: OnProgress = silent) -> Recoded:
        return recoded_by_levels(inputs, on_progress)


class LocalRecoding(Method):
    """Levels that differ from group to group."""

    kind = "local recoding"
    needs_hierarchies = True
    cuts_freely = True

    def recode(self, inputs: Inputs, on_progress: OnProgress = silent) -> Recoded:
        plan = inputs.plan
        gate = self.gate(inputs)
        return local_recoding(inputs.published, plan.trees, gate=gate, limit=plan.limit)


class CellSuppression(Method):
    """The levels of a plan, the values as they are without any, and few cells
    suppressed.

    The weights of the metric, where it has any, are the importance of the columns.
    """

    kind = "cell suppression"
    needs_hierarchies = True
    cuts_freely = True

    def recode(self, inputs: Inputs, on_progress: OnProgress = silent) -> Recoded:
        plan = inputs.plan
        metric = inputs.plan.metric
        check_node(plan)
        return suppress_cells(
            inputs.published,
            plan.trees,
            plan.node or dict.fromkeys(plan.trees, 0),
            importance=metric.weights if isinstance(metric, Separable) else {},
            gate=self.gate(inputs),
            limit=plan.limit,
        )


class Mondrian(Method):
    """Groups cut along the data, with free intervals and sets."""

    kind = "mondrian"
    cuts_freely = True

    def recode(self, inputs: Inputs, on_progress: OnProgress = silent) -> Recoded:
        return mondrian(
            inputs.published, inputs.plan.quasi_identifiers, gate=self.gate(inputs)
        )


class Microaggregation(Method):
    """Numbers become the means of groups of similar people."""

    kind = "microaggregation"

    def recode(self, inputs: Inputs, on_progress: OnProgress = silent) -> Recoded:
        rows = inputs.published
        columns = inputs.plan.quasi_identifiers
        return published(
            rows, columns, microaggregate(rows, columns, gate=self.gate(inputs))
        )
