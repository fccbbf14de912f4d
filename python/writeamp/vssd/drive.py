"""Running virtual drive: start of its layers, reading of its counts, and shutdown."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field
from pathlib import Path

from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.files.temporary import temporary_folder
from writeamp.machine.dead_mounts import unmount_dead
from writeamp.machine.programs import require, write_private
from writeamp.machine.signals import HeldSignals
from writeamp.runs.preconditioning import Ageing
from writeamp.vssd.control import Document
from writeamp.vssd.counters import Refresher
from writeamp.vssd.device_recording import DeviceRecording, without_origins
from writeamp.vssd.layers import Application, Layers
from writeamp.vssd.metrics import Exporter
from writeamp.vssd.mount import Mounted, check_mount, mount_drive
from writeamp.vssd.recorder import Recorder, pins, recording
from writeamp.vssd.result import ServeResult
from writeamp.vssd.server import Server, start_server
from writeamp.vssd.settings import FLASH_SUFFIX
from writeamp.vssd.specification import Specification, aged_state, plugin_config
from writeamp.vssd.write_counter import WriteCounter, write_counter

_SOCKET = "nbd.sock"


@dataclass
class Drive:
    """Virtual drive that is served, optionally with a file system; `begin` starts counting."""

    specification: Specification
    server: Server
    ageing: Ageing | None
    recorder: Recorder
    remarks: tuple[str, ...]
    is_kept: bool
    last_remarks: list[str]
    """Errors during the shutdown, and missing data of a recording."""
    mounted: Mounted | None = None
    metrics_url: str | None = None
    """URL of its Prometheus metrics with the actual port; None if there are no metrics."""
    began: Document = field(default_factory=dict)
    _file_system_began: int = 0

    def begin(self) -> None:
        """Start counting; dirty data of a file system is written back first."""
        if self.mounted is not None:
            self._sync(self.mounted)
            self._file_system_began = self.mounted.written_bytes()
        self.began = self.server.control.begin()
        self.recorder.counts_from(self.began)

    def end_recording(self) -> None:
        """Exclude later requests, such as requests of unmounting, from the recording."""
        if self.specification.settings.output_files():
            if self.mounted is not None:
                self._sync(self.mounted)
            self.recorder.ends_at(self.server.control.counters())

    def _sync(self, mounted: Mounted) -> None:
        try:
            mounted.sync(None)
        except WriteampError:
            # If the drive has ended or failed, its error is raised instead of the sync's error.
            self.server.check()
            for failure in self.server.daemon.complaints("error"):
                raise WriteampError(failure) from None
            raise

    def variables(self) -> dict[str, str]:
        """Return the environment variables of a command."""
        variables = {"uri": self.server.uri, "unixsocket": str(self.server.socket)}
        if self.mounted is not None:
            variables["mountpoint"] = str(self.mounted.point)
        if self.metrics_url is not None:
            variables["metrics"] = self.metrics_url
        return variables

    def counting_writes(self) -> AbstractContextManager[WriteCounter | str]:
        """Count bytes passed to write() for the drive's files, or yield why it is impossible."""
        if self.mounted is None:
            return nullcontext("the drive is not mounted")
        return write_counter(self.specification.settings.file_system, self.mounted.loop)

    def result(
        self,
        *,
        run: str | None = None,
        status: int | None = None,
        interrupted_by: signal.Signals | None = None,
        application: Application | None = None,
    ) -> ServeResult:
        """Return the counts since `begin`, after the file system has written back dirty data.

        Args:
            run: the command, or None.
            status: exit status of the command.
            interrupted_by: signal that ended the command, or None.
            application: bytes that the command passed to write().

        Raises:
            WriteampError: the drive has ended.
        """
        self.server.check()
        control, specification = self.server.control, self.specification
        file_system = None
        if self.mounted is not None:
            self._sync(self.mounted)
            # As in `begin`, the file system's count is read immediately before the drive's counts,
            # because other programs may continue to write.
            file_system = self.mounted.written_bytes() - self._file_system_began
        ended = control.counters()
        result = ServeResult(
            device=specification.device,
            policy=specification.policy,
            settings=specification.settings,
            began=self.began,
            ended=ended,
            samples=control.series(),
            blocks=control.blocks(),
            ageing=self.ageing,
            is_kept=self.is_kept,
            run=run,
            run_exit_status=status,
            interrupted_by=interrupted_by,
            complaints=tuple(self.server.daemon.complaints()),
            remarks=tuple(self.remarks),
        )
        if file_system is None:
            return result
        layers = Layers.of(
            application, file_system=file_system, device=result.host_bytes, flash=result.flash_bytes
        )
        return result.with_layers(layers)


def start_drive(
    specification: Specification,
    signals: HeldSignals,
    undo: ExitStack,
    tick: Callable[[], None] = lambda: None,
) -> Drive:
    """Build a drive; age, serve and mount it as its settings require; start counting.

    Args:
        specification: the drive.
        signals: signals that stop the assembly.
        undo: receives the shutdown steps; a recording is written then, unless there was an error.
        tick: called periodically while the drive is aged.

    Raises:
        WriteampError: a program is missing, or a step failed; the message names it.
        KeyboardInterrupt: a signal was received.
    """
    settings = specification.settings
    _check(specification)
    is_kept = settings.backing is not None and os.path.exists(settings.backing + FLASH_SUFFIX)
    holds_data = is_kept and _holds_data(str(settings.backing), specification.device.capacity_bytes)
    still_mounted = unmount_dead()
    folder = undo.enter_context(temporary_folder())
    state, ageing = None, None
    if specification.is_aged and not is_kept:
        state, ageing = folder / "state", _age(specification, folder / "state", signals, tick)
    last_remarks: list[str] = []
    recorder = undo.enter_context(recording(specification, is_kept=is_kept, remarks=last_remarks))
    edges = undo.enter_context(pins(specification))
    config = plugin_config(specification, state=state, record=recorder.raw, ready_busy=edges)
    where = folder / _SOCKET if settings.socket is None else Path(settings.socket)
    server = start_server(
        config,
        where,
        folder,
        signals,
        undo=undo,
        remarks=last_remarks,
        is_in_turn=specification.in_turn,
    )
    if state is not None:
        state.unlink()
    remarks = (*still_mounted, *_remarks(specification, is_kept=is_kept))
    drive = Drive(specification, server, ageing, recorder, remarks, is_kept, last_remarks)
    if settings.counters is not None:
        undo.enter_context(Refresher(Path(settings.counters), server.control, specification.device))
    if settings.metrics is not None:
        exporter = undo.enter_context(Exporter(server.control.counters, settings.metrics))
        drive.metrics_url = exporter.url
    if settings.counts_from_start:
        drive.begin()
    if settings.mount is not None:
        drive.mounted = mount_drive(
            server.socket,
            specification.device.capacity_bytes,
            Path(settings.mount),
            settings.file_system,
            is_kept=is_kept,
            holds_data=holds_data,
            is_aged=specification.is_aged,
            folder=folder,
            signals=signals,
            undo=undo,
            remarks=last_remarks,
        )
        if recorder.raw is not None:
            _record_device(drive, drive.mounted, recorder.raw, signals, undo)
    if not settings.counts_from_start:
        drive.begin()
    return drive


def _record_device(
    drive: Drive, mounted: Mounted, raw: Path, signals: HeldSignals, undo: ExitStack
) -> None:
    """Record the block device of a mounted drive, or add a remark why that is impossible."""
    try:
        drive.recorder.device = DeviceRecording(
            drive.specification,
            mounted,
            drive.server.control,
            raw.with_name("block-requests"),
            check=signals.check,
            undo=undo,
        )
    except (WriteampError, OSError) as error:
        # If the drive has ended, its error is the reason.
        drive.server.check()
        trace = str(drive.specification.settings.record)
        drive.last_remarks.append(without_origins(trace, error))


def _check(specification: Specification) -> None:
    """Check programs, the mount point and output files before the drive is built."""
    settings = specification.settings
    require("nbdkit")
    if settings.mount is not None:
        check_mount(Path(settings.mount), settings.file_system)
    settings.check_outputs()
    for path in settings.output_files():
        output.check_target(path, "recording", inputs=specification.input_files)


def _holds_data(backing: str, capacity_bytes: int) -> bool:
    """Return whether a host has stored data in a backing file; preconditioning stores none."""
    try:
        # Opening a pipe for reading would wait for a writer.
        with os.fdopen(os.open(backing, os.O_RDONLY | os.O_NONBLOCK), "rb") as file:
            # The server stores a record of the drive's identity and progress after the data, so
            # bytes beyond the capacity are not data of the host.
            return os.lseek(file.fileno(), 0, os.SEEK_DATA) < capacity_bytes
    except OSError:  # no data, or an unreadable file, which the plugin rejects
        return False


def _age(
    specification: Specification, file: Path, signals: HeldSignals, tick: Callable[[], None]
) -> Ageing | None:
    """Age the drive, and write its state to a file for the plugin."""

    def look() -> None:
        signals.check()
        tick()

    state, ageing = aged_state(specification, look)
    write_private(file, state)
    return ageing


def _remarks(specification: Specification, *, is_kept: bool) -> tuple[str, ...]:
    remarks = list(specification.plan.notes)
    if is_kept:
        goes_on = (
            f"{specification.settings.backing} already has a drive, which continues in its state"
        )
        remarks.append(
            f"{goes_on}, without new preconditioning" if specification.is_aged else goes_on
        )
    return tuple(remarks)
