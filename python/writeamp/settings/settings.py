"""Settings of an experiment; each is declared once, with default, domain and help.

Keyword arguments of the library, options of the command line and keys of experiment files are made
from these fields.
"""

from __future__ import annotations

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
    shown,
)
from writeamp.fields.setting import Settings, setting
from writeamp.files.inputs import STANDARD_INPUT
from writeamp.registry.specs import Spec, SpecLike, SpecOf
from writeamp.settings.precondition import CHOICES, Precondition, PreconditionText
from writeamp.settings.timed import TimedSettings
from writeamp.traces.settings import DIVISIONS, Division, action_setting, format_setting
from writeamp.traces.words import HINT, MAPPINGS, NO_TAG, Mapping

Warmup: TypeAlias = int | Literal["auto"]
Repeat: TypeAlias = int | Literal["auto"]
# Trace: a path, a `Trace`, a `PageTrace`, or data of any library. The classes are not imported
# here, because they need NumPy and Polars, which would slow down `--help`.
TraceLike: TypeAlias = str | os.PathLike[str] | Any

# Maximum number of erases. The engine counts erases of a block in 32 bits, and the largest value
# means "no limit".
_MOST_ERASES = 2**32 - 2
_MOST_REPLICAS = 2**32 - 1
_MOST_COMPARED_REPLICAS = 10_000


class HeldTrace:
    """Trace in memory, which is compared by the digest of its contents."""

    def __init__(self, trace: traces.Trace | traces.PageTrace | traces.TraceData) -> None:
        """Store a trace, or data in memory that describe one."""
        self.trace = trace

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the contents: requests and devices, or ranges of pages."""
        if isinstance(self.trace, traces.TraceData | traces.PageTrace):
            return self.trace.digest
        import hashlib  # noqa: PLC0415 (slow; not needed for help)

        import numpy as np  # noqa: PLC0415 (slow)

        digest = hashlib.sha256()
        digest.update(f"requests {self.trace.devices}".encode())
        if self.trace.recorded is not None:
            digest.update(self.trace.recorded.to_text().encode())
        # Runs do not depend on the origins of requests, except for hints.
        hints = [name for name in self.trace.origins if name == HINT]
        for series in self.trace.requests.select(*traces.SCHEMA, *hints).get_columns():
            column = series.to_physical().fill_null(NO_TAG).to_numpy()
            little_endian = column.astype(column.dtype.newbyteorder("<"))
            digest.update(np.ascontiguousarray(little_endian).tobytes())
        return f"sha256:{digest.hexdigest()}"

    def __eq__(self, other: object) -> bool:
        """Return whether both traces have the same contents."""
        return isinstance(other, HeldTrace) and self.digest == other.digest

    def __hash__(self) -> int:
        """Return the hash of the contents."""
        return hash(self.digest)

    def __repr__(self) -> str:
        """Return the digest in brackets."""
        return f"<trace {self.digest}>"


def _held(trace: Any) -> str | HeldTrace | None:
    """Return a trace as it is stored: the path of a file, or a trace in memory."""
    if trace is None or isinstance(trace, HeldTrace):
        return trace
    if isinstance(trace, str):
        return str(trace)
    if isinstance(trace, os.PathLike):
        from writeamp.traces.source import file_path  # noqa: PLC0415 (slow)

        file_path(trace)  # checks the path
        return str(os.fspath(trace))
    if isinstance(trace, traces.Trace | traces.PageTrace | traces.TraceData):
        return HeldTrace(trace)
    return HeldTrace(traces.TraceData(trace))


@dataclass(frozen=True)
class LoadSettings(Settings):
    """Load of the host: a synthetic workload or a trace, and the precondition of the drive."""

    title: ClassVar[str] = "load"
    # Names of settings that need a trace.
    OF_TRACES: ClassVar = (
        *("trace_format", "action", "repeat", "mapping", "trace_device", "hints_by"),
    )

    workload: Spec | None = setting(
        None,
        SpecOf("workloads"),
        "synthetic workload (default uniform)",
        kind="workloads",
    )
    trace: str | Path | HeldTrace | None = setting(
        None,
        None,
        "replay a block trace instead of a workload: a file, or - for standard input",
        number="path",
        panel="trace",
        takes="TraceLike",
    )
    fio: str | Path | None = setting(
        None,
        None,
        "run the jobs of a fio job file instead of a workload",
        number="path",
        is_speed=True,
    )
    fio_run: str | None = setting(
        None,
        None,
        "run the jobs of a command line of fio instead of a workload; fio is not executed",
        metavar="CMD",
        is_speed=True,
    )
    trace_format: str | None = format_setting(panel="trace")
    action: str | None = action_setting(panel="trace")
    repeat: Repeat = setting(
        "auto",
        WholeOr("auto", POSITIVE_COUNT),
        "replay the trace, or run the fio jobs, N times; auto: a trace once, but a short trace "
        "until the WA of its passes agrees, and jobs until WA is steady",
        metavar="auto|N",
        not_for=("endurance",),
        panel="trace",
    )
    mapping: Mapping = setting(
        "compact",
        OneOf(MAPPINGS),
        "compact: the pages that the trace writes (in timed runs, writes or reads) are numbered "
        "without gaps and are the logical space; as-is: addresses are kept",
        choices=MAPPINGS,
        panel="trace",
    )
    trace_device: str | None = setting(
        None, None, "replay only this device of the trace", panel="trace"
    )
    hints_by: str | None = setting(
        None,
        Division(),
        "give each write a placement hint: a number for its process, pid, file, directory or "
        "device, or range:N, N equal ranges of the addresses; default: the trace's own hints",
        choices=DIVISIONS,
        metavar="WHAT",
        is_new=True,
        panel="trace",
    )
    utilization: float = setting(
        1.0,
        SHARE,
        "share of the logical pages that the workload uses; the others are never written",
        number="ratio",
        panel="run",
    )
    precondition: str = setting(
        "full",
        PreconditionText(),
        "state of the drive at the start; these writes are not counted: full (each page written "
        "once, in order), workload (only the pages that the host will write), none, random (full, "
        "then random writes until WA is steady), random:N (full, then N drive writes of random "
        "writes) or aged:TRACE (full, then one pass over that trace)",
        choices=CHOICES,
        metavar="STATE",
        panel="run",
    )

    def __post_init__(self) -> None:
        """Check every field, and reject fields that contradict each other."""
        object.__setattr__(self, "trace", _held(self.trace))
        super().__post_init__()
        self._read_fio()
        if self.trace is None:
            self._without_trace()
            return
        if self.trace == STANDARD_INPUT == Precondition.of(self.precondition).trace:
            raise WriteampError(
                "the trace and the precondition are both - (standard input); give a file for one "
                "of "
                "them"
            )
        if self.workload is not None:
            raise WriteampError("workload and trace exclude each other; give only one")
        if self.utilization != 1:
            raise WriteampError("utilization is for synthetic workloads; leave it out with a trace")
        reading = (self.trace_format, self.action) != (None, None)
        if isinstance(self.trace, HeldTrace) and reading:
            self._state_columns(self.trace)

    def _read_fio(self) -> None:
        """Make the workload of the fio jobs, unless it was made before."""
        if self.fio is None and self.fio_run is None:
            return
        is_made = isinstance(self.workload, Spec) and self.workload.name == "fio"
        others = (self.fio, self.fio_run, self.trace, None if is_made else self.workload)
        if sum(load is not None for load in others) > 1:
            raise WriteampError(
                "fio, fio_run, workload and trace exclude each other; give only one"
            )
        if self.fio is not None:
            from writeamp.traces.source import file_path  # noqa: PLC0415 (slow)

            if not isinstance(self.fio, str | os.PathLike):
                raise WriteampError(
                    f"fio is {shown(self.fio)}; it must be the path of a fio job file"
                )
            file_path(self.fio)  # checks the path
            object.__setattr__(self, "fio", str(os.fspath(self.fio)))
        if not isinstance(self.fio_run, str | None):
            raise WriteampError(
                f"fio_run is {shown(self.fio_run)}; it must be a command line of fio"
            )
        if not is_made:
            runs = None if self.repeat == "auto" else self.repeat
            from writeamp.fio.workload import fio_load  # noqa: PLC0415 (slow)

            load = fio_load(self.fio, self.fio_run, runs)
            assert load is not None
            object.__setattr__(self, "workload", Spec.of("workloads", load.text))

    @property
    def fio_name(self) -> str | None:
        """Name of the fio jobs for results, or None."""
        if self.fio is not None:
            return "standard input" if self.fio == STANDARD_INPUT else Path(self.fio).name
        return None if self.fio_run is None else "fio"

    def _state_columns(self, held: HeldTrace) -> None:
        """Apply the format to data in memory; reject it for a trace that has been read already."""
        if not isinstance(held.trace, traces.TraceData):
            raise WriteampError(
                "trace_format and action do not apply to a trace that is already read; leave them "
                "out"
            )
        if self.action is not None:
            raise WriteampError("action is for blkparse files; data in memory have no actions")
        if held.trace.format != self.trace_format:
            data = traces.TraceData(held.trace.data, self.trace_format)
            object.__setattr__(self, "trace", HeldTrace(data))

    @property
    def workloads(self) -> tuple[Spec, ...]:
        """Tuple with the workload, or empty if there is none; a comparison may have several."""
        return () if self.workload is None else (self.workload,)

    @property
    def traces(self) -> tuple[str | HeldTrace, ...]:
        """Tuple with the trace, or empty if there is none; a comparison may have several."""
        assert not isinstance(self.trace, Path)  # checked settings have paths as text
        return () if self.trace is None else (self.trace,)

    def dropped_by(self, changes: dict[str, Any]) -> dict[str, Any]:
        """Return defaults for the settings that do not apply to the new load in `changes`."""
        dropped: tuple[str, ...] = ()
        if changes.get("workload") is not None:
            dropped = ("trace", "fio", "fio_run", *self.OF_TRACES)
        elif changes.get("trace") is not None:
            dropped = (
                "workload",
                "fio",
                "fio_run",
                "utilization",
                "trace_format",
                "action",
                "trace_device",
            )
        return {field.name: field.default for field in fields(self) if field.name in dropped}

    def _without_trace(self) -> None:
        if Precondition.of(self.precondition).trace is not None:
            # The other settings of traces apply to the trace that ages the drive, so only `repeat`
            # is rejected.
            self._reject_repeat()
            return
        if (self.trace_format, self.action) != (None, None):
            raise WriteampError(
                "--format (trace_format) and --action need a trace; give --trace, or leave them out"
            )
        self._reject_repeat()
        if self.mapping != "compact" or self.trace_device is not None:
            raise WriteampError(
                "mapping and trace_device need a trace; give one, or leave them out"
            )
        if self.hints_by is not None:
            raise WriteampError(
                "hints_by needs a trace; the groups of a synthetic workload are its hints"
            )

    def _reject_repeat(self) -> None:
        if self.fio_name is not None:
            return
        if self.repeat not in (1, "auto"):
            raise WriteampError(
                "repeat is for traces and fio jobs; leave it out with a synthetic workload"
            )
        object.__setattr__(self, "repeat", "auto")  # repeat 1 has the same effect as auto


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
        "pages per call of the engine; affects speed, never the result",
        number="count",
        flag=None,
        is_speed=True,
    )


@dataclass(frozen=True)
class SimulationSettings(TimedSettings):
    """Settings of the run of a drive, and of the measurement of its write amplification."""

    title: ClassVar[str] = "run"
    verb: ClassVar[str] = "simulate"

    seed: int = _seed("seed of all random numbers of a run")
    writes: int | None = _writes(
        "host pages to write after the initial fill; by default until WA is steady and precise"
    )
    warmup: Warmup = setting(
        "auto",
        WholeOr("auto", Whole(0)),
        "host pages to write before WA is measured; auto: until WA has settled",
        metavar="auto|N",
        panel="run",
    )
    precision: float = setting(
        0.0005,
        BELOW_ONE,
        "without --writes, end a steady run when the half width of WA's 95% interval is at most "
        "this share of WA",
        number="ratio",
        panel="run",
    )
    replicas: int = setting(
        3,
        Whole(1, _MOST_COMPARED_REPLICAS),
        "runs for the confidence interval and the test of steadiness; runs of a workload have "
        "different seeds",
        number="count",
        panel="run",
    )
    spread: bool = setting(
        True,
        Flag(),
        "also run a trace, or a mix with a sequential part, on drives one block per plane "
        "smaller and larger, and report how much WA changes",
        number="flag",
        panel="run",
    )
    batch_pages: int = _batch_pages()

    def __post_init__(self) -> None:
        """Check every field."""
        super().__post_init__()
        if self.host_bytes is not None and self.writes is not None:
            raise WriteampError("host_bytes and writes exclude each other; give only one")


@dataclass(frozen=True)
class ComparisonSettings(Settings):
    """Settings of the runs of a comparison."""

    title: ClassVar[str] = "run"
    verb: ClassVar[str] = "compare"

    replicas: int = setting(
        3,
        Whole(1, _MOST_COMPARED_REPLICAS),
        "runs of each row of the table; their seeds are derived from --seed",
        number="count",
        panel="run",
    )
    seed: int = _seed("seed of all random numbers")
    writes: int | None = _writes(
        "host pages to write after the initial fill; the second half is measured (by default 20 "
        "times the logical pages)"
    )
    threads: int | None = _threads("parallel runs; by default one for each processor")
    batch_pages: int = _batch_pages()


@dataclass(frozen=True)
class EnduranceSettings(Settings):
    """Settings of runs that wear drives out."""

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
    seed: int = _seed("seed of all random numbers, from which those of the replicas are derived")
    spare_share: float = setting(
        0.0,
        Number("be at least 0 and below 1", lambda value: 0 <= value < 1, is_ratio=True),
        "share of the blocks reserved to replace worn blocks; it reduces the over-provisioning",
        number="ratio",
        metavar="SHARE",
        panel="capacity",
    )
    threads: int | None = _threads("parallel replicas; by default one for each processor")
    batch_pages: int = _batch_pages()


RunSettings: TypeAlias = SimulationSettings | ComparisonSettings | EnduranceSettings
