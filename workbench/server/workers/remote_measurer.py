"""A stand-in for a measurer, for recipes that run in a worker.

The measurer itself, and every row, stays in the server; the recipe gets noisy numbers
alone. So the ledger's line is written in the server before the first of them, each
event is on record there, and killing the worker loses nothing.
"""

from collections.abc import Callable
from typing import Any, Concatenate, ParamSpec, TypeVar

from dpcore.accounting.loss import Loss
from dpcore.errors import DisclosureError
from dpcore.mechanisms.measurer import Measurer
from dpcore.schema.domain import Domain
from dpcore.synthesis.discrete.copies import Differs
from workbench.server.workers.callbacks import check_cancelled

Given = ParamSpec("Given")
Answer = TypeVar("Answer")
Ask = Callable[[int, str, tuple[Any, ...], dict[str, Any]], Any]
"""Sends a measurer's number, a method's name and its arguments to the server, and
returns the answer.
"""


def _remote(
    method: Callable[Concatenate[Any, Given], Answer],
) -> Callable[Concatenate[Any, Given], Answer]:
    """Return a method that calls its namesake in the server.

    Raises: as the method.
    """

    def call(self: Any, /, *given: Given.args, **named: Given.kwargs) -> Answer:
        answer: Answer = RemoteMeasurer.ask(self.number, method.__name__, given, named)
        return answer

    return call


def _no_counts(*given: Any, **named: Any) -> Any:
    raise DisclosureError("a worker has no exact counts", remedy="measure with noise")


class RemoteMeasurer(Measurer):
    """Stand-in for a measurer or its view, with public facts and noisy answers.

    Attributes:
        number: of the measurer among those that the server has sent to this worker.
        ask: how all of them reach the server; set once, when the worker begins.
    """

    ask: Ask

    def __init__(
        self,
        number: int,
        domain: Domain,
        declared: Domain,
        loss: Loss,
        rows: int,
        part: Any,
    ) -> None:
        super().__init__(_no_counts, domain=domain, loss=loss, rows=rows, part=part)
        self.number = number
        self.declared = declared

    project = _remote(Measurer.project)
    coarsen = _remote(Measurer.coarsen)
    measure = _remote(Measurer.measure)
    gaps = _remote(Measurer.gaps)
    gap_deviation = _remote(Measurer.gap_deviation)
    select = _remote(Measurer.select)
    sums = _remote(Measurer.sums)
    quantile = _remote(Measurer.quantile)
    count_by_rule = _remote(Measurer.count_by_rule)
    find_common_texts = _remote(Measurer.find_common_texts)


RULES = (Differs,)
"""Public rules by which a worker may let rows be counted.

Any other would be code of a worker that runs on rows here.
"""
REMOTE = frozenset(name for name in vars(RemoteMeasurer) if not name.startswith("_"))
"""Methods that a worker may call; their answers are public or noisy."""


def answer(
    measurer: Measurer, name: str, given: tuple[Any, ...], named: dict[str, Any]
) -> Any:
    """Call a method of a measurer on behalf of a worker, in the server.

    Raises: the errors of the method; DisclosureError for a name that is not in
        `REMOTE`, or a rule that is not in `RULES`.
    """
    if name not in REMOTE:
        raise DisclosureError("a recipe may not call this", remedy="measure with noise")
    if name == "count_by_rule" and type(given[0]) not in RULES:
        raise DisclosureError("a recipe has no such rule", remedy="measure with noise")
    measurer.on_draw = check_cancelled
    return getattr(measurer, name)(*given, **named)
