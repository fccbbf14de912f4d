"""Bytes passed to write() on the files of one drive, counted at tracepoints of the kernel.

/proc/PID/io has other quantities: `wchar` includes pipes and files elsewhere and excludes
asynchronous I/O. `write_bytes` counts whole folios of the page cache (mm/page-writeback.c,
folio_account_dirtied), of up to 2 MiB on file systems with large folios.
"""

from __future__ import annotations

import mmap
import re
from bisect import bisect_right
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.machine import bpf
from writeamp.machine.bpf import Instruction, Map, Tracepoint, events_folder

# Tracepoints at which a file system receives the bytes of write(), with the field that counts the
# bytes. `_WRITERS` has the kernel function that handles all writes of each file system.
_BUFFERED_WRITES = {
    "ext4": (
        ("ext4/ext4_da_write_end", "copied"),
        ("ext4/ext4_write_end", "copied"),
        ("ext4/ext4_journalled_write_end", "copied"),
    ),
    "xfs": (("xfs/xfs_file_buffered_write", "count"),),
}
_WRITERS = {"ext4": "ext4_file_write_iter", "xfs": "xfs_file_write_iter"}
_DIRECT_ENDED = "iomap/iomap_dio_complete"
_DIRTIED = "writeback/writeback_dirty_folio"
_CACHED = "filemap/mm_filemap_add_to_page_cache"
# Kernel function that handles all page faults of mapped memory.
_FAULT = "handle_mm_fault"
_FRAMES = 32
# Offsets in the stack of a BPF program (512 bytes): a key at the top, below it a value, and then
# the addresses of a call stack.
_KEY, _VALUE = -8, -24
_STACK = _VALUE - 8 * _FRAMES
_MOST_ENTRIES = 1 << 16
_MINOR_BITS = 20
# Address of a kernel function, and the size of its code in bytes.
Place = tuple[int, int]
# Indices in the map of sums: buffered writes, direct writes, folios that calls made dirty.
_BUFFERED, _DIRECT, _DIRTIED_BY_CALLS = range(3)


@dataclass(frozen=True)
class WriteCounts:
    """Counts of writes to the files of a drive.

    `written_bytes` were passed to write() and similar calls, including asynchronous and direct
    ones. `mapped_folios` is the number of folios (units of the page cache) that stores to mapped
    memory changed; together they have at most `mapped_bytes`.
    """

    written_bytes: int
    mapped_folios: int
    mapped_bytes: int
    has_unseen_writes: bool
    """Whether calls changed files although no tracepoint counted their bytes."""


@dataclass(frozen=True)
class WriteCounter:
    """Counter of the bytes that programs pass to write() on the files of a drive.

    BPF programs in the kernel count until the context of `write_counter` ends.
    """

    sums: Map
    cut_copies: Map
    """Position and size in bytes of each thread's last incomplete copy."""
    mapped_folios: Map
    orders: Map

    def read(self) -> WriteCounts:
        """Return the counts since the start."""
        folios = {inode: self.mapped_folios[inode] for inode in self.mapped_folios}
        buffered = self.sums[_BUFFERED]
        return WriteCounts(
            written_bytes=buffered + self.sums[_DIRECT],
            mapped_folios=sum(folios.values()),
            mapped_bytes=sum(
                count * mmap.PAGESIZE << self.orders[inode] for inode, count in folios.items()
            ),
            has_unseen_writes=not buffered and self.sums[_DIRTIED_BY_CALLS] > 0,
        )


@contextmanager
def write_counter(file_system: str, loop: str) -> Iterator[WriteCounter | str]:
    """Yield a running counter, or the reason why it cannot run.

    Args:
        file_system: type of the mounted file system.
        loop: its block device.
    """
    with ExitStack() as undo:
        counter: WriteCounter | str
        try:
            counter = _opened(undo, file_system, loop)
        except (OSError, KeyError, WriteampError) as error:
            undo.close()
            counter = f"the kernel's tracepoints cannot count the bytes passed to write() ({error})"
        yield counter


def _opened(undo: ExitStack, file_system: str, loop: str) -> WriteCounter:
    if file_system not in _BUFFERED_WRITES:
        raise WriteampError(f"writeamp does not support the tracepoints of {file_system}")
    major, minor = Path("/sys/block", Path(loop).name, "dev").read_text().strip().split(":")
    device = int(major) << _MINOR_BITS | int(minor)
    counter = WriteCounter(
        sums=bpf.array_map(undo, 3),
        cut_copies=bpf.hash_map(undo, _MOST_ENTRIES, value_bytes=16),
        mapped_folios=bpf.hash_map(undo, _MOST_ENTRIES),
        orders=bpf.hash_map(undo, _MOST_ENTRIES),
    )
    with events_folder() as events:
        direct, cached, dirtied = (
            Tracepoint.read(events, name) for name in (_DIRECT_ENDED, _CACHED, _DIRTIED)
        )
        writes = [
            (Tracepoint.read(events, name), field) for name, field in _BUFFERED_WRITES[file_system]
        ]
    writer, fault = _places_of(_WRITERS[file_system], _FAULT)
    programs = [
        *((point, _sum_of(point, field, device, counter)) for point, field in writes),
        (direct, _direct(direct, writer, device, counter.sums)),
        (cached, _largest(cached, device, counter.orders)),
        (dirtied, _mapped(dirtied, fault, f"{major}:{minor}", device, counter)),
    ]
    for point, program in programs:
        bpf.attach(undo, point.number, program)
    return counter


def _sum_of(point: Tracepoint, field: str, device: int, counter: WriteCounter) -> list[Instruction]:
    """Add a field of each event of the device to the sum of buffered writes."""
    program = [
        bpf.move(6, 1),
        *_of_device(point, "dev", device),
        bpf.load(8, 6, *point.fields[field]),
    ]
    if "copied" in point.fields:
        program += _without_repeats(point, counter.cut_copies)
    return [*program, *_added_to_slot(counter.sums, _BUFFERED, 8, label="sum"), *bpf.leave("end")]


def _without_repeats(point: Tracepoint, cut_copies: Map) -> list[Instruction]:
    """Subtract an incomplete copy if the same thread repeats it from its start.

    The kernel interrupts a copy at a page of the program's memory that is not present, and drops
    the copied bytes unless it has the rest of the folio (ext4_da_write_end).
    """
    return [
        bpf.load(9, 6, *point.fields["pos"]),
        bpf.call(bpf.GET_THREAD),
        bpf.store(10, _KEY, 0),
        *_looked_up(cut_copies),
        bpf.jump_if(bpf.EQUAL, 0, 0, "look for a cut"),
        bpf.load(1, 0, 0, 8),
        bpf.jump_if(bpf.NOT_EQUAL_R, 1, 0, "forget", src=9),
        bpf.load(1, 0, 8, 8),
        bpf.subtract(8, 1),
        bpf.store_constant(0, 0, -1, label="forget"),
        bpf.load(1, 6, *point.fields["copied"], label="look for a cut"),
        bpf.load(2, 6, *point.fields["len"]),
        bpf.jump_if(bpf.AT_LEAST_R, 1, 0, "sum", src=2),
        bpf.store(10, _VALUE, 9),
        bpf.store(10, _VALUE + 8, 1),
        *_updated(cut_copies),
    ]


def _direct(point: Tracepoint, writer: Place, device: int, sums: Map) -> list[Instruction]:
    """Add the bytes of each direct write to the device to the sum of direct writes."""
    return [
        bpf.move(6, 1),
        *_of_device(point, "dev", device),
        bpf.load(8, 6, *point.fields["ret"]),
        # The result is the number of bytes, or negative if the write failed.
        bpf.jump_if(bpf.SIGNED_AT_MOST, 8, 0, "end"),
        # Direct reads reach this tracepoint, too. Asynchronous writes have the flag WRITE.
        # Synchronous writes end inside write().
        bpf.load(1, 6, *point.fields["ki_flags"]),
        bpf.jump_if(bpf.HAS_BITS, 1, point.flags["WRITE"], "is a write"),
        *_jump_if_inside(writer, "is a write"),
        bpf.jump("end"),
        *_added_to_slot(sums, _DIRECT, 8, label="is a write"),
        *bpf.leave("end"),
    ]


def _largest(point: Tracepoint, device: int, orders: Map) -> list[Instruction]:
    """Store the order (log2 of its pages) of the largest cached folio of each file."""
    return [
        bpf.move(6, 1),
        *_of_device(point, "s_dev", device),
        bpf.load(8, 6, *point.fields["order"]),
        bpf.jump_if(bpf.EQUAL, 8, 0, "end"),
        bpf.load(1, 6, *point.fields["i_ino"]),
        bpf.store(10, _KEY, 1),
        bpf.store(10, _VALUE, 8),
        *_looked_up(orders),
        bpf.jump_if(bpf.EQUAL, 0, 0, "is new"),
        bpf.load(1, 0, 0, 8),
        bpf.jump_if(bpf.AT_LEAST_R, 1, 0, "end", src=8),
        *_updated(orders, label="is new"),
        *bpf.leave("end"),
    ]


def _mapped(
    point: Tracepoint, fault: Place, name: str, device: int, counter: WriteCounter
) -> list[Instruction]:
    """Count folios that become dirty: by page faults per file, by other calls for all files."""
    at, _ = point.fields["name"]
    program = [bpf.move(6, 1)]
    for index, letter in enumerate((*name.encode(), 0)):
        program += [bpf.load(1, 6, at + index, 1), bpf.jump_if(bpf.NOT_EQUAL, 1, letter, "end")]
    folios = counter.mapped_folios
    return [
        *program,
        bpf.load(9, 6, *point.fields["ino"]),
        # Metadata of the file system belongs to the inode of the block device, and is not counted.
        bpf.jump_if(bpf.EQUAL, 9, device, "end"),
        bpf.set_to(8, 1),
        *_jump_if_inside(fault, "by a fault"),
        *_added_to_slot(counter.sums, _DIRTIED_BY_CALLS, 8),
        bpf.jump("end"),
        bpf.store(10, _KEY, 9, label="by a fault"),
        bpf.store_constant(10, _VALUE, 0),
        # Another processor may have created the entry; then this program changes nothing.
        *_updated(folios, only_if_new=True),
        *_looked_up(folios),
        bpf.jump_if(bpf.EQUAL, 0, 0, "end"),
        bpf.add_atomically(0, 0, 8),
        *bpf.leave("end"),
    ]


def _of_device(point: Tracepoint, field: str, device: int) -> list[Instruction]:
    """End the program unless the event belongs to the device."""
    return [bpf.load(1, 6, *point.fields[field]), bpf.jump_if(bpf.NOT_EQUAL, 1, device, "end")]


def _jump_if_inside(function: Place, target: str) -> list[Instruction]:
    """Jump if the call stack of the kernel contains this kernel function."""
    start, size_bytes = function
    program = [
        bpf.move(1, 6),
        bpf.move(2, 10),
        bpf.add_constant(2, _STACK),
        bpf.set_to(3, 8 * _FRAMES),
        bpf.set_to(4, 0),
        bpf.call(bpf.GET_STACK),
        bpf.load_constant(7, start),
    ]
    for frame in range(_FRAMES):
        program += [
            bpf.load(1, 10, _STACK + 8 * frame, 8),
            bpf.subtract(1, 7),
            bpf.jump_if(bpf.BELOW, 1, size_bytes, target),
        ]
    return program


def _added_to_slot(
    sums: Map, slot: int, register: int, label: str | None = None
) -> list[Instruction]:
    return [
        bpf.store_constant(10, _KEY, slot, label=label),
        *_looked_up(sums),
        bpf.jump_if(bpf.EQUAL, 0, 0, "end"),
        bpf.add_atomically(0, 0, register),
    ]


def _looked_up(bpf_map: Map) -> list[Instruction]:
    """Look up the key on the stack; r0 is the address of its value, or 0."""
    return [
        bpf.load_constant(1, bpf_map.fd, is_map=True),
        bpf.move(2, 10),
        bpf.add_constant(2, _KEY),
        bpf.call(bpf.LOOKUP),
    ]


def _updated(
    bpf_map: Map, *, only_if_new: bool = False, label: str | None = None
) -> list[Instruction]:
    """Return instructions that store the value on the stack in the map.

    The key is also on the stack. With `only_if_new`, an existing entry is kept.
    """
    return [
        bpf.load_constant(1, bpf_map.fd, is_map=True, label=label),
        bpf.move(2, 10),
        bpf.add_constant(2, _KEY),
        bpf.move(3, 10),
        bpf.add_constant(3, _VALUE),
        bpf.set_to(4, int(only_if_new)),
        bpf.call(bpf.UPDATE),
    ]


def _places_of(*functions: str) -> list[Place]:
    """Return the start address and size of kernel functions.

    Raises:
        WriteampError: this user may not read the addresses, or a function is missing.
    """
    text = Path("/proc/kallsyms").read_text()
    symbols = re.findall(r"^([0-9a-f]+) [tT] (\S+)", text, re.MULTILINE)
    starts = {name: int(start, 16) for start, name in symbols}
    addresses = sorted(set(starts.values()))
    if any(not starts.get(name) for name in functions):
        raise WriteampError(f"the kernel does not reveal the addresses of {', '.join(functions)}")
    return [
        (starts[name], addresses[bisect_right(addresses, starts[name])] - starts[name])
        for name in functions
    ]
