"""Real targets: what fio is asked to do, and what is made of its answers."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

import in_process
from collecting import MIXED, READS, WRITES, measure_on
from patience import await_value
from served import needs, program
from stand_in_drives import unchecked
from writeamp.drives.devices.writing import TargetPlace, fio
from writeamp.errors import WriteampError
from writeamp.learn.blackbox import active
from writeamp.learn.blackbox.collection import collect
from writeamp.learn.blackbox.designs import Design
from writeamp.learn.blackbox.space import KIB, WorkloadPoint
from writeamp.learn.blackbox.targets import real
from writeamp.learn.blackbox.targets.choice import target_of
from writeamp.learn.blackbox.targets.real import RealTarget, measured, precondition
from writeamp.learn.blackbox.targets.settings import RealSettings

MIB = 1 << 20
SHARED = Path("/dev/shm")
SIZE = 16 * MIB
PLACE = unchecked("file", "drive.img", SIZE)
# It is locked by no file.
EXPORT = unchecked("nbd", "drive.img", SIZE)
FAST = RealSettings(runtime_s=0.2)


def has_direct_io(folder: Path) -> bool:
    try:
        os.close(os.open(folder / "probe", os.O_RDWR | os.O_CREAT | os.O_DIRECT))
    except OSError:
        return False
    return True


@pytest.fixture
def drive(tmp_path: Path) -> Path:
    """Return where a file may be made that fio can use around the system's cache."""
    if shutil.which("fio") is None or not has_direct_io(tmp_path):
        pytest.skip("needs fio, and a file system with direct I/O")
    return tmp_path / "drive.img"


def options_of(point: WorkloadPoint, seed: int = 1) -> dict[str, str]:
    found = real.options_of(point, PLACE, runtime_s=2.0, seed=seed)
    pairs = (option.removeprefix("--").partition("=") for option in found)
    return {name: value for name, _, value in pairs}


def test_a_random_mixture_is_a_job_with_a_share_of_random_requests_for_each_direction() -> None:
    found = options_of(MIXED.of_one_pattern())
    assert found["rw"] == "randrw"
    assert found["rwmixwrite"] == "50"
    assert found["bs"] == "65536,4096"  # reads, writes
    assert found["percentage_random"] == "100,50"
    assert found["iodepth"] == "16"
    assert found["runtime"] == "2000ms"


@pytest.mark.parametrize(
    ("point", "rw"),
    [
        (READS, "randread"),
        (WRITES, "randwrite"),
        (replace(WRITES, write_randomness=0.0), "write"),
        (replace(READS, read_randomness=0.0, read_stride_bytes=64 * KIB), "read:65536"),
        (WorkloadPoint(0.5, 1, 4 * KIB, 4 * KIB), "rw"),
    ],
)
def test_each_pattern_is_one_of_fios(point: WorkloadPoint, rw: str) -> None:
    assert options_of(point)["rw"] == rw


def test_a_sequential_job_begins_at_a_place_of_its_own_in_the_first_half() -> None:
    sequential = replace(READS, read_randomness=0.0)
    starts = [int(options_of(sequential, seed)["offset"]) for seed in range(20)]
    assert len(set(starts)) > 15
    assert all(0 <= start < SIZE // 2 and start % 4096 == 0 for start in starts)
    assert options_of(sequential, 1) == options_of(sequential, 1)
    sizes = [int(options_of(sequential, seed)["size"]) for seed in range(20)]
    assert [start + size for start, size in zip(starts, sizes, strict=True)] == [SIZE] * 20


def test_a_file_whose_name_has_a_colon_is_one_file_for_fio() -> None:
    assert "filename=/a\\:b.img" in unchecked("file", "/a:b.img", SIZE)._fio_options()


def test_points_of_a_file_are_measured_with_its_own_numbers(drive: Path) -> None:
    target = RealTarget(str(drive), size_bytes=SIZE, settings=FAST)
    points = [READS, WRITES, MIXED.of_one_pattern()]
    with target.prepared(is_prepared=False):
        outcomes = [measure_on(target, point) for point in points]
    for outcome in outcomes:
        found = outcome.measured
        assert found is not None, outcome.error
        depth = outcome.point.queue_depth
        assert found.throughput_iops * found.latency_us / 1e6 <= 1.2 * depth
        assert found.requests > 0
        assert found.latency_p50_us <= found.latency_p99_us
        assert (found.read_latency_us is None) == (not outcome.point.has_reads)
        assert (found.write_latency_us is None) == (not outcome.point.has_writes)
        assert found.wa is None


def test_preconditioning_fills_the_file(drive: Path) -> None:
    target = RealTarget(str(drive), size_bytes=SIZE, settings=FAST)
    assert drive.stat().st_blocks * 512 < SIZE // 2
    with target.prepared(is_prepared=False):
        assert drive.stat().st_blocks * 512 >= SIZE
    assert drive.stat().st_size == SIZE


def test_a_file_is_measured_by_one_collection_at_a_time(drive: Path) -> None:
    first, other = (RealTarget(str(drive), size_bytes=SIZE, settings=FAST) for _ in range(2))
    with (
        first.prepared(is_prepared=False),
        pytest.raises(WriteampError, match="another process measures"),
        other.prepared(is_prepared=False),
    ):
        pass
    with other.prepared(is_prepared=False):
        assert drive.stat().st_blocks * 512 >= SIZE


def test_the_same_command_goes_on_and_does_not_fill_again(tmp_path: Path, drive: Path) -> None:
    out = tmp_path / "real.parquet"
    verb = f"--target {drive} --size 16MiB --design random --runtime 100ms --out {out}"
    first = in_process.document("blackbox collect", f"{verb} --points 2")
    rest = in_process.document("blackbox collect", f"{verb} --points 3")
    assert [first[key] for key in ("points", "done", "skipped", "failed")] == [2, 2, 0, 0]
    assert (rest["done"], rest["skipped"], rest["out"]) == (1, 2, str(out))


def test_active_learning_runs_on_a_file(
    tmp_path: Path, drive: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(active, "_LEAST_FIRST", 3)
    settings = RealSettings(runtime_s=0.1)
    target = RealTarget(str(drive), size_bytes=SIZE, settings=settings)
    found = collect(target, out=tmp_path / "real.parquet", design=Design("active", 4))
    assert (found.done, found.failed) == (4, 0)


def test_a_point_is_measured_as_whole_percents_and_sectors(drive: Path) -> None:
    target = RealTarget(str(drive), size_bytes=SIZE, settings=FAST)
    odd = replace(MIXED, write_ratio=0.1234, write_randomness=0.999)
    assert target.nearest(odd).write_ratio == 0.12
    assert target.nearest(odd).write_randomness == 1.0


def fake_fio(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Put a program in the place of fio."""
    monkeypatch.setenv("PATH", program(folder / "bin", "fio", script))


def test_a_file_in_memory_is_refused() -> None:
    if not any(Path(one.mountpoint) == SHARED for one in psutil.disk_partitions(all=True)):
        pytest.skip("needs /dev/shm")
    path = SHARED / "writeamp-test.img"
    with pytest.raises(WriteampError, match="tmpfs, which is in memory"):
        RealTarget(str(path), size_bytes=SIZE)
    assert not path.exists()


@pytest.mark.parametrize(
    ("script", "words"),
    [
        ("echo 'fio: pid=1, err=5/file:io_u.c:1, func=io_u error' >&2; exit 1", "io_u error"),
        ("exit 3", "ended with status 3"),
        ("echo no JSON", "ended with status 0"),
        ("echo '{\"jobs\": []}'", "ended with status 0"),
    ],
)
def test_a_failure_of_fio_is_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, script: str, words: str
) -> None:
    fake_fio(tmp_path, script, monkeypatch)
    failure = f"fio failed on drive.img: .*{words}"
    with EXPORT.held(), pytest.raises(WriteampError, match=failure):
        EXPORT.run_fio([], timeout_s=1)


def test_a_fio_that_does_not_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake_fio(tmp_path, "exec sleep 600", monkeypatch)
    monkeypatch.setattr(fio, "_PATIENCE_S", 0.1)
    with EXPORT.held(), pytest.raises(WriteampError, match="fio did not end"):
        EXPORT.run_fio([], timeout_s=0.1)


def has_ended(number: int) -> bool:
    try:
        return psutil.Process(number).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


@needs("setpriv")
def test_fio_ends_with_a_writeamp_that_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    number = tmp_path / "number"
    fake_fio(tmp_path, f"echo $$ > {number}; exec sleep 6000", monkeypatch)
    code = """if True:
        from stand_in_drives import unchecked
        place = unchecked("nbd", "drive.img", 1 << 24)
        with place.held():
            place.run_fio([], timeout_s=600)
    """
    path = os.pathsep.join(sys.path)
    with subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": path}
    ) as it:
        await_value(lambda: number.exists() and number.read_text().strip())
        fio_number = int(number.read_text())
        it.kill()
    await_value(lambda: has_ended(fio_number))


def test_without_fio_a_real_target_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(WriteampError, match="fio is not installed"):
        RealTarget(str(tmp_path / "drive.img"), size_bytes=SIZE)
    assert list(tmp_path.iterdir()) == []


def report(**changes: Any) -> dict[str, Any]:
    """Return a report of 1000 reads of 4 KiB in a second, with windows that scatter by a tenth."""
    direction = {
        "total_ios": 1000,
        "iops": 1000.0,
        "iops_mean": 1000.0,
        "iops_stddev": 100.0,
        "iops_samples": 25,
        "bw_bytes": 4096000,
        "bw_mean": 4000.0,
        "bw_dev": 200.0,
        "bw_samples": 25,
        "runtime": 1000,
        "lat_ns": {"mean": 50e3, "percentile": {"50.000000": 40_000, "99.000000": 90_000}},
    }
    nothing = direction | {"total_ios": 0}
    return {
        "mixed": direction | changes,
        "read": direction | changes,
        "write": nothing,
        "job_runtime": 1100,
    }


def test_units_of_a_report_become_ours() -> None:
    found = measured(report())
    assert (found.latency_us, found.latency_p50_us, found.latency_p99_us) == (50.0, 40.0, 90.0)
    assert (found.bandwidth_mb_s, found.throughput_iops) == (4.096, 1000.0)
    assert (found.read_latency_us, found.write_latency_us) == (50.0, None)
    assert (found.measured_s, found.run_s) == (1.0, 1.1)


def test_precision_follows_from_the_scatter_of_fios_windows() -> None:
    student_of_24 = 2.0638985616280205
    assert measured(report()).precision == pytest.approx(student_of_24 * 0.1 / 5)
    assert measured(report(iops_samples=5)).precision is None


def test_a_report_without_requests_is_refused() -> None:
    with pytest.raises(WriteampError, match="no request was completed"):
        measured(report(total_ios=0))


@pytest.fixture
def rounds(monkeypatch: pytest.MonkeyPatch) -> Callable[[list[float]], list[str]]:
    """Let fio find given throughputs in the rounds; return the patterns that it was asked for."""

    def of(throughputs: list[float]) -> list[str]:
        asked: list[str] = []

        def run(place: TargetPlace, options: list[str], *, timeout_s: float) -> dict[str, Any]:
            asked.append(options[0])
            done = sum(option == "--rw=randwrite" for option in asked)
            return report(iops=throughputs[min(done, len(throughputs)) - 1] if done else 1.0)

        monkeypatch.setattr(TargetPlace, "run_fio", run)
        return asked

    return of


def test_a_device_is_filled_twice_and_written_until_five_rounds_are_alike(
    rounds: Callable[[list[float]], list[str]],
) -> None:
    asked = rounds([9000.0, 5000.0, 1000.0, 1010.0, 990.0, 1000.0, 1005.0])
    assert precondition(PLACE, "steady", round_s=1, seed=1) == []
    assert asked == ["--rw=write"] * 2 + ["--rw=randwrite"] * 7


def test_a_device_that_never_becomes_steady_is_warned_of(
    rounds: Callable[[list[float]], list[str]],
) -> None:
    asked = rounds([1000.0 * (1 + at % 2) for at in range(40)])
    (warning,) = precondition(PLACE, "steady", round_s=1, seed=1)
    assert "not steady after 25 rounds" in warning
    assert asked.count("--rw=randwrite") == 25


def test_a_profile_is_simulated_and_a_path_is_not(tmp_path: Path) -> None:
    assert target_of("x25-m").kind == "simulated"
    with pytest.raises(WriteampError, match="no profile, file or device has the name"):
        target_of("./x25-m")


def test_the_command_collects_points_of_a_profile(tmp_path: Path) -> None:
    out = tmp_path / "x25m.parquet"
    found = in_process.document(
        "blackbox collect",
        f"--target x25-m --size 256MiB --time 100ms --points 5 --workers 1 --out {out}",
    )
    counts = [found[key] for key in ("points", "done", "skipped", "failed", "out")]
    assert counts == [5, 5, 0, 0, str(out)]
    assert json.dumps(found["elapsed_s"])
