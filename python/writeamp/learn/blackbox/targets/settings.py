"""Settings of targets: their choice, and the measurement of points on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from writeamp.devices.profile import profile_names
from writeamp.fields.domains import Number, OneOf, Whole
from writeamp.fields.setting import Settings, places_in, setting
from writeamp.units.durations import DurationIn

NONE, FILL, STEADY = "none", "fill", "steady"
PRECONDITIONS = (NONE, FILL, STEADY)

_SIMULATED = {"panel": "simulated"}
_REAL = {"panel": "real"}
_REAL_TIME = DurationIn(Number("be from 0.1 to 3600", lambda value: 0.1 <= value <= 3600))


@dataclass(frozen=True)
class TargetSettings(Settings):
    """The target, in the form that `target_of` takes."""

    title: ClassVar[str] = "target"
    names_options: ClassVar[bool] = True

    target: str | None = setting(
        None,
        None,
        "target to measure: a profile (see `writeamp list devices`), an array of profiles such as "
        "raid0:x25-m,x25-m, a file, a block device or an NBD URI",
        choices=profile_names(),
        metavar="TARGET",
        required=True,
    )
    size: str | None = setting(
        None,
        None,
        "logical size of a simulated device (default: at most 8 GiB for each flash drive), or size "
        "of the used part of a real target; a file that does not exist is made with this size",
        number="bytes",
    )
    destroys: str | None = setting(
        None,
        None,
        "allow this command to destroy the data on the target; repeat the name given to --target",
        flag="--yes-destroy-data",
        metavar="TARGET",
        **_REAL,
    )


def _seed() -> Any:
    return setting(1, Whole(0), "seed of all random draws of the workloads", number="count")


@dataclass(frozen=True)
class SimulatedSettings(Settings):
    """Settings of the measurement of points on a simulated device.

    Attributes:
        precision: relative half width of the 95% intervals of mean latency and bandwidth at which a
            point ends.
        most_s: virtual time after which a point ends even if its means are not precise.
        seed: seed of all random draws.

    Raises:
        WriteampError: a value outside its domain.
    """

    title: ClassVar[str] = "simulated"
    names_options: ClassVar[bool] = True

    precision: float = setting(
        0.01,
        Number("be above 0 and below 1", lambda value: 0 < value < 1),
        "a point ends when the half widths of the 95% intervals of mean latency and bandwidth are "
        "at most this share of the means",
        number="ratio",
        **_SIMULATED,
    )
    most_s: float = setting(
        60.0,
        DurationIn(Number("be above 0 and at most 3600", lambda value: 0 < value <= 3600)),
        "virtual time after which a point ends even if its means are not precise",
        flag="--time",
        metavar="TIME",
        **_SIMULATED,
    )
    seed: int = _seed()


@dataclass(frozen=True)
class RealSettings(Settings):
    """Settings of the measurement of points on a real target.

    Attributes:
        runtime_s: measured time of each point; one minute in paper 2.
        precondition: "none", "fill" or "steady"; by default "steady" for a device, "fill" for
            other targets.
        round_s: time of each round of random writes before steady state.
        seed: seed of all random draws.

    Raises:
        WriteampError: a value outside its domain.
    """

    title: ClassVar[str] = "real"
    names_options: ClassVar[bool] = True

    runtime_s: float = setting(
        60.0,
        _REAL_TIME,
        "time for which fio measures each point (one minute in the paper)",
        flag="--runtime",
        metavar="TIME",
        **_REAL,
    )
    precondition: str | None = setting(
        None,
        OneOf(PRECONDITIONS),
        f"{', '.join(PRECONDITIONS)}: writes before the first point. fill writes the target once; "
        "steady writes it twice, and then at random until SNIA's steady state (default: steady for "
        "block devices, else fill)",
        choices=PRECONDITIONS,
        metavar="NAME",
        **_REAL,
    )
    round_s: float = setting(
        60.0,
        _REAL_TIME,
        "time of each round of random writes of --precondition steady; rounds are written until "
        "five in a row have about the same throughput",
        flag="--round",
        metavar="TIME",
        **_REAL,
    )
    seed: int = _seed()


# Settings that `target_of` takes by keyword; it rejects those of the other kind of target.
TARGET_PLACES = places_in((SimulatedSettings, RealSettings), "target_of")
