#!/bin/sh
# Fuzzes for a total number of seconds: command lines, calls and damaged files with tests/fuzz, and
# Rust's readers with cargo-fuzz. If a tool for cargo-fuzz is missing, prints how to install it, and
# uses all of the time for tests/fuzz. Fails if there is a finding; each finding has a command that
# repeats it. Arguments: seconds, Python, and options of tests/fuzz, such as --calls 1000000.
set -eu
seconds=$1
python=$2
shift 2
cd "$(dirname "$0")/.."
PATH="$PWD/target/tools/bin:$PATH"

missing=""
if ! cargo +nightly --version > /dev/null 2>&1; then
    missing="the nightly compiler: rustup toolchain install nightly"
elif ! command -v cargo-fuzz > /dev/null; then
    missing="cargo-fuzz: cargo install --locked --root target/tools cargo-fuzz@0.13.2"
fi
if [ -n "$missing" ]; then
    echo "left out: fuzzing what Rust reads needs $missing" >&2
    exec "$python" tests/fuzz --seconds "$seconds" "$@"
fi
half=$((seconds / 2))
"$python" tests/fuzz --seconds "$half" "$@"
targets=$(cargo +nightly fuzz list)
each=$((half / $(echo "$targets" | wc -w)))
for target in $targets; do
    cargo +nightly fuzz run "$target" -- \
        -max_total_time="$each" -timeout=20 -rss_limit_mb=2048 -max_len=1024 -print_final_stats=1
done
