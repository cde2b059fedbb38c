"""Codebook: what was declared to be publicly known of a data set."""

import streamlit as st

from workbench.language.messages import _
from workbench.records import codebook_view
from workbench.ui import data_sets_view

st.title(_("What is publicly known"))
codebook_view.show(data_sets_view.need_data_set())
