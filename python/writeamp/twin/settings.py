"""Settings of twins: the chain, what is measured, and the one number that may stand for it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from writeamp.devices.device import SIZE
from writeamp.devices.profile import profile_names
from writeamp.domains import Flag, Number, Whole
from writeamp.fields.setting import Settings, setting
from writeamp.registry.specs import Spec, SpecOf
from writeamp.twin.chain import MOST_PHASES


@dataclass(frozen=True)
class ChainSettings(Settings):
    """Length of the chain that a drive serves."""

    title: ClassVar[str] = "chain"
    names_options: ClassVar[bool] = True

    phases: int = setting(
        4, Whole(1, MOST_PHASES), "phases of the chain, each 0.75 drive writes", number="count"
    )
    chunks: bool = setting(
        False,
        Flag(),
        "add three phases of aligned chunks, which tell the erase unit",
        number="switch",
    )


@dataclass(frozen=True)
class PlanSettings(Settings):
    """Drive that a plan is for."""

    title: ClassVar[str] = "plan"
    names_options: ClassVar[bool] = True

    capacity: int | None = setting(
        None, SIZE, "what the host sees, such as 1TB or 512MiB", number="bytes"
    )
    target: str | None = setting(
        None,
        None,
        "take the capacity of this target: a profile, a file or a block device",
        metavar="TARGET",
    )
    write_mb_s: float = setting(
        400.0,
        Number("be above 0", lambda value: value > 0),
        "bandwidth of random writes that the hours are told by",
        number="number",
        metavar="MB/S",
    )
    rated_tbw: float | None = setting(
        None,
        Number("be above 0", lambda value: value > 0),
        "rated endurance in TB written, of which the share is told",
        number="number",
        metavar="TB",
    )


@dataclass(frozen=True)
class TargetSettings(Settings):
    """Target that is measured, or who measured it."""

    title: ClassVar[str] = "target"
    names_options: ClassVar[bool] = True

    target: str | None = setting(
        None,
        None,
        "what is measured: a simulated drive by its profile (see `writeamp list devices`), or a "
        "virtual one by its Unix socket or nbd+unix:///?socket=PATH",
        choices=profile_names(),
        metavar="TARGET",
    )
    windows: Path | None = setting(
        None,
        None,
        "take the windows from a CSV file with columns host_bytes and flash_bytes, a line each, "
        "the fill in order the first, in the place of a target",
        number="path",
        metavar="FILE.csv",
    )
    plan: Path | None = setting(
        None, None, "serve the chain of this plan", number="path", metavar="PLAN.toml"
    )
    repeats: int = setting(
        1,
        Whole(1, 100),
        "chains that are served, each by a new drive: they tell noise",
        number="count",
    )
    seed: int = setting(1, Whole(0), "decides every random draw", number="count")
    destroys: str | None = setting(
        None,
        None,
        "destroy all that this target holds, which must be named once more",
        flag="--yes-destroy-data",
        metavar="TARGET",
    )
    timed: bool = setting(
        False, Flag(), "let the drive serve in virtual time, with its caches", number="switch"
    )


@dataclass(frozen=True)
class OneNumberSettings(Settings):
    """One WA under a known load, in the place of a chain."""

    title: ClassVar[str] = "one number"
    names_options: ClassVar[bool] = True

    wa: float | None = setting(
        None,
        Number("be at least 1", lambda value: value >= 1),
        "fit this steady write amplification, in the place of a file of windows",
        number="number",
        metavar="WA",
    )
    workload: Spec | None = setting(
        None, SpecOf("workloads"), "the load of that (default uniform)", kind="workloads"
    )
