"""Form of the requirements that a person sets for the anonymized table."""

import functools
from collections.abc import Callable, Sequence
from typing import TypeVar

import streamlit as st

from dpcore.anonymization.coding import Coding
from dpcore.anonymization.fulldomain.metrics import (
    AverageClassSize,
    Discernibility,
    InformationLoss,
    Metric,
    NonUniformEntropy,
)
from dpcore.anonymization.methods import CellSuppression
from dpcore.anonymization.models import (
    AverageRisk,
    DeltaPresence,
    KAnonymity,
    KMap,
    PrivacyModel,
)
from dpcore.anonymization.plan import Plan
from dpcore.curator import Curator
from workbench.anonymize import plans
from workbench.anonymize.plans import Demands
from workbench.anonymize.secret_form import DistinctForm, SecretForm
from workbench.anonymize.state import AnonymizeState
from workbench.language.glossary import GLOSSARY
from workbench.language.messages import N_, _, capital, name_and_text, translate_table
from workbench.language.wording import escape_markdown, limit_words
from workbench.session import Widget
from workbench.ui import widgets

Number = TypeVar("Number", int, float)
K_FIELD = Widget[int]("anonymize-k")
MAX_K = 100_000
LIMIT_FIELD = Widget[float]("anonymize-limit")
METHOD_FIELD = Widget[str]("anonymize-method")
SECRET_FIELD = Widget[str]("anonymize-secret")
SECRET_COLUMNS_FIELD = Widget[list[str]]("anonymize-secret-columns")
NO_CHOICE = "none"
METRIC_WORDS = {
    "loss": N_("information loss: how much of the column's range each cell covers"),
    "arithmetic loss": N_("information loss, arithmetic mean over the columns"),
    "entropy": N_("bits lost (non-uniform entropy)"),
    "discernibility": N_("discernibility: sum of squared group sizes"),
    "class size": N_("average group size"),
}
SUPPRESSED_WORDS = {
    "checked": N_("published as one group if it meets all demands, otherwise left out"),
    "dropped": N_("left out"),
    "blanked": N_("published without the values that should stay unknown"),
    "kept": N_(
        "published with all values, even if there are few such rows (as in ARX)"
    ),
}


def ask_demands(curator: Curator, page_state: AnonymizeState) -> Demands:
    """Show fields for all requirements; return the values."""
    label = _("Everybody is in a group of at least … (k)")
    help = _(GLOSSARY["equivalence class"])
    k = _ask_number(label, (2, MAX_K, 5), K_FIELD.key, help)
    limit = st.select_slider(
        capital("suppressed, at most"),
        plans.SUPPRESSION_LIMITS,
        0.02,
        format_func=limit_words,
        key=LIMIT_FIELD.key,
        help=_(GLOSSARY["suppression"]),
        persist_state="session",
    )
    models = _ask_secrets(page_state)
    with st.expander(_("For experts"), key="anonymize-more"):
        label = capital("suppressed rows")
        key = "anonymize-suppressed"
        suppressed = widgets.ask_by_title(
            st.selectbox,
            label,
            translate_table(SUPPRESSED_WORDS),
            key=key,
            persist_state="session",
        )
        household = _ask_household(curator, page_state)
        pseudonym, series = _ask_pseudonym(curator, page_state)
        coded, randomized = _ask_coding_and_randomizing(curator, page_state)
        metric = _ask_metric(page_state)
        average = _ask_average_risk()
        subset, presence = _ask_population(page_state)
    return Demands(
        k=k,
        limit=limit,
        models=(*models, *average, *presence),
        metric=metric,
        suppressed=suppressed,
        subset=subset,
        household=household,
        pseudonym=pseudonym,
        series=series,
        coded=coded,
        randomized=randomized,
    )


def require_different_values(columns: Sequence[str], minimum: int) -> None:
    """Set the form to require `minimum` different values of these columns per group."""
    SECRET_FIELD.put(DistinctForm.kind)
    chosen = SECRET_COLUMNS_FIELD.current_value() or []
    SECRET_COLUMNS_FIELD.put([*dict.fromkeys([*chosen, *columns])])
    Widget[int]("anonymize-l").put(minimum)


def ask_levels(page_state: AnonymizeState, method: str) -> dict[str, int] | None:
    """Ask for the columns' levels for cell suppression; None for other methods."""
    if method != CellSuppression.kind:
        return None
    with st.expander(
        _("Levels of the columns before single cells are suppressed"),
        key="anonymize-levels",
    ):
        return {
            name: st.number_input(
                escape_markdown(name),
                0,
                page_state.hierarchies[name].height,
                key=f"anonymize-level-{name}-{page_state.version}",
            )
            for name in page_state.quasi_identifiers
        }


def _ask_number(
    label: str,
    range_and_default: tuple[Number, Number, Number],
    key: str,
    help: str | None = None,
) -> Number:
    """Ask for a number.

    Args:
        range_and_default: the smallest, the largest, and the one at first.
    """
    number: Number = st.number_input(
        label, *range_and_default, key=key, help=help, persist_state="session"
    )
    return number


def _ask_columns(
    label: str, names: list[str], key: str, preselected: Sequence[str] = ()
) -> list[str]:
    """Show a field to choose any number of columns; return the chosen ones.

    Args:
        key: key of the widget, and of its help.
        preselected: those at first.
    """
    key, help = f"anonymize-{key}", translate_table(plans.MESSAGES).get(key)
    chosen = st.multiselect(
        label, names, preselected, key=key, help=help, persist_state="session"
    )
    return [name for name in chosen if name in names]


def _ask_column(label: str, names: list[str], key: str) -> str | None:
    """Show a field to choose one column; return it, or None.

    Args:
        key: key of the widget, and of its help.
    """
    help = translate_table(plans.MESSAGES).get(key)
    column = st.selectbox(
        label,
        names,
        index=None,
        key=f"anonymize-{key}",
        help=help,
        persist_state="session",
    )
    return column if column in names else None


def _ask_household(curator: Curator, page_state: AnonymizeState) -> str | None:
    """Ask for the column of households, if groups count households."""
    known = page_state.quasi_identifiers
    names = [
        name
        for name in page_state.roles
        if name not in (*known, curator.schema.unit.id_column)
    ]
    return _ask_column(
        _("Count households instead of people, by this column"), names, "household"
    )


def _ask_pseudonym(
    curator: Curator, page_state: AnonymizeState
) -> tuple[str | None, str]:
    """Ask for the column to replace by pseudonyms.

    Tables of one series have the same pseudonyms.
    """
    names = [
        n
        for n, role in page_state.roles.items()
        if role == "identifier" or n == curator.schema.unit.id_column
    ]
    column = _ask_column(_("Replace by pseudonyms"), names, "pseudonym")
    if column is None:
        return None, ""
    return column, st.text_input(
        _("Name of the series (its tables get the same pseudonyms)"),
        key="anonymize-series",
    )


def _ask_coding_and_randomizing(
    curator: Curator, page_state: AnonymizeState
) -> tuple[dict[str, Coding], dict[str, float]]:
    """Ask which columns are rounded and which are changed at random."""
    names = [
        name
        for name, role in page_state.roles.items()
        if role in ("sensitive", "insensitive")
    ]
    numbers = {column.name for column in curator.schema.columns if column.holds_numbers}
    coded = dict[str, Coding]()
    randomized = dict[str, float]()
    for name in _ask_columns(
        _("Columns to round or to change at random"), names, "coded"
    ):
        labels = (
            {"low": _("low"), "high": _("high"), "base": _("step")}
            if name in numbers
            else {}
        )
        *places, last = st.columns(len(labels) + 1)
        given = {
            part: place.number_input(
                name_and_text(escape_markdown(name), label),
                value=None,
                key=f"anonymize-{part}-{name}",
            )
            for place, (part, label) in zip(places, labels.items(), strict=True)
        }
        label = f"{name_and_text(escape_markdown(name), _('Change it at random'))} (%)"
        percent = last.number_input(
            label, 0.1, 100.0, value=None, key=f"anonymize-pram-{name}"
        )
        if percent is not None:
            randomized[name] = percent / 100
        if any(value is not None for value in given.values()):
            with widgets.catch_and_show_errors():
                coded[name] = Coding(**given)
    return coded, randomized


def _ask_secrets(page_state: AnonymizeState) -> tuple[PrivacyModel, ...]:
    """Ask for requirements on sensitive columns, for all or for single ones."""
    names = page_state.sensitive_columns
    kinds = SecretForm.kinds()
    if not names:
        return ()
    titles = {NO_CHOICE: _("none")} | {
        kind: _(form.title) for kind, form in kinds.items()
    }
    label = _("Requirement for what should stay unknown")
    kind = widgets.ask_by_title(
        st.selectbox, label, titles, key=SECRET_FIELD.key, persist_state="session"
    )
    if kind == NO_CHOICE:
        return ()
    left, right = st.columns(2)
    with left:
        columns = _ask_columns(capital("columns"), names, "secret-columns", names[:1])
    model_of = kinds[kind].choose(right, "")
    own = list[str]()
    if len(columns) > 1:
        own = _ask_columns(_("Columns with their own requirement"), columns, "own")
    models = [model_of(name) for name in columns if name not in own]
    return (*models, *map(_ask_model_of_column, own))


def _ask_model_of_column(column: str) -> PrivacyModel:
    """Ask for a demand on this column alone."""
    kinds = SecretForm.kinds()
    left, right = st.columns(2)
    titles = {kind: _(form.title) for kind, form in kinds.items()}
    key = f"anonymize-own-{column}"
    kind = widgets.ask_by_title(
        left.selectbox,
        escape_markdown(column),
        titles,
        key=key,
        persist_state="session",
    )
    return kinds[kind].choose(right, f"-{column}")(column)


def list_remedies(
    page_state: AnonymizeState, plan: Plan
) -> list[tuple[str, Callable[[], None]]]:
    """Return remedies for demands that cannot be met: labels with callbacks."""
    ways: list[tuple[str, Callable[[], None]]] = []
    limit = next(
        (limit for limit in plans.SUPPRESSION_LIMITS if limit > plan.limit), None
    )
    if limit is not None:
        label = name_and_text(capital("suppressed, at most"), limit_words(limit))
        ways.append((label, functools.partial(LIMIT_FIELD.put, limit)))
    k = max(
        (model.k for model in plan.models if isinstance(model, KAnonymity)), default=2
    )
    if k > 2:
        smaller = max(2, k // 2)
        ways.append(
            (
                _("Ask for k = {k}").format(k=smaller),
                functools.partial(K_FIELD.put, smaller),
            )
        )
    if SECRET_FIELD.current_value() not in (None, NO_CHOICE):
        ways.append(
            (
                _("Drop the requirement for what should stay unknown"),
                lambda: SECRET_FIELD.put(NO_CHOICE),
            )
        )
    return [] if page_state.loaded_plan is not None else ways


def _ask_metric(page_state: AnonymizeState) -> Metric:
    """Ask for the metric to minimize, and its weights per column."""
    kind = widgets.ask_by_title(
        st.selectbox,
        capital("what is minimized"),
        translate_table(METRIC_WORDS),
        key="anonymize-metric",
        persist_state="session",
    )
    if kind == "discernibility":
        return Discernibility()
    if kind == "class size":
        return AverageClassSize()
    label = _("Weights of columns that matter more (all others: 1)")
    heavy = _ask_columns(label, page_state.quasi_identifiers, "heavy")
    weights = {
        name: _ask_number(
            escape_markdown(name), (0.1, 100.0, 3.0), f"anonymize-weight-{name}"
        )
        for name in heavy
    }
    if kind == "entropy":
        return NonUniformEntropy(weights=weights)
    return InformationLoss(
        mean="arithmetic" if kind == "arithmetic loss" else "geometric", weights=weights
    )


def _ask_average_risk() -> tuple[PrivacyModel, ...]:
    """Ask for a bound of the average risk."""
    label = _("Average risk allowed, in percent (100: no limit)")
    help = _(plans.MESSAGES["average risk"])
    most = _ask_number(label, (0.1, 100.0, 100.0), "anonymize-average", help)
    return (AverageRisk(most=most / 100),) if most < 100 else ()


def _ask_population(
    page_state: AnonymizeState,
) -> tuple[str | None, tuple[PrivacyModel, ...]]:
    """Ask for the column that marks the published rows of a population.

    Demands on the population follow.
    """
    others = [name for name, role in page_state.roles.items() if role == "insensitive"]
    label = _(
        "The table is a population, and this column marks the rows to be published"
    )
    subset = _ask_column(label, others, "subset")
    if subset is None:
        return None, ()
    models: list[PrivacyModel] = []
    label = _("Minimum number of people in the population per group (k-map)")
    crowd = _ask_number(label, (1, 1000, 5), "anonymize-kmap")
    low, high = st.slider(
        _("Published share of the population in each group (delta-presence)"),
        0.0,
        1.0,
        (0.0, 1.0),
        key="anonymize-presence",
        persist_state="session",
    )
    if crowd > 1:
        models.append(KMap(k=crowd))
    if (low, high) != (0.0, 1.0):
        models.append(DeltaPresence(lowest=low, highest=high))
    return subset, tuple(models)
