# Everything runs in .venv, made on first use and again only when the dependencies change.
PYTHON ?= $(shell command -v python3.11 || echo python3)
BIN := .venv/bin
READY := .venv/.ready
# The fast tests run in so many processes, of one thread each; the tests of a file share one.
WORKERS ?= 2

.PHONY: demo test check fast slow bench

demo: $(READY)  ## condense the digits by mean and by quantile matching, evaluate, draw
	$(BIN)/lqm demo

test: check fast  ## what CI runs

check: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

fast: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/pytest -n $(WORKERS) --dist loadfile

slow: $(READY)  ## the tests that take longer
	$(BIN)/pytest -m slow

bench: $(READY)  ## speed, as ratios
	$(BIN)/python -m benchmarks

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	PIP_CONSTRAINT=$(CURDIR)/constraints.txt $(BIN)/pip install --quiet --editable '.[dev]'
	touch $@
