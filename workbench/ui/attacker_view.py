"""The list of known people that an attacker may hold."""

import functools

import pandas as pd
import streamlit as st

from dpcore.curator import Curator
from workbench import samples, session
from workbench.language.messages import _, capital
from workbench.ui import file_view


def ask_known_people(curator: Curator, *, key: str) -> tuple[str, pd.DataFrame] | None:
    """Ask for a list of people an attacker may know; return its name and rows, or None.

    The voter list of the sample is offered with the sample alone, which is known by its
    fingerprint.

    Args:
        key: key of the widgets.
    """
    file_view.table_uploader(
        _("A list of known people that an attacker may have (CSV)"), key=key
    )
    if (given := session.session().second_tables.get(key)) is not None:
        return given
    if curator.account.dataset != session.compute_once(
        ("sample with a list",), _fingerprint_of_the_sample
    ):
        return None
    if st.toggle(
        capital("the invented voter list of the sample"),
        value=True,
        key=f"{key}-sample",
    ):
        return _("the invented voter list of the sample"), _voter_list()
    return None


def _fingerprint_of_the_sample() -> str:
    return Curator.account_fingerprint(
        samples.hospital(), session.ledger().for_samples()
    )


@functools.cache
def _voter_list() -> pd.DataFrame:
    return samples.voter_list()
