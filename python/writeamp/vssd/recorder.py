"""Recordings of a run (requests and pins): raw while the drive serves, converted at the end."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO

import numpy as np

from writeamp._engine import __version__
from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.files.temporary import temporary_folder
from writeamp.runs.ready_busy import pin_names
from writeamp.text import printable
from writeamp.traces.recorded import KEPT, RECORDING_KEY, CountingWindow, Recorded
from writeamp.traces.recording import ROW, write_parquet
from writeamp.vssd.control import Document
from writeamp.vssd.device_recording import DeviceRecording
from writeamp.vssd.specification import Specification


class Recorder:
    """Recording of a run: the plugin's raw file, and which of its requests are counted."""

    def __init__(self, raw: Path | None) -> None:
        """Record to a raw file; None disables recording."""
        self.raw = raw
        self.first_counted = 0
        self.device: DeviceRecording | None = None
        """Recording of the drive's block device, or None."""
        self._requests: int | None = None
        self._began: Document = {}
        self._ended: Document = {}

    def counts_from(self, began: Document) -> None:
        """Store the number of requests before counting began, from the drive's counters."""
        self.first_counted = int(began["since"])
        self._began = began

    def ends_at(self, ended: Document) -> None:
        """Exclude later requests, such as requests of unmounting, which are not counted either.

        Raises:
            WriteampError: requests or edges of pins are missing; the message is the drive's.
        """
        if error := ended["recording_error"]:
            raise WriteampError(error)
        self._requests = int(ended["requests"])
        self._ended = ended

    @property
    def window(self) -> CountingWindow | None:
        """Times between which a timed drive counted; None for an untimed drive."""
        began, ended = self._began.get("timed"), self._ended.get("timed")
        if began is None or ended is None:
            return None
        return CountingWindow(
            int(began["time_ns"]), int(ended["time_ns"]), int(ended["unanswered"])
        )

    def discard_device(self) -> None:
        """Remove the recording of the block device, if any."""
        if self.device is not None:
            self.device.discard()

    def cut(self) -> None:
        """Truncate the raw file at the end of the recording."""
        if self.raw is not None and self._requests is not None:
            size_bytes = self._requests * ROW.itemsize
            if self.raw.stat().st_size > size_bytes:
                os.truncate(self.raw, size_bytes)


@contextmanager
def recording(
    specification: Specification, *, is_kept: bool, remarks: list[str]
) -> Iterator[Recorder]:
    """Yield a recorder, and write its trace at the end of the `with` block.

    The drive runs in the `with` block. If the block raises, no trace is written. The trace does not
    contain the state with which a kept drive (one in files) begins. `remarks` receives sentences
    about origins of requests that are missing or may be wrong.
    """
    target = specification.settings.record
    if target is None:
        yield Recorder(None)
        return
    with live_file(target) as raw, ExitStack() as undo:
        recorder = Recorder(raw)
        undo.callback(recorder.discard_device)
        yield recorder
        recorder.cut()
        recorded = _recorded(specification, recorder, is_kept=is_kept)
        metadata = {RECORDING_KEY: recorded.to_text()}
        device = recorder.device
        origins = None if device is None else device.origins(recorder.first_counted)
        attributed = None if origins is None else origins.attributed
        write_parquet(raw, Path(target), metadata, attributed)
        remarks += [] if device is None else device.remarks(target, origins)


def _recorded(specification: Specification, recorder: Recorder, *, is_kept: bool) -> Recorded:
    """Return the facts with which a replay builds the same drive and counts from the same time."""
    policy, settings = specification.policy, specification.settings
    return Recorded(
        device=specification.device.to_dict(),
        policy={
            "manager": policy.manager,
            "victims": policy.asked_victims,
            "wear_leveling": policy.wear_leveling,
            "seed": settings.seed,
        },
        precondition=KEPT if is_kept else settings.precondition,
        count_from_request=recorder.first_counted,
        timed=settings.is_timed,
        window=recorder.window,
    )


# Edge of a Ready/Busy signal in the format of crates/vssd: little-endian, with the drive's time in
# ns.
EDGE = np.dtype([("at_ns", "<u8"), ("die", "<u4"), ("busy", "<u4")])
_CHUNK_EDGES = 1 << 16

# The VCD file names each signal by a code of printable characters. The first 94 signals have codes
# of one character, further ones codes of two or more (bijective base 94, lowest digit first).
_FIRST_DIGIT, _DIGITS = ord("!"), 94


@contextmanager
def pins(specification: Specification) -> Iterator[Path | None]:
    """Yield the file for the edges of the pins, and write the capture afterwards.

    If the settings ask for no capture, the file is None. The drive runs in the `with` block; if the
    block raises, no capture is written.
    """
    target = specification.settings.rb_capture
    if target is None:
        yield None
        return
    with live_file(target) as raw:
        yield raw
        with output.replacing(target, "capture", inputs=specification.input_files) as file:
            _write(file, specification, raw)


def _write(file: BinaryIO, specification: Specification, raw: Path) -> None:
    names = pin_names(specification.device)
    codes = [_code(number) for number in range(len(names))]
    file.write(_header(specification, names, codes).encode())
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
    """Yield the edges in chunks; a partially written last edge is skipped."""
    with raw.open("rb") as file:
        while True:
            edges = np.fromfile(file, EDGE, _CHUNK_EDGES)
            if not edges.size:
                return
            yield edges.tolist()


def _header(specification: Specification, names: list[str], codes: list[str]) -> str:
    """Return the header of the VCD file, with all pins in their initial state: ready (high)."""
    comments = (
        f"device {printable(specification.device.name)}",
        f"writeamp {__version__} seed {specification.settings.seed}",
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


@contextmanager
def live_file(target: str) -> Iterator[Path]:
    """Yield the path of the unfinished target, in a hidden folder next to the target.

    The file is always removed; if this process is killed, the next process that creates a live file
    in that folder removes it.
    """
    real = Path(os.path.realpath(target))
    with temporary_folder(beside=real) as folder:
        yield folder / real.name
