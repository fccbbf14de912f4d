"""Ready/Busy pins of a virtual drive: edges while it serves, a VCD when it has ended."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np

from writeamp._engine import __version__
from writeamp.files import output
from writeamp.runs.ready_busy import pin_names
from writeamp.text import printable
from writeamp.vssd.live_file import live_file
from writeamp.vssd.specification import Specification

# An edge as crates/vssd appends it, little-endian, at nanoseconds of the drive.
EDGE = np.dtype([("at_ns", "<u8"), ("die", "<u4"), ("busy", "<u4")])
_CHUNK_EDGES = 1 << 16

# A signal's code is a number whose digits are the printable characters.
_FIRST_DIGIT, _DIGITS = ord("!"), 94


@contextmanager
def pins(found: Specification) -> Iterator[Path | None]:
    """Give the file for the edges of the pins, and write the capture after.

    It is None if they are not captured. The capture appears if the block, in which the drive runs,
    ends well.
    """
    target = found.settings.rb_capture
    if target is None:
        yield None
        return
    with live_file(target) as raw:
        yield raw
        with output.replacing(target, "capture", inputs=found.input_files) as file:
            _write(file, found, raw)


def _write(file: BinaryIO, found: Specification, raw: Path) -> None:
    names = pin_names(found.device)
    codes = [_code(number) for number in range(len(names))]
    file.write(_header(found, names, codes).encode())
    now_ns = 0
    for edges in _chunks(raw):
        lines = []
        for at_ns, die, busy in edges:
            if at_ns > now_ns:
                now_ns = at_ns
                lines.append(f"#{now_ns}")
            lines.append(f"{0 if busy else 1}{codes[die]}")
        file.write("".join(f"{line}\n" for line in lines).encode())


def _chunks(raw: Path) -> Iterator[list[tuple[int, int, int]]]:
    """Return the edges; a last one that was not written whole is left out."""
    with raw.open("rb") as file:
        while True:
            edges = np.fromfile(file, EDGE, _CHUNK_EDGES)
            if not edges.size:
                return
            yield edges.tolist()


def _header(found: Specification, names: list[str], codes: list[str]) -> str:
    """Return the head of the file, and all pins as they are at its start: ready, which is high."""
    comments = (
        f"device {printable(found.device.name)}",
        f"writeamp {__version__} seed {found.settings.seed}",
    )
    lines = [
        *(f"$comment {text.replace('$end', '$ end')} $end" for text in comments),
        "$timescale 1 ns $end",
        "$scope module ready_busy $end",
        *(f"$var wire 1 {code} {name} $end" for code, name in zip(codes, names, strict=True)),
        "$upscope $end",
        "$enddefinitions $end",
        "#0",
        *(f"1{code}" for code in codes),
    ]
    return "".join(f"{line}\n" for line in lines)


def _code(number: int) -> str:
    digits = chr(_FIRST_DIGIT + number % _DIGITS)
    while number >= _DIGITS:
        number = number // _DIGITS - 1
        digits += chr(_FIRST_DIGIT + number % _DIGITS)
    return digits
