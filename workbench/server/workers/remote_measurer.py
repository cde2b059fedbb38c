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
from dpcore.synthesis.discrete.copies import DiffersRule
from workbench.server.workers.callbacks import check_cancelled

Args = ParamSpec("Args")
Answer = TypeVar("Answer")
AskServer = Callable[[int, str, tuple[Any, ...], dict[str, Any]], Any]
"""Sends a measurer's number, a method's name and its arguments to the server, and
returns the answer.
"""


def _remote_method(
    method: Callable[Concatenate[Any, Args], Answer],
) -> Callable[Concatenate[Any, Args], Answer]:
    """Return a method that calls its namesake in the server.

    Raises: as the method.
    """

    def call(self: Any, /, *given: Args.args, **named: Args.kwargs) -> Answer:
        answer: Answer = RemoteMeasurer.ask(self.number, method.__name__, given, named)
        return answer

    return call


def _refuse_counts(*given: Any, **named: Any) -> Any:
    raise DisclosureError("a worker has no exact counts", remedy="measure with noise")


class RemoteMeasurer(Measurer):
    """Stand-in for a measurer or its view, with public facts and noisy answers.

    Attributes:
        number: of the measurer among those that the server has sent to this worker.
        ask: how all of them reach the server; set once, when the worker begins.
    """

    ask: AskServer

    def __init__(
        self,
        number: int,
        domain: Domain,
        declared: Domain,
        loss: Loss,
        rows: int,
        part: Any,
    ) -> None:
        super().__init__(
            _refuse_counts, domain=domain, loss=loss, max_rows=rows, part=part
        )
        self.number = number
        self.declared = declared

    project = _remote_method(Measurer.project)
    coarsen = _remote_method(Measurer.coarsen)
    measure = _remote_method(Measurer.measure)
    measure_gaps = _remote_method(Measurer.measure_gaps)
    gap_deviation = _remote_method(Measurer.gap_deviation)
    select_clique = _remote_method(Measurer.select_clique)
    measure_sums = _remote_method(Measurer.measure_sums)
    choose_quantile_cell = _remote_method(Measurer.choose_quantile_cell)
    count_by_rule = _remote_method(Measurer.count_by_rule)
    find_common_texts = _remote_method(Measurer.find_common_texts)


ALLOWED_RULES = (DiffersRule,)
"""Public rules by which a worker may let rows be counted.

Any other would be code of a worker that runs on rows here.
"""
REMOTE_METHODS = frozenset(
    name for name in vars(RemoteMeasurer) if not name.startswith("_")
)
"""Methods that a worker may call; their answers are public or noisy."""


def answer_call(
    measurer: Measurer, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> Any:
    """Call a method of a measurer on behalf of a worker, in the server.

    Raises: the errors of the method; DisclosureError for a name that is not in
        `REMOTE_METHODS`, or a rule that is not in `ALLOWED_RULES`.
    """
    if name not in REMOTE_METHODS:
        raise DisclosureError("a recipe may not call this", remedy="measure with noise")
    if name == "count_by_rule" and type(args[0]) not in ALLOWED_RULES:
        raise DisclosureError("a recipe has no such rule", remedy="measure with noise")
    measurer.on_draw = check_cancelled
    return getattr(measurer, name)(*args, **kwargs)
