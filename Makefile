# Each target creates the environment it needs; PYTHON chooses the interpreter. `make help` lists the targets that have a `##` comment.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.ready

.PHONY: help setup check test test-torch test-fleet test-jax test-site test-pages lint docs clean wheels test-wheels test-oldest release-check

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' Makefile

setup: $(STAMP) ## create .venv for development and build the extension

$(STAMP): pyproject.toml setup.py $(shell find src/samovar/_native -name "*.[ch]")
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(STAMP)

check: setup ## a quick check: lint, types, and the tests of the files that changed since main
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python tools/changed_tests.py

test: lint ## what continuous integration runs: lint, types, all tests, some under sanitizers (up to ten minutes)
	$(BIN)/python -m pytest -n 2
	$(MAKE) sanitize-quick

# torch's CPU build, for CPython 3.11; `make test` skips these tests if torch is missing.
test-torch: setup ## the tests that need torch
	$(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pytest tests/runtime/test_torch_arrays.py tests/runtime/test_torch_kernels.py tests/runtime/test_torch_gradients.py tests/documentation/test_code_blocks.py

# Dask's and Ray's clusters on this machine; `make test` skips them.
test-fleet: setup ## the tests of fleets with real engines and an S3 server
	$(BIN)/python -c 'import distributed, ray, xarray, s3fs, moto' 2>/dev/null || \
		$(BIN)/python -m pip install --quiet distributed ray xarray s3fs 'moto[server]'
	$(BIN)/python -m pytest -m "stress or not stress" tests/tiers

test-jax: setup ## gradients against JAX
	$(BIN)/python -c 'import jax' 2>/dev/null || $(BIN)/python -m pip install --quiet jax jaxlib
	$(BIN)/python -m pytest tests/language/test_gradients_against_jax.py

wheels: setup ## build wheels for each installed Python into dist/
	$(BIN)/python release/wheels.py

test-wheels: setup ## test the wheels in clean environments
	$(BIN)/python release/test_wheels.py

# TESTS selects a part of the suite.
test-oldest: setup ## run the suite with the oldest supported libraries, and with each llvmlite since
	$(BIN)/python release/test_oldest.py $(TESTS)

release-check: setup ## run the release checklist
	$(BIN)/python release/checklist.py

lint: setup ## ruff, mypy, basedpyright, stubtest
	$(BIN)/ruff check .
	$(BIN)/mypy
	MYPYPATH=examples $(BIN)/mypy examples tests/api/user_code.py
	$(BIN)/basedpyright --level error
	$(BIN)/stubtest samovar --concise --mypy-config-file pyproject.toml --ignore-disjoint-bases \
		--allowlist tests/api/not_stubs.txt --ignore-unused-allowlist

# A warning is an error. The variable silences MkDocs' announcement of version 2.
docs: setup ## build the documentation into build/site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

test-site: setup ## test the documentation in Chromium
	$(BIN)/python -c 'import playwright' 2>/dev/null || $(BIN)/python -m pip install --quiet playwright
	test -n "$$CHROMIUM" || $(BIN)/playwright install chromium
	$(BIN)/python -m pytest tests/documentation/in_browser.py

# CHROMIUM names the browser, by default the chromium of the system; without one, the tests are skipped.
test-pages: setup ## test windows and the viewer in Chromium
	$(BIN)/python -c 'import playwright' 2>/dev/null || $(BIN)/python -m pip install --quiet playwright
	$(BIN)/python -m pytest tests/ui/in_browser.py tests/cli/viewer_in_browser.py

clean: ## remove builds and environments
	rm -rf build .venv* src/*.egg-info src/samovar/*.so

# --- Sanitizers ----------------------------------------------------------------------------------------------------
# A copy of the package with an instrumented extension, run by the ordinary interpreter with the runtime preloaded.
SANITIZED = build/sanitize
RACES = build/races
NATIVE = src/samovar/_native
INSTRUMENT = $(BIN)/python setup.py --quiet build --build-temp $@-temp --build-lib $@
SANITIZE_TESTS ?= tests/native tests/runtime tests/frontend tests/lens tests/cache
PYTEST_SANITIZED = PYTHONMALLOC=malloc $(BIN)/python -m pytest -p no:cacheprovider

.PHONY: sanitize sanitize-quick run-sanitize-quick tsan stress $(SANITIZED) $(RACES)

$(SANITIZED): setup
	rm -rf $@
	SAMOVAR_SANITIZE="-O1 -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer" $(INSTRUMENT)

# The interpreter's own leaks would hide ours; `make stress` checks for leaks.
UNDER_SANITIZERS = LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 PYTHONPATH="$(CURDIR)/$(SANITIZED)" $(PYTEST_SANITIZED) -n 2

sanitize: $(SANITIZED) ## run the native code under ASan and UBSan
	$(UNDER_SANITIZERS) $(SANITIZE_TESTS)

# The part that `make test` has time for: memory handling, and objects that change while native code reads them.
SANITIZE_QUICK = \
	$(patsubst %,tests/native/test_%.py,attributes classes_that_change codec contents dlpack_tensors dtype cache_entry guard_programs \
		guards image launcher launcher_object memory_errors plain_schema syntax_tree tensor_view) tests/cache/test_forged_entries.py \
	$(patsubst %,tests/lens/test_%.py,adopting_trees kinds reading replay decision_tree two_readings_of_lines two_replays) \
	$(patsubst %,tests/runtime/test_%.py,arrays_access arrays_exchange arrays_memory arrays_pickle arrays_repr \
		changes_that_are_hard_to_see foreign_arguments guards_of_another_nature guards_of_traces masked_arrays \
		objects_that_change_class what_is_kept_alive) \
	$(patsubst %,tests/fingerprint/test_%.py,changes_on_the_way two_traversals)

sanitize-quick:
	@if test -e "$$(gcc -print-file-name=libasan.so)"; then $(MAKE) --no-print-directory $(SANITIZED) run-sanitize-quick; \
		else echo "sanitize-quick: gcc has no libasan; skipped"; fi

run-sanitize-quick:
	$(UNDER_SANITIZERS) $(SANITIZE_QUICK)

$(RACES): setup
	rm -rf $@
	SAMOVAR_SANITIZE="-O1 -fsanitize=thread -fno-omit-frame-pointer" $(INSTRUMENT)

# The thread pool alone, then launches from many Python threads. The interpreter is not instrumented; TSan understands its lock.
tsan: $(RACES) ## run the thread pool and launches under TSan
	gcc -std=c11 -O1 -g -fsanitize=thread -I$(NATIVE) $(NATIVE)/threads/pool.c $(NATIVE)/threads/processors.c \
		$(NATIVE)/threads/saved_values.c tests/native/c/pool_stress.c -pthread -lm -o $(RACES)/pool_stress
	TSAN_OPTIONS=halt_on_error=1 $(RACES)/pool_stress 300 nofork
	gcc -std=gnu11 -O1 -g -fsanitize=thread -I$(NATIVE) $(NATIVE)/sparse/tree.c tests/native/c/sparse_stress.c -pthread \
		-o $(RACES)/sparse_stress
	TSAN_OPTIONS=halt_on_error=1 $(RACES)/sparse_stress 20
	LD_PRELOAD="$$(gcc -print-file-name=libtsan.so)" TSAN_OPTIONS=halt_on_error=1:exitcode=66 PYTHONPATH="$(CURDIR)/$(RACES)" \
		$(BIN)/python tests/native/stress_launches.py

stress: setup ## long runs, property tests with many more examples, and planted faults
	$(BIN)/python tests/native/stress_launches.py
	$(BIN)/python tests/native/soak.py 60
	SAMOVAR_TEST_PROFILE=stress $(BIN)/python -m pytest -m stress -o faulthandler_timeout=7200
	$(BIN)/python tests/planted_faults.py

# --- Demo and benchmarks-----------------------------------------------------------------------------------------------
# The demo has an environment of its own with nothing but the package and its two dependencies.
DEMO_VENV ?= .venv-demo
DEMO_STAMP = $(DEMO_VENV)/.ready
# All frameworks run on one interpreter; 3.11 is the one that all of them support.
BENCH_VENV ?= .venv-bench
BENCH_PYTHON ?= $(shell command -v python3.11 || ls -d $$HOME/.pyenv/versions/3.11*/bin/python 2>/dev/null | tail -1 || echo $(PYTHON))
BENCH_STAMP = $(BENCH_VENV)/.ready
BENCH_PEERS = numba==0.68.1 quadrants==1.3.3 warp-lang==1.19.0 taichi==1.7.4

.PHONY: demo bench bench-setup accuracy plots gallery

demo: $(DEMO_STAMP) ## boil a samovar: run a fluid simulation, write out/steam.png and print timings
	$(DEMO_VENV)/bin/python examples/steam.py

$(DEMO_STAMP): pyproject.toml setup.py $(shell find src/samovar -name '*.py' -o -name '*.c' -o -name '*.h')
	test -x $(DEMO_VENV)/bin/python || $(PYTHON) -m venv $(DEMO_VENV)
	$(DEMO_VENV)/bin/python -m pip install --quiet --disable-pip-version-check .
	touch $(DEMO_STAMP)

bench-setup: $(BENCH_STAMP)

# Not editable: an editable installation checks its sources at each start.
$(BENCH_STAMP): pyproject.toml setup.py $(shell find src/samovar -name '*.py' -o -name '*.c' -o -name '*.h')
	test -x $(BENCH_VENV)/bin/python || $(or $(BENCH_PYTHON),$(PYTHON)) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install --quiet numpy mpmath rich matplotlib
	@for peer in $(BENCH_PEERS); do \
		$(BENCH_VENV)/bin/python -m pip install --quiet $$peer || \
		echo "bench-setup: $$peer does not install on this interpreter; the benchmarks leave it out"; \
	done
	$(BENCH_VENV)/bin/python -m pip install --quiet --force-reinstall --no-deps .
	$(BENCH_VENV)/bin/python -m pip install --quiet .
	touch $(BENCH_STAMP)

bench: bench-setup ## compare with C, Numba, Quadrants, Warp and Taichi; figures go to out/
	$(BENCH_VENV)/bin/python benchmarks/launch.py
	$(BENCH_VENV)/bin/python benchmarks/launch.py --compound
	$(BENCH_VENV)/bin/python benchmarks/robot.py
	$(BENCH_VENV)/bin/python benchmarks/examples.py
	$(BENCH_VENV)/bin/python benchmarks/startup.py
	BENCH_THREADS=1 $(BENCH_VENV)/bin/python benchmarks/throughput.py --clock cpu

plots: bench-setup ## draw the plots of README and site from the figures in out/
	$(BENCH_VENV)/bin/python tools/documentation/plots.py

gallery: setup ## run the examples and update the pictures of the site
	$(BIN)/python tools/documentation/gallery.py

accuracy: bench-setup ## measure the error of every math function, for docs/accuracy.md
	$(BENCH_VENV)/bin/python benchmarks/accuracy.py
