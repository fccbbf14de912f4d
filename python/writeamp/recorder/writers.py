"""Last process that wrote to each file, by BPF programs at events of writes.

The kernel writes buffered data back later, by a worker that works for all processes.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import NamedTuple

from writeamp.machine.bpf import (
    GET_NAME,
    GET_THREAD,
    NOT_EQUAL_R,
    UPDATE,
    Instruction,
    Map,
    Tracepoint,
    add_constant,
    attach,
    call,
    hash_map,
    jump_if,
    leave,
    load,
    load_constant,
    move,
    set_to,
    store,
)
from writeamp.recorder.processes import Process, name_of

# Process and thread number in one word, and the name of the thread.
_WRITER = struct.Struct("<Q16s")
_MOST_FILES = 1 << 16
_EVENT, _STACK = 6, 10
_KEY_AT, _NAME_AT, _VALUE_AT = -8, -24, -32


class WriteEvent(NamedTuple):
    """Event of a write to a file, of one file system.

    `event` has fields `ino` and `field`, whose first bytes are `value`, a number of `size` bytes.
    """

    event: str
    field: str
    value: int
    size: int


class Writers:
    """Last writer of each inode of a file system."""

    def __init__(self, events: Path, kinds: Sequence[WriteEvent], undo: ExitStack) -> None:
        """Run the programs until `undo` closes.

        Args:
            events: folder of the tracer's events.
            kinds: the events; those that the kernel does not have are skipped.
            undo: receives the undo steps.

        Raises:
            OSError: the kernel rejected a program.
        """
        self._map = hash_map(undo, _MOST_FILES, value_bytes=_WRITER.size, forgets=True)
        for kind in kinds:
            with suppress(FileNotFoundError):
                point = Tracepoint.read(events, kind.event)
                attach(undo, point.number, _program(point, kind, self._map))

    def of(self, inode: int) -> Process | None:
        """Return the last process that wrote to a file, or None if it is not known."""
        content = self._map.content(inode, _WRITER.size)
        if content is None:
            return None
        numbers, name = _WRITER.unpack(content)
        pid = numbers >> 32
        return Process(
            pid, name_of(pid) or name.split(b"\0")[0].decode("utf-8", "backslashreplace")
        )


def _program(point: Tracepoint, kind: WriteEvent, table: Map) -> list[Instruction]:
    """Return a program that stores the current thread for the inode of an event."""
    at, _ = point.fields[kind.field]
    inode_at, inode_bytes = point.fields["ino"]
    return [
        move(_EVENT, 1),
        load(2, _EVENT, at, kind.size),
        load_constant(3, kind.value),
        jump_if(NOT_EQUAL_R, 2, 0, "end", src=3),
        load(7, _EVENT, inode_at, inode_bytes),
        store(_STACK, _KEY_AT, 7),
        move(1, _STACK),
        add_constant(1, _NAME_AT),
        set_to(2, _KEY_AT - _NAME_AT),
        call(GET_NAME),
        call(GET_THREAD),
        store(_STACK, _VALUE_AT, 0),
        load_constant(1, table.fd, is_map=True),
        move(2, _STACK),
        add_constant(2, _KEY_AT),
        move(3, _STACK),
        add_constant(3, _VALUE_AT),
        set_to(4, 0),
        call(UPDATE),
        *leave("end"),
    ]
