"""Kill a served virtual SSD again and again, and compare it with what it acknowledged.

    .venv/bin/python benches/vssd_kills.py --kills 1000
    .venv/bin/python benches/vssd_kills.py --kills 300 --time-scale 0.01

One drive with a backing file, aged, is served by nbdkit, written and trimmed over several NBD
connections at a depth, killed by SIGKILL at a random moment, and served again; some kills come
while it starts. Every page tells which request wrote it. After each restart all pages are read:
each must be whole, and of the last request to it that was acknowledged or of one that was under
way. The drive's own count of host pages must be that of the acknowledged requests, and at most
those under way more. With `--time-scale` the drive is a timed one. Needs nbdkit.
"""

from __future__ import annotations

import argparse
import itertools
import json
import random
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
from vssd import PLUGIN

from writeamp.settings.device import DeviceSettings
from writeamp.units.byte_sizes import parse_bytes
from writeamp.vssd.control import Control
from writeamp.vssd.settings import BuiltInPolicySettings, DriveSettings
from writeamp.vssd.specification import aged_state, plugin_config, specify

PAGE_BYTES = 4096
# The NBD protocol, https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md.
READ, WRITE, FLUSH, TRIM = 0, 1, 3, 4
FUA = 1
REQUEST, REPLY = struct.Struct(">IHHQQI"), struct.Struct(">IIQ")
REQUEST_MAGIC, REPLY_MAGIC = 0x25609513, 0x67446698
NO_ZEROES = 3
EXPORT_NAME = 1
# What a page that was never written, or was trimmed, is stamped with.
NOTHING = 0
# A snapshot after each request, after some, and seldom.
LONGEST_REPLAY_MS = (0, 5, 200)
MOST_PAGES_OF_REQUEST = 8
PATIENCE_S = 60.0

Stamps = npt.NDArray[np.uint64]


class Connection:
    """A client of one connection."""

    def __init__(self, path: Path) -> None:
        """Connect, and agree on the drive's only export."""
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(PATIENCE_S)
        self.socket.connect(str(path))
        self.receive(18)
        self.socket.sendall(struct.pack(">I8sII", NO_ZEROES, b"IHAVEOPT", EXPORT_NAME, 0))
        self.receive(10)

    def receive(self, count: int) -> bytes:
        """Return so many bytes.

        Raises:
            ConnectionError: the server has gone.
        """
        found = bytearray()
        while len(found) < count:
            part = self.socket.recv(count - len(found))
            if not part:
                raise ConnectionResetError
            found += part
        return bytes(found)

    def ask(self, kind: int, handle: int, first: int, pages: int, content: bytes = b"") -> None:
        """Send a request; some of the writes are to be durable when they are answered."""
        flags = FUA if kind == WRITE and handle % 16 == 0 else 0
        place, length = first * PAGE_BYTES, pages * PAGE_BYTES
        head = REQUEST.pack(REQUEST_MAGIC, flags, kind, handle, place, length)
        self.socket.sendall(head + content)

    def answered(self) -> int:
        """Return the handle of the next request that is answered."""
        magic, error, handle = REPLY.unpack(self.receive(REPLY.size))
        if magic != REPLY_MAGIC or error:
            raise SystemExit(f"a request was answered with error {error}")
        return int(handle)

    def stamps(self, pages: int) -> Stamps:
        """Return by whom each page was written, and check that it is whole and in its place."""
        found = np.empty(pages, np.uint64)
        for first in range(0, pages, 256):
            count = min(256, pages - first)
            self.ask(READ, 0, first, count)
            self.answered()
            words = np.frombuffer(self.receive(count * PAGE_BYTES), "<u8").reshape(count, -1)
            stamps, places = words[:, ::2], words[:, 1::2]
            wanted = np.where(stamps == NOTHING, 0, first + np.arange(count)[:, None])
            if (stamps != stamps[:, :1]).any() or (places != wanted).any():
                raise SystemExit(f"a page from {first} on is torn, or another's")
            found[first : first + count] = stamps[:, 0]
        return found


@dataclass(frozen=True)
class Request:
    """A request for a range of pages, and their stamps afterwards."""

    first: int
    stamps: Stamps
    is_write: bool

    @property
    def pages(self) -> slice:
        """The pages."""
        return slice(self.first, self.first + self.stamps.size)


class Writer(threading.Thread):
    """Writes and trims pages of its own over a connection until the server has gone."""

    def __init__(self, path: Path, known: Stamps, pages: range, draw: random.Random) -> None:
        """Begin with the stamps that are known, which it keeps true to what is acknowledged."""
        super().__init__()
        self.path, self.known, self.pages, self.draw = path, known, pages, draw
        self.under_way: dict[int, Request] = {}
        self.written_pages = 0
        self.acknowledged = 0
        self.depth = draw.choice((1, 8, 32))

    def run(self) -> None:
        """Keep requests under way."""
        with suppress(ConnectionError):
            connection = Connection(self.path)
            for handle in itertools.count(1):
                self._ask(connection, handle)
                if len(self.under_way) >= self.depth:
                    self._hear(connection)

    def _ask(self, connection: Connection, handle: int) -> None:
        count = self.draw.randint(1, MOST_PAGES_OF_REQUEST)
        first = self.draw.randrange(self.pages.start, self.pages.stop - count + 1)
        # Which of two that are under way comes first, nobody knows.
        if any(one.first < first + count and first < one.pages.stop for one in self._busy()):
            return
        kind = self.draw.choices((WRITE, TRIM, FLUSH), (90, 8, 2))[0]
        stamp = self.draw.getrandbits(63) + 1 if kind == WRITE else NOTHING
        content = b""
        if kind == WRITE:
            words = np.full((count, PAGE_BYTES // 16, 2), stamp, "<u8")
            words[:, :, 1] = np.arange(first, first + count)[:, None]
            content = words.tobytes()
        elif kind == FLUSH:
            first = count = 0
        stamps = np.full(count, stamp, np.uint64)
        self.under_way[handle] = Request(first, stamps, kind == WRITE)
        connection.ask(kind, handle, first, count, content)

    def _busy(self) -> list[Request]:
        return list(self.under_way.values())

    def _hear(self, connection: Connection) -> None:
        done = self.under_way.pop(connection.answered())
        self.known[done.pages] = done.stamps
        self.acknowledged += 1
        self.written_pages += done.stamps.size if done.is_write else 0


class Drive:
    """A drive with a backing file, and what its clients know of it."""

    def __init__(
        self, folder: Path, size: str, manager: str, seed: int, time_scale: float | None
    ) -> None:
        """Age a new one."""
        self.folder, self.draw = folder, random.Random(seed)
        self.socket, self.config = folder / "drive.sock", folder / "config.json"
        self.control = Control(folder / "drive.control")
        specification = specify(
            DeviceSettings(profile="ssd-v", size=size),
            BuiltInPolicySettings(manager=manager),
            DriveSettings(
                precondition="random:1",
                backing=str(folder / "drive.wa"),
                time_scale=time_scale,
            ),
        )
        state = folder / "state"
        state.write_bytes(aged_state(specification, lambda: None)[0])
        self.settings = plugin_config(specification, state=state)
        self.settings["control"] = str(self.control.path)
        self.known = np.zeros(round(parse_bytes("size", size)) // PAGE_BYTES, np.uint64)
        self.writers: list[Writer] = []
        self.counted = -1
        self.acknowledged = self.lost = 0

    def start(self) -> subprocess.Popen[bytes]:
        """Serve it."""
        for path in (self.socket, self.control.path):
            path.unlink(missing_ok=True)
        self.settings["longest_replay_ms"] = self.draw.choice(LONGEST_REPLAY_MS)
        self.config.write_text(json.dumps(self.settings))
        words = ["nbdkit", "--foreground", "--unix", str(self.socket), str(PLUGIN)]
        return subprocess.Popen([*words, f"config={self.config}"])

    def kill_once(self, connections: int) -> None:
        """Serve it, compare it with what is known, write to it, and kill it."""
        running = self.start()
        if self.draw.random() < 0.2:
            time.sleep(self.draw.uniform(0, 0.04))
        else:
            self.compare(running)
            share = self.known.size // connections
            self.writers = [
                Writer(
                    self.socket,
                    self.known,
                    range(number * share, (number + 1) * share),
                    random.Random(self.draw.getrandbits(64)),
                )
                for number in range(connections)
            ]
            for writer in self.writers:
                writer.start()
            time.sleep(self.draw.uniform(0, 0.2))
        running.send_signal(signal.SIGKILL)
        running.wait()
        for writer in self.writers:
            writer.join()

    def compare(self, running: subprocess.Popen[bytes]) -> None:
        """Compare every page, and the count of them, with what was acknowledged."""
        began = time.monotonic()
        while not (self.socket.exists() and self.control.answers()):
            if running.poll() is not None or time.monotonic() > began + PATIENCE_S:
                raise SystemExit("the drive does not start again")
            time.sleep(0.002)
        found = Connection(self.socket).stamps(self.known.size)
        good = found == self.known
        under_way = [one for writer in self.writers for one in writer.under_way.values()]
        for request in under_way:
            good[request.pages] |= found[request.pages] == request.stamps
        self.lost += int((~good).sum())
        written = sum(writer.written_pages for writer in self.writers)
        most = written + sum(one.stamps.size for one in under_way if one.is_write)
        counted = self.control.counters()["host"]["written_pages"]
        if self.counted >= 0 and not self.counted + written <= counted <= self.counted + most:
            raise SystemExit(
                f"the drive counts {counted - self.counted} host pages, of {written} acknowledged "
                f"and at most {most}"
            )
        self.acknowledged += sum(writer.acknowledged for writer in self.writers)
        self.counted, self.writers = counted, []
        self.known[:] = found


def main() -> int:
    """Kill a drive as often as asked, and say what was lost."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--size", default="64MiB", help="what the host sees")
    parser.add_argument("--manager", default="sepgc")
    parser.add_argument("--connections", type=int, default=4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--time-scale", type=float, help="seconds for one of a timed drive")
    asked = parser.parse_args()
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="writeamp-bench-") as folder:
        drive = Drive(Path(folder), asked.size, asked.manager, asked.seed, asked.time_scale)
        for number in range(1, asked.kills + 1):
            drive.kill_once(asked.connections)
            if number % 100 == 0:
                print(f"{number} kills: {drive.lost} pages lost", flush=True)
        running = drive.start()
        drive.compare(running)
        running.terminate()
        running.wait()
    print(
        f"{asked.kills} kills of {asked.size} under {asked.manager}: of {drive.acknowledged:,} "
        f"acknowledged requests {drive.lost} pages lost, {time.monotonic() - began:.0f} s"
    )
    return 1 if drive.lost else 0


if __name__ == "__main__":
    sys.exit(main())
