"""Run all conformance tests for a registered policy: `make check-policy NAME=greedy`.

Golden counters of a new entry are added to `tests/data/golden.json`.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from writeamp import WriteampError, _engine

ROOT = Path(__file__).parents[1]
# Kinds of entries that the naive drive (a second, simpler implementation for tests) has, too.
WITH_TWINS = ("managers", "victims", "wear_levelers")


def commands(kind: str) -> list[list[str]]:
    """Return the commands that test an entry of a kind."""
    engine = [
        "cargo",
        "test",
        "--quiet",
        "--package",
        "writeamp-engine",
        "--lib",
        "--test",
        "state",
    ]
    witness = ["cargo", "test", "--quiet", "--package", "writeamp-naive"]
    # Listed explicitly, because importing all other tests takes longer than running these.
    marked = [str(p) for p in ROOT.glob("tests/*/test_*.py") if "mark.registry" in p.read_text()]
    python = [sys.executable, "-m", "pytest", "-m", "registry", *sorted(marked)]
    golden = [sys.executable, "tests/support/golden.py"]
    return [engine, *([witness] if kind in WITH_TWINS else []), python, golden]


def main() -> int:
    """Check the entry named on the command line; return the status of the first failure."""
    name = sys.argv[1] if len(sys.argv) > 1 else ""
    try:
        kind = _engine.kind_of(name)
    except WriteampError as error:
        print(f"make check-policy NAME={name}: {error}", file=sys.stderr)
        return 2
    for command in commands(kind):
        print("$", " ".join(command).replace(f"{ROOT}/", ""), flush=True)
        environment = {**os.environ, "WRITEAMP_POLICY": name}
        if done := subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode:
            return done
    print(f"{name} ({kind}) passes all conformance tests")
    return 0


if __name__ == "__main__":
    sys.exit(main())
