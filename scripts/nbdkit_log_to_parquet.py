#!/usr/bin/env python3
"""Convert the log of nbdkit's log filter into a writeamp block trace (Parquet, schema 1).

Example:
  nbdkit --filter=log memory 1G logfile=disk.log      # use the disk, then stop nbdkit
  python scripts/nbdkit_log_to_parquet.py disk.log disk.parquet
"""

from __future__ import annotations

import argparse
import datetime as dt
import json
import os
import re
import sys
from array import array
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import polars as pl

OPERATIONS = ("read", "write", "trim", "flush")
SCHEMA = {
    "timestamp_ns": pl.Int64(),
    "device": pl.UInt32(),
    "op": pl.Enum(OPERATIONS),
    "offset": pl.UInt64(),
    "length": pl.UInt32(),
}
UNITS = {"timestamp_ns": "ns since first request", "offset": "bytes", "length": "bytes"}
SCHEMA_METADATA = {
    "writeamp.trace_schema": "1",
    "writeamp.units": json.dumps(UNITS),
    "writeamp.devices": json.dumps(["nbdkit"]),
    "timestamp_resolution": "1000 ns",
}
ZSTD_LEVEL = 19

STAMP = r"(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)\.(\d{6}) "
CONNECTION = r"connection=(\d+) "
VERB = r"(Read|Write|Trim|Zero|Flush) "
REQUEST = re.compile(STAMP + CONNECTION + VERB + r"id=(\d+)((?: \w+=\w+)*) \.\.\.")
ANSWER = re.compile(STAMP + CONNECTION + r"\.\.\." + VERB + r"id=(\d+) return=(-?\d+)\b.*")
OTHER_LINE = re.compile(STAMP + rf"(?!{CONNECTION}(?:\.\.\.)?{VERB})\S.*")


class LogError(ValueError):
    """Log that cannot be converted; the message is a sentence with the fault and its line."""


@dataclass(frozen=True)
class Conversion:
    """A converted log, and counts of skipped requests and lines.

    `frame` has the columns of SCHEMA, sorted by time. `start_ns` is the first request's time in
    ns since 1970, read as UTC. The counts are requests that the server rejected, requests without
    an answer, and lines without a data request (connections, block status queries).
    """

    frame: pl.DataFrame
    start_ns: int
    failed_requests: int
    unanswered_requests: int
    other_lines: int
    last_line_cut: bool


def convert_log(lines: Iterable[str], name: str = "log") -> Conversion:
    """Read nbdkit log lines (each with its newline) into a trace.

    Requests with a successful answer are included, at the times when they were issued. Answers may
    come in any order; they are matched to requests by (connection, id). An invalid line raises
    LogError with its number, except an unfinished last line, which a killed server leaves.
    """
    issued_us, offsets, lengths, answered = array("q"), array("Q"), array("I"), array("B")
    ops: list[str] = []
    in_flight: dict[tuple[str, str], int] = {}
    seconds_at: dict[str, int] = {}
    failed = other = 0
    last_line_cut = False

    for number, line in enumerate(lines, start=1):
        where = f"{name}:{number}"
        if not line.endswith("\n"):
            last_line_cut = True
            break
        text = line[:-1]
        if request := REQUEST.fullmatch(text):
            date, micros, connection, verb, request_id, rest = request.groups()
            key = (connection, request_id)
            if key in in_flight:
                raise LogError(
                    f"{where}: connection {connection} issues id {request_id} while that id is "
                    "in flight; convert the log of one nbdkit run at a time"
                )
            if date not in seconds_at:
                seconds_at[date] = _epoch_seconds(date, where)
            op, offset, length = _operation(verb, rest, where)
            in_flight[key] = len(ops)
            issued_us.append(seconds_at[date] * 1_000_000 + int(micros))
            ops.append(op)
            offsets.append(offset)
            lengths.append(length)
            answered.append(0)
        elif answer := ANSWER.fullmatch(text):
            _, _, connection, _, request_id, status = answer.groups()
            row = in_flight.pop((connection, request_id), None)
            if row is None:
                raise LogError(f"{where}: an answer to id {request_id} without a request")
            if status == "0":
                answered[row] = 1
            else:
                failed += 1
        elif OTHER_LINE.fullmatch(text):
            other += 1
        else:
            raise LogError(f"{where}: not a line of nbdkit's log filter: {text[:60]!r}")

    if not any(answered):
        raise LogError(f"{name}: no answered read, write, trim or flush in the log")
    frame = (
        pl.DataFrame(
            {
                "timestamp_ns": pl.Series(issued_us, dtype=pl.Int64) * 1000,
                "device": pl.zeros(len(ops), dtype=pl.UInt32, eager=True),
                "op": pl.Series(ops, dtype=SCHEMA["op"]),
                "offset": pl.Series(offsets, dtype=pl.UInt64),
                "length": pl.Series(lengths, dtype=pl.UInt32),
            }
        )
        .filter(pl.Series(answered, dtype=pl.UInt8) == 1)
        .sort("timestamp_ns", maintain_order=True)
    )
    start_ns = int(frame["timestamp_ns"][0])
    return Conversion(
        frame=frame.with_columns(pl.col("timestamp_ns") - start_ns),
        start_ns=start_ns,
        failed_requests=failed,
        unanswered_requests=len(in_flight),
        other_lines=other,
        last_line_cut=last_line_cut,
    )


def _epoch_seconds(date: str, where: str) -> int:
    try:
        moment = dt.datetime.strptime(date, "%Y-%m-%d %H:%M:%S").replace(tzinfo=dt.UTC)
    except ValueError as error:
        raise LogError(f"{where}: {date!r} is not a date and time") from error
    return int(moment.timestamp())


def _operation(verb: str, rest: str, where: str) -> tuple[str, int, int]:
    """Return operation, offset and length (bytes) of a request."""
    if verb == "Flush":
        return "flush", 0, 0
    fields = dict(field.split("=", 1) for field in rest.split())
    try:
        offset, length = int(fields["offset"], 16), int(fields["count"], 16)
    except (KeyError, ValueError) as error:
        raise LogError(f"{where}: {verb} without a hexadecimal offset= and count=") from error
    if offset >= 1 << 64 or length >= 1 << 32:
        raise LogError(
            f"{where}: offset 0x{offset:x} or count 0x{length:x} does not fit its column"
        )
    if verb == "Zero":
        # Write Zeroes: if it may punch a hole, a drive unmaps the range, else it programs zeros.
        return ("trim" if fields.get("trim") == "1" else "write"), offset, length
    return verb.lower(), offset, length


def write_trace(frame: pl.DataFrame, path: Path, provenance: Mapping[str, str]) -> None:
    """Write a trace (columns of SCHEMA) as zstd Parquet atomically.

    `provenance` is added to the file's key-value metadata.
    """
    partial = path.with_name(f".{path.name}.partial")
    try:
        frame.write_parquet(
            partial,
            compression="zstd",
            compression_level=ZSTD_LEVEL,
            metadata={**SCHEMA_METADATA, **provenance},
        )
        os.replace(partial, path)
    finally:
        partial.unlink(missing_ok=True)


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("log", type=Path, help="log written by nbdkit --filter=log logfile=LOG")
    parser.add_argument("out", type=Path, help="Parquet file to write")
    options = parser.parse_args()
    try:
        with options.log.open(encoding="utf-8", errors="replace") as lines:
            conversion = convert_log(lines, str(options.log))
        write_trace(conversion.frame, options.out, {"source": "nbdkit log filter"})
    except (LogError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(
        f"{options.out}: {conversion.frame.height} requests; left out: "
        f"{conversion.failed_requests} failed, {conversion.unanswered_requests} unanswered, "
        f"{conversion.other_lines} other lines"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
