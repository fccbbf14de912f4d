"""Draw a figure into a file atomically."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, cast

from writeamp.errors import WriteampError
from writeamp.fields.domains import file_name
from writeamp.files import output
from writeamp.text import printable

if TYPE_CHECKING:
    from writeamp.plots.spec import FigureSpec

# Drawing libraries take a second to import, so each is imported on first use.
_BACKENDS = {
    ".png": "writeamp.plots.backends.matplotlib_backend",
    ".svg": "writeamp.plots.backends.matplotlib_backend",
    ".pdf": "writeamp.plots.backends.matplotlib_backend",
    ".html": "writeamp.plots.backends.html_backend",
}


def save(spec: FigureSpec, path: str | os.PathLike[str]) -> None:
    """Draw `spec` into the file `path`, in the format of its suffix: .png, .svg, .pdf or .html.

    The file is written atomically and replaces an existing one.

    Raises:
        WriteampError: another suffix, or the file cannot be written.
    """
    content = rendered(spec, check_suffix(path))
    with output.replacing(path, "plot") as file:
        file.write(content)


def rendered(spec: FigureSpec, suffix: str) -> bytes:
    """Return the bytes of a figure's file in the format of `suffix`."""
    render = cast("Callable[[FigureSpec, str], bytes]", _imported(_BACKENDS[suffix]).render)
    return render(_showable(spec), suffix.removeprefix("."))


def inline_svg(
    spec: FigureSpec, *, has_titles: bool = False, inside: str = "", for_phone: bool = False
) -> str:
    """Return a figure as SVG for embedding in a page, in the page's colours.

    Args:
        spec: the figure.
        has_titles: True to draw title and subtitle; screen readers get the title in any case.
        inside: trusted SVG that is drawn on top of the figure.
        for_phone: True for a figure that is readable at the width of a phone.
    """
    draw = cast(Callable[..., str], _imported(_BACKENDS[".html"]).inline)
    return draw(_showable(spec), has_titles=has_titles, inside=inside, for_phone=for_phone)


def _imported(backend: str) -> ModuleType:
    """Import a backend without the variable MPLBACKEND.

    An unknown name in MPLBACKEND would break the import of Matplotlib, and drawing into a file does
    not need it. A valid name is restored for the user's own figures.
    """
    requested = os.environ.get("MPLBACKEND")
    if requested is None or "matplotlib" in sys.modules:
        return import_module(backend)
    del os.environ["MPLBACKEND"]
    try:
        module = import_module(backend)
    finally:
        os.environ["MPLBACKEND"] = requested
    if "matplotlib" in sys.modules:
        with suppress(ValueError):
            sys.modules["matplotlib"].rcParams["backend"] = requested
    return module


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return a figure's suffix.

    Raises:
        WriteampError: `save` does not support the suffix.
    """
    suffix = Path(file_name(path)).suffix.lower()
    if suffix not in _BACKENDS:
        valid = ", ".join(name.removeprefix(".") for name in _BACKENDS)
        fault = f"suffix {suffix!r}" if suffix else "no suffix"
        raise WriteampError(f"cannot plot to {str(path)!r}, which has {fault}; valid: {valid}")
    return suffix


def check_target(path: str | os.PathLike[str]) -> None:
    """Check before a long run that a figure can be written after it.

    Raises:
        WriteampError: `save` does not support the suffix, or the folder is not writable.
    """
    check_suffix(path)
    output.check_target(path, "plot")


def _showable(element: Any, breaks: str = "\n") -> Any:
    """Return a figure with control characters escaped in texts, and line breaks in titles."""
    if isinstance(element, str):
        return printable(element, keep=breaks)
    if isinstance(element, tuple):
        return tuple(map(_showable, element))
    if is_dataclass(element) and not isinstance(element, type):
        shown = {
            field.name: _showable(
                getattr(element, field.name), "" if field.name == "title" else breaks
            )
            for field in fields(element)
        }
        return replace(element, **shown)
    return element
