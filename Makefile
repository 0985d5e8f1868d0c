# `make demo` and `make test` set up everything they need in .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
WORKERS ?= 2
TORCH ?= torch==2.13.0
# What pytest is told beside, such as ARGS="-k gate".
ARGS ?=

.PHONY: demo test test-quick soak sanitize portable lint bench bench-large docs dist clean pictures
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

# Vector stores for their tests, which are skipped without.
$(VENV)/.stores: pyproject.toml | $(BIN)/uv
	$(call install,[test$(comma)stores])

# Other libraries of arrays for the tests of evaluate_tensors, which are skipped without. By pip: uv takes builds of PyTorch
# for CUDA, which are several GB.
$(VENV)/.tensors: pyproject.toml $(VENV)/.test
	$(BIN)/python -m pip install --quiet --disable-pip-version-check -e '.[test-tensors]' $(TORCH)
	touch $@

# Spark for its tests, which are skipped without; they need Java 17 beside.
$(VENV)/.spark: pyproject.toml | $(BIN)/uv
	$(call install,[test$(comma)spark])

$(VENV)/.lint: pyproject.toml | $(BIN)/uv
	$(call install,[test$(comma)lint])

$(VENV)/.docs: pyproject.toml | $(BIN)/uv
	$(call install,[docs])

# The compiled module, where there is a C++ compiler. Without it everything works too, and gives the same numbers.
$(VENV)/.native: native/pyproject.toml native/setup.py $(wildcard native/src/*) | $(BIN)/uv
	@if ! command -v c++ >/dev/null; then \
	  echo "no C++ compiler: going on without the compiled module"; \
	elif ! VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/uv pip install --quiet --python $(BIN)/python \
	    --refresh-package rankgauge-native --reinstall-package rankgauge-native ./native; then \
	  echo "the compiled module could not be built: going on without it"; \
	fi
	@touch $@

comma := ,

demo: $(VENV)/.demo $(VENV)/.native
	@$(BIN)/rankgauge demo

test: $(VENV)/.test $(VENV)/.native
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

# The core, in under a minute: without what is slow, and without what needs more than Python and make.
test-quick: $(VENV)/.test $(VENV)/.native
	$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal --quick $(ARGS)

# kill -9 of every command (SOAK_KILLS, 30 each), then a monitor under random faults (SOAK_MINUTES, 60): nothing may be lost.
soak: $(VENV)/.test
	$(BIN)/python -m tests.soak

# The compiled module on any bytes, watched by the compiler's sanitizers.
SANITIZED := build/sanitized
sanitize: $(VENV)/.test
	rm -rf $(SANITIZED)
	RANKGAUGE_NATIVE_FLAGS="-g -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer" \
	  VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/uv pip install --quiet --python $(BIN)/python --no-cache --target $(SANITIZED) ./native
	LD_PRELOAD="$$(c++ -print-file-name=libasan.so) $$(c++ -print-file-name=libubsan.so)" PYTHONMALLOC=malloc \
	  ASAN_OPTIONS=detect_leaks=0,verify_asan_link_order=0 PYTHONPATH=$(SANITIZED) \
	  $(BIN)/python -m pytest -n0 tests/engine/test_native.py

# The module as compilers build it whose library reads no floats, such as those of macOS.
PORTABLE := build/portable
portable: $(VENV)/.test
	rm -rf $(PORTABLE)
	RANKGAUGE_NATIVE_FLAGS=-DRANKGAUGE_PORTABLE \
	  VIRTUAL_ENV=$(abspath $(VENV)) $(BIN)/uv pip install --quiet --python $(BIN)/python --no-cache --target $(PORTABLE) ./native
	PYTHONPATH=$(PORTABLE) $(BIN)/python -m pytest -n0 tests/engine/test_native.py

lint: $(VENV)/.lint
	$(BIN)/ruff check .
	$(BIN)/mypy

bench: $(VENV)/.test $(VENV)/.native
	$(BIN)/python -m benchmarks.run

# Runs larger than memory: ROWS (100 million) take 7 GB of disk, and 3 GB more in TMPDIR.
bench-large: $(VENV)/.test $(VENV)/.native
	$(BIN)/python -m benchmarks.large

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
