"""Timed virtual drives that are kept: stopped, killed, and asked for otherwise."""

from __future__ import annotations

import itertools
import os
import shlex
import signal
import subprocess
import threading
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import writeamp as wa
from in_process import document
from patience import await_value
from recordings import POLICY, Rows, checked, recorded
from served import FIO, SMALL, ended, needs, pids, refused, serve, start
from writeamp.errors import WriteampError
from writeamp.settings.device import DeviceSettings
from writeamp.traces.recording import ROW
from writeamp.vssd.control import Control
from writeamp.vssd.nbd_client import NbdClient, NbdCommand, NbdRequest
from writeamp.vssd.settings import BuiltInPolicySettings, DriveSettings
from writeamp.vssd.specification import specify

_KEPT = "--timed --backing drive.wa"
# All that waits in its memory is written when it is idle, and nothing else is done then.
_SET = ("write_cache.idle_flush_ms=0.2", "collection.background=false")
_DRIVE = (
    f"--device tlc-datacenter --size 32MiB --precondition random:1 --seed 7 --manager sepgc "
    f"--victims d-choices:d=3 {_KEPT} --socket ssd.sock " + " ".join(f"--set {one}" for one in _SET)
)
_PAGE = 4096


def _requests() -> Iterator[NbdRequest]:
    """Give writes of pages and of parts of them, trims and flushes, without an end."""
    rng = np.random.default_rng(5)
    while True:
        offset = 512 * int(rng.integers(0, (32 << 20) // 512 - 64))
        kind = rng.integers(0, 20)
        if kind == 0:
            yield NbdRequest(NbdCommand.FLUSH, 0, 0)
        elif kind == 1:
            yield NbdRequest(NbdCommand.TRIM, offset // _PAGE * _PAGE, 3 * _PAGE)
        elif kind < 5:
            yield NbdRequest(NbdCommand.WRITE, offset, 1536)
        else:
            yield NbdRequest(NbdCommand.WRITE, offset // _PAGE * _PAGE, 2 * _PAGE)


def _write_until_killed(folder: Path, requests: int) -> None:
    """Write to a drive, and kill it while some requests are under way."""

    def write() -> None:
        with suppress(WriteampError, OSError), NbdClient(folder / "ssd.sock") as client:
            for _ in client.send(_requests()):
                pass

    writer = threading.Thread(target=write)
    writer.start()
    control = Control(folder / "ssd.sock.control")
    await_value(lambda: control.counters()["requests"] >= requests)
    for pid in pids(folder):
        os.kill(pid, signal.SIGKILL)
    writer.join()


def _journaled(folder: Path) -> Rows:
    """Return the rows of a drive's journal, numbered and with the checksums of a recording."""
    (journal,) = folder.glob("drive.wa.journal-*")
    rows: Rows = np.fromfile(journal, ROW, offset=4096)
    return checked(rows[rows["crc32"] != 0])


@needs("nbdcopy", "fio")
@pytest.mark.parametrize("device", ["ssd-v", "tlc-client"])
def test_a_timed_drive_goes_on_where_it_was_stopped(device: str, folder: Path) -> None:
    (folder / "image").write_bytes(os.urandom(1 << 20))
    kept: dict[str, Any] = {"size": "64MiB", "backing": folder / "drive.wa", "time_scale": 0.1}

    def run(command: str, uri: str) -> None:
        subprocess.run(command, shell=True, cwd=folder, env={**os.environ, "uri": uri}, check=True)

    with wa.VirtualSsd(device, **kept) as drive:
        run(f"{FIO.format(size='8M')} && nbdcopy image $uri", drive.uri)
        first = drive.control.counters()
        assert drive.result().to_dict()["latency_us"]["write"]["max"] > 0
    with wa.VirtualSsd(device, **kept, precondition="full") as drive:
        second = drive.control.counters()
        run("nbdcopy $uri back && cmp -n 1048576 image back", drive.uri)
        run(FIO.format(size="4M"), drive.uri)
        third = drive.control.counters()
        result = drive.result().to_dict()
    assert any("continues in its state" in note for note in result["notes"])
    assert (result["host_pages"], result["precondition"]) == (1024, "kept")
    written = {key: second["host"][key] for key in first["host"] if "read" not in key}
    assert written == {key: first["host"][key] for key in written}
    for before, after in itertools.pairwise((first, second, third)):
        assert all(after["programs"][cause] >= n for cause, n in before["programs"].items())
    # What was in memory when it was stopped was written by then.
    assert sum(second["programs"].values()) > sum(first["programs"].values())


@needs()
def test_a_killed_drive_counts_what_a_simulation_of_its_requests_does(folder: Path) -> None:
    running = start(shlex.split(_DRIVE), folder)
    control = Control(folder / "ssd.sock.control")
    await_value(lambda: running.poll() is not None or control.answers())
    _write_until_killed(folder, 4000)
    assert ended(running).status == 2
    rows = _journaled(folder)
    again = start(shlex.split(_DRIVE), folder)
    await_value(lambda: again.poll() is not None or control.answers())
    found = control.counters()
    again.send_signal(signal.SIGTERM)
    assert ended(again).status == 0
    assert rows.size >= 4000
    assert found["timed"]["unanswered"] == 0
    # A simulation, which knows no journal, lets the same host be idle at the end.
    window = {"from_ns": 0, "until_ns": int(rows["at_ns"][-1]) + 10**9, "unanswered": 0}
    device = specify(
        DeviceSettings(profile="tlc-datacenter", size=32 << 20, set=_SET),
        BuiltInPolicySettings(manager="sepgc"),
        DriveSettings(timed=True),
    ).device.to_dict()
    asked = {"device": device, "policy": POLICY, "precondition": "random:1"}
    trace = recorded(folder, rows, timed=True, window=window, **asked)
    simulated = document("simulate", f"--trace {trace}")
    assert any("times of the recorded drive" in note for note in simulated["notes"])
    host = simulated["host"]
    assert {name: found["host"][name] for name in host} == host
    assert found["programs"] == simulated["causes"]
    assert found["erases"] == simulated["erases"]
    assert simulated["causes"]["gc"] > 1000


@needs()
class TestRefused:
    @pytest.mark.parametrize(
        ("made", "asked", "words"),
        [
            ("", "--timed", "this drive was made without time"),
            ("--timed", "", "this is a timed drive"),
            ("--timed", "--timed --set timing.read_us=7", "timing.read_us was"),
        ],
    )
    def test_a_drive_in_other_times_is_and_stays_as_it_is(
        self, made: str, asked: str, words: str, folder: Path
    ) -> None:
        kept = f"{SMALL} --backing drive.wa"
        assert serve(f"{kept} {made}", folder, run="true").status == 0
        before = {path: path.read_bytes()[:65536] for path in folder.glob("drive.wa.*")}
        refused(f"{kept} {asked}", folder, words, "drive.wa.flash")
        assert {path: path.read_bytes()[:65536] for path in folder.glob("drive.wa.*")} == before
        assert serve(f"{kept} {made}", folder, run="true").status == 0

    @pytest.mark.parametrize("ending", ["flash", "journal-*", "sums"])
    def test_a_file_that_was_cut_is(self, ending: str, folder: Path) -> None:
        assert serve(f"{SMALL} {_KEPT}", folder, run="true").status == 0
        (file,) = folder.glob(f"drive.wa.{ending}")
        os.truncate(file, file.stat().st_size - 8)
        refused(f"{SMALL} {_KEPT}", folder, str(file))
