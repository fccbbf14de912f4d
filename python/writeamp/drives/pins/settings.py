"""Settings of measurements of a drive's pins; the options are generated from them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, TypeAlias

from writeamp.devices.device import device
from writeamp.drives.pins.device_facts import PinFacts, facts_of
from writeamp.errors import WriteampError
from writeamp.fields.domains import POSITIVE_COUNT, OneOf, shown
from writeamp.fields.setting import Settings, setting
from writeamp.units.byte_sizes import ByteAmount

Method: TypeAlias = Literal["mixture", "fixed"]
METHODS: tuple[Method, ...] = ("mixture", "fixed")

_PINS = {"panel": "pins"}


class _Times:
    """Valid values of an option: times in µs, separated by commas."""

    def check(self, name: str, value: Any) -> tuple[float, ...]:
        """Return the times."""
        return _numbers(name, value, ",")


class _Window:
    """Valid values of an option: a window of durations LOW:HIGH, in µs."""

    def check(self, name: str, value: Any) -> tuple[float, ...]:
        """Return both ends, in µs."""
        ends = _numbers(name, value, ":")
        if len(ends) != 2:
            raise WriteampError(f"{name} is {shown(value)}; it must be LOW:HIGH in µs")
        return ends


def _numbers(name: str, text: str, separator: str) -> tuple[float, ...]:
    try:
        return tuple(float(number) for number in text.split(separator))
    except ValueError:
        raise WriteampError(
            f"{name} is {shown(text)}; it must be numbers in µs separated by {separator!r}"
        ) from None


def _times(operation: str) -> Any:
    return setting(
        None,
        _Times(),
        f"times of a {operation} in µs, separated by commas; default: those of --device",
        metavar="US[,US]",
        **_PINS,
    )


@dataclass(frozen=True)
class PinSettings(Settings):
    """Bytes that the host wrote, the drive (a profile or facts), and the pins of a capture."""

    title: ClassVar[str] = "pins"
    names_options: ClassVar[bool] = True

    host_bytes: float | None = setting(
        None,
        ByteAmount(),
        "bytes that the host wrote to the drive during the capture, such as 2GiB",
        number="bytes",
        required=True,
    )
    device: str | None = setting(
        None,
        None,
        "profile of the measured drive, by name or path; other options of this group replace its "
        "values",
        metavar="NAME",
        **_PINS,
    )
    dies: int | None = setting(
        None,
        POSITIVE_COUNT,
        "number of dies of the drive, each with its own Ready/Busy pin; default: that of --device",
        number="count",
        **_PINS,
    )
    pages_per_program: int | None = setting(
        None,
        POSITIVE_COUNT,
        "flash pages written by one program (M_p of paper 5), such as 2 for two planes at once; "
        "default: that of --device, or 1",
        number="count",
        **_PINS,
    )
    page_bytes: float | None = setting(
        None,
        ByteAmount(),
        "size of a flash page, such as 4KiB; default: that of --device",
        number="bytes",
        **_PINS,
    )
    read_us: tuple[float, ...] | None = _times("page read")
    program_us: tuple[float, ...] | None = _times("page program")
    erase_us: tuple[float, ...] | None = _times("block erase")
    window: tuple[float, float] | None = setting(
        None,
        _Window(),
        "durations in µs that the fixed method counts as programs, such as 200:2200 (MLC) or "
        "200:500 (SLC) of paper 5; default: from the program times",
        metavar="LOW:HIGH",
        **_PINS,
    )
    pin: str | None = setting(
        None,
        None,
        "count this pin only, and multiply its operations by the number of dies; default: count "
        "all pins",
        metavar="NAME",
    )
    method: Method = setting(
        "mixture",
        OneOf(METHODS),
        "method that gives the WA: mixture (classes fitted to the durations) or fixed (a window "
        "of durations); both are shown",
        choices=METHODS,
        metavar="NAME",
    )
    inverted: bool = setting(
        False, None, "a pin is high while its die is busy; default: low while busy", number="switch"
    )

    def facts(self) -> PinFacts:
        """Return the drive's facts from its profile, or from the other settings.

        Raises:
            WriteampError: the drive is unknown, or the profile does not exist.
        """
        more: dict[str, Any] = {}
        if self.dies is not None:
            more |= {"channels": self.dies, "chips_per_channel": 1, "dies_per_chip": 1}
        if self.page_bytes is not None:
            more["page_bytes"] = round(self.page_bytes)
        for name in ("pages_per_program", "read_us", "program_us", "erase_us"):
            if getattr(self, name) is not None:
                more[name] = getattr(self, name)
        if self.window is not None:
            more["program_window_us"] = self.window
        if self.device is not None:
            return replace(facts_of(device(self.device)), **more)
        if "channels" not in more or "page_bytes" not in more:
            raise WriteampError(
                "the drive is unknown. Pass --device, or --dies and --page-bytes (and, for "
                "programs of several planes, --pages-per-program)"
            )
        return PinFacts(**({"pages_per_program": 1} | more))
