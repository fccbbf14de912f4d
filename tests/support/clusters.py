"""Dask clusters for tests: a scheduler and workers, each a process of its own."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from patience import PATIENCE_S, await_value

HERE = Path(__file__).resolve().parent
DASK = (sys.executable, "-m", "dask")


@dataclass
class Cluster:
    """The processes of one cluster, which end with the context that gives it."""

    folder: Path
    address: str = ""
    processes: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def start_scheduler(
        self, *options: str, host: str = "127.0.0.1", within: Sequence[str] = ()
    ) -> subprocess.Popen[bytes]:
        """Start a scheduler and wait until it has said where it is."""
        file = self.folder / f"scheduler-{len(self.processes)}.json"
        words = ["scheduler", "--host", host, "--port", "0", "--no-dashboard"]
        started = self._start(*within, *DASK, *words, "--scheduler-file", str(file), *options)
        self.address = await_value(lambda: _address(file))
        return started

    def start_worker(
        self, *options: str, within: Sequence[str] = (), variables: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        """Start a program with one worker."""
        words = ["worker", self.address, "--nthreads", "1", "--no-dashboard"]
        local = ["--local-directory", str(self.folder / f"worker-{len(self.processes)}")]
        return self._start(*within, *DASK, *words, *local, *options, variables=variables)

    def await_workers(self, count: int) -> None:
        """Wait until so many workers are up: one that dies before ends the program of its nanny."""
        from distributed import Client  # noqa: PLC0415 (tests of others do without it)

        with Client(self.address) as client:
            client.wait_for_workers(count, timeout=PATIENCE_S)

    def _start(
        self, *words: str, variables: Mapping[str, str] | None = None
    ) -> subprocess.Popen[bytes]:
        # Jobs of tests are functions of modules that stand beside this one.
        paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
        environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)} | dict(variables or {})
        log = self.folder / f"log-{len(self.processes)}"
        with log.open("wb") as output:
            process = subprocess.Popen(
                words, stdout=output, stderr=output, env=environment, start_new_session=True
            )
        self.processes.append(process)
        return process


@contextmanager
def cluster(folder: Path) -> Iterator[Cluster]:
    """Give a cluster without processes; those that are started are killed at the end."""
    found = Cluster(folder)
    try:
        yield found
    finally:
        for process in found.processes:
            kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a program and all that it started, at once."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


@dataclass(frozen=True)
class Space:
    """A network namespace: what runs a program in it, and the address that it has."""

    prefix: tuple[str, ...] = ()
    host: str = "127.0.0.1"


@contextmanager
def spaces(count: int) -> Iterator[list[Space]]:
    """Give namespaces on one bridge to this one; where they cannot be made, this one."""
    name = f"wa{os.getpid() % 100_000}"
    net = f"10.{200 + os.getpid() % 50}.{os.getpid() // 50 % 250}"
    made = [f"{name}n{at}" for at in range(count)]
    try:
        if _all_made(name, net, made):
            yield [
                Space(("ip", "netns", "exec", one), f"{net}.{at}") for at, one in enumerate(made, 2)
            ]
        else:
            yield [Space()] * count
    finally:
        for command in (*(f"netns del {one}" for one in made), f"link del {name}"):
            _ip(command)


def _all_made(bridge: str, net: str, names: list[str]) -> bool:
    """Tell whether a bridge with namespaces on it stands; containers may forbid any part of it."""
    commands = [f"link add {bridge} type bridge", f"addr add {net}.1/24 dev {bridge}"]
    commands.append(f"link set {bridge} up")
    for at, one in enumerate(names, 2):
        commands += [
            f"netns add {one}",
            f"link add {one}v type veth peer name eth0 netns {one}",
            f"link set {one}v master {bridge} up",
            f"-n {one} addr add {net}.{at}/24 dev eth0",
            f"-n {one} link set eth0 up",
            f"-n {one} link set lo up",
            f"netns exec {one} true",
        ]
    return all(map(_ip, commands))


def _ip(command: str) -> bool:
    try:
        done = subprocess.run(["ip", *command.split()], check=False, capture_output=True)
    except OSError:
        return False
    return done.returncode == 0


def _address(file: Path) -> str | None:
    with suppress(OSError, ValueError):
        return str(json.loads(file.read_text())["address"])
    return None
