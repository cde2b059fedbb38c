"""Show a preview of a link's page, the new link, and all earlier links."""

from typing import Any

import streamlit as st

from dpcore.suppression import PublishedTable
from dpcore.synthesis.release.linked import LinkedRelease
from workbench import session
from workbench.language.catalogues import languages
from workbench.language.messages import N_, _, day, join_with_commas, minute, ngettext
from workbench.language.wording import escape_markdown
from workbench.records import link_form
from workbench.records.link_form import Shown
from workbench.report import (
    asking,
    of_exact_table,
    of_linked_release,
    of_release,
    of_table,
)
from workbench.report.document import render_page
from workbench.session import OfferTable
from workbench.store.ledger.datasets import DataSet
from workbench.store.links.shares import LinkDraft, Share
from workbench.ui import link_addresses, widgets

PREVIEW_HEIGHT = 740  # pixels: a heading and the frame of `widgets.show_page`
END_WORDS = {
    "revoked": N_("revoked"),
    "expired": N_("expired"),
}


def preview(chosen: Shown, draft: LinkDraft | None) -> None:
    """Show the page behind the link as its readers will see it."""
    st.header(_("The page behind the link"))
    if draft is None:
        return
    seen: dict[str, Any] = {"title": draft.title, "note": draft.note}
    questions = ""
    if isinstance(chosen, PublishedTable):
        document = of_exact_table.document(chosen, **seen)
    elif isinstance(chosen, OfferTable):
        table = chosen.anonymized_table.table
        guarantee = chosen.anonymized_table.guarantee
        document = of_table.document(
            table, guarantee, chosen.not_promised, contents=draft.contents, **seen
        )
    elif isinstance(chosen, LinkedRelease):
        document = of_linked_release.document(
            chosen, contents=draft.contents, pictures=draft.pictures, **seen
        )
        if document.takes_questions:
            questions = of_linked_release.question_form(chosen, "")
    else:
        seen |= {
            "pictures": draft.pictures,
            "earlier": draft.earlier,
            "pair_loss": draft.pair_loss,
        }
        document = of_release.document(chosen, contents=draft.contents, **seen)
        questions = asking.question_form(chosen, "") if document.takes_questions else ""
    with st.container(border=True):
        widgets.show_page(
            render_page(document).html(questions), alt=_("The page behind the link")
        )


def show_new_link(title: str, token: str) -> None:
    """Show a new link, once."""
    root = link_addresses.link_root(str(st.context.url), "share")
    ready = _(
        "The link to {title} is ready. Copy it now: this program cannot show it again."
    )
    widgets.show_link_ready(
        ready.format(title=escape_markdown(title, max_length=120)), root
    )
    titles = {"": _("the reader's own")} | languages()
    language = widgets.choose(_("Language of the page"), titles, key="links-language")
    address = root + token + (language and f"?lang={language}")
    st.code(address, language=None)
    st.link_button(_("Open it"), address, icon=":material/open_in_new:")


def list_links(data_set: DataSet, *, is_mine: bool) -> None:
    """List the links of this data set, with buttons to revoke or renew them."""
    dataset = data_set.id
    shares = session.shares().links_of(dataset)
    if not shares:
        if not is_mine:
            st.write(_("No link shows a release of this data set yet."))
        return
    st.header(_("Links of this data set"))
    for share in shares:
        with st.container(border=True):
            left, right = st.columns([5, 2], vertical_alignment="center")
            left.markdown(
                f"**{escape_markdown(share.title, max_length=120)}**  \n{_state_words(share)}"
            )
            left.caption(_opened_words(share))
            if not is_mine:
                continue
            with right.container(horizontal=True):
                if not share.ended:
                    st.button(
                        _("Revoke"),
                        key=f"revoke-{share.id}",
                        on_click=link_form.revoke,
                        args=(dataset, share.id),
                    )
                days = max(
                    1, round((share.expires - share.made).total_seconds() / 86_400)
                )
                st.button(
                    _("Make again"),
                    key=f"again-{share.id}",
                    on_click=link_form.make_again,
                    args=(dataset, share.id, share.title, days),
                    help=_(
                        "Makes a new address for the same page, valid for the same "
                        "number of days. The old address stops working."
                    ),
                )


def _state_words(share: Share) -> str:
    if share.ended:
        return escape_markdown(_(END_WORDS[share.ended]))
    whom = escape_markdown(join_with_commas(share.readers), max_length=200) or _(
        "anybody with the link"
    )
    return _("made on {made}, works until {expires} UTC, open to {whom}").format(
        made=escape_markdown(day(share.made)),
        expires=escape_markdown(minute(share.expires)),
        whom=whom,
    )


def _opened_words(share: Share) -> str:
    if share.last_opened is None:
        return _("never opened")
    return ngettext(
        "opened {number} time, last on {when} UTC",
        "opened {number} times, last on {when} UTC",
        share.opened,
        when=escape_markdown(minute(share.last_opened)),
    )
