"""Form to build a hierarchy by a rule and to look at its groups before use."""

import streamlit as st

from dpcore.anonymization.hierarchies.hierarchy import Hierarchy
from workbench.anonymize import rules
from workbench.anonymize.state import AnonymizeState
from workbench.language.messages import _, translate_table
from workbench.ui import widgets

MAX_VALUES_SHOWN = 200  # values that a person can put into an order; more keep theirs


def ask_rule(page_state: AnonymizeState, name: str) -> None:
    """Ask for a rule for a column, show its groups, and offer to use it."""
    own = page_state.table_values(name)
    values = [value for value in page_state.hierarchies[name].values if value in own]
    fitting = rules.fitting_rules(values)
    if not fitting:
        return
    key = f"rule-{name}-{page_state.version}"
    rule = st.segmented_control(
        _("Build the levels by a rule"),
        fitting,
        default=None,
        format_func=translate_table(rules.RULE_TITLES).__getitem__,
        key=key,
    )
    if rule is None:
        return
    with widgets.catch_and_show_errors():
        hierarchy = RULE_FORMS[rule](values, key)
        st.dataframe(
            rules.describe_levels(hierarchy),
            hide_index=True,
            key=f"{key}-groups",
            alt=_("Groups of values by these levels"),
        )
        if st.button(_("Use these levels"), key=f"{key}-use", icon=":material/check:"):
            page_state.replace_hierarchy(name, hierarchy)
            st.rerun()


def _ask_intervals(values: list[str], key: str) -> Hierarchy:
    left, begin, middle, right = st.columns([3, 2, 2, 2], vertical_alignment="bottom")
    start = begin.number_input(
        _("First interval starts at"), value=0.0, format="%g", key=f"{key}-start"
    )
    widths = left.text_input(
        _("Widths of the intervals, each a multiple of the previous one"),
        "5, 10, 20",
        key=f"{key}-widths",
    )
    low = middle.number_input(
        _("One group below this number"), value=None, key=f"{key}-low"
    )
    high = right.number_input(
        _("One group from this number up"), value=None, key=f"{key}-high"
    )
    return rules.make_intervals(values, widths, low, high, start=start)


def _ask_masking(values: list[str], key: str) -> Hierarchy:
    longest = max(map(len, values))
    masked = st.multiselect(
        _(rules.RULE_TITLES["masking"]),
        list(range(1, max(2, longest))),
        list(range(1, max(2, longest)))[:9],
        key=f"{key}-masked",
    )
    return rules.make_masks(values, masked)


def _ask_order(values: list[str], key: str) -> Hierarchy:
    left, right = st.columns([2, 3])
    sizes = left.text_input(
        _("Values per group, one number for each level"), "2, 4, 8", key=f"{key}-sizes"
    )
    ordered = ""
    if len(values) <= MAX_VALUES_SHOWN:
        ordered = right.text_area(
            _("Values in their order, one per line"),
            "\n".join(values),
            key=f"{key}-order",
            height=160,
        )
    return rules.join_neighbors(values, ordered, sizes)


def _ask_dates(values: list[str], key: str) -> Hierarchy:
    periods = widgets.ask_by_title(
        st.multiselect,
        _(rules.RULE_TITLES["dates"]),
        translate_table(rules.PERIOD_TITLES),
        list(rules.PERIOD_TITLES),
        key=f"{key}-periods",
    )
    return rules.make_periods(values, periods)


RULE_FORMS = {
    "intervals": _ask_intervals,
    "masking": _ask_masking,
    "order": _ask_order,
    "dates": _ask_dates,
}
"""What each of `rules.RULES` asks."""
