"""Check the layers of crates: imports must lead downwards, as lint-imports checks in Python.

`[workspace.metadata.floors]` in Cargo.toml lists the layers of each crate from the top down, with
the top-level modules of a layer separated by `|`. A module may import from lower layers only, and
files must not import each other in a circle, except a module and its submodules. Tests may import
from all layers. Each crate of the workspace needs a list of layers. The script prints a line
for each violation, and then exits with status 1.
"""

from __future__ import annotations

import re
import sys
import tomllib
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path
from typing import TypeAlias

ROOT = Path(__file__).resolve().parent.parent

# Imports of each module; modules are paths such as "victims::greedy", and the root is "".
Imports: TypeAlias = dict[str, set[str]]

_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\(crate\))? )?mod \w+ \{.*", re.DOTALL)
_COMMENT = re.compile(r"//.*")
_USE = re.compile(r"\buse\s+((?:crate|super|self)::[^;]+);")
# Macros are excluded, because they are always exported to the root.
_PATH = re.compile(r"\bcrate::([\w:]+)\b(?!!)")


def source_of(crate: Path) -> Path:
    """Return the folder of a crate's modules: `src`, or `benches` in a crate of benchmarks."""
    return next(folder for name in ("src", "benches") if (folder := crate / name).is_dir())


def crates_apart(members: list[str], layers: dict[str, list[str]]) -> list[str]:
    """Return a sentence for each crate without layers, and for each crate that does not exist."""
    crates = {Path(member).name for member in members}
    sentences = [
        f"{crate}: has no layers in Cargo.toml" for crate in sorted(crates - layers.keys())
    ]
    return sentences + [f"{crate}: is not in the workspace" for crate in layers.keys() - crates]


def imports_of(source: Path) -> Imports:
    """Return the modules that each module of a crate imports from it, without tests."""
    files = {_module_of(path.relative_to(source)): path for path in source.rglob("*.rs")}
    files = {name: path for name, path in files.items() if "tests" not in name.split("::")}
    imports: Imports = {}
    for module, path in files.items():
        text = _COMMENT.sub("", _TESTS.sub("", path.read_text(encoding="utf-8")))
        named = {_absolute(tree, module) for use in _USE.findall(text) for tree in _paths(use)}
        named |= set(_PATH.findall(text))
        imports[module] = {_nearest(name, files) for name in named} - {module}
    return imports


def complaints(crate: str, imports: Imports, layers: list[str]) -> list[str]:
    """Return a sentence for each import that does not lead downwards, and for each circle."""
    layer_of = {
        name.strip(): layer for layer, names in enumerate(layers) for name in names.split("|")
    }
    sentences = []
    for module, others in sorted(imports.items()):
        name = _top_module(module)
        if name and name not in layer_of:
            sentences.append(f"{crate}: module {name} has no layer in Cargo.toml")
            continue
        for other in sorted(others):
            # The root may import all modules, and imports within a module are allowed.
            if not name or _top_module(other) == name:
                continue
            if not _top_module(other):
                sentences.append(f"{crate}: {module} imports from the root; name the module")
            elif layer_of.get(_top_module(other), len(layers)) <= layer_of[name]:
                sentences.append(
                    f"{crate}: {module} imports {other}, which is not in a lower layer"
                )
    missing = layer_of.keys() - {_top_module(module) for module in imports}
    sentences += [f"{crate}: module {name} does not exist" for name in sorted(missing)]
    return sentences + [f"{crate}: {' -> '.join(circle)}" for circle in _circles(imports)]


def _circles(imports: Imports) -> Iterator[list[str]]:
    """Give each circle of imports once; a module and its submodules may import each other."""
    waiting = {
        module: {other for other in others if not _is_inside(module, other)}
        for module, others in imports.items()
        if module
    }
    while waiting:
        try:
            TopologicalSorter(waiting).prepare()
        except CycleError as error:
            # Each module in the error is imported by the next one, and the last is the first again.
            ring = error.args[1][:0:-1]
            start = ring.index(min(ring))
            yield [*ring[start:], *ring[:start], ring[start]]
            waiting = {module: others for module, others in waiting.items() if module not in ring}
        else:
            return


def _is_inside(first: str, second: str) -> bool:
    return f"{first}::".startswith(f"{second}::") or f"{second}::".startswith(f"{first}::")


def _module_of(path: Path) -> str:
    parts = path.with_suffix("").parts
    parts = parts[:-1] if parts[-1] in ("mod", "lib") else parts
    return "::".join(parts)


def _top_module(module: str) -> str:
    return module.partition("::")[0]


def _paths(tree: str) -> Iterator[str]:
    """Give the paths of a `use` tree."""
    head, brace, rest = tree.strip().partition("{")
    if not brace:
        yield head.partition(" as ")[0].strip()
        return
    depth, item = 0, ""
    for character in rest[: rest.rindex("}")] + ",":
        depth += (character == "{") - (character == "}")
        if character == "," and depth == 0:
            if item.strip():
                yield from (f"{head.strip()}{path}" for path in _paths(item))
            item = ""
        else:
            item += character


def _absolute(path: str, module: str) -> str:
    parts, base = path.split("::"), module.split("::") if module else []
    if parts[0] == "crate":
        return "::".join(parts[1:])
    while parts[0] == "super":
        parts, base = parts[1:], base[:-1]
    return "::".join([*base, *(name for name in parts if name != "self")])


def _nearest(path: str, modules: dict[str, Path]) -> str:
    """Return the innermost module of a path."""
    while path and path not in modules:
        path = path.rpartition("::")[0]
    return path


def main() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    members, layers_of = workspace["members"], workspace["metadata"]["floors"]
    sentences = crates_apart(members, layers_of)
    for folder in (ROOT / member for member in members):
        if layers := layers_of.get(folder.name):
            sentences += complaints(folder.name, imports_of(source_of(folder)), layers)
    for complaint in sentences:
        print(complaint, file=sys.stderr)
    sys.exit(bool(sentences))


if __name__ == "__main__":
    main()
