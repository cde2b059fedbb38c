# make app    the workbench on http://127.0.0.1:8501
# make test   every test
# make check  format, lint, types, then every test
# make bench  every benchmark

SHELL := /bin/bash
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null \
	&& echo $$name && break; done)
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: app test check bench chromium

app: .venv/app
	$(BIN)/streamlit run server.py

test: .venv/dev chromium
	$(BIN)/python -m pytest

check: .venv/dev chromium
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest

bench: .venv/dev
	set -e; for name in histogram synthesis anonymize ledger interaction; do echo "== $$name"; \
	OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python benchmarks/$$name.py; done

# The files .venv/app and .venv/dev tell when the requirements were last installed.
.venv/app: requirements.txt | .venv/bin/python
	$(INSTALL) -r requirements.txt
	touch $@

.venv/dev: requirements.txt requirements-dev.txt | .venv/bin/python
	$(INSTALL) -r requirements-dev.txt
	touch $@

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 is needed."; exit 1; }
	$(PYTHON) -m venv .venv

chromium:
	@if command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends chromium >/dev/null; \
	else echo "No chromium here: the browser tests will be skipped."; fi
