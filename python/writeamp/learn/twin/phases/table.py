"""Reading of tables of phases: counters of drives at rows of phases with known loads."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from writeamp.errors import WriteampError, placed
from writeamp.fields.domains import shown
from writeamp.learn.twin.phases.counted import GIB, CountedPhase
from writeamp.learn.twin.phases.own_runs import frame_of_csv, frame_of_runs

if TYPE_CHECKING:
    import polars as pl

_KEYS = ("drive", "run", "phase")
_TEXTS = ("drive", "run", "pattern", "details")
_NUMBERS = ("phase", "span_gib", "host_bytes", "media_bytes")
# A fill whose host bytes are below this share of its span ended at the end of the drive.
_CUT_BELOW = 0.9


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
        wanted = list(names)
        unknown = [name for name in wanted if name not in {phase.name for phase in self.phases}]
        if unknown:
            valid = ", ".join(phase.name for phase in self.phases)
            raise WriteampError(
                f"{self.name} has no phase {shown(unknown[0])}; give RUN:PHASE of: {valid}"
            )
        return tuple(phase for phase in self.phases if phase.name in wanted)


def read_drives(path: Path, readings: Path | None = None) -> tuple[CountedDrive, ...]:
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
    if path.suffix == ".toml":
        if readings is None:
            raise WriteampError(
                f"{path} lists phases without counters; give the file of their readings, too "
                "(--readings FILE.csv)"
            )
        frame = frame_of_runs(path, readings)
    elif readings is not None:
        raise WriteampError(
            f"--readings belongs to phases in a TOML file; {path} has its own host_bytes and "
            "media_bytes"
        )
    else:
        frame = frame_of_csv(path, (*_TEXTS, *_NUMBERS))
    frame = _with_numbers(frame, str(path if readings is None else readings))
    phases: dict[str, list[CountedPhase]] = {}
    notes: dict[str, list[str]] = {}
    for key, rows in frame.group_by(_KEYS, maintain_order=True):
        drive = str(key[0])
        try:
            phase, note = _whole(_phase_of(rows))
        except WriteampError as error:
            raise placed(f"{path}: {key[1]}:{key[2]} of {drive}", error) from None
        phases.setdefault(drive, []).append(phase)
        notes.setdefault(drive, []).extend(note)
    return tuple(
        CountedDrive(name, tuple(of_drive), tuple(notes[name])) for name, of_drive in phases.items()
    )


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
        is_bad = ~(parsed[name].is_finite().fill_null(value=False) & (parsed[name] >= 0))
        if is_bad.any():
            row = int(is_bad.arg_max() or 0)
            raise WriteampError(
                f"{where}: {name} is {shown(frame[name][row])} in line {row + 2}; it must be a "
                "number, 0 or more"
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


def _whole(phase: CountedPhase) -> tuple[CountedPhase, list[str]]:
    """Return a phase whose span is at most the drive, and a note if it asked for more."""
    written = float(phase.host_bytes[-1])
    if not phase.load.is_fill or written >= _CUT_BELOW * phase.span_bytes:
        return phase, []
    note = (
        f"{phase.name} asks for a span of {phase.span_bytes / GIB:.1f} GiB and ends after "
        f"{written / GIB:.1f} GiB: read as a fill of the whole drive"
    )
    return replace(phase, span_bytes=written), [note]
