"""Forms for a table for learning and for the figures of one column."""

from fractions import Fraction
from typing import Any, Literal

import streamlit as st

from dpcore.accounting.loss import Loss
from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.evaluation.utility.learning import MIN_NUMBER_COLUMNS, sort_by_likely_target
from dpcore.synthesis import Gaussian, Recipe, Statistics
from dpcore.synthesis.gaussian.recipe import has_numbers
from workbench.language.messages import N_, _, capital, join_with_commas
from workbench.language.wording import number, percent_number
from workbench.synthesize.recipe_form import RecipeForm
from workbench.ui import widgets

LEARNERS = {
    "logistic": N_("logistic regression"),
    "linear": N_("linear regression"),
    "k-means": N_("groups (k-means)"),
    "trees": N_("boosted trees"),
    "svm": N_("support vector machine"),
}
LEARNERS_BY_DETAIL: dict[Literal["", "pair"], tuple[str, str]] = {
    "": ("logistic", "svm"),
    "pair": ("linear", "k-means"),
}
"""Learners that each detail of the recipe suits best; "" leaves the detail open."""

# what one release reaches at best, by detail: `benchmarks/learning.py`, decision 0015
LIMITS: dict[Literal["", "pair"], str] = {
    "": N_(
        "**How far this goes.** On a public table of 768 people, at epsilon 1, a support "
        "vector machine that learned from drawn rows was right in 75 of 100 cases. "
        "With real rows it is right in 77, and always naming the larger class is right "
        "in 65."
    ),
    "pair": N_(
        "**How far this goes.** On a public table of 768 people, at epsilon 1, "
        "linear regression on drawn rows had a mean squared error of about 0.8. "
        "Real rows give 0.65, and a constant 0.91. Clusters found in drawn rows "
        "matched those of the real rows to 0.7, where 1 means the same clusters. At "
        "epsilon 0.1, regression was no better than a constant."
    ),
}

# A person can choose among quantiles of these orders.
QUANTILE_ORDERS = ("1/10", "1/4", "1/2", "3/4", "9/10")
# The form shows the error of a class mean for classes with these numbers of rows.
EXAMPLE_CLASS_SIZES = (100, 1_000, 10_000)
ASSUMED_ROWS = (
    1_000  # rows assumed for the error of a mean if their number is not known
)


class LearningForm(RecipeForm):
    kind = "learning"
    place = 4
    title = N_("A table for learning")
    icon = "model_training"
    text = N_(
        "Rows of numbers with a class label, for training and testing models "
        "(Gaussian)."
    )

    @classmethod
    def choose(cls, curator: Curator, names: list[str], table: str) -> Recipe | None:
        schema = curator.schema
        label = st.selectbox(
            _("Column to predict"),
            sort_by_likely_target(schema, names),
            key=f"label-{table}",
            persist_state="session",
        )
        others = [name for name in names if name != label]
        varied = [name for name in others if schema.column(name).values_size > 1]
        columns = st.multiselect(
            capital("columns"),
            others,
            varied,
            key=f"features-{table}-{label}",
            persist_state="session",
            wrap=True,
        )
        one_hot = st.multiselect(
            _("Drawn as categories (one-hot)"),
            columns,
            [name for name in columns if not has_numbers(schema.column(name))],
            key=f"one-hot-{table}-{label}-{len(columns)}",
        )
        detail = st.selectbox(
            capital("learner"),
            list(LEARNERS_BY_DETAIL),
            format_func=lambda each: join_with_commas(
                _(LEARNERS[learner]) for learner in LEARNERS_BY_DETAIL[each]
            ),
            key="learners",
            persist_state="session",
        )
        together = not detail and st.checkbox(
            _("Spend a fifth of the price on finding columns that go together"),
            key="feature-groups",
            persist_state="session",
        )
        if not columns:
            return None
        numbers = [name for name in columns if has_numbers(schema.column(name))]
        if len(numbers) < MIN_NUMBER_COLUMNS:
            st.warning(
                _(
                    "**Little to learn from.** This kind of table needs columns of "
                    "numbers, and you chose fewer than {least}. The kind “A whole "
                    "table” keeps more of what categories show."
                ).format(least=MIN_NUMBER_COLUMNS),
                icon=":material/model_training:",
            )
        groups = None if together else ()
        try:
            return Gaussian.for_schema(
                schema,
                label=label,
                columns=columns,
                one_hot=one_hot,
                groups=groups,
                detail=detail or None,
            )
        except DpcoreError as error:
            widgets.error_box(error)
            return None

    @classmethod
    def expectation_sentences(
        cls, recipe: Any, curator: Curator, loss: Loss, rows: float
    ) -> list[str]:
        domain = curator.schema.domain
        most = curator.schema.unit.max_rows
        ratios = [
            recipe.signal_to_noise(domain, loss, most, people)
            for people in EXAMPLE_CLASS_SIZES
        ]
        noise = recipe.mean_noise(domain, loss, most)
        sizes = [
            _("{rows:,} rows: ± {error}, {ratio} to 1").format(
                rows=people,
                error=percent_number(50 * noise / people),
                ratio=number(ratio),
            )
            for people, ratio in zip(EXAMPLE_CLASS_SIZES, ratios, strict=True)
        ]
        return [
            _(
                "Error of a class mean (as a share of the column's range) and "
                "expected signal-to-noise ratio, for classes of {sizes}."
            ).format(sizes="; ".join(sizes)),
            _(
                "Noise hides the differences between classes of fewer than about "
                "{rows} rows (the ratio is below 1 to 1). Choose fewer columns or a "
                "larger share of the budget."
            ).format(rows=number(EXAMPLE_CLASS_SIZES[0] / ratios[0])),
            _(LIMITS["pair" if recipe.detail == "pair" else ""]),
        ]


class StatisticsForm(RecipeForm):
    kind = "statistics"
    place = 5
    title = N_("Mean and median")
    icon = "functions"
    text = N_("Mean, spread and quantiles of one column, with intervals.")

    @classmethod
    def choose(cls, curator: Curator, names: list[str], table: str) -> Recipe | None:
        numeric = [name for name in names if curator.schema.column(name).holds_numbers]
        if not numeric:
            st.info(_("No column holds numbers."))
            return None
        column = st.selectbox(
            capital("column"),
            numeric,
            key=f"figures-column-{table}",
            persist_state="session",
        )
        moments = st.checkbox(
            f"{capital('mean')}, {_('standard deviation')}",
            True,
            key="figures-moments",
            persist_state="session",
        )
        orders = st.multiselect(
            _("Quantiles (half of the rows lie below the 50 % quantile)"),
            QUANTILE_ORDERS,
            ["1/2"],
            format_func=lambda order: percent_number(float(100 * Fraction(order))),
            key="figures-orders",
            persist_state="session",
        )
        if not (moments or orders):
            return None
        return Statistics.for_column(
            curator.schema, column, moments=moments, quantiles=orders
        )

    @classmethod
    def mean_error_width(
        cls, recipe: Any, curator: Curator, loss: Loss, rows: float
    ) -> float | None:
        if not recipe.moments:
            return None
        width: float = recipe.mean_error_width(
            loss, max_rows=curator.schema.unit.max_rows, people=rows
        )
        return width

    @classmethod
    def error_sentences(
        cls, recipe: Any, curator: Curator, loss: Loss, rows: float
    ) -> list[str]:
        sentences = []
        people = rows or ASSUMED_ROWS
        width = cls.mean_error_width(recipe, curator, loss, people)
        if width is not None:
            sentences.append(
                _("The mean of {rows} rows is off by at most {width}.").format(
                    rows=number(people),
                    width=number(width),
                ),
            )
            low, high = recipe.widest_cell
            if (high - low) / 2 > width / 2:
                sentences.append(
                    _(
                        "Most of this error comes from the widest cell, {low} to {high}: "
                        "each of its values is taken as its middle. Bounds and steps "
                        "that are publicly known, declared on *Data*, make it smaller."
                    ).format(low=number(low), high=number(high))
                )
        if recipe.quantiles:
            error = number(
                recipe.rank_error(loss, max_rows=curator.schema.unit.max_rows)[0]
            )
            sentences.append(
                _(
                    "A quantile is off by at most {error} places in the sorted column."
                ).format(error=error),
            )
        return [
            *sentences,
            _("Each interval contains the true value in 95 of 100 cases."),
        ]
