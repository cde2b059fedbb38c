"""Learn page: interactive lessons on the properties of differential privacy.

It touches no private data and no ledger.
"""

import streamlit as st

from workbench import session
from workbench.language.messages import _
from workbench.learn import book_view, lessons, texts, view
from workbench.report.files import file_name
from workbench.ui import file_view, widgets

session.session()  # refuses a page that is run without workbench/navigation.py
st.title(_("What privacy means, in twelve pictures"))
st.write(
    _(
        "Every figure is computed from formulas or from an invented census, and each "
        "lesson ends with a question. Nothing here reads a table of yours, and "
        "nothing is charged."
    )
)
name = file_name(_("Learn"), "lessons", "html")
file_view.download(
    _("Download as one HTML file"), lessons.print_course, name, icon="print"
)
with widgets.fold(
    _("Where to find the topics of the textbooks"), key="open-texts"
) as is_open:
    if is_open:
        st.dataframe(
            texts.texts_table(),
            hide_index=True,
            key="texts-table",
            alt=_("Where to find the topics of the textbooks"),
        )
for key in lessons.LESSONS:
    view.show_lesson(key)
with st.expander(
    _("A walk-through: one company releases its data, another asks by link"),
    key="open-walk",
):
    view.show_walk()
with widgets.fold(_("The book's figures, measured again"), key="open-book") as is_open:
    if is_open:
        book_view.show()
