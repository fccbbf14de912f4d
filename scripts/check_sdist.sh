#!/bin/sh
# Builds wheels from the two sdists in dist/ without a network, and runs the installed programs. Needs
# maturin and a compiler. Argument: folder of a Python that has maturin and the dependencies.
set -eu
bin=$(realpath --no-symlinks "$1")
cd "$(dirname "$0")/.."
sdist=$(realpath dist/writeamp-[0-9]*.tar.gz)
papers=$(realpath dist/writeamp_papers-*.tar.gz)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
cd "$scratch"

# Use an empty cargo home, so that no cached crate helps, and no network if the machine allows it.
offline="env CARGO_HOME=$scratch/cargo CARGO_NET_OFFLINE=true"
if unshare --net true 2> /dev/null; then offline="unshare --net $offline"; fi
PATH="$bin:$PATH" $offline "$bin/pip" wheel --quiet --no-index --no-build-isolation --no-deps \
    --wheel-dir wheels "$sdist" "$papers"
"$bin/pip" install --quiet --no-index --no-deps --target site wheels/writeamp-*-cp311-abi3-*.whl
run="env PYTHONPATH=$scratch/site $bin/python"
"$bin/pip" install --quiet --no-index --no-deps --target site wheels/writeamp_papers-*-py3-none-any.whl
$run -m writeamp examples examples > examples.txt
$run -m writeamp trace info examples/sqlite-upserts.parquet > /dev/null
$run -m writeamp reproduce verschoren2019 --json > /dev/null
$run - <<'END'
import pathlib

import writeamp as wa

assert pathlib.Path(wa.__file__).is_relative_to(pathlib.Path.cwd() / "site"), wa.__file__
print("built offline and run:", wa.simulate(blocks=64, pages_per_block=16, writes=20_000).wa)
END
