"""A recipe that learns in another process, while the measurer, and with it every row, stays in this one.

The other process asks for noisy numbers as a recipe asks a measurer, and is told those alone. So the ledger's
line is written here before the first of them, each event is on record here, and ending that process loses
nothing.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, ClassVar

from dpcore.accounting.loss import Loss
from dpcore.errors import DisclosureError
from dpcore.mechanisms.measurer import Measurer
from dpcore.mechanisms.rehearsal import Rehearsal
from dpcore.mechanisms.sensitivity import noise_of
from dpcore.model import Model
from dpcore.progress import OnProgress
from dpcore.schema.domain import Clique, Domain
from dpcore.synthesis.base import Expected, Recipe
from dpcore.tables.counts import Marginal, Noise
from workbench.apart import process
from workbench.apart.worker import Server

ASKED = frozenset(
    ["only", "coarsen", "measure", "gaps", "gap_deviation", "select", "sums", "quantile", "name_texts"]
)
"""What may be asked of a measurer; all answers are public or noisy."""


@dataclass(frozen=True, kw_only=True)
class View:
    """What is public of a measurer, or of a view of one, and the number that it is asked by."""

    number: int
    domain: Domain
    loss: Loss
    rows: int
    part: tuple[str, str] | None


class Remote:
    """A measurer as a recipe sees it from another process."""

    def __init__(self, server: Server, view: View) -> None:
        self._server, self._number = server, view.number
        self.domain, self.loss, self.rows, self.part = view.domain, view.loss, view.rows, view.part

    @property
    def noise(self) -> Noise:
        """The law of the noise that the loss buys."""
        return noise_of(self.loss)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        return functools.partial(self._ask, name)

    def _ask(self, name: str, *given: Any, **named: Any) -> Any:
        answer = self._server.ask(self._number, name, given, named)
        return Remote(self._server, answer) if isinstance(answer, View) else answer


class Views:
    """A measurer and the views that were made of it, asked from another process."""

    def __init__(self, measurer: Measurer) -> None:
        self._measurers = [measurer]

    def first(self) -> View:
        """The measurer itself."""
        return self._view(0)

    def answer(self, number: int, name: str, given: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """What the measurer says. Raises: its errors; DisclosureError for anything else of it."""
        if name not in ASKED:
            raise DisclosureError("a recipe may not ask for this", remedy="ask for noisy numbers")
        answer = getattr(self._measurers[number], name)(*given, **named)
        if not isinstance(answer, Measurer):
            return answer
        self._measurers.append(answer)
        return self._view(len(self._measurers) - 1)

    def _view(self, number: int) -> View:
        each = self._measurers[number]
        return View(number=number, domain=each.domain, loss=each.loss, rows=each.rows, part=each.part)


class Apart(Recipe):
    """A recipe whose computing is done in another process.

    Args:
        charged: called once the charge is on file.
        cancelled: asked while it computes.
    """

    kind: ClassVar[str] = "apart"

    def __init__(self, recipe: Recipe, *, charged: Callable[[], None], cancelled: Callable[[], bool]) -> None:
        self._recipe, self._charged, self._cancelled = recipe, charged, cancelled

    @property
    def threshold_delta(self) -> Fraction:
        return self._recipe.threshold_delta

    @property
    def stands_on(self) -> tuple[Loss, ...]:
        return self._recipe.stands_on

    def check(self, domain: Domain) -> None:
        """As the recipe."""
        self._recipe.check(domain)

    def expect(self, domain: Domain, loss: Loss, rows: int, table_rows: float = 0) -> tuple[Expected, ...]:
        """As the recipe."""
        return self._recipe.expect(domain, loss, rows, table_rows)

    def to_dict(self) -> dict[str, Any]:
        """As the recipe."""
        return self._recipe.to_dict()

    def fit(self, measurer: Measurer, on_progress: OnProgress) -> tuple[dict[Clique, Marginal], Model]:
        """As the recipe, elsewhere. A rehearsal comes before the charge, and tells nothing of its progress.

        Raises: StoppedError, LimitError where the system ended it, and what the recipe raises.
        """
        if not isinstance(measurer, Rehearsal):
            self._charged()
        views = Views(measurer)
        found: tuple[dict[Clique, Marginal], Model] = process.compute(
            fit,
            self._recipe,
            views.first(),
            on_progress=on_progress,
            answer=views.answer,
            cancelled=self._cancelled,
        )
        return found


def fit(server: Server, recipe: Recipe, view: View) -> Any:
    """What the other process does."""
    return recipe.fit(Remote(server, view), server.tell)  # type: ignore[arg-type]
