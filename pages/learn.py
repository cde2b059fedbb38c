"""Learn: the properties of differential privacy, live. It touches no private data and no ledger."""

import streamlit as st

from workbench import session
from workbench.learn import book_view, lessons, view
from workbench.learn.book_view import NOTES
from workbench.ui import file_view
from workbench.ui.files import file_name
from workbench.ui.language import _

session.session()  # by way of navigation.py, as every page
st.title(_("What privacy loss means, in ten pictures"))
st.write(NOTES["page"])
name = file_name(_("Learn"), "lessons", "html")
file_view.download(_("Download as one HTML file"), lessons.printed, name, icon="print")
for key in lessons.LESSONS:
    view.lesson(key)
with st.expander(_("A walk: one company pays once, another asks by link"), key="open-walk"):
    view.walk()
with st.expander(_("The figures of the book, measured anew"), key="open-book"):
    if st.toggle(_("Show"), key="book-figures"):
        book_view.show()
