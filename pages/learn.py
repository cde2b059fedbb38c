"""Learn: the properties of differential privacy, live. It touches no private data and no ledger."""

import streamlit as st

from workbench import session
from workbench.learn import book_view, view
from workbench.ui.language import _

session.session()  # by way of app.py, as every page
st.title(_("What privacy loss means, in nine pictures"))
st.write(
    _(
        "Every figure is computed when you look at it, from formulas or from an invented census. "
        "Nothing here "
        "reads a table of yours, and nothing is charged."
    )
)
for lesson in view.LESSONS:
    lesson()
with st.expander(_("The figures of the book, measured anew"), key="open-book"):
    if st.toggle(_("Show them"), key="book-figures"):
        book_view.show()
