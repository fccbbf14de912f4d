"""Block traces of real programs: read, described, converted, and turned into page writes."""

from __future__ import annotations

from writeamp.traces.format import Format
from writeamp.traces.given import Given
from writeamp.traces.memory import of
from writeamp.traces.pages import MAPPINGS, Mapping, PageTrace, to_pages
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
