"""Settings of an experiment, each with its default, its domain and its words, once.

The library's keyword arguments, the options of the command line and the keys of an experiment file
are all made from these fields.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, Literal, TypeAlias

from writeamp import traces
from writeamp._engine import DEFAULT_BATCH_PAGES
from writeamp.errors import WriteampError
from writeamp.fields.domains import (
    BELOW_ONE,
    POSITIVE_COUNT,
    SHARE,
    Flag,
    Number,
    OneOf,
    Whole,
    WholeOr,
)
from writeamp.fields.setting import Settings, setting
from writeamp.files.inputs import STANDARD_INPUT
from writeamp.registry.specs import Spec, SpecLike, SpecOf
from writeamp.settings.precondition import CHOICES, Precondition, PreconditionText
from writeamp.settings.timed import TimedSettings
from writeamp.traces.settings import action_setting, format_setting
from writeamp.traces.words import MAPPINGS, Mapping

Warmup: TypeAlias = int | Literal["auto"]
Repeat: TypeAlias = int | Literal["auto"]
# A path, or a trace as `Trace`, `PageTrace` or data of any library. The classes are not named here:
# they import NumPy and Polars, and `--help` reads this module.
TraceLike: TypeAlias = str | os.PathLike[str] | Any

# The engine counts erases of a block in 32 bits, of which one value means "no limit".
_MOST_ERASES = 2**32 - 2
_MOST_REPLICAS = 2**32 - 1
_MOST_COMPARED_REPLICAS = 10_000


class HeldTrace:
    """A trace with the digest of its contents, by which two are equal."""

    def __init__(self, trace: traces.Trace | traces.PageTrace | traces.Given) -> None:
        """Hold a trace, or data that say one."""
        self.trace = trace

    @cached_property
    def digest(self) -> str:
        """The SHA-256 of what the trace says: requests and devices, or runs of pages."""
        if isinstance(self.trace, traces.Given | traces.PageTrace):
            return self.trace.digest
        import numpy as np  # noqa: PLC0415 (slow)

        found = hashlib.sha256()
        found.update(f"requests {self.trace.devices}".encode())
        if self.trace.recorded is not None:
            found.update(self.trace.recorded.to_text().encode())
        for one in self.trace.requests.get_columns():
            column = one.to_physical().to_numpy()
            little_endian = column.astype(column.dtype.newbyteorder("<"))
            found.update(np.ascontiguousarray(little_endian).tobytes())
        return f"sha256:{found.hexdigest()}"

    def __eq__(self, other: object) -> bool:
        """Return whether both traces say the same."""
        return isinstance(other, HeldTrace) and self.digest == other.digest

    def __hash__(self) -> int:
        """Return a number that is the same for traces that say the same."""
        return hash(self.digest)

    def __repr__(self) -> str:
        """Return the digest in brackets."""
        return f"<trace {self.digest}>"


def _held(trace: Any) -> str | HeldTrace | None:
    """Return a trace as the settings keep it: the path of a file, or what is in memory."""
    if trace is None or isinstance(trace, HeldTrace):
        return trace
    if isinstance(trace, str):
        return str(trace)
    if isinstance(trace, os.PathLike):
        from writeamp.traces.source import file_path  # noqa: PLC0415 (slow)

        file_path(trace)  # refuses what can be none
        return str(os.fspath(trace))
    if isinstance(trace, traces.Trace | traces.PageTrace | traces.Given):
        return HeldTrace(trace)
    return HeldTrace(traces.Given(trace))


@dataclass(frozen=True)
class LoadSettings(Settings):
    """Load of the host: a synthetic workload or a trace, and what is written before it."""

    title: ClassVar[str] = "load"
    # Settings that need a trace.
    OF_TRACES: ClassVar = ("trace_format", "action", "repeat", "mapping", "trace_device")

    workload: Spec | None = setting(
        None,
        SpecOf("workloads"),
        "synthetic workload (default uniform)",
        kind="workloads",
    )
    trace: str | Path | HeldTrace | None = setting(
        None,
        None,
        "replay a block trace instead: its file, or - for standard input",
        number="path",
        panel="trace",
        takes="TraceLike",
    )
    trace_format: str | None = format_setting(panel="trace")
    action: str | None = action_setting(panel="trace")
    repeat: Repeat = setting(
        "auto",
        WholeOr("auto", POSITIVE_COUNT),
        "replay the trace so many times; auto: until its passes agree, if it is short",
        metavar="auto|N",
        not_for=("endurance",),
        panel="trace",
    )
    mapping: Mapping = setting(
        "compact",
        OneOf(MAPPINGS),
        "compact: the trace's written pages, closed up, are the drive's logical space; as-is: "
        "addresses count",
        choices=MAPPINGS,
        panel="trace",
    )
    trace_device: str | None = setting(
        None, None, "use only this device of the trace", panel="trace"
    )
    utilization: float = setting(
        1.0,
        SHARE,
        "share of the logical pages that the workload uses; the rest is never written",
        number="ratio",
        panel="run",
    )
    precondition: str = setting(
        "full",
        PreconditionText(),
        "state of the drive when the run begins, none of it counted: full (each page written once, "
        "in order), workload (only the pages that the host will write), none, random (full, then "
        "aged by random writes until WA is steady), random:N (by N drive writes of them) or "
        "aged:TRACE (full, then one pass over that trace)",
        choices=CHOICES,
        metavar="STATE",
        panel="run",
    )

    def __post_init__(self) -> None:
        """Check every field, and refuse those that contradict each other."""
        object.__setattr__(self, "trace", _held(self.trace))
        super().__post_init__()
        if self.trace is None:
            self._without_trace()
            return
        if self.trace == STANDARD_INPUT == Precondition.of(self.precondition).trace:
            raise WriteampError(
                "the trace and the precondition are both - (standard input), which is one trace; "
                "give a file for one of them"
            )
        if self.workload is not None:
            raise WriteampError("workload and trace each say what the host writes; give only one")
        if self.utilization != 1:
            raise WriteampError("utilization is for synthetic workloads; a trace says what it uses")
        reading = (self.trace_format, self.action) != (None, None)
        if isinstance(self.trace, HeldTrace) and reading:
            self._state_columns(self.trace)

    def _state_columns(self, held: HeldTrace) -> None:
        """Apply the format to the columns of given data; of a trace all is known."""
        if not isinstance(held.trace, traces.Given):
            raise WriteampError("trace_format and action say how to read a trace that is read")
        if self.action is not None:
            raise WriteampError("action is for blkparse files; data in memory have no actions")
        if held.trace.format != self.trace_format:
            given = traces.Given(held.trace.data, self.trace_format)
            object.__setattr__(self, "trace", HeldTrace(given))

    @property
    def workloads(self) -> tuple[Spec, ...]:
        """The workloads that are asked for, each a load of its own."""
        return () if self.workload is None else (self.workload,)

    @property
    def traces(self) -> tuple[str | HeldTrace, ...]:
        """The traces that it replays, each a load of its own."""
        assert not isinstance(self.trace, Path)  # they are texts once they are checked
        return () if self.trace is None else (self.trace,)

    def dropped_by(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Return the defaults of settings that no longer hold once `changes` say another load."""
        dropped: tuple[str, ...] = ()
        if changes.get("workload") is not None:
            dropped = ("trace", *self.OF_TRACES)
        elif changes.get("trace") is not None:
            dropped = ("workload", "utilization", "trace_format", "action", "trace_device")
        return {one.name: one.default for one in fields(self) if one.name in dropped}

    def _without_trace(self) -> None:
        if Precondition.of(self.precondition).trace is not None:
            # They say how to read and map the trace that ages the drive.
            self._refuse_repeat()
            return
        if (self.trace_format, self.action) != (None, None):
            raise WriteampError(
                "--format (trace_format) and --action say how to read a trace; there is no --trace"
            )
        self._refuse_repeat()
        if self.mapping != "compact" or self.trace_device is not None:
            raise WriteampError("mapping and trace_device are for traces; there is no trace")

    def _refuse_repeat(self) -> None:
        if self.repeat not in (1, "auto"):
            raise WriteampError("repeat is for traces; a synthetic workload has no end")
        object.__setattr__(self, "repeat", "auto")  # 1 says no more


@dataclass(frozen=True)
class PolicySettings(Settings):
    """Policies of the drive: block manager, victim policy and wear leveller."""

    title: ClassVar[str] = "policy"

    manager: SpecLike = setting("single", SpecOf("managers"), "block manager", kind="managers")
    victims: SpecLike | None = setting(
        None, SpecOf("victims"), "victim policy (default: the manager's)", kind="victims"
    )
    wear_leveling: SpecLike | None = setting(
        None, SpecOf("wear_levelers"), "wear leveller (default none)", kind="wear_levelers"
    )


def _seed(help_text: str) -> Any:
    return setting(1, Whole(0), help_text, number="count", panel="run")


def _writes(help_text: str) -> Any:
    return setting(None, POSITIVE_COUNT, help_text, number="count", panel="run", excludes="writes")


def _threads(help_text: str) -> Any:
    return setting(
        None,
        POSITIVE_COUNT,
        help_text,
        number="count",
        panel="run",
        is_speed=True,
        for_runner=True,
    )


def _batch_pages() -> Any:
    return setting(
        DEFAULT_BATCH_PAGES,
        POSITIVE_COUNT,
        "pages handed to the engine at once; changes speed, never the outcome",
        number="count",
        flag=None,
        is_speed=True,
    )


@dataclass(frozen=True)
class SimulationSettings(TimedSettings):
    """Settings of the run of one drive, and of how its write amplification is measured."""

    title: ClassVar[str] = "run"
    verb: ClassVar[str] = "simulate"

    seed: int = _seed("decides every random draw")
    writes: int | None = _writes(
        "host page writes after the initial fill; without it, until steady and precise"
    )
    warmup: Warmup = setting(
        "auto",
        WholeOr("auto", Whole(0)),
        "host page writes to leave out of the measurement, or auto",
        metavar="auto|N",
        panel="run",
    )
    precision: float = setting(
        0.0005,
        BELOW_ONE,
        "relative half width of the run's own noise, at 95% confidence, that ends an automatic run",
        number="ratio",
        panel="run",
    )
    replicas: int = setting(
        3,
        Whole(1, _MOST_COMPARED_REPLICAS),
        "runs from which the interval and steadiness are judged: this one, and others of a "
        "workload with seeds of their own",
        number="count",
        panel="run",
    )
    spread: bool = setting(
        True,
        Flag(),
        "rerun a trace, or a mix with a sequential part, on drives one block smaller and larger",
        number="flag",
        panel="run",
    )
    batch_pages: int = _batch_pages()

    def __post_init__(self) -> None:
        """Check every field."""
        super().__post_init__()
        if self.host_bytes is not None and self.writes is not None:
            raise WriteampError("host_bytes and writes each say how much is written; give only one")


@dataclass(frozen=True)
class ComparisonSettings(Settings):
    """Settings of the runs of a comparison."""

    title: ClassVar[str] = "run"
    verb: ClassVar[str] = "compare"

    replicas: int = setting(
        3,
        Whole(1, _MOST_COMPARED_REPLICAS),
        "runs of each manager, whose seeds follow from --seed",
        number="count",
        panel="run",
    )
    seed: int = _seed("decides every random draw")
    writes: int | None = _writes(
        "host page writes after the initial fill, the second half of them measured; by default 20 "
        "times the logical pages"
    )
    threads: int | None = _threads("runs at the same time; by default one for each processor")
    batch_pages: int = _batch_pages()


@dataclass(frozen=True)
class EnduranceSettings(Settings):
    """Settings of lifetime runs, which wear drives out."""

    title: ClassVar[str] = "run"
    verb: ClassVar[str] = "endurance"

    w_max: int | None = setting(
        None,
        Whole(1, _MOST_ERASES),
        "erases after which a block is worn out (the paper's W_max)",
        required=True,
        number="count",
        panel="run",
    )
    replicas: int = setting(
        10,
        Whole(1, _MOST_REPLICAS),
        "drives to run, for the confidence interval",
        number="count",
        panel="run",
    )
    seed: int = _seed("decides every random draw; those of the other replicas follow from it")
    spare_share: float = setting(
        0.0,
        Number("be at least 0 and below 1", lambda value: 0 <= value < 1, is_ratio=True),
        "share of the blocks that is set aside to replace worn ones; it is taken from the "
        "over-provisioning",
        number="ratio",
        metavar="SHARE",
        panel="capacity",
    )
    threads: int | None = _threads(
        "replicas that run at the same time; by default one for each processor"
    )
    batch_pages: int = _batch_pages()


RunSettings: TypeAlias = SimulationSettings | ComparisonSettings | EnduranceSettings
