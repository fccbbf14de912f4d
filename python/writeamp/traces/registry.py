"""Registry of trace formats; a format is one file in `formats/` and one name in `words.py`."""

from __future__ import annotations

from importlib import import_module

from writeamp.errors import unknown
from writeamp.traces.column_format import column_format
from writeamp.traces.columns import is_columns
from writeamp.traces.format import Format
from writeamp.traces.words import FORMAT_NAMES

FORMATS: dict[str, Format] = {
    name: import_module(f"writeamp.traces.formats.{name}").FORMAT for name in FORMAT_NAMES
}


def find_format(name: str) -> Format:
    """Return the format with this name, or the format of a text `columns:…`.

    Raises:
        WriteampError: the format is unknown; the message lists the valid names and the nearest.
    """
    if isinstance(name, str) and is_columns(name):
        return column_format(name)
    if name not in FORMATS:
        raise unknown("trace format", name, [*FORMATS, "columns:…"])
    return FORMATS[name]
