"""Recorder of the Ready/Busy pins of a drive: writes their edges to a capture file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeVar

from writeamp._engine import CaptureWriter, TimedRun, __version__
from writeamp.devices.device import Device
from writeamp.errors import WriteampError, placed
from writeamp.files import output
from writeamp.runs.plan import Plan
from writeamp.text import printable

T = TypeVar("T")

_PS_PER_S = 1e12
_NS_PER_S = 1e9


class PinWriter:
    """Capture file that is being written; `edges` is the number of pin edges written so far."""

    def __init__(self, path: str, plan: Plan, device: Device) -> None:
        """Begin the capture in an existing file."""
        settings = plan.run
        self.edges = 0
        self._path = settings.rb_capture
        self._writer = CaptureWriter(
            path,
            channels=pin_names(device),
            comments=_comments(plan, device),
            period_ps=None if settings.rb_rate is None else round(_PS_PER_S / settings.rb_rate),
            jitter_ns=(settings.rb_jitter or 0.0) * _NS_PER_S,
            missed=settings.rb_missed or 0.0,
            seed=plan.seed,
        )

    def drain(self, run: TimedRun) -> None:
        """Write the edges that occurred since the last call."""
        self.edges = self._placed(self._writer.drain, run)

    def finish(self, run: TimedRun) -> None:
        """Write the remaining edges, and end the capture at the current virtual time."""
        self.drain(run)
        self.edges = self._placed(self._writer.finish, run.now_ns)

    def _placed(self, write: Callable[[T], int], of: T) -> int:
        """Return `write(of)`, the number of edges so far; errors name the requested file."""
        try:
            return write(of)
        except WriteampError as error:
            raise placed(str(self._path), error) from None


@contextmanager
def capturing(plan: Plan, device: Device, inputs: tuple[str, ...]) -> Iterator[PinWriter | None]:
    """Yield the writer of the capture that the plan requests, or None.

    If the block ends without an error, the file is complete; otherwise no file is created.

    Raises:
        WriteampError: the device has no pins, or the file cannot be written.
    """
    path = plan.run.rb_capture
    if path is None:
        yield None
        return
    if device.dies == 0:
        raise WriteampError(
            f"{device.name} has no flash and no Ready/Busy pins to capture; omit --rb-capture"
        )
    with output.replacing(path, "capture", inputs=inputs) as file:
        yield PinWriter(file.name, plan, device)


def pin_names(device: Device, prefix: str = "rb") -> list[str]:
    """Return the names of the dies' pins, in the order of the engine's numbers."""
    if device.members:
        return [
            name
            for index, member in enumerate(device.members)
            for name in pin_names(member, f"rb_m{index}")
        ]
    return [
        f"{prefix}_ch{channel}_chip{chip}_die{die}"
        for die in range(device.dies_per_chip)
        for chip in range(device.chips_per_channel)
        for channel in range(device.channels)
    ]


def _comments(plan: Plan, device: Device) -> list[str]:
    """Return comment lines on the run for the header of the capture."""
    settings = plan.run
    comments = [
        f"device {printable(device.name)}",
        f"workload {printable(plan.load_name)}",
        f"writeamp {__version__} seed {plan.seed}",
    ]
    if settings.host_bytes is not None:
        comments.append(f"host_bytes {settings.host_bytes}")
    if settings.rb_rate is not None:
        comments.append(f"sampled at {settings.rb_rate:.12g} Hz")
    return comments
