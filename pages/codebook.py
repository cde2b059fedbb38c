"""Codebook: what was declared to be publicly known of a data set."""

import streamlit as st

from workbench.language.messages import _
from workbench.records import codebook_view
from workbench.ui import widgets

st.title(_("What is publicly known"))
codebook_view.show(widgets.need_data_set())
