"""Settings of twins: the chain, the measured target, and a single WA in place of a chain."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from writeamp.devices.device import SIZE
from writeamp.devices.profile import profile_names
from writeamp.errors import WriteampError
from writeamp.fields.domains import Flag, Number, Whole
from writeamp.fields.setting import Settings, setting
from writeamp.learn.twin.chain import MOST_PHASES
from writeamp.registry.specs import Spec, SpecOf
from writeamp.traces.settings import format_setting
from writeamp.units.byte_sizes import Terabytes

# Suffixes of tables of phases.
TABLES = (".csv", ".toml")

STEADY_WA = Number("be at least 1", lambda value: value >= 1)


@dataclass(frozen=True)
class ChainSettings(Settings):
    """Number and kind of the workloads (phases) of the chain that a drive serves."""

    title: ClassVar[str] = "chain"
    names_options: ClassVar[bool] = True

    phases: int = setting(
        4,
        Whole(1, MOST_PHASES),
        f"number of workloads of the chain, 1 to {MOST_PHASES}; each writes 0.75 times the "
        "capacity",
        number="count",
    )
    chunks: bool = setting(
        False,
        Flag(),
        "add three workloads of random aligned writes of 64 KiB, 256 KiB and 1 MiB, which narrow "
        "the interval of the erase unit",
        number="switch",
    )


@dataclass(frozen=True)
class PlanSettings(Settings):
    """Drive that a plan is for."""

    title: ClassVar[str] = "plan"
    names_options: ClassVar[bool] = True

    capacity: int | None = setting(
        None,
        SIZE,
        "capacity of the drive, such as 1TB or 512MiB; give this or --target",
        number="bytes",
    )
    target: str | None = setting(
        None,
        None,
        "use the capacity of this profile, file or block device; nothing is written to it",
        metavar="TARGET",
    )
    write_mb_s: float = setting(
        400.0,
        Number("be above 0", lambda value: value > 0),
        "the drive's bandwidth of random writes, in 10^6 bytes per second; only the estimate of "
        "the hours depends on it",
        number="number",
        metavar="MB/S",
    )
    rated_tbw: float | None = setting(
        None,
        Terabytes(),
        "rated endurance of the drive in TB written; the plan then reports which share of it the "
        "writes of the plan use",
        metavar="TB",
    )


@dataclass(frozen=True)
class TwinTargetSettings(Settings):
    """Target to measure, or a file of its windows."""

    title: ClassVar[str] = "target"
    names_options: ClassVar[bool] = True

    target: str | None = setting(
        None,
        None,
        "target to measure: a simulated drive by its profile (see `writeamp list devices`), a "
        "virtual one by its Unix socket or nbd+unix:///?socket=PATH, or a block device or a file "
        "on a real one, which fio writes to",
        choices=profile_names(),
        metavar="TARGET",
    )
    counters: str | None = setting(
        None,
        None,
        "counters of a real drive: its device, or a file or folder that another program updates "
        "(default: the device that the target is or lies on)",
        metavar="SOURCE",
    )
    families: Path | None = setting(
        None,
        None,
        "TOML file of your own drive families, which defines the meaning and unit of their "
        "counters, as in `measure counters`",
        number="path",
        metavar="FILE",
    )
    windows: Path | None = setting(
        None,
        None,
        "read windows measured by hand from a CSV file, in place of --target: columns host_bytes "
        "and flash_bytes, a line for the sequential fill, then a line for each window in order",
        number="path",
        metavar="FILE.csv",
    )
    plan: Path | None = setting(
        None,
        None,
        "write the workloads of this plan of `twin plan`, in place of --phases and --chunks",
        number="path",
        metavar="PLAN.toml",
    )
    repeats: int = setting(
        1,
        Whole(1, 100),
        "number of runs of the chain, each on a new simulated drive; with 2 or more, their "
        "differences give the noise",
        number="count",
    )
    seed: int = setting(1, Whole(0), "seed of all random draws", number="count")
    destroys: str | None = setting(
        None,
        None,
        "allow this command to destroy all data of the target; repeat the name given to --target",
        flag="--yes-destroy-data",
        metavar="TARGET",
    )
    timed: bool = setting(
        False,
        Flag(),
        "simulate the times and caches of the drive, too (simulated drives only)",
        number="switch",
    )


@dataclass(frozen=True)
class OneNumberSettings(Settings):
    """A single WA under a known workload or trace, in place of windows of a chain."""

    title: ClassVar[str] = "one number"
    names_options: ClassVar[bool] = True

    wa: float | None = setting(
        None,
        STEADY_WA,
        "fit this write amplification in place of WINDOWS: the steady one, or with --trace the "
        "one during the trace",
        number="number",
        metavar="WA",
    )
    workload: Spec | None = setting(
        None,
        SpecOf("workloads"),
        "workload under which the drive has the WA of --wa (default uniform)",
        kind="workloads",
    )
    trace: Path | None = setting(
        None,
        None,
        "fit the WA of a real drive under this block trace, in place of WINDOWS; needs --wa or "
        "--counters",
        number="path",
        metavar="TRACE",
    )
    trace_format: str | None = format_setting()
    counters: tuple[str, ...] | None = setting(
        None,
        None,
        "snapshot of the drive's counters; give it twice, first the snapshot from before the "
        "trace, then the one from after it",
        number="texts",
        metavar="SNAP",
    )

    def __post_init__(self) -> None:
        """Reject contradictory settings."""
        super().__post_init__()
        if self.wa is None and self.trace is None and self.workload is not None:
            raise WriteampError(
                "--workload describes --wa; a file of windows has its own workloads"
            )
        if self.trace is None:
            if self.counters is not None or self.trace_format is not None:
                raise WriteampError("--counters and --format need --trace; give --trace, too")
            return
        if self.workload is not None:
            raise WriteampError("--trace is a workload itself; give --trace without --workload")
        ways = (self.wa is not None) + (self.counters is not None)
        if ways != 1 or (self.counters is not None and len(self.counters) != 2):
            raise WriteampError(
                "--trace needs the drive's WA during it: give either --wa, or --counters twice "
                "(before and after it)"
            )


@dataclass(frozen=True)
class ReadingSettings(Settings):
    """Counters of phases that are in a file of their own."""

    title: ClassVar[str] = "phases"
    names_options: ClassVar[bool] = True

    readings: Path | None = setting(
        None,
        None,
        "CSV file of the drive's counters, if the phases are in a TOML file",
        number="path",
        metavar="FILE.csv",
    )


@dataclass(frozen=True)
class PhaseSettings(ReadingSettings):
    """Phases of known loads, with counters of a real drive, and the choice of phases."""

    drive: str | None = setting(
        None,
        None,
        "drive to learn, if the table has several",
        metavar="NAME",
    )
    phases: str | None = setting(
        None,
        None,
        "phases to learn from, with commas between them: run, colon, place in the run (default "
        "all)",
        metavar="RUN:PHASE,…",
    )

    @property
    def names(self) -> list[str] | None:
        """Names of the phases to learn from; None for all."""
        return None if self.phases is None else [name.strip() for name in self.phases.split(",")]
