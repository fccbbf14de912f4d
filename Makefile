# The only door: every target does its own set-up. Needs Python >= 3.11, Rust and a C compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ENGINE := python/writeamp/_engine.abi3.so
PAPERS := park2017 dayan2015 verschoren2019
CARGO_CRATES := --workspace --exclude writeamp-python
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.PHONY: all demo test test-full lint bench reproduce clean
all: $(ENGINE)

# `make demo` needs the package only; tests and lint bring tools of their own.
$(BIN)/pip:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "writeamp needs Python 3.11 or later; set PYTHON=")'
	@command -v cargo > /dev/null || { echo "writeamp needs a Rust toolchain (cargo)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

$(ENGINE): $(BIN)/pip pyproject.toml $(RUST_SOURCES)
	$(BIN)/pip install --quiet --editable .
	@touch $@

$(VENV)/.tools: $(ENGINE)
	$(BIN)/pip install --quiet --editable '.[test,lint]'
	@touch $(ENGINE) $@

demo: $(ENGINE)
	$(BIN)/python examples/demo.py

test: $(VENV)/.tools lint
	scripts/install_test_programs.sh
	cargo test --quiet $(CARGO_CRATES)
	$(BIN)/python -m pytest

# The same with every combination and the long forms that tests leave out of the gate.
test-full: export WRITEAMP_TEST_FULL := 1
test-full: test

lint: $(VENV)/.tools
	cargo fmt --check
	cargo clippy --quiet --workspace --all-targets -- --deny warnings
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(ENGINE)
	$(BIN)/python benches/run.py

# Every published value anew, at full length: minutes of computing, figures and JSON in build/.
reproduce: $(ENGINE)
	for paper in $(PAPERS); do \
		mkdir -p build/reproduce/$$paper; \
		$(BIN)/writeamp reproduce $$paper --full --json --plots build/reproduce/$$paper \
			> build/reproduce/$$paper.json || exit 1; \
	done

clean:
	rm -rf $(VENV) target python/writeamp/_engine*.so
