"""Base class of the release forms, and the forms of histograms and marginals.

Each kind of release is a card of the page, and registers itself.
"""

import itertools
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import streamlit as st

from dpcore.accounting.loss import Loss
from dpcore.curator import Curator
from dpcore.registry import Registered
from dpcore.synthesis import Histogram, Marginals, Recipe
from dpcore.synthesis.relations import RelationTrial
from workbench import session
from workbench.language.messages import N_, _, capital
from workbench.ui import widgets

# of the choice and the fit, measured with 200 and with 387 columns (decision 0010)
SECONDS_PER_PAIR = 0.0008
MIN_SECONDS_TOLD = 10  # below, the number says less than "seconds"
COLUMN_GROUPING = session.Widget[str]("marginal-ways")


class RecipeForm(Registered, ABC):
    """Card and form for one kind of release.

    Attributes:
        title, text: title and text of the card, as messages.
        icon: name of a Material Symbol.
    """

    title: ClassVar[str]
    icon: ClassVar[str]
    text: ClassVar[str]

    @classmethod
    @abstractmethod
    def choose(cls, curator: Curator, names: list[str], table: str) -> Recipe | None:
        """Draw the form; return its recipe, or None while it is incomplete.

        Args:
            curator: curator of the data set.
            names: names of the columns.
            table: fingerprint of the data set, for the keys of widgets.
        """

    @classmethod
    def fill_in(cls, names: list[str], table: str) -> None:
        """Preselect these columns, each counted by itself, if the form starts empty."""

    @classmethod
    def remedies(cls, recipe: Any) -> list[tuple[str, Callable[[], None]]]:
        """Return button labels and callbacks that make the request smaller."""
        return []

    @classmethod
    def mean_error_width(
        cls, recipe: Any, curator: Curator, loss: Loss, rows: float
    ) -> float | None:
        """Return the error of a mean of `rows` rows; None if there is no mean."""
        return None

    @classmethod
    def error_sentences(
        cls, recipe: Any, curator: Curator, loss: Loss, rows: float
    ) -> list[str]:
        """Return sentences on the expected error of results other than counts.

        Args:
            rows: approximate number of rows; 0 if unknown.
        """
        return []

    @classmethod
    def expectation_sentences(
        cls, recipe: Any, curator: Curator, loss: Loss, rows: float
    ) -> list[str]:
        """Return further sentences about the result, from public facts alone.

        Args:
            rows: approximate number of rows; 0 if unknown.
        """
        if not recipe.chooses_pairs:
            return []
        domain = curator.schema.domain
        pairs = list(itertools.combinations(recipe.reads(domain), 2))
        seconds = round(SECONDS_PER_PAIR * len(pairs), -1)
        time = (
            _("about {number:,} seconds").format(number=int(seconds))
            if seconds >= MIN_SECONDS_TOLD
            else _("seconds")
        )
        return [
            _(
                "The bars show the error of single columns. The program picks pairs "
                "of columns while it runs."
            ),
            _(
                "It can choose from {pairs:,} pairs with {cells:,} cells in all. "
                "This takes {seconds}."
            ).format(
                pairs=len(pairs),
                cells=sum(map(domain.cells, pairs)),
                seconds=time,
            ),
        ]

    @classmethod
    def trial(
        cls, recipe: Any, curator: Curator, loss: Loss, rows: float
    ) -> RelationTrial | None:
        """Return a trial of the relations a recipe would keep; None if it picks
        none.
        """
        return None


class HistogramForm(RecipeForm):
    kind = "histogram"
    place = 1
    title = N_("One column")
    icon = "bar_chart"
    text = N_("A histogram: noisy counts of one column, with error bars.")

    @classmethod
    def choose(cls, curator: Curator, names: list[str], table: str) -> Recipe | None:
        column = st.selectbox(
            capital("column"),
            [*names, ""],
            format_func=lambda name: name or _("number of rows"),
            key=f"histogram-column-{table}",
            persist_state="session",
        )
        return Histogram(column) if column else Marginals(cliques=((),))


class MarginalsForm(RecipeForm):
    kind = "marginals"
    place = 2
    title = N_("A few columns together")
    icon = "grid_on"
    text = N_(
        "Marginals: a noisy table for each set of columns that you choose. The "
        "tables agree with each other."
    )

    @classmethod
    def choose(cls, curator: Curator, names: list[str], table: str) -> Recipe | None:
        columns = st.multiselect(
            _("Columns that should be counted together"),
            names,
            key=f"marginal-columns-{table}",
            persist_state="session",
            wrap=True,
        )
        ways = {
            "one": _("each column alone"),
            "pairs": _("every pair"),
            "all": _("all together, one table"),
        }
        way = widgets.ask_by_title(
            st.radio,
            capital("table"),
            ways,
            index=1,
            key=COLUMN_GROUPING.key,
            persist_state="session",
        )
        if not columns:
            return None
        size = {"one": 1, "pairs": min(2, len(columns)), "all": len(columns)}[way]
        return Marginals(cliques=tuple(itertools.combinations(columns, size)))

    @classmethod
    def fill_in(cls, names: list[str], table: str) -> None:
        session.Widget[list[str]](f"marginal-columns-{table}").put(names)
        COLUMN_GROUPING.put("one")

    @classmethod
    def remedies(cls, recipe: Any) -> list[tuple[str, Callable[[], None]]]:
        if all(len(clique) < 2 for clique in recipe.measured_cliques):
            return []
        return [(capital("each column alone"), lambda: COLUMN_GROUPING.put("one"))]
