"""Show who may see a data set, and hand it to another owner."""

import streamlit as st

from workbench import session
from workbench.language.messages import _
from workbench.language.wording import escape_markdown
from workbench.store.ledger.datasets import public_name
from workbench.ui import widgets

_NOTICE = "people"
_READER_FIELD: session.Widget[str] = session.Widget("people-show")
_NAME_FIELD: session.Widget[str] = session.Widget("people-name")
_NEXT_OWNER_FIELD: session.Widget[str] = session.Widget("people-hand")


def show(dataset: str) -> None:
    """Show who may see this data set, to its steward, if people sign in."""
    ledger = session.ledger()
    if not ledger.person.address or not ledger.is_mine(dataset):
        return
    st.header(_("Who may see it"))
    widgets.show_notice(_NOTICE)
    st.write(
        _(
            "This data set is yours: nobody else can open it or spend its budget. "
            "You can show its releases, budget and ledger to other people, under a "
            "name that you choose. They see neither the rows nor the name of the "
            "file.",
        ),
    )
    for person in ledger.viewers(dataset):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(escape_markdown(person, max_length=100))
            st.button(
                _("Stop showing the data set to {person}").format(
                    person=escape_markdown(person, max_length=60)
                ),
                key=f"hide-{person}",
                on_click=_hide_from_reader,
                args=(dataset, person),
            )
    with (
        # use a form: a rerun between the two fields would lose the second text
        st.form("people", border=False),
        st.container(horizontal=True, vertical_alignment="bottom"),
    ):
        st.text_input(
            _("Address of a person with a role on this server"), key=_READER_FIELD.key
        )
        st.text_input(
            _("Name that they see"),
            public_name(ledger.lines(dataset)),
            120,
            key=_NAME_FIELD.key,
        )
        st.form_submit_button(
            _("Show the releases"), on_click=_show_to_reader, args=(dataset,)
        )
    with st.expander(_("Hand the data set to another steward")):
        st.write(
            _(
                "The budget, all charges and all releases go to the new steward for "
                "good, and you can no longer see the data set. The new steward "
                "opens it with the same table.",
            ),
        )
        with st.container(horizontal=True, vertical_alignment="bottom"):
            st.text_input(_("Address of a steward"), key=_NEXT_OWNER_FIELD.key)
            st.button(
                _("Hand the data set to another steward"),
                on_click=_hand_over,
                args=(dataset,),
            )


def _show_to_reader(dataset: str) -> None:
    with session.keep_error(_NOTICE):
        session.ledger().show(
            dataset,
            _READER_FIELD.current_value() or "",
            _NAME_FIELD.current_value() or "",
        )
        _READER_FIELD.put("")


def _hide_from_reader(dataset: str, person: str) -> None:
    with session.keep_error(_NOTICE):
        session.ledger().hide(dataset, person)


def _hand_over(dataset: str) -> None:
    with session.keep_error(_NOTICE):
        session.ledger().hand(dataset, _NEXT_OWNER_FIELD.current_value() or "")
        session.session().remove(dataset)
