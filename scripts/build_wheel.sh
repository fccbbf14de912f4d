#!/bin/sh
# Builds the wheels of both packages in dist/. On Linux, they need glibc 2.28 or later, however new the glibc
# of this machine is, and contain the plugin of nbdkit. Argument: folder of a Python with the extra `dist`.
set -eu
bin=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
export PATH="$bin:$PATH"
host=$(rustc -vV | sed -n 's/^host: //p')
compatibility=
case $host in
*-linux-gnu)
    variable=CARGO_TARGET_$(printf %s "$host" | tr a-z- A-Z_)_LINKER
    export "$variable=$PWD/scripts/link_with_zig.sh" CARGO="$PWD/scripts/cargo_with_plugin.sh"
    compatibility='--compatibility manylinux_2_28'
    ;;
*-apple-*) export MACOSX_DEPLOYMENT_TARGET=11.0 ;;
esac
rm -f dist/writeamp*.whl
# shellcheck disable=SC2086 # none or two words
python scripts/lay_examples.py maturin build --profile wheel $compatibility --out dist
python -m build --no-isolation --wheel --outdir dist papers
