"""Make dist/writeamp-VERSION.tar.gz: sources and all crates, for builds without a network.

It works in a copy of the tracked files, because a .cargo/config.toml in the work tree would switch
all builds to the vendored crates. `make sdist` runs it; scripts/check_sdist.sh tests the result.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from lay_examples import laid_examples

ROOT = Path(__file__).resolve().parent.parent
# Crates in the archive; the plugin of the virtual SSD is left out, because pip does not build it.
MEMBERS = '["crates/captures", "crates/engine", "crates/fio", "crates/python"]'
# Dependencies of tests and benches are removed, because they are most of the vendored crates.
FOR_TESTS = re.compile(r"^\[+(?:dev-dependencies|bench)\]+\n(?:(?!\[).*\n)*", re.MULTILINE)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        copy_sources(copy)
        vendor(copy)
        maturin = Path(sys.executable).with_name("maturin")
        with laid_examples(copy):
            subprocess.run([maturin, "sdist", "--out", ROOT / "dist"], cwd=copy, check=True)


def copy_sources(copy: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().rstrip("\0").split("\0"):
        if (ROOT / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    # Users build with their own compiler, and without benches.
    (copy / "rust-toolchain.toml").unlink()
    shutil.rmtree(copy / "crates/benches")
    for manifest in (copy / "Cargo.toml", *copy.glob("crates/*/Cargo.toml")):
        text = FOR_TESTS.sub("", manifest.read_text())
        text = re.sub(r"^((?:default-)?members) = .*", rf"\1 = {MEMBERS}", text, flags=re.MULTILINE)
        manifest.write_text(text)


def vendor(copy: Path) -> None:
    command = ["cargo", "vendor", "vendor"]  # cargo prints its configuration
    done = subprocess.run(command, cwd=copy, stdout=subprocess.PIPE, text=True, check=True)
    (copy / ".cargo").mkdir()
    (copy / ".cargo/config.toml").write_text(done.stdout)


if __name__ == "__main__":
    main()
