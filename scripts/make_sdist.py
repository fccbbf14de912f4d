"""Make dist/writeamp-VERSION.tar.gz: sources and all crates, to build without a network.

Works in a copy of the tracked files: a .cargo/config.toml in the work tree would turn every build
there to the vendored crates. `make sdist` runs it; scripts/check_sdist.sh builds what it made.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# Without the virtual SSD's plugin, which pip does not build.
MEMBERS = '["crates/captures", "crates/engine", "crates/python"]'
# What only tests and benches need is most of what there is to vendor.
FOR_TESTS = re.compile(r"^\[+(?:dev-dependencies|bench)\]+\n(?:(?!\[).*\n)*", re.MULTILINE)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        copy_sources(copy)
        vendor(copy)
        maturin = Path(sys.executable).with_name("maturin")
        subprocess.run([maturin, "sdist", "--out", ROOT / "dist"], cwd=copy, check=True)


def copy_sources(copy: Path) -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().rstrip("\0").split("\0"):
        if (ROOT / name).exists():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    # Whoever builds it has a compiler of their own, and no use for the benches.
    (copy / "rust-toolchain.toml").unlink()
    shutil.rmtree(copy / "crates/benches")
    for manifest in (copy / "Cargo.toml", *copy.glob("crates/*/Cargo.toml")):
        text = FOR_TESTS.sub("", manifest.read_text())
        text = re.sub(r"^((?:default-)?members) = .*", rf"\1 = {MEMBERS}", text, flags=re.MULTILINE)
        manifest.write_text(text)


def vendor(copy: Path) -> None:
    asked = ["cargo", "vendor", "vendor"]  # which prints the configuration that it needs
    done = subprocess.run(asked, cwd=copy, stdout=subprocess.PIPE, text=True, check=True)
    (copy / ".cargo").mkdir()
    (copy / ".cargo/config.toml").write_text(done.stdout)


if __name__ == "__main__":
    main()
