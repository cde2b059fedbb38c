"""Show who is signed in, or a sign-in page to people without a role."""

import streamlit as st

from dpcore.errors import DpcoreError
from workbench import session
from workbench.language.catalogues import languages
from workbench.language.messages import N_, _
from workbench.language.wording import escape_markdown
from workbench.session import person
from workbench.store.people.roles import Person
from workbench.ui import unexpected

ROLE_TITLES = {
    "steward": N_("steward: may open data and spend budget"),
    "analyst": N_("analyst: may see releases"),
}
LANGUAGE = session.Widget[str]("language")


def choose_language() -> None:
    """Let the person choose the language of this tab, also before they sign in."""
    tab = session.session()
    names = languages()

    def choose() -> None:
        tab.language = LANGUAGE.current_value() or tab.language

    LANGUAGE.put(tab.language)
    st.sidebar.selectbox(
        _("Language"),
        list(names),
        format_func=names.__getitem__,
        key=LANGUAGE.key,
        on_change=choose,
    )


def require_person() -> Person:
    """Return the person of this tab.

    For one without a role, say why and what to do, and end the page.
    """
    try:
        who = person.person()
    except DpcoreError as error:
        session.clear_tab()
        unexpected.show_error(error)
        st.stop()
    if who is None:
        session.clear_tab()
        _show_sign_in()
        st.stop()
    if who.address:
        with st.sidebar.container(key="who"):
            st.caption(escape_markdown(who.address, max_length=100))
            st.caption(_(ROLE_TITLES[who.role]))
            st.button(
                _("Sign out"),
                on_click=st.logout,
                type="tertiary",
                icon=":material/logout:",
            )
    return who


def show_stewards_only(title: str) -> None:
    """Tell an analyst that a page is for stewards."""
    st.title(title)
    st.info(
        _(
            "This page is for stewards, who open data and spend budget. As an "
            "analyst, you see the releases that were shown to you."
        )
    )


def _show_sign_in() -> None:
    st.title(_("Privacy Workbench"))
    address = person.signed_in_address()
    if person.sign_in_failed():
        st.error(
            _(
                "The sign-in failed: the sign-in provider could not be reached or "
                "did not accept you. Nothing was opened. Try again in a minute. If "
                "it fails again, tell the administrator of this server."
            )
        )
    if address is not None:
        st.warning(
            _(
                "You are signed in as {address}, but this account has no role here. "
                "Ask the administrator of this server for a role, or sign in with "
                "another account."
            ).format(address=escape_markdown(address, max_length=100))
        )
        st.button(_("Sign out"), on_click=st.logout, type="primary")
        return
    if person.is_signed_in():
        st.info(
            _(
                "Your sign-in has expired, or the sign-in provider did not confirm "
                "your address. Sign in again to continue."
            ),
        )
    else:
        st.write(_("This server holds tables of personal data. Sign in to go on."))
    st.button(_("Sign in"), on_click=st.login, type="primary", icon=":material/login:")
