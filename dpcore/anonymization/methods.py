"""The methods of anonymization: their needs, and their recoding of rows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from dpcore.anonymization.fulldomain.metrics import Separable
from dpcore.anonymization.inputs import Inputs
from dpcore.anonymization.levels import check_node, recode_by_levels
from dpcore.anonymization.models import KAnonymity, SensitiveModel
from dpcore.anonymization.partition.admission import Gate
from dpcore.anonymization.partition.cells import suppress_cells
from dpcore.anonymization.partition.microaggregation import (
    microaggregate,
    publish_means,
)
from dpcore.anonymization.partition.mondrian import mondrian
from dpcore.anonymization.partition.recoding import local_recoding
from dpcore.anonymization.recoded import Recoded
from dpcore.errors import ParameterError
from dpcore.progress import OnProgress, silent
from dpcore.registry import Registered


@dataclass(frozen=True)
class Method(Registered, ABC, home="dpcore.anonymization"):
    """A method of anonymization, registered by `kind`.

    Equal kinds are equal methods.
    """

    kind: ClassVar[str]
    """The name in stored plans."""
    needs_hierarchies: ClassVar[bool] = False
    """Whether every quasi-identifier needs a hierarchy; otherwise none is used."""
    searches: ClassVar[bool] = False
    """Whether it searches for the best levels and suppresses up to the limit."""
    cuts_freely: ClassVar[bool] = False
    """Whether groups are formed row by row.

    Such groups lose less information, and published attacks aim at them.
    """

    def __str__(self) -> str:
        return self.kind

    @abstractmethod
    def recode(self, inputs: Inputs, on_progress: OnProgress = silent) -> Recoded:
        """Recode the published rows of a table.

        Args:
            inputs: the table and the plan.
            on_progress: gets the stage of a long step and the share done; an exception
                that it raises ends the step.

        Raises: InfeasibleError when the models cannot be met, ParameterError for a
            model that the method does not check.
        """

    def gate(self, inputs: Inputs) -> Gate:
        """Return the release conditions of a class: k and the sensitive-column models.

        Raises: as `recode`.
        """
        others = [
            model
            for model in inputs.plan.models
            if not (model.joint or isinstance(model, KAnonymity))
        ]
        for model in others:
            if not isinstance(model, SensitiveModel):
                raise ParameterError(
                    "{method} does not check {model}",
                    remedy="use the full-domain method, or ask for less",
                    method=self.kind,
                    model=model,
                )
        return Gate.of(inputs.rows, inputs.plan.k, others, counts=inputs.plan.counts)


class FullDomain(Method):
    """Generalizes each column to one level, and suppresses few rows."""

    kind = "full-domain"
    searches = True
    needs_hierarchies = True

    def recode(self, inputs: Inputs, on_progress: OnProgress = silent) -> Recoded:
        return recode_by_levels(inputs, on_progress)


class LocalRecoding(Method):
    """Generalizes each group of rows to levels of its own."""

    kind = "local recoding"
    needs_hierarchies = True
    cuts_freely = True

    def recode(self, inputs: Inputs, on_progress: OnProgress = silent) -> Recoded:
        plan = inputs.plan
        gate = self.gate(inputs)
        return local_recoding(inputs.published, plan.trees, gate=gate, limit=plan.limit)


class CellSuppression(Method):
    """Suppresses single cells, as few as it can.

    Other cells have the labels of the plan's levels, or those of level 0.

    The weights of the metric, if it has any, are the importance of the columns.
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
    """Splits the rows into groups, and publishes intervals and sets of values."""

    kind = "mondrian"
    cuts_freely = True

    def recode(self, inputs: Inputs, on_progress: OnProgress = silent) -> Recoded:
        return mondrian(
            inputs.published, inputs.plan.quasi_identifiers, gate=self.gate(inputs)
        )


class Microaggregation(Method):
    """Replaces numbers by the means of groups of similar people."""

    kind = "microaggregation"

    def recode(self, inputs: Inputs, on_progress: OnProgress = silent) -> Recoded:
        rows = inputs.published
        columns = inputs.plan.quasi_identifiers
        return publish_means(
            rows, columns, microaggregate(rows, columns, gate=self.gate(inputs))
        )
