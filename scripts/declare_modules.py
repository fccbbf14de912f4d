"""Declare the modules of the listed policies, in the engine and in the naive drive.

The lists (`victim_policies!`, `placements!`) name a module for each policy, and Rust wants a plain
`mod` for each module in either crate, or rustfmt would not find the files. This writes those that
are missing; it takes none away.
"""

from __future__ import annotations

import re
from pathlib import Path

CRATES = Path(__file__).parents[1] / "crates"
ROOMS = ("victims", "placements")
LISTED = re.compile(r"^ +([a-z_0-9]+)::[A-Za-z0-9]+,$", re.MULTILINE)
DECLARED = re.compile(r"^((?:pub\(crate\) )?mod )([a-z_0-9]+);\n", re.MULTILINE)


def with_modules(text: str, modules: list[str]) -> str:
    """Return the source of a room with a declaration for each of its modules."""
    found = DECLARED.findall(text)
    declared = [name for _, name in found]
    # As the neighbours are declared: some rooms hand their modules to the rest of the crate.
    word = next(word for word, name in found if name in modules)
    for module in modules:
        if module not in declared:
            after = max((name for name in declared if name < module), default=None)
            first = DECLARED.search(text)
            assert first is not None
            at = first.start()
            if after is not None:
                at = next(m.end() for m in DECLARED.finditer(text) if m[2] == after)
            text = f"{text[:at]}{word}{module};\n{text[at:]}"
            declared.append(module)
    return text


def generated() -> dict[Path, str]:
    """Return the sources that list or declare the modules, with what was missing."""
    texts = {}
    for room in ROOMS:
        engine = CRATES / "engine" / "src" / room / "mod.rs"
        modules = LISTED.findall(engine.read_text("utf-8"))
        for path in (engine, CRATES / "naive" / "src" / room / "mod.rs"):
            texts[path] = with_modules(path.read_text("utf-8"), modules)
    return texts


if __name__ == "__main__":
    for path, text in generated().items():
        # Cargo compiles what was written anew.
        if path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
