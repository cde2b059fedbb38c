"""The script of every page: page set-up, and the list of pages.

`app.py` is what starts it.
"""

from pathlib import Path
from typing import Any

import streamlit as st

from workbench import session
from workbench.language.messages import _
from workbench.ui import address, sign_in_view, unexpected, widgets

unexpected.install()
st.set_page_config(page_title=_("Privacy Workbench"), page_icon="🔒", layout="wide")
st.logo(Path(__file__).parent / "workbench" / "ui" / "name.svg", size="large")
sign_in_view.choose_language()
who = sign_in_view.let_in()
FOR_ANALYSTS = (
    "pages/upload.py",
    "pages/synthesize.py",
    "pages/links.py",
    "pages/learn.py",
)


def page_of(path: str, title: str, icon: str, **options: Any) -> Any:
    """Return a page of the navigation.

    Analysts see the few that open no data and spend nothing.
    """
    shown = who.role == "steward" or path in FOR_ANALYSTS
    options |= {
        "title": title,
        "icon": icon,
        "visibility": "visible" if shown else "hidden",
    }
    return st.Page(path, **options)


pages = {
    _("Prepare"): [
        page_of("pages/upload.py", _("Data"), ":material/upload_file:", default=True),
        page_of("pages/audit.py", _("Audit"), ":material/policy:"),
    ],
    _("Share safely"): [
        page_of("pages/anonymize.py", _("Anonymize"), ":material/blur_on:"),
        page_of("pages/synthesize.py", _("Synthesize"), ":material/bar_chart:"),
        page_of("pages/local_dp.py", _("Local answers"), ":material/how_to_vote:"),
        page_of("pages/links.py", _("Links"), ":material/link:"),
    ],
    _("For the record"): [
        page_of("pages/evaluate.py", _("Evaluate"), ":material/balance:"),
        page_of("pages/ledger.py", _("Ledger"), ":material/receipt_long:"),
        page_of("pages/codebook.py", _("Codebook"), ":material/menu_book:"),
    ],
    _("Learn"): [page_of("pages/learn.py", _("Learn"), ":material/school:")],
}

page = st.navigation(pages)
st.set_page_config(page_title=f"{page.title} · {_('Privacy Workbench')}")
session.session().page = page.url_path
address.follow(shows_release=page.url_path == "synthesize")
widgets.legible()
widgets.header(declaring=page.url_path in ("", "audit"))
if page.visibility == "visible":
    page.run()
else:
    sign_in_view.for_stewards(page.title)
