"""Speed of the virtual SSD beside nbdkit's own memory plugin, and the time of its restart.

    .venv/bin/python benches/vssd.py --size 8GiB --rounds 8 --seconds 4

Two servers, the memory plugin and the virtual SSD with a backing file (so with its journal and
snapshots), serve fio in turn; the ratio of each pair is printed, and the median, and beside them
the ratios of one run of the memory plugin to the next: what the machine alone does. The drive is
aged before: full and written at random, so that it collects all the time. The processor time of
the servers for each request is what other programs disturb least. Restarts are of that drive,
killed under load. Its file is in the folder for temporary files (TMPDIR). Needs nbdkit, nbdinfo
and fio.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import subprocess
import tempfile
import time
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import psutil

from writeamp.settings.device import DeviceSettings
from writeamp.units.byte_sizes import parse_bytes
from writeamp.vssd.settings import BuiltInPolicySettings, DriveSettings
from writeamp.vssd.specification import aged_state, plugin_config, specify

PLUGIN = Path(__file__).parent.parent / "python/writeamp/_nbdkit.so"
LOADS = {
    "writes, depth 32": "--rw=randwrite --iodepth=32",
    "writes, depth 1": "--rw=randwrite --iodepth=1",
    "writes, depth 1, four connections": "--rw=randwrite --iodepth=1 --numjobs=4 --group_reporting",
    "reads, depth 32": "--rw=randread --iodepth=32",
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--size", default="8GiB", help="what the host sees")
    parser.add_argument("--rounds", type=int, default=8, help="alternations; 0: restart alone")
    parser.add_argument("--seconds", type=int, default=4, help="of each run of fio")
    parser.add_argument("--device", default="ssd-v")
    parser.add_argument("--manager", default="sepgc")
    parser.add_argument("--fresh", action="store_true", help="write to files that are holes still")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="writeamp-bench-") as folder:
        compare(asked, Path(folder))


def compare(asked: argparse.Namespace, folder: Path) -> None:
    size_bytes = round(parse_bytes("size", asked.size))
    config = folder / "config.json"
    own = [str(PLUGIN), f"config={config}"]
    specification = specify(
        DeviceSettings(profile=asked.device, size=asked.size),
        BuiltInPolicySettings(manager=asked.manager),
        DriveSettings(precondition="random:1", backing=str(folder / "drive.wa")),
    )
    state = folder / "state"
    state.write_bytes(aged_state(specification, lambda: None)[0])
    config.write_text(json.dumps(plugin_config(specification, state=state)))
    with (
        Server(folder, "memory", ["memory", str(size_bytes)]) as memory,
        Server(folder, "own", own) as drive,
    ):
        for server in () if asked.fresh or not asked.rounds else (memory, drive):
            server.write_all(asked.size)
        for load, options in LOADS.items() if asked.rounds else ():
            rates = [
                [server.fio(options, asked.seconds, asked.size) for server in (memory, drive)]
                for _ in range(asked.rounds)
            ]
            report(load, rates)
    restart(Server(folder, "own", own), asked)


def report(load: str, rates: list[list[Rate]]) -> None:
    ratios = sorted(own.requests_s / memory.requests_s for memory, own in rates)
    alone = [memory.requests_s for memory, _ in rates]
    itself = sorted(later / earlier for earlier, later in pairwise(alone)) or [1.0]
    memory_us, own_us = (median(one[at].processor_us for one in rates) for at in (0, 1))
    print(
        f"{load}: {median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) of memory, "
        f"{median(own.requests_s for _, own in rates):,.0f} requests/s; memory of itself "
        f"{itself[0]:.2f} to {itself[-1]:.2f}; processor time {own_us:.1f} and {memory_us:.1f} us",
        flush=True,
    )


def restart(server: Server, asked: argparse.Namespace) -> None:
    with server:
        running = server.start_fio("--rw=randwrite --iodepth=32", asked.seconds, asked.size)
        time.sleep(asked.seconds - 0.5)
        server.process.send_signal(signal.SIGKILL)
        running.wait()
    began = time.perf_counter()
    with server:
        print(f"restart of {asked.size} after kill -9: {time.perf_counter() - began:.2f} s")


class Rate(NamedTuple):
    """Speed of a server, and its processor time for each request."""

    requests_s: float
    processor_us: float


class Server:
    """nbdkit with a plugin."""

    def __init__(self, folder: Path, name: str, arguments: list[str]) -> None:
        """Serve nothing yet."""
        self.socket = folder / f"{name}.sock"
        self.arguments = arguments
        self.process: Any = None

    @property
    def uri(self) -> str:
        """The address for clients."""
        return f"nbd+unix:///?socket={self.socket}"

    def __enter__(self) -> Server:
        """Return it once it answers."""
        self.socket.unlink(missing_ok=True)
        words = ["nbdkit", "--foreground", "--unix", str(self.socket), *self.arguments]
        self.process = subprocess.Popen(words)
        while not self.socket.exists():
            time.sleep(0.005)
        # It is answered once the drive is there.
        subprocess.run(["nbdinfo", "--size", self.uri], stdout=subprocess.DEVNULL, check=True)
        return self

    def __exit__(self, *_error: object) -> None:
        """Stop it."""
        self.process.terminate()
        self.process.wait()

    def start_fio(self, options: str, seconds: int, size: str) -> Any:
        """Return fio under way."""
        timed = f"--bs=4k --norandommap --time_based --runtime={seconds}"
        return self._fio(f"{timed} {options}", size)

    def write_all(self, size: str) -> None:
        """Write to every page: the first writes to a new file fill its holes, and are slower."""
        self._fio("--rw=write --bs=1M", size).communicate()

    def _fio(self, options: str, size: str) -> Any:
        words = f"fio --name=b --ioengine=nbd --uri={self.uri} --size={size.removesuffix('iB')}"
        return subprocess.Popen(
            [*words.split(), *options.split(), "--output-format=json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def fio(self, options: str, seconds: int, size: str) -> Rate:
        """Serve fio."""
        before_s = self.processor_s()
        out, _ = self.start_fio(options, seconds, size).communicate()
        (job,) = json.loads(re.sub(r"^[^{]*", "", out))["jobs"]
        spent_s = self.processor_s() - before_s
        served = job["write"]["total_ios"] + job["read"]["total_ios"]
        return Rate(job["write"]["iops"] + job["read"]["iops"], 1e6 * spent_s / served)

    def processor_s(self) -> float:
        """Return the processor time that it has taken."""
        times = psutil.Process(self.process.pid).cpu_times()
        return times.user + times.system


if __name__ == "__main__":
    main()
