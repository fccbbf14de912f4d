"""nbdkit with the plugin: started on a Unix socket, waited for, and stopped."""

from __future__ import annotations

import json
import socket
import stat
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from writeamp.errors import WriteampError
from writeamp.vssd.control import SUFFIX, Control
from writeamp.vssd.programs import Daemon, start_daemon
from writeamp.vssd.signals import HeldSignals

_PLUGIN = Path(__file__).parent.parent / "_nbdkit.so"
_PRIVATE_SOCKET = 0o600
# What Linux takes for the name of a socket, without the NUL at its end.
_LONGEST_SOCKET_BYTES = 107


@dataclass(frozen=True)
class Server:
    """A running drive: where its host finds it, and where it tells its counters."""

    socket: Path
    control: Control
    daemon: Daemon

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


def start_server(
    config: dict[str, Any],
    where: Path,
    folder: Path,
    signals: HeldSignals,
    undo: ExitStack,
) -> Server:
    """Start a drive, and return when it serves.

    Args:
        config: what the plugin is told (`config.py`), but for the control socket.
        where: the socket to serve at; one that nobody listens at is replaced.
        folder: a private one for its configuration and messages.
        signals: what ends the wait.
        undo: what will stop the drive and remove its sockets.

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
        _check_socket(path)
        undo.callback(_remove, path)
    file, running = folder / "config.json", folder / "nbdkit.pid"
    file.write_text(json.dumps(config | {"control": str(control)}))
    daemon = start_daemon(
        undo,
        folder / "nbdkit.messages",
        "nbdkit",
        # Its end goes with that of the thread which starts it, however that comes.
        *("--foreground", "--exit-with-parent", "--unix", str(where), "--pidfile", str(running)),
        *(str(_PLUGIN), f"config={file}"),
    )
    server = Server(where, Control(control), daemon)
    # The drive is opened after nbdkit says that it runs; with a long journal, long after.
    daemon.wait_until(lambda: running.exists() and server.control.answers(), signals)
    # Others could not connect before either: nbdkit's mask leaves them no right to write.
    where.chmod(_PRIVATE_SOCKET)
    return server


def _check_socket(path: Path) -> None:
    """Remove a socket that nobody listens at any more; refuse anything else that is there."""
    if len(str(path).encode()) > _LONGEST_SOCKET_BYTES:
        raise WriteampError(
            f"socket {path} has a name of more than {_LONGEST_SOCKET_BYTES} bytes, which Linux "
            "does not take; use a shorter one, or a folder nearer to the root"
        )
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise WriteampError(
                f"socket {path} is in no folder: there is no {path.parent}"
            ) from None
        return
    except OSError as error:
        raise WriteampError(f"cannot use socket {path}: {error.strerror}") from None
    if not stat.S_ISSOCK(mode):
        raise WriteampError(f"{path} exists and is no socket; choose another name")
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except OSError as error:
            raise WriteampError(f"cannot use socket {path}: {error.strerror}") from None
    raise WriteampError(f"a server listens at {path} already; stop it, or choose another socket")


def _remove(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
