"""Tables page: make exact tables of counts; small ones are hidden, or all are rounded.

There is no epsilon here.
"""

import streamlit as st

from workbench.language.messages import _
from workbench.tables import view
from workbench.ui import data_sets_view, widgets

st.title(_("Exact table"))
curator = data_sets_view.need_file()
page_state = view.tables_state()
st.badge(_("syntactic, no epsilon"), color="gray", icon=":material/blur_on:")
st.caption(
    _(
        "Here you count people in groups, without noise. Small counts are hidden, and "
        "other counts that would give them away. Or all counts are rounded."
    )
)
left, right = st.columns([2, 3], gap="large")
with left:
    axes = view.choose_columns(curator)
    rule = view.choose_rule()
    base = view.choose_rounding(rule)
    button = st.container()
    chosen = (view.choose_groups(curator, page_state, axes), rule, base)
    view.name_earlier_tables(curator, base)
    unrelated = view.confirm_unrelated_columns(curator)
    plans = view.ask_plans()
    with button:
        is_pressed = view.show_make_button(curator, page_state, chosen)
        view.show_list(page_state, chosen)
        if is_pressed or plans:
            view.make_tables(curator, page_state, chosen, plans, unrelated)
with right:
    widgets.show_notice("tables")
    view.offer_miscoded(curator, page_state)
    view.show_result(curator, page_state, chosen)
    view.show_published_tables(curator, page_state)
