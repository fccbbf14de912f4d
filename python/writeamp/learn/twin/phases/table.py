"""Reading of tables of phases: counters of drives at rows of phases with known loads."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from writeamp.errors import WriteampError, placed
from writeamp.fields.domains import several, shown
from writeamp.learn.twin.phases.counted import GIB, CountedPhase
from writeamp.learn.twin.phases.own_runs import COUNTERS, frame_of_csv, frame_of_runs

if TYPE_CHECKING:
    import polars as pl

_KEYS = ("drive", "run", "phase")
_TEXTS = ("drive", "run", "pattern", "details")
_NUMBERS = ("phase", "span_gib", "host_bytes", "media_bytes")
# Host bytes of a fill, as a share of its span.
_WHOLE = (0.9, 1.1)
# A fill that ends within this share of the largest smaller span ended at the end of the drive.
_AT_END = 0.01
_MOST_DRIVE_WRITES = 100


@dataclass(frozen=True)
class CountedDrive:
    """All phases of one drive, in the order of its runs.

    Attributes:
        name: name of the drive.
        phases: its phases.
        notes: notes on phases that were read otherwise than the table states.
    """

    name: str
    phases: tuple[CountedPhase, ...]
    notes: tuple[str, ...] = ()

    @property
    def capacity_bytes(self) -> float:
        """Size of the drive, the largest span of its phases."""
        return max(phase.span_bytes for phase in self.phases)

    def chosen(self, names: Iterable[str] | None) -> tuple[CountedPhase, ...]:
        """Return the phases with these names, RUN:PHASE, in the order of the table; None for all.

        Raises:
            WriteampError: a name is not that of a phase.
        """
        if names is None:
            return self.phases
        wanted = several(names)
        unknown = [name for name in wanted if name not in {phase.name for phase in self.phases}]
        if unknown:
            valid = ", ".join(phase.name for phase in self.phases)
            raise WriteampError(
                f"{self.name} has no phase {shown(unknown[0])}; give RUN:PHASE of: {valid}"
            )
        return tuple(phase for phase in self.phases if phase.name in wanted)


def read_drives(path: str | Path, readings: str | Path | None = None) -> tuple[CountedDrive, ...]:
    """Return the drives in a table of phases.

    A CSV file has a row for each reading of the counters, with the columns `drive`, `run`, `phase`
    (place in the run), `pattern`, `details`, `span_gib`, `host_bytes` (since the start of the
    phase) and `media_bytes`. Other columns are ignored. A TOML file lists the phases of one drive,
    and `readings` is a CSV file of its counters; see `own_runs`.

    Returns:
        The drives, each with its `phases` in the order of the table.

    Raises:
        WriteampError: a file cannot be read, a column is missing, a counter falls, or a value or
            pattern is not valid.
    """
    import polars as pl  # noqa: PLC0415 (slow)

    path = Path(path)
    if path.suffix == ".toml":
        if readings is None:
            raise WriteampError(
                f"{path} lists phases without counters; give the file of their readings, too "
                "(--readings FILE.csv)"
            )
        frame = frame_of_runs(path, Path(readings))
    elif readings is not None:
        raise WriteampError(
            f"--readings belongs to phases in a TOML file; {path} has its own host_bytes and "
            "media_bytes"
        )
    else:
        frame = frame_of_csv(path, (*_TEXTS, *_NUMBERS))
    frame = _with_numbers(frame, str(path if readings is None else readings))
    if readings is not None:
        # Counters continue from phase to phase; the first row is from before the first write.
        frame = frame.with_columns(
            pl.col(name) - pl.col(name).first().over(_KEYS) for name in COUNTERS
        )
    phases: dict[str, list[CountedPhase]] = {}
    for key, rows in frame.group_by(_KEYS, maintain_order=True):
        try:
            phase = _phase_of(rows)
        except WriteampError as error:
            raise placed(f"{path}: {key[1]}:{key[2]:g} of {key[0]}", error) from None
        phases.setdefault(str(key[0]), []).append(phase)
    try:
        return tuple(_drive_of(name, in_order(of_drive)) for name, of_drive in phases.items())
    except WriteampError as error:
        raise placed(str(path), error) from None


def in_order(phases: Sequence[CountedPhase]) -> list[CountedPhase]:
    """Return phases in the order of their runs, and of their numbers within a run."""
    runs = list(dict.fromkeys(phase.run for phase in phases))
    return sorted(phases, key=lambda phase: (runs.index(phase.run), phase.number))


def chosen_drive(drives: Sequence[CountedDrive], name: str | None) -> CountedDrive:
    """Return the drive with this name, or the only one.

    Raises:
        WriteampError: no drive has the name, or there are several and no name is given.
    """
    by_name = {drive.name: drive for drive in drives}
    if name is None and len(drives) > 1:
        raise WriteampError(
            f"the table has {len(drives)} drives; choose one with --drive: {', '.join(by_name)}"
        )
    if name is not None and name not in by_name:
        raise WriteampError(
            f"--drive is {shown(name)}; it must be a drive of the table: {', '.join(by_name)}"
        )
    return drives[0] if name is None else by_name[name]


def _with_numbers(frame: pl.DataFrame, where: str) -> pl.DataFrame:
    import polars as pl  # noqa: PLC0415 (slow)

    parsed = frame.with_columns(
        pl.col(name).str.strip_chars().cast(pl.Float64, strict=False) for name in _NUMBERS
    ).with_columns(pl.col(name).fill_null("").str.strip_chars() for name in _TEXTS)
    for name in _NUMBERS:
        is_good = parsed[name].is_finite().fill_null(value=False) & (parsed[name] >= 0)
        if name == "phase":
            is_good &= parsed[name] == parsed[name].floor()
        if not is_good.all():
            row = int((~is_good).arg_max() or 0)
            kind = "a whole number" if name == "phase" else "a number"
            raise WriteampError(
                f"{where}: {name} is {shown(frame[name][row])} in line {row + 2}; it must be "
                f"{kind}, 0 or more"
            )
    return parsed


def _phase_of(rows: pl.DataFrame) -> CountedPhase:
    """Return the phase of these rows.

    Raises:
        WriteampError: a value that must be constant changes, a counter falls, or the load is not
            valid.
    """
    for name in ("pattern", "details", "span_gib"):
        if rows[name].n_unique() > 1:
            raise WriteampError(f"{name} must be the same in all rows of a phase")
    first: dict[str, Any] = rows.row(0, named=True)
    host, media = (rows[name].to_numpy() for name in ("host_bytes", "media_bytes"))
    if not host[-1] > 0:
        raise WriteampError("the host wrote nothing: host_bytes is 0 in the last row")
    for name, counter in (("host_bytes", host), ("media_bytes", media)):
        falls = np.flatnonzero(np.diff(counter) < 0)
        if falls.size:
            at = int(falls[0])
            raise WriteampError(
                f"{name} falls from {counter[at]:.0f} to {counter[at + 1]:.0f}; a counter must not "
                "fall within a phase"
            )
    if not first["span_gib"] > 0:
        raise WriteampError("span_gib is 0; it must be the size of the written part")
    rises = np.concatenate(([True], np.diff(host) > 0))
    phase = CountedPhase(
        first["drive"],
        first["run"],
        int(first["phase"]),
        first["pattern"],
        first["details"],
        first["span_gib"] * GIB,
        host[rises],
        media[rises],
    )
    assert phase.load  # raises an error if the pattern is not valid
    return phase


def _drive_of(name: str, phases: Sequence[CountedPhase]) -> CountedDrive:
    """Return a drive with its phases; a fill that asks for more than the drive ends at its end.

    Raises:
        WriteampError: a fill does not write its span once, or a phase is too long.
    """
    spans = {phase.span_bytes for phase in phases}
    read: list[CountedPhase] = []
    notes = []
    cut: dict[float, float] = {}
    run = None
    for phase in phases:
        if phase.run != run or phase.load.is_fill:
            run, cut = phase.run, {}
        written = float(phase.host_bytes[-1])
        if phase.load.is_fill and not _WHOLE[0] <= written / phase.span_bytes <= _WHOLE[1]:
            # The drive ends where the largest smaller span does.
            end = max((span for span in spans if span < phase.span_bytes), default=math.inf)
            passes = f"wrote {written / GIB:.1f} GiB of {phase.span_bytes / GIB:.1f} GiB"
            if abs(written / end - 1) > _AT_END:
                raise WriteampError(
                    f"the fill {phase.name} {passes}; it must write each page of its span once"
                )
            notes.append(
                f"{phase.name} {passes}, where the drive ends: read as a fill of all of it"
            )
            cut = {phase.span_bytes: end}
        read.append(replace(phase, span_bytes=cut.get(phase.span_bytes, phase.span_bytes)))
    drive = CountedDrive(name, tuple(read), tuple(notes))
    for phase in read:
        if phase.host_bytes[-1] > _MOST_DRIVE_WRITES * drive.capacity_bytes:
            raise WriteampError(
                f"{phase.name} has more than {_MOST_DRIVE_WRITES} drive writes, the limit; is "
                "span_gib in GiB, and host_bytes in bytes?"
            )
    return drive
