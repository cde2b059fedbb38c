"""The server: the pages of app.py, with a guard before them and addresses of our own beside them."""

import streamlit as st
from starlette.middleware import Middleware
from streamlit import config

from workbench.store.settings import read_settings
from workbench.web import guard, headers, health, lifetime, requests

settings = read_settings()
# Streamlit hands a session only to whom it began with; the guard writes this header and nobody else can.
config.set_option("server.allowedHosts", list(settings.hosts))
config.set_option("server.trustedUserHeaders", {guard.VISITOR: "visitor"})

ROUTES = [*health.HEALTH]  # all addresses beside the pages; the last one wins nothing that Streamlit keeps

app = st.App(
    "app.py",
    routes=ROUTES,
    middleware=[
        Middleware(requests.RequestLog),
        Middleware(headers.SecurityHeaders),
        Middleware(guard.Guard, hosts=settings.hosts, metrics=settings.metrics),
    ],
    lifespan=lifetime.lifespan,
)
