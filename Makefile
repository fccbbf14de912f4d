# The only door: every target does its own set-up. Needs Python >= 3.11, Rust and a C compiler.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
ENGINE := python/writeamp/_engine.abi3.so
# The virtual SSD's part that nbdkit loads, beside the engine in the package.
PLUGIN := python/writeamp/_nbdkit.so
TOOLS := target/tools
CARGO_DENY := $(TOOLS)/bin/cargo-deny
DENY = $(CARGO_DENY) --log-level error check bans licenses sources
# On all cores, the longest tests first. Without bytecode, each worker would compile every test anew.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest -n logical --dist worksteal
RUST_SOURCES := $(shell find crates -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock

.DEFAULT_GOAL := all
.PHONY: all ready tools bytecode demo check test test-full check-policy generate style lint deny sanitize man docs wheel check-wheel check-container sdist check-sdist fuzz bench bench-limit scoreboard reproduce mutants clean
# Two at a time: cargo compiles while pip downloads.
TOGETHER = $(MAKE) --silent $(if $(findstring jobserver,$(MAKEFLAGS)),,--jobs=2) $(ENGINE) $(PLUGIN) bytecode
all: tools
	+@$(TOGETHER) $(VENV)/.package

# What tests and checks run with.
ready: tools
	+@$(TOGETHER) $(VENV)/.test,lint

# What cannot be installed from here.
tools:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "writeamp needs Python 3.11 or later; set PYTHON=")'
	@cargo --version > /dev/null || { echo "writeamp needs Rust, as CONTRIBUTING.md says under Tools" >&2; exit 1; }

$(BIN)/pip: | tools
	$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# Both libraries by one call of cargo, or the engine would be compiled for each of them. Nothing of the interpreter
# is compiled in, so an environment that is activated compiles nothing anew.
$(ENGINE) $(PLUGIN) &: $(RUST_SOURCES) | tools
	$(PYTHON) scripts/declare_modules.py
	@echo "compiling the engine and the virtual SSD: about a minute on two quiet cores, the first time" >&2
	PYO3_NO_PYTHON=1 cargo build --quiet --release --package writeamp-python --features pyo3/extension-module \
		--package writeamp-nbdkit
	$(call lay,lib_engine.so,$(ENGINE))
	$(call lay,libwriteamp_nbdkit.so,$(PLUGIN))

# Under a new name first: a running server keeps the file that it has mapped.
define lay
	strip --strip-debug -o $(2).new target/release/$(1)
	mv $(2).new $(2)
endef

# Both packages: writeamp, which finds the libraries beside its sources, and the papers.
INSTALL = $(BIN)/pip install --quiet --config-settings libraries=built --editable '.$(1)' --editable papers
PACKAGES := pyproject.toml papers/pyproject.toml scripts/build_backend.py
$(VENV)/.package: $(PACKAGES) | $(BIN)/pip
	$(call INSTALL)
	@touch $@

# As pip does for packages that are not editable: without bytecode, help takes a third longer to start.
bytecode: | $(BIN)/pip
	@$(BIN)/python -m compileall -q python papers/writeamp_papers

# The tools of an extra, or of several, of pyproject.toml.
$(VENV)/.%: $(PACKAGES) | $(BIN)/pip
	$(call INSTALL,[$*])
	@touch $@

demo: all
	$(BIN)/python examples/demo.py

# While you work: format, types, imports, and the tests of single parts, in Rust and in Python.
check: style
	cargo test --quiet --lib
	$(PYTEST) tests/unit papers/tests/unit python/writeamp

# The gate.
test: lint
	scripts/install_test_programs.sh
	cargo test --quiet
	$(PYTEST)

# Every test in its long form, with every combination, and the checks whose tools take minutes to build.
test-full: export WRITEAMP_TEST_FULL := 1
test-full: test deny docs check-sdist check-wheel check-container

# All conformance tests on one entry alone, as in: make check-policy NAME=greedy
check-policy: ready
	@$(BIN)/python scripts/check_policy.py '$(NAME)'

# Every generated file, from its source; a test fails if a committed one differs.
generate: ready
	@$(BIN)/python scripts/generate.py

style: ready
	cargo fmt --check
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python scripts/check_floors.py
	$(BIN)/python scripts/check_first_lines.py
	$(BIN)/python scripts/check_words.py

# Links in Rust comments; those to private items lead somewhere, as private items are documented, too.
LINKS := -D rustdoc::broken_intra_doc_links -A rustdoc::private_intra_doc_links
lint: style
	cargo clippy --quiet --workspace --all-targets -- --deny warnings
	RUSTDOCFLAGS="$(LINKS)" cargo doc --quiet --no-deps --workspace --document-private-items
	$(BIN)/python scripts/check_crates.py
	$(if $(wildcard $(CARGO_DENY)),$(DENY))

# All that deny.toml says, by cargo-deny, which takes two minutes to build; from then on lint runs it too.
# Not its advisories: their database is no package of a registry.
deny: $(CARGO_DENY)
	$(DENY)

$(CARGO_DENY):
	cargo install --quiet --debug --locked --no-default-features --root $(TOOLS) cargo-deny@0.20.2

# The tests of the engine's unchecked code under the address sanitizer, which only nightly Rust has.
sanitize:
	RUSTFLAGS=-Zsanitizer=address cargo +nightly test --quiet --target-dir target/sanitized \
		--target $(shell rustc -vV | sed -n 's/^host: //p') --package writeamp-engine --lib -- \
		flash:: victims:: workloads:: managers::

# A page for each command, as in: man -l build/man/writeamp-simulate.1
man: all
	$(BIN)/python scripts/man_pages.py build/man

# The documentation site, in build/site; a link or anchor that leads nowhere fails.
docs: all
	@$(MAKE) --silent $(VENV)/.docs
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# In dist/, of both packages: wheels for every Python from 3.11 on, and sdists, of which writeamp's brings its crates.
wheel: $(VENV)/.dist
	scripts/build_wheel.sh $(BIN)

# In a new environment, with what pip downloads.
check-wheel: wheel
	scripts/check_wheel.sh $(BIN)

# The steps of Containerfile in a chroot; needs root and debootstrap.
check-container: wheel
	$(BIN)/python scripts/check_container.py

sdist: $(VENV)/.dist
	rm -f dist/writeamp*.tar.gz
	$(BIN)/python scripts/make_sdist.py
	$(BIN)/python -m build --no-isolation --sdist --outdir dist papers

check-sdist: sdist
	scripts/check_sdist.sh $(BIN)

# An hour, or SECONDS, of command lines, calls, damaged files and what Rust reads; or CALLS of the first three.
# A finding fails and says what repeats it; the table of what was tried is Markdown, for benches/results. Two
# minutes of it are a test of `make test-full`, some tries one of `make test`.
fuzz: ready
	scripts/fuzz.sh $(or $(SECONDS),3600) $(BIN)/python $(if $(CALLS),--calls $(CALLS))

bench: all
	$(BIN)/python benches/run.py

# What bounds the engine here, and how near it is; BASE=<commit> builds that engine too and takes turns with it,
# ROUNDS= times, or in CASES=name,name only.
bench-limit: all
	$(BIN)/python benches/limit.py $(if $(BASE),--base $(BASE)) $(if $(ROUNDS),--rounds $(ROUNDS)) $(if $(CASES),--cases $(CASES))

# Twins of the published counters of real drives against the phases that they were not learnt from: the page
# docs/real-drive-scoreboard.md and its picture, in 6 to 8 minutes on two cores.
scoreboard: all
	$(BIN)/python benches/real_drives.py

# Every published value anew, at full length: figures and JSON in build/, and build/reproduce/index.html shows all.
# It first says how many hours this takes; after Ctrl-C, the same command continues after the finished parts.
reproduce: all
	$(BIN)/python -m writeamp_papers.every_paper build/reproduce

# Faults seeded one at a time (a patch each, in tests/mutants), and whether a test or a reproduced paper finds
# each: under an hour on two cores; NAME="one another" for those alone, which scripts/mutants.py --list names.
mutants: ready
	$(BIN)/python scripts/mutants.py $(if $(NAME),--only $(NAME))

clean:
	rm -rf $(VENV) target $(ENGINE) $(PLUGIN)
