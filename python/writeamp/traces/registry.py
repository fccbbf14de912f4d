"""The trace formats: one file each, and one line here."""

from __future__ import annotations

from writeamp.errors import unknown
from writeamp.traces.column_format import column_format
from writeamp.traces.columns import is_columns
from writeamp.traces.format import Format
from writeamp.traces.formats import (
    alibaba,
    blkparse,
    disksim,
    iolog,
    mqsim,
    msr,
    parquet,
    spc,
    ssdsim,
    tencent,
)

FORMATS: dict[str, Format] = {
    entry.name: entry
    for entry in (
        msr.FORMAT,
        spc.FORMAT,
        alibaba.FORMAT,
        tencent.FORMAT,
        mqsim.FORMAT,
        ssdsim.FORMAT,
        disksim.FORMAT,
        blkparse.FORMAT,
        iolog.FORMAT,
        parquet.FORMAT,
    )
}


def find_format(name: str) -> Format:
    """Return the format of that name, or the one that a text `columns:…` states.

    Raises:
        WriteampError: there is none; lists the valid names and the nearest.
    """
    if isinstance(name, str) and is_columns(name):
        return column_format(name)
    if name not in FORMATS:
        raise unknown("trace format", name, [*FORMATS, "columns:…"])
    return FORMATS[name]
