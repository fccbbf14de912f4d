"""Check that the rooms of each crate import downwards only, as lint-imports does for Python.

A room is a top-level module of a crate; `[workspace.metadata.floors]` in Cargo.toml has the floors
of each crate from the top down, rooms on one floor separated by `|`. A room imports from lower
floors only, and no files import each other in a circle, but for a module and those inside it. Tests
may import from anywhere. Every crate of the workspace has floors. It prints a line for each import
or crate that breaks this, and then ends with status 1.
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

# A module by its path from the crate's root, as "victims::greedy"; the root itself is "".
Imports: TypeAlias = dict[str, set[str]]

_TESTS = re.compile(r"#\[cfg\(test\)\]\s*(?:pub(?:\(crate\))? )?mod \w+ \{.*", re.DOTALL)
_COMMENT = re.compile(r"//.*")
_USE = re.compile(r"\buse\s+((?:crate|super|self)::[^;]+);")
# A macro is exported to the root, wherever it stands.
_PATH = re.compile(r"\bcrate::([\w:]+)\b(?!!)")


def source_of(crate: Path) -> Path:
    """Return the folder of a crate's modules; a crate that only has benches keeps them there."""
    return next(folder for name in ("src", "benches") if (folder := crate / name).is_dir())


def crates_apart(members: list[str], floors: dict[str, list[str]]) -> list[str]:
    """Return a sentence for each crate without floors, and for each that the workspace lacks."""
    crates = {Path(member).name for member in members}
    found = [f"{crate}: has no floors in Cargo.toml" for crate in sorted(crates - floors.keys())]
    return found + [f"{crate}: is not in the workspace" for crate in floors.keys() - crates]


def imports_of(source: Path) -> Imports:
    """Return what each module of a crate imports of it, its tests left out."""
    files = {_module_of(path.relative_to(source)): path for path in source.rglob("*.rs")}
    files = {name: path for name, path in files.items() if "tests" not in name.split("::")}
    found: Imports = {}
    for module, path in files.items():
        text = _COMMENT.sub("", _TESTS.sub("", path.read_text(encoding="utf-8")))
        named = {_absolute(tree, module) for use in _USE.findall(text) for tree in _paths(use)}
        named |= set(_PATH.findall(text))
        found[module] = {_nearest(name, files) for name in named} - {module}
    return found


def complaints(crate: str, imports: Imports, floors: list[str]) -> list[str]:
    """Return a sentence for each import that does not lead down, and each circle."""
    floor_of = {
        room.strip(): floor for floor, rooms in enumerate(floors) for room in rooms.split("|")
    }
    found = []
    for module, others in sorted(imports.items()):
        room = _room(module)
        if room and room not in floor_of:
            found.append(f"{crate}: room {room} is on no floor in Cargo.toml")
            continue
        for other in sorted(others):
            # The root says what there is, and nobody asks it.
            if not room or _room(other) == room:
                continue
            if not _room(other):
                found.append(f"{crate}: {module} imports from the root; name the module")
            elif floor_of.get(_room(other), len(floors)) <= floor_of[room]:
                found.append(f"{crate}: {module} imports {other}, which is no floor below it")
    missing = floor_of.keys() - {_room(module) for module in imports}
    found += [f"{crate}: there is no room {room}" for room in sorted(missing)]
    return found + [f"{crate}: {' -> '.join(circle)}" for circle in _circles(imports)]


def _circles(imports: Imports) -> Iterator[list[str]]:
    """Give each circle of siblings once: a module and those inside it may know each other."""
    waiting = {
        module: {other for other in others if not _is_inside(module, other)}
        for module, others in imports.items()
        if module
    }
    while waiting:
        try:
            TopologicalSorter(waiting).prepare()
        except CycleError as error:
            # Each is imported by the one after it, and the last is the first again.
            ring = error.args[1][:0:-1]
            start = ring.index(min(ring))
            yield [*ring[start:], *ring[:start], ring[start]]
            waiting = {one: others for one, others in waiting.items() if one not in ring}
        else:
            return


def _is_inside(one: str, other: str) -> bool:
    return f"{one}::".startswith(f"{other}::") or f"{other}::".startswith(f"{one}::")


def _module_of(path: Path) -> str:
    parts = path.with_suffix("").parts
    parts = parts[:-1] if parts[-1] in ("mod", "lib") else parts
    return "::".join(parts)


def _room(module: str) -> str:
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
    return "::".join([*base, *(part for part in parts if part != "self")])


def _nearest(path: str, modules: dict[str, Path]) -> str:
    """Return the module that a path leads into."""
    while path and path not in modules:
        path = path.rpartition("::")[0]
    return path


def main() -> None:
    workspace = tomllib.loads((ROOT / "Cargo.toml").read_text(encoding="utf-8"))["workspace"]
    members, floors_of = workspace["members"], workspace["metadata"]["floors"]
    found = crates_apart(members, floors_of)
    for folder in (ROOT / member for member in members):
        if floors := floors_of.get(folder.name):
            found += complaints(folder.name, imports_of(source_of(folder)), floors)
    for complaint in found:
        print(complaint, file=sys.stderr)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
