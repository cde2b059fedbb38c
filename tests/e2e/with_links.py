"""The app with the server of its answer pages: what a server mounts, at its shortest."""

import os
from pathlib import Path

import streamlit as st

from share.answers import routes
from workbench.store.database import Store
from workbench.store.settings import settings_from
from workbench.store.surveys import Surveys

app = st.App(
    str(Path(__file__).parents[2] / "app.py"),
    routes=routes(Surveys(Store.open(settings_from(os.environ))), per_minute=10_000),
)
