"""Synthesize: choose what to release, see its error and cost first, pay once, read the result."""

import streamlit as st

from dpcore.accounting.loss import UNIT
from dpcore.errors import DpcoreError
from workbench import release_view, releasing, state, widgets
from workbench.charts import expected
from workbench.wording import GLOSSARY, _, amount, number, plain, rule_unit

held = state.session()
if held.shown is None:
    st.title(_("Release something"))
curator = widgets.need_curator(
    _(
        "Here you release a histogram, a few marginals or a synthetic table: first you see the expected "
        "error and the cost, then you decide."
    )
)
table = curator.account.dataset[:12]  # each data set has columns of its own
names = list(curator.schema.domain.names)


def choose_kind() -> str:
    chosen = state.widget("kind", "histogram")
    for column, kind in zip(st.columns(3), releasing.KINDS, strict=True):
        with column.container(border=True, height="stretch"):
            st.button(
                kind.title,
                icon=kind.icon,
                key=f"kind-{kind.key}",
                type="secondary" if kind.key == chosen else "tertiary",
                on_click=state.set_widget,
                args=("kind", kind.key),
                width="stretch",
            )
            st.caption(("✓ " if kind.key == chosen else "") + kind.text)
    return chosen


def choose_recipe(kind: str):
    if kind == "histogram":
        column = st.selectbox(_("Column"), names, key=f"histogram-column-{table}", persist_state="session")
        return releasing.histogram_recipe(column)
    if kind == "marginals":
        sets = st.multiselect(
            _("Columns that should be counted together"),
            names,
            key=f"marginal-columns-{table}",
            persist_state="session",
        )
        ways = st.radio(
            _("Which tables"),
            ["one", "pairs", "all"],
            index=1,
            format_func={
                "one": _("each column alone"),
                "pairs": _("every pair"),
                "all": _("all together, one table"),
            }.get,
            key="marginal-ways",
            persist_state="session",
        )
        return releasing.marginals_recipe(releasing.cliques(sets, ways))
    columns = st.multiselect(
        _("Columns of the table"), names, names[:3], key=f"table-columns-{table}", persist_state="session"
    )
    together = st.radio(
        _("Relations between columns"),
        [True, False],
        format_func=lambda value: (
            _("keep all of them (few columns only)") if value else _("drop them: independent columns")
        ),
        key="table-together",
        persist_state="session",
    )
    return releasing.table_recipe(columns, together=together)


def preview(recipe, loss) -> None:
    st.subheader(
        _("What you would get"), help=_("Computed from public facts alone: the data are not touched.")
    )
    quote = releasing.quote(curator, recipe, loss)
    if isinstance(quote, Exception):
        widgets.error_box(quote)
        return
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
        error.metric(_("Off by, rows"), f"± {number(worst)}", help=_("A cell, at most, in 95 of 100 cases."))
    buy(recipe, loss, quote)
    if quote.expected:
        expectation(recipe, quote)


def buy(recipe, loss, quote) -> None:
    cost = amount(quote.charge, curator.account)
    stored = curator.stored(recipe, loss)
    label = _("Draw again for {cost}") if stored else _("Release for {cost}")
    with st.container(horizontal=True):
        if stored:
            st.button(_("Show the stored release, free"), on_click=releasing.show, args=(stored,))
        if st.button(label.format(cost=cost), type="primary", disabled=not quote.affordable, key="release"):
            release_view.confirm(curator, recipe, loss, quote)
    if not quote.affordable:
        st.caption(
            _("This costs more than the {left} that is left. Choose less.").format(
                left=amount(quote.balance.left, curator.account)
            )
        )


def expectation(recipe, quote) -> None:
    tables = [(" × ".join(each.clique) or _("number of rows"), each.half_width()) for each in quote.expected]
    widgets.show_chart(expected(tables[:12]), key="expected")
    st.caption(
        _("{cells:,} cells in all. The budget allows {repeats} such releases.").format(
            cells=sum(each.cells for each in quote.expected), repeats=quote.repeats
        )
    )
    wanted_error(recipe)


def wanted_error(recipe) -> None:
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
            loss = curator.loss_for(recipe, wanted, pure=curator.rule == "basic")
            st.caption(
                _("For ±{rows} rows you need {loss}.").format(rows=number(wanted), loss=plain(str(loss)))
            )
        except DpcoreError as error:
            widgets.error_box(error)


def plan() -> None:
    kind = choose_kind()
    left, right = st.columns([2, 3], gap="large")
    with left:
        recipe = choose_recipe(kind)
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
    release_view.follow_job()
elif held.shown is not None:
    release_view.show(curator, held.shown)
else:
    plan()
release_view.earlier(curator)
