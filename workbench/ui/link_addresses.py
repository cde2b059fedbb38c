"""Addresses under which shared links open."""

from urllib.parse import urlsplit

from workbench.store.settings import (
    CLOUD_HOST_ENDING,
    CLOUD_PATH,
    is_loopback,
    read_settings,
)


def link_root(page: str, kind: str) -> str:
    """Return the beginning of the addresses of links of one kind.

    Args:
        page: the address of a page of the workbench in the browser; WORKBENCH_ADDRESS
            goes before it.
        kind: kind of the pages, "share" or "answer".
    """
    parts = urlsplit(page)
    folder = parts.path.rsplit("/", 1)[0]
    if (parts.hostname or "").endswith(CLOUD_HOST_ENDING):
        folder = CLOUD_PATH  # Streamlit's address lacks this path
    return f"{read_settings().address or f'{parts.scheme}://{parts.netloc}{folder}'}/{kind}/"


def is_here_only(root: str) -> bool:
    """Return whether links under this root open on this computer only."""
    return is_loopback(root)
