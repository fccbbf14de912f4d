"""blktrace: the binary files of a Linux blktrace, one per CPU, merged by time."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.errors import WriteampError
from writeamp.traces.assemble import DeviceCodes, assemble
from writeamp.traces.format import Format, ReadOptions
from writeamp.traces.formats.blkparse import (
    ACTIONS,
    DEFAULT_ACTION,
    WITHOUT_ORIGIN,
    counts_of,
    doubts_of,
    no_such_action,
)
from writeamp.traces.row_format import named_origins
from writeamp.traces.source import Head, read_binary
from writeamp.traces.trace import (
    MAX_END_BYTES,
    MAX_LENGTH_BYTES,
    MAX_TIMESTAMP_NS,
    OPERATIONS,
    SCHEMA,
    SECTOR_BYTES,
    Operation,
    Trace,
)

# struct blk_io_trace of include/uapi/linux/blktrace_api.h; `pdu_len` bytes follow each record.
_FIELDS = [
    ("magic", "u4"), ("sequence", "u4"), ("time", "u8"), ("sector", "u8"), ("bytes", "u4"),
    ("action", "u4"), ("pid", "u4"), ("device", "u4"), ("cpu", "u4"), ("error", "u2"),
    ("pdu_len", "u2"),
]  # fmt: skip
_RECORDS = {order: np.dtype([(name, order + kind) for name, kind in _FIELDS]) for order in "<>"}
_MAGIC, _VERSION = 0x65617400, 7
# Bits of the action above its low 16: the categories BLK_TC_*.
_READ, _WRITE, _FLUSH, _NOTIFY, _DISCARD = 1 << 16, 1 << 17, 1 << 18, 1 << 26, 1 << 29
# Record of the kernel's name (at most 16 bytes) of a process, at its first event.
_NAME_OF_PROCESS, _LONGEST_NAME = _NOTIFY, 16
_ACTION_OF_CODE = {1: "Q", 7: "D", 8: "C"}
_BYTE_ORDERS: tuple[tuple[str, Literal["little", "big"]], ...] = (("<", "little"), (">", "big"))
# Most records that are read at once. A chunk ends at the first record that `pdu_len` bytes of data
# follow, as the position of the next record depends on them.
_AT_ONCE = 1 << 12
_PER_CPU = re.compile(r"(?P<base>.+\.blktrace)\.(?P<cpu>\d+)(\.\w+)?")
_MINOR_BITS = 20
_MOST_NAMES = 8

_Records = npt.NDArray[np.void]


def read(path: Path, options: ReadOptions) -> Trace:
    """Read the events of one action from the files of all CPUs; the path is that of any file.

    Raises:
        WriteampError: a file is damaged, or no event has the action.
    """
    action = options.action or DEFAULT_ACTION
    files = _files_of(path)
    names: dict[int, str] = {}
    records = np.concatenate([_records(file, names) for file in files])
    records = records[np.argsort(records["time"], kind="stable")]
    codes, op = records["action"] & np.uint32(0xFFFF), _operations(records)
    of_action = {name: codes == code for code, name in _ACTION_OF_CODE.items()}
    counts = {name: int((is_it & (op >= 0)).sum()) for name, is_it in of_action.items()}
    present = Counter({name: count for name, count in counts.items() if count})
    if not present[action]:
        raise no_such_action(path, action, present, chosen=options.action is not None)
    is_kept = of_action[action] & (op >= 0)
    events, op = records[is_kept], op[is_kept]
    _check(path, events)
    devices = DeviceCodes(",")
    notes = [
        f"requests are the events of action {action} ({ACTIONS[action]}); events by action: "
        f"{counts_of(present)}; sectors of 512 bytes; {len(files)} file(s), merged by time"
    ]
    left = int(of_action[action].sum()) - len(events)
    if left:
        notes.append(f"{left} events without a range of sectors are left out")
    doubts = [*_missing_files(path, records), *_lost_events(records), *doubts_of(present)]
    requests = _requests(events, op, devices)
    if options.origins and action != WITHOUT_ORIGIN:
        requests = requests.hstack(_origins(events["pid"], names))
    return assemble(path, "blktrace", [requests], devices, notes, doubts=doubts)


def _origins(pids: npt.NDArray[np.uint32], names: dict[int, str]) -> pl.DataFrame:
    """Return the processes of events, with the names that the files have for their numbers."""
    pid = pl.Series("pid", pids.astype(np.uint32))
    process = pid.replace_strict(names, default=None, return_dtype=pl.String).alias("process")
    return named_origins(pl.DataFrame([process, pid]))


def _files_of(path: Path) -> list[Path]:
    """Return the non-empty files of all CPUs; only the path itself if its name has no CPU."""
    named = _PER_CPU.fullmatch(path.name)
    if named is None:
        return [path]
    files = (file for file in path.parent.iterdir() if _is_of(file.name, named["base"]))
    return sorted(file for file in files if file.stat().st_size)


def _is_of(name: str, base: str) -> bool:
    match = _PER_CPU.fullmatch(name)
    return match is not None and match["base"] == base


def _missing_files(path: Path, records: _Records) -> list[str]:
    """Return a sentence on missing files of CPUs; an empty list if none is missing.

    blktrace writes a file for each CPU from 0, which is empty if the CPU had no event. So a gap in
    the numbers of the files means that a file was not copied.
    """
    named = _PER_CPU.fullmatch(path.name)
    if named is None:
        cpu = int(records["cpu"][0])
        if not cpu or (records["cpu"] != cpu).any():
            return []
        return [
            f"only the file of CPU {cpu} is given; name the files NAME.blktrace.0, "
            "NAME.blktrace.1, … and put them into one folder"
        ]
    matches = (_PER_CPU.fullmatch(match.name) for match in path.parent.iterdir())
    present = {int(match["cpu"]) for match in matches if match and match["base"] == named["base"]}
    missing = [cpu for cpu in range(max(present)) if cpu not in present]
    if not missing:
        return []
    names = ", ".join(f"{named['base']}.{cpu}" for cpu in missing[:_MOST_NAMES])
    more = f" and {len(missing) - _MOST_NAMES} more" if len(missing) > _MOST_NAMES else ""
    return [f"missing: {names}{more}; the events of these CPUs are not counted"]


def _lost_events(records: _Records) -> list[str]:
    """Return sentences on gaps in the sequence numbers, which number the events of each CPU."""
    events = records[records["action"] & np.uint32(_NOTIFY) == 0]
    sentences = []
    for cpu in np.unique(events["cpu"]):
        numbers = np.unique(events["sequence"][events["cpu"] == cpu])
        lost = int(numbers[-1]) - int(numbers[0]) + 1 - len(numbers)
        if lost:
            sentences.append(f"{lost:,} events of CPU {cpu} are missing, by their sequence numbers")
    return sentences


def _records(path: Path, names: dict[int, str]) -> _Records:
    """Return the records of a file, without the data between the records.

    The names of processes in these data are added to `names`, by the number of the process.
    """
    content = read_binary(path)
    order = _order(content)
    if order is None:
        raise WriteampError(f"{path}: not a binary blktrace: it does not begin with its magic")
    kind = _RECORDS[order]
    chunks, at = [np.empty(0, kind)], 0
    while at < len(content):
        count = min((len(content) - at) // kind.itemsize, _AT_ONCE)
        if not count:
            raise WriteampError(f"{path}: the file ends within the record at byte {at}")
        some = np.frombuffer(content, kind, count, at)
        has_data = np.flatnonzero(some["pdu_len"])
        if len(has_data):
            some = some[: has_data[0] + 1]
        is_wrong = some["magic"] != _MAGIC | _VERSION
        if is_wrong.any():
            bad = at + int(np.argmax(is_wrong)) * kind.itemsize
            raise WriteampError(
                f"{path}: at byte {bad}, there must be a record of blktrace version 7"
            )
        chunks.append(some)
        at += len(some) * kind.itemsize
        last = some[-1]
        if last["action"] == _NAME_OF_PROCESS:
            name = content[at : at + min(int(last["pdu_len"]), _LONGEST_NAME)]
            names[int(last["pid"])] = name.partition(b"\0")[0].decode(errors="replace")
        at += int(last["pdu_len"])
    return np.concatenate(chunks).astype(_RECORDS["<"])


def _order(content: bytes) -> str | None:
    """Return the byte order of the file by its magic number; None without a magic number."""
    for order, name in _BYTE_ORDERS:
        if len(content) >= 4 and int.from_bytes(content[:4], name) & ~0xFF == _MAGIC:
            return order
    return None


def _operations(records: _Records) -> npt.NDArray[np.int8]:
    """Return the position of each record's operation in `OPERATIONS`, -1 for none."""
    action, has_range = records["action"], records["bytes"] > 0
    op = np.full(len(records), -1, np.int8)
    for bits, name in ((_READ, "read"), (_WRITE, "write"), (_DISCARD, "trim")):
        op[(action & np.uint32(bits) != 0) & has_range] = OPERATIONS.index(name)
    # A write that is preceded by a flush counts as a write only, as in blkparse.
    op[(action & np.uint32(_FLUSH) != 0) & ~has_range] = OPERATIONS.index("flush")
    return op


def _check(path: Path, records: _Records) -> None:
    last_sector = (MAX_END_BYTES - MAX_LENGTH_BYTES) // SECTOR_BYTES
    if len(records) and int(records["sector"].max()) > last_sector:
        raise WriteampError(f"{path}: an event has a sector above {last_sector}")
    if len(records) and int(records["time"].max()) > MAX_TIMESTAMP_NS:
        raise WriteampError(f"{path}: an event has a time above 2^63 - 1 ns")


def _requests(records: _Records, op: npt.NDArray[np.int8], devices: DeviceCodes) -> pl.DataFrame:
    is_flush = op == OPERATIONS.index("flush")
    numbers = pl.DataFrame(
        {
            "major": records["device"] >> _MINOR_BITS,
            "minor": records["device"] & np.uint32((1 << _MINOR_BITS) - 1),
        }
    )
    return pl.DataFrame(
        {
            "timestamp_ns": records["time"].astype(np.int64),
            "device": devices.encode(numbers, ["major", "minor"]),
            "op": pl.Series(OPERATIONS, dtype=Operation).gather(op.astype(np.uint32)),
            "offset": np.where(is_flush, 0, records["sector"] * np.uint64(SECTOR_BYTES)),
            "length": np.where(is_flush, 0, records["bytes"]),
        },
        schema=SCHEMA,
    )


def _matches(head: Head) -> bool:
    return _order(head.start) is not None


FORMAT = Format(
    name="blktrace",
    summary="binary files of a Linux blktrace, one per CPU; the events of one action are read",
    columns="records of struct blk_io_trace",
    units="time in ns; sectors of 512 bytes; length in bytes",
    detection="begins with blktrace's magic, in either byte order",
    matches=_matches,
    reader=read,
    actions=tuple(ACTIONS),
)
