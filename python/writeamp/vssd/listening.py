"""Sockets of servers: socket paths, loopback ports, and connected clients."""

from __future__ import annotations

import ipaddress
import os
import re
import socket
import stat
from contextlib import suppress
from pathlib import Path
from socketserver import TCPServer, ThreadingMixIn, UnixStreamServer
from typing import Any

from writeamp.errors import WriteampError
from writeamp.fields.domains import Whole, shown

# Longest path of a socket in Linux, without the NUL at its end.
_LONGEST_BYTES = 107
# Index of the socket's state in a line of /proc/net/unix, and the state of a connected socket.
_STATE_FIELD, _CONNECTED = 5, "03"


def claim(path: Path) -> None:
    """Remove an abandoned socket; reject any other existing file.

    Raises:
        WriteampError: a server listens there, the file is not a socket, or the path is invalid.
    """
    if "\0" in str(path):
        raise WriteampError(f"{str(path)!r} is not a file name: it contains a NUL")
    if len(str(path).encode()) > _LONGEST_BYTES:
        raise WriteampError(
            f"the path of socket {path} has more than {_LONGEST_BYTES} bytes, the most that Linux "
            "allows. Pass a shorter path"
        )
    try:
        mode = path.stat().st_mode
    except FileNotFoundError:
        if not path.parent.is_dir():
            raise WriteampError(f"socket {path}: the folder {path.parent} does not exist") from None
        return
    except OSError as error:
        raise WriteampError(f"cannot use socket {path}: {error.strerror}") from None
    if not stat.S_ISSOCK(mode):
        raise WriteampError(f"{path} exists and is not a socket. Choose another name")
    with socket.socket(socket.AF_UNIX) as client:
        try:
            client.connect(str(path))
        except ConnectionRefusedError:
            path.unlink()
            return
        except OSError as error:
            raise WriteampError(f"cannot use socket {path}: {error.strerror}") from None
    raise WriteampError(f"a server already listens at {path}. Stop it, or choose another socket")


def has_clients(path: Path) -> bool:
    """Return whether a client is connected to the server at a socket."""
    lines = os.fsdecode(Path("/proc/net/unix").read_bytes()).splitlines()
    here = [line.split() for line in lines if line.endswith(f" {path}")]
    return any(fields[_STATE_FIELD] == _CONNECTED for fields in here)


_PORT = Whole(0, 65_535)
_DIGITS = re.compile("[0-9]{1,5}")
# Host header: a name or an address (IPv6 in brackets), and an optional port.
_HOST = re.compile(r"(\[[^]]*\]|[^:]*)(?::[0-9]{1,5})?")
_OWNER_ONLY = 0o600
UNIX = "unix:"


class _Port(ThreadingMixIn, TCPServer):
    daemon_threads = True
    allow_reuse_address = True


class _Port6(_Port):
    address_family = socket.AF_INET6


class _Socket(ThreadingMixIn, UnixStreamServer):
    daemon_threads = True

    def server_bind(self) -> None:
        # The mode is set before bind, so that no other user can ever open the socket.
        os.fchmod(self.socket.fileno(), _OWNER_ONLY)
        super().server_bind()

    def server_close(self) -> None:
        super().server_close()
        with suppress(FileNotFoundError):
            os.unlink(str(self.server_address))


def listen(address: str, handler: type[Any]) -> tuple[_Port | _Socket, str]:
    """Return a listening server, and its address with the actual port.

    Args:
        address: "127.0.0.1:9105", "[::1]:9105", "localhost:9105" or ":9105", where port 0 selects
            any free port; or "unix:/path".
        handler: request handler, as in `socketserver`.

    Raises:
        WriteampError: the address is invalid, not local to this machine, or in use.
    """
    try:
        if address.startswith(UNIX):
            path = address.removeprefix(UNIX)
            claim(Path(path))
            return _Socket(path, handler), address
        host, port = _parsed(address)
        server = (_Port6 if ":" in host else _Port)((host, port), handler)
    except OSError as error:
        raise WriteampError(f"cannot listen at {address}: {error.strerror or error}") from None
    shown_host = f"[{host}]" if ":" in host else host
    return server, f"{shown_host}:{server.server_address[1]}"


def is_loopback_name(host: str) -> bool:
    """Return whether a Host header names this machine: a loopback address, or localhost."""
    match = _HOST.fullmatch(host.strip())
    if match is None:
        return False
    name = match[1].removeprefix("[").removesuffix("]").removesuffix(".")
    return name.lower() == "localhost" or _is_loopback(name)


def _parsed(address: str) -> tuple[str, int]:
    host, colon, port = address.rpartition(":")
    if not (colon and _DIGITS.fullmatch(port) and _PORT.holds(int(port))):
        raise WriteampError(
            f"address is {shown(address)}; it must be 127.0.0.1:PORT, :PORT or unix:/path of a "
            "socket"
        )
    host = host.removeprefix("[").removesuffix("]")
    if host in {"", "localhost"}:
        host = "127.0.0.1"
    if not _is_loopback(host):
        raise WriteampError(
            f"address is {shown(address)}; counters are served to this machine only, at "
            "127.0.0.1:PORT, [::1]:PORT or unix:/path"
        )
    return host, int(port)


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:  # a host name is rejected, as it may resolve to any address
        return False
