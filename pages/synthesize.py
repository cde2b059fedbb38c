"""Synthesize: choose what to release, see its error and cost first, pay once, read the result."""

import streamlit as st

from dpcore.accounting.loss import UNIT, AnyLoss
from dpcore.errors import DpcoreError
from dpcore.synthesis import Recipe
from dpcore.synthesis.quote import Quote
from workbench import session
from workbench.synthesize import form, learning, recipes, view
from workbench.synthesize.charts import expected
from workbench.ui import widgets
from workbench.ui.glossary import GLOSSARY
from workbench.ui.language import _
from workbench.ui.wording import amount, number, plain, rule_unit

held = session.session()
recipes.take_note()
if held.shown is None:
    st.title(_("Release something"))
curator = widgets.need_curator(
    _(
        "Here you release a histogram, a few marginals or a synthetic table: first you see the expected "
        "error and the cost, then you decide."
    )
)


def preview(recipe: Recipe, loss: AnyLoss) -> None:
    st.subheader(
        _("What you would get"), help=_("Computed from public facts alone: the data are not touched.")
    )
    quote = curator.quote(recipe, loss)
    unit = rule_unit(curator.account)
    cost, after, error = st.columns(3)
    cost.metric(_("Cost, {unit}").format(unit=unit), number(quote.charge / UNIT), help=GLOSSARY["charge"])
    after.metric(
        _("Left after, {unit}").format(unit=unit),
        number(max(0, quote.left_after) / UNIT),
        help=GLOSSARY["budget"],
    )
    worst = max((each.half_width() for each in quote.expected), default=None)
    if worst is not None:
        error.metric(
            _("Off by, rows"), f"± {number(worst)}", help=_("Each cell, at most, in 95 of 100 cases.")
        )
    buy(recipe, loss, quote)
    if quote.expected:
        expectation(recipe, quote)
    for sentence in learning.expectations(curator, recipe, curator.rule.spends(loss)):
        st.caption(sentence)


def buy(recipe: Recipe, loss: AnyLoss, quote: Quote) -> None:
    cost = amount(quote.charge, curator.account)
    stored = curator.stored(recipe, loss)
    label = _("Draw again for {cost}") if stored else _("Release for {cost}")
    with st.container(horizontal=True):
        if stored:
            st.button(_("Show the stored release, free"), on_click=recipes.show, args=(stored,))
        if st.button(label.format(cost=cost), type="primary", disabled=not quote.affordable, key="release"):
            view.confirm(curator, recipe, loss, quote)
    if quote.balance.left <= 0:
        st.caption(_("Nothing is left of the budget. What was released stays free to use."))
    elif not quote.affordable:
        st.caption(
            _("This costs more than the {left} that is left. Choose less.").format(
                left=amount(quote.balance.left, curator.account)
            )
        )


def expectation(recipe: Recipe, quote: Quote) -> None:
    tables = [(" × ".join(each.clique) or _("number of rows"), each.half_width()) for each in quote.expected]
    widgets.show_chart(expected(tables[:12]), key="expected")
    st.caption(
        _("{cells:,} cells in all. The budget allows {repeats} such releases.").format(
            cells=sum(each.cells for each in quote.expected), repeats=quote.repeats
        )
    )
    for sentence in recipes.size_words(curator, recipe):
        st.caption(sentence)
    wanted_error(recipe)


def wanted_error(recipe: Recipe) -> None:
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
    if wanted:
        try:
            loss = curator.loss_for(recipe, wanted, pure=curator.rule.pure)
            st.caption(
                _("For ±{rows} rows you need {loss}.").format(rows=number(wanted), loss=plain(str(loss)))
            )
        except DpcoreError as error:
            widgets.error_box(error)


def plan() -> None:
    kind = form.choose_kind()
    left, right = st.columns([2, 3], gap="large")
    with left:
        recipe = form.choose_recipe(curator, kind)
        largest = max(0.01, min(10.0, widgets.epsilon_left(curator)))
        epsilon = widgets.epsilon_picker(
            _("Share of the budget, epsilon"), key="loss", default=0.5, largest=largest
        )
        widgets.say_epsilon(epsilon)
    with right:
        if recipe is None:
            st.info(_("Choose at least one column."))
        else:
            try:
                preview(recipe, widgets.loss_of(curator, epsilon))
            except DpcoreError as error:
                widgets.error_box(error)


if held.job is not None and held.shown is None:
    view.follow_job()
elif held.shown is not None:
    view.show(curator, held.shown)
else:
    plan()
view.earlier(curator)
