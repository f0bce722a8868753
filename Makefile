# Each target sets up .venv; PYTHON chooses the interpreter it is made with.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

.PHONY: demo test test-all test-long test-arm64 test-python test-lowest soak bench check docs lock release clean

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py demo-results

# The second run, of public calls without native ones, takes the compiled code that the first has made.
test: export KINETREE_CACHE_DIR := $(CURDIR)/$(VENV)/test-cache
test: $(VENV)/.dev
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || echo "No Chromium here: the tests in a browser are skipped. On Debian: apt-get install chromium"
	rm -rf "$$KINETREE_CACHE_DIR"
	$(BIN)/python -m pytest -n auto --durations 10
	KINETREE_NATIVE=0 $(BIN)/python -m pytest -n auto -m 'calls and not sweep and not long'

# More cases, robots and random trees of what the tests have tried, and whatever a native call may change without it;
# .ci/run has both.
test-all: export KINETREE_CACHE_DIR := $(CURDIR)/$(VENV)/test-cache
test-all: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto -m '(sweep or hypothesis) and not long' --hypothesis-profile all
	KINETREE_NATIVE=0 $(BIN)/python -m pytest -n auto -m 'native and not sweep and not long'

# Sweeps that take minutes each, and more random trees for all tests that draw some.
test-long: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto -m 'long or sweep or hypothesis' --hypothesis-profile long

# On an AArch64 that qemu emulates, with Debian's Python and the wheels of requirements/dev.lock: what depends on the
# machine, in about an hour. ARM64 chooses other tests. qemu does not limit memory when it is asked to.
ARM64 ?= tests/compiler/runtime tests/compiler/codegen tests/compiler/cache tests/robot/test_native_*.py tests/solvers \
	tests/ik/test_differential.py tests/ik/test_inverse.py tests/control/test_controller.py tests/control/test_whole_body.py \
	tests/simulation/test_rollout.py tests/simulation/test_next_state.py tests/promises/test_first_calls_from_threads.py \
	tests/promises/test_interrupts.py tests/promises/test_signals_while_compiling.py
test-arm64: $(VENV)/.created .arm64/.created
	PATIENCE=10 KINETREE_CACHE_DIR=$(CURDIR)/.arm64/test-cache .arm64/bin/python -m pytest -n auto -p no:cacheprovider $(ARM64) \
		--deselect tests/robot/test_native_adversity.py::test_when_there_is_no_memory_for_a_result

.arm64/.created: tools/arm64 tools/debian_python requirements/dev.lock
	tools/arm64 .arm64
	touch $@

# On another Python of Debian's: make test-python PYTHON=3.14 (or 3.13); TESTS chooses some.
test-python: $(VENV)/.created .python-$(PYTHON)/.created
	KINETREE_CACHE_DIR=$(CURDIR)/.python-$(PYTHON)/test-cache .python-$(PYTHON)/bin/python -m pytest -n auto -p no:cacheprovider $(TESTS)

.python-%/.created: tools/debian_python requirements/dev.lock
	tools/debian_python "$$(dpkg --print-architecture)" $* .python-$*
	touch $@

# With the lowest versions of NumPy and llvmlite that pyproject.toml allows: what depends on them.
LOWEST ?= tests/compiler tests/functions tests/robot/test_native_*.py
test-lowest: $(VENV)/.dev
	$(BIN)/pip install --quiet --no-deps --upgrade --target .python-lowest $$(grep -oE '"(numpy|llvmlite)>=[0-9.]+' pyproject.toml | tr -d '"' | sed 's/>=/==/')
	PYTHONPATH=.python-lowest KINETREE_CACHE_DIR=$(CURDIR)/.python-lowest/test-cache $(BIN)/python -m pytest -n auto $(LOWEST)

# Threads, forks, signals and random calls, for so long; it ends with an error at the first wrong number, hang or leak.
MINUTES ?= 120
soak: $(VENV)/.dev
	$(BIN)/python tests/soak.py $(MINUTES)

check: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.bench
	cd benchmarks && ../$(BIN)/python batch.py
	cd benchmarks && ../$(BIN)/python calls.py
	cd benchmarks && ../$(BIN)/python arguments.py
	cd benchmarks && ../$(BIN)/python float32.py
	cd benchmarks && ../$(BIN)/python limits.py
	cd benchmarks && ../$(BIN)/python dynamics.py
	cd benchmarks && ../$(BIN)/python centroidal.py
	cd benchmarks && ../$(BIN)/python constrained.py
	cd benchmarks && ../$(BIN)/python control.py
	cd benchmarks && ../$(BIN)/python rollouts.py
	cd benchmarks && ../$(BIN)/python rollouts_contact.py
	cd benchmarks && ../$(BIN)/python single.py
	cd benchmarks && ../$(BIN)/python compile.py
	cd benchmarks && ../$(BIN)/python growth.py
	cd benchmarks && ../$(BIN)/python loading.py

docs: $(VENV)/.dev
	$(BIN)/python -m sphinx -q -W --keep-going -E -d $(VENV)/doctrees docs site
	$(BIN)/python docs/_ext/check_site.py site
	@echo "Open site/index.html"

# Every package is one of a lock file, and has the hash that stands there; kinetree itself is this folder.
define install
@echo "Fetching and unpacking packages into $(VENV): a minute or two"
$(BIN)/pip install --quiet --require-hashes --requirement requirements/$(1).lock
$(BIN)/pip install --quiet --no-deps --no-build-isolation --editable .
endef

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.%: requirements/%.lock pyproject.toml | $(VENV)/.created
	$(call install,$*)
	touch $@

# Anew what the lock files say, from pyproject.toml: the newest versions that it allows.
lock: $(VENV)/.created
	$(BIN)/pip install --quiet uv
	$(call lock,core)
	$(call lock,demo,--extra demo)
	$(call lock,dev,--extra test --extra check --extra docs)
	$(call lock,bench,--extra bench)
	$(call lock,release)

define lock
$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url \
	--custom-compile-command "make lock" $(2) pyproject.toml $(wildcard requirements/$(1).in) $(if $(filter core,$(1)),,requirements/build.in) --output-file requirements/$(1).lock
endef

# What is published: source, wheel, a list of all that is installed with it (CycloneDX), and their hashes.
release: $(VENV)/.release
	rm -rf dist $(VENV)/shipped
	$(BIN)/python -m build --no-isolation
	$(PYTHON) -m venv $(VENV)/shipped
	$(VENV)/shipped/bin/pip install --quiet --require-hashes --requirement requirements/core.lock
	$(VENV)/shipped/bin/pip install --quiet --no-deps dist/*.whl
	$(VENV)/shipped/bin/python -c "import kinetree as kt; robot = kt.load('arm6'); robot.mass_matrix(robot.neutral())"
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-file dist/kinetree.cdx.json $(VENV)/shipped/bin/python
	cd dist && sha256sum * > SHA256SUMS && cat SHA256SUMS

clean:
	rm -rf $(VENV) .arm64 .python-* dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
