"""Ends of runs with a file system: nothing is left, whenever and however they come."""

from __future__ import annotations

import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from patience import await_value
from served import (
    MOUNTING,
    PATH,
    SMALL,
    ended,
    left_behind,
    needs,
    program,
    serve,
    start,
    wait_for_file,
)
from writeamp.vssd import mount

MOUNT = f"{SMALL} --mount mnt"
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

pytestmark = needs(*MOUNTING, root=True)


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
        arguments = [*MOUNT.split(), "--json", "--run", "echo x > mnt/one"]
        running = start(arguments, folder, path=path)
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
        assert "the figures are of what was written by then" in done.err
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
        assert any("mnt was in use to the end" in note for note in done.document["notes"])
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
