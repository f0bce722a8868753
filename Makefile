# Each target sets up .venv; PYTHON chooses the interpreter it is made with.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Tests start hundreds of processes; without files of byte code each compiles the library's sources again.
unexport PYTHONDONTWRITEBYTECODE
# One more than there are cores: some tests wait for processes and pages.
PYTEST = $(BIN)/python -m pytest -n $$(( $$(getconf _NPROCESSORS_ONLN) + 1 ))

.PHONY: demo test test-all test-long test-interop test-arm64 test-python test-lowest test-pyodide test-peers test-scale soak bench check docs lock package release clean

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py demo-results

# The second run, of public calls without native ones, takes the compiled code that the first has made.
test: export KINETREE_CACHE_DIR := $(CURDIR)/$(VENV)/test-cache
test: $(VENV)/.dev
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || echo "No Chromium here: the tests in a browser are skipped. On Debian: apt-get install chromium"
	rm -rf "$$KINETREE_CACHE_DIR"
	$(PYTEST) --durations 10
	KINETREE_NATIVE=0 $(PYTEST) -m 'calls and not sweep and not long'

# More cases, robots and random trees of what the tests have tried, and whatever a native call may change without it;
# .ci/run has both.
test-all: export KINETREE_CACHE_DIR := $(CURDIR)/$(VENV)/test-cache
test-all: $(VENV)/.dev
	$(PYTEST) -m '(sweep or hypothesis) and not long' --hypothesis-profile all
	KINETREE_NATIVE=0 $(PYTEST) -m 'native and not sweep and not long'

# Sweeps that take minutes each, and more random trees for all tests that draw some.
test-long: $(VENV)/.dev
	$(PYTEST) -m 'long or sweep or hypothesis' --hypothesis-profile long

# With CasADi, PyTorch and JAX, gigabytes in a folder of their own: what is made for them, their pages and examples.
INTEROP ?= tests/interop/test_exporters.py $(foreach name,casadi torch jax,tests/interop/test_$(name).py 'tests/test_documents.py::test_document_runs[docs/$(name).md]') \
	$(foreach path,$(notdir $(wildcard examples/4[567]_*.py)),'tests/test_documents.py::test_example_runs[$(path)]')
test-interop: export KINETREE_CACHE_DIR := $(CURDIR)/$(VENV)/test-cache
test-interop: $(VENV)/.dev .interop/.created
	PYTHONPATH=$(CURDIR)/.interop $(BIN)/python -m pytest --durations 10 $(INTEROP)

.interop/.created: requirements/interop.lock
	$(BIN)/pip install --quiet --no-deps --require-hashes --upgrade --target .interop --requirement $<
	touch $@

# On an AArch64 that qemu emulates, with Debian's Python and the wheels of requirements/dev.lock: what depends on the
# machine, in about ten minutes. ARM64 chooses other tests. qemu does not limit memory when it is asked to, and the C
# compiler of this machine makes nothing that an AArch64 loads.
ARM64 ?= tests/compiler/runtime tests/compiler/codegen tests/compiler/cache tests/robot/test_native_*.py tests/solvers \
	tests/ik/test_differential.py tests/ik/test_inverse.py tests/control/test_controller.py tests/control/test_whole_body.py \
	tests/simulation/test_rollout.py tests/simulation/test_next_state.py tests/promises/test_first_calls_from_threads.py \
	tests/promises/test_interrupts.py tests/promises/test_signals_while_compiling.py
test-arm64: $(VENV)/.created .arm64/.created
	PATIENCE=10 KINETREE_CACHE_DIR=$(CURDIR)/.arm64/test-cache .arm64/bin/python -m pytest -n auto -p no:cacheprovider $(ARM64) \
		--ignore tests/compiler/codegen/c --deselect tests/robot/test_native_adversity.py::test_when_there_is_no_memory_for_a_result

.arm64/.created: tools/arm64 tools/debian_python requirements/dev.lock
	tools/arm64 .arm64
	touch $@

# On another Python of Debian's: make test-python PYTHON=3.14 (or 3.13); TESTS chooses some.
test-python: $(VENV)/.created .python-$(PYTHON)/.created
	KINETREE_CACHE_DIR=$(CURDIR)/.python-$(PYTHON)/test-cache .python-$(PYTHON)/bin/python -m pytest -n auto -p no:cacheprovider $(TESTS)

.python-%/.created: tools/debian_python requirements/dev.lock
	tools/debian_python "$$(dpkg --print-architecture)" $* .python-$*
	touch $@

# Real clusters of two workers on this machine, Zarr, and the faults of both; Ray is too large for the other tests.
test-scale: $(VENV)/.dev requirements/scale.lock
	$(PYTHON) -m venv .python-scale
	.python-scale/bin/pip install --quiet --require-hashes --requirement requirements/scale.lock
	KINETREE_CACHE_DIR=$(CURDIR)/.python-scale/test-cache PYTHONPATH=$(CURDIR)/tests:$$(echo $(CURDIR)/.python-scale/lib/python3*/site-packages) \
		$(BIN)/python -m pytest -m 'not long' tests/scale tests/cli/test_long_runs.py

# The examples of docs/coming_from/ in the libraries that they come from, which need an older Pinocchio.
test-peers: requirements/peers.lock
	$(PYTHON) -m venv .python-peers
	.python-peers/bin/pip install --quiet --require-hashes --no-deps --requirement requirements/peers.lock
	KINETREE_CACHE_DIR=$(CURDIR)/.python-peers/test-cache PYTHONPATH=$(CURDIR)/src PEERS=live .python-peers/bin/python -m pytest --noconftest tests/convert/test_ports.py

# With the lowest versions of NumPy and llvmlite that pyproject.toml allows: what depends on them.
LOWEST ?= tests/compiler tests/functions tests/robot/test_native_*.py
test-lowest: $(VENV)/.dev
	$(BIN)/pip install --quiet --no-deps --upgrade --target .python-lowest $$(grep -oE '"(numpy|llvmlite)>=[0-9.]+' pyproject.toml | tr -d '"' | sed 's/>=/==/')
	PYTHONPATH=.python-lowest KINETREE_CACHE_DIR=$(CURDIR)/.python-lowest/test-cache $(BIN)/python -m pytest -n auto $(LOWEST)

# In Pyodide, the Python of browsers, on node: the course, the bundled robots, and the page of the site that runs there. Needs npm.
test-pyodide: $(VENV)/.dev .pyodide/.created
	$(BIN)/python -m pytest tests/promises/test_in_pyodide.py tests/test_live_page.py

.pyodide/.created: requirements/pyodide/package-lock.json
	mkdir -p .pyodide
	cp requirements/pyodide/*.json .pyodide
	npm ci --silent --ignore-scripts --prefix .pyodide
	tar -xzf .pyodide/node_modules/@emscripten-forge/numpy/pkg/*.tar.gz -C .pyodide lib
	touch $@

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
	cd benchmarks && ../$(BIN)/python export_c.py
	cd benchmarks && ../$(BIN)/python limits.py
	cd benchmarks && ../$(BIN)/python dynamics.py
	cd benchmarks && ../$(BIN)/python centroidal.py
	cd benchmarks && ../$(BIN)/python constrained.py
	cd benchmarks && ../$(BIN)/python control.py
	cd benchmarks && ../$(BIN)/python rollouts.py
	cd benchmarks && ../$(BIN)/python rollouts_contact.py
	cd benchmarks && ../$(BIN)/python flight.py
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
	$(call lock,cli,--extra cli)
	$(call lock,demo,--extra demo)
	$(call lock,dev,--extra test --extra check --extra docs)
	$(call lock,bench,--extra bench)
	$(call lock,interop,--extra casadi --extra torch --extra jax --constraint requirements/dev.lock --no-emit-package triton)
	$(call lock,peers,--extra peers --no-emit-package mosek)
	$(call lock,scale,--extra scale)
	$(call lock,release)

define lock
$(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes --no-annotate --no-emit-index-url \
	--custom-compile-command "make lock" $(2) pyproject.toml $(wildcard requirements/$(1).in) $(if $(filter core cli interop,$(1)),,requirements/build.in) --output-file requirements/$(1).lock
endef

# Source and wheel, in dist/. The wheel, which is built from the source, is then tried in environments without this
# repository: alone, and with the command line.
package: $(VENV)/.release
	rm -rf dist $(VENV)/installed
	$(BIN)/python -m build --no-isolation
	$(PYTHON) -m venv $(VENV)/installed
	$(VENV)/installed/bin/pip install --quiet --require-hashes --requirement requirements/core.lock
	$(VENV)/installed/bin/pip install --quiet --no-deps dist/*.whl
	$(VENV)/installed/bin/python -I tools/check_installed.py
	$(VENV)/installed/bin/pip install --quiet --require-hashes --requirement requirements/cli.lock
	$(VENV)/installed/bin/python -I tools/check_installed.py --cli

# What is published: source, wheel, a list of all that is installed with it (CycloneDX), and their hashes.
release: package
	rm -rf $(VENV)/shipped
	$(PYTHON) -m venv $(VENV)/shipped
	$(VENV)/shipped/bin/pip install --quiet --require-hashes --requirement requirements/core.lock
	$(VENV)/shipped/bin/pip install --quiet --no-deps dist/*.whl
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --output-reproducible --output-file dist/kinetree.cdx.json $(VENV)/shipped/bin/python
	cd dist && sha256sum * > SHA256SUMS && cat SHA256SUMS

clean:
	rm -rf $(VENV) .interop .pyodide .arm64 .python-* dist site .mypy_cache .ruff_cache .pytest_cache .hypothesis
