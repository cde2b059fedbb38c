"""Short text pages that answer requests with a refused host name or frame.

They hold nothing private, run no script and take no input, so that any site may show
them in a frame.
"""

import base64
import hashlib
from collections.abc import Sequence
from html import escape

from starlette.responses import HTMLResponse

_STYLE = (
    "body{font:17px/1.5 system-ui,sans-serif;max-width:38em;margin:8vh "
    "auto;padding:0 1.2em;"
    "color:#0e1116;background:#fff}"
    "h1{font-size:1.4em}pre{background:#f3f5f7;padding:.8em 1em;overflow:auto}"
    "a{display:inline-block;background:#0072b2;color:#fff;padding:.6em "
    "1.1em;border-radius:.4em;"
    "text-decoration:none}"
)
_DIGEST = base64.b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
_HEADERS = {
    "Cache-Control": "no-store",
    "Content-Security-Policy": (
        f"default-src 'none'; style-src 'sha256-{_DIGEST}'; base-uri 'none'; "
        "form-action 'none'; "
        "frame-ancestors *"
    ),
    "Cross-Origin-Resource-Policy": "cross-origin",
}


def text_page(
    title: str,
    paragraphs: Sequence[str],
    *,
    code: str = "",
    text_after_code: str = "",
    link: str = "",
    status: int,
) -> HTMLResponse:
    """Return a static HTML page of paragraphs, with optional code and link.

    Args:
        title: its heading.
        paragraphs: plain texts.
        code: lines to copy.
        text_after_code: a paragraph below them.
        link: label of a link that opens the same address in a tab of its own; empty for
            none.
        status: of the answer.
    """
    parts = [
        f"<h1>{escape(title)}</h1>",
        *(f"<p>{escape(text)}</p>" for text in paragraphs),
    ]
    if code:
        parts.append(f"<pre>{escape(code)}</pre><p>{escape(text_after_code)}</p>")
    if link:
        parts.append(
            f'<p><a href="" target="_blank" rel="noopener">{escape(link)}</a></p>'
        )
    head = (
        '<meta charset="utf-8"><meta name="viewport" '
        f'content="width=device-width"><title>{escape(title)}'
    )
    body = "".join(parts)
    return HTMLResponse(
        "<!DOCTYPE html><html "
        f'lang="en"><head>{head}</title><style>{_STYLE}</style></head>'
        f"<body><main>{body}</main></body></html>\n",
        status,
        _HEADERS,
    )
