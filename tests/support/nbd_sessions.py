"""Requests to a virtual drive that may fail, and the bytes that it must then hold."""

from __future__ import annotations

import json
import os
import socket
import struct
import subprocess
from collections.abc import Mapping
from contextlib import suppress
from enum import IntEnum
from pathlib import Path
from typing import Any

from patience import PATIENCE_S, await_value
from served import PLUGIN

PAGE_BYTES = 4096
# The NBD protocol, https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md.
_REQUEST, _REPLY = struct.Struct(">IHHQQI"), struct.Struct(">IIQ")
_REQUEST_MAGIC = 0x25609513
_GREETING_BYTES, _EXPORT_BYTES = 18, 10
_FUA = 1
# Error of a request that was never answered: the server has gone.
GONE = -1


class Op(IntEnum):
    """Kind of a request, by its number in the protocol."""

    READ = 0
    WRITE = 1
    FLUSH = 3
    TRIM = 4
    ZERO = 6


class Session:
    """A server of nbdkit, and a client of it, to the end of a `with` block."""

    def __init__(
        self, folder: Path, config: Mapping[str, Any], environment: Mapping[str, str] | None = None
    ) -> None:
        """Start the server; `is_open` says whether the drive could be opened."""
        for name in ("socket", "control"):
            (folder / name).unlink(missing_ok=True)
        written = {**config, "control": str(folder / "control")}
        (folder / "config.json").write_text(json.dumps(written))
        self._messages = folder / "messages"
        words = ["nbdkit", "--foreground", "--unix", str(folder / "socket"), str(PLUGIN)]
        with self._messages.open("wb") as sink:
            self._process = subprocess.Popen(
                [*words, f"config={folder / 'config.json'}"],
                stderr=sink,
                env={**os.environ, **(environment or {})},
            )
        control = folder / "control"
        await_value(lambda: control.exists() or self._process.poll() is not None)
        self.is_open = self._process.poll() is None
        self._socket = socket.socket(socket.AF_UNIX)
        self._socket.settimeout(PATIENCE_S)
        if self.is_open:
            self._socket.connect(str(folder / "socket"))
            self._receive(_GREETING_BYTES)
            self._socket.sendall(struct.pack(">I8sII", 3, b"IHAVEOPT", 1, 0))
            self._receive(_EXPORT_BYTES)

    def __enter__(self) -> Session:
        """Return it."""
        return self

    def __exit__(self, *_: object) -> None:
        """Stop the server."""
        self.stop()

    @property
    def messages(self) -> list[str]:
        """The lines that the server said."""
        return self._messages.read_text(errors="replace").splitlines()

    def ask(
        self, op: Op, first: int = 0, pages: int = 0, fill: int = 0, *, fua: bool = False
    ) -> int:
        """Send a request for pages, and return its error: 0, an errno, or `GONE`."""
        return self._ask(op, first, pages, fill, fua=fua)[0]

    def read(self, pages: int) -> bytes | None:
        """Return the first pages; None if they cannot be read."""
        error, found = self._ask(Op.READ, 0, pages)
        return None if error else found

    def stop(self) -> int:
        """Stop the server and return its status."""
        self._socket.close()
        self._process.terminate()
        return self._process.wait(PATIENCE_S)

    def _ask(
        self, op: Op, first: int, pages: int, fill: int = 0, *, fua: bool = False
    ) -> tuple[int, bytes]:
        length = pages * PAGE_BYTES
        head = _REQUEST.pack(_REQUEST_MAGIC, _FUA * fua, op, 0, first * PAGE_BYTES, length)
        with suppress(OSError):
            self._socket.sendall(head + (bytes([fill]) * length if op is Op.WRITE else b""))
            _, error, _ = _REPLY.unpack(self._receive(_REPLY.size))
            return error, self._receive(length) if op is Op.READ and not error else b""
        return GONE, b""

    def _receive(self, count: int) -> bytes:
        found = b""
        while len(found) < count:
            part = self._socket.recv(count - len(found))
            if not part:
                raise ConnectionError("the server has gone")
            found += part
        return found


class PageModel:
    """The bytes of which each page may consist: after a request that failed, old ones or new."""

    def __init__(self, pages: int) -> None:
        """Begin with a new drive, whose pages are 0."""
        self._fills = [{0} for _ in range(pages)]

    def apply(self, error: int, first: int, pages: int, fill: int) -> None:
        """Note a request that was answered with an error, or with 0."""
        for page in range(first, first + pages):
            self._fills[page] = {fill} if error == 0 else self._fills[page] | {fill}

    def wrong_pages(self, found: bytes) -> list[int]:
        """Return the pages of a drive that hold anything else."""
        pages = (found[at : at + PAGE_BYTES] for at in range(0, len(found), PAGE_BYTES))
        return [
            number
            for number, (page, fills) in enumerate(zip(pages, self._fills, strict=True))
            if page[0] not in fills or page != page[:1] * PAGE_BYTES
        ]
