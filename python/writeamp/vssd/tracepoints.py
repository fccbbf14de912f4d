"""Tracepoints of the kernel: their numbers, fields and flags."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from writeamp.files.temporary import temporary_folder
from writeamp.vssd.bpf import LIBC, checked

_FIELD = re.compile(r"field:.*?(\w+)(?:\[\d+\])?;\s*offset:(\d+);\s*size:(\d+);")
_FLAG = re.compile(r'\(1 << (\d+)\), "(\w+)"')
_ID = re.compile(r"^ID: (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Tracepoint:
    """A tracepoint: its number, the fields of its record, and the flags that these have.

    A field has its offset and its size in bytes, a flag its value.
    """

    number: int
    fields: dict[str, tuple[int, int]]
    flags: dict[str, int]

    @staticmethod
    def read(events: Path, name: str) -> Tracepoint:
        """Read the description of a tracepoint, such as "ext4/ext4_write_end".

        Raises:
            OSError: the kernel does not have it.
        """
        text = (events / name / "format").read_text()
        number = _ID.search(text)
        if number is None:
            raise OSError(f"the tracepoint {name} has no number")
        fields = {one[1]: (int(one[2]), int(one[3])) for one in _FIELD.finditer(text)}
        flags = {one[2]: 1 << int(one[1]) for one in _FLAG.finditer(text)}
        return Tracepoint(int(number[1]), fields, flags)


@contextmanager
def events_folder() -> Iterator[Path]:
    """Yield the folder of all tracepoints, mounted temporarily if necessary.

    Raises:
        OSError: it cannot be mounted.
    """
    usual = Path("/sys/kernel/tracing/events")
    if usual.is_dir():
        yield usual
        return
    with temporary_folder() as folder:
        mounted = folder / "tracing"
        mounted.mkdir()
        # By system calls, as the programs `mount` and `umount` may be missing or slow.
        place = os.fsencode(mounted)
        checked(LIBC.mount(b"tracefs", place, b"tracefs", 0, None))
        try:
            yield mounted / "events"
        finally:
            checked(LIBC.umount2(place, 0))
