"""Run a command while the examples are in the package, for wheels and sdists.

They are removed afterwards, since checks and tests of the package would find them there. Used by
`make wheel`, by make_sdist.py and by the build backend.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


@contextmanager
def laid_examples(root: Path = ROOT) -> Iterator[None]:
    """Copy the examples into the package; in an sdist, which has no other, leave them there."""
    source, copy = root / "examples", root / "python/writeamp/_examples"
    if not source.is_dir():
        yield
        return
    shutil.rmtree(copy, ignore_errors=True)
    shutil.copytree(source, copy, ignore=shutil.ignore_patterns("__pycache__"))
    try:
        yield
    finally:
        shutil.rmtree(copy)


if __name__ == "__main__":
    with laid_examples():
        sys.exit(subprocess.run(sys.argv[1:], cwd=ROOT, check=False).returncode)
