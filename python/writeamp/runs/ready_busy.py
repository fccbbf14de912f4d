"""Recorder of a run's Ready/Busy pins: writes them to a capture while the run goes."""

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
    """A capture under way; `edges` counts those that were written."""

    def __init__(self, path: str, plan: Plan, device: Device) -> None:
        """Begin the capture in a file that exists."""
        asked = plan.run
        self.edges = 0
        self._path = asked.rb_capture
        self._writer = CaptureWriter(
            path,
            channels=pin_names(device),
            comments=_comments(plan, device),
            period_ps=None if asked.rb_rate is None else round(_PS_PER_S / asked.rb_rate),
            jitter_ns=(asked.rb_jitter or 0.0) * _NS_PER_S,
            missed=asked.rb_missed or 0.0,
            seed=plan.seed,
        )

    def drain(self, run: TimedRun) -> None:
        """Write what the pins did since the last time."""
        self.edges = self._placed(self._writer.drain, run)

    def finish(self, run: TimedRun) -> None:
        """End the capture where the run has ended."""
        self.drain(run)
        self.edges = self._placed(self._writer.finish, run.now_ns)

    def _placed(self, write: Callable[[T], int], of: T) -> int:
        """Return the edges written so far; an error names the file that was asked for."""
        try:
            return write(of)
        except WriteampError as error:
            raise placed(str(self._path), error) from None


@contextmanager
def capturing(plan: Plan, device: Device, inputs: tuple[str, ...]) -> Iterator[PinWriter | None]:
    """Yield the writer of the capture that the plan asks for, if it does.

    The file appears whole when the block ends well, and not at all otherwise.

    Raises:
        WriteampError: the device has no pins, or the file cannot be written.
    """
    path = plan.run.rb_capture
    if path is None:
        yield None
        return
    if device.dies == 0:
        raise WriteampError(f"{device.name} has no flash, and so no Ready/Busy pins to capture")
    with output.replacing(path, "capture", inputs=inputs) as file:
        yield PinWriter(file.name, plan, device)


def pin_names(device: Device, prefix: str = "rb") -> list[str]:
    """Return the names of the dies' pins in the order in which the engine numbers them."""
    if device.members:
        return [
            name
            for index, one in enumerate(device.members)
            for name in pin_names(one, f"rb_m{index}")
        ]
    return [
        f"{prefix}_ch{channel}_chip{chip}_die{die}"
        for die in range(device.dies_per_chip)
        for chip in range(device.chips_per_channel)
        for channel in range(device.channels)
    ]


def _comments(plan: Plan, device: Device) -> list[str]:
    """Return the comments of the capture's header, on the run."""
    asked = plan.run
    found = [
        f"device {printable(device.name)}",
        f"workload {printable(plan.load_name)}",
        f"writeamp {__version__} seed {plan.seed}",
    ]
    if asked.host_bytes is not None:
        found.append(f"host_bytes {asked.host_bytes}")
    if asked.rb_rate is not None:
        found.append(f"sampled at {asked.rb_rate:.12g} Hz")
    return found
