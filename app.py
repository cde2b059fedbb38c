"""Web application: the Streamlit pages behind middleware, and further routes.

`streamlit run app.py` is the whole product: Streamlit finds `st.App` in this file and
serves it.
"""

import sys
from urllib.parse import urlsplit

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route
from streamlit import config

from dpcore.errors import DpcoreError
from workbench.server.web import (
    admission,
    focus,
    frames,
    guard,
    headers,
    health,
    lifetime,
    limits,
    ports,
    requests,
    signing,
    tabs,
)
from workbench.share import answers, links
from workbench.store import start
from workbench.store.people import roles
from workbench.store.settings import PACKAGES_FOLDER, check_data_dir, read_settings
from workbench.store.sources import files

tabs.use_allocator_of_system()
try:
    settings = read_settings()
    roles.check_roles()
    files.check_folder(settings)
    check_data_dir(settings)
    ports.check_port()
except DpcoreError as error:
    sys.exit(f"The server cannot start: {error}")
# Streamlit gives a session only to the visitor who started it. It knows the visitor by
# this header, which nobody but the guard can set.
config.set_option("server.allowedHosts", list(settings.hosts))
# Behind a proxy, the browser may use another host name than the server sees, so the
# public address is allowed as origin.
if settings.address:
    root = urlsplit(settings.address)
    config.set_option("server.corsAllowedOrigins", [f"{root.scheme}://{root.netloc}"])
config.set_option("server.trustedUserHeaders", {guard.VISITOR_HEADER: "visitor"})


def routes() -> list[Route]:
    """Return all routes beside the pages: health checks, answers and links.

    Those that need the database are left out while it cannot be opened.
    """
    base = config.get_option("server.baseUrlPath").strip("/")
    try:
        ours = [*answers.routes(start.surveys()), *links.routes(start.shares())]
    except DpcoreError:  # said in the log by lifetime.lifespan, and by the pages
        ours = []
    if base:  # where the pages are
        ours = [
            Route(f"/{base}{each.path}", each.endpoint, methods=each.methods)
            for each in ours
        ]
    return [*health.HEALTH, *ours]


app = st.App(
    PACKAGES_FOLDER / "workbench" / "navigation.py",
    routes=routes(),
    middleware=[
        Middleware(requests.RequestLog),
        Middleware(headers.SecurityHeaders),
        Middleware(limits.ConnectionLimits),
        Middleware(guard.Guard, settings=settings),
        Middleware(frames.FrameRefusal, settings=settings),
        *([Middleware(admission.Admission)] if settings.files_folder else []),
        Middleware(signing.SignInRedirect),
        Middleware(focus.PageScript),
    ],
    lifespan=lifetime.lifespan,
)
