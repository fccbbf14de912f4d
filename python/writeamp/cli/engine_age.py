"""Age of the compiled engine: whether it lacks what the Python code beside it calls."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from writeamp import _engine

_STUB = Path(__file__).parent.parent / "_engine.pyi"


def lacking() -> str | None:
    """Return a name that `_engine.pyi` declares and the engine has not; None of none.

    Reads the stub, which takes longer than a start should: for when something failed.
    """
    try:
        stub = ast.parse(_STUB.read_text(encoding="utf-8"))
        return next(_lacking(stub.body, _engine, ""), None)
    except (OSError, ValueError):  # no stub, or a function that does not tell its parameters
        return None


def _lacking(body: list[ast.stmt], owner: Any, within: str) -> Iterator[str]:
    for one in body:
        if isinstance(one, ast.ClassDef) and not _is_typed_dict(one):
            found = getattr(owner, one.name, None)
            if found is None:
                yield one.name
            else:
                yield from _lacking(one.body, found, f"{one.name}.")
        elif isinstance(one, ast.FunctionDef):
            is_made = one.name == "__init__"
            found = owner if is_made else getattr(owner, one.name, None)
            name = within.removesuffix(".") if is_made else f"{within}{one.name}"
            if found is None:
                yield name
            elif not one.decorator_list or is_made:
                known = _parameters(found)
                yield from (f"{name}({each}=)" for each in _keywords(one) if each not in known)


def _is_typed_dict(one: ast.ClassDef) -> bool:
    """Return whether a class only describes what the engine returns."""
    return bool(one.bases)


def _keywords(one: ast.FunctionDef) -> list[str]:
    return [each.arg for each in one.args.kwonlyargs]


def _parameters(found: Any) -> set[str]:
    return set(inspect.signature(found).parameters)
