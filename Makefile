# Everything a newcomer needs: `make demo`, `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow lint format types check validation reproduce docs clean

help:  ## list the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

$(STAMP): pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[dev]"
	touch $@

demo: $(STAMP)  ## fit real data, print the comparison, draw the pictures into demo/
	$(BIN)/python -m bayesmargin.demo

# Two processes on two cores: more threads of linear algebra would wait for each other, and busily.
TESTS := OPENBLAS_NUM_THREADS=1 $(BIN)/python -m pytest -n 2 --dist loadfile

test: $(STAMP)  ## the fast test suite
	$(TESTS) -m "not slow"

test-slow: $(STAMP)  ## the statistical tests that take minutes
	$(TESTS) -m slow

lint: $(STAMP)  ## style errors
	$(BIN)/ruff check .

format: $(STAMP)  ## formatting differences (make format-fix applies them)
	$(BIN)/ruff format --check .

format-fix: $(STAMP)  ## apply formatting and safe lint fixes
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(STAMP)  ## static types
	$(BIN)/mypy

check: test lint format types  ## all that CI runs

validation: $(STAMP)  ## every sampler against the truth: docs/validation.md and its figures
	$(BIN)/python -m bayesmargin.validation.page docs

reproduce: $(STAMP)  ## the paper's figures and tables: docs/reproduction.md (SIZE=--quick for a minute each)
	$(BIN)/bayesmargin reproduce all $(SIZE) --out docs

DOCS_STAMP := $(VENV)/.installed-docs
$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[docs]"
	touch $@

docs: $(DOCS_STAMP)  ## the documentation site in docs/_build/html; warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -n -b html docs docs/_build/html

clean:  ## remove the environment and caches
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache demo docs/_build docs/generated
