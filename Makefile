# Nothing to prepare: each command makes its own .venv with venv and pip.
#   make demo      a small run of each study, with a report
#   make test      lint, types, layers and tests, as the continuous integration runs them
#   make mutants   small faults put into the check, its metrics and statistics: do the tests notice?

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11 python; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
DEMO_OUT ?= runs/demo

.PHONY: demo test mutants clean

demo: $(VENV)/.installed
	$(BIN)/xassay run crem --sample 40 --max-background 300 --jobs 2 --out $(DEMO_OUT)
	$(BIN)/xassay run maple --experiment blackbox --trials 3 --sample 40 --jobs 2 --out $(DEMO_OUT)-maple

test: $(VENV)/.installed-dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest -n 2 -q

mutants: $(VENV)/.installed-dev
	$(BIN)/python bench/mutants.py $(MUTANTS)

$(VENV)/bin/python:
	@test -n "$(PYTHON)" || { echo "xassay needs Python 3.11 or newer; none was found. Name one: make PYTHON=/path/to/python3 $(MAKECMDGOALS)"; exit 2; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e .
	@touch $@

$(VENV)/.installed-dev: $(VENV)/bin/python pyproject.toml
	$(BIN)/pip install --quiet --disable-pip-version-check -e '.[dev]'
	@touch $@ $(VENV)/.installed

clean:
	rm -rf $(VENV) runs build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
