# `make demo` and `make test` are all a newcomer needs: each sets everything up first.
PYTHON ?= python3
CONSTRAINTS ?= constraints-cpu.txt
EXTRAS ?= dev,linking,datasets,lm,object-storage,pages,ray,steward,training,encoder
BIN := .venv/bin
NEWEST := .venv/.newest

KERNELS := .venv/.kernels
LINTED := .venv/.linted-sql
# Programs start some hundred times in the tests: a checkout's modules are compiled once, whatever the environment says.
export PYTHONDONTWRITEBYTECODE :=

comma := ,
# Other extras are another installation.
STAMP := .venv/.installed-$(subst $(comma),-,$(EXTRAS))

.PHONY: setup newest constraints words demo test check lint types kernels studies bench growth attack gpu clean help
setup: $(STAMP)  ## install the package and all extras that go together into .venv

$(STAMP): pyproject.toml $(CONSTRAINTS)
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed: make PYTHON=python3.11")'
	$(PYTHON) -m venv .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --upgrade pip
	$(if $(CONSTRAINTS),,$(MAKE) --no-print-directory newest)
	$(BIN)/pip install --quiet --disable-pip-version-check -c $(or $(CONSTRAINTS),$(NEWEST)) -e '.[$(EXTRAS)]'
	touch $(STAMP)

# The newest versions that go together. pip seeks them without end where nothing is constrained (boto3 of moto wants
# another botocore than s3fs); an index other than PyPI is named by UV_DEFAULT_INDEX.
newest:  ## find the newest versions that go together
	$(BIN)/pip install --quiet --disable-pip-version-check uv
	echo '$(if $(TORCH),torch==$(TORCH))' | $(BIN)/uv pip compile --quiet --upgrade --no-header --no-annotate --python $(BIN)/python \
		$(foreach extra,$(subst $(comma), ,$(EXTRAS)),--extra $(extra)) --constraints - --output-file $(NEWEST) pyproject.toml

# Exact versions of all that is installed, and their licences, from a fresh environment with the newest of all but torch:
# its builds for a CPU lie in an index of their own, from which `make constraints TORCH=...` takes another one.
constraints:  ## renew the exact versions and licences from a fresh environment
	rm -rf .venv
	$(MAKE) --no-print-directory setup CONSTRAINTS= TORCH=$(or $(TORCH),$(shell sed -n 's/^torch==//p' constraints-cpu.txt))
	$(BIN)/python -m benchmarks.supply

# ehr/data/english_words.tsv again, from two packages that are downloaded (100 MB) and not installed.
words: setup  ## make ehr/data/english_words.tsv again
	rm -rf work/words
	$(BIN)/pip download --quiet --no-deps --dest work/words spacy-lookups-data==1.0.5 textblob==0.20.1
	$(BIN)/python -m benchmarks.english_words work/words

demo: setup  ## data, labels, a trained encoder and its report from an invented world
	$(BIN)/ontoground demo

lint: setup $(LINTED)  ## ruff, import-linter, sqlfluff
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

# SQL that was found clean is not read again, unless rules or packages changed.
$(LINTED): $(STAMP) $(shell find sql -name '*.sql')
	$(BIN)/sqlfluff lint $(if $(filter $(STAMP),$?),sql,$?)
	touch $(LINTED)

types: setup  ## mypy --strict
	$(BIN)/mypy

check: lint types  ## lint and types

# Searches and scans are compiled beside the checks, once for all workers; a failure here shows in the tests too.
kernels: $(KERNELS)  ## compile searches and scans once

$(KERNELS): $(STAMP) $(shell grep -rlE 'numba|ground.compiled' --include='*.py' ground kg ehr builders)
	-$(BIN)/python -m tests.kernels
	touch $(KERNELS)

test: setup  ## everything that must hold: kernels, types, lint, pytest
	$(MAKE) --no-print-directory -j 2 kernels types lint
	-git status --porcelain > .venv/.status
	$(BIN)/pytest -n 2 --dist loadgroup --no-loadscope-reorder
	git status --porcelain | diff .venv/.status -  # tests leave a checkout as it was

# What is done stays done; `ONLY=medieval` chooses.
studies: setup  ## four small studies on the open world, one a paper: ONLY=, FOLDER=
	$(BIN)/python -m benchmarks.studies $(if $(FOLDER),--folder $(FOLDER)) $(if $(ONLY),--only $(ONLY))

# SCALE=1 is the size of the real releases: two hours on two cores, 60 GB of disk below TMPDIR (45 measured before MRHIER and MRSAT were in).
# CONCEPTS=20000: so many that notes can speak of. With FOLDER a run that was stopped goes on; `ONLY='--steps mentions --stages graph'` measures some.
bench: setup  ## the flow, timed: SCALE=, CONCEPTS=, FOLDER=
	$(BIN)/python -m benchmarks.run $(if $(SCALE),--scale $(SCALE)) $(if $(CONCEPTS),--concepts $(CONCEPTS)) $(if $(WORLD),--world $(WORLD)) \
		$(if $(FOLDER),--folder $(FOLDER)) $(if $(SAVE),--save) $(ONLY)

# The flow at several scales, fitted exponents, and docs/benchmarks.md with all that is saved.
growth: setup  ## the flow at several scales: SCALES=, FOLDER=
	$(BIN)/python -m benchmarks.growth --scales $(or $(SCALES),0.001 0.003 0.01 0.03) $(if $(FOLDER),--folder $(FOLDER))
	$(BIN)/python -m benchmarks.report

# Kills, malformed inputs, modes, connections, gates and queries; with FOLDER one that was stopped goes on.
attack: setup  ## kills, malformed inputs, gates: SIZE=, PARTS=
	$(BIN)/python -m benchmarks.attack $(if $(SIZE),--size $(SIZE)) $(if $(FOLDER),--folder $(FOLDER)) \
		$(if $(SAVE),--save) $(if $(PARTS),--parts $(PARTS))

# What only a card can tell, in ten minutes; called again it goes on with what is left. `PARTS='masks packed-nf4'` chooses.
gpu: setup  ## what only a card can tell: PARTS=, MINUTES=
	$(BIN)/python -m benchmarks.gpu $(if $(PARTS),--parts $(PARTS)) $(if $(MINUTES),--minutes $(MINUTES))

clean:  ## remove .venv, work and caches
	rm -rf .venv work dist .mypy_cache .ruff_cache .pytest_cache .hypothesis

help:  ## this list
	@sed -nE 's/^([a-z]+):[^#]*## (.*)/\1\t\2/p' Makefile | sort | expand -t 13
