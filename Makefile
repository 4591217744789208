# What a developer repeats. `make` lists it; PYTHON=… chooses another Python for the virtual environment.
BIN := .venv/bin
export PYTHON
unexport PYTHONDONTWRITEBYTECODE  # hundreds of tests start a Python, which would compile all modules again
# Each worker has its half of the tests in their order (the longest first, which share builds and a Spark session), and at
# the end some of the other's.
PYTEST = $(BIN)/pytest -n 2 --dist worksteal

# Processes of mypy; none beside other work, where they would wait for each other.
MYPY_WORKERS ?= 2

# How long `make soak` gives changed inputs to the decoders; it goes on where it stopped, up to 10,000,000 inputs.
FUZZ_SECONDS ?= 1800

.PHONY: help core dev demo test test-fast soak build check check-generated update-cases update-coverage update-docs update-editors screenshots vsix release-check bench bench-against clean
.DEFAULT_GOAL := help

help:  ## list the targets
	@sed -n 's/^\([a-z-]*\):.*##  *\(.*\)/\1|\2/p' Makefile | awk -F'|' '{ printf "make %-14s %s\n", $$1, $$2 }'

core:
	@bash .ci/venv core

dev:
	@bash .ci/venv dev

demo: core  ## five minutes with a captured session: build, decode, encode back
	@$(BIN)/wiregen build
	@$(BIN)/python examples/demo.py

test: dev  ## everything once: generated tree, formatting, types, tests
	@$(MAKE) --no-print-directory --jobs=2 MYPY_WORKERS=0 check-generated check
	$(PYTEST)

test-fast: dev  ## what to run between commits: all that takes no whole builds, programs or thousands of inputs
	@$(MAKE) --no-print-directory check
	$(PYTEST) -m "not slow"

soak: dev  ## the same tests with the full counts, results to docs/evidence/; goes on where it stopped (MINUTES=90 SEED=1 TESTS=…)
	HYPOTHESIS_PROFILE=soak SOAK_MINUTES=$(MINUTES) SOAK_SEED=$(SEED) $(BIN)/pytest -n 2 --hypothesis-seed=$(or $(SEED),0) $(TESTS)
	PYTHONPATH=generator:generated/python:. $(BIN)/python -m tests.fuzz.soak --seconds $(FUZZ_SECONDS)

build: dev  ## .wire files to generated/
	$(BIN)/wiregen build
	$(BIN)/wiregen vectors build

# It runs beside `check`: each of the two has parts that keep only one core busy.
check-generated: dev
	$(BIN)/wiregen build --check
	$(BIN)/wiregen vectors build --check

# A test has black lay out what is built (tests/unit/generate/test_build.py), so it need not read generated/ here.
check: dev  ## black, ruff, mypy, wiregen fmt and the rules of prose (tests/prose)
	$(BIN)/black --check --quiet --diff --extend-exclude '^/generated/' .
	$(BIN)/ruff check .
	MYPY_NUM_WORKERS=$(MYPY_WORKERS) $(BIN)/mypy
	$(BIN)/wiregen fmt --check idl docs
	$(BIN)/python -m tests.prose

update-cases: dev  ## rewrite the expected output of the cases; read the diff afterwards
	UPDATE_CASES=1 $(BIN)/pytest -q tests/unit/language/test_cases.py
	git status --short tests/cases

update-coverage: dev  ## rewrite docs/coverage from the tables of statements; read the diff afterwards
	UPDATE_COVERAGE=1 $(BIN)/pytest -q -n 0 tests/conformance/test_statements.py
	git status --short docs/coverage

update-docs: dev  ## rewrite the examples and the notation in docs/guide, and the picture in README.md; read the diff afterwards
	UPDATE_DOCS=1 $(BIN)/pytest -q -n 0 tests/unit/test_readme.py tests/unit/site/test_docs_guide.py
	git status --short docs

update-editors: dev  ## rewrite the colours of .wire files for editors (editors/) from the words of the language
	UPDATE_EDITORS=1 $(BIN)/pytest -q -n 0 tests/unit/language/test_textmate.py
	git status --short editors

screenshots: dev  ## twelve pages of the site at three widths, light and dark, to FOLDER (needs chromium)
	@test -n "$(FOLDER)" || { echo "say where to: make screenshots FOLDER=build/screenshots" >&2; exit 2; }
	$(BIN)/python -m tests.screenshots $(FOLDER)

vsix: dev  ## the extension for Visual Studio Code, to dist/ (needs node and npm)
	@command -v npm >/dev/null || { echo "the extension is bundled by programs of node: install node with npm" >&2; exit 1; }
	@mkdir -p dist && cp LICENSE editors/vscode/
	npm ci --prefix editors/vscode --no-audit --no-fund
	npm run --prefix editors/vscode package -- $$($(BIN)/python -c 'import wiregen; print(wiregen.__version__)')

release-check: dev  ## both distributions built, read by twine, installed outside the repository and used
	$(BIN)/python .ci/release_check.py

bench: dev  ## the benchmarks; fails where a goal is missed
	@test -n "$(wildcard benchmarks/bench_*.py)" || { echo "there are no benchmarks/bench_*.py" >&2; exit 1; }
	@missed=; for file in $(wildcard benchmarks/bench_*.py); do PYTHONPATH=generated/python $(BIN)/python $$file || missed="$$missed $$file"; done; \
	file=benchmarks/pipeline/bench_pipeline.py; \
	PYTHONPATH=generator:generated/python:pipeline $(BIN)/python $$file || missed="$$missed $$file"; \
	test -z "$$missed" || { echo "goals missed:$$missed" >&2; exit 1; }

bench-against: dev  ## the generated code and the command beside those of another commit (REF=main~1): at most 1.05 times as slow
	@test -n "$(REF)" || { echo "say which commit: make bench-against REF=main~1" >&2; exit 2; }
	$(BIN)/python benchmarks/against.py $(REF)

clean:  ## remove the virtual environment and all caches
	rm -rf .venv dist build site .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
