"""Privacy Workbench: page set-up and the list of pages."""

from typing import Any

import streamlit as st

from workbench.ui import address, sign_in_view, unexpected, widgets
from workbench.ui.language import _

unexpected.install()
st.set_page_config(page_title=_("Privacy Workbench"), page_icon="🔒", layout="wide")
who = sign_in_view.let_in()


def page_of(name: str, title: str, icon: str, **options: Any) -> Any:
    """A page of the navigation; analysts see the few that open no data and spend nothing."""
    shown = who.role == "steward" or name in ("upload", "synthesize", "learn")
    options |= {"title": title, "icon": f":material/{icon}:", "visibility": "visible" if shown else "hidden"}
    return st.Page(f"pages/{name}.py", **options)


pages = {
    _("Prepare"): [
        page_of("upload", _("Data"), "upload_file", default=True),
        page_of("codebook", _("Codebook"), "menu_book"),
        page_of("audit", _("Audit"), "policy"),
    ],
    _("Share safely"): [
        page_of("anonymize", _("Anonymize"), "blur_on"),
        page_of("synthesize", _("Synthesize"), "bar_chart"),
        page_of("local_dp", _("Local answers"), "how_to_vote"),
        page_of("links", _("Links"), "link"),
    ],
    _("Judge"): [
        page_of("evaluate", _("Evaluate"), "balance"),
        page_of("ledger", _("Ledger"), "receipt_long"),
    ],
    _("Learn"): [page_of("learn", _("Learn"), "school")],
}

page = st.navigation(pages)
st.set_page_config(page_title=_("{page} · Privacy Workbench").format(page=page.title))
address.follow(shows_release=page.url_path == "synthesize")
widgets.header(declaring=page.url_path in ("", "audit"))
if page.visibility == "visible":
    page.run()
else:
    sign_in_view.for_stewards(page.title)
