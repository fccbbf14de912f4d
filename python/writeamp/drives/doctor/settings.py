"""Settings of the doctor; the options are generated from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from writeamp.devices.device import SIZE
from writeamp.devices.geometry import PAGE_BYTES
from writeamp.devices.profile import profile_names
from writeamp.drives.doctor.finding import SEVERITIES, Severity
from writeamp.fields.domains import OneOf
from writeamp.fields.setting import Settings, setting
from writeamp.traces.settings import action_setting, format_setting
from writeamp.units.ratios import op_setting


@dataclass(frozen=True)
class DoctorSettings(Settings):
    """Settings of reading, and of the drive for simulations of mistakes."""

    title: ClassVar[str] = "doctor"

    run: str | None = setting(
        None, None, "a command line that runs fio; it is judged, but not run", metavar="CMD"
    )
    trace_format: str | None = format_setting()
    action: str | None = action_setting()
    capacity: int | None = setting(
        None,
        SIZE,
        "user capacity of the drive under test, such as 1.92TB, if the input does not contain it",
        number="bytes",
    )
    simulate: bool = setting(
        True,
        None,
        "simulate write amplification with and without each mistake for which that is possible",
        number="flag",
    )
    device: str | None = setting(
        None,
        None,
        f"profile of the simulated drive ({', '.join(profile_names())}); default: 256 "
        "logical blocks of 64 pages of 4 KiB",
        choices=profile_names(),
        panel="doctor",
    )
    size: int | None = setting(
        None,
        SIZE,
        "user capacity of the simulated drive, such as 1GiB (default with --device: 256MiB); "
        "--capacity states that of the drive under test",
        number="bytes",
        panel="doctor",
    )
    mapping_unit: int | None = setting(
        None,
        PAGE_BYTES,
        "unit of the map of the drive under test, such as 16KiB; default: 4 KiB, or that of "
        "--device",
        number="bytes",
        panel="doctor",
    )
    op: float | None = op_setting(panel="doctor")


@dataclass(frozen=True)
class VerdictSettings(Settings):
    """Lowest severity of a finding with which the command fails."""

    title: ClassVar[str] = "verdict"
    names_options: ClassVar[bool] = True

    fail_on: Severity | None = setting(
        None,
        OneOf(SEVERITIES),
        "exit with status 1 if there is a finding of at least this severity; default: status 0 "
        f"for all findings. Severities: {', '.join(SEVERITIES)}",
        choices=SEVERITIES,
        metavar="SEVERITY",
    )
