"""Facts of a drive that convert the pulses of its Ready/Busy pins to bytes."""

from __future__ import annotations

from dataclasses import dataclass

from writeamp.devices.drive import Device
from writeamp.errors import WriteampError
from writeamp.fields.arguments import checked
from writeamp.fields.domains import Number, Whole

_COUNT = Whole(1, 2**31 - 1)
_DURATION = Number("be a duration above 0 µs", lambda value: value > 0)

# Windows of programs in µs, by the number of program times that a drive has. Source: paper 5, Table
# I, "NAND flash latency (tested)".
_TESTED_WINDOWS_US = {1: (200.0, 500.0), 2: (200.0, 2200.0)}


@checked
@dataclass(frozen=True)
class PinFacts:
    """The four levels of parallelism of a drive, and the times of its operations.

    Attributes:
        channels: N_channel of paper 5.
        chips_per_channel: N_chip.
        dies_per_chip: N_die; each die has a Ready/Busy pin.
        pages_per_program: flash pages that one program writes, M_p: 1 for single-plane programs.
        page_bytes: bytes of a flash page, P_a.
        read_us: times of a page read in µs; empty if unknown.
        program_us: times of a page program in µs, one per page type (lower, upper, extra).
        erase_us: times of a block erase, in µs.
        program_window_us: durations in µs that the fixed window counts as programs.
    """

    channels: int
    chips_per_channel: int
    dies_per_chip: int
    pages_per_program: int
    page_bytes: int
    read_us: tuple[float, ...] = ()
    program_us: tuple[float, ...] = ()
    erase_us: tuple[float, ...] = ()
    program_window_us: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        """Check every value.

        Raises:
            WriteampError: a value is invalid.
        """
        for name in ("channels", "chips_per_channel", "dies_per_chip"):
            _COUNT.check(name, getattr(self, name))
        _COUNT.check("pages_per_program", self.pages_per_program)
        _COUNT.check("page_bytes", self.page_bytes)
        for name in ("read_us", "program_us", "erase_us"):
            for value in getattr(self, name):
                _DURATION.check(name, value)
        window = self.program_window_us
        if window is not None and not 0 <= window[0] < window[1]:
            raise WriteampError(
                f"the window of programs is {window[0]:g} to {window[1]:g} µs; its low end must be "
                "below its high end, and neither below 0"
            )

    @property
    def dies(self) -> int:
        """Number of dies, and so of Ready/Busy pins."""
        return self.channels * self.chips_per_channel * self.dies_per_chip

    @property
    def program_bytes(self) -> int:
        """Bytes that one program writes, M_p·P_a."""
        return self.pages_per_program * self.page_bytes

    def times_us(self, of_class: str) -> tuple[float, ...]:
        """Return the known times of reads, programs or erases."""
        return {"read": self.read_us, "program": self.program_us, "erase": self.erase_us}[of_class]

    def fixed_window_us(self) -> tuple[float, float]:
        """Return the fixed window of programs, in µs.

        It is the window that was set, else paper 5's window for SLC or MLC. Otherwise, its ends are
        the geometric means of the times of reads and programs, and of programs and erases.

        Raises:
            WriteampError: neither a window nor times are known.
        """
        if self.program_window_us is not None:
            return self.program_window_us
        tested_us = _TESTED_WINDOWS_US.get(len(self.program_us))
        inside = tested_us and all(tested_us[0] <= time <= tested_us[1] for time in self.program_us)
        if tested_us and inside:
            return tested_us
        if not (self.read_us and self.program_us and self.erase_us):
            raise WriteampError(
                "the durations that the fixed method counts as programs are unknown. Pass "
                "--window LOW:HIGH in µs, or a --device with operation times"
            )
        low = (max(self.read_us) * min(self.program_us)) ** 0.5
        high = (max(self.program_us) * min(self.erase_us)) ** 0.5
        return (low, high)


def facts_of(device: Device) -> PinFacts:
    """Return the facts of a drive's pins from its profile.

    Returns:
        `PinFacts`: `dies`, `page_bytes`, `program_us`, `erase_us`, `read_us`.

    Raises:
        WriteampError: the device does not have its own flash.
    """
    if device.kind != "flash":
        raise WriteampError(
            f"{device.name} is a {device.kind}. Ready/Busy pins need the profile of a single flash "
            "drive"
        )
    timing = (device.times or {}).get("timing", {})
    return PinFacts(
        channels=device.channels,
        chips_per_channel=device.chips_per_channel,
        dies_per_chip=device.dies_per_chip,
        pages_per_program=device.planes_per_program * device.pages_per_word_line,
        page_bytes=device.flash_page_bytes,
        read_us=_times(timing.get("read_us")),
        program_us=_times(timing.get("program_us")),
        erase_us=_times(timing.get("erase_us")),
    )


def _times(value: float | list[float] | None) -> tuple[float, ...]:
    if value is None:
        return ()
    return tuple(map(float, value)) if isinstance(value, list) else (float(value),)
