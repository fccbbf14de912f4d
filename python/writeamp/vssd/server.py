"""nbdkit with the plugin: started on a Unix socket, waited for, and stopped."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from writeamp.errors import WriteampError
from writeamp.vssd.control import SUFFIX, Control
from writeamp.vssd.listening import claim, has_clients
from writeamp.vssd.programs import Daemon, end, start_daemon, write_private
from writeamp.vssd.signals import HeldSignals

_PLUGIN = Path(__file__).parent.parent / "_nbdkit.so"
_PRIVATE_SOCKET = 0o600
# For clients to leave; those that do nothing do not notice that they should.
_FOR_CLIENTS_S = 2.0
_BETWEEN_LOOKS_S = 0.02
# Status of a server whose drive could not be closed (crates/nbdkit/src/lib.rs).
_NOT_CLOSED = 74


@dataclass(frozen=True)
class Server:
    """A running drive: where its host finds it, and where it tells its counters."""

    socket: Path
    control: Control
    daemon: Daemon
    backing: str | None
    """Path of the data of a kept drive, with which those of its other files begin."""
    remarks: list[str]
    """What went wrong by the time that it had ended."""
    failures: list[str] = field(default_factory=list)
    """Errors after which the kept files may lack what the host wrote."""

    @property
    def uri(self) -> str:
        """The address as NBD clients take it."""
        return f"nbd+unix:///?socket={quote(str(self.socket), safe='/')}"

    def check(self) -> None:
        """Refuse to go on without the server.

        Raises:
            WriteampError: it has ended; the sentence is its own, if it said one.
        """
        self.daemon.check()

    def stop(self) -> None:
        """End it, though clients are connected: nbdkit itself would wait for them to leave.

        What it answered is kept by then, and what it wrote down is in its files. What it complained
        of, to its end, comes to the remarks.
        """
        process = self.daemon.process
        process.terminate()
        leave_by, is_cut = time.monotonic() + _FOR_CLIENTS_S, False
        while process.poll() is None and has_clients(self.socket):
            if time.monotonic() > leave_by:
                process.kill()
                is_cut = True
            time.sleep(_BETWEEN_LOOKS_S)
        end(process)
        self.remarks.extend(self.daemon.complaints())
        failure = self.daemon.failure()
        if process.returncode == _NOT_CLOSED:
            self.failures.append(self.daemon.last_error())
        elif is_cut and self.backing is not None:
            # It was not closed, which would have failed for damage to these files.
            errors = self.daemon.complaints("error")
            self.failures.extend([one for one in errors if one.startswith(self.backing)][-1:])
        elif failure is not None and not is_cut:
            self.remarks.append(failure)


def start_server(
    config: dict[str, Any],
    where: Path,
    folder: Path,
    signals: HeldSignals,
    *,
    undo: ExitStack,
    remarks: list[str],
    is_in_turn: bool = False,
) -> Server:
    """Start a drive, and return when it serves.

    Args:
        config: what the plugin is told (`config.py`), but for the control socket.
        where: the socket to serve at; one that nobody listens at is replaced.
        folder: a private one for its configuration and messages.
        signals: what ends the wait.
        undo: what will stop the drive and remove its sockets.
        remarks: takes what the drive complained of, when it has been stopped.
        is_in_turn: whether requests of a connection are served one after another, as they come.

    Raises:
        WriteampError: somebody listens there, or the drive cannot be; the sentence says why.
        KeyboardInterrupt: a signal came.
    """
    if not _PLUGIN.exists():
        raise WriteampError(
            "this installation of writeamp has no nbdkit plugin (_nbdkit.so); wheels for Linux have"
        )
    where = where.absolute()
    control = where.with_name(where.name + SUFFIX)
    for path in (where, control):
        claim(path)
        undo.callback(_remove, path)
    file, running = folder / "config.json", folder / "nbdkit.pid"
    told = config | {"control": str(control), "dies_with_parent": True}
    write_private(file, json.dumps(told).encode())
    in_turn = ("--threads", "1") if is_in_turn else ()
    daemon = start_daemon(
        undo,
        folder / "nbdkit.messages",
        "nbdkit",
        # Its end goes with that of the thread which starts it, however that comes. nbdkit would
        # then wait for clients to leave, so the plugin turns that into a kill.
        *("--foreground", "--exit-with-parent", *in_turn),
        *("--unix", str(where), "--pidfile", str(running)),
        *(str(_PLUGIN), f"config={file}"),
    )
    server = Server(where, Control(control), daemon, config["backing"], remarks)
    undo.callback(server.stop)
    # The drive is opened after nbdkit says that it runs; with a long journal, long after.
    daemon.wait_until(lambda: running.exists() and server.control.answers(), signals)
    # Others could not connect before either: nbdkit's mask leaves them no right to write.
    where.chmod(_PRIVATE_SOCKET)
    return server


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
