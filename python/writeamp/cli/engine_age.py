"""Check whether the compiled engine is too old: it lacks a name that the Python code uses."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from writeamp import _engine

_STUB = Path(__file__).parent.parent / "_engine.pyi"


def missing_name() -> str | None:
    """Return a name that `_engine.pyi` declares but the engine lacks, or None.

    Reading the stub is slow, so this function is called after a failure only.
    """
    try:
        stub = ast.parse(_STUB.read_text(encoding="utf-8"))
        return next(_missing(stub.body, _engine, ""), None)
    except (OSError, ValueError):  # the stub is missing, or a function has no signature
        return None


def _missing(body: list[ast.stmt], owner: Any, within: str) -> Iterator[str]:
    for node in body:
        if isinstance(node, ast.ClassDef) and not _is_typed_dict(node):
            member = getattr(owner, node.name, None)
            if member is None:
                yield node.name
            else:
                yield from _missing(node.body, member, f"{node.name}.")
        elif isinstance(node, ast.FunctionDef):
            is_made = node.name == "__init__"
            member = owner if is_made else getattr(owner, node.name, None)
            name = within.removesuffix(".") if is_made else f"{within}{node.name}"
            if member is None:
                yield name
            elif not node.decorator_list or is_made:
                parameters = _parameters(member)
                yield from (
                    f"{name}({each}=)" for each in _keywords(node) if each not in parameters
                )


def _is_typed_dict(node: ast.ClassDef) -> bool:
    """Return whether a class of the stub only describes a dictionary that the engine returns."""
    return bool(node.bases)


def _keywords(node: ast.FunctionDef) -> list[str]:
    return [each.arg for each in node.args.kwonlyargs]


def _parameters(function: Any) -> set[str]:
    return set(inspect.signature(function).parameters)
