# Everything a contributor runs. `make test` needs nothing but Python 3.11+, Git and a package index.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
HOSTS ?= .hosts
PROGRAMS := tests/hosts/programs
STAMP := $(VENV)/.installed

.PHONY: test lint check bench faults people writers powercut fuzz hosts docs tour clean

test: $(STAMP) lint
	$(BIN)/pytest -n auto --dist worksteal

check: $(STAMP)
	$(BIN)/pytest -n auto --dist worksteal

lint: $(STAMP)
	$(BIN)/ruff check gitmem tests
	$(BIN)/ruff format --check gitmem tests
	$(BIN)/mypy
	$(BIN)/lint-imports

# Every write command broken at every system call: hours. `--case` and `--fault` choose; the rest takes some 20 minutes.
faults: $(STAMP)
	$(BIN)/python tests/faults/run.py
	$(BIN)/pytest -n auto --dist worksteal -m "slow or not slow" tests/transaction tests/faults tests/hostile tests/service/test_revert_histories.py

# People's programs race with writers, and 16 writers with kills race with each other.
people: $(STAMP)
	$(BIN)/pytest -n auto --dist worksteal -m "slow or not slow" tests/people

writers: $(STAMP)
	$(BIN)/python tests/writers/storm.py --processes 16 --operations 50 --seed 1 --kills

# Needs root, a loop device and mkfs.ext4.
powercut: $(STAMP)
	$(BIN)/python tests/faults/powercut.py

fuzz: $(STAMP)
	$(BIN)/pytest -m "slow or not slow" tests/vault tests/relevance tests/render

# The hosts' real programs, by npm and pip into $(HOSTS): 1.5 GB. They talk to a stand-in for the models.
hosts: $(STAMP) $(HOSTS)/.installed
	GITMEM_TEST_HOSTS=$(abspath $(HOSTS)) $(BIN)/pytest -n auto --dist loadgroup -rs $(PROGRAMS)

$(HOSTS)/.installed: $(PROGRAMS)/package.json $(PROGRAMS)/requirements.txt
	mkdir -p $(HOSTS)
	cp $(PROGRAMS)/package.json $(HOSTS)/
	npm install --prefix $(HOSTS) --silent --no-audit --no-fund
	-$(PYTHON) -m venv $(HOSTS)/env && $(HOSTS)/env/bin/python -m pip install --quiet --disable-pip-version-check -r $(PROGRAMS)/requirements.txt
	touch $@

bench: $(STAMP)
	$(BIN)/python tests/bench/run.py
	$(BIN)/python tests/bench/hook.py

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
