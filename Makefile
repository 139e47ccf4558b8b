# Each target sets up what it needs in .venv; PYTHON chooses the interpreter.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.ready

.PHONY: setup test lint clean

setup: $(STAMP)

$(STAMP): pyproject.toml setup.py $(wildcard src/samovar/_native/*.c src/samovar/_native/*.h)
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(STAMP)

test: lint
	$(BIN)/python -m pytest -n 2

lint: setup
	$(BIN)/ruff check .
	$(BIN)/mypy

clean:
	rm -rf build .venv* src/*.egg-info src/samovar/*.so
