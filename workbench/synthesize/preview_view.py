"""Preview of a release before it is paid, with its price, its error and remedies."""

import math

import numpy as np
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpcore.accounting.ledger import Account
from dpcore.accounting.loss import AnyLoss
from dpcore.curator import Curator
from dpcore.synthesis import Recipe, queryable_columns
from dpcore.synthesis.base import ExpectedError
from dpcore.synthesis.relations import RelationTrial
from dpcore.tables.counts import half_width
from workbench import session
from workbench.language.budget import (
    amount_words,
    charged_units,
    share_percent,
    spent_epsilon,
)
from workbench.language.glossary import GLOSSARY
from workbench.language.labels import cell_labels
from workbench.language.messages import _, capital, join_with_commas, ngettext
from workbench.language.wording import escape_markdown, list_names, number, percent
from workbench.report import charts
from workbench.synthesize import pay_view, relations_view
from workbench.synthesize.charts import cells_with_errors, expected_errors
from workbench.synthesize.preview import Preview, approximate_rows
from workbench.synthesize.recipe_form import RecipeForm
from workbench.ui import epsilon_view, releases, widgets

DROWNED_ERROR = 1.0  # error relative to a mean cell from which noise drowns counts
ROUGH_ERROR = 0.3  # error relative to a mean cell from which noise blurs counts
GROUP_ERROR = 0.2  # largest error of a clear group, relative to its rows
MAX_TABLES_SHOWN = 20  # tables in the chart of expected errors
WANTED_FIELD = session.Widget[float]("wanted")


def show(
    curator: Curator,
    form: type[RecipeForm],
    recipe: Recipe,
    loss: AnyLoss,
    part: dict[str, str],
    epsilon_field: session.Widget[float],
    offer_place: DeltaGenerator,
) -> None:
    """Show the preview; put the price and the button into the container `offer_place`.

    Buttons may change the typed `epsilon_field`.
    """
    st.header(
        _("What you would get"),
        help=_(
            "Computed from the declared facts, and from the number of rows rounded "
            "to one digit. Only you see that number. Nothing is charged."
        ),
    )
    # the number of rows in a part is not known before it is released
    rows = 0 if part else approximate_rows(curator)
    quote = curator.quote(recipe, loss, part=part or None, table_rows=rows)
    preview = Preview(
        curator=curator,
        form=form,
        recipe=recipe,
        loss=loss,
        part=part,
        rows=rows,
        quote=quote,
        epsilon_field=epsilon_field,
    )
    _show_metrics(preview)
    trial = form.trial(recipe, curator, preview.spent_loss, rows) if rows else None
    if quote.expected and rows:
        _warn_if_noisy(preview)
    if trial is not None:
        relations_view.show(trial, _easier_trials(preview, trial))
    with offer_place:
        pay_view.offer(preview)
    if quote.expected:
        _show_expected_errors(preview)
    for sentence in form.expectation_sentences(
        recipe, curator, preview.spent_loss, rows
    ):
        st.caption(sentence)
    if quote.expected:
        _ask_wanted_error(preview)


def _easier_trials(preview: Preview, trial: RelationTrial) -> dict[str, RelationTrial]:
    """Return trials with half of the columns, and with twice the epsilon, by title."""
    curator = preview.curator
    half = len(trial.sizes) // 2
    twice = 2 * (preview.epsilon_field.current_value() or 0.0)
    trials = {}
    if half > 1:
        trials[
            _("With only the {half} columns that have the fewest cells").format(
                half=half
            )
        ] = trial.keep_narrowest(half)
    spent = curator.rule.convert(epsilon_view.loss_of_epsilon(curator, twice))
    if louder := preview.form.trial(preview.recipe, curator, spent, preview.rows):
        units = charged_units(twice, curator.account)
        trials[_("With {cost}").format(cost=amount_words(units, curator.account))] = (
            louder
        )
    return trials


def _show_metrics(preview: Preview) -> None:
    account = preview.curator.account
    quote = preview.quote
    rows = preview.rows
    cost, after, error = st.columns(3)
    cost.metric(
        capital("cost"),
        share_percent(quote.charge, account, before=quote.charged_before),
        help=_(GLOSSARY["charge"]),
    )
    cost.caption(_epsilon_of(quote.charge, account))
    after.metric(
        _("Left after"),
        share_percent(max(0, quote.remaining_units_after), account),
        help=_(GLOSSARY["budget"]),
    )
    width = (
        preview.form.mean_error_width(
            preview.recipe, preview.curator, preview.spent_loss, rows
        )
        if rows
        else None
    )
    if width is not None:
        error.metric(capital("error (95 %)"), f"± {number(width)}")
    elif quote.expected:
        worst = preview.worst_table
        error.metric(capital("error (95 %)"), f"± {number(worst.half_width())}")
        if worst.clique:
            error.caption(" × ".join(map(escape_markdown, worst.clique)))


def _epsilon_of(units: int, account: Account) -> str:
    """Return words for ledger units, expressed as the epsilon of one release."""
    return _("epsilon {epsilon}").format(epsilon=number(spent_epsilon(units, account)))


def _warn_if_noisy(preview: Preview) -> None:
    """Compare the error with a mean cell; if it is large, warn and offer remedies."""
    curator = preview.curator
    worst = preview.worst_table
    mean = preview.mean_cell(worst)
    half = worst.half_width()
    words = (
        _(
            "± {half} rows. An average cell of {table} has {mean} rows, of about {rows} "
            "in all."
        )
        if worst.clique
        else _("± {half} rows, of about {rows} in all.")
    )
    facts = words.format(
        half=number(half),
        mean=number(mean),
        rows=number(preview.rows),
        table=" × ".join(map(escape_markdown, worst.clique)),
    )
    if half < ROUGH_ERROR * mean:
        st.caption(
            f"{facts} {_describe_smallest_group(half)}" if worst.clique else facts
        )
        return
    if half < DROWNED_ERROR * mean:
        st.info(
            _("**Blurred:** an average count is off by about {share}. {facts}").format(
                share=percent(half / mean), facts=facts
            ),
            icon=":material/blur_on:",
        )
        return
    st.warning(
        _("**Too noisy to use.** {facts} Nothing is charged yet.").format(facts=facts),
        icon=":material/warning:",
    )
    with st.container(horizontal=True):
        for label, take in preview.form.remedies(preview.recipe):
            st.button(label, on_click=take)
        epsilon = preview.epsilon_for(ROUGH_ERROR * mean)
        if epsilon is not None and epsilon <= epsilon_view.remaining_epsilon(curator):
            _offer_epsilon(preview, epsilon, key="remedy-epsilon")
        _offer_to_leave_out(preview)
    st.caption(_("Fewer columns or wider steps also help."))


def _offer_to_leave_out(preview: Preview) -> None:
    """Offer to leave out columns that noise hides, if each is counted by itself."""
    errors = {
        table.clique: table.half_width() / preview.mean_cell(table)
        for table in preview.quote.expected
    }
    if any(len(clique) != 1 for clique in errors):
        return
    lost = [name for (name,), error in errors.items() if error >= DROWNED_ERROR]
    kept = [name for (name,) in errors if name not in lost]
    if kept:
        label = capital("leave out {columns}").format(columns=list_names(lost))
        st.button(
            label,
            on_click=preview.form.fill_in,
            args=(kept, session.table_key(preview.curator)),
        )


def _describe_smallest_group(half: float) -> str:
    """Return a sentence on the smallest group whose error is at most a fifth."""
    group = math.ceil(half / GROUP_ERROR)
    return _(
        "A group of {rows:,} rows would be reported as {low:,} to {high:,} rows. "
        "Smaller groups would be less exact."
    ).format(rows=group, low=round(group - half), high=round(group + half))


def _offer_epsilon(preview: Preview, epsilon: float, *, key: str) -> None:
    account = preview.curator.account
    st.button(
        _("Spend {cost}").format(
            cost=amount_words(charged_units(epsilon, account), account)
        ),
        key=key,
        on_click=preview.epsilon_field.put,
        args=(epsilon,),
    )


def _show_expected_errors(preview: Preview) -> None:
    tables = preview.quote.expected
    repeats = preview.quote.affordable_repeats
    if preview.single_column is not None:
        _draw_cells(preview, preview.single_column, tables[0])
    elif any(table.clique for table in tables):
        lines = sorted(_group_tables(tables), key=lambda line: -line[1] * line[2])
        widgets.show_chart(
            expected_errors(lines[:MAX_TABLES_SHOWN], preview.rows), key="expected"
        )
        if len(lines) > MAX_TABLES_SHOWN:
            st.caption(
                _("The first {shown} of {all} are shown.").format(
                    shown=MAX_TABLES_SHOWN, all=len(lines)
                )
            )
    noisy = [table for table in tables if table.variance]
    # Every table implies a number of rows. If the tables are made to agree, the most
    # precise one decides; otherwise the number is their inverse-variance mean.
    if noisy:
        variances = [table.cells * table.variance for table in noisy]
        variance = (
            min(variances)
            if noisy[0].pooled
            else 1 / sum(1 / each_variance for each_variance in variances)
        )
        st.caption(
            _("The number of rows would be reported within ± {half}.").format(
                half=number(half_width(variance, noisy[0].noise, pooled=len(noisy) > 1))
            ),
        )
    st.caption(
        ngettext(
            "The budget allows one such release.",
            "The budget allows {number:,} such releases.",
            repeats,
        )
    )


def _group_tables(tables: tuple[ExpectedError, ...]) -> list[tuple[str, int, float]]:
    """Return (names, cells, half-width), with similar tables in one entry.

    Tables of one size and error share a line.
    """
    names: dict[tuple[int, float], list[str]] = {}
    for table in tables:
        name = " × ".join(table.clique) or _("number of rows")
        names.setdefault((table.cells, table.half_width()), []).append(name)
    return [
        (join_with_commas(alike), cells, half) for (cells, half), alike in names.items()
    ]


def _draw_cells(preview: Preview, name: str, table: ExpectedError) -> None:
    """Draw a column's cells with their error, shaped as an earlier release or flat."""
    column = preview.curator.schema.column(name)
    part = next(iter(preview.part.items()), None)
    for line in releases.list_releases(preview.curator):
        release = preview.curator.release(line["request_id"])
        if release.part == part and name in queryable_columns(release):
            caption = _(
                "The bars show the earlier release of {when}, which is public. The "
                "band shows the error."
            ).format(when=line["when"])
            shape = release.answer((name,)).values
            break
    else:
        caption = _(
            "The distribution is not known yet, so all cells are drawn equally "
            "high. The band shows the error."
        )
        shape = np.full(column.size, preview.mean_cell(table))
    labels = charts.fold_labels(cell_labels(column))
    cells = charts.fold_table(np.ones(column.size))[0]
    # A bar joins several cells, so its error grows with the root of their number.
    half = table.half_width() * math.sqrt(cells)
    widgets.show_chart(
        cells_with_errors(labels, charts.fold_table(shape), half, column=name),
        key="expected",
    )
    st.caption(caption)


def _ask_wanted_error(preview: Preview) -> None:
    """Ask for an acceptable error, and choose the epsilon that achieves it."""
    wanted = st.number_input(
        _("Or type the error you can accept (rows in a cell)")
        if any(table.clique for table in preview.quote.expected)
        else _("Or type the error you can accept (number of rows)"),
        min_value=0.0,
        value=None,
        step=10.0,
        format="%g",
        key=WANTED_FIELD.key,
        on_change=_choose_wanted_error,
        args=(preview,),
        persist_state="session",
    )
    if not wanted:
        return
    epsilon = preview.epsilon_for(wanted)
    if epsilon is None:
        st.caption(
            _(
                "The error of this kind of release is not known in advance, or no "
                "budget is large enough for it."
            )
        )
        return
    account = preview.curator.account
    sentence = _(
        "An error of at most ±{rows} rows in every cell costs {cost}; {left} of the "
        "budget remains."
    )
    st.caption(
        sentence.format(
            rows=number(wanted),
            cost=amount_words(charged_units(epsilon, account), account),
            left=share_percent(preview.quote.balance.remaining_units, account),
        )
    )
    is_affordable = epsilon <= epsilon_view.remaining_epsilon(preview.curator)
    if is_affordable and preview.epsilon_field.current_value() != epsilon:
        _offer_epsilon(preview, epsilon, key="wanted-use")


def _choose_wanted_error(preview: Preview) -> None:
    """Choose the epsilon that achieves the typed error, if the budget allows it."""
    wanted = WANTED_FIELD.current_value()
    epsilon = preview.epsilon_for(wanted) if wanted else None
    if epsilon and epsilon <= epsilon_view.remaining_epsilon(preview.curator):
        preview.epsilon_field.put(epsilon)
