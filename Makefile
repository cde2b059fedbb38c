# make app    the workbench on http://127.0.0.1:8501, or PORT=8502; FILES=folder opens its files of any size;
#             LISTEN=0.0.0.0 lets other computers in, under the name in WORKBENCH_ADDRESS
# make test   the quick tier of the tests, on all cores: something of every guarantee, in minutes
# make skipped  what the last run of the tests skipped, once it is no longer missing: make engines
# make proofs the rest: browsers, Spark, laws, lattices and properties in full
# make lint   format, lint and types
# make release-check  what a release needs and a change does not: whole translations
# make check  lint, test, proofs
# make bench  every benchmark
# make messages  what there is to translate, as build/workbench.pot, and in the catalogue of each language
# make wheel  the whole product as a wheel in build/, for pip install and privacy-workbench serve

SHELL := /bin/bash
PYTHON ?= $(shell for name in python3 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null \
	&& echo $$name && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# A set-up that fails leaves nothing: an environment that was made for it is taken away again.
NO_PACKAGES = { echo "The packages could not be installed: see pip's message above. Connect this computer to the" \
	"internet, or name a package index that it reaches in PIP_INDEX_URL, and run make again." >&2; \
	test ! -e $(VENV)/unfinished || rm -rf $(VENV); exit 1; }

.PHONY: app lock parts licenses backup restore accept rekey test skipped proofs release-check lint check bench messages wheel engines chromium

app: $(VENV)/app
	@test -z "$(PORT)" || $(BIN)/python -c 'import socket, sys; socket.create_server(("127.0.0.1", int(sys.argv[1])))' \
	"$(PORT)" 2>/dev/null || { echo "Port $(PORT) cannot be used: name another one, as in make app PORT=8502." >&2; exit 1; }
	$(if $(FILES),WORKBENCH_FILES="$(FILES)") PYTHONMALLOC=malloc $(BIN)/streamlit run app.py $(if $(PORT),--server.port=$(PORT)) $(if $(LISTEN),--server.address=$(LISTEN))

# The whole tree of packages with hashes, after a change of requirements*.txt; needs pip-tools beside it.
lock:
	for name in requirements requirements-dev; do CUSTOM_COMPILE_COMMAND="make lock" pip-compile --quiet \
	--generate-hashes --allow-unsafe --strip-extras --no-emit-index-url --no-emit-trusted-host --no-emit-find-links \
	--output-file $$name.lock $$name.txt; done

parts: $(VENV)/app
	$(BIN)/python tools/parts.py

licenses: $(VENV)/app
	$(BIN)/python tools/parts.py --licenses

# The ledger: `make backup TO=folder KEY_TO=other`, `make restore FROM=folder KEY_FROM=other`, also while
# the server runs. A restored copy that is older than what was seen stays shut until `make accept`, which forgets what was
# spent since. `make rekey` seals all of it under a new key; the server must have been stopped.
backup: $(VENV)/app
	$(BIN)/python -m workbench backup $(TO) $(KEY_TO)

restore: $(VENV)/app
	$(BIN)/python -m workbench restore $(FROM) $(KEY_FROM)

rekey: $(VENV)/app
	$(BIN)/python -m workbench rekey $(KEY_FILE)

accept: $(VENV)/app
	$(BIN)/python -m workbench accept

# Each core takes the next test; numerical libraries keep to one thread each, or they would fight for the cores.
# Servers and workers that tests start read compiled modules, also where the environment asks for none.
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist worksteal

test: $(VENV)/dev chromium
	$(PYTEST) -m "not proof and not release"

# What the last run here skipped, once what it lacked is there.
skipped: $(VENV)/dev chromium
	$(PYTEST) --skipped

proofs: $(VENV)/dev chromium
	$(PYTEST) -m "(proof or hypothesis) and not release" --hypothesis-profile=full

# What a release needs and a change does not: every message in German and Chinese, and README in Chinese.
release-check: $(VENV)/dev
	$(BIN)/python -m pytest --tb=line -m release tests/workbench/language tests/test_documents.py

lint: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

check: lint test proofs

bench: $(VENV)/dev
	set -e; for name in histogram synthesis preview learning anonymize attacks local ledger interaction sharing rules; do echo "== $$name"; \
	$(BIN)/python -m benchmarks.$$name; done

# What an earlier build left would come along.
wheel: $(VENV)/dev
	rm -rf build/lib build/bdist*
	$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir build .

# The files app and dev tell when the requirements were last installed, each package with its hash. What tests need
# holds what the app needs, and for some packages older versions: once it is there, it alone counts.
$(VENV)/app: requirements.lock | $(BIN)/python
	@if test -e $(VENV)/dev; then $(MAKE) -s $(VENV)/dev; else \
	$(INSTALL) --require-hashes -r requirements.lock || $(NO_PACKAGES); fi
	@rm -f $(VENV)/unfinished; touch $@

$(VENV)/dev: requirements-dev.lock | $(BIN)/python
	@$(INSTALL) --require-hashes -r requirements-dev.lock || $(NO_PACKAGES)
	@rm -f $(VENV)/unfinished; touch $@

# PySpark and the driver of PostgreSQL, which only such connected sources need; Spark wants Java besides.
engines: $(VENV)/dev
	@$(INSTALL) -r requirements-spark.txt -r requirements-postgres.txt || $(NO_PACKAGES)

$(BIN)/python:
	@$(or $(PYTHON),false) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info < (3, 14))' 2>/dev/null || \
	{ echo "Python 3.11, 3.12 or 3.13 is needed: install one, or name it, as in make app PYTHON=python3.12." >&2; exit 1; }
	@test -e $(VENV) || { mkdir -p $(VENV) && touch $(VENV)/unfinished; } 2>/dev/null; test -w $(VENV) || \
	{ echo "This folder cannot be written: clone the project where you may write, or name a place in VENV=folder." >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || \
	{ test ! -e $(VENV)/unfinished || rm -rf $(VENV); echo "Python's venv is missing: install it (Debian: apt install python3-venv)." >&2; exit 1; }

# Messages are sorted and carry no line numbers, so that a catalogue changes only where a message does.
EXTRACT := mkdir -p build && PYTHONPATH=. $(BIN)/pybabel -q extract -F workbench/language/babel.cfg --no-location --no-wrap \
	--sort-output -o build/workbench.pot pages workbench dpcore
UPDATE := $(BIN)/pybabel -q update -i build/workbench.pot -d workbench/language -D workbench --no-fuzzy-matching \
	--ignore-obsolete --ignore-pot-creation-date --no-wrap

messages: $(VENV)/dev
	$(EXTRACT)
	$(UPDATE)

chromium:
	@if command -v chromium >/dev/null; then :; \
	elif [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	{ apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends \
	chromium fonts-wqy-zenhei >/dev/null; } || echo "No chromium could be installed: the browser tests will be skipped."; \
	else echo "No chromium here: the browser tests will be skipped."; fi
