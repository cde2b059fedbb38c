"""Questions to the original, and its anonymization, computed in another process that ends with the answer."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pandas as pd

from dpcore.anonymize.inputs import Inputs
from dpcore.anonymize.methods import Method
from dpcore.anonymize.plan import Plan
from dpcore.anonymize.recoded import Recoded
from dpcore.evaluation.base import Evaluation, Readable, Result
from dpcore.progress import OnProgress, silent
from dpcore.schema import Schema
from dpcore.tables.rows import DistinctRows, Microdata
from workbench.apart import process
from workbench.apart.worker import Server


class Apart(Evaluation[Any, Result]):
    """An evaluation computed elsewhere, on a copy of the rows that is sent over a socket and ends with it.

    Args:
        cancelled: asked while it computes; it may raise.
    """

    def __init__(self, evaluation: Evaluation[Any, Result], cancelled: Callable[[], bool]) -> None:
        self._evaluation, self._cancelled = evaluation, cancelled
        self.kind = evaluation.kind  # type: ignore[misc]

    @property
    def about(self) -> tuple[str, ...]:
        return self._evaluation.about

    def read(self, table: Readable, schema: Schema) -> Any:
        """As the evaluation."""
        return self._evaluation.read(table, schema)

    def compute(self, original: Any, schema: Schema) -> Result:
        """As the evaluation. Raises: its errors; StoppedError; LimitError where the system ended it."""
        evaluation: Any = self._evaluation
        tell = getattr(evaluation, "on_progress", silent)
        if tell is not silent:
            evaluation = dataclasses.replace(evaluation, on_progress=silent)
        kind = type(original) if isinstance(original, Microdata) else None  # which refuses to be sent
        answer: Result = process.compute(
            compute,
            evaluation,
            kind,
            original if kind is None else vars(original),
            schema,
            on_progress=tell,
            cancelled=self._cancelled,
        )
        return answer


def compute(server: Server, evaluation: Any, kind: type[Microdata] | None, read: Any, schema: Schema) -> Any:
    """What the other process does."""
    if hasattr(evaluation, "on_progress"):
        evaluation = dataclasses.replace(evaluation, on_progress=server.tell)
    return evaluation.compute(read if kind is None else kind(**read), schema)


class ApartMethod:
    """A method of anonymization that recodes elsewhere; all else of it is as it is."""

    def __init__(self, method: Method, cancelled: Callable[[], bool]) -> None:
        self._method, self._cancelled = method, cancelled

    def __getattr__(self, name: str) -> Any:
        return getattr(self._method, name)

    def decided(
        self, decide: Callable[..., Any], distinct: DistinctRows, plan: Plan, on_progress: OnProgress
    ) -> Any:
        """As the method: by distinct tuples. Raises: as `recode`."""
        asked = dataclasses.replace(plan, method=self._method)
        given = (decide, vars(distinct), asked)
        return process.compute(decided, *given, on_progress=on_progress, cancelled=self._cancelled)

    def recode(self, inputs: Inputs, on_progress: OnProgress = silent) -> Recoded:
        """As the method. Raises: its errors; StoppedError; LimitError where the system ended it."""
        asked = dataclasses.replace(inputs.plan, method=self._method)  # type: ignore[call-arg]
        found: Recoded = process.compute(
            recode, inputs.frame, asked, on_progress=on_progress, cancelled=self._cancelled
        )
        return found


def recode(server: Server, frame: pd.DataFrame, plan: Plan) -> Recoded:
    """What the other process does."""
    return plan.method.recode(Inputs.of(frame, plan), server.tell)


def decided(server: Server, decide: Callable[..., Any], tuples: dict[str, Any], plan: Plan) -> Any:
    """What the other process does."""
    return decide(DistinctRows(**tuples), plan, server.tell)


def apart(plan: Plan, cancelled: Callable[[], bool]) -> Plan:
    """The plan, to be carried out elsewhere."""
    return dataclasses.replace(plan, method=ApartMethod(plan.method, cancelled))  # type: ignore[arg-type]


def call(server: Server, function: Callable[..., Any], *given: Any) -> Any:
    """Any function of a module, in the other process: `process.compute(call, function, ...)`."""
    return function(*given)
