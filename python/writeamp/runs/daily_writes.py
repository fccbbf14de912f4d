"""Daily writes of a host as writes of the drive: so a small drive can stand for a large one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from writeamp.devices.device import Device
from writeamp.errors import WriteampError
from writeamp.fields.domains import Number
from writeamp.fields.setting import Settings, setting
from writeamp.units.byte_sizes import ByteAmount

# Vendors state drive writes per day over years of so many days.
DAYS_PER_YEAR = 365

# The drives made for the most writes, of phase-change memory, are rated for 100 drive writes a day.
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
        "what the host writes in a day, such as 100GB (10^9) or 100GiB (2^30): adds the life in "
        "years of 365 days",
        number="bytes",
    )
    warranty_years: float = setting(
        5.0,
        _POSITIVE,
        "years of 365 days over which drive writes per day (DWPD) are counted",
        number="number",
        metavar="YEARS",
    )


# Most warranties last so long.
WARRANTY_YEARS = LifeSettings.warranty_years


def drive_writes_a_day(
    device: Device, daily_bytes: float, capacity_bytes: float | None = None
) -> float:
    """Return how often the logical capacity is written in a day.

    Args:
        device: the drive, whose capacity counts unless another is given.
        daily_bytes: what the host writes in a day.
        capacity_bytes: what the host sees of the drive that is meant, for which this one stands.

    Raises:
        WriteampError: one of them is not a finite number above 0, or so much is written a day
            that no such drive can be meant.
    """
    check_positive("daily_bytes", daily_bytes)
    if capacity_bytes is None:
        capacity_bytes = float(device.logical_pages * device.page_bytes)
    check_positive("capacity_bytes", capacity_bytes)
    found = daily_bytes / capacity_bytes
    if found > _MOST:
        raise WriteampError(
            f"{daily_bytes:.4g} bytes a day are {found:,.0f} writes a day of a drive of "
            f"{capacity_bytes:.4g} bytes, and no drive is made for more than {_MOST}; give the "
            "capacity of the drive that is meant (--capacity, capacity_bytes), which lives for as "
            "many drive writes as this one"
        )
    return found


def warranty_days(years: float) -> float:
    """Return the days of a warranty of so many years.

    Raises:
        WriteampError: it is not a finite number above 0.
    """
    check_positive("warranty_years", years)
    return years * DAYS_PER_YEAR


def check_positive(name: str, value: Any) -> None:
    """Refuse what is no finite number above 0."""
    _POSITIVE.check(name, value)
