"""Result of a recording: what wrote how much, and how complete the trace is."""

from __future__ import annotations

import shlex
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from writeamp.errors import WriteampError
from writeamp.plots.figures.tags import written_bytes
from writeamp.plots.spec import BarChart
from writeamp.recorder.rows import Counts, Totals
from writeamp.results.card import Card
from writeamp.results.drawn import Drawn
from writeamp.results.numbers import percent_in_words, plural
from writeamp.text import Caution
from writeamp.traces.trace import OPERATIONS
from writeamp.units.byte_sizes import shown_bytes
from writeamp.units.durations import shown_duration

MOST_LOST_SHARE = 0.001
"""Share of lost events above which a recording fails."""

# Written bytes by the kernel's statistics and not recorded, above which a warning is shown. The
# statistics count requests that are answered, so the first and last may be in only one of both.
_MOST_MISSING, _MOST_MISSING_BYTES = 0.01, 1 << 20
# Written bytes of two blocks of 128 pages; a drive that is simulated has at least four.
_LEAST_SIMULATED_BYTES = 1 << 20
_MOST_SHOWN = 10
_FEWEST_EVENTS = 10_000
_MOST_IN_JSON = 100


@dataclass(frozen=True, eq=False)
class RecordResult(Drawn):
    """Result of `record`.

    Attributes:
        path: path of the trace.
        device: name of the device in the trace.
        counts: requests and bytes by operation, process and file, also those of removed parts.
        has_files: whether files were recorded.
        duration_s: duration of the recording in seconds.
        events, lost_events: events of the kernel, and those its buffers had no room for.
        removed_requests: rows of parts that were removed to stay below the size limit.
        processor_s: processor time of the recorder in seconds.
        statistics_bytes: bytes written to the device by the kernel's statistics, meanwhile; None if
            the device was removed.
        zeroing_requests, zeroed_bytes: requests that zero a range; they are writes in the trace.
        left_out: commands that are not in the trace, such as zone commands, by kind.
        run: the command, or None.
        run_exit_status: its exit status as in a shell; None without one.
        interrupted_by: signal that ended the command, or None.
        remarks: sentences about what could not be recorded.
    """

    path: str
    device: str
    counts: Counts
    has_files: bool
    duration_s: float
    events: int
    lost_events: int
    removed_requests: int
    processor_s: float
    statistics_bytes: int | None
    zeroing_requests: int
    zeroed_bytes: int
    left_out: dict[str, int]
    run: str | None = None
    run_exit_status: int | None = None
    interrupted_by: signal.Signals | None = None
    remarks: Sequence[str] = ()

    @property
    def requests(self) -> int:
        """Requests of the recording, before requests of several files are split."""
        return self.counts.requests.total()

    @property
    def trace_requests(self) -> int:
        """Rows of the trace, of which each is a request for commands that read the trace."""
        return self.requests + self.counts.split_requests - self.removed_requests

    @property
    def host_bytes(self) -> int:
        """Bytes that the recorded requests wrote."""
        return self.counts.bytes["write"]

    @property
    def lost_share(self) -> float:
        """Lost events ÷ all events; 0 without events."""
        total = self.events + self.lost_events
        return self.lost_events / total if total else 0.0

    @property
    def processor_s_per_million_events(self) -> float | None:
        """Processor time per million events; None if the start-up dominates it."""
        return self.processor_s / self.events * 1e6 if self.events >= _FEWEST_EVENTS else None

    @property
    def unknown_share(self) -> dict[str, float | None]:
        """Share of the written bytes without a process and without a file; None if not recorded."""
        return {
            "process": self._share(self.counts.processes.unknown_bytes),
            "file": self._share(self.counts.files.unknown_bytes) if self.has_files else None,
        }

    @property
    def failure(self) -> str | None:
        """Sentence on too many lost events, or None."""
        if self.lost_share <= MOST_LOST_SHARE:
            return None
        return (
            f"{self.lost_events:,} of {self.events + self.lost_events:,} events were lost "
            f"({self.lost_share:.2%}); at most {MOST_LOST_SHARE:.1%} may be. Accept the trace with "
            "--allow-loss"
        )

    @property
    def notes(self) -> list[str]:
        """Sentences about lost, removed and omitted requests; warnings come first."""
        counts = self.counts
        notes: list[str] = []
        if self.lost_events:
            lost = f"{self.lost_events:,} events were lost ({self.lost_share:.2%})"
            notes.append(Caution(lost))
        if (missing := self._missing()) is not None:
            notes.append(Caution(missing))
        notes += self.remarks
        if self.removed_requests:
            notes.append(
                f"the oldest {self.removed_requests:,} rows were removed to stay below --max-size; "
                "the counts include them"
            )
        if counts.own_requests:
            notes.append(
                f"{counts.own_requests:,} requests of the recorder itself are left out "
                f"({shown_bytes(counts.own_bytes)})"
            )
        if self.zeroing_requests:
            notes.append(
                f"{plural(self.zeroing_requests, 'request')} to zero a range "
                f"({shown_bytes(self.zeroed_bytes)}) are writes in the trace, as in the kernel's "
                "statistics; a drive may treat them as TRIM"
            )
        if counts.split_requests:
            notes.append(
                f"the trace has {plural(counts.split_requests, 'row')} more than requests, as a "
                "request that covers several files has a row for each"
            )
        return [
            *notes,
            *(f"{count:,} {kind} are left out" for kind, count in self.left_out.items() if count),
        ]

    @property
    def next_command(self) -> str | None:
        """Command that computes the WA by process or file; None if too little was written."""
        if self.host_bytes < _LEAST_SIMULATED_BYTES:
            return None
        by = "file" if self.has_files else "process"
        return shlex.join(["writeamp", "blame", self.path, "--by", by])

    def to_dict(self) -> dict[str, Any]:
        """Return the result as JSON types, with the keys of `writeamp trace record --json`."""
        counts = self.counts
        return {
            "path": self.path,
            "device": self.device,
            "duration_s": self.duration_s,
            "requests": self.requests,
            "trace_requests": self.trace_requests,
            "requests_by_op": {op: counts.requests[op] for op in OPERATIONS},
            "bytes_by_op": {op: counts.bytes[op] for op in OPERATIONS if op != "flush"},
            "written_bytes": self.host_bytes,
            "statistics_written_bytes": self.statistics_bytes,
            "processes": _ranked(counts.processes, self.host_bytes),
            "files": _ranked(counts.files, self.host_bytes) if self.has_files else None,
            "unknown_share": self.unknown_share,
            "own_requests": counts.own_requests,
            "own_bytes": counts.own_bytes,
            "split_requests": counts.split_requests,
            "removed_requests": self.removed_requests,
            "zeroing_requests": self.zeroing_requests,
            "zeroed_bytes": self.zeroed_bytes,
            "left_out": self.left_out,
            "events": self.events,
            "lost_events": self.lost_events,
            "lost_share": self.lost_share,
            "processor_s": self.processor_s,
            "processor_s_per_million_events": self.processor_s_per_million_events,
            "run": self.run,
            "run_exit_status": self.run_exit_status,
            "interrupted": self.interrupted_by is not None,
            "notes": self.notes,
            "next": self.next_command,
        }

    def card(self) -> Card:
        """Return the counts, and the processes and files that wrote most."""
        counts = self.counts
        by_op = ", ".join(
            f"{counts.requests[op]:,} {op}" for op in OPERATIONS if counts.requests[op]
        )
        rows = [
            ("trace", self.path),
            ("recorded for", shown_duration(self.duration_s)),
            ("requests", by_op or "none"),
            ("written", shown_bytes(self.host_bytes)),
            ("lost events", f"{self.lost_events:,} of {self.events + self.lost_events:,}"),
        ]
        kinds = [("process", counts.processes)]
        if self.has_files:
            kinds.append(("file", counts.files))
        tables = [_table(*kind, self.host_bytes) for kind in kinds if self.host_bytes]
        return Card(f"Recording of {self.device}", rows, parts=tables, notes=self.notes)

    def figure(self) -> BarChart:
        """Return bars of the written bytes of the processes and files that wrote most.

        Raises:
            WriteampError: nothing was written.
        """
        written = self.counts.bytes["write"]
        if not written:
            raise WriteampError(f"nothing was written to {self.device}, so there is no picture")
        kinds = {"process": _most(self.counts.processes)}
        if self.has_files:
            kinds["file"] = _most(self.counts.files)
        return written_bytes(
            kinds,
            title=f"Written bytes of {self.device}",
            subtitle=f"{shown_bytes(written)} in {shown_duration(self.duration_s)}",
        )

    def _missing(self) -> str | None:
        """Return a sentence if the kernel's statistics have more written bytes, or None."""
        recorded = self.host_bytes + self.counts.own_written_bytes
        # None if the device was removed; 0 also if its driver has no statistics.
        written = self.statistics_bytes or 0
        if written - recorded <= max(_MOST_MISSING * written, _MOST_MISSING_BYTES):
            return None
        return (
            f"{shown_bytes(recorded)} of the {shown_bytes(written)} that were written by the "
            "kernel's statistics were recorded; the trace lacks requests"
        )

    def _share(self, count: int) -> float | None:
        written = self.host_bytes
        return count / written if written else None


def _ranked(totals: Totals, written: int) -> list[dict[str, Any]]:
    """Return the names that wrote most, and their shares of the written bytes."""
    return [
        {"name": name, "written_bytes": count, "share": count / written}
        for name, count in totals.bytes.most_common(_MOST_IN_JSON)
    ]


def _most(totals: Totals) -> list[tuple[str, int]]:
    """Return the names that wrote most with their bytes; then the others and the unknown ones."""
    ranked = totals.bytes.most_common(_MOST_SHOWN)
    others = totals.bytes.total() + totals.others_bytes - sum(count for _, count in ranked)
    more = [("others", others), ("unknown", totals.unknown_bytes)]
    return [*ranked, *(row for row in more if row[1])]


def _table(kind: str, totals: Totals, written: int) -> Card:
    rows = [
        (name, shown_bytes(count), percent_in_words(count / written))
        for name, count in _most(totals)
    ]
    return Card(f"Written bytes by {kind}", rows, columns=(kind, ">written", ">share"))
