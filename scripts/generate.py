"""Write all generated files of the repository: `make generate`.

`tests/unit/test_generated.py` fails if a committed file differs. Some files are generated
elsewhere: golden counters (`tests/data/golden.json`), which change on purpose only, and results of
long measurements: the figures of `docs/images`, `benches/results` and the formulas of profiles
(`benches/blackbox_prior.py`).
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path

import citation_file
import declare_arguments
import declare_modules
import learn_page
import page_tables
import repository_links

ROOT = Path(__file__).resolve().parent.parent
# Each generator returns its files with their text.
GENERATORS: dict[str, Callable[[], dict[Path, str]]] = {
    "types of keyword arguments": declare_arguments.generated,
    "modules of policies": declare_modules.generated,
    "tables of pages": page_tables.generated,
    "links to the repository": repository_links.generated,
    "CITATION.cff": citation_file.generated,
    "the page of chapters": learn_page.page,
    "pictures of chapters": learn_page.pictures,
}
# Programs that generators need.
NEEDED = {"pictures of chapters": "node"}


def missing(generator: str) -> str | None:
    """Return the program that a generator needs and that is not installed, or None."""
    program = NEEDED.get(generator)
    return program if program and shutil.which(program) is None else None


def stale(texts: Mapping[Path, str]) -> list[Path]:
    """Return the files with a different text."""
    return [
        path for path, text in texts.items() if not path.exists() or path.read_text("utf-8") != text
    ]


def main() -> None:
    """Write stale files and print their names."""
    for name, generated in GENERATORS.items():
        if program := missing(name):
            print(f"{name}: skipped, because {program} is not installed")
            continue
        texts = generated()
        for path in stale(texts):
            path.write_text(texts[path], "utf-8")
            print(path.relative_to(ROOT))


if __name__ == "__main__":
    main()
