"""What a release would bring, before it is paid: its price, its error beside the rows, and ways out."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import streamlit as st

from dpcore.accounting.loss import AnyLoss
from dpcore.curator import Curator
from dpcore.errors import DpcoreError
from dpcore.synthesis import Histogram, Marginals, Recipe, SomeColumns, answer, askable
from dpcore.synthesis.base import Expected
from dpcore.synthesis.quote import Quote
from dpcore.tables.counts import half_width
from workbench import session
from workbench.synthesize import learning, recipes, relations_view, view
from workbench.synthesize.charts import expected, picture
from workbench.synthesize.relations import Trial
from workbench.ui import charts, epsilon_view, releases, reopening, widgets
from workbench.ui.glossary import GLOSSARY
from workbench.ui.language import _
from workbench.ui.wording import amount, number, plain, rule_unit, spent_epsilon

DROWNED, ROUGH = 1.0, 0.3
"""Width of the error beside the rows of a mean cell, from which noise drowns counts, and blurs them."""
GROUP_ERROR = 0.2
"""Largest error of a group that is called told, beside its rows."""
TABLES = 20
ALONE = session.Widget[str]("marginal-ways")
RELATIONS = session.Widget[str]("table-relations")


def show(
    curator: Curator, recipe: Recipe, loss: AnyLoss, part: dict[str, str], box: session.Widget[float]
) -> None:
    """All of it; `box` is where the epsilon is typed, for the buttons that change it."""
    st.subheader(
        _("What you would get"),
        help=_(
            "Computed from what is declared, and from the number of rows that count, in one digit, which "
            "only you are told. Nothing is charged."
        ),
    )
    rows = 0 if part else rows_of(curator)  # how many a part has is not known before
    quote = curator.quote(recipe, loss, part=part or None, table_rows=rows)
    expected_error = quote.expected
    cost, after, error = st.columns(3)
    cost.metric(_("Cost"), amount(quote.charge, curator.account), help=GLOSSARY["charge"])
    after.metric(
        _("Left after"),
        amount(max(0, quote.left_after), curator.account),
        help=_("{unit}. {what}").format(unit=rule_unit(curator.account), what=GLOSSARY["budget"]),
    )
    mean = learning.mean_off(curator, recipe, curator.rule.spends(loss), rows) if rows else None
    worst = max((each.half_width() for each in expected_error), default=None)
    if mean is not None:
        error.metric(
            _("Mean off by"),
            f"± {number(mean)}",
            help=_("At most, in 95 of 100 cases, for about {rows} rows.").format(rows=number(rows)),
        )
    elif worst is not None:
        error.metric(_("Off by, rows"), f"± {number(worst)}", help=_("A cell, at most, in 95 of 100 cases."))
    trial = Trial.of(recipe, curator, curator.rule.spends(loss), rows) if rows else None
    if expected_error and rows:
        _warn(curator, recipe, expected_error, rows, box, alone=trial is not None)
    if trial is not None:
        relations_view.show(trial)
    _buy(curator, recipe, loss, part, quote)
    if expected_error:
        _expectation(curator, recipe, part, quote, rows)
        _wanted_error(curator, recipe, box)
    for sentence in learning.expectations(curator, recipe, curator.rule.spends(loss), rows):
        st.caption(sentence)


def rows_of(curator: Curator) -> float:
    """About how many rows there are: of the latest release that tells it, or one digit of the file."""
    for line in releases.earlier(curator):
        release = curator.release(line["request_id"])
        if release.part is None and release.marginals and release.tells_rows:
            return release.model.total
    return session.own(reopening.RowCounts).about.get(curator.account.dataset, 0)


def _mean_cell(each: Expected, rows: float) -> float:
    return rows / max(1, each.cells)


def _warn(
    curator: Curator,
    recipe: Recipe,
    expected_error: Sequence[Expected],
    rows: float,
    box: session.Widget[float],
    *,
    alone: bool,
) -> None:
    """The error beside the rows of a mean cell, and a button for each remedy that there is.

    Args: alone: whether that is about single columns, and relations are another question.
    """
    worst = max(expected_error, key=lambda each: each.half_width() / _mean_cell(each, rows))
    mean, half = _mean_cell(worst, rows), worst.half_width()
    facts = _("± {half} rows, where a mean cell of {table} has {mean}, of about {rows} rows in all.").format(
        half=number(half),
        mean=number(mean),
        rows=number(rows),
        table=" × ".join(map(plain, worst.clique)) or _("number of rows"),
    )
    if half < ROUGH * mean:
        said = _("Single columns: {facts}") if alone else _("Clear: {facts}")
        st.caption(" ".join([said.format(facts=facts), *([_group_words(half)] if worst.clique else [])]))
        return
    if half < DROWNED * mean:
        st.info(_("Blurred: {facts}").format(facts=facts), icon=":material/blur_on:")
        return
    st.warning(
        _("**Noise will drown this.** {facts} Nothing is charged yet.").format(facts=facts),
        icon=":material/warning:",
    )
    with st.container(horizontal=True):
        if isinstance(recipe, Marginals) and any(len(clique) > 1 for clique in recipe.measured):
            st.button(_("Count each column alone"), on_click=ALONE.put, args=("one",))
        if isinstance(recipe, SomeColumns):
            st.button(_("Drop relations (Independent)"), on_click=RELATIONS.put, args=("independent",))
        epsilon = _epsilon_for(curator, recipe, ROUGH * mean)
        if epsilon is not None and epsilon <= epsilon_view.left(curator):
            st.button(
                _("Use epsilon {epsilon}").format(epsilon=f"{epsilon:g}"),
                key="remedy-epsilon",
                on_click=box.put,
                args=(epsilon,),
            )
    alone = isinstance(recipe, Histogram)
    ways = [_("declare wider steps") if alone else _("take fewer columns, or wider steps")]
    if curator.rule.pure and len(expected_error) > 5:
        ways.append(_("with so many tables, a budget under zCDP has less noise: it is chosen at the opening"))
    st.caption(_("Also: {ways}.").format(ways="; ".join(ways)))


def _group_words(half: float) -> str:
    """The smallest group that is told within a fifth of its size."""
    group = math.ceil(half / GROUP_ERROR)
    return _(
        "A group of {rows:,} rows would be told as {low:,} to {high:,}; smaller ones more roughly."
    ).format(rows=group, low=round(group - half), high=round(group + half))


def _epsilon_for(curator: Curator, recipe: Recipe, half_width: float) -> float | None:
    """The epsilon at which every cell is within so many rows, with three digits, rounded up; None without."""
    try:
        loss = curator.loss_for(recipe, half_width, pure=curator.rule.pure)
    except DpcoreError:
        return None
    epsilon = spent_epsilon(curator.rule.units(loss), curator.account)
    return float(f"{1.005 * epsilon:.3g}")


def _buy(curator: Curator, recipe: Recipe, loss: AnyLoss, part: dict[str, str], quote: Quote) -> None:
    cost = amount(quote.charge, curator.account)
    stored = curator.stored(recipe, loss, part=part or None)
    label = _("Draw again for {cost}") if stored else _("Release for {cost}")
    with st.container(horizontal=True):
        if stored:
            st.button(
                _("Show the stored release, free"), type="primary", on_click=recipes.show, args=(stored,)
            )
        if st.button(
            label.format(cost=cost),
            type="secondary" if stored else "primary",
            disabled=not quote.affordable,
            key="release",
        ):
            view.confirm(curator, recipe, loss, part, quote)
    if quote.charge < quote.own_charge:
        st.caption(
            _("By itself it would cost {own}: other parts have paid for this one too.").format(
                own=amount(quote.own_charge, curator.account)
            )
        )
    if quote.balance.left <= 0:
        st.caption(_("Nothing is left of the budget. What was released stays free to use."))
    elif not quote.affordable:
        st.caption(
            _("This costs more than the {left} that is left. Choose less.").format(
                left=amount(quote.balance.left, curator.account)
            )
        )


def _expectation(curator: Curator, recipe: Recipe, part: dict[str, str], quote: Quote, rows: float) -> None:
    expected_error = quote.expected
    if isinstance(recipe, Histogram):
        _picture(curator, recipe, part, expected_error[0], rows)
    else:
        tables = sorted(_alike(expected_error), key=lambda table: -table[1] * table[2])
        widgets.show_chart(expected(tables[:TABLES], rows), key="expected")
        if len(tables) > TABLES:
            st.caption(
                _("The {shown} widest of {all} tables are drawn.").format(shown=TABLES, all=len(tables))
            )
    told = [each for each in expected_error if each.variance]
    if told:  # by the most precise of tables that agree, else by the inverse-variance mean of all
        each_tells = [each.cells * each.variance for each in told]
        variance = min(each_tells) if told[0].pooled else 1 / sum(1 / each for each in each_tells)
        st.caption(
            _("The number of rows would be told within ± {half}.").format(
                half=number(half_width(variance, told[0].noise, pooled=len(told) > 1))
            )
        )
    cells = sum(each.cells for each in expected_error)
    repeats = (
        _("The budget allows one such release.")
        if quote.repeats == 1
        else _("The budget allows {repeats} such releases.").format(repeats=f"{quote.repeats:,}")
    )
    st.caption(_("{cells} cells in all.").format(cells=f"{cells:,}") + " " + repeats)
    for sentence in recipes.size_words(curator, recipe):
        st.caption(sentence)


def _alike(expected_error: Sequence[Expected]) -> list[tuple[str, int, float]]:
    """(name, cells, half-width) of the tables; those of one size and error share a bar (D10)."""
    names: dict[tuple[int, float], list[str]] = {}
    for each in expected_error:
        name = " × ".join(each.clique) or _("number of rows")
        names.setdefault((each.cells, each.half_width()), []).append(name)
    return [
        (
            of[0]
            if len(of) == 1
            else _("{table} and {others} like it").format(table=of[0], others=len(of) - 1),
            *key,
        )
        for key, of in names.items()
    ]


def _picture(curator: Curator, recipe: Histogram, part: dict[str, str], each: Expected, rows: float) -> None:
    """The cells with their error: around the last release of the column, else around a flat shape."""
    column = curator.schema.column(recipe.column)
    for line in releases.earlier(curator):
        release = curator.release(line["request_id"])
        if release.part == next(iter(part.items()), None) and recipe.column in askable(release):
            says = _("Around the release of {when}, which is public.").format(when=line["when"])
            shape = answer(release, (recipe.column,)).values
            break
    else:
        says = _("The shape is not known before: every cell is drawn alike. The bars show the error.")
        shape = np.full(column.size, _mean_cell(each, rows))
    labels, cells = charts.fold_labels(column.labels), charts.fold_table(np.ones(column.size))[0]
    half = each.half_width() * math.sqrt(cells)  # of a bar of so many cells
    widgets.show_chart(picture(labels, charts.fold_table(shape), half, column=recipe.column), key="expected")
    st.caption(says)


def _wanted_error(curator: Curator, recipe: Recipe, box: session.Widget[float]) -> None:
    wanted = st.number_input(
        _("Or say how many rows a cell may be off"),
        min_value=0.0,
        value=None,
        step=10.0,
        format="%g",
        placeholder=_("for instance 50"),
        key="wanted",
        persist_state="session",
    )
    if not wanted:
        return
    epsilon = _epsilon_for(curator, recipe, wanted)
    if epsilon is None:
        st.caption(_("The error of this recipe is not known in advance, or no loss brings that."))
    elif epsilon > epsilon_view.left(curator):
        st.caption(
            _("For ±{rows} rows you need epsilon {epsilon}, more than is left.").format(
                rows=number(wanted), epsilon=f"{epsilon:g}"
            )
        )
    else:
        st.caption(
            _("For ±{rows} rows you need epsilon {epsilon}.").format(
                rows=number(wanted), epsilon=f"{epsilon:g}"
            )
        )
        st.button(
            _("Use this epsilon: {epsilon}").format(epsilon=f"{epsilon:g}"),
            key="wanted-use",
            on_click=box.put,
            args=(epsilon,),
        )
