"""VSCSI: binary traces of VMware's virtual disks, as published by CloudPhysics, v1 and v2."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from writeamp.errors import WriteampError
from writeamp.text import Detail
from writeamp.traces.assemble import DeviceCodes, assemble
from writeamp.traces.format import Format, ReadOptions
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

_NS_PER_US = 1000
# Records of versions 1 and 2, little-endian and without gaps. The high byte of `ver` is the
# version.
_RECORDS = {
    1: np.dtype(
        [("sn", "<u4"), ("len", "<u4"), ("nsg", "<u4"), ("cmd", "<u2"), ("ver", "<u2"),
         ("lbn", "<u8"), ("ts", "<u8")]
    ),
    2: np.dtype(
        [("cmd", "<u2"), ("ver", "<u2"), ("sn", "<u4"), ("len", "<u4"), ("nsg", "<u4"),
         ("lbn", "<u8"), ("ts", "<u8"), ("rt", "<u8")]
    ),
}  # fmt: skip
# SCSI's READ, WRITE and SYNCHRONIZE CACHE with their different command lengths.
_COMMANDS = {
    0x08: "read", 0x28: "read", 0x88: "read", 0xA8: "read",
    0x0A: "write", 0x2A: "write", 0x8A: "write", 0xAA: "write",
    0x35: "flush", 0x91: "flush",
}  # fmt: skip
_LOOKED_AT = 32
_COMMAND_CODES = 1 << 16


def read(path: Path, options: ReadOptions) -> Trace:
    """Read a VSCSI file.

    Raises:
        WriteampError: the file is not VSCSI, or a record is not valid (its number is given, from
            1).
    """
    content = read_binary(path)
    version = _version(content)
    if version is None:
        raise WriteampError(
            f"{path}: not a VSCSI trace: its first records are of neither version 1 nor 2"
        )
    kind = _RECORDS[version]
    count, rest = divmod(len(content), kind.itemsize)
    if rest:
        raise WriteampError(
            f"{path}: the file ends within record {count + 1}; a record has {kind.itemsize} bytes"
        )
    records = np.frombuffer(content, kind)
    _refuse_first(path, records["ver"] >> 8 != version, "has another version than the first record")
    op, others = _operations(records["cmd"])
    requests = records[op >= 0]
    _check(path, records)
    units = "times are microseconds; lbn is in sectors of 512 bytes, len in bytes; one device"
    notes: list[str] = [Detail(f"VSCSI version {version}: {units}")]
    if others:
        listed = ", ".join(f"{count} of 0x{command:02x}" for command, count in others.items())
        notes.append(f"commands other than read, write and flush are left out: {listed}")
    return assemble(path, "vscsi", [_requests(requests, op[op >= 0])], _one_device(), notes)


def _version(content: bytes) -> int | None:
    """Return the version that all of the first records have; None if they have neither version."""
    for version, kind in _RECORDS.items():
        count = min(_LOOKED_AT, len(content) // kind.itemsize)
        records = np.frombuffer(content, kind, count)
        if count and (records["ver"] >> 8 == version).all() and records["cmd"].max() <= 0xFF:
            return version
    return None


def _operations(commands: npt.NDArray[np.uint16]) -> tuple[npt.NDArray[np.int8], Counter[int]]:
    """Return each command's operation in `OPERATIONS` (-1 for none), and counts of the others."""
    code_of = np.full(_COMMAND_CODES, -1, np.int8)
    for command, name in _COMMANDS.items():
        code_of[command] = OPERATIONS.index(name)
    op = code_of[commands]
    return op, Counter(commands[op < 0].tolist())


def _check(path: Path, records: npt.NDArray[np.void]) -> None:
    last_sector = (MAX_END_BYTES - MAX_LENGTH_BYTES) // SECTOR_BYTES
    _refuse_first(path, records["lbn"] > last_sector, f"has an lbn above {last_sector}")
    last_us = MAX_TIMESTAMP_NS // _NS_PER_US
    _refuse_first(path, records["ts"] > last_us, f"has a time above {last_us} us")


def _refuse_first(path: Path, is_wrong: npt.NDArray[np.bool_], why: str) -> None:
    if is_wrong.any():
        raise WriteampError(f"{path}: record {int(np.argmax(is_wrong)) + 1} {why}")


def _requests(records: npt.NDArray[np.void], op: npt.NDArray[np.int8]) -> pl.DataFrame:
    is_flush = op == OPERATIONS.index("flush")
    return pl.DataFrame(
        {
            "timestamp_ns": (records["ts"] * np.uint64(_NS_PER_US)).astype(np.int64),
            "device": np.zeros(len(op), np.uint32),
            "op": pl.Series(OPERATIONS, dtype=Operation).gather(op.astype(np.uint32)),
            "offset": np.where(is_flush, 0, records["lbn"] * np.uint64(SECTOR_BYTES)),
            "length": np.where(is_flush, 0, records["len"]).astype(np.uint32),
        },
        schema=SCHEMA,
    )


def _one_device() -> DeviceCodes:
    devices = DeviceCodes(",")
    devices.encode(pl.DataFrame({"": [0]}), [])
    return devices


def _matches(head: Head) -> bool:
    return b"\0" in head.start and _version(head.start) is not None


FORMAT = Format(
    name="vscsi",
    summary="VSCSI binary traces of virtual disks (CloudPhysics), versions 1 and 2",
    columns="records of sn, len, nSG, cmd, ver, lbn, ts; in version 2 with rt",
    units="time in us; lbn in sectors of 512 bytes; len in bytes; cmd a SCSI command",
    detection="the first 32 records, of 32 or 40 bytes, have the version in its place",
    matches=_matches,
    reader=read,
    has_devices=False,
)
