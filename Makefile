# Each target sets up what it needs in .venv; PYTHON chooses the interpreter.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
STAMP = $(VENV)/.ready

.PHONY: setup test test-torch lint docs clean wheels test-wheels test-oldest

setup: $(STAMP)

$(STAMP): pyproject.toml setup.py $(shell find src/samovar/_native -name "*.[ch]")
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $(STAMP)

test: lint
	$(BIN)/python -m pytest -n 2
	$(MAKE) sanitize-quick

# torch's CPU build, for CPython 3.11; `make test` skips these tests where torch is missing.
test-torch: setup
	$(BIN)/python -c 'import torch' 2>/dev/null || $(BIN)/python -m pip install --quiet torch==2.13.0
	$(BIN)/python -m pytest tests/runtime/test_torch_arrays.py tests/runtime/test_torch_kernels.py

# Wheels for each version of Python that is found, in dist/; they are tried out in environments that have nothing else.
wheels: setup
	$(BIN)/python release/wheels.py

test-wheels: setup
	$(BIN)/python release/test_wheels.py

# The suite on the oldest libraries that are declared, and on each llvmlite since then; TESTS chooses a part of it.
test-oldest: setup
	$(BIN)/python release/test_oldest.py $(TESTS)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/mypy
	MYPYPATH=examples $(BIN)/mypy examples tests/api/user_code.py
	$(BIN)/basedpyright --level error
	$(BIN)/stubtest samovar --concise --mypy-config-file pyproject.toml --ignore-disjoint-bases \
		--allowlist tests/api/not_stubs.txt --ignore-unused-allowlist

# The site, into build/site. A warning is an error; what MkDocs says of its own future is none of ours.
docs: setup
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

clean:
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

# Leaks of the interpreter itself would drown ours: `make stress` looks for those.
UNDER_SANITIZERS = LD_PRELOAD="$$(gcc -print-file-name=libasan.so) $$(gcc -print-file-name=libubsan.so)" \
	ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 PYTHONPATH="$(CURDIR)/$(SANITIZED)" $(PYTEST_SANITIZED) -n 2

sanitize: $(SANITIZED)
	$(UNDER_SANITIZERS) $(SANITIZE_TESTS)

# The part of it that `make test` has time for: what handles memory, and objects that change while native code looks at them.
SANITIZE_QUICK = \
	$(patsubst %,tests/native/test_%.py,attributes classes_that_change codec contents dlpack_tensors dtype cache_entry guard_programs \
		guards image launcher launcher_object memory_errors plain_form syntax_tree tensor_view) tests/cache/test_forged_entries.py \
	$(patsubst %,tests/lens/test_%.py,adopting_trees kinds reading replay tree two_readings_of_lines two_replays) \
	$(patsubst %,tests/runtime/test_%.py,arrays_access arrays_exchange arrays_memory arrays_pickle arrays_repr \
		changes_that_are_hard_to_see foreign_arguments guards_of_another_nature guards_of_traces masked_arrays \
		objects_that_change_class what_is_kept_alive) \
	$(patsubst %,tests/fingerprint/test_%.py,changes_on_the_way two_traversals)

sanitize-quick:
	@if test -e "$$(gcc -print-file-name=libasan.so)"; then $(MAKE) --no-print-directory $(SANITIZED) run-sanitize-quick; \
		else echo "sanitize-quick: gcc has no libasan here, nothing is run"; fi

run-sanitize-quick:
	$(UNDER_SANITIZERS) $(SANITIZE_QUICK)

$(RACES): setup
	rm -rf $@
	SAMOVAR_SANITIZE="-O1 -fsanitize=thread -fno-omit-frame-pointer" $(INSTRUMENT)

# The pool alone, then launches from many Python threads. The interpreter is not instrumented; its lock is understood.
tsan: $(RACES)
	gcc -std=c11 -O1 -g -fsanitize=thread -I$(NATIVE) $(NATIVE)/pool.c $(NATIVE)/processors.c tests/native/c/pool_stress.c \
		-pthread -lm -o $(RACES)/pool_stress
	TSAN_OPTIONS=halt_on_error=1 $(RACES)/pool_stress 300 nofork
	LD_PRELOAD="$$(gcc -print-file-name=libtsan.so)" TSAN_OPTIONS=halt_on_error=1:exitcode=66 PYTHONPATH="$(CURDIR)/$(RACES)" \
		$(BIN)/python tests/native/stress_launches.py

# Long runs, property tests with many more examples than in `make test`, and whether the tests see faults.
stress: setup
	$(BIN)/python tests/native/stress_launches.py
	$(BIN)/python tests/native/soak.py 60
	SAMOVAR_TEST_PROFILE=stress $(BIN)/python -m pytest -m stress
	$(BIN)/python tests/planted_faults.py

# --- Demo and benchmarks -------------------------------------------------------------------------------------------
# Peers are compared on one interpreter; 3.11 is the one that all of them support.
BENCH_VENV ?= .venv-bench
BENCH_PYTHON ?= $(shell command -v python3.11 || ls -d $$HOME/.pyenv/versions/3.11*/bin/python 2>/dev/null | tail -1 || echo $(PYTHON))
BENCH_STAMP = $(BENCH_VENV)/.ready
BENCH_PEERS = numba==0.68.1 quadrants==1.3.3 warp-lang==1.19.0 taichi==1.7.4

.PHONY: demo bench bench-setup accuracy

demo: setup
	$(BIN)/python examples/steam.py

bench-setup: $(BENCH_STAMP)

# Not editable: an installation whose sources may change looks at them at each start.
$(BENCH_STAMP): pyproject.toml setup.py $(shell find src/samovar -name '*.py' -o -name '*.c' -o -name '*.h')
	test -x $(BENCH_VENV)/bin/python || $(or $(BENCH_PYTHON),$(PYTHON)) -m venv $(BENCH_VENV)
	$(BENCH_VENV)/bin/python -m pip install --quiet numpy mpmath rich
	@for peer in $(BENCH_PEERS); do \
		$(BENCH_VENV)/bin/python -m pip install --quiet $$peer || \
		echo "bench-setup: $$peer does not install on this interpreter; the benchmarks leave it out"; \
	done
	$(BENCH_VENV)/bin/python -m pip install --quiet --force-reinstall --no-deps .
	$(BENCH_VENV)/bin/python -m pip install --quiet .
	touch $(BENCH_STAMP)

bench: bench-setup
	$(BENCH_VENV)/bin/python benchmarks/launch.py
	$(BENCH_VENV)/bin/python benchmarks/launch.py --compound
	$(BENCH_VENV)/bin/python benchmarks/robot.py
	$(BENCH_VENV)/bin/python benchmarks/examples.py
	$(BENCH_VENV)/bin/python benchmarks/startup.py
	$(BENCH_VENV)/bin/python benchmarks/throughput.py

accuracy: bench-setup
	$(BENCH_VENV)/bin/python benchmarks/accuracy.py
