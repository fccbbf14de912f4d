"""A file system on a virtual drive: mounted, used, and gone, whenever the end comes."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

import writeamp as wa
from patience import await_value
from served import (
    MOUNTING,
    PATH,
    SMALL,
    ended,
    left_behind,
    needs,
    program,
    refused,
    serve,
    start,
    wait_for_file,
)
from writeamp.recorder import tracing
from writeamp.vssd import mount
from writeamp.vssd.mount import FILE_SYSTEMS

MOUNT = f"{SMALL} --mount mnt"
BIG_ENOUGH = {"ext4": SMALL, "xfs": "--device ssd-v --size 320MiB", "btrfs": "--size 128MiB"}
pytestmark = needs(*MOUNTING, root=True)


class TestMounted:
    @pytest.mark.parametrize("file_system", FILE_SYSTEMS)
    def test_a_command_uses_it_and_nothing_is_left(self, folder: Path, file_system: str) -> None:
        if shutil.which(f"mkfs.{file_system}", path=PATH) is None:
            pytest.skip(f"needs mkfs.{file_system}")
        arguments = f"{BIG_ENOUGH[file_system]} --mount mnt --fs {file_system} --json"
        command = 'head -c 2000000 /dev/urandom > mnt/one && cmp mnt/one "$mountpoint/one"'
        done = serve(arguments, folder, run=command)
        assert done.status == 0, done.err
        layers = done.document["layers"]
        assert 2_000_000 <= layers["application_bytes"] < 2_010_000
        assert layers["file_system_bytes"] >= 2_000_000
        assert layers["device_bytes"] == done.document["host_bytes"]
        assert layers["flash_bytes"] == done.document["flash_bytes"]
        # The command's pages alone: mkfs wrote more than what is between these.
        assert layers["device_bytes"] < 3_000_000
        assert left_behind(folder) == []
        assert not (folder / "mnt").exists()

    @needs("mkfs.btrfs")
    def test_a_drive_that_died_is_not_in_the_way_of_btrfs(self, folder: Path) -> None:
        other = f"{BIG_ENOUGH['btrfs']} --mount other --fs btrfs --run 'touch other/file'"
        command = (
            f"pkill -KILL -f '[n]bdfuse.*{folder}'; "
            f"{sys.executable} -m writeamp serve {other} && touch well"
        )
        died = serve(f"{SMALL} --mount mnt", folder, run=command)
        assert died.status == 2
        assert (folder / "well").exists(), died.err
        assert left_behind(folder) == []

    def test_making_the_file_system_counts_if_that_is_asked_for(self, folder: Path) -> None:
        later = serve(f"{MOUNT} --json", folder, run="true").document
        whole = serve(f"{MOUNT} --count-from start --json", folder, run="true").document
        assert later["host_pages"] < whole["host_pages"]
        assert whole["counted_from_request"] == 0 < later["counted_from_request"]

    def test_what_is_deleted_is_trimmed(self, folder: Path) -> None:
        command = "head -c 9000000 /dev/urandom > mnt/one && sync && rm mnt/one"

        def trimmed_bytes() -> int:
            done = serve(f"{MOUNT} --json", folder, run=command)
            return done.document["host"]["trimmed_bytes"]

        # The kernel discards in the background: on a busy machine sometimes after the command.
        assert await_value(trimmed_bytes) >= 9_000_000 - 4096

    def test_a_folder_that_was_there_stays(self, folder: Path) -> None:
        (folder / "mnt").mkdir()
        assert serve(MOUNT, folder, run="touch mnt/one").status == 0
        assert list((folder / "mnt").iterdir()) == []

    def test_a_file_system_on_a_kept_drive_stays(self, folder: Path) -> None:
        kept = f"{MOUNT} --backing drive.wa"
        assert serve(kept, folder, run="echo hello > mnt/one").status == 0
        assert serve(kept, folder, run="grep -q hello mnt/one").status == 0
        refused(f"{kept} --fs xfs", folder, "the drive has the file system ext4. Pass --fs ext4")

    def test_data_without_a_file_system_stay(self, folder: Path) -> None:
        kept = f"{SMALL} --backing drive.wa"
        (folder / "image").write_bytes(b"data" * 1024)
        assert serve(kept, folder, run="nbdcopy image $uri").status == 0
        words = "the drive has data but no known file system"
        refused(f"{kept} --mount mnt", folder, words)
        same = "nbdcopy $uri back; cmp -n 4096 image back"
        assert serve(kept, folder, run=same).status == 0

    def test_a_kept_drive_without_data_gets_a_file_system(self, folder: Path) -> None:
        kept = f"{SMALL} --backing drive.wa --precondition full"
        assert serve(kept, folder, run="true").status == 0
        assert serve(f"{kept} --mount mnt", folder, run="touch mnt/one").status == 0

    def test_a_drive_stays_aged_when_the_file_system_is_made(self, folder: Path) -> None:
        arguments = f"{MOUNT} --count-from start --json"
        new = serve(arguments, folder, run="true").document
        assert new["host"]["trimmed_pages"] >= new["logical_pages"]
        aged = serve(f"{arguments} --precondition full", folder, run="true").document
        # What mkfs fills with zeros holds nothing either.
        assert aged["host"]["trimmed_pages"] < aged["logical_pages"] / 4

    def test_the_layers_are_drawn(self, folder: Path) -> None:
        command = "head -c 2000000 /dev/urandom > mnt/one"
        assert serve(f"{MOUNT} --plot layers.svg", folder, run=command).status == 0
        assert "file system" in (folder / "layers.svg").read_text()

    def test_in_front_it_is_there_until_ctrl_c(self, folder: Path) -> None:
        running = start(MOUNT.split(), folder)
        assert f"mounted at {folder}/mnt" in running.stdout.readline()
        (folder / "mnt" / "one").write_bytes(b"x" * 100_000)
        running.send_signal(signal.SIGINT)
        done = ended(running)
        assert done.status == 0
        assert "file system wrote" in done.out
        assert "passed to write()" not in done.out
        assert left_behind(folder) == []

    def test_a_recording_has_the_process_and_the_file_of_each_write(self, folder: Path) -> None:
        command = (
            "mkdir mnt/a && for i in 1 2 3 4 5 6 7 8; do head -c 8192 /dev/urandom > mnt/a/$i; done"
            " && head -c 2000000 /dev/urandom > mnt/one && sync && rm mnt/one"
            " && head -c 3000000 /dev/zero > mnt/two && sync && mv mnt/two mnt/three"
        )
        done = serve(f"{MOUNT} --record t.parquet --json", folder, run=command)
        assert done.status == 0, done.err
        trace = wa.traces.read(folder / "t.parquet", origins=True)
        counted = trace.requests[trace.recorded.count_from_request :].filter(op="write")
        written = dict(counted.group_by("file").agg(pl.col("length").sum()).iter_rows())
        assert written["one"] == 2_002_944  # whole blocks, which `two` uses again
        assert written.get("two", 0) + written.get("three", 0) == 3_002_368
        assert {written[f"a/{number}"] for number in range(1, 9)} == {8192}
        assert written.keys() >= {"[journal]", "[metadata]"}
        assert written.get(None, 0) == 0
        writers = counted.filter(pl.col("file").cast(pl.String).is_in(["two", "three"]))["process"]
        assert set(writers) == {"head"}  # although the kernel wrote them back
        # A row for each file of a request changes no counter of a replay.
        replayed = wa.simulate(trace=trace, spread=False)
        assert replayed.host == {name: done.document["host"][name] for name in replayed.host}
        rows = wa.blame(trace=trace, by="file").tags
        assert {row.tag for row in rows[:2]} <= {"one", "two", "three"}
        assert left_behind(folder) == []

    def test_without_files_the_recording_says_why(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def may_not_mount() -> None:
            raise PermissionError(errno.EPERM, "Operation not permitted")

        monkeypatch.setattr(tracing, "events_folder", may_not_mount)
        done = serve(f"{MOUNT} --record t.parquet", folder, run="touch mnt/one")
        assert done.status == 0
        words = "the requests in t.parquet have no process and no file: tracefs cannot be mounted"
        assert words in " ".join(done.err.split())
        assert wa.traces.read(folder / "t.parquet").origins == []

    def test_a_daemon_that_uses_it_is_ended(self, folder: Path) -> None:
        done = serve(MOUNT, folder, run="cd mnt && (setsid sh -c 'echo x > y; sleep 600' &)")
        assert done.status == 0
        assert left_behind(folder) == []


class TestRefused:
    def test_a_folder_in_use_is_left_alone(self, folder: Path) -> None:
        (folder / "mnt").mkdir()
        subprocess.run(["mount", "-t", "tmpfs", "none", "mnt"], cwd=folder, check=True)
        try:
            done = serve(MOUNT, folder, run="true")
        finally:
            subprocess.run(["umount", "mnt"], cwd=folder, check=True)
        assert done.status == 2
        assert "mnt is already mounted" in done.err

    @pytest.mark.parametrize("name", ["file", "none/mnt"])
    def test_a_place_that_cannot_be_is_refused(self, folder: Path, name: str) -> None:
        (folder / "file").touch()
        refused(f"{SMALL} --mount {name}", folder, name)

    def test_without_root_the_option_is_named(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(os, "geteuid", lambda: 1000)
        refused(MOUNT, folder, "--mount needs root")

    def test_a_drive_too_small_for_its_file_system_is_said(self, folder: Path) -> None:
        refused(f"{MOUNT} --fs xfs", folder, "mkfs.xfs failed")


# The moments of a run at which it is asked to end, by the program that then runs, and whether the
# command has ended by then.
MOMENTS = [
    ("nbdkit --foreground", False),
    ("nbdfuse", False),
    ("losetup --find", False),
    ("mkfs.ext4 -q", False),
    ("mount -t", False),
    ("sync --file-system", False),
    ("umount", True),
    ("losetup --detach", True),
    ("fusermount3 -u", True),
]


class TestEndings:
    @pytest.mark.parametrize(
        ("moment", "by"),
        [
            *((moment, signal.SIGINT) for moment in MOMENTS),
            (MOMENTS[3], signal.SIGTERM),
            (MOMENTS[6], signal.SIGTERM),
        ],
        ids=lambda part: part[0] if isinstance(part, tuple) else part.name,
    )
    def test_nothing_is_left_whenever_it_is_asked_to_end(
        self, folder: Path, moment: tuple[str, bool], by: signal.Signals
    ) -> None:
        words, is_over = moment
        path = slowed(folder, words)
        arguments = [*MOUNT.split(), "--json", "--record", "t.parquet"]
        running = start([*arguments, "--run", "echo x > mnt/one"], folder, path=path)
        wait_for_file(folder / "reached", running)
        running.send_signal(by)
        done = ended(running)
        # What comes after the counts were taken changes nothing any more.
        assert done.status == (0 if is_over else 128 + by), done.err
        assert (done.out != "") is is_over
        assert left_behind(folder) == []
        assert not (folder / "mnt").exists()

    def test_nothing_is_left_when_the_command_is_interrupted(self, folder: Path) -> None:
        command = f"cd mnt; touch one {folder}/reached; sleep 600"
        running = start([*MOUNT.split(), "--run", command], folder)
        wait_for_file(folder / "reached", running)
        running.send_signal(signal.SIGTERM)
        done = ended(running)
        assert done.status == 128 + signal.SIGTERM
        assert "the figures include the writes until the interruption" in done.err
        assert left_behind(folder) == []

    @pytest.mark.parametrize("words", ["losetup --find", "mkfs.ext4 -q", "mount -t"])
    def test_nothing_is_left_when_a_layer_fails(self, folder: Path, words: str) -> None:
        path = slowed(folder, words, then="echo 'it broke' >&2; exit 1")
        done = ended(start([*MOUNT.split(), "--run", "true"], folder, path=path))
        assert (done.status, done.out) == (2, "")
        assert f"{words.split(maxsplit=1)[0]} failed: it broke" in done.err
        assert left_behind(folder) == []

    def test_a_file_system_of_a_process_that_was_killed_is_unmounted_by_the_next(
        self, folder: Path
    ) -> None:
        # The folder is in use, as by a shell, and has data that were never written.
        command = f"cd mnt; touch one {folder}/reached; sleep 600"
        running = start([*MOUNT.split(), "--run", command], folder)
        wait_for_file(folder / "reached", running)
        running.kill()
        running.wait()
        await_value(lambda: len(left_behind(folder)) >= 4)
        done = serve(SMALL, folder, run="true")
        assert done.status == 0, done.err
        await_value(lambda: left_behind(folder) == [])
        assert serve(MOUNT, folder, run="touch mnt/two").status == 0

    def test_nothing_is_left_when_nbdkit_is_killed(self, folder: Path) -> None:
        command = f"pkill -KILL -f 'nbdkit.*{folder}'; sleep 600"
        done = serve(MOUNT, folder, run=command)
        assert done.status == 2
        assert "nbdkit was killed by signal 9" in done.err
        assert left_behind(folder) == []

    def test_who_stays_in_it_is_waited_for_and_the_figures_are_told_all_the_same(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(mount, "_PATIENCE_S", 0.5)
        (folder / "mnt").mkdir()
        # No child of the run: nobody ends it before the unmounting.
        stranger = [
            "sh",
            "-c",
            "while ! test -e ../in; do sleep 0.01; done; cd ../mnt; touch ../inside; "
            "exec sleep 600",
        ]
        (folder / "elsewhere").mkdir()
        with subprocess.Popen(stranger, cwd=folder / "elsewhere") as running:
            ready = "touch in; while ! test -e inside; do sleep 0.01; done"
            done = serve(f"{MOUNT} --json --record t.parquet", folder, run=ready)
            running.kill()
        assert done.status == 0
        assert any("mnt is still in use" in note for note in done.document["notes"])
        assert (folder / "t.parquet").exists()
        await_value(lambda: left_behind(folder) == [])


def slowed(folder: Path, words: str, *, then: str = "sleep 0.5") -> str:
    """Return a PATH on which a program with these first words says that it runs, and waits."""
    name, _, first = words.partition(" ")
    script = (
        f'if test -z "{first}" || test "$1" = "{first}"; then\n  touch {folder}/reached\n  {then}\n'
        f'fi\nexec {shutil.which(name, path=PATH)} "$@"'
    )
    return program(folder / "bin", name, script)
