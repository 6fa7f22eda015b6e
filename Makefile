# Every target makes .venv and installs what it needs when that is missing: Python 3.11+ and make are enough.
PYTHON ?= python3
BIN := .venv/bin
READY := .venv/.ready
DEMO_READY := .venv/.ready-demo
DOCS_READY := .venv/.ready-docs
# the lowest versions that pyproject.toml allows, with the lowest Python
LOWEST := .venv-lowest
LOWEST_PYTHON ?= python3.11
LOWEST_READY := $(LOWEST)/.ready
KERNEL_TESTS := $(patsubst %,tests/stages/test_%.py,aggregate tokens hashing counting estimators_one_pass curves classify linear_svm redundancy scores)
export TERMSIEVE_DATA ?= $(wildcard ../shared/data)

.PHONY: help test bench-scale coverage mutants test-lowest demo lint audit damage fuzz bench bench-peers docs links reproduce report-pdf study clean

help:
	@echo "make test | coverage | mutants | test-lowest | demo | lint | audit | damage | fuzz | bench | bench-peers | docs | links | reproduce | report-pdf | clean"

$(BIN)/python:
	$(PYTHON) -c 'import sys; sys.exit("termsieve needs Python 3.11 or newer, this is " + sys.version.split()[0] if sys.version_info < (3, 11) else 0)'
	$(PYTHON) -m venv .venv

# what the demo needs, not the developers' tools
$(DEMO_READY): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[demo]'
	@touch $@

$(READY): pyproject.toml constraints.txt | $(BIN)/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]'
	@touch $@

$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@

# made anew when a bound changes: what was installed before must not stay; not quiet: pip says which bounds conflict
$(LOWEST_READY): pyproject.toml .ci/lowest.py
	$(LOWEST_PYTHON) -c 'import sys; sys.exit("the lowest versions go with Python 3.11, this is " + sys.version.split()[0] if sys.version_info[:2] != (3, 11) else 0)'
	$(LOWEST_PYTHON) -m venv --clear $(LOWEST)
	$(LOWEST)/bin/python .ci/lowest.py test > $(LOWEST)/lowest.txt
	$(LOWEST)/bin/python -m pip install --progress-bar off --disable-pip-version-check -c $(LOWEST)/lowest.txt -e '.[test]'
	$(LOWEST)/bin/python -m pip check
	@touch $@

# fails, too, where the tests run less than this of the lines and branches; without the corpora many of them are skipped
COVERAGE_FLOOR ?= $(if $(TERMSIEVE_DATA),93,0)
TESTS := PYTHONPATH=tests $(BIN)/python -m pytest -p coverage_plugin -n auto --dist worksteal

test: $(READY) lint
	$(TESTS) --coverage-floor $(COVERAGE_FLOOR)

# what the tests do not run, line by line. numba's loops are compiled, and no line of them is seen: a second run has them as
# Python, which takes long and warns of overflow where machine code does not
coverage: $(READY)
	$(TESTS) --coverage-missing
	NUMBA_DISABLE_JIT=1 $(TESTS) --coverage-missing -W ignore::RuntimeWarning $(KERNEL_TESTS)

# change the code in one place, see whether a test fails: a sample, about 340 changes
mutants: $(READY)
	$(BIN)/python benchmarks/mutants.py

test-lowest: $(LOWEST_READY)
	$(LOWEST)/bin/python -m pytest -n auto --dist worksteal

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/bandit -q -c pyproject.toml -r src

# known weaknesses of the packages that are installed: needs the public list of advisories, so it is no part of the tests
audit: lint
	$(BIN)/python -m pip install --quiet --disable-pip-version-check 'pip-audit>=2.9'
	$(BIN)/pip-audit --skip-editable --strict

# thousands of damaged files of each kind; `make test` tries some
damage: $(READY)
	DAMAGED_FILES=3000 $(BIN)/python -m pytest tests/damage -s -n auto --dist worksteal

# random inputs for so many seconds; `make test` runs one round
SECONDS ?= 60
SEED ?= 0
fuzz: $(READY)
	$(BIN)/python tests/fuzz/fuzz.py --seconds $(SECONDS) --seed $(SEED)

demo: $(DEMO_READY)
	$(BIN)/termsieve demo

bench: $(READY)
	$(BIN)/python benchmarks/run.py

# beside its peers, each in an environment of its own under .venv-peers: some minutes to install, some to run
bench-peers: $(READY)
	$(BIN)/python benchmarks/peers.py
	$(BIN)/python docs/make_benchmarks.py

# 10 GB of text, generated: 12 GB of disk in the folder for temporary files, and minutes; kept out of `make test`
bench-scale: $(READY)
	$(BIN)/python benchmarks/scale.py
	$(BIN)/python benchmarks/engines.py

# about an hour of CPU; one that was stopped goes on with `make reproduce FRESH=`
FRESH ?= --fresh
reproduce: $(READY)
	$(BIN)/termsieve reproduce all $(FRESH) --into docs/results
	$(BIN)/python docs/make_reproduction.py

# the technical report as docs/_build/technical_report.pdf: needs Chromium
report-pdf: $(READY)
	$(BIN)/python docs/make_pdf.py

study: $(READY)
	$(BIN)/termsieve study scores --setting sample --into docs/results
	$(BIN)/python docs/make_choosing.py

# asks every address on the pages: needs the network, so it is no part of the tests
links: $(DOCS_READY)
	$(BIN)/python docs/make_scores.py
	$(BIN)/python docs/make_datasets.py
	$(BIN)/python -m sphinx -q -b linkcheck docs docs/_build/linkcheck

docs: $(DOCS_READY)
	$(BIN)/python docs/make_scores.py
	$(BIN)/python docs/make_datasets.py
	$(BIN)/python -m sphinx -q -n -W -b html docs docs/_build/html
	SITE=docs/_build/html $(BIN)/python -m pytest -q tests/pages/test_site.py
	@echo "docs/_build/html/index.html"

clean:
	rm -rf .venv .venv-peers $(LOWEST) build dist docs/_build .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
