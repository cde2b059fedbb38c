"""The server: the pages of app.py, with a guard before them and addresses of our own beside them."""

import sys

import streamlit as st
from starlette.middleware import Middleware
from starlette.routing import Route
from streamlit import config

from dpcore.errors import DpcoreError
from share import answers, links
from workbench.server.web import (
    admission,
    focus,
    guard,
    headers,
    health,
    lifetime,
    limits,
    requests,
    signing,
    tabs,
)
from workbench.store import files, roles, start
from workbench.store.settings import read_settings

tabs.use_allocator_of_system()
try:
    settings = read_settings()
    roles.check_roles()
    files.check_folder(settings)
except DpcoreError as error:
    sys.exit(f"The server cannot start: {error}")
# Streamlit hands a session only to whom it began with; the guard writes this header and nobody else can.
config.set_option("server.allowedHosts", list(settings.hosts))
config.set_option("server.trustedUserHeaders", {guard.VISITOR: "visitor"})


def routes() -> list[Route]:
    """All addresses beside the pages. Those that need the database are left out while it cannot be opened."""
    base = config.get_option("server.baseUrlPath").strip("/")
    try:
        ours = [*answers.routes(start.surveys()), *links.routes(start.shares())]
    except DpcoreError:  # said in the log by lifetime.lifespan, and by the pages
        ours = []
    if base:  # where the pages are
        ours = [Route(f"/{base}{each.path}", each.endpoint, methods=each.methods) for each in ours]
    return [*health.HEALTH, *ours]


app = st.App(
    "app.py",
    routes=routes(),
    middleware=[
        Middleware(requests.RequestLog),
        Middleware(headers.SecurityHeaders),
        Middleware(limits.Limits),
        Middleware(guard.Guard, settings=settings),
        *([Middleware(admission.Admission)] if settings.files else []),
        Middleware(signing.SignIn),
        Middleware(focus.Focus),
    ],
    lifespan=lifetime.lifespan,
)
