#!/bin/sh
# Fuzzes every target of fuzz/ for the seconds given. Where a tool is missing it says which, and how
# to get it, and ends well: fuzzing is no part of the gate.
set -eu
seconds=$1
cd "$(dirname "$0")/.."
PATH="$PWD/target/tools/bin:$PATH"

if ! cargo +nightly --version > /dev/null 2>&1; then
    echo "skipped: fuzzing needs the nightly compiler: rustup toolchain install nightly" >&2
    exit 0
fi
if ! command -v cargo-fuzz > /dev/null; then
    echo "skipped: fuzzing needs cargo-fuzz:" \
        "cargo install --locked --root target/tools cargo-fuzz@0.13.2" >&2
    exit 0
fi
for target in $(cargo +nightly fuzz list); do
    cargo +nightly fuzz run "$target" -- \
        -max_total_time="$seconds" -timeout=20 -rss_limit_mb=2048 -max_len=1024 -print_final_stats=1
done
