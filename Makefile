# Each target sets up what it needs in .venv; PYTHON chooses the interpreter.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.ready

.PHONY: setup test test-torch lint clean

setup: $(STAMP)

$(STAMP): pyproject.toml setup.py $(wildcard src/samovar/_native/*.c src/samovar/_native/*.h)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(STAMP)

test: lint
	$(BIN)/python -m pytest -n 2

# torch's CPU build, for CPython 3.11; `make test` skips these tests where torch is missing.
test-torch: setup
	$(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/python -m pip install --quiet torch==2.13.0 \
		--extra-index-url https://download.pytorch.org/whl/cpu
	$(BIN)/python -m pytest tests/runtime/test_torch_arrays.py

lint: setup
	$(BIN)/ruff check .
	$(BIN)/mypy

clean:
	rm -rf build .venv* src/*.egg-info src/samovar/*.so
