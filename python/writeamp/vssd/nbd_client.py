"""Client of the NBD protocol on a Unix socket with many concurrent requests.

The protocol is documented in https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md.
Only the features for a replay are supported: a fixed newstyle handshake without TLS, and simple
replies.
"""

from __future__ import annotations

import socket
import struct
from collections.abc import Iterable, Iterator
from enum import IntEnum
from pathlib import Path
from typing import NamedTuple

from writeamp.errors import WriteampError

_GREETING = b"NBDMAGICIHAVEOPT"
_OPTION_MAGIC = b"IHAVEOPT"
_EXPORT_NAME = 1
_FIXED_NEWSTYLE, _NO_ZEROES = 1, 2
_REQUEST = struct.Struct(">IHHQQI")
_REPLY = struct.Struct(">IIQ")
_REQUEST_MAGIC, _REPLY_MAGIC = 0x25609513, 0x67446698
# A server without a response for this many seconds is stuck.
_PATIENCE_S = 60.0
# Longest request that is sent, in bytes, as servers reject longer ones.
MOST_BYTES = 1 << 22
# Most concurrent requests; their replies must fit into the socket's buffer.
_MOST_REQUESTS = 256
_MOST_BUFFERS = 1000


class NbdCommand(IntEnum):
    """Type of a request; its value is the number in the NBD protocol."""

    READ = 0
    WRITE = 1
    DISCONNECT = 2
    FLUSH = 3
    TRIM = 4


class NbdRequest(NamedTuple):
    """Request on a range of bytes; write requests send zeros."""

    command: NbdCommand
    offset: int
    length: int


class NbdClient:
    """Connection to the default export of a server; closed at the end of a `with` block."""

    def __init__(self, where: Path) -> None:
        """Connect.

        Raises:
            WriteampError: no NBD server listens there.
        """
        self._zeros = memoryview(bytes(MOST_BYTES))
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(_PATIENCE_S)
        try:
            self._socket.connect(str(where))
            self._shake_hands(where)
        except OSError as error:
            self._socket.close()
            raise WriteampError(f"cannot connect to {where}: {error}") from None

    def __enter__(self) -> NbdClient:
        """Return the client."""
        return self

    def __exit__(self, *_: object) -> None:
        """Disconnect."""
        with self._socket:
            self._socket.sendall(_header(NbdRequest(NbdCommand.DISCONNECT, 0, 0), 0))

    def send(self, requests: Iterable[NbdRequest]) -> Iterator[int]:
        """Send requests in order, and yield the total number of replies from time to time.

        Raises:
            WriteampError: the server rejected a request, or ended.
        """
        done = 0
        for group in _groups(requests):
            try:
                self._send_group(group)
            except OSError as error:
                raise WriteampError(f"the virtual drive stopped responding: {error}") from None
            done += len(group)
            yield done

    def _send_group(self, group: list[NbdRequest]) -> None:
        buffers: list[bytes | memoryview] = []
        for handle, request in enumerate(group):
            buffers.append(_header(request, handle))
            if request.command is NbdCommand.WRITE:
                buffers.append(self._zeros[: request.length])
        for first in range(0, len(buffers), _MOST_BUFFERS):
            self._send_whole(buffers[first : first + _MOST_BUFFERS])
        answers = self._receive(
            _REPLY.size * len(group)
            + sum(request.length for request in group if request.command is NbdCommand.READ)
        )
        if any(request.command is NbdCommand.READ for request in group):
            return  # replies are followed by data, which a replay does not need to parse
        for magic, error, _ in _REPLY.iter_unpack(answers):
            if magic != _REPLY_MAGIC or error:
                raise WriteampError(f"the virtual drive rejected a request with NBD error {error}")

    def _send_whole(self, buffers: list[bytes | memoryview]) -> None:
        left = [memoryview(buffer) for buffer in buffers]
        while left:
            sent = self._socket.sendmsg(left)
            while left and sent >= len(left[0]):
                sent -= len(left.pop(0))
            if left:
                left[0] = left[0][sent:]

    def _receive(self, size: int) -> bytes:
        received = bytearray(size)
        left = memoryview(received)
        while left:
            got = self._socket.recv_into(left)
            if not got:
                raise OSError("it closed the connection")
            left = left[got:]
        return bytes(received)

    def _shake_hands(self, where: Path) -> None:
        if self._receive(len(_GREETING)) != _GREETING:
            raise WriteampError(f"{where} is not an NBD server with a newstyle handshake")
        self._receive(2)
        self._socket.sendall(struct.pack(">I", _FIXED_NEWSTYLE | _NO_ZEROES))
        self._socket.sendall(_OPTION_MAGIC + struct.pack(">II", _EXPORT_NAME, 0))
        self._receive(8 + 2)  # size and flags of the export


def _header(request: NbdRequest, handle: int) -> bytes:
    return _REQUEST.pack(_REQUEST_MAGIC, 0, request.command, handle, request.offset, request.length)


def _groups(requests: Iterable[NbdRequest]) -> Iterator[list[NbdRequest]]:
    """Divide requests into groups that are sent together."""
    group: list[NbdRequest] = []
    size = 0
    for request in requests:
        group.append(request)
        size += request.length
        if len(group) == _MOST_REQUESTS or size >= MOST_BYTES:
            yield group
            group, size = [], 0
    if group:
        yield group
