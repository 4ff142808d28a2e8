# Everything a newcomer needs: `make demo`, `make test`. `make help` lists the rest.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-newest lint format types check validation reproduce docs docs-quick clean

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

# The newest Python on this machine with the newest of everything; `make demo`'s path, saving, ArviZ,
# scikit-learn's checks, files and shell: what other packages can break.
NEWEST := .venv-new
NEWEST_STAMP := $(NEWEST)/.installed
NEWEST_TESTS := tests/compat tests/saving/test_saved_models.py tests/linear/test_estimator.py \
	tests/core/test_compiling.py tests/core/test_diagnostics.py tests/report/test_report.py

$(NEWEST_STAMP): pyproject.toml
	rm -rf $(NEWEST)
	"$$(.ci/newest-python)" -m venv $(NEWEST)
	$(NEWEST)/bin/python -m pip install --quiet --disable-pip-version-check -e ".[test,neighbours]"
	touch $@

test-newest: $(NEWEST_STAMP)  ## saving, ArviZ, scikit-learn's checks, reports on the newest Python and packages
	OPENBLAS_NUM_THREADS=1 $(NEWEST)/bin/python -m pytest -n 2 --dist loadfile -m "not slow" $(NEWEST_TESTS)

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
	$(BIN)/bayesmargin reproduce all $(SIZE) --output docs

DOCS_STAMP := $(VENV)/.installed-docs
$(DOCS_STAMP): $(STAMP)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e ".[docs]"
	touch $@

docs: $(DOCS_STAMP)  ## the documentation site in docs/_build/html; warnings are errors
	$(BIN)/python -m sphinx -W --keep-going -n -b html docs docs/_build/html

docs-quick: $(DOCS_STAMP)  ## the site without running its gallery or its pages
	$(BIN)/python -m sphinx -W --keep-going -n -b html -D plot_gallery=0 docs docs/_build/quick

clean:  ## remove the environments and caches
	rm -rf $(VENV) $(NEWEST) .mypy_cache .ruff_cache .pytest_cache demo docs/_build docs/generated
