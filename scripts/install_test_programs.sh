#!/bin/sh
# Installs the system programs that some tests use (Debian, root). Tests without their program are
# skipped with its name, so this script never fails.
set -u

PACKAGES="nbdkit nbdkit-plugin-dev libnbd-bin fuse3 mount e2fsprogs xfsprogs btrfs-progs fio qemu-utils git postgresql sysbench rocksdb-tools chromium"

missing=""
for package in $PACKAGES; do
    dpkg-query --show --showformat='${Status}' "$package" 2>/dev/null \
        | grep -q 'ok installed' || missing="$missing $package"
done

# axe-core checks the accessibility of generated pages. It is an npm package, not part of writeamp.
axe() {
    [ -d build/node/node_modules/axe-core ] && return
    command -v npm > /dev/null \
        || { echo "no npm, so no axe-core; tests that use it will skip" >&2; return; }
    mkdir -p build/node
    npm install --prefix build/node --no-save --silent axe-core@4.14.1 > /dev/null 2>&1 \
        || echo "could not fetch axe-core by npm; tests that use it will skip" >&2
}
cd "$(dirname "$0")/.." || exit 0
axe
[ -z "$missing" ] && exit 0

if [ "$(id -u)" -ne 0 ] || ! command -v apt-get > /dev/null; then
    echo "not installed (needs root and apt-get):$missing; tests that use them will skip" >&2
    exit 0
fi
echo "installing for the tests:$missing" >&2
export DEBIAN_FRONTEND=noninteractive
apt-get -qq update > /dev/null 2>&1
# shellcheck disable=SC2086 # one word a package
apt-get -qq install --no-install-recommends $missing > /dev/null 2>&1 \
    || echo "could not install:$missing; tests that use them will skip" >&2
