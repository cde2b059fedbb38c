"""Ask whether ambiguous dates have the day or the month first."""

import dataclasses

import streamlit as st

from dpcore.io.read import ReadResult
from workbench.language.messages import _, day, join_with_commas
from workbench.language.wording import escape_markdown
from workbench.upload import opening


def ask_order(read: ReadResult) -> None:
    """Ask for the order of day and month if both orders fit."""
    st.warning(
        _("The dates of {columns} can be read in two ways.").format(
            columns=join_with_commas(
                escape_markdown(name) for name in read.undecided_columns
            ),
        ),
    )
    with st.container(horizontal=True):
        for meant, first in (("2002-04-06", True), ("2002-06-04", False)):
            options = dataclasses.replace(read.options, day_first=first, columns=None)
            st.button(
                f"06/04/2002 = {day(meant)}",
                on_click=opening.read_again,
                args=(options,),
            )
