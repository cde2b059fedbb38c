"""The methods of anonymization: their needs, and their recoding of rows."""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

from dpcore.anonymization.fulldomain.metrics import SeparableMetric
from dpcore.anonymization.inputs import Inputs
from dpcore.anonymization.levels import check_node, recode_by_levels
from dpcore.anonymization.models import KAnonymity, SensitiveModel
from dpcore.anonymization.partition.admission import ReleaseGate
from dpcore.anonymization.partition.cells import suppress_cells
from dpcore.anonymization.partition.microaggregation import (
    microaggregate,
    publish_means,
)
from dpcore.anonymization.partition.mondrian import mondrian
from dpcore.anonymization.partition.recoding import recode_locally
from dpcore.anonymization.recoded import Recoded
from dpcore.errors import ParameterError
from dpcore.progress import OnProgress, ignore_stage_progress
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
    groups_row_by_row: ClassVar[bool] = False
    """Whether groups are formed row by row.

    Such groups lose less information, and published attacks aim at them.
    """

    def __str__(self) -> str:
        return self.kind

    @abstractmethod
    def recode(
        self, inputs: Inputs, on_progress: OnProgress = ignore_stage_progress
    ) -> Recoded:
        """Recode the published rows of a table.

        Args:
            inputs: the table and the plan.
            on_progress: gets the stage of a long step and the share done; an exception
                that it raises ends the step.

        Raises: InfeasibleError when the models cannot be met, ParameterError for a
            model that the method does not check.
        """

    def build_gate(self, inputs: Inputs) -> ReleaseGate:
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
                    remedy="use the full-domain method, or weaken the requirements",
                    method=self.kind,
                    model=model,
                )
        return ReleaseGate.from_rows(
            inputs.rows, inputs.plan.k, others, counted_unit=inputs.plan.counted_unit
        )


class FullDomain(Method):
    """Generalizes each column to one level, and suppresses few rows."""

    kind = "full-domain"
    searches = True
    needs_hierarchies = True

    def recode(
        self, inputs: Inputs, on_progress: OnProgress = ignore_stage_progress
    ) -> Recoded:
        return recode_by_levels(inputs, on_progress)


class LocalRecoding(Method):
    """Generalizes each group of rows to levels of its own."""

    kind = "local recoding"
    needs_hierarchies = True
    groups_row_by_row = True

    def recode(
        self, inputs: Inputs, on_progress: OnProgress = ignore_stage_progress
    ) -> Recoded:
        plan = inputs.plan
        gate = self.build_gate(inputs)
        return recode_locally(
            inputs.published_rows,
            plan.quasi_identifier_hierarchies,
            gate=gate,
            limit=plan.limit,
        )


class CellSuppression(Method):
    """Suppresses single cells, as few as it can.

    Other cells have the labels of the plan's levels, or those of level 0.

    The weights of the metric, if it has any, are the importance of the columns.
    """

    kind = "cell suppression"
    needs_hierarchies = True
    groups_row_by_row = True

    def recode(
        self, inputs: Inputs, on_progress: OnProgress = ignore_stage_progress
    ) -> Recoded:
        plan = inputs.plan
        metric = inputs.plan.metric
        check_node(plan)
        return suppress_cells(
            inputs.published_rows,
            plan.quasi_identifier_hierarchies,
            plan.node or dict.fromkeys(plan.quasi_identifier_hierarchies, 0),
            importance=metric.weights if isinstance(metric, SeparableMetric) else {},
            gate=self.build_gate(inputs),
            limit=plan.limit,
        )


class Mondrian(Method):
    """Splits the rows into groups, and publishes intervals and sets of values."""

    kind = "mondrian"
    groups_row_by_row = True

    def recode(
        self, inputs: Inputs, on_progress: OnProgress = ignore_stage_progress
    ) -> Recoded:
        return mondrian(
            inputs.published_rows,
            inputs.plan.quasi_identifiers,
            gate=self.build_gate(inputs),
        )


class Microaggregation(Method):
    """Replaces numbers by the means of groups of similar people."""

    kind = "microaggregation"

    def recode(
        self, inputs: Inputs, on_progress: OnProgress = ignore_stage_progress
    ) -> Recoded:
        rows = inputs.published_rows
        columns = inputs.plan.quasi_identifiers
        return publish_means(
            rows, columns, microaggregate(rows, columns, gate=self.build_gate(inputs))
        )
