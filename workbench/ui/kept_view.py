"""Paid releases that wait in memory until the ledger can store them."""

import streamlit as st

from workbench.language.messages import _
from workbench.report.files import file_name
from workbench.store.start import ledger as shared_ledger
from workbench.ui import file_view


def show(dataset: str) -> None:
    """List the waiting releases of a data set, each with a download."""
    for request_id, text in shared_ledger().waiting_releases(dataset).items():
        st.warning(
            _(
                "Release {request} was paid for and computed, but the ledger cannot "
                "store it yet. This server keeps it in memory until the ledger can. "
                "Do not stop the server before then.",
            ).format(request=request_id[:8]),
        )
        offer_download(dataset, request_id, text)


def offer_download(dataset: str, request_id: str, text: str) -> None:
    """Offer the file of a waiting release.

    Its name has the fingerprint, as the ledger may be shut.
    """
    file_view.download(
        _("Download it now"),
        text,
        file_name(
            dataset.removeprefix("source ")[:8], f"release {request_id[:8]}", "json"
        ),
        key=f"kept-{request_id}",
    )
