# Everything runs in .venv, made on first use and again only when the dependencies change.
PYTHON ?= $(shell command -v python3.11 || echo python3)
BIN := .venv/bin
READY := .venv/.ready
PINNED := $(BIN)/pip install --quiet --no-deps --only-binary=:all: --require-hashes --requirement
# The fast tests run in so many processes, of one thread each; the tests of a file share one.
WORKERS ?= 2
FUZZ_SECONDS ?= 600

.PHONY: demo test check fast slow bench fuzz results docs

demo: $(READY)  ## condense the digits by mean and by quantile matching, three seeds each, and compare
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

results: $(READY)  ## docs/results.md from its template and the lines of studies
	$(BIN)/python -m tools.results

docs: $(READY)  ## the documentation site, in site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --quiet --strict

fuzz: .venv/.fuzz  ## fuzz every reader of files for ten minutes each
	OMP_NUM_THREADS=1 $(BIN)/python -m fuzz --seconds $(FUZZ_SECONDS)

.venv/.fuzz: constraints-fuzz.txt | $(READY)
	$(PINNED) constraints-fuzz.txt
	touch $@

$(READY): pyproject.toml constraints.txt constraints-cpu.txt
	$(PYTHON) -m venv .venv
	$(PINNED) constraints-cpu.txt 2> /dev/null || true
	$(PINNED) constraints.txt
	# The build of torch with CUDA names the libraries that it needs beside.
	$(BIN)/python -c 'import torch' 2> /dev/null || $(BIN)/pip install --quiet torch==2.13.0
	$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
	$(BIN)/pip check
	touch $@
