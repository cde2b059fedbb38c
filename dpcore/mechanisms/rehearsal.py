"""A free dry run of a recipe, made before anything is charged.

It refuses everything that public facts can refuse.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from dpcore.accounting.loss import Loss
from dpcore.mechanisms.measurer import Groups, Measurer
from dpcore.schema.domain import Clique, Domain
from dpcore.tables.counts import Counts, check_cells
from dpcore.tables.sums import Entry, Integers


class Rehearsal(Measurer):
    """A measurer of an empty table without noise, for a free dry run.

    It spends, checks and refuses as a real one does: so a run that public facts alone
    can refuse is refused before anything is charged.
    """

    is_spent = False  # no noise is drawn

    def __init__(
        self,
        *,
        domain: Domain,
        loss: Loss,
        max_rows: int,
        part: tuple[str, str] | None,
        delta: Fraction,
    ) -> None:
        def counts(
            cliques: Sequence[Clique], *, groups: Mapping[str, Groups] | None = None
        ) -> list[Counts]:
            sizes = dict(zip(domain.names, domain.sizes, strict=True))
            sizes |= {
                name: int(group.max()) + 1 for name, group in (groups or {}).items()
            }
            shapes = [tuple(sizes[name] for name in clique) for clique in cliques]
            return [
                Counts(clique=clique, values=np.zeros(shape, dtype=np.int64))
                for clique, shape in zip(cliques, shapes, strict=True)
            ]

        def sums(by: Clique, entries: Sequence[Entry]) -> Integers:
            # Check the number of declared cells: an engine counts them before they are
            # merged.
            check_cells(domain, [by] * len(entries))
            return np.zeros((domain.cells(by), len(entries)), dtype=np.int64)

        super().__init__(
            counts,
            domain=domain,
            loss=loss,
            max_rows=max_rows,
            part=part,
            texts=lambda column: {},
            sums=sums,
            delta=delta,
            count_rule=None
            if part
            else lambda assign, cells, reads: Counts(
                clique=(), values=np.zeros(cells, dtype=np.int64)
            ),
        )

    def _draw_noise(
        self, values: npt.NDArray[np.int64], scale: float
    ) -> npt.NDArray[np.int64]:
        return values
