#!/bin/sh
# Linker for rustc: links against glibc 2.28, the glibc of manylinux_2_28.
exec maturin zig cc -- -target "$(uname -m)-linux-gnu.2.28" "$@"
