#!/bin/sh
# Installs the wheels of dist/ in a fresh environment, outside of the checkout, and runs the commands of README
# and of the first ten minutes there, and `serve` with and without nbdkit. The other packages come from the
# registry. Argument: folder of a Python that has the extra `dist`.
set -eu
bin=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
root=$PWD
wheel=$(ls "$root"/dist/writeamp-[0-9]*.whl)
papers=$(ls "$root"/dist/writeamp_papers-*.whl)
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
unset PYTHONPATH PYTHONHOME

"$bin/twine" check --strict "$wheel" "$papers"
case $wheel in
*-manylinux*)
    "$bin/auditwheel" show "$wheel" | tee "$scratch/glibc.txt"
    needed=$(sed -n 's/.*"manylinux_2_\([0-9]*\)_.*/\1/p' "$scratch/glibc.txt" | sort -n | tail -1)
    if [ "${needed:-99}" -gt 28 ]; then
        echo "$wheel needs a newer glibc than 2.28" >&2
        exit 1
    fi
    ;;
esac
"$bin/python" - "$wheel" <<'END'
import sys
import zipfile

most_mb = 6
files = zipfile.ZipFile(sys.argv[1]).infolist()
examples = [file.compress_size for file in files if "/_examples/" in file.filename]
mb, all_mb = sum(examples) / 1e6, sum(file.compress_size for file in files) / 1e6
print(f"{len(examples)} examples have {mb:.1f} of the wheel's {all_mb:.1f} MB")
if not 0 < mb <= most_mb:
    sys.exit(f"the examples of a wheel have at most {most_mb} MB")
END

"$bin/python" "$root/tests/support/documented.py" "$root/README.md" "$root/docs/first-ten-minutes.md" \
    > "$scratch/commands.sh"
"$bin/python" -m venv "$scratch/env"
programs=$scratch/env/bin
[ -d "$programs" ] || programs=$scratch/env/Scripts # on Windows
PATH="$programs:$PATH"
export PATH
cd "$scratch"
pip install --quiet --disable-pip-version-check "$wheel"
python -c "import sys, writeamp; assert writeamp.__file__.startswith(sys.prefix), writeamp.__file__"
# Pages name the examples by the folder that this makes.
writeamp examples | head -1
sh -eux commands.sh
python examples/demo.py > /dev/null

if refused=$(PATH="$programs" writeamp serve --device ssd-v --size 64MiB --run true 2>&1); then
    echo "serve ran without nbdkit" >&2
    exit 1
fi
case $refused in
"writeamp: nbdkit is not installed"* | "writeamp: the virtual SSD needs Linux"*) echo "$refused" ;;
*)
    echo "serve without nbdkit: $refused" >&2
    exit 1
    ;;
esac
if [ "$(uname)" = Linux ] && command -v nbdkit > /dev/null; then
    writeamp serve --device ssd-v --size 64MiB --run true
else
    echo "left out: serve with nbdkit, which is not installed or not for this system" >&2
fi
