"""Links page: show a release to outsiders by a link, and list all links."""

import streamlit as st

from workbench import session
from workbench.language.messages import _
from workbench.records import link_form, links_view
from workbench.store.links.surveys import links_work
from workbench.ui import data_sets_view, widgets

st.title(_("Show it to somebody"))
data_set = data_sets_view.need_data_set()
if not links_work.is_set():
    st.info(
        _(
            "Links do not work: this app was started without the part of the server "
            "that serves them."
        )
    )
widgets.show_notice("links")
if (made := session.own(link_form.LinksState).new_link) is not None:
    links_view.show_new_link(*made)
with widgets.catch_and_show_errors():
    mine = session.ledger().is_mine(data_set.id)
    content = link_form.choose_content(data_set) if mine else None
    if content is not None:
        left, right = st.columns([2, 3], gap="large")
        seen = right.container(height=links_view.PREVIEW_HEIGHT, border=False)
        with left:
            draft, is_titled = link_form.ask_for_draft(data_set, content)
            link_form.show_make_button(data_set, content, draft, is_titled=is_titled)
    # The links are listed before the preview, which takes a while and would move these
    # buttons.
    links_view.list_links(data_set, is_mine=mine)
    if content is not None:
        with seen:
            links_view.preview(content, draft)
