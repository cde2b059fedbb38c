"""Page behind a survey invitation; the visitor's browser randomizes the answer.

`routes` is what a Starlette application mounts. Links that are unknown, answered,
expired or closed all get the same answer. Nothing here sees a true answer: the browser
perturbs it before anything is sent.
"""

import json
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from dpcore.errors import LedgerError, ParameterError, UsageError
from dpcore.local import Question
from workbench.language.catalogues import choose_language
from workbench.language.messages import N_, translate_table, use_language
from workbench.language.wording import answer_words
from workbench.report.document import fill_template
from workbench.server.web.headers import POLICY, frame_options, frame_policy
from workbench.store.links.surveys import Surveys, links_work

STATIC_FOLDER = Path(__file__).parent / "static"
MAX_BODY_BYTES = 200_000
Endpoint = Callable[[Request], Awaitable[Response]]
_MEDIA_TYPES = {"js": "text/javascript", "css": "text/css", "png": "image/png"}
_STATIC_FILES = {
    file.name: _MEDIA_TYPES[file.suffix[1:]]
    for file in STATIC_FOLDER.iterdir()
    if file.suffix[1:] in _MEDIA_TYPES
}


SCRIPT_MESSAGES = {
    "names": N_("Your report says:"),
    "none": N_("none of the answers"),
    "mixed": N_("Your report is a number that fits your answer and many others."),
    "no_randomness": N_(
        "This browser has no secure source of random numbers, so nothing was sent."
    ),
    "failed": N_(
        "Your report could not be sent. Try again in a minute; the report stays "
        "the same."
    ),
    "400": N_("The server did not accept this report. Open the link again."),
    "404": N_(
        "This invitation was already answered, has expired, was closed, or never "
        "existed. Ask the sender for a new one."
    ),
}
"""What the script of an answer page says, by the key that it uses."""


def stranger_headers(policy: str) -> dict[str, str]:
    """Return the headers of pages that people without sign-in see.

    Args:
        policy: what their scripts, styles and forms may do; whether a frame may show
            them is added.
    """
    policy = f"default-src 'none'; base-uri 'none'; {policy}; {frame_policy()}"
    return {
        "Cache-Control": "no-store",
        POLICY: policy,
        "Referrer-Policy": "no-referrer",
        "X-Content-Type-Options": "nosniff",
        "X-Robots-Tag": "noindex",
        **frame_options(policy),
    }


class Limiter:
    """Limit on the requests of each address in one minute.

    All counts are dropped when the minute is over.
    """

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._minute = 0
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def allows(self, address: str) -> bool:
        """Count a request of an address; return whether it is within the limit."""
        minute = int(time.monotonic() // 60)
        with self._lock:
            if minute != self._minute:
                self._minute = minute
                self._counts.clear()
            self._counts[address] += 1
            return self._counts[address] <= self._per_minute


def limit_requests(
    endpoint: Endpoint,
    limiter: Limiter,
    headers: Mapping[str, str],
    busy_page: Callable[[], str],
) -> Endpoint:
    """Wrap an endpoint to use the visitor's language and to limit requests.

    Errors of the database become the busy page.

    Args:
        endpoint: answers a request; may raise LedgerError.
        limiter: counts the requests of each address.
        headers: of every answer without its own.
        busy_page: makes the page of a refusal.
    """

    async def answer(request: Request) -> Response:
        with use_language(
            choose_language(
                request.query_params.get("lang"),
                request.headers.get("Accept-Language", ""),
            )
        ):
            try:
                allowed = limiter.allows(request.client.host if request.client else "")
                response = (
                    await endpoint(request)
                    if allowed
                    else HTMLResponse(busy_page(), 429)
                )
            except LedgerError:
                response = HTMLResponse(busy_page(), 503)
        for name, value in headers.items():
            response.headers.setdefault(name, value)
        return response

    return answer


def routes(surveys: Surveys, *, per_minute: int = 600) -> list[Route]:
    """Return the routes of all answer pages.

    Args:
        surveys: those of the server.
        per_minute: pages and reports that one address may ask for; many people may
            share one.
    """
    limiter = Limiter(per_minute)
    headers = stranger_headers(
        "script-src 'self'; style-src 'self'; connect-src 'self'; form-action 'none'"
    )

    async def show(request: Request) -> Response:
        question = await run_in_threadpool(
            surveys.question_of, request.path_params["token"]
        )
        return (
            HTMLResponse(answer_page(question))
            if question
            else HTMLResponse(notice_page(gone=True), 404)
        )

    async def take(request: Request) -> Response:
        body = await _read_body(request)
        if body is None:
            return JSONResponse({}, 413)
        token = request.path_params["token"]
        question = await run_in_threadpool(surveys.question_of, token)
        if question is None:
            return JSONResponse({}, 404)
        try:
            report = read_report(question, body)
        except ParameterError:
            return JSONResponse({}, 400)
        stored = await run_in_threadpool(surveys.accept, token, report)
        return JSONResponse({}, 200 if stored else 404)

    async def static(request: Request) -> Response:
        """Send a script, a style sheet or an image of the answer pages."""
        name = request.path_params["name"]
        if name not in _STATIC_FILES:
            return Response(status_code=404, headers=headers)
        return Response(
            (STATIC_FOLDER / name).read_bytes(),
            media_type=_STATIC_FILES[name],
            headers=headers,
        )

    links_work.set()
    return [
        Route("/answer/static/{name}", static),
        *(
            Route(
                "/answer/{token}",
                limit_requests(endpoint, limiter, headers, notice_page),
                methods=[method],
            )
            for method, endpoint in (("GET", show), ("POST", take))
        ),
    ]


def read_report(question: Question, body: bytes) -> Any:
    """Parse the randomized report in a request body that the page's script sent.

    Raises: ParameterError for another protocol or epsilon, and for what no report of
        this question is.
    """
    try:
        fields = json.loads(body)
    except (ValueError, RecursionError):
        fields = None
    expected = {"protocol": question.protocol.kind, "epsilon": str(question.epsilon)}
    if not isinstance(fields, dict) or {**fields, "report": None} != {
        **expected,
        "report": None,
    }:
        raise UsageError(
            "this is no report of the question's protocol and epsilon",
            remedy="open the link and answer again",
        )
    report = fields.get("report")
    question.protocol.from_plain([report])
    return report


def answer_page(question: Question) -> str:
    """Return the HTML page of a question; its script randomizes the answer."""
    script = {
        "protocol": question.protocol.kind,
        "epsilon": str(question.epsilon),
        "categories": question.protocol.categories,
        "labels": list(question.categories),
        "script": question.protocol.script_parameters(),
        "words": translate_table(SCRIPT_MESSAGES),
    }
    epsilon = answer_words(float(question.epsilon))
    return fill_template(
        "answer.html", STATIC_FOLDER, question=question, asked=script, epsilon=epsilon
    )


def notice_page(*, gone: bool = False) -> str:
    """Return the page for a link that does not work, or for a visitor who must wait.

    The reason is not told.
    """
    return fill_template("notice.html", STATIC_FOLDER, gone=gone)


async def _read_body(request: Request) -> bytes | None:
    """Return the body of a request; None if it is larger than any report."""
    body = b""
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_BODY_BYTES:
            return None
    return body
