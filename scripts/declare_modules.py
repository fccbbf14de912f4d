"""Declare the modules of listed policies in the engine and in the naive drive.

The lists (`victim_policies!`, `placements!`) name a module for each policy. Each module also needs
a plain `mod` in both crates, or rustfmt would not find its file. The script adds missing
declarations and never removes any.
"""

from __future__ import annotations

import re
from pathlib import Path

CRATES = Path(__file__).parents[1] / "crates"
FOLDERS = ("victims", "placements")
LISTED = re.compile(r"^ +([a-z_0-9]+)::[A-Za-z0-9]+,$", re.MULTILINE)
DECLARED = re.compile(r"^((?:pub\(crate\) )?mod )([a-z_0-9]+);\n", re.MULTILINE)


def with_modules(text: str, modules: list[str]) -> str:
    """Return a source text with a declaration for each of the modules."""
    declarations = DECLARED.findall(text)
    declared = [name for _, name in declarations]
    # New declarations have the visibility of existing ones.
    word = next(word for word, name in declarations if name in modules)
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
    """Return the sources that list or declare modules, with missing declarations added."""
    texts = {}
    for folder in FOLDERS:
        engine = CRATES / "engine" / "src" / folder / "mod.rs"
        modules = LISTED.findall(engine.read_text("utf-8"))
        for path in (engine, CRATES / "naive" / "src" / folder / "mod.rs"):
            texts[path] = with_modules(path.read_text("utf-8"), modules)
    return texts


if __name__ == "__main__":
    for path, text in generated().items():
        # Unchanged files are not written, because cargo would recompile them.
        if path.read_text("utf-8") != text:
            path.write_text(text, "utf-8")
