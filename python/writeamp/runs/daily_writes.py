"""Conversion of daily host writes to drive writes, for drives of any size."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.fields.domains import Number
from writeamp.fields.setting import Settings, setting
from writeamp.units.byte_sizes import ByteAmount
from writeamp.units.durations import DAYS_A_YEAR

# More drive writes per day than this are rejected. It is the highest rating on the market, of
# drives with phase-change memory.
_MOST = 100
_POSITIVE = Number("be a number above 0", lambda value: value > 0)


@dataclass(frozen=True)
class LifeSettings(Settings):
    """Daily writes of a host, and years of a drive's warranty."""

    title: ClassVar[str] = "life"
    names_options: ClassVar[bool] = True

    daily_writes: float | None = setting(
        None,
        ByteAmount(),
        "bytes that the host writes per day, such as 100GB (10^9) or 100GiB (2^30); the result "
        "then also has the lifetime in years of 365 days",
        number="bytes",
    )
    warranty_years: float = setting(
        5.0,
        _POSITIVE,
        "length of the warranty in years of 365 days; drive writes per day (DWPD) are the "
        "endurance divided by its days",
        number="number",
        metavar="YEARS",
    )


# Default length of a warranty in years, as for most drives.
WARRANTY_YEARS = LifeSettings.warranty_years


def drive_writes_a_day(
    device: Device, daily_bytes: float, capacity_bytes: float | None = None
) -> float:
    """Return the drive writes per day: how often the host writes the logical capacity in a day.

    Args:
        device: the drive; its logical capacity counts unless `capacity_bytes` is given.
        daily_bytes: bytes that the host writes in a day.
        capacity_bytes: logical capacity of the requested drive, if `device` is scaled down.

    Raises:
        WriteampError: a value is not a finite number above 0, or the result is above 100 drive
            writes a day.
    """
    check_positive("daily_bytes", daily_bytes)
    if capacity_bytes is None:
        capacity_bytes = float(device.logical_pages * device.page_bytes)
    check_positive("capacity_bytes", capacity_bytes)
    per_day = daily_bytes / capacity_bytes
    if per_day > _MOST:
        raise WriteampError(
            f"{daily_bytes:.4g} bytes a day are {per_day:,.0f} drive writes a day at "
            f"{capacity_bytes:.4g} bytes, and drives are rated for at most {_MOST}; give the real "
            "drive's capacity (--capacity, capacity_bytes), if this drive is a smaller model of it"
        )
    return per_day


def warranty_days(years: float) -> float:
    """Return the days of a warranty, given its years.

    Raises:
        WriteampError: the number of years is not finite and above 0.
    """
    check_positive("warranty_years", years)
    return years * DAYS_A_YEAR


def check_positive(name: str, value: Any) -> None:
    """Reject values that are not finite numbers above 0."""
    _POSITIVE.check(name, value)
