"""Privacy Workbench: page set-up and the list of pages."""

import streamlit as st

from workbench.ui import sign_in_view, unexpected, widgets
from workbench.ui.language import _

unexpected.install()
st.set_page_config(page_title=_("Privacy Workbench"), page_icon="🔒", layout="wide")
sign_in_view.let_in()

pages = {
    _("Prepare"): [
        st.Page("pages/upload.py", title=_("Data"), icon=":material/upload_file:", default=True),
        st.Page("pages/audit.py", title=_("Audit"), icon=":material/policy:"),
    ],
    _("Share safely"): [
        st.Page("pages/anonymize.py", title=_("Anonymize"), icon=":material/blur_on:"),
        st.Page("pages/synthesize.py", title=_("Synthesize"), icon=":material/bar_chart:"),
        st.Page("pages/local_dp.py", title=_("Local answers"), icon=":material/how_to_vote:"),
        st.Page("pages/links.py", title=_("Links"), icon=":material/link:"),
    ],
    _("Judge"): [
        st.Page("pages/evaluate.py", title=_("Evaluate"), icon=":material/balance:"),
        st.Page("pages/ledger.py", title=_("Ledger"), icon=":material/receipt_long:"),
    ],
    _("Learn"): [st.Page("pages/learn.py", title=_("Learn"), icon=":material/school:")],
}

page = st.navigation(pages)
widgets.header()
page.run()
