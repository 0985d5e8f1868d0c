# `make demo` and `make test` set up everything they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
# What pytest is told beside, such as ARGS="-k gate".
ARGS ?=

.PHONY: demo test test-quick soak lint bench docs dist clean pictures
.DELETE_ON_ERROR:

# One stamp file for each set of extras, so that nothing is installed twice.
$(BIN)/uv:
	$(PYTHON) -c "import sys; sys.exit('rankgauge needs Python 3.11 or newer, this is ' + sys.version.split()[0] + '; try: make PYTHON=python3.12 ...') if sys.version_info < (3, 11) else None"
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv

define install
	VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/uv pip install --quiet --compile-bytecode --python $(BIN)/python -e '.$(1)'
	$(BIN)/python -m compileall -q src
	touch $@
endef

$(VENV)/.demo: pyproject.toml | $(BIN)/uv
	$(call install,[report$(comma)retrievers])

$(VENV)/.test: pyproject.toml | $(BIN)/uv
	$(call install,[test])

$(VENV)/.lint: pyproject.toml | $(BIN)/uv
	$(call install,[test$(comma)lint])

$(VENV)/.docs: pyproject.toml | $(BIN)/uv
	$(call install,[docs])

comma := ,

demo: $(VENV)/.demo
	@$(BIN)/rankgauge demo

test: $(VENV)/.test
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

# The core, in under a minute: without what is slow, and without what needs more than Python and make.
test-quick: $(VENV)/.test
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --quick $(ARGS)

# kill -9 of every command (SOAK_KILLS, 30 each), then a monitor under random faults (SOAK_MINUTES, 60): nothing may be lost.
soak: $(VENV)/.test
	$(BIN)/python -m tests.soak

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/.test
	$(BIN)/python -m benchmarks.run

docs: $(VENV)/.docs
	$(BIN)/python docs/generate.py
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet -f mkdocs.zh.yml

# The pictures of the README, which need Chromium and a CJK font.
pictures: $(VENV)/.test
	$(BIN)/python docs/pictures.py

# Wheel and source archive, alone in DIST, checked as an index would check them.
DIST ?= dist
dist: $(BIN)/uv
	$(BIN)/uv build --quiet --clear --out-dir $(DIST)
	$(BIN)/uv tool run --quiet twine check --strict $(DIST)/*.whl $(DIST)/*.tar.gz

clean:
	rm -rf $(VENV) build dist .hypothesis .mypy_cache .ruff_cache .pytest_cache
