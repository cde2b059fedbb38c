"""The script of every page: page set-up, and the list of pages.

`app.py` starts it. It is no module to import: Streamlit runs it for every page.
"""

from pathlib import Path
from typing import Any

import streamlit as st

from workbench import session
from workbench.language.messages import _
from workbench.ui import address, header_view, sign_in_view, unexpected

unexpected.install()
st.set_page_config(page_title=_("Privacy Workbench"), page_icon="🔒", layout="wide")
st.logo(Path(__file__).parent / "ui" / "name.svg", size="large")
sign_in_view.choose_language()
signed_in_person = sign_in_view.require_person()
PAGES_FOR_ANALYSTS = ("upload", "synthesize", "links", "learn")


def page_of(name: str, title: str, icon: str, **options: Any) -> Any:
    """Return the entry of `pages/<name>.py` in the navigation.

    Analysts see the few that open no data and spend nothing.
    """
    shown = signed_in_person.role == "steward" or name in PAGES_FOR_ANALYSTS
    options |= {
        "title": title,
        "icon": icon,
        "visibility": "visible" if shown else "hidden",
    }
    return st.Page(session.page_script(name), **options)


pages = {
    _("Prepare"): [
        page_of("upload", _("Data"), ":material/upload_file:", default=True),
        page_of("audit", _("Audit"), ":material/policy:"),
    ],
    _("Share safely"): [
        page_of("anonymize", _("Anonymize"), ":material/blur_on:"),
        page_of("tables", _("Tables"), ":material/table:"),
        page_of("synthesize", _("Synthesize"), ":material/bar_chart:"),
        page_of("local_dp", _("Local answers"), ":material/how_to_vote:"),
        page_of("links", _("Links"), ":material/link:"),
    ],
    _("For the record"): [
        page_of("evaluate", _("Evaluate"), ":material/balance:"),
        page_of("ledger", _("Ledger"), ":material/receipt_long:"),
        page_of("codebook", _("Codebook"), ":material/menu_book:"),
    ],
    _("Learn"): [page_of("learn", _("Learn"), ":material/school:")],
}

page = st.navigation(pages)
st.set_page_config(page_title=f"{page.title} · {_('Privacy Workbench')}")
session.session().page = page.url_path
address.follow_address(shows_release=page.url_path == "synthesize")
header_view.inject_css()
header_view.show_header(is_declaring=page.url_path in ("", "audit"))
if page.visibility == "visible":
    page.run()
else:
    sign_in_view.show_stewards_only(page.title)
