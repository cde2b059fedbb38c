"""The person of this tab in the sidebar, and the page of one without a role."""

import streamlit as st

from dpcore.errors import DpcoreError
from workbench import session
from workbench.locale.languages import languages
from workbench.session import person
from workbench.store.roles import Person
from workbench.ui import unexpected
from workbench.ui.language import Words, _
from workbench.ui.wording import plain

SAYS = Words("ui.sign_in")

ROLES = Words("ui.roles")
LANGUAGE = session.Widget[str]("language")


def choose_language() -> None:
    """Let the person choose the language of this tab, also before they sign in."""
    tab, names = session.session(), languages()

    def choose() -> None:
        tab.language = LANGUAGE.value() or tab.language

    LANGUAGE.put(tab.language)
    st.sidebar.selectbox(
        _("Language"), list(names), format_func=names.__getitem__, key=LANGUAGE.key, on_change=choose
    )


def let_in() -> Person:
    """Return the person of this tab. For one without a role, say why and what to do, and end the page."""
    try:
        who = person.person()
    except DpcoreError as error:
        session.forget_person()
        unexpected.box(error)
        st.stop()
    if who is None:
        session.forget_person()
        _ask()
        st.stop()
    if who.address:
        with st.sidebar.container(key="who"):
            st.caption(plain(who.address, at_most=100))
            st.caption(ROLES[who.role])
            st.button(_("Sign out"), on_click=st.logout, type="tertiary", icon=":material/logout:")
    return who


def for_stewards(title: str) -> None:
    """Tell an analyst that a page is for stewards."""
    st.title(title)
    st.info(SAYS["stewards"])


def _ask() -> None:
    st.title(_("Privacy Workbench"))
    address = person.signed_in_as()
    if person.sign_in_failed():
        st.error(SAYS["failed"])
    if address is not None:
        st.warning(SAYS.say("no role", address=plain(address, at_most=100)))
        st.button(_("Sign out"), on_click=st.logout, type="primary")
        return
    if person.is_signed_in():
        st.info(
            _("Your sign-in is over, or the provider did not confirm your address. Sign in again to go on.")
        )
    else:
        st.write(_("This server holds tables of personal data. Sign in to go on."))
    st.button(_("Sign in"), on_click=st.login, type="primary", icon=":material/login:")
