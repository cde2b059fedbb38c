"""Learn: the properties of differential privacy, live. It touches no private data and no ledger."""

import streamlit as st

from workbench import session
from workbench.learn import book_view, lessons, view
from workbench.ui import file_view
from workbench.ui.files import file_name
from workbench.ui.language import _

session.session()  # by way of app.py, as every page
st.title(_("What privacy loss means, in nine pictures"))
st.write(
    _(
        "Every figure is computed from formulas or from an invented census, and each lesson ends with a "
        "question. Nothing here reads a table of yours, and nothing is charged."
    )
)
name = file_name(_("Learn"), _("lessons"), "html")
file_view.download(_("All lessons as one page to print"), lessons.printed, name, icon="print")
for key in lessons.LESSONS:
    view.lesson(key)
with st.expander(_("The figures of the book, measured anew"), key="open-book"):
    if st.toggle(_("Show them"), key="book-figures"):
        book_view.show()
