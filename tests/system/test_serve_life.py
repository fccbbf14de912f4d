"""The life of a virtual drive: in front, kept over its end, interrupted; and its sockets."""

from __future__ import annotations

import os
import pty
import shutil
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from patience import PATIENCE_S, await_value
from served import (
    FIO,
    PATH,
    SMALL,
    ended,
    left_behind,
    needs,
    pids,
    program,
    refused,
    serve,
    serving,
    start,
    wait_for_file,
)
from writeamp.vssd.control import Control


@needs("nbdcopy")
class TestInFront:
    def test_it_serves_until_it_is_stopped(self, folder: Path) -> None:
        (folder / "image").write_bytes(os.urandom(1 << 20))
        running = start([*SMALL.split(), "--socket", "ssd.sock"], folder)
        line = running.stdout.readline()
        uri = f"nbd+unix:///?socket={folder}/ssd.sock"
        assert line == f"serving ssd-v, 64 MiB: {uri}\n"
        socket = running.stdout.readline().partition("`writeamp top ")[2].partition("`")[0]
        assert Path(socket) == folder / "ssd.sock"
        for name in ("ssd.sock", "ssd.sock.control"):
            assert stat.S_IMODE((folder / name).stat().st_mode) == 0o600
        subprocess.run(["nbdcopy", "image", uri], cwd=folder, check=True)
        running.send_signal(signal.SIGTERM)
        done = ended(running)
        assert done.status == 0, done.err
        assert "1,048,576 bytes in 256 pages" in done.out
        assert left_behind(folder) == []
        assert not (folder / "ssd.sock").exists()
        assert not (folder / "ssd.sock.control").exists()

    def test_ctrl_c_is_the_same_and_stdout_the_document_alone(self, folder: Path) -> None:
        running = start([*SMALL.split(), "--socket", "ssd.sock", "--json"], folder)
        await_value(lambda: Control(folder / "ssd.sock.control").answers())
        running.send_signal(signal.SIGINT)
        done = ended(running)
        assert done.status == 0, done.err
        assert done.document["wa"] is None
        assert "nbd+unix:///?socket=" in done.err

    def test_a_client_that_stays_does_not_keep_it(self, folder: Path) -> None:
        running = serving([*SMALL.split(), "--socket", "ssd.sock"], folder)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(folder / "ssd.sock"))
            assert client.recv(8) == b"NBDMAGIC"
            running.send_signal(signal.SIGINT)
            assert ended(running).status == 0
        assert left_behind(folder) == []

    def test_nbdkit_that_is_killed_is_said(self, folder: Path) -> None:
        running = serving([*SMALL.split(), "--socket", "ssd.sock"], folder)
        (pid,) = pids(folder)
        os.kill(pid, signal.SIGKILL)
        done = ended(running)
        assert done.status == 2
        assert "nbdkit was killed by signal 9" in done.err
        assert left_behind(folder) == []

    def test_a_client_that_stays_does_not_outlive_a_process_that_is_killed(
        self, folder: Path
    ) -> None:
        words = [*SMALL.split(), "--backing", "drive.wa", "--socket", "ssd.sock"]
        running = serving(words, folder)
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(folder / "ssd.sock"))
            assert client.recv(8) == b"NBDMAGIC"
            running.kill()
            running.wait()
            await_value(lambda: pids(folder) == [])
            # Neither the socket nor the file is held any more.
            again = serving(words, folder)
            again.send_signal(signal.SIGTERM)
            assert ended(again).status == 0


class TestKilled:
    @needs()
    def test_folders_of_a_process_that_was_killed_are_removed_by_the_next(
        self, folder: Path
    ) -> None:
        words = [*SMALL.split(), "--record", "w.parquet", "--rb-capture", "w.vcd"]
        alive = serving([*SMALL.split(), "--socket", "alive.sock"], folder)
        kept = set(folder.rglob("*writeamp-*"))
        running = serving([*words, "--socket", "ssd.sock"], folder)
        killed = set(folder.rglob("*writeamp-*")) - kept
        assert (len(kept), len(killed)) == (1, 3)
        running.kill()
        running.wait()
        await_value(lambda: len(pids(folder)) == 1)
        assert serve(" ".join(words), folder, run="true").status == 0
        assert not any(one.exists() for one in killed)
        assert all(one.exists() for one in kept)
        alive.terminate()
        assert ended(alive).status == 0
        assert left_behind(folder) == []

    @needs("setsid")
    @pytest.mark.parametrize("by", [signal.SIGKILL, signal.SIGTERM, signal.SIGHUP])
    def test_a_command_ends_with_it(self, folder: Path, by: signal.Signals) -> None:
        # It has a child in a session of its own, too.
        running = start([*SMALL.split(), "--run", "setsid sleep 987 & sleep 987"], folder)

        def commands() -> list[psutil.Process]:
            children = psutil.Process(running.pid).children(recursive=True)
            return [one for one in children if _sleeps(one)]

        await_value(lambda: len(commands()) == 2)
        begun = commands()
        running.send_signal(by)
        running.wait(PATIENCE_S)
        # As a shell says it, all are 128 + the signal.
        assert running.returncode in (-by, 128 + by)
        await_value(lambda: not any(map(_sleeps, begun)))
        await_value(lambda: pids(folder) == [])


def _sleeps(process: psutil.Process) -> bool:
    """Return whether a process is a `sleep` that has not ended."""
    try:
        return process.name() == "sleep" and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@needs("nbdcopy")
class TestSockets:
    def test_one_that_nobody_listens_at_is_replaced(self, folder: Path) -> None:
        for name in ("ssd.sock", "ssd.sock.control"):
            with socket.socket(socket.AF_UNIX) as stale:
                stale.bind(str(folder / name))
        assert serve(f"{SMALL} --socket ssd.sock", folder, run="nbdinfo $uri").status == 0

    def test_one_that_somebody_listens_at_is_not(self, folder: Path) -> None:
        with socket.socket(socket.AF_UNIX) as used:
            used.bind(str(folder / "ssd.sock"))
            used.listen()
            words = f"a server already listens at {folder}/ssd.sock"
            refused(f"{SMALL} --socket ssd.sock", folder, words)
        assert (folder / "ssd.sock").is_socket()

    def test_a_file_is_no_socket(self, folder: Path) -> None:
        (folder / "ssd.sock").write_text("mine")
        refused(f"{SMALL} --socket ssd.sock", folder, "is not a socket")
        assert (folder / "ssd.sock").read_text() == "mine"

    @pytest.mark.parametrize("name", ["none/ssd.sock", "x" * 108])
    def test_one_that_cannot_be_is_refused(self, folder: Path, name: str) -> None:
        refused(f"{SMALL} --socket {name}", folder, "socket")

    def test_a_name_with_spaces_and_signs_is_one(self, folder: Path) -> None:
        assert serve(f"{SMALL} --socket 'my & ssd?.sock'", folder, run='nbdinfo "$uri"').status == 0


@needs("nbdcopy", "fio")
class TestKept:
    def test_a_drive_goes_on_where_it_was_stopped(self, folder: Path) -> None:
        (folder / "image").write_bytes(os.urandom(1 << 20))
        kept = f"{SMALL} --backing drive.wa"
        first = serve(f"{kept} --json", folder, run=f"nbdcopy image $uri; {FIO.format(size='80M')}")
        assert first.status == 0, first.err
        back = "nbdcopy image $uri; nbdcopy $uri back; cmp -n 1048576 image back"
        second = serve(f"{kept} --json --precondition full", folder, run=back)
        assert second.status == 0, second.err
        assert any("continues in its state" in note for note in second.document["notes"])
        assert second.document["max_erase_count"] >= first.document["max_erase_count"]
        assert second.document["host_pages"] == 256

    def test_a_drive_that_was_killed_goes_on_too(self, folder: Path) -> None:
        (folder / "image").write_bytes(os.urandom(1 << 20))
        words = [*SMALL.split(), "--backing", "drive.wa", "--socket", "ssd.sock"]
        running = serving(words, folder)
        uri = f"nbd+unix:///?socket={folder}/ssd.sock"
        subprocess.run(["nbdcopy", "image", uri], cwd=folder, check=True)
        before = Control(folder / "ssd.sock.control").counters()
        for pid in (running.pid, *pids(folder)):
            os.kill(pid, signal.SIGKILL)
        running.wait()
        again = serving(words, folder)
        after = Control(folder / "ssd.sock.control").counters()
        subprocess.run(["nbdcopy", uri, "back"], cwd=folder, check=True)
        again.terminate()
        assert ended(again).status == 0
        assert (folder / "back").read_bytes()[: 1 << 20] == (folder / "image").read_bytes()
        assert (after["host"]["written_pages"], after["programs"]) == (
            before["host"]["written_pages"],
            before["programs"],
        )

    def test_another_drive_is_refused_in_the_words_of_the_plugin(self, folder: Path) -> None:
        assert serve(f"{SMALL} --backing drive.wa", folder, run="true").status == 0
        refused(f"{SMALL} --backing drive.wa --manager sepgc", folder, "drive.wa")


@needs()
def test_what_nbdkit_complains_of_at_its_end_is_told(folder: Path) -> None:
    # Its words come when the counts were taken: the drive has been asked to end by then.
    script = (
        "trap 'kill $!' TERM\n"
        f'{shutil.which("nbdkit", path=PATH)} "$@" &\nwait\nwait\n'
        "echo 'writeamp: warning: no snapshot was taken: it broke'\n"
        "echo 'nbdkit: vssd: error: the data cannot be made durable' >&2\nexit 5"
    )
    arguments = [*SMALL.split(), "--json", "--run", "true"]
    done = ended(start(arguments, folder, path=program(folder / "bin", "nbdkit", script)))
    assert done.status == 0, done.err
    notes = done.document["notes"]
    assert "no snapshot was taken: it broke" in notes
    assert "the data cannot be made durable" in notes
    assert any("nbdkit ended with status 5" in note for note in notes)
    assert "the data cannot be made durable" in done.err
    assert left_behind(folder) == []


class TestInterrupted:
    @needs()
    def test_a_command_hears_ctrl_c_and_the_figures_are_printed(self, folder: Path) -> None:
        command = f"trap 'exit 9' INT; touch {folder}/ready; while :; do sleep 0.05; done"
        running = start([*SMALL.split(), "--json", "--run", command], folder)
        wait_for_file(folder / "ready", running)
        running.send_signal(signal.SIGINT)
        done = ended(running)
        assert done.status == 130
        assert (done.document["interrupted"], done.document["run_exit_status"]) == (True, 9)
        assert "interrupted; the figures include the writes until the interruption" in done.err
        assert left_behind(folder) == []

    @needs("setsid")
    def test_ctrl_c_of_a_terminal_reaches_the_command_once(self, folder: Path) -> None:
        master, slave = pty.openpty()
        trap = f"trap 'echo >> {folder}/heard; exit 9' INT"
        command = f"{trap}; touch {folder}/ready; while :; do sleep 0.05; done"
        said = folder / "said"
        with os.fdopen(master, "wb", buffering=0) as keyboard, said.open("wb") as out:
            words = ["setsid", "--ctty", "--wait", sys.executable, "-m", "writeamp", "serve"]
            running = subprocess.Popen(
                [*words, *SMALL.split(), "--run", command],
                cwd=folder,
                stdin=slave,
                stdout=out,
                stderr=out,
            )
            os.close(slave)
            await_value((folder / "ready").exists)
            keyboard.write(b"\x03")
            assert running.wait(PATIENCE_S) == 130, said.read_text()
        assert (folder / "heard").read_text() == "\n"

    @needs()
    def test_it_is_heard_while_a_drive_is_aged(self, folder: Path) -> None:
        aged = ["--device", "ssd-v", "--size", "2GiB", "--precondition", "random:1000"]
        running = start([*aged, "--record", "t.parquet", "--run", "true"], folder)
        await_value(lambda: any((folder / "t").glob("writeamp-*")))
        running.send_signal(signal.SIGTERM)
        done = ended(running)
        assert (done.status, done.out) == (143, "")
        assert done.err == "writeamp: interrupted; nothing was written\n"
        assert [one.name for one in folder.iterdir()] == ["t"]
        assert left_behind(folder) == []
