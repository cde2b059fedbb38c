"""Page behind a link: one release, its files, and answers to questions about it.

Links that are unknown, expired, revoked or malformed all get the same answer, after the
same look into the database. Nothing here sees a row or a line of the ledger: everything
shown was released before.
"""

from __future__ import annotations

import functools
import re
import threading
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import quote

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from workbench.language.messages import N_, _, language_code
from workbench.report import (
    asking,
    downloads,
    of_exact_table,
    of_linked_release,
    of_release,
    of_table,
)
from workbench.report.document import (
    SCRIPT_DIGEST,
    STYLE_DIGEST,
    Document,
    Page,
    render_page,
)
from workbench.report.explore import EXPLORE_FILE, EXPLORE_FILES
from workbench.report.files import file_name, release_file
from workbench.server.web import who
from workbench.server.web.headers import POLICY
from workbench.share.answers import Limiter, limit_requests, stranger_headers
from workbench.store.links.shares import SharedPage, Shares
from workbench.store.links.surveys import links_work

MAX_FILE_BYTES = 20_000_000
"""Bytes of a file behind a link."""
MAX_CACHED_PAGES = 32
MAX_CACHED_BYTES = 64_000_000
_FILE_PARAMETER = "file="
_LANGUAGE_PARAMETER = re.compile("(^|&)lang=[^&]*")
NOTICE_TITLES = {
    "gone": N_("This link does not work"),
    "busy": N_("Try again in a minute"),
    "large": N_("This file is too large for a link"),
}
NOTICE_TEXTS = {
    "gone": N_(
        "The link has expired, was revoked, is meant for somebody else, or never "
        "existed. If you can sign in on this server, sign in first and open the "
        "link again. Otherwise ask the sender for a new one."
    ),
    "busy": N_(
        "The server is busy, or cannot look anything up at the moment. The link "
        "itself is not affected."
    ),
    "large": N_("Ask the sender of the link for the file itself."),
}
Value = TypeVar("Value")
POLICY_WITHOUT_SCRIPT = f"style-src {STYLE_DIGEST}; form-action 'self'"
"""Policy of a page without a script."""
POLICY_WITH_SCRIPT = f"{POLICY_WITHOUT_SCRIPT}; script-src {SCRIPT_DIGEST}; require-trusted-types-for 'script'"
"""Policy of a page with one script, which makes no HTML or scripts of texts."""


class Cache:
    """Cache of recently requested pages and files, bounded in number and size."""

    def __init__(self, max_entries: int, max_bytes: int) -> None:
        self._most = max_entries
        self._size = max_bytes
        self._values: OrderedDict[tuple[str, ...], tuple[object, int]] = OrderedDict()
        self._lock = threading.Lock()

    def get(
        self,
        key: tuple[str, ...],
        make: Callable[[], Value],
        size: Callable[[Value], int],
    ) -> Value:
        """Return the cached value of a key; make it if it is not there."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                return self._values[key][0]  # type: ignore[return-value]
        value = make()
        with self._lock:
            self._values[key] = (value, size(value))
            sizes = [value for _value, value in self._values.values()]
            while len(sizes) > self._most or sum(sizes) > self._size:
                self._values.popitem(last=False)
                sizes.pop(0)
        return value


class Links:
    """Answers requests for links, and caches the pages and files of working links."""

    def __init__(self, shares: Shares) -> None:
        self._shares = shares
        self._pages = Cache(MAX_CACHED_PAGES, MAX_CACHED_BYTES)
        self._files = Cache(MAX_CACHED_PAGES, MAX_CACHED_BYTES)
        self._makers = threading.Semaphore(2)

    def answer(self, token: str, query: str, address: str | None) -> Response:
        """Return a link's page, perhaps with an answered question, or one of its files.

        Raises: LedgerError.

        Args:
            address: of whoever signed in.
        """
        share = self._shares.open(token, address)
        if share is None:
            return HTMLResponse(notice_page("gone"), 404)
        ready = self._pages.get(
            (share, language_code()),
            lambda: self._ready_page(share),
            lambda ready: ready.size,
        )
        if query.startswith(_FILE_PARAMETER):
            return self._file_response(
                share, ready, query.removeprefix(_FILE_PARAMETER)
            )
        self._shares.count_request(share)
        return HTMLResponse(ready.page.html(ready.question_form(query)))

    def _ready_page(self, share: str) -> ReadyPage:
        with self._makers:
            return make_ready_page(self._shares.page_of(share))

    def _file_response(self, share: str, ready: ReadyPage, name: str) -> Response:
        if name not in {download.name for download in ready.document.downloads}:
            return HTMLResponse(notice_page("gone"), 404)

        def make() -> bytes:
            with self._makers:
                return ready.file_content(name)

        data = self._files.get((share, name, language_code()), make, len)
        if len(data) > MAX_FILE_BYTES:
            return HTMLResponse(notice_page("large"), 413)
        if name in (EXPLORE_FILE, *EXPLORE_FILES.values()):
            return HTMLResponse(
                data, headers={POLICY: stranger_headers(POLICY_WITH_SCRIPT)[POLICY]}
            )
        return Response(
            data,
            media_type=downloads.MEDIA_TYPES[name.rpartition(".")[2]],
            headers={
                "Content-Disposition": f"attachment; filename*=UTF-8''{quote(ready.download_name(name))}"
            },
        )


@dataclass(frozen=True, kw_only=True)
class ReadyPage:
    """Page of a shared result, with the functions that answer its requests.

    Attributes:
        question_form: from the end of an address to the form with its answer.
        file_content: from the name of a file to its bytes.
        download_name: from the name of a file to the name under which it is saved.
        size: about how many bytes it holds.
    """

    document: Document
    page: Page
    question_form: Callable[[str], str]
    file_content: Callable[[str], bytes]
    download_name: Callable[[str], str]
    size: int


def make_ready_page(shown: SharedPage) -> ReadyPage:
    """Make the page of a shared result, with functions that answer its requests."""
    seen: Any = {"title": shown.title, "note": shown.note, "contents": shown.contents}
    table = shown.syntactic()
    exact = shown.exact_table()
    linked = shown.linked()
    question_form: Callable[[str], str] = _ask_nothing
    if linked is not None:
        both, pictures = linked
        document = of_linked_release.document(both, pictures=pictures, **seen)
        content = functools.partial(of_linked_release.file_content, both, document)
        day = both.people.created[:10]
        saved_as = functools.partial(file_name, shown.title, day=day)
        question_form = functools.partial(of_linked_release.question_form, both)
    elif exact is not None:
        document = of_exact_table.document(exact, title=shown.title, note=shown.note)
        content = functools.partial(of_exact_table.content, exact)
        saved_as = functools.partial(file_name, shown.title)
    elif table is not None:
        document = of_table.document(*table, **seen)
        content = functools.partial(of_table.file_content, *table[:2])
        saved_as = functools.partial(file_name, shown.title)
    else:
        release, earlier, pictures = shown.releases()
        pair_loss = shown.pair_loss()
        document = of_release.document(
            release, earlier=earlier, pictures=pictures, pair_loss=pair_loss, **seen
        )
        content = functools.partial(
            of_release.file_content, release, document, pair_loss=pair_loss
        )
        question_form = functools.partial(asking.question_form, release)
        saved_as = functools.partial(release_file, shown.title, release)
    return ReadyPage(
        document=document,
        page=render_page(document),
        question_form=question_form if document.takes_questions else _ask_nothing,
        file_content=content,
        download_name=lambda name: saved_as(*name.rsplit(".", 1)),
        size=2 * len(shown.text),
    )


def _ask_nothing(_query: str) -> str:
    """Return the form of a page that takes no questions."""
    return ""


def routes(shares: Shares, *, per_minute: int = 240) -> list[Route]:
    """Return the route of all links.

    Args:
        shares: those of the server.
        per_minute: pages, answers and files that one address may ask for.
    """
    links = Links(shares)
    limiter = Limiter(per_minute)

    async def show(request: Request) -> Response:
        token = request.path_params["token"]
        query = _LANGUAGE_PARAMETER.sub("", request.url.query)
        return await run_in_threadpool(links.answer, token, query, who.address(request))

    links_work.set()
    endpoint = limit_requests(
        show,
        limiter,
        stranger_headers(POLICY_WITHOUT_SCRIPT),
        lambda: notice_page("busy"),
    )
    return [Route("/share/{token:path}", endpoint, methods=["GET"])]


def notice_page(name: str) -> str:
    """Return the page that a visitor sees if a link or file cannot be shown.

    Args:
        name: "gone" (whatever the reason), "busy" or "large".
    """
    return render_page(
        Document(title=_(NOTICE_TITLES[name]), about=(_(NOTICE_TEXTS[name]),))
    ).html()
