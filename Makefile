# Each target sets up .venv by itself; PYTHON chooses the interpreter it is made with.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
export PIP_DISABLE_PIP_VERSION_CHECK := 1

# The second run of the tests, without native calls, leaves out what they cannot change.
AGAIN := --ignore tests/compiler/test_passes.py --ignore tests/compiler/test_elementary.py --ignore tests/compiler/cache \
	--ignore tests/test_documents.py --ignore tests/test_notebooks.py --ignore tests/test_site.py --ignore tests/spatial --ignore tests/model --ignore tests/algorithms --ignore tests/cli \
	--ignore tests/convert --ignore tests/identification --ignore tests/test_edit.py \
	--ignore tests/equations --ignore tests/backends --ignore tests/rotations --ignore tests/trajectories --ignore tests/solvers \
	--ignore tests/geometry --ignore tests/viewer --ignore tests/plot --ignore tests/environments \
	--ignore tests/compiler/test_write.py --ignore tests/compiler/test_loops.py --ignore tests/compiler/test_robots.py \
	--ignore-glob 'tests/control/test_closed_loops_*.py'

.PHONY: demo test test-long soak bench check docs clean

demo: $(VENV)/.demo
	$(BIN)/python examples/demo.py demo-results

# Both runs compile the same code, so the second takes what the first has made.
test: export KINETREE_CACHE_DIR := $(CURDIR)/$(VENV)/test-cache
test: $(VENV)/.test $(VENV)/.browser
	rm -rf "$$KINETREE_CACHE_DIR"
	$(BIN)/python -m pytest -n auto
	KINETREE_NATIVE=0 $(BIN)/python -m pytest -n auto $(AGAIN)

test-long: $(VENV)/.test
	$(BIN)/python -m pytest -n auto -m long

# Threads, forks, signals and random calls, for so long; it ends with an error at the first wrong number, hang or leak.
MINUTES ?= 120
soak: $(VENV)/.test
	$(BIN)/python tests/soak.py $(MINUTES)

check: $(VENV)/.check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: $(VENV)/.bench
	cd benchmarks && ../$(BIN)/python batch.py
	cd benchmarks && ../$(BIN)/python calls.py
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

docs: $(VENV)/.docs
	$(BIN)/python -m sphinx -q -W --keep-going -E -d $(VENV)/doctrees docs site
	$(BIN)/python docs/_ext/check_site.py site
	@echo "Open site/index.html"

define install
@echo "Fetching and unpacking packages into $(VENV): a minute or two"
$(BIN)/pip install --quiet --editable "$(1)"
endef

$(VENV)/.created:
	$(PYTHON) -m venv $(VENV)
	touch $@

$(VENV)/.core: $(VENV)/.created pyproject.toml
	$(call install,.)
	touch $@

$(VENV)/.demo: $(VENV)/.created pyproject.toml
	$(call install,.[demo])
	touch $@ $(VENV)/.core

$(VENV)/.test: $(VENV)/.created pyproject.toml
	$(call install,.[test])
	touch $@ $(VENV)/.core

# The viewer is tested in a real browser, where there is one or it can be had.
$(VENV)/.browser: $(VENV)/.created
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || \
	{ [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	  { apt-get install -y -q chromium >/dev/null 2>&1 || \
	    { apt-get update -q >/dev/null 2>&1 && apt-get install -y -q chromium >/dev/null 2>&1; }; }; } || \
	echo "No chromium, and it cannot be installed from here: the tests of the viewer in a browser will be skipped."
	@touch $@

$(VENV)/.check: $(VENV)/.created pyproject.toml
	$(call install,.[check])
	touch $@ $(VENV)/.core

$(VENV)/.docs: $(VENV)/.created pyproject.toml
	$(call install,.[docs])
	touch $@ $(VENV)/.core

$(VENV)/.bench: $(VENV)/.created pyproject.toml
	$(call install,.[bench])
	touch $@ $(VENV)/.core

clean:
	rm -rf $(VENV) site .mypy_cache .ruff_cache .pytest_cache .hypothesis
