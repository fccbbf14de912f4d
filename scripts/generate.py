"""Write every generated file of the repository: `make generate`.

`tests/unit/test_generated.py` fails if a committed one differs. Not generated here are pins, which
change on purpose only (`tests/data/golden.json`), and what is measured or simulated at length: the
figures of `docs/images`, `benches/results` and the formulas of profiles
(`benches/blackbox_prior.py`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import declare_arguments
import declare_modules
import learn_page
import page_tables

ROOT = Path(__file__).resolve().parent.parent
# Each returns the files that it makes, with their text.
GENERATORS: dict[str, Callable[[], dict[Path, str]]] = {
    "types of keyword arguments": declare_arguments.generated,
    "modules of policies": declare_modules.generated,
    "tables of pages": page_tables.generated,
    "the page of chapters": learn_page.page,
    "pictures of chapters": learn_page.pictures,
}
# Programs that a generator cannot do without.
NEEDED = {"pictures of chapters": "node"}


def missing(generator: str) -> str | None:
    """Return the program that a generator needs if it is not installed."""
    program = NEEDED.get(generator)
    return program if program and shutil.which(program) is None else None


def stale(texts: Mapping[Path, str]) -> list[Path]:
    """Return the files that do not hold their text."""
    return [
        path for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text
    ]


def main() -> None:
    """Write what is stale and name it."""
    for name, generated in GENERATORS.items():
        if program := missing(name):
            print(f"{name} left out: {program} is not installed")
            continue
        texts = generated()
        for path in stale(texts):
            path.write_text(texts[path], "utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
