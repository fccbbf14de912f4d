#!/bin/sh
# cargo for maturin on Linux. Before the bindings, it compiles them and the plugin of nbdkit by one command, in
# the environment that maturin sets, so that no crate is compiled twice. It lays both in the package, and the man
# pages beside it, which the bindings are needed for.
set -eu
if [ "$1" = rustc ]; then
    cargo build --quiet --profile wheel --package writeamp-python --features pyo3/extension-module \
        --package writeamp-nbdkit
    # Under new names first: a running server keeps the file that it has mapped.
    for name in _engine.abi3:lib_engine _nbdkit:libwriteamp_nbdkit; do
        file=python/writeamp/${name%%:*}.so
        cp "${CARGO_TARGET_DIR:-target}/wheel/${name##*:}.so" "$file.new"
        mv "$file.new" "$file"
    done
    PYTHONPATH=python python scripts/man_pages.py packaging/data/share/man/man1
fi
exec cargo "$@"
