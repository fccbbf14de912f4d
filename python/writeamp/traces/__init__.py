"""Block traces of real programs: read, described, converted, and turned into page writes."""

from __future__ import annotations

from typing import TYPE_CHECKING

from writeamp.later import names_from
from writeamp.traces.words import MAPPINGS, Mapping

if TYPE_CHECKING:
    from writeamp.traces.format import Format
    from writeamp.traces.given import Given
    from writeamp.traces.memory import of
    from writeamp.traces.pages import PageTrace, to_pages
    from writeamp.traces.reading import detect, read
    from writeamp.traces.registry import FORMATS
    from writeamp.traces.summary import info
    from writeamp.traces.trace import OPERATIONS, SCHEMA, Trace
    from writeamp.traces.writing import write

__all__ = [
    "FORMATS",
    "MAPPINGS",
    "OPERATIONS",
    "SCHEMA",
    "Format",
    "Given",
    "Mapping",
    "PageTrace",
    "Trace",
    "detect",
    "info",
    "of",
    "read",
    "to_pages",
    "write",
]

# Reading a trace takes Polars and NumPy, and experiments without one know of these names too.
if not TYPE_CHECKING:
    __getattr__, __dir__ = names_from(
        "writeamp.traces",
        {
            "format": ("Format",),
            "given": ("Given",),
            "memory": ("of",),
            "pages": ("PageTrace", "to_pages"),
            "reading": ("detect", "read"),
            "registry": ("FORMATS",),
            "summary": ("info",),
            "trace": ("OPERATIONS", "SCHEMA", "Trace"),
            "writing": ("write",),
        },
    )
