"""Virtual SSD as a context manager, for tests and programs in Python."""

from __future__ import annotations

import atexit
import warnings
from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Unpack, cast

from writeamp.devices.device import Device, DeviceLike
from writeamp.errors import WriteampError
from writeamp.fields.arguments import checked
from writeamp.fields.setting import made_settings
from writeamp.fields.shown_settings import with_settings_of
from writeamp.machine.signals import held_signals
from writeamp.vssd.control import Control, Document
from writeamp.vssd.drive import Drive, start_drive
from writeamp.vssd.result import ServeResult
from writeamp.vssd.settings import SERVE_KINDS, SERVE_PLACES
from writeamp.vssd.specification import specify, summary

if TYPE_CHECKING:
    from writeamp.vssd.arguments import ServeArguments


@checked
class VirtualSsd:
    """Flash drive that NBD clients can write to inside a `with` block.

    nbdkit serves it on a private Unix socket. Counting begins with the block; `begin` restarts it.
    The server ends with the block, with this process, and with the thread that opened it.

        with wa.VirtualSsd("tlc-datacenter", size="4GiB") as drive:
            subprocess.run(["nbdcopy", "image.raw", drive.uri], check=True)
            assert drive.wa < 1.2
    """

    @with_settings_of(SERVE_PLACES)
    def __init__(
        self, device: DeviceLike | None = None, **settings: Unpack[ServeArguments]
    ) -> None:
        """Set the configuration of the drive; it is built when the block begins.

        Args:
            device: name or path of a profile, or a device; default: "generic".
            settings: the options of `writeamp serve`; listed below.

        Raises:
            WriteampError: a value is invalid, or the drive cannot be built.
            TypeError: an unknown argument.
        """
        arguments = {"device": device, **settings}
        settings_by_kind = made_settings("VirtualSsd", SERVE_KINDS, SERVE_PLACES, arguments)
        self._specification = specify(*cast("tuple[Any, Any, Any]", settings_by_kind))
        self._running: Drive | None = None
        self._last: ServeResult | None = None
        self._undo = ExitStack()

    def __enter__(self) -> VirtualSsd:
        """Build the drive and serve it.

        Raises:
            WriteampError: a program is missing, or a step failed.
        """
        if self._running is not None:
            raise WriteampError("this virtual drive is already open")
        self._last = None
        try:
            with held_signals() as signals, ExitStack() as undo:
                running = start_drive(self._specification, signals, undo)
                undo.push(lambda kind, *_: None if kind else running.end_recording())
                self._running, self._undo = running, undo.pop_all()
                # An exception may occur after this line and before the `with` block, so the drive
                # is also closed at the exit of the process.
                atexit.register(self.close)
        except BaseException as error:
            # A held signal raises only after the drive was created, so the drive must be closed
            # here.
            self.__exit__(type(error), error, error.__traceback__)
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the drive; a recording is written if the block succeeded.

        Errors during the shutdown that do not raise are reported as RuntimeWarning.
        """
        with held_signals():
            atexit.unregister(self.close)
            running, self._running = self._running, None
            self._last = _last_of(running) if running else self._last
            self._undo.__exit__(kind, error, trace)
        for sentence in running.last_remarks if running else ():
            warnings.warn(sentence, RuntimeWarning, stacklevel=2)

    def close(self) -> None:
        """Stop the drive, if it runs, and write its recording."""
        self.__exit__(None, None, None)

    @property
    def device(self) -> Device:
        """Drive as built: its shape, size and times."""
        return self._specification.device

    @property
    def uri(self) -> str:
        """Address in the format of NBD clients."""
        return self._open().server.uri

    @property
    def unix_socket(self) -> Path:
        """Unix socket of the drive."""
        return self._open().server.socket

    @property
    def control(self) -> Control:
        """Client of its control socket."""
        return self._open().server.control

    @property
    def mount_point(self) -> Path | None:
        """Mount point of its file system, or None."""
        mounted = self._open().mounted
        return None if mounted is None else mounted.point

    @property
    def metrics_url(self) -> str | None:
        """URL of its metrics with the actual port, or None."""
        return self._open().metrics_url

    def begin(self) -> None:
        """Restart counting, after a file system has written back its dirty data."""
        self._open().begin()

    def counters(self) -> Document:
        """Return the counters of the drive's life (docs/virtual-ssd.md has the keys)."""
        return self.control.counters()

    def result(self) -> ServeResult:
        """Return the result since `begin`; after the block, the last result.

        Dirty data of a file system is written back first.

        Raises:
            WriteampError: the drive was never open, or its server has ended.
        """
        if self._running is None and self._last is not None:
            return self._last
        return self._open().result()

    @property
    def wa(self) -> float:
        """Flash pages programmed per host page written since `begin`; NaN without writes."""
        return self.result().wa

    @property
    def host_bytes(self) -> int:
        """Bytes that the host wrote since `begin`."""
        return self.result().host_bytes

    @property
    def flash_bytes(self) -> int:
        """Bytes that the flash programmed since `begin`."""
        return self.result().flash_bytes

    def __repr__(self) -> str:
        """Return the drive in brackets, and whether it is open."""
        state = "not open" if self._running is None else "open"
        return f"<VirtualSsd: {summary(self.device)}, {state}>"

    def _open(self) -> Drive:
        if self._running is None:
            raise WriteampError("this virtual drive is not open. Use it in a with block")
        return self._running


def _last_of(running: Drive) -> ServeResult | None:
    """Return the last result of a drive before it is stopped; None if its server has ended."""
    try:
        return running.result()
    except WriteampError:
        return None
