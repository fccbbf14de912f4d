"""Private instance of the kernel's tracer: events, their pages, number of lost events.

An instance is named by the process that made it. If that process was killed, the next recorder
removes the instance, whose buffers would otherwise still be filled.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.machine.bpf import events_folder
from writeamp.machine.dead_mounts import unmount_dead
from writeamp.recorder.ring_buffer import EventLayout, Events, PageLayout, decode

_NAME = re.compile(r"writeamp-(\d+)-(\d+)-\d+")
# A process may record several devices at once.
_numbers = count()
# Field of the start time in /proc/PID/stat, after the name of the process.
_START_FIELD = 19
# Memory of all buffers; each processor has a buffer of its own within these limits.
_BUFFERS_KIB = 64 << 10
_LEAST_KIB, _MOST_KIB = 256, 16 << 10
# Longest page that a kernel gives; a read returns one page.
_PAGE_BYTES = 1 << 16
# Decoding a page takes some 20 times its size in memory.
_PAGES_AT_ONCE = 256
_REMOVAL_TRIES, _BETWEEN_TRIES_S = 50, 0.02
_LOST = re.compile(r"^(?:overrun|commit overrun|dropped events): (\d+)$", re.MULTILINE)


@dataclass(frozen=True)
class RecordedEvent:
    """An event to record: its name, such as "block/block_rq_issue", its fields and its filter."""

    name: str
    fields: tuple[str, ...]
    filter: str


class Tracing:
    """A running instance: the events of all processors since the last call of `read`."""

    def __init__(
        self, folder: Path, page: PageLayout, kinds: Mapping[str, EventLayout], undo: ExitStack
    ) -> None:
        """Open the pages of each processor of the instance in `folder`."""
        self._folder = folder
        self._page = page
        self._kinds = kinds
        self._pipes = []
        for pipe in sorted(folder.glob("per_cpu/cpu*/trace_pipe_raw")):
            handle = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
            undo.callback(os.close, handle)
            self._pipes.append(handle)
        self._waiting: dict[str, list[Events]] = {name: [] for name in kinds}

    @property
    def events(self) -> Path:
        """Folder of the kernel's events."""
        return self._folder / "events"

    def start(self, points: Sequence[RecordedEvent] | None = None) -> None:
        """Start to record these events, or all."""
        for name in self._kinds if points is None else [point.name for point in points]:
            (self._folder / "events" / name / "enable").write_text("1")

    def stop(self) -> None:
        """Stop to record; `read` still returns the events of before."""
        (self._folder / "tracing_on").write_text("0")

    def read(self, until_ns: int | None) -> dict[str, Events]:
        """Return the events since the last call, by name and in the order of time.

        Args:
            until_ns: a time before the call; later events wait for the next call, so that the
                events of all processors are in order across calls. None to return all.
        """
        for handle in self._pipes:
            while pages := list(islice(_pages(handle), _PAGES_AT_ONCE)):
                for name, events in decode(pages, self._page, self._kinds).items():
                    if len(events.time_ns):
                        self._waiting[name].append(events)
        return {name: self._taken(name, until_ns) for name in self._kinds}

    def later(self) -> dict[str, Events]:
        """Return the events that the last call of `read` left for the next one."""
        return {name: self._joined(name) for name in self._kinds}

    def lost(self) -> int:
        """Return how many events the buffers had no room for."""
        stats = (path.read_text() for path in self._folder.glob("per_cpu/cpu*/stats"))
        return sum(int(number) for text in stats for number in _LOST.findall(text))

    def _joined(self, name: str) -> Events:
        waiting = self._waiting[name]
        return Events.joined(waiting) if waiting else Events.none(self._kinds[name].dtype)

    def _taken(self, name: str, until_ns: int | None) -> Events:
        events = self._joined(name)
        end = len(events.time_ns)
        if until_ns is not None:
            end = int(events.time_ns.searchsorted(until_ns))
        self._waiting[name] = [events.take(slice(end, None))] if end < len(events.time_ns) else []
        return events.take(slice(end))


@contextmanager
def tracing(tracepoints: Sequence[RecordedEvent]) -> Iterator[Tracing]:
    """Yield an instance with these events, which is removed at the end; it is not started.

    Instances and mounts that killed recorders left are removed first.

    Raises:
        WriteampError: the kernel has no tracefs, or not one of the events.
    """
    with ExitStack() as undo:
        events = _events(undo)
        remove_dead(events.parent / "instances")
        for tracepoint in tracepoints:
            if not (events / tracepoint.name).is_dir():
                raise WriteampError(
                    f"this kernel has no event {tracepoint.name.replace('/', ':')}; recording "
                    "needs CONFIG_BLK_DEV_IO_TRACE, which enables the block events"
                )
        page = PageLayout.of_text((events / "header_page").read_text())
        folder = events.parent / "instances" / _own_name()
        folder.mkdir()
        undo.callback(_remove, folder)
        # While a file of it is open, no other recorder can remove the instance.
        undo.enter_context((folder / "tracing_on").open())
        kinds = {point.name: _prepared(folder, point) for point in tracepoints}
        (folder / "trace_clock").write_text("mono")
        processors = len(list(folder.glob("per_cpu/cpu*")))
        size_kib = min(max(_BUFFERS_KIB // processors, _LEAST_KIB), _MOST_KIB)
        (folder / "buffer_size_kb").write_text(str(size_kib))
        yield Tracing(folder, page, kinds, undo)


def remove_dead(instances: Path) -> list[str]:
    """Remove the instances of recorders that were killed; return their names.

    The kernel refuses to remove an instance whose files are open, so that a recorder that this
    process cannot see, in another PID namespace, keeps its own.
    """
    removed = []
    for folder in instances.iterdir():
        name = _NAME.fullmatch(folder.name)
        if name is not None and _start_of(int(name[1])) != int(name[2]):
            with suppress(OSError):
                folder.rmdir()
                removed.append(folder.name)
    return removed


def _events(undo: ExitStack) -> Path:
    unmount_dead()
    try:
        return undo.enter_context(events_folder())
    except OSError as error:
        raise WriteampError(
            f"tracefs cannot be mounted ({error.strerror}); recording needs a kernel with "
            "CONFIG_TRACING, and the right to mount"
        ) from None


def _prepared(folder: Path, point: RecordedEvent) -> EventLayout:
    event = folder / "events" / point.name
    layout = EventLayout.of_text((event / "format").read_text(), point.fields)
    if point.filter:
        (event / "filter").write_text(point.filter)
    return layout


def _pages(handle: int) -> Iterator[bytes]:
    """Yield the pages of one processor until its buffer is empty."""
    while True:
        try:
            page = os.read(handle, _PAGE_BYTES)
        except BlockingIOError:
            return
        if not page:
            return
        yield page


def _own_name() -> str:
    pid = os.getpid()
    return f"writeamp-{pid}-{_start_of(pid)}-{next(_numbers)}"


def _start_of(pid: int) -> int | None:
    """Return when a process started, in ticks since the machine's start; None if it has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()
    except OSError:
        return None
    return None if fields[0] in "ZX" else int(fields[_START_FIELD])


def _remove(folder: Path) -> None:
    """Remove an instance; its files must be closed, which may take the kernel a moment."""
    for _ in range(_REMOVAL_TRIES):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(_BETWEEN_TRIES_S)
        else:
            return
