# Everything a contributor runs. `make test` needs nothing but Python 3.11+, Git and a package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.PHONY: test lint check bench faults fuzz docs tour clean

test: $(STAMP) lint
	$(BIN)/pytest -n auto

check: $(STAMP)
	$(BIN)/pytest -n auto

lint: $(STAMP)
	$(BIN)/ruff check gitmem tests
	$(BIN)/ruff format --check gitmem tests
	$(BIN)/mypy
	$(BIN)/lint-imports

faults: $(STAMP)
	$(BIN)/pytest -m "slow or not slow" tests/transaction

fuzz: $(STAMP)
	$(BIN)/pytest -m "slow or not slow" tests/vault tests/relevance tests/render

bench: $(STAMP)
	$(BIN)/python tests/bench/run.py

docs: $(STAMP)
	$(BIN)/python -c "from gitmem.policy.authority import format_table; print(format_table(), end='')" > docs/authority.md

tour: $(STAMP)
	$(BIN)/gitmem tour

$(STAMP): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
	touch $(STAMP)

clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .import_linter_cache .hypothesis
