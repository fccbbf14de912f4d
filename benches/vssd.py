"""How fast is the virtual SSD beside nbdkit's own memory plugin, and how soon does it start again?

    .venv/bin/python benches/vssd.py --size 8GiB --rounds 8 --seconds 4

Two servers, the memory plugin and the virtual SSD with a backing file (so with its journal and
snapshots), serve fio in turn; the ratio of each pair is printed, and the median. The drive is aged
before: full and written at random, so that it collects all the time. Restarts are of that drive,
killed under load. Needs nbdkit, nbdinfo and fio.
"""

from __future__ import annotations

import argparse
import json
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from writeamp.devices.byte_sizes import parse_bytes
from writeamp.experiments.device_settings import DeviceSettings
from writeamp.experiments.settings import PolicySettings
from writeamp.vssd.settings import DriveSettings
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
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="writeamp-bench-") as folder:
        compare(asked, Path(folder))


def compare(asked: argparse.Namespace, folder: Path) -> None:
    size_bytes = round(parse_bytes("size", asked.size))
    config = folder / "config.json"
    own = [str(PLUGIN), f"config={config}"]
    specification = specify(
        DeviceSettings(profile=asked.device, size=asked.size),
        PolicySettings(manager=asked.manager),
        DriveSettings(precondition="random:1", backing=str(folder / "drive.wa")),
    )
    state = folder / "state"
    state.write_bytes(aged_state(specification, lambda: None)[0])
    config.write_text(json.dumps(plugin_config(specification, state=state)))
    with (
        Server(folder, "memory", ["memory", str(size_bytes)]) as memory,
        Server(folder, "own", own) as drive,
    ):
        for load, options in LOADS.items() if asked.rounds else ():
            rates = [
                [server.fio(options, asked.seconds, asked.size) for server in (memory, drive)]
                for _ in range(asked.rounds)
            ]
            report(load, rates)
    restart(Server(folder, "own", own), asked)


def report(load: str, rates: list[list[float]]) -> None:
    ratios = sorted(own / memory for memory, own in rates)
    print(
        f"{load}: {median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f}) of memory, "
        f"{median(own for _, own in rates):,.0f} requests/s",
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
        words = f"fio --name=b --ioengine=nbd --uri={self.uri} --bs=4k --norandommap --time_based"
        words += f" --runtime={seconds} --size={size.removesuffix('iB')} {options}"
        return subprocess.Popen(
            [*words.split(), "--output-format=json"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def fio(self, options: str, seconds: int, size: str) -> float:
        """Return requests a second."""
        out, _ = self.start_fio(options, seconds, size).communicate()
        (job,) = json.loads(re.sub(r"^[^{]*", "", out))["jobs"]
        return float(job["write"]["iops"] + job["read"]["iops"])


if __name__ == "__main__":
    main()
