"""A virtual SSD leaves nothing running, opens no other drive's files, and says where it is."""

from __future__ import annotations

import http.client
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

import in_process
from patience import await_value
from served import SMALL, ended, needs, refused, serve, serving, start, wait_for_file
from vssd_documents import COUNTERS
from writeamp.errors import WriteampError
from writeamp.vssd.control import Control
from writeamp.vssd.listening import is_loopback_name
from writeamp.vssd.metrics import Exporter

FIO = (
    "fio --name=w --ioengine=nbd --uri=$uri --rw=randwrite --bs=4k --size=32M --io_size={size} "
    "--randrepeat=0 --randseed={seed} --norandommap --iodepth=8 --output=fio.txt"
)


def running_in(folder: Path) -> list[str]:
    """Return the words of processes whose folder it is."""
    found = []
    for process in psutil.process_iter(["cwd", "cmdline", "status"]):
        if process.info["cwd"] == str(folder) and process.info["status"] != psutil.STATUS_ZOMBIE:
            found.append(" ".join(process.info["cmdline"] or ()))
    return found


@needs()
class TestKilled:
    def test_the_command_and_its_daemons_end_with_a_server_that_is_killed(
        self, folder: Path
    ) -> None:
        # A daemon whose parent has gone, a child, and one that leaves the environment behind.
        command = (
            "(setsid sleep 613 &) ; env -i sleep 612 & touch reached; sleep 611; touch went_on"
        )
        server = start([*SMALL.split(), "--run", command], folder)
        wait_for_file(folder / "reached", server)
        await_value(lambda: sum("sleep 61" in words for words in running_in(folder)) >= 3)
        server.kill()
        server.wait()
        await_value(lambda: running_in(folder) == [])
        assert not (folder / "went_on").exists()

    def test_a_command_that_ends_leaves_no_guardian(self, folder: Path) -> None:
        done = serve(SMALL, folder, run="true")
        assert done.status == 0, done.err
        here = psutil.Process()
        assert not any("guardian.py" in " ".join(one.cmdline()) for one in here.children())


class TestTop:
    @pytest.fixture
    def silent(self, tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
        """Run a server that accepts no client."""
        script = (
            "import socket, sys, time\n"
            "server = socket.socket(socket.AF_UNIX)\n"
            f"server.bind({str(tmp_path / 'a.control')!r})\n"
            "server.listen()\n"
            "print('listening', flush=True)\n"
            "time.sleep(600)\n"
        )
        words = [sys.executable, "-c", script]
        with subprocess.Popen(words, stdout=subprocess.PIPE, text=True) as running:
            assert running.stdout.readline() == "listening\n"
            yield running
            running.kill()

    def test_a_drive_that_is_stopped_is_said_to_be(
        self, silent: subprocess.Popen[str], tmp_path: Path
    ) -> None:
        silent.send_signal(signal.SIGSTOP)
        await_value(lambda: psutil.Process(silent.pid).status() == psutil.STATUS_STOPPED)
        said = in_process.refusal("top", f"{tmp_path / 'a'} --once")
        assert f"its process {silent.pid} is stopped" in said

    def test_a_drive_that_runs_is_waited_for(
        self, silent: subprocess.Popen[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("writeamp.vssd.control._LOOK_S", 0.05)
        monkeypatch.setattr("writeamp.vssd.control._PATIENCE_S", 0.5)
        assert silent.poll() is None
        began = time.monotonic()
        with pytest.raises(WriteampError, match="timed out"):
            Control(tmp_path / "a.control").counters()
        assert time.monotonic() - began >= 0.5


class TestMetrics:
    @pytest.mark.parametrize(
        ("host", "status"),
        [
            ("127.0.0.1:{port}", 200),
            ("localhost:{port}", 200),
            ("LOCALHOST", 200),
            ("[::1]:{port}", 200),
            ("127.8.9.10", 200),
            ("evil.example:{port}", 403),
            ("localhost.evil.example", 403),
            ("127.0.0.1.evil.example:{port}", 403),
            ("10.0.0.1", 403),
            ("", 403),
        ],
    )
    def test_only_names_of_this_machine_are_answered(self, host: str, status: int) -> None:
        with Exporter(lambda: COUNTERS, "127.0.0.1:0") as exporter:
            port = int(exporter.address.rpartition(":")[2])
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.putrequest("GET", "/metrics", skip_host=True)
            connection.putheader("Host", host.format(port=port))
            connection.endheaders()
            answer = connection.getresponse()
            assert answer.status == status
            assert (b"writeamp_up" in answer.read()) is (status == 200)
            connection.close()

    @pytest.mark.parametrize(
        "host", ["localhost:http", "[::1", "::1", "127.0.0.1:80:80", "@localhost", "localhost/x"]
    )
    def test_what_is_no_name_is_none_of_this_machine(self, host: str) -> None:
        assert not is_loopback_name(host)

    @needs()
    def test_the_port_that_was_free_is_said_and_given_to_the_command(self, folder: Path) -> None:
        done = serve(f"{SMALL} --metrics 127.0.0.1:0", folder, run="echo $metrics > where")
        url = (folder / "where").read_text().strip()
        assert url.startswith("http://127.0.0.1:")
        assert not url.startswith("http://127.0.0.1:0")
        assert f"metrics are at {url}\n" in done.err

    @needs()
    def test_a_server_in_front_says_it_too(self, folder: Path) -> None:
        server = serving([*SMALL.split(), "--metrics", ":0"], folder)
        server.send_signal(signal.SIGTERM)
        done = ended(server)
        assert "metrics are at http://127.0.0.1:" in done.err


@needs("fio")
class TestKept:
    def test_files_of_another_drive_are_refused_and_stay_as_they_are(self, folder: Path) -> None:
        for name in ("a.wa", "b.wa"):
            seed = ord(name[0])
            run = FIO.format(size="8M", seed=seed)
            assert serve(f"{SMALL} --backing {name}", folder, run=run).status == 0
        (journal,) = folder.glob("b.wa.journal-*")
        for ending, words in [
            ("", "another drive"),
            (".flash", "another drive"),
            (".sums", "another drive"),
            (f".{journal.suffix.removeprefix('.')}", ""),
        ]:
            mine, kept = folder / f"a.wa{ending}", folder / "kept"
            if not mine.exists():
                continue
            shutil.copy(mine, kept)
            shutil.copy(folder / f"b.wa{ending}", mine)
            before = mine.read_bytes()
            refused(f"{SMALL} --backing a.wa", folder, words)
            assert mine.read_bytes() == before
            shutil.copy(kept, mine)
        assert serve(f"{SMALL} --backing a.wa", folder, run="true").status == 0

    def test_a_bit_that_flipped_in_the_data_is_noticed(self, folder: Path) -> None:
        run = FIO.format(size="8M", seed=1)
        assert serve(f"{SMALL} --backing a.wa", folder, run=run).status == 0
        with (folder / "a.wa").open("r+b") as file:
            data = file.read(32 << 20)
            at = next(at for at, byte in enumerate(data) if byte)
            file.seek(at)
            file.write(bytes([data[at] ^ 4]))
        words = f"page {at // 4096} differs from its checksum"
        refused(f"{SMALL} --backing a.wa", folder, words)

    def test_a_drive_that_collected_once_has_no_interval(self, folder: Path) -> None:
        # Overwritten in order, so that each block that is collected is empty.
        run = (
            "fio --name=w --ioengine=nbd --uri=$uri --rw=write --bs=4k --size=60M --io_size=74M "
            "--iodepth=1 --output=fio.txt"
        )
        found = serve(f"{SMALL} --json", folder, run=run).document
        assert found["wa"] == 1.0
        assert 0 < found["erases"] < 10
        assert found["wa_ci95"] == [None, None]
        assert any("it needs 10 erased blocks" in note for note in found["notes"])
