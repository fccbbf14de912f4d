"""Settings of the doctor, which options are made from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from writeamp.devices.device import SIZE
from writeamp.devices.profile import profile_names
from writeamp.drives.doctor.finding import SEVERITIES, Severity
from writeamp.fields.domains import OneOf
from writeamp.fields.setting import Settings, setting
from writeamp.traces.settings import action_setting, format_setting
from writeamp.units.ratios import op_setting


@dataclass(frozen=True)
class DoctorSettings(Settings):
    """Settings of reading, and of the drive on which mistakes are simulated."""

    title: ClassVar[str] = "doctor"

    run: str | None = setting(
        None, None, "a command line that runs fio, to be judged and not run", metavar="CMD"
    )
    trace_format: str | None = format_setting()
    action: str | None = action_setting()
    capacity: int | None = setting(
        None,
        SIZE,
        "bytes that the host sees of the drive under test, such as 1.92TB, if the input does not "
        "say",
        number="bytes",
    )
    simulate: bool = setting(
        True, None, "simulate what each mistake does to write amplification", number="flag"
    )
    device: str | None = setting(
        None,
        None,
        f"profile of the drive that is simulated ({', '.join(profile_names())}); by default 256 "
        "blocks of 64 pages of 4 KiB",
        choices=profile_names(),
        panel="doctor",
    )
    size: int | None = setting(
        None,
        SIZE,
        "bytes that the host sees of the drive that is simulated, such as 256MiB",
        number="bytes",
        panel="doctor",
    )
    op: float | None = op_setting(panel="doctor")


@dataclass(frozen=True)
class VerdictSettings(Settings):
    """Severity that makes the command fail."""

    title: ClassVar[str] = "verdict"
    names_options: ClassVar[bool] = True

    fail_on: Severity | None = setting(
        None,
        OneOf(SEVERITIES),
        "end with status 1 if there is a finding of this severity, or a worse one: "
        f"{', '.join(SEVERITIES)}",
        choices=SEVERITIES,
        metavar="SEVERITY",
    )
