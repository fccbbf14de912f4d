"""`wa.VirtualSsd`: a drive while a block lasts."""

from __future__ import annotations

import atexit
import math
import os
import signal
import subprocess
import tempfile
import threading
from pathlib import Path
from typing import Any

import pytest

import writeamp as wa
from served import MOUNTING, left_behind, needs
from writeamp.errors import WriteampError
from writeamp.vssd import virtual_ssd

pytestmark = needs("nbdcopy")


@pytest.fixture(autouse=True)
def private(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have private files where a test can look for what is left."""
    (folder / "t").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder / "t"))
    monkeypatch.chdir(folder)


def copy(drive: wa.VirtualSsd, size: int = 1 << 20) -> None:
    """Write to a drive."""
    Path("image").write_bytes(os.urandom(size))
    subprocess.run(["nbdcopy", "image", drive.uri], check=True)


def test_a_block_has_a_drive_that_counts(folder: Path) -> None:
    with wa.VirtualSsd("tlc-datacenter", size="1GiB") as drive:
        assert math.isnan(drive.wa)
        copy(drive)
        assert drive.wa == 1.0
        assert drive.host_bytes == drive.flash_bytes == 1 << 20
        assert drive.counters()["host"]["written_pages"] == 256
        assert drive.unix_socket.is_socket()
        assert drive.mount_point is None
        assert drive.result().causes == {"host": 256, "gc": 0, "wear_leveling": 0}
        assert drive.device.capacity_bytes == 1 << 30
    assert left_behind(folder) == []


def test_counting_begins_anew() -> None:
    with wa.VirtualSsd("ssd-v", size="64MiB") as drive:
        copy(drive)
        drive.begin()
        assert drive.host_bytes == 0
        copy(drive, 4096)
        assert drive.host_bytes == 4096
        assert drive.counters()["host"]["written_bytes"] == (1 << 20) + 4096


def test_it_takes_the_settings_of_a_simulation() -> None:
    settings = {"manager": "sepgc", "victims": "fifo", "op": 0.5, "layout": "flat", "seed": 7}
    with wa.VirtualSsd(blocks=64, pages_per_block=16, **settings) as drive:
        assert drive.result().to_dict()["manager"] == "sepgc"
        assert drive.device.op == pytest.approx(0.5, rel=0.01)


def test_it_can_be_aged() -> None:
    with wa.VirtualSsd("ssd-v", size="64MiB", precondition="random:1") as drive:
        copy(drive)
        assert drive.wa > 1.2


def test_it_counts_by_placement_handle() -> None:
    drive_settings = {"manager": "nvme-fdp:handles=4,by=range", "precondition": "random"}
    with wa.VirtualSsd(size="32MiB", op=0.3, **drive_settings) as drive:
        before = drive.counters()["handles"]
        copy(drive, 4 << 20)
        result, life = drive.result(), drive.counters()
    assert result.handles is not None
    # The program writes the first eighth of the addresses, so only to the first handle.
    assert {row["handle"] for row in result.handles if row["host_bytes"]} == {0}
    assert result.handles[0]["host_bytes"] == result.host_bytes == 4 << 20
    assert sum(row["media_bytes"] for row in result.handles) == result.flash_bytes
    moved_bytes = result.causes["gc"] * life["page_bytes"]
    assert moved_bytes > 0
    for name in ("moved_in", "moved_out"):
        assert sum(row[name] for row in result.handles) == moved_bytes
    assert [row["moved_in"] for row in result.handles[:-1]] == [0] * (len(result.handles) - 1)
    assert result.to_dict()["handles"] == result.handles
    assert "Placement handles" in result._repr_html_()
    # Preconditioning wrote to all handles.
    assert [row["handle"] for row in before] == [0, 1, 2, 3, None]
    assert sum(row["host_pages"] for row in life["handles"]) == life["host"]["written_pages"]


@pytest.mark.parametrize("settings", [{"manager": "sepgc"}, {"timed": True}])
def test_other_managers_and_timed_drives_do_not_count_by_handle(settings: dict[str, Any]) -> None:
    settings = {"manager": "nvme-fdp:by=range"} | settings
    with wa.VirtualSsd("ssd-v", size="256MiB", **settings) as drive:
        copy(drive)
        assert drive.result().handles is None
        assert "handles" not in drive.result().to_dict()
        assert "handles" not in drive.counters()


def test_a_recording_is_written_at_the_end(folder: Path) -> None:
    with wa.VirtualSsd("ssd-v", size="64MiB", record=folder / "t.parquet") as drive:
        copy(drive)
    found = wa.simulate(trace=folder / "t.parquet", progress=None)
    assert found.host_pages == 256


def test_an_error_in_the_block_stops_it_and_writes_no_recording(folder: Path) -> None:
    def fail() -> None:
        with wa.VirtualSsd("ssd-v", size="64MiB", record="t.parquet") as drive:
            copy(drive)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert left_behind(folder) == []
    assert not Path("t.parquet").exists()


def test_one_that_cannot_start_leaves_nothing(folder: Path) -> None:
    Path("drive.wa").write_bytes(b"no drive")
    with pytest.raises(WriteampError, match=r"drive\.wa"):
        wa.VirtualSsd("ssd-v", size="64MiB", backing="drive.wa").__enter__()
    assert left_behind(folder) == []
    assert Path("drive.wa").read_bytes() == b"no drive"


@pytest.mark.parametrize("moment", ["start_drive", "atexit.register"])
def test_a_signal_at_the_end_of_its_building_leaves_nothing(
    folder: Path, monkeypatch: pytest.MonkeyPatch, moment: str
) -> None:
    owner = atexit if moment == "atexit.register" else virtual_ssd
    name = moment.rpartition(".")[2]
    real = getattr(owner, name)

    def interrupted(*given: object) -> object:
        done = real(*given)
        signal.raise_signal(signal.SIGINT)
        return done

    drive = wa.VirtualSsd("ssd-v", size="64MiB")
    with monkeypatch.context() as patched:
        patched.setattr(owner, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            drive.__enter__()
    assert left_behind(folder) == []
    with drive:
        copy(drive)


def test_what_goes_wrong_at_the_end_is_a_warning() -> None:
    drive = wa.VirtualSsd("ssd-v", size="64MiB")
    drive.__enter__()
    running = drive._open().server.daemon.process
    running.kill()
    running.wait()
    with pytest.warns(RuntimeWarning, match="nbdkit was killed by signal 9"):
        drive.close()
    with pytest.raises(WriteampError, match="not open"):
        _ = drive.wa


def test_it_is_open_once_at_a_time_and_can_be_opened_again() -> None:
    drive = wa.VirtualSsd("ssd-v", size="64MiB")
    for _ in range(2):
        with drive:
            with pytest.raises(WriteampError, match="already open"):
                drive.__enter__()
            copy(drive)
            assert drive.host_bytes == 1 << 20
    with pytest.raises(WriteampError, match="not open"):
        _ = drive.uri


def test_its_last_figures_stay_after_the_block() -> None:
    drive = wa.VirtualSsd("ssd-v", size="64MiB")
    with pytest.raises(WriteampError, match="not open"):
        _ = drive.wa
    with drive:
        copy(drive)
    assert drive.host_bytes == drive.flash_bytes == 1 << 20
    assert drive.wa == drive.result().wa == 1.0
    with drive:
        assert drive.host_bytes == 0
    assert drive.host_bytes == 0


def test_it_is_shown_in_a_few_words() -> None:
    drive = wa.VirtualSsd("ssd-v", size="64MiB")
    assert repr(drive) == "<VirtualSsd: ssd-v, 64 MiB, not open>"
    with drive:
        assert repr(drive) == "<VirtualSsd: ssd-v, 64 MiB, open>"


def test_a_thread_has_drives_of_its_own(folder: Path) -> None:
    found: list[float] = []

    def work() -> None:
        with wa.VirtualSsd("ssd-v", size="64MiB") as drive:
            subprocess.run(["nbdinfo", drive.uri], check=True, stdout=subprocess.DEVNULL)
            found.append(drive.host_bytes)

    threads = [threading.Thread(target=work) for _ in range(2)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert found == [0, 0]
    assert left_behind(folder) == []


@needs(*MOUNTING, root=True)
def test_a_file_system_is_written_back_before_it_is_counted(folder: Path) -> None:
    with wa.VirtualSsd("ssd-v", size="64MiB", mount=folder / "mnt") as drive:
        assert drive.mount_point == folder / "mnt"
        (folder / "mnt" / "one").write_bytes(os.urandom(2_000_000))
        result = drive.result()
        assert result.layers.application is None
        assert 2_000_000 <= result.layers.file_system == drive.host_bytes
    assert left_behind(folder) == []
    assert not (folder / "mnt").exists()
