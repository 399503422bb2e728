# `make demo` and `make test` are all a newcomer needs: each sets everything up first.
PYTHON ?= python3
CONSTRAINTS ?= constraints-cpu.txt
EXTRAS ?= dev,linking,datasets,lm,object-storage,ray,steward,training
BIN := .venv/bin
STAMP := .venv/.installed
CODE := ontoground kg ehr builders training stewardship app tests

.PHONY: setup demo test check lint types bench growth clean
setup: $(STAMP)

$(STAMP): pyproject.toml $(CONSTRAINTS)
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip
	$(BIN)/pip install --quiet --disable-pip-version-check $(if $(CONSTRAINTS),-c $(CONSTRAINTS)) -e '.[$(EXTRAS)]'
	touch $(STAMP)

demo: setup
	$(BIN)/ontoground demo

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/sqlfluff lint --processes 2 sql

types: setup
	$(BIN)/mypy

check: lint types

test: check
	$(BIN)/pytest -n 2 --dist loadgroup

# SCALE=0.333 is a third of the real releases: hours on two cores, 20 GB of disk below TMPDIR.
bench: setup
	$(BIN)/python -m benchmarks.run $(if $(SCALE),--scale $(SCALE)) $(if $(WORLD),--world $(WORLD)) $(if $(SAVE),--save)

# The flow at several scales, fitted exponents, and docs/benchmarks.md with all that is saved.
growth: setup
	$(BIN)/python -m benchmarks.growth --scales $(or $(SCALES),0.001 0.003 0.01 0.03)
	$(BIN)/python -m benchmarks.report

clean:
	rm -rf .venv work dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
