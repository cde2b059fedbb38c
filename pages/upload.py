"""Data: read a table, say who is protected and what is publicly known, set the budget,
open it.
"""

import streamlit as st

from workbench import session
from workbench.session import person
from workbench.ui import reading_view, widgets
from workbench.upload import (
    doors_view,
    draft_view,
    linked,
    linked_view,
    opening,
    ways_view,
)

tab = session.session()


is_steward = person.is_steward()
if is_steward:
    opening.take_table_from_page()
    linked.take_pair_from_page()
    opening.open_if_requested()
# Switch pages even if this is the wanted page, so that the header is redrawn with the
# new data set.
if (wanted := session.take_note(session.GoTo)) is not None:
    st.switch_page(session.page_script(wanted.page))
notice = tab.notices.get(opening.NOTICE)
if notice is not None:
    widgets.error_box(notice)
    reading_view.offer_to_read_again()
if tab.linked_draft is not None:
    linked_view.show(tab.linked_draft)
elif tab.draft is not None:
    draft_view.show(tab.draft)
elif (
    tab.data_set is not None
    and not session.own(session.TableChoice).is_open
    and notice is None
):
    ways_view.show(tab.data_set, steward=is_steward)
elif is_steward:
    doors_view.show()
else:
    ways_view.show_analyst_page()
