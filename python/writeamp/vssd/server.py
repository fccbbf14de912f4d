"""nbdkit with the plugin: started on a Unix socket, awaited, and stopped."""

from __future__ import annotations

import json
import time
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

from writeamp.errors import WriteampError
from writeamp.machine.programs import Daemon, end, start_daemon, write_private
from writeamp.machine.signals import HeldSignals
from writeamp.vssd.control import SUFFIX, Control
from writeamp.vssd.listening import claim, has_clients

_PLUGIN = Path(__file__).parent.parent / "_nbdkit.so"
_PRIVATE_SOCKET = 0o600
# Grace period for clients to disconnect; idle clients are not notified.
_FOR_CLIENTS_S = 2.0
_BETWEEN_LOOKS_S = 0.02
# Exit status of a server that failed to close its drive (crates/nbdkit/src/lib.rs).
_NOT_CLOSED = 74


@dataclass(frozen=True)
class Server:
    """Running server of a drive: its address for the host, and its control socket."""

    socket: Path
    control: Control
    daemon: Daemon
    backing: str | None
    """Path of a kept drive's data, which is the prefix of its other files."""
    remarks: list[str]
    """Errors and warnings that the server printed until it ended."""
    failures: list[str] = field(default_factory=list)
    """Errors after which the kept files may lack host writes."""

    @property
    def uri(self) -> str:
        """Address in the format of NBD clients."""
        return f"nbd+unix:///?socket={quote(str(self.socket), safe='/')}"

    def check(self) -> None:
        """Check that the server still runs.

        Raises:
            WriteampError: it has ended; the message is its own, if it printed one.
        """
        self.daemon.check()

    def stop(self) -> None:
        """End the server even if clients are connected; nbdkit itself would wait for them.

        When this returns, all answered requests are stored, and recordings are in their files. The
        errors and warnings of the server are added to `remarks`.
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
            # nbdkit was killed before it could report damage to these files.
            errors = self.daemon.complaints("error")
            self.failures.extend([error for error in errors if error.startswith(self.backing)][-1:])
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
        config: the plugin's settings (`config.py`), without the control socket.
        where: socket to serve at; an abandoned socket is replaced.
        folder: private folder for its configuration and messages.
        signals: signals that end the wait.
        undo: receives the steps that stop the drive and remove its sockets.
        remarks: receives the drive's errors and warnings when it is stopped.
        is_in_turn: whether requests of a connection are served one after another, in order.

    Raises:
        WriteampError: a server already listens there, or the drive cannot start; the message has
            the reason.
        KeyboardInterrupt: a signal was received.
    """
    if not _PLUGIN.exists():
        raise WriteampError(
            "this installation of writeamp has no nbdkit plugin (_nbdkit.so); wheels for Linux "
            "have it"
        )
    where = where.absolute()
    control = where.with_name(where.name + SUFFIX)
    for path in (where, control):
        claim(path)
        undo.callback(_remove, path)
    file, running = folder / "config.json", folder / "nbdkit.pid"
    settings = config | {"control": str(control), "dies_with_parent": True}
    write_private(file, json.dumps(settings).encode())
    in_turn = ("--threads", "1") if is_in_turn else ()
    daemon = start_daemon(
        undo,
        folder / "nbdkit.messages",
        "nbdkit",
        # nbdkit ends with the thread that starts it. It would then wait for clients to disconnect,
        # so the plugin kills it instead.
        *("--foreground", "--exit-with-parent", *in_turn),
        *("--unix", str(where), "--pidfile", str(running)),
        *(str(_PLUGIN), f"config={file}"),
    )
    server = Server(where, Control(control), daemon, config["backing"], remarks)
    undo.callback(server.stop)
    # The drive is opened after nbdkit reports that it runs, with a long journal much later, so the
    # control socket must respond, too.
    daemon.wait_until(lambda: running.exists() and server.control.answers(), signals)
    # The mode is only made explicit: nbdkit's umask already denies write access to other users.
    where.chmod(_PRIVATE_SOCKET)
    return server


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
