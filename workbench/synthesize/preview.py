"""A planned release with its quote, computed from public facts."""

from dataclasses import dataclass

from dpcore.accounting.loss import AnyLoss, Loss
from dpcore.curator import Curator, LinkedCurator
from dpcore.errors import DpcoreError
from dpcore.synthesis import Recipe
from dpcore.synthesis.base import ExpectedError
from dpcore.synthesis.quote import Quote
from workbench import session
from workbench.language.budget import spent_epsilon
from workbench.synthesize.recipe_form import RecipeForm
from workbench.ui import releases, reopening


@dataclass(frozen=True, kw_only=True)
class Preview:
    """A planned release, with the price and error that follow from public facts.

    Attributes:
        loss: the stated loss; `spent_loss` is what the rule of the account makes of it.
        part: {column: category} of the one part that is read; empty for all rows.
        rows: approximate number of rows; 0 if unknown.
        epsilon_field: the field of the epsilon, for buttons that change it.
    """

    curator: Curator
    form: type[RecipeForm]
    recipe: Recipe
    loss: AnyLoss
    part: dict[str, str]
    rows: float
    quote: Quote
    epsilon_field: session.Widget[float]

    @property
    def spent_loss(self) -> Loss:
        """Loss that this release spends under the rule of the account."""
        return self.curator.rule.convert(self.loss)

    @property
    def single_column(self) -> str | None:
        """Name of the only column that is counted; None for other releases."""
        cliques = [table.clique for table in self.quote.expected]
        return cliques[0][0] if len(cliques) == 1 and len(cliques[0]) == 1 else None

    @property
    def worst_table(self) -> ExpectedError:
        """The table with the largest error relative to its mean cell."""
        return max(
            self.quote.expected,
            key=lambda table: table.half_width() * max(1, table.cells),
        )

    def mean_cell(self, table: ExpectedError) -> float:
        """Return the mean number of rows in a cell of a table."""
        return self.rows / max(1, table.cells)

    def epsilon_for(self, half_width: float) -> float | None:
        """Return the epsilon at which every cell is within `half_width` rows.

        It is rounded up to three digits. None if no loss achieves that, or if the error
        of the recipe is not known in advance.
        """
        try:
            loss = self.curator.find_smallest_loss(
                self.recipe,
                half_width,
                pure=self.curator.rule.is_pure,
                table_rows=self.rows,
            )
        except DpcoreError:
            return None
        epsilon = spent_epsilon(self.curator.rule.to_units(loss), self.curator.account)
        return float(f"{1.005 * epsilon:.3g}")


def approximate_rows(curator: Curator, linked: LinkedCurator | None = None) -> float:
    """Return the approximate number of rows; 0 if unknown.

    It comes from the latest release that tells it, or is one digit of the file's.

    Args:
        linked: as of `session.table_key`.
    """
    return released_rows(curator) or session.own(
        reopening.RowCounts
    ).rows_by_dataset.get(session.table_key(curator, linked), 0)


def released_rows(curator: Curator) -> float:
    """Return the number of rows by the latest release that tells it; 0 without one."""
    for line in releases.list_releases(curator):
        release = curator.release(line["request_id"])
        if (
            release.part is None
            and release.marginals
            and release.has_reliable_row_count
        ):
            return release.model.total
    return 0
