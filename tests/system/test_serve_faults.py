"""Faults of the file system under a kept drive, which loses nothing that it answered."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest

from faults import DISK_FULL, EIO, KILLED, KILLED_AMID, SHORT_WRITE, Fault, FaultLayer
from forms import FULL
from nbd_sessions import Op, PageModel, Session
from served import PATH, SMALL, ended, needs, serve, start
from writeamp.settings.device import DeviceSettings
from writeamp.vssd.settings import BuiltInPolicySettings, DriveSettings
from writeamp.vssd.specification import plugin_config, specify

PAGES = 64
# Operation, first page, pages, fill, and whether it is to be durable: new and old pages, in part
# trimmed and zeroed. Each round adds to the fills.
REQUESTS = [
    (Op.WRITE, 0, 4, 1, False),
    (Op.WRITE, 40, 1, 2, True),
    (Op.FLUSH, 0, 0, 0, False),
    (Op.TRIM, 1, 2, 0, False),
    (Op.WRITE, 4, 2, 3, False),
    (Op.ZERO, 20, 3, 0, False),
    (Op.WRITE, 20, 20, 4, False),
    (Op.FLUSH, 0, 0, 0, False),
    (Op.TRIM, 40, 1, 0, True),
    (Op.WRITE, 0, 1, 5, False),
]
FAULTS = {
    "error": EIO,
    "full": DISK_FULL,
    "no space once": Fault("ENOSPC"),
    "short": SHORT_WRITE,
    "killed": KILLED,
    "killed amid": KILLED_AMID,
}
KINDS = {
    "default": {},
    # A journal and a snapshot for each request.
    "snapshots": {"longest_replay_ms": 0},
    "timed": {},
}
# Status of a server whose drive could not be closed.
NOT_CLOSED = 74
# Calls that fail, one after the other, of each kind and fault; few kinds have more than the latter.
SAMPLE, FULL_SAMPLE = 3, 100
FIO = (
    "fio --name=w --ioengine=nbd --uri=$uri --rw=randwrite --bs=4k --size=32M --io_size=256k "
    "--output=fio.txt"
)


def config_of(kind: str, folder: Path) -> dict[str, Any]:
    """Return what the plugin is told of a small drive in a folder."""
    is_timed = kind == "timed"
    settings = DriveSettings(backing=str(folder / "drive.wa"), timed=is_timed)
    device = DeviceSettings(profile="tlc-client" if is_timed else "ssd-v", size="16MiB")
    return plugin_config(specify(device, BuiltInPolicySettings(), settings)) | KINDS[kind]


def use(session: Session, model: PageModel, round_: int) -> None:
    """Send all requests, and note what may be there then."""
    for op, first, pages, fill, fua in REQUESTS:
        now = fill + 10 * round_ if fill else 0
        error = session.ask(op, first, pages, now, fua=fua)
        model.apply(error, first, pages, now)


def run_twice(folder: Path, config: dict[str, Any], layer: FaultLayer) -> PageModel:
    """Use a new drive in two sessions, and return what may be there then."""
    model = PageModel(PAGES)
    for round_ in range(2):
        with Session(folder, config, layer.environment) as session:
            if session.is_open:
                found = session.read(PAGES)
                assert found is None or model.wrong_pages(found) == []
                use(session, model, round_)
            status = session.stop()
            said = session.messages
            assert status in (0, 1, NOT_CLOSED, -9), said
            assert not any("panicked" in line for line in said), said
            if not session.is_open and status == 1:
                # One sentence, which names the file.
                assert len(said) == 1, said
                assert re.fullmatch(rf"nbdkit: error: {folder}/kept.*", said[0])
    return model


@needs()
class TestFaults:
    @pytest.mark.parametrize("kind", KINDS)
    @pytest.mark.parametrize("fault", FAULTS)
    def test_what_was_answered_is_there_after_a_fault(
        self, folder: Path, fault_library: Path, kind: str, fault: str
    ) -> None:
        kept = folder / "kept"
        kept.mkdir()
        layer = FaultLayer(fault_library, kept, folder / "orders")
        config = config_of(kind, kept)
        run_twice(folder, config, layer)
        count = len(layer.disarm())
        most = min(count, FULL_SAMPLE if FULL else SAMPLE)
        numbers = sorted(random.Random(f"{kind} {fault}").sample(range(1, count + 1), most))
        for number in numbers:
            for file in kept.iterdir():
                file.unlink()
            layer.arm(number, FAULTS[fault])
            model = run_twice(folder, config, layer)
            failed = [call for call in layer.disarm() if call.failed]
            with Session(folder, config) as session:
                assert session.is_open, (failed[:1], session.messages)
                found = session.read(PAGES)
                assert found is not None
                assert model.wrong_pages(found) == [], failed[:1]
                # It works from here on.
                assert session.ask(Op.WRITE, 0, 1, 99, fua=True) == 0
                assert session.ask(Op.FLUSH) == 0
            assert session.stop() == 0


@needs("fio")
class TestCut:
    @pytest.mark.parametrize("ending", ["", ".journal-1", ".sums"])
    def test_a_file_that_is_cut_is_an_error_of_the_host_and_of_the_run(
        self, folder: Path, ending: str
    ) -> None:
        name = f"drive.wa{ending}"
        run = f"{FIO}; truncate -s 0 {name}; {FIO} 2>told || cat told >&2; true"
        done = serve(f"{SMALL} --backing drive.wa --json", folder, run=run)
        assert done.status == 2
        sentence = f"{folder}/{name}: this file was cut to 0 bytes while the drive used it"
        assert done.err.count(sentence) == 1
        assert done.err.endswith(f"{sentence}\n")
        assert sentence in done.document["notes"]
        assert "Input/output error" in (folder / "told").read_text()
        assert done.document["run_exit_status"] == 0
        again = serve(f"{SMALL} --backing drive.wa", folder, run="true")
        assert again.status == 2
        assert name in again.err

    def test_a_client_that_stays_to_the_end_does_not_hide_it(self, folder: Path) -> None:
        words = f"{SMALL} --backing drive.wa --socket {folder}/socket"
        running = start(words.split(), folder)
        assert running.stdout.readline().startswith("serving")
        os.truncate(folder / "drive.wa", 0)
        uri = {"uri": f"nbd+unix:///?socket={folder}/socket"}
        failed = subprocess.run(FIO, shell=True, cwd=folder, env=os.environ | uri, check=False)
        assert failed.returncode != 0
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(f"{folder}/socket")
            running.terminate()
            done = ended(running)
        assert done.status == 2, done.err
        assert done.err.endswith("drive.wa: this file was cut to 0 bytes while the drive used it\n")

    def test_a_command_that_fails_for_it_has_its_own_status(self, folder: Path) -> None:
        run = f"truncate -s 0 drive.wa; {FIO}"
        assert serve(f"{SMALL} --backing drive.wa", folder, run=run).status == 1


@needs("nbdcopy")
class TestWritten:
    @pytest.mark.parametrize("fault", ["error", "full", "short"])
    def test_a_fault_while_the_run_writes_its_files_is_one_sentence(
        self, folder: Path, fault_library: Path, fault: str
    ) -> None:
        layer = FaultLayer(fault_library, folder, folder.with_name(f"{folder.name}-orders"))
        own = ["--backing", "drive.wa", "--precondition", "full"]
        files = ["--record", "r.parquet", "--counters", "logs", "--json"]
        run = ["--run", "nbdcopy /bin/true $uri"]
        command = [sys.executable, "-m", "writeamp", "serve", *SMALL.split(), *own]
        (folder / "t").mkdir()
        with patch.dict(os.environ, {"PATH": PATH, "TMPDIR": str(folder / "t")}):
            assert layer.run([*command, *files, *run], folder).returncode == 0
            count = len(layer.disarm())
            numbers = range(1, count + 1)
            for number in numbers if FULL else random.Random(fault).sample(numbers, 2):
                shutil.rmtree(folder)
                (folder / "t").mkdir(parents=True)
                done = layer.run([*command, *files, *run], folder, number, FAULTS[fault])
                failed = [call for call in layer.disarm() if call.failed]
                said = [line for line in done.stderr.splitlines() if ": note: " not in line]
                assert (done.returncode, len(said)) in ((0, 0), (2, 1)), (failed[:1], done.stderr)
                # Its figures are printed, once they are counted.
                is_whole = json.loads(done.stdout or "{}").get("wa") is not None
                assert is_whole or done.returncode == 2, failed[:1]
                assert list((folder / "t").iterdir()) == []
                assert serve(f"{SMALL} {' '.join(own)}", folder, run="true").status == 0
