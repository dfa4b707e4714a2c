# `make` lints, checks types and import contracts, and tests. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/ready
FUZZ_SECONDS ?= 60

.PHONY: all help test lint types contracts fuzz explore explore-night pictures vectors hazards prove bounds bench clean lock tlc
.DEFAULT_GOAL := all

all: lint types contracts test ## Lint, types, import contracts and tests

help: ## List the targets
	@awk -F':.*## ' '/^[a-z-]+:.*## / {printf "  %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(READY): requirements.txt pyproject.toml
	@if command -v uv >/dev/null 2>&1; then \
		set -e; \
		test -d $(VENV) || uv venv -q --python $(PYTHON) $(VENV); \
		uv pip install -q --python $(BIN)/python --require-hashes -r requirements.txt; \
		uv pip install -q --python $(BIN)/python --no-deps --no-build-isolation -e .; \
	else \
		set -e; \
		test -x $(BIN)/python || $(PYTHON) -m venv $(VENV); \
		$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements.txt; \
		$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .; \
	fi
	@touch $@

test: $(READY) ## Run the test suite
	$(BIN)/python -m pytest -n 2 --dist loadgroup

lint: $(READY) ## Check style and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: $(READY) ## Check types with mypy and pyright
	$(BIN)/mypy
	@command -v node >/dev/null || { echo "pyright needs node on the PATH" >&2; exit 1; }
	PYRIGHT_PYTHON_IGNORE_WARNINGS=1 $(BIN)/pyright

contracts: $(READY) ## Check who imports whom
	$(BIN)/lint-imports

fuzz: $(READY) ## Drive model and store together for FUZZ_SECONDS, from FUZZ_SEED
	$(BIN)/python -m tests.differential.fuzz --seconds $(FUZZ_SECONDS) $(if $(FUZZ_SEED),--seed $(FUZZ_SEED))

prove: $(READY) ## Prove the contracts of the pure predicates, or search for a counterexample: each line says which
	$(BIN)/python -m tests.proofs

tlc: $(READY) ## Check the protocol in TLA+ under both profiles; TLC_SCOPE names another scope
	$(BIN)/python -m tests.tla $(TLC_SCOPE)

explore: $(READY) ## Search every state of two scopes, with and without deletion, and judge every step
	$(BIN)/tenure explore boundary
	$(BIN)/tenure explore deletion

pictures: $(READY) ## Draw the situations of a run for the README: needs Graphviz
	$(BIN)/tenure explore plain --draw specs/situations.svg

vectors: $(READY) ## Write the vectors of the run store from the state graph
	$(BIN)/python -m tenure_model.conform.vectors specs/rules specs/vectors/runs

hazards: $(READY) ## Write specs/hazards.md: what can go wrong, each with the shortest history that shows it
	$(BIN)/python -m tenure_model.explore.hazards specs/hazards.md

explore-night: $(READY) ## Sweep a scope of millions of states: some minutes
	$(BIN)/tenure explore night --stream

bounds: $(READY) ## Write specs/bounds.md and its picture: how close two owners come
	$(BIN)/python -m tenure_model.explore.timed specs

bench: $(READY) ## Measure speed and memory, as ratios in one run
	$(BIN)/python -m tests.bench

lock: ## Pin the newest releases that pyproject.toml admits
	$(BIN)/python -m pip install -q pip-tools
	$(BIN)/pip-compile -q --upgrade --extra dev --generate-hashes --allow-unsafe --strip-extras \
		--no-emit-index-url --no-emit-find-links --no-header --no-annotate -o requirements.txt pyproject.toml

clean: ## Remove the environment and every cache
	rm -rf $(VENV) .cache .hypothesis build dist
