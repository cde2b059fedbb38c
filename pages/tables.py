"""Tables page: make an exact table of counts in which small counts are hidden.

There is no epsilon here.
"""

import streamlit as st

from workbench.language.messages import _
from workbench.tables import view
from workbench.ui import data_sets_view, widgets

st.title(_("Exact table"))
curator = data_sets_view.need_curator()
current = view.state_of_tab()
st.badge(_("syntactic, no epsilon"), color="gray", icon=":material/blur_on:")
left, right = st.columns([2, 3], gap="large")
with left:
    columns = view.choose_columns(curator, current)
    rule = view.choose_rule()
    view.earlier_tables(curator)
    view.make_button(curator, current, columns, rule)
with right:
    widgets.show_notice("tables")
    view.show(curator, current, columns, rule)
