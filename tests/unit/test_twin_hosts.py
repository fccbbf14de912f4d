"""Hosts of real drives: fio's jobs, counters that do not fit, and places that are refused."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

import in_process
import writeamp.learn.cli.twin_measure  # noqa: F401 (slow, and of no test's time)
from stand_in_drives import drive, tools, unchecked, writes
from writeamp.drives.devices import device
from writeamp.drives.devices.source import source_at
from writeamp.drives.devices.writing import TargetPlace
from writeamp.errors import WriteampError
from writeamp.learn.twin import real_host
from writeamp.learn.twin.chain import Phase, chain_of
from writeamp.learn.twin.plan import fio_jobs, section_names, unwritten
from writeamp.learn.twin.real_host import HostCounters, RealHost

MIB, GB = 1 << 20, 10**9
CHAIN = chain_of(6, chunks=True, capacity_bytes=64 * MIB + 8192)


def sections(text: str) -> list[tuple[str, dict[str, str]]]:
    """Return the sections of a job file in order; some have one name."""
    found: list[tuple[str, dict[str, str]]] = []
    for line in text.splitlines():
        if line.startswith("["):
            found.append((line[1:-1], {}))
        elif "=" in line and not line.startswith("#"):
            key, _, value = line.partition("=")
            found[-1][1][key] = value
    return found


@pytest.mark.parametrize("fine", [False, True])
def test_fio_writes_what_the_chain_says(*, fine: bool) -> None:
    found = sections(fio_jobs(CHAIN, fine=fine))[1:]
    fills = [one for name, one in found if name == "fill"]
    assert sum(int(one["size"]) for one in fills) == CHAIN.capacity_bytes
    assert int(fills[1]["offset"]) == int(fills[0]["size"])
    written: dict[str, int] = {}
    for name, one in found[2:]:
        written[name] = written.get(name, 0) + int(one["io_size"])
    ends = [0, *(part.end_pages for part in CHAIN.parts(CHAIN.logical_pages, fine=fine))]
    spans = [(b - a) * 4096 for a, b in itertools.pairwise(ends)]
    assert list(written.values()) == spans
    if fine:
        assert list(written) == section_names(CHAIN)
    seeds = {name: one["randseed"] for name, one in found[2:]}
    assert len(set(seeds.values())) == len(seeds)
    # The sequential stream goes on through its half, and nothing of it is written twice.
    streams = [one for name, one in found[2:] if one["rw"] == "write"]
    half = CHAIN.logical_pages // 2 * 4096
    at = half
    for one in streams:
        assert int(one["offset"]) == at
        assert int(one["offset"]) + int(one["size"]) == 2 * half
        at += int(one["io_size"])
    assert len(streams) == (5 if fine else 2)


def test_a_plans_jobs_are_those_that_are_run() -> None:
    place = ["filename=x", "direct=1"]
    (_, shared), *whole = sections(fio_jobs(CHAIN, place))
    (_, run), *parts = sections(fio_jobs(CHAIN, place, fine=True))
    assert shared == run
    assert (shared["filename"], shared["randrepeat"], shared["end_fsync"]) == ("x", "0", "1")
    first = [one for name, one in whole if name == "window-3"]
    assert first[0]["random_distribution"] == "zoned:35/1:30/4:20/15:15/80"
    same = [one for name, one in parts if name == "window-3"]
    assert [one | {"randseed": ""} for one in first] == [one | {"randseed": ""} for one in same]


def test_a_workload_that_fio_does_not_write_is_told() -> None:
    chain = replace(CHAIN, phases=(Phase("uniform"), Phase("zipf(s=1)")))
    assert unwritten(CHAIN) == []
    assert unwritten(chain) == ["zipf(s=1)"]
    assert "fio cannot write zipf(s=1)" in fio_jobs(chain)
    beside = replace(CHAIN, phases=(replace(CHAIN.phases[3], ends=(0.5, 1.25)),))
    assert unwritten(beside) == [beside.phases[0].workload]  # its stream would pass the end


def logs(folder: Path, host: int, flash: int) -> Path:
    """Write a drive's logs as something that keeps them up to date does."""
    folder.mkdir(exist_ok=True)
    smart = {"critical_warning": 0, "data_units_written": -(-host // 512_000)}
    ocp = {"Physical media units written": {"hi": 0, "lo": flash}}
    for name, document in (("smart.json", smart), ("ocp.json", ocp)):
        (folder / name).write_text(json.dumps(document))
        os.utime(folder / name, (4e9, 4e9))  # later than any reading
    return folder


def test_counters_tell_what_was_written_since_the_first_reading(tmp_path: Path) -> None:
    found = HostCounters.of(source_at(str(logs(tmp_path / "logs", GB, 2 * GB))))
    assert found.read(0) == (0, 0)
    logs(tmp_path / "logs", 2 * GB, 5 * GB)
    assert found.read(GB) == (pytest.approx(GB, rel=1e-3), 3 * GB)
    assert found.read(0) == (pytest.approx(GB, rel=1e-3), 3 * GB)
    logs(tmp_path / "logs", 3 * GB, 7 * GB)
    assert found.read(GB)[1] == 5 * GB


@pytest.mark.parametrize(
    ("host", "flash", "sentence"),
    [
        (GB, 2 * GB, "the counters show no writes between the snapshots"),
        (GB + GB // 2, 3 * GB, "but fio wrote 1 GB: the counters belong to another drive"),
        (3 * GB, 9 * GB, "rose by 1.863 GiB, but fio wrote 1 GB: another program writes"),
        (GB // 2, 3 * GB, "give no WA of a window: "),
        (2 * GB, 2 * GB + 5, "give no WA of a window: "),
    ],
)
def test_counters_that_do_not_fit_are_refused(
    tmp_path: Path, host: int, flash: int, sentence: str
) -> None:
    found = HostCounters.of(source_at(str(logs(tmp_path / "logs", GB, 2 * GB))), patience_s=0)
    found.begin()
    logs(tmp_path / "logs", host, flash)
    with pytest.raises(WriteampError, match=sentence):
        found.read(GB)


def test_counters_may_be_late(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = HostCounters.of(source_at(str(logs(tmp_path / "logs", GB, 2 * GB))))
    found.begin()
    looks = iter([(GB, 2 * GB), (GB + GB // 2, 3 * GB), (2 * GB, 5 * GB)])
    monkeypatch.setattr(real_host.time, "sleep", lambda _: logs(tmp_path / "logs", *next(looks)))
    assert found.read(GB)[1] == 3 * GB


def test_files_that_are_being_written_are_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = logs(tmp_path / "logs", GB, 2 * GB)
    found = HostCounters.of(source_at(str(path)))
    found.begin()
    earlier = (path / "ocp.json").read_text()
    logs(path, 2 * GB, 5 * GB)
    (path / "ocp.json").write_text(earlier)  # of the round before
    os.utime(path / "ocp.json", (4e9 - 1, 4e9 - 1))
    monkeypatch.setattr(real_host.time, "sleep", lambda _: logs(path, 2 * GB, 5 * GB))
    assert found.read(GB)[1] == 3 * GB


def test_counters_that_nobody_keeps_up_to_date_are_refused(tmp_path: Path) -> None:
    path = logs(tmp_path / "logs", GB, 2 * GB)
    (path / "id-ctrl.json").write_text('{"vid": 1, "mn": "DRIVE X", "fr": "F1"}')
    os.utime(path / "id-ctrl.json", (1e9, 1e9))  # holds no counter, and may stay as it is
    HostCounters.of(source_at(str(path)), patience_s=0)
    os.utime(path / "ocp.json", (1e9, 1e9))
    with pytest.raises(WriteampError, match="was not updated for 0 s"):
        HostCounters.of(source_at(str(path)), patience_s=0)


def test_counters_without_the_flash_are_refused(tmp_path: Path) -> None:
    (logs(tmp_path / "logs", GB, 2 * GB) / "ocp.json").unlink()
    with pytest.raises(
        WriteampError, match="cannot show the WA of a chain of workloads; nothing was written"
    ):
        HostCounters.of(source_at(str(tmp_path / "logs")))


def test_coarse_counters_are_refused(tmp_path: Path) -> None:
    with tools(tmp_path, "smartctl"):
        attributes = {225: 60_000, 243: 90_000}
        path = drive(tmp_path, "sda", model="INTEL SSDSC2KB960G8", attributes=attributes)
        found = HostCounters.of(source_at(str(path)))
    found.check_grain(25 * 2**25)
    with pytest.raises(WriteampError, match=r"in steps of 32 MiB.*windows of 800 MiB"):
        found.check_grain(25 * 2**25 - 1)


def test_a_device_is_its_own_source_of_counters(tmp_path: Path) -> None:
    with tools(tmp_path, "nvme"):
        path = drive(tmp_path, "nvme0", host=GB, flash=2 * GB, refuses=["fdp stats"])
        found = HostCounters.of(source_at(str(path)))
        found.begin()
        os.system(writes(path, host=GB, flash=2 * GB))
        host, flash = found.read(GB)
    assert flash / host == pytest.approx(2, rel=1e-3)


def host_of(place: TargetPlace, folder: Path, tell: Callable[[str], None] = print) -> RealHost:
    return RealHost(place, HostCounters.of(source_at(str(logs(folder / "logs", GB, GB)))), tell)


def test_a_place_is_judged_before_it_is_written(tmp_path: Path) -> None:
    file, told = tmp_path / "f", list[str]()
    file.write_bytes(b"")
    place = unchecked("file", str(file), 64 * MIB, is_new=True)
    host = host_of(place, tmp_path, told.append)
    chain = chain_of(2, chunks=False, capacity_bytes=place.size_bytes)
    host.check(chain, goes_on=False)
    assert "64 MiB of the drive's" in told[0]
    with pytest.raises(WriteampError, match="is missing, but a part of the chain"):
        host.check(chain, goes_on=True)
    assert not file.exists()
    with pytest.raises(WriteampError, match=r"fio cannot write zipf\(s=1\)"):
        host.check(replace(chain, phases=(Phase("zipf(s=1)"),)), goes_on=False)


def test_a_file_is_emptied_and_gets_its_blocks(tmp_path: Path) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"x" * MIB)
    place = unchecked("file", str(file), MIB // 2)
    with place.held():
        place.discard(timeout_s=1)
    assert file.read_bytes() == bytes(MIB)
    assert file.stat().st_blocks * 512 >= MIB // 2
    huge = unchecked("file", str(file), 1 << 60)
    with huge.held(), pytest.raises(WriteampError, match="cannot allocate"):
        huge.discard(timeout_s=1)


def test_a_file_system_that_moves_data_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "file_system_of", lambda path: ("btrfs", ["rw"]))
    with pytest.raises(WriteampError, match="is on btrfs, which relocates overwrites"):
        device.check_overwrites(str(tmp_path / "f"), 4096)
    monkeypatch.setattr(device, "file_system_of", lambda path: ("ext4", ["rw"]))
    block_bytes = os.statvfs(tmp_path).f_bsize
    device.check_overwrites(str(tmp_path / "f"), block_bytes)
    with pytest.raises(WriteampError, match="is on ext4 with blocks of"):
        device.check_overwrites(str(tmp_path / "f"), block_bytes + 1)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("--target nbd://localhost", "names no Unix socket"),
        ("--target {f} --op 0.3", "--op is for simulated drives only"),
        ("--target ssd-m --size 64MiB --counters {f}", "--counters is for drives with counters"),
        ("--target {f} --timed", "--timed is for simulated drives only"),
        ("--target {f} --counters {f}", "cannot show the WA of a chain"),
        ("--target {f} --families {f} --counters {f}", "cannot read the families of"),
    ],
)
def test_what_does_not_go_together_is_refused(tmp_path: Path, arguments: str, words: str) -> None:
    file = tmp_path / "f"
    file.write_bytes(b"data")
    os.utime(file, (4e9, 4e9))
    asked = f"{arguments.format(f=file)} --out {tmp_path / 't.parquet'}"
    found = in_process.run("twin measure", asked)
    assert found.status == 2
    assert words in found.err
    assert file.read_bytes() == b"data"


def test_without_fio_nothing_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name, **_: None)
    found = in_process.run("twin measure", f"--target {tmp_path}/f --size 64MiB --out {tmp_path}/t")
    assert found.status == 2
    assert "fio is not installed" in found.err
