"""Draw a figure into a file, whole or not at all."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name
from writeamp.files import output
from writeamp.plots.spec import FigureSpec
from writeamp.text import printable

# The libraries take a second to import; each is imported when a file of its kind is asked for.
_BACKENDS = {
    ".png": "writeamp.plots.backends.matplotlib_backend",
    ".svg": "writeamp.plots.backends.matplotlib_backend",
    ".pdf": "writeamp.plots.backends.matplotlib_backend",
    ".html": "writeamp.plots.backends.html_backend",
}


def save(spec: FigureSpec, path: str | os.PathLike[str]) -> None:
    """Draw `spec` into the file `path`, whose suffix (.png, .svg, .pdf, .html) says how.

    The file appears complete or not at all; one that exists is replaced.

    Raises:
        WriteampError: the suffix is another, or the file cannot be written.
    """
    content = rendered(spec, check_suffix(path))
    with output.replacing(path, "plot") as file:
        file.write(content)


def rendered(spec: FigureSpec, suffix: str) -> bytes:
    """Return the bytes of a file with a suffix that `save` can draw."""
    render = cast(Callable[[FigureSpec, str], bytes], _imported(_BACKENDS[suffix]).render)
    return render(_showable(spec), suffix.removeprefix("."))


def inline_svg(spec: FigureSpec, *, has_titles: bool = False, inside: str = "") -> str:
    """Return a figure as SVG for the text of a page, in the page's colours.

    Args:
        spec: the figure.
        has_titles: whether title and subtitle stand above it; readers of the screen have the title.
        inside: SVG of ours that is drawn on it.
    """
    draw = cast(Callable[..., str], _imported(_BACKENDS[".html"]).inline)
    return draw(_showable(spec), has_titles=has_titles, inside=inside)


def _imported(backend: str) -> ModuleType:
    """Import what draws, whatever MPLBACKEND says: with an unknown name Matplotlib is no module.

    A figure that goes to a file needs none; a valid one is kept for what the user draws.
    """
    asked = os.environ.get("MPLBACKEND")
    if asked is None or "matplotlib" in sys.modules:
        return import_module(backend)
    del os.environ["MPLBACKEND"]
    try:
        found = import_module(backend)
    finally:
        os.environ["MPLBACKEND"] = asked
    if "matplotlib" in sys.modules:
        with suppress(ValueError):
            sys.modules["matplotlib"].rcParams["backend"] = asked
    return found


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return a figure's suffix.

    Raises:
        WriteampError: the suffix is not one that `save` can draw.
    """
    suffix = Path(file_name(path)).suffix.lower()
    if suffix not in _BACKENDS:
        valid = ", ".join(name.removeprefix(".") for name in _BACKENDS)
        found = f"suffix {suffix!r}" if suffix else "no suffix"
        raise WriteampError(f"cannot plot to {str(path)!r}, which has {found}: valid are {valid}")
    return suffix


def check_target(path: str | os.PathLike[str]) -> None:
    """Refuse early, before a long run, a figure that could not be written after it.

    Raises:
        WriteampError: the suffix is not one that `save` can draw, or the folder not writable.
    """
    check_suffix(path)
    output.check_target(path, "plot")


def _showable(part: Any, breaks: str = "\n") -> Any:
    """Return a figure whose texts hide nothing; line breaks are ours, but for those in titles."""
    if isinstance(part, str):
        return printable(part, keep=breaks)
    if isinstance(part, tuple):
        return tuple(map(_showable, part))
    if is_dataclass(part) and not isinstance(part, type):
        shown = {
            one.name: _showable(getattr(part, one.name), "" if one.name == "title" else breaks)
            for one in fields(part)
        }
        return replace(part, **shown)
    return part
