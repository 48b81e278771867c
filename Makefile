# Everything that a fresh machine needs is Python 3.11 or newer and make: each target works first.

PYTHON ?= python3
VENV ?= .venv
# test workers; empty: as many as suit the machine
JOBS ?=
ARGS ?=

BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet --quiet
# a module's flights compile once when one worker runs the whole module
PYTEST := $(BIN)/python -m pytest --dist loadgroup --no-loadscope-reorder
WORKERS = $(or $(JOBS),$(shell scripts/workers))

.DEFAULT_GOAL := help
.PHONY: help dev demo test test-all release coverage check docs test-docs bench bench-compare bench-history lock clean

help:  ## List the targets
	@grep -hE '^[a-z-]+:.*## ' Makefile | sed -E 's/^([a-z-]+):.*## (.*)/  make \1\t\2/' | expand -t 18

dev: $(VENV)/.dev  ## Set up everything for a contributor, with checks before each commit
	@if git rev-parse --git-dir > /dev/null 2>&1; then $(BIN)/pre-commit install; fi
	@echo "Ready: source $(BIN)/activate"

demo: $(VENV)/.package  ## Fly a library scenario and draw it
	@rm -rf runs/demo
	@$(BIN)/kittiwake run waypoint-tour --out runs/demo
	@echo "Picture: runs/demo/overview.png"

test: $(VENV)/.test  ## Run the tests, the slow ones left out (ARGS="..." goes to pytest)
	@VENV=$(VENV) JOBS=$(JOBS) scripts/test $(ARGS)

test-all: $(VENV)/.learners  ## Run all tests, compiled as users compile them
	@VENV=$(VENV) JOBS=$(JOBS) scripts/test --all $(ARGS)

release: $(VENV)/.test  ## Test what has to hold before a release only
	@$(PYTEST) -m release $(ARGS) tests/contract

coverage: $(VENV)/.test  ## Run the tests and fail when too few branches are reached
	@$(PYTEST) -n $(WORKERS) -m "not slow and not release" --cov --cov-report=term $(ARGS)

test-docs: $(VENV)/.test  ## Run every code block and command of the documentation, and the examples
	@VENV=$(VENV) JOBS=$(JOBS) scripts/test $(ARGS) --jaxtyping-packages= tests/examples

check: $(VENV)/.test  ## Check format, lint, types, import contracts, spelling, vocabulary, dependencies
	@VENV=$(VENV) scripts/check

docs: $(VENV)/.docs  ## Build the documentation into site/
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "Documentation: site/index.html"

bench-compare: $(VENV)/.package  ## Measure the speed against another commit (BASE=COMMIT)
	@$(BIN)/python benchmarks/compare_commits.py $(or $(BASE),HEAD~1) HEAD $(ARGS)

bench-history: $(VENV)/.package  ## Record the speed of a release beside the machine's limit (RELEASE=0.2.0)
	@$(BIN)/python benchmarks/record_history.py $(or $(RELEASE),$(error name the release: make bench-history RELEASE=0.2.0)) $(ARGS)

bench: $(VENV)/.package  ## Measure the speed on this machine
	@$(BIN)/kittiwake bench

lock:  ## Pin the dependencies of pyproject.toml anew (ARGS=--upgrade takes newer ones)
	@$(PYTHON) scripts/lock $(ARGS)

clean:  ## Remove the environment and everything that was made, except runs/
	rm -rf $(VENV) site dist build .coverage .coverage.* .pytest_cache .ruff_cache .mypy_cache .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# Stamps: what is installed is installed again only after the file it came from has changed.

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Kittiwake needs Python 3.11 or newer, but '$(PYTHON)' is not:" \
	    "$$($(PYTHON) --version 2>&1 | tail -n 1). Name another one: make PYTHON=python3.12" >&2; \
	  exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "'$(PYTHON)' cannot create virtual environments." \
	    "On Debian and Ubuntu: apt install python3-venv" >&2; \
	  exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.run: requirements/run.txt $(VENV)/.created
	@echo "Installing Kittiwake into $(VENV); the first time takes about a minute."
	@$(PIP) install -r requirements/run.txt
	@touch $@

$(VENV)/.package: pyproject.toml $(VENV)/.run
	@$(PIP) install --no-deps --no-build-isolation -e .
	@$(BIN)/python -m compileall -q src  # as an installed wheel is, also where Python keeps none
	@touch $@

$(VENV)/.dev $(VENV)/.test $(VENV)/.learners $(VENV)/.docs: $(VENV)/.%: requirements/%.txt $(VENV)/.package
	@echo "Installing requirements/$*.txt."
	@$(PIP) install -r requirements/$*.txt
	@touch $@
