"""BPF programs that run at tracepoints of the kernel: their code, maps and input fields."""

from __future__ import annotations

import ctypes
import os
import platform
import re
import struct
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from writeamp.files.temporary import temporary_folder
from writeamp.system import ioctl

# Numbers of the system calls bpf and perf_event_open by machine type. All of these machines are
# little-endian.
_CALLS = {"x86_64": (321, 298), "aarch64": (280, 241), "riscv64": (280, 241)}
_MAP_CREATE, _MAP_LOOKUP, _MAP_NEXT_KEY, _PROG_LOAD = 0, 1, 4, 5
_HASH, _ARRAY, _RECENT_HASH = 1, 2, 9
_TRACEPOINT_PROGRAM = 5
_TRACEPOINT_EVENT = 2
_ATTR_BYTES = 128
_CLOEXEC = 8  # PERF_FLAG_FD_CLOEXEC
_EVENT_ENABLE, _EVENT_SET_BPF = 0x2400, 0x40042408
_LOG_BYTES = 1 << 16
_WORD = struct.Struct("<Q")
_INSTRUCTION = struct.Struct("<BBhi")
# The kernel allows helpers only in GPL-compatible programs.
_LICENSE = b"GPL"

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.syscall.restype = ctypes.c_long
LOAD_SIZES = {1: 0x71, 4: 0x61, 8: 0x79}
"""Opcodes of loads, by size in bytes; the upper bits are zeroed."""
LOOKUP, UPDATE, GET_THREAD, GET_NAME, GET_STACK = 1, 2, 14, 16, 67
"""Helpers: map_lookup_elem, map_update_elem, get_current_pid_tgid, get_current_comm, get_stack."""


@dataclass(frozen=True)
class Instruction:
    """Instruction of a BPF program; `label` names its position, `target` the label to jump to."""

    opcode: int
    dst: int = 0
    src: int = 0
    off: int = 0
    imm: int = 0
    target: str | None = None
    label: str | None = None

    @property
    def slots(self) -> int:
        """Number of 8-byte units of the instruction: two with a 64-bit constant, otherwise one."""
        return 2 if self.opcode == _LOAD_CONSTANT else 1


_LOAD_CONSTANT = 0x18


def load(
    dst: int, base: int, off: int, size_bytes: int, *, label: str | None = None
) -> Instruction:
    """Load memory at `base + off` into `dst`."""
    return Instruction(LOAD_SIZES[size_bytes], dst, base, off, label=label)


def store(base: int, off: int, src: int, *, label: str | None = None) -> Instruction:
    """Store the 8 bytes of `src` at `base + off`."""
    return Instruction(0x7B, base, src, off, label=label)


def store_constant(base: int, off: int, value: int, *, label: str | None = None) -> Instruction:
    """Store a constant as 8 bytes at `base + off`."""
    return Instruction(0x7A, base, 0, off, value, label=label)


def add_atomically(base: int, off: int, src: int) -> Instruction:
    """Add `src` to the 8 bytes at `base + off`."""
    return Instruction(0xDB, base, src, off)


def move(dst: int, src: int) -> Instruction:
    """Copy `src` to `dst`."""
    return Instruction(0xBF, dst, src)


def set_to(dst: int, value: int) -> Instruction:
    """Set `dst` to a constant of 32 bits."""
    return Instruction(0xB7, dst, imm=value)


def add_constant(dst: int, value: int) -> Instruction:
    """Add a constant to `dst`."""
    return Instruction(0x07, dst, imm=value)


def subtract(dst: int, src: int) -> Instruction:
    """Subtract `src` from `dst`."""
    return Instruction(0x1F, dst, src)


def load_constant(
    dst: int, value: int, *, is_map: bool = False, label: str | None = None
) -> Instruction:
    """Set `dst` to a constant of 64 bits, or to the map of a file descriptor."""
    return Instruction(_LOAD_CONSTANT, dst, 1 if is_map else 0, imm=value, label=label)


def call(helper: int) -> Instruction:
    """Call a helper function with registers r1 to r5 as arguments; its result is in r0."""
    return Instruction(0x85, imm=helper)


def jump(target: str) -> Instruction:
    """Jump to a label."""
    return Instruction(0x05, target=target)


# Opcodes of conditional jumps, which compare a register with a constant. Opcodes ending in _R
# compare it with another register.
EQUAL, NOT_EQUAL, HAS_BITS, BELOW, SIGNED_AT_MOST = 0x15, 0x55, 0x45, 0xA5, 0xD5
NOT_EQUAL_R, AT_LEAST_R = 0x5D, 0x3D


def jump_if(condition: int, dst: int, value: int, target: str, *, src: int = 0) -> Instruction:
    """Jump to a label if the condition holds for `dst` and a constant (or register `src`)."""
    return Instruction(condition, dst, src, imm=value, target=target)


def leave(label: str) -> list[Instruction]:
    """End the program; other instructions can jump to the label to end it."""
    return [Instruction(0xB7, 0, imm=0, label=label), Instruction(0x95)]


def assembled(program: Sequence[Instruction]) -> bytes:
    """Return the machine code of a program."""
    places, place = {}, 0
    for instruction in program:
        if instruction.label is not None:
            places[instruction.label] = place
        place += instruction.slots
    code, place = b"", 0
    for instruction in program:
        off = (
            instruction.off
            if instruction.target is None
            else places[instruction.target] - place - 1
        )
        registers = instruction.dst | instruction.src << 4
        low = instruction.imm & 0xFFFF_FFFF if instruction.slots == 2 else instruction.imm
        code += _INSTRUCTION.pack(instruction.opcode, registers, off, _signed(low))
        if instruction.slots == 2:
            code += _INSTRUCTION.pack(0, 0, 0, _signed(instruction.imm >> 32))
        place += instruction.slots
    return code


@dataclass(frozen=True)
class Map:
    """BPF map: a table in the kernel, shared with BPF programs; values have 64 bits by default."""

    fd: int
    key: struct.Struct

    def __getitem__(self, key: int) -> int:
        """Return the value of a key; 0 if the key is missing."""
        value = self.content(key, _WORD.size)
        return 0 if value is None else int(_WORD.unpack(value)[0])

    def content(self, key: int, value_bytes: int) -> bytes | None:
        """Return the bytes of a key's value; None if the key is missing."""
        value, name = (
            ctypes.create_string_buffer(value_bytes),
            ctypes.create_string_buffer(self.key.pack(key)),
        )
        pointers = (ctypes.addressof(name), ctypes.addressof(value))
        try:
            _bpf(_MAP_LOOKUP, struct.pack("<IIQQQ", self.fd, 0, *pointers, 0))
        except OSError:
            return None
        return value.raw

    def __iter__(self) -> Iterator[int]:
        """Yield all keys."""
        after = ctypes.create_string_buffer(self.key.size)
        previous = 0
        while True:
            request = struct.pack("<IIQQQ", self.fd, 0, previous, ctypes.addressof(after), 0)
            try:
                _bpf(_MAP_NEXT_KEY, request)
            except OSError:  # no further key
                return
            yield int(self.key.unpack(after.raw)[0])
            key = ctypes.create_string_buffer(after.raw, self.key.size)
            previous = ctypes.addressof(key)


def array_map(undo: ExitStack, entries: int) -> Map:
    """Create an array of 64-bit values, all 0.

    Raises:
        OSError: the kernel rejected it.
    """
    return _made_map(undo, _ARRAY, struct.Struct("<I"), _WORD.size, entries)


def hash_map(
    undo: ExitStack, entries: int, *, value_bytes: int = _WORD.size, forgets: bool = False
) -> Map:
    """Create an empty map with 64-bit keys; if it forgets, a full one drops the oldest entries.

    Raises:
        OSError: the kernel rejected it.
    """
    return _made_map(undo, _RECENT_HASH if forgets else _HASH, _WORD, value_bytes, entries)


def attach(undo: ExitStack, event_id: int, program: Sequence[Instruction]) -> None:
    """Run a program at each event of a tracepoint, in any process, until `undo` closes.

    Raises:
        OSError: the kernel rejected it.
    """
    code = assembled(program)
    text, license_ = (ctypes.create_string_buffer(text) for text in (code, _LICENSE))
    request = struct.pack(
        "<IIQQIIQII",
        *(_TRACEPOINT_PROGRAM, len(code) // _INSTRUCTION.size),
        *(ctypes.addressof(text), ctypes.addressof(license_)),
        *(0, 0, 0, 0, 0),
    )
    loaded = _bpf(_PROG_LOAD, request)
    undo.callback(os.close, loaded)
    attributes = struct.pack("<IIQ", _TRACEPOINT_EVENT, _ATTR_BYTES, event_id).ljust(
        _ATTR_BYTES, b"\0"
    )
    buffer = ctypes.create_string_buffer(attributes, _ATTR_BYTES)
    # The program runs for events on all processors, although one processor must be named.
    processor = min(os.sched_getaffinity(0))
    event = _call(1, ctypes.byref(buffer), -1, processor, -1, _CLOEXEC)
    undo.callback(os.close, event)
    ioctl(event, _EVENT_SET_BPF, loaded)
    ioctl(event, _EVENT_ENABLE, 0)


def _made_map(
    undo: ExitStack, kind: int, key: struct.Struct, value_bytes: int, entries: int
) -> Map:
    fd = _bpf(_MAP_CREATE, struct.pack("<IIIII", kind, key.size, value_bytes, entries, 0))
    undo.callback(os.close, fd)
    return Map(fd, key)


def _bpf(command: int, request: bytes) -> int:
    buffer = ctypes.create_string_buffer(request.ljust(_ATTR_BYTES, b"\0"), _ATTR_BYTES)
    return _call(0, command, ctypes.byref(buffer), _ATTR_BYTES)


def _call(which: int, *arguments: object) -> int:
    numbers = _CALLS.get(platform.machine())
    if numbers is None:
        raise OSError(f"writeamp has no system call numbers for {platform.machine()}")
    longs = (
        ctypes.c_long(argument) if isinstance(argument, int) else argument for argument in arguments
    )
    return checked(LIBC.syscall(ctypes.c_long(numbers[which]), *longs))


def checked(result: int) -> int:
    """Return the result of a C library call.

    Raises:
        OSError: the call failed.
    """
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result


def _signed(value: int) -> int:
    """Return the lower 32 bits of a number as a signed number."""
    return (value & 0x7FFF_FFFF) - (value & 0x8000_0000)


_FIELD = re.compile(r"field:.*?(\w+)(?:\[\d+\])?;\s*offset:(\d+);\s*size:(\d+);")
_FLAG = re.compile(r'\(1 << (\d+)\), "(\w+)"')
_ID = re.compile(r"^ID: (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class Tracepoint:
    """Tracepoint of the kernel: its number, the fields of its record, and their flags.

    `fields` has the offset and the size of each field in bytes, `flags` the value of each flag.
    """

    number: int
    fields: dict[str, tuple[int, int]]
    flags: dict[str, int]

    @staticmethod
    def read(events: Path, name: str) -> Tracepoint:
        """Read the description of a tracepoint, such as "ext4/ext4_write_end".

        Raises:
            OSError: the kernel does not have the tracepoint.
        """
        text = (events / name / "format").read_text()
        number = _ID.search(text)
        if number is None:
            raise OSError(f"the tracepoint {name} has no number")
        fields = {match[1]: (int(match[2]), int(match[3])) for match in _FIELD.finditer(text)}
        flags = {match[2]: 1 << int(match[1]) for match in _FLAG.finditer(text)}
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
        # System calls are used, as the programs `mount` and `umount` may be missing or slow.
        place = os.fsencode(mounted)
        checked(LIBC.mount(b"tracefs", place, b"tracefs", 0, None))
        try:
            yield mounted / "events"
        finally:
            checked(LIBC.umount2(place, 0))
