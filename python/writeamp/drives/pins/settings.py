"""Settings of measurements of a drive's pins, which options are made from."""

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
    """Domain of times in µs, with commas between."""

    def check(self, name: str, value: Any) -> tuple[float, ...]:
        """Return the times."""
        return _numbers(name, value, ",")


class _Window:
    """Domain of spans of time in µs."""

    def check(self, name: str, value: Any) -> tuple[float, ...]:
        """Return both ends."""
        ends = _numbers(name, value, ":")
        if len(ends) != 2:
            raise WriteampError(f"{name} is {shown(value)}; it must be LOW:HIGH in µs")
        return ends


def _numbers(name: str, text: str, separator: str) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in text.split(separator))
    except ValueError:
        raise WriteampError(
            f"{name} is {shown(text)}; it must be numbers in µs with {separator!r} between"
        ) from None


def _times(of_what: str) -> Any:
    return setting(
        None,
        _Times(),
        f"times of a {of_what} in µs, with commas between",
        metavar="US[,US]",
        **_PINS,
    )


@dataclass(frozen=True)
class PinSettings(Settings):
    """Host writes, drive (a profile, or facts in its place) and pins of a capture."""

    title: ClassVar[str] = "pins"
    names_options: ClassVar[bool] = True

    host_bytes: float | None = setting(
        None,
        ByteAmount(),
        "what the host wrote while the capture was taken: 2GiB, or bytes",
        number="bytes",
        required=True,
    )
    device: str | None = setting(
        None, None, "device profile, or the path of one", metavar="NAME", **_PINS
    )
    dies: int | None = setting(
        None, POSITIVE_COUNT, "dies of the drive, each with a pin", number="count", **_PINS
    )
    pages_per_program: int | None = setting(
        None,
        POSITIVE_COUNT,
        "flash pages that one program writes, M_p: 2 for two planes at once",
        number="count",
        **_PINS,
    )
    page_bytes: float | None = setting(
        None, ByteAmount(), "flash page, such as 4KiB", number="bytes", **_PINS
    )
    read_us: tuple[float, ...] | None = _times("page read")
    program_us: tuple[float, ...] | None = _times("page program")
    erase_us: tuple[float, ...] | None = _times("block erase")
    window: tuple[float, float] | None = setting(
        None,
        _Window(),
        "fixed window of programs in µs; 200:2200 for MLC and 200:500 for SLC in paper 5",
        metavar="LOW:HIGH",
        **_PINS,
    )
    pin: str | None = setting(
        None, None, "count one pin, and take all dies to be like its own", metavar="NAME"
    )
    method: Method = setting(
        "mixture",
        OneOf(METHODS),
        "which answer counts: mixture or fixed; both are shown",
        choices=METHODS,
        metavar="NAME",
    )
    inverted: bool = setting(False, None, "busy is high; without it, low is busy", number="switch")

    def facts(self) -> PinFacts:
        """Return the facts of the pins by the profile, or as given in its place.

        Raises:
            WriteampError: the drive is not known, or there is no such profile.
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
                "the drive is not known; give --device, or --dies and --page-bytes (and, for "
                "programs of several planes, --pages-per-program)"
            )
        return PinFacts(**({"pages_per_program": 1} | more))
