"""Run of a command on a real drive, with its counters before and after it."""

from __future__ import annotations

import os
import shlex
import signal
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from writeamp.drives.counters.answer import interval_answer
from writeamp.drives.counters.result import DriveCounters
from writeamp.drives.devices.judging import LeastAmount, least_amount, require_counters, run_checks
from writeamp.drives.devices.reading import check_out, save_documents
from writeamp.drives.devices.source import DriveReading, DriveSource, Settled, settled, source_at
from writeamp.errors import WriteampError
from writeamp.machine.command import Ended, run_command
from writeamp.machine.signals import HeldSignals, held_signals
from writeamp.results.card import Card, Presented
from writeamp.system import require_linux
from writeamp.units.byte_sizes import shown_bytes

_BEFORE, _AFTER = "before.json", "after.json"


@dataclass(frozen=True, eq=False)
class DriveRun(Presented):
    """Write amplification of one command on a real drive.

    Attributes:
        answer: answer of the interval, with the checks of the run.
        command: command that was run.
        status: exit status as in a shell; 128 and more for a signal.
        stopped_by: signal that ended the command or the wait after it, or None.
        elapsed_s: duration of the command, in seconds.
        is_settled: whether the flash was at rest when the drive was last read, `settled_s` after
            the end of the command.
        kernel_bytes: bytes sent to the drive by the kernel; None if unknown.
        command_bytes: bytes that the command and its children wrote to storage, as counted by the
            kernel.
        write_at_least_bytes: bytes that the command should write for bounds within 10% of WA; None
            if it wrote enough.
    """

    answer: DriveCounters
    command: str
    status: int
    stopped_by: signal.Signals | None
    elapsed_s: float
    is_settled: bool
    settled_s: float
    kernel_bytes: int | None
    command_bytes: int
    write_at_least_bytes: int | None

    @property
    def bounds(self) -> tuple[float, float] | None:
        """Bounds of the write amplification, low and high; None if either is unknown."""
        return self.answer.bounds

    @property
    def unfinished(self) -> tuple[str, ...]:
        """The command, if a signal ended it or the wait after it, or an empty tuple."""
        return () if self.stopped_by is None else (self.command,)

    def _records(self) -> Sequence[Mapping[str, Any]]:
        (record,) = self.answer._records()
        return [{**record, **self._of_run()}]

    def _of_run(self) -> dict[str, Any]:
        return {
            "command": self.command,
            "run_exit_status": self.status,
            "interrupted": self.stopped_by is not None,
            "elapsed_s": self.elapsed_s,
            "settled": self.is_settled,
            "settled_s": self.settled_s,
            "kernel_bytes": self.kernel_bytes,
            "command_bytes": self.command_bytes,
            "write_at_least_bytes": self.write_at_least_bytes,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the run as JSON types: the answer of the interval, and the fields of the run."""
        return {**self.answer.to_dict(), **self._of_run()}

    def card(self) -> Card:
        """Return the card of the answer, with facts of the run."""
        card = self.answer.card()
        took = f"{self.elapsed_s:,.4g} s; counters read {self.settled_s:,.4g} s after its end"
        rows = [*card.rows, ("command took", took)]
        if self.write_at_least_bytes is not None:
            amount = shown_bytes(self.write_at_least_bytes)
            rows.append(("write at least", f"{amount} for bounds within 10% of WA"))
        return replace(card, rows=rows)


def run_on(
    drive: str,
    command: Sequence[str],
    *,
    settle_s: float,
    wait_s: float,
    out: Path | None = None,
    stdout: int | None = None,
    report_wait: Callable[[str], None] = lambda _sentence: None,
) -> DriveRun:
    """Run a command, and return its write amplification by the drive's counters.

    The page cache is written out before each reading, as `sync` does.

    Args:
        drive: device, or files that another program updates.
        command: one text for the shell, or a program and its arguments.
        settle_s: time between readings before and after the command, in seconds.
        wait_s: longest wait until the flash is at rest, in seconds.
        out: folder in which both snapshots are saved as soon as they are taken, or None.
        stdout: file descriptor for the command's output; default: this process's own.
        report_wait: called with a sentence about each wait.

    Raises:
        WriteampError: the drive cannot be read, or its counters cannot show WA; the command is then
            not run.
    """
    require_linux("a measured command")
    text = command_of(command)
    source = source_at(drive)
    if out is not None:
        check_out(f"{os.fspath(out)}/")
    with held_signals() as signals:
        earlier = _read(source)
        require_counters(earlier.snapshot, "a command, which was not run")
        report_wait(f"measuring the idle drive for {settle_s:g} s before the command")
        _sleep(signals, settle_s)
        signals.check()
        start = _read(source)
        _keep(start, out, _BEFORE)
        began = time.monotonic()
        ended = run_command(text, {}, signals=signals, check=lambda: None, stdout=stdout)
        elapsed_s = time.monotonic() - began
        report_wait("waiting until the drive's garbage collection has settled")
        os.sync()
        after = settled(
            source, start, every_s=settle_s, most_s=wait_s,
            sleep=lambda seconds: ended.signal is None and _sleep(signals, seconds),
            save=lambda reading: _keep(reading, out, _AFTER),
        )  # fmt: skip
        stopped_by = ended.signal or signals.take()
    return _found(
        text, earlier=earlier, start=start, after=after, ended=ended, stopped_by=stopped_by,
        elapsed_s=elapsed_s,
    )  # fmt: skip


def command_of(command: Sequence[str]) -> str:
    """Return a command as one text for the shell.

    Raises:
        WriteampError: the command is empty.
    """
    text = command[0] if len(command) == 1 else shlex.join(command)
    if not text.strip():
        raise WriteampError("the command is empty; pass it after --, as in -- fio job.fio")
    return text


def _read(source: DriveSource) -> DriveReading:
    os.sync()
    return source.read()


def _keep(reading: DriveReading, out: Path | None, name: str) -> None:
    if out is None:
        return
    try:
        out.mkdir(exist_ok=True)
    except OSError as error:
        raise WriteampError(f"cannot create {str(out)!r}: {error.strerror or error}") from None
    save_documents(reading.documents, out / name)


def _sleep(signals: HeldSignals, seconds: float) -> bool:
    """Sleep; return False if a signal interrupted it."""
    until = time.monotonic() + seconds
    while not signals.came and (left := until - time.monotonic()) > 0:
        signals.wait([], left)
    return not signals.came


def _found(
    text: str,
    *,
    earlier: DriveReading,
    start: DriveReading,
    after: Settled,
    ended: Ended,
    stopped_by: signal.Signals | None,
    elapsed_s: float,
) -> DriveRun:
    answer = interval_answer(start.snapshot, after.reading.snapshot)
    kernel_bytes = start.sent_until(after.reading)
    checks = tuple(
        run_checks(
            answer,
            quiet=interval_answer(earlier.snapshot, start.snapshot),
            kernel_bytes=kernel_bytes,
            command_bytes=ended.written.storage_bytes,
            is_settled=after.is_settled,
        )
    )
    counts = [
        {counter.key: counter.count for counter in each.snapshot.facts.counters}
        for each in (start, after.reading)
    ]
    least = least_amount(answer, has_moved=counts[0] != counts[1])
    return DriveRun(
        answer=_judged(replace(answer, checks=(*answer.checks, *checks)), least),
        command=text,
        status=ended.status,
        stopped_by=stopped_by,
        elapsed_s=elapsed_s,
        is_settled=after.is_settled,
        settled_s=after.seconds,
        kernel_bytes=kernel_bytes,
        command_bytes=ended.written.storage_bytes,
        write_at_least_bytes=None if least is None else least.size_bytes,
    )


def _judged(answer: DriveCounters, least: LeastAmount | None) -> DriveCounters:
    """Return an answer without its WA if a check of the run failed, or its bounds are too wide."""
    reasons = list(_refusals(answer, least))
    if not reasons:
        return answer
    return replace(
        answer, wa=None, wa_low=None, wa_high=None, wa_definition=None, kind="none",
        reason="; ".join(reasons),
    )  # fmt: skip


def _refusals(answer: DriveCounters, least: LeastAmount | None) -> Iterator[str]:
    if least is not None and least.is_refused:
        # Other reasons are left out, as checks of a WA that is not reported are meaningless.
        yield least.sentence
        return
    if answer.wa is None:
        yield answer.reason
    failed = [check for check in answer.checks if check.name == "host against kernel"]
    yield from (f"{check.name}: {check.evidence}" for check in failed if check.verdict == "fail")
