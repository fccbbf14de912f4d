"""Recording of a loop device: files and processes of its requests, and every way to end."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import struct
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from fcntl import ioctl
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from patience import PATIENCE_S, await_value
from places import EXAMPLES
from writeamp.machine.bpf import events_folder
from writeamp.recorder.disk import disk_of, mount_of
from writeamp.recorder.fiemap import extents_of_file
from writeamp.recorder.files import FileTracker
from writeamp.recorder.names import Names, Walk
from writeamp.recorder.tracing import remove_dead

PROGRAMS = ("losetup", "mount", "umount", "sync", "mkfs.ext4", "partx")
PATH = f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin"
PAGE_BYTES = 4096
# ioctl that adds a partition without a table (linux/blkpg.h).
BLKPG, BLKPG_ADD = 0x1269, 1


def missing() -> list[str]:
    """Return what this machine lacks to record a loop device."""
    lacking = [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]
    lacking += [] if os.path.exists("/dev/loop-control") else ["loop devices"]
    if os.geteuid() != 0:
        return [*lacking, "root"]
    try:
        with events_folder() as events:
            return lacking if (events / "block").is_dir() else [*lacking, "block events"]
    except OSError:
        return [*lacking, "tracefs"]


pytestmark = pytest.mark.skipif(bool(missing()), reason=f"needs {', '.join(missing())}")


def run(*words: str) -> str:
    """Return the output of a program."""
    environment = {**os.environ, "PATH": PATH}
    return subprocess.run(
        words, check=True, stdout=subprocess.PIPE, text=True, env=environment, timeout=PATIENCE_S
    ).stdout.strip()


@pytest.fixture
def loop(tmp_path: Path) -> Iterator[str]:
    """Give an empty loop device of 512 MiB."""
    image = tmp_path / "image"
    image.touch()
    os.truncate(image, 512 << 20)
    device = run("losetup", "--find", "--show", str(image))
    try:
        yield device
    finally:
        run("losetup", "--detach", device)


@pytest.fixture(params=["ext4", "xfs", "btrfs"])
def mounted(loop: str, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """Give the mount point of each kind of file system on the loop device."""
    make = f"mkfs.{request.param}"
    if shutil.which(make, path=PATH) is None:
        pytest.skip(f"needs {make}")
    run(make, "-q", "-F" if request.param == "ext4" else "-f", loop)
    point = tmp_path / "mnt"
    point.mkdir()
    run("mount", loop, str(point))
    try:
        yield point
    finally:
        run("umount", str(point))


def command(*words: str) -> list[str]:
    """Return the command line of `trace record`."""
    return [sys.executable, "-m", "writeamp", "trace", "record", *words]


def record(*words: str) -> dict[str, Any]:
    """Return the result of a recording."""
    document: dict[str, Any] = json.loads(run(*command("--json", *words)))
    return document


# `cat` and `cp` would share the blocks of the source on file systems that can.
WORK = """
set -e
{python} {upserts} {point}/db.sqlite --transactions 60 --journal delete > /dev/null
{python} {upserts} {point}/db.sqlite --transactions 60 --journal delete > /dev/null &
head -c 9000000 {point}/source > {point}/copy; sync -f {point}
mv {point}/copy {point}/moved; rm {point}/moved; sync -f {point}
head -c 9000000 {point}/source > {point}/again
dd if=/dev/urandom of={point}/over bs=64k count=16 conv=notrunc,fsync status=none
{python} -c "import os; handle = os.open('{point}', os.O_TMPFILE | os.O_WRONLY); \\
    os.write(handle, bytes(1000000)); os.fsync(handle)"
head -c 500000 {point}/source > {point}/draft; mv {point}/draft {point}/final; sync {point}/final
wait
"""


def test_each_page_has_the_file_that_it_belongs_to(
    mounted: Path, loop: str, tmp_path: Path
) -> None:
    for name in ("source", "over"):
        (mounted / name).write_bytes(os.urandom(4 << 20))
    run("sync", "-f", str(mounted))
    work = WORK.format(python=sys.executable, upserts=EXAMPLES / "sqlite_upserts.py", point=mounted)
    out = tmp_path / "t.parquet"
    document = record(loop, "--files", str(mounted), "--out", str(out), "--", work)

    assert document["run_exit_status"] == 0
    assert document["lost_events"] == 0
    statistics = document["statistics_written_bytes"]
    assert abs(document["written_bytes"] + document["own_bytes"] - statistics) <= statistics / 100
    unnamed_share = 245 * PAGE_BYTES / document["written_bytes"]
    assert 0 <= document["unknown_share"]["file"] - unnamed_share < 0.05
    written = {row["name"]: row["written_bytes"] for row in document["files"]}
    # The copy was deleted, and its inode and blocks were used again.
    assert written.get("copy", 0) + written.get("moved", 0) == written["again"] == 4 << 20
    assert written["over"] == 1 << 20
    # The file before it on the inode had no name.
    assert written["final"] == 123 * PAGE_BYTES
    assert written["db.sqlite-journal"] > 60 * PAGE_BYTES
    assert "source" not in written
    if not loop_is_btrfs(mounted):  # whose caches have no names if there are several
        by_process = {row["name"]: row["written_bytes"] for row in document["processes"]}
        assert by_process["head"] >= 4 << 20  # written back by a kernel worker, or `sync`
    assert wa.traces.info(wa.traces.read(out))["bytes_written"] == document["written_bytes"]
    assert wa.traces.read(out).requests.height == document["trace_requests"]
    if not loop_is_btrfs(mounted):  # whose FIEMAP gives logical addresses
        assert pages_of_others(mounted, pl.read_parquet(out)) == {}


def loop_is_btrfs(point: Path) -> bool:
    """Return whether Btrfs is mounted at a point."""
    return run("stat", "--file-system", "--format", "%T", str(point)) == "btrfs"


def pages_of_others(point: Path, rows: pl.DataFrame) -> dict[tuple[str, str | None], int]:
    """Return how many pages of each file the trace has last with another name."""
    last: dict[int, str | None] = {}
    writes = rows.filter(pl.col("op") == "write").select("offset", "length", "file")
    for offset, length, name in writes.iter_rows():
        for page in range(offset // PAGE_BYTES, -(-(offset + length) // PAGE_BYTES)):
            last[page] = name
    wrong: dict[tuple[str, str | None], int] = {}
    for path in (path for path in point.rglob("*") if path.is_file()):
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            for logical, first, length in extents_of_file(file.fileno()):
                count = (min(length, size - logical) + PAGE_BYTES - 1) // PAGE_BYTES
                for page in range(first // PAGE_BYTES, first // PAGE_BYTES + count):
                    name = last.get(page, path.name)
                    if name != path.name:
                        wrong[path.name, name] = wrong.get((path.name, name), 0) + 1
    return wrong


def instances() -> list[str]:
    """Return the tracer's instances of recorders."""
    with events_folder() as events:
        return [path.name for path in (events.parent / "instances").glob("writeamp-*")]


def write_until(loop: str, ended: Path) -> subprocess.Popen[bytes]:
    """Write to a device until a file exists."""
    script = f"until [ -e {ended} ]; do dd if=/dev/zero of={loop} bs=4k count=64 status=none; done"
    return subprocess.Popen(["/bin/sh", "-c", script])


def test_parts_of_a_killed_recorder_are_traces_and_its_instance_is_removed(
    loop: str, tmp_path: Path
) -> None:
    out, ended = tmp_path / "t.parquet", tmp_path / "ended"
    writer = write_until(loop, ended)
    try:
        recorder = subprocess.Popen(command(loop, "--out", str(out), "--for", "1h"))
        part = await_value(lambda: next(tmp_path.glob("t.parquet.parts/part-*.parquet"), None))
        recorder.kill()
        recorder.wait()
        left = f"writeamp-{recorder.pid}-"
        assert [name for name in instances() if name.startswith(left)]
        assert wa.traces.read(part).requests.height > 0
        interrupted = subprocess.Popen(
            command(loop, "--out", str(out), "--force", "--json"), stdout=subprocess.PIPE
        )
        await_value(lambda: any(f"-{interrupted.pid}-" in name for name in instances()))
        await_value(lambda: next(tmp_path.glob("t.parquet.parts/part-*.parquet"), None))
        interrupted.send_signal(signal.SIGINT)
        document = json.loads(interrupted.communicate(timeout=PATIENCE_S)[0])
    finally:
        ended.touch()
        writer.wait()
    assert interrupted.returncode == 0
    assert wa.traces.read(out).requests.height == document["requests"] > 0
    assert not [name for name in instances() if f"-{recorder.pid}-" in name]
    assert not [name for name in instances() if f"-{interrupted.pid}-" in name]
    assert not out.with_name("t.parquet.parts").exists()


def test_instances_of_living_recorders_stay(tmp_path: Path) -> None:
    for name in (f"writeamp-{os.getpid()}-1-0", "others", "writeamp-x"):
        (tmp_path / name).mkdir()
    assert remove_dead(tmp_path) == [f"writeamp-{os.getpid()}-1-0"]


def test_an_instance_whose_files_are_open_stays_and_records() -> None:
    # As that of a recorder in another PID namespace, whose process is not visible here.
    name = f"writeamp-{os.getpid()}-2-0"
    with events_folder() as events:
        folder = events.parent / "instances" / name
        folder.mkdir()
        enable = folder / "events/block/block_rq_issue/enable"
        with (folder / "tracing_on").open():
            enable.write_text("1")
            assert name not in remove_dead(folder.parent)
            assert enable.read_text().startswith("1")
        assert name in remove_dead(folder.parent)


def test_data_in_memory_are_those_that_were_written_meanwhile(
    mounted: Path, loop: str, tmp_path: Path
) -> None:
    (mounted / "before").write_bytes(os.urandom(4 << 20))
    words = ("--files", str(mounted), "--out", str(tmp_path / "t.parquet"), "--json")
    recorder = subprocess.Popen(
        command(loop, *words), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert recorder.stderr is not None
    assert recorder.stderr.readline() == f"writeamp: recording {loop}; Ctrl-C ends it\n"
    (mounted / "meanwhile").write_bytes(os.urandom(4 << 20))
    recorder.send_signal(signal.SIGINT)
    document = json.loads(recorder.communicate(timeout=PATIENCE_S)[0])
    written = {row["name"]: row["written_bytes"] for row in document["files"]}
    assert written["meanwhile"] == 4 << 20
    assert "before" not in written
    assert document["written_bytes"] < 8 << 20


@pytest.mark.parametrize("mounted", ["ext4"], indirect=True)
def test_the_trace_on_the_recorded_device_is_not_in_it(mounted: Path, loop: str) -> None:
    out = mounted / "t.parquet"
    script = f"for i in 1 2 3 4 5 6; do cp {sys.executable} {mounted}/a; sync; sleep 0.5; done"
    document = record(loop, "--files", str(mounted), "--out", str(out), "--", script)
    names = {row["name"] for row in document["files"]}
    assert document["own_requests"] > 0
    assert not [name for name in names if name.startswith((".writeamp", "t.parquet"))], names
    assert "a" in names


def test_a_partition_has_its_own_requests_at_its_own_offsets(loop: str, tmp_path: Path) -> None:
    starts = (1 << 20, 9 << 20, 17 << 20)
    with Path(loop).open("r+b") as device:
        for number, start in enumerate(starts, start=1):
            partition = struct.pack("=qqi128x4x", start, 8 << 20, number)
            pointer = ctypes.create_string_buffer(partition)
            place = ctypes.addressof(pointer)
            ioctl(device, BLKPG, struct.pack("=iiixxxxQ", BLKPG_ADD, 0, len(partition), place))
    point = tmp_path / "mnt"
    point.mkdir()
    environment = {**os.environ, "PATH": PATH}
    try:
        await_value(lambda: os.path.exists(f"{loop}p3"))
        script = "; ".join(
            f"dd if=/dev/zero of={loop}p{number} bs=4k seek=5 count=1 oflag=direct status=none"
            for number in (1, 2)
        )
        out = tmp_path / "t.parquet"
        document = record(f"{loop}p2", "--out", str(out), "--", f"{script}; sync {loop}p1")
        trace = wa.traces.read(out)
        writes = trace.requests.filter(pl.col("op") == "write")
        assert writes["offset"].to_list() == [5 * 4096]
        assert trace.devices == [f"{Path(loop).name}p2"]
        assert any(note.startswith("flushes are those of all") for note in document["notes"])

        run("mkfs.ext4", "-q", "-F", f"{loop}p3")
        run("mount", f"{loop}p3", str(point))
        script += f"; dd if=/dev/zero of={point}/in-memory bs=64k count=16 status=none"
        document = record(loop, "--out", str(out), "--force", "--", script)
        writes = wa.traces.read(out).requests.filter(pl.col("op") == "write")
        is_mounted = pl.col("offset") >= starts[2]
        assert writes.filter(~is_mounted)["offset"].to_list() == [
            at + 5 * 4096 for at in starts[:2]
        ]
        assert writes.filter(is_mounted)["length"].sum() >= 1 << 20
        assert document["statistics_written_bytes"] - document["written_bytes"] < 1 << 16
    finally:
        subprocess.run(["umount", str(point)], check=False, stderr=subprocess.DEVNULL)
        # Another test's mount namespace may hold a copy of the mount for a moment.
        delete = ["partx", "--delete", loop]
        await_value(lambda: subprocess.run(delete, check=False, env=environment).returncode == 0)


@pytest.mark.parametrize("mounted", ["ext4"], indirect=True)
def test_files_and_folders_that_are_mounted_elsewhere(
    mounted: Path, loop: str, tmp_path: Path
) -> None:
    for name in ("own", "hidden"):
        (mounted / name).write_bytes(bytes(8192))
    (mounted / "folder").mkdir()
    part = tmp_path / "part"
    part.mkdir()
    own = os.stat(mounted / "own").st_ino
    run("sync", "-f", str(mounted))
    run("mount", "--bind", str(mounted / "own"), str(mounted / "hidden"))
    run("mount", "--bind", str(mounted / "folder"), str(part))
    try:
        walk = Walk(str(mounted), Names(os.stat(mounted).st_ino))
        assert [inode for inode, _, _ in walk.extents(lambda: None)] == [own]
        disk = disk_of(loop)
        with ExitStack() as undo:
            assert not FileTracker(disk, mount_of(str(mounted), disk), undo).remarks
            [remark] = FileTracker(disk, mount_of(str(part), disk), undo).remarks
        with pytest.raises(wa.WriteampError, match=f"not a mount point; give {mounted}, the"):
            mount_of(str(mounted / "folder"), disk)
        assert "has only the folder /folder of the file system" in remark
    finally:
        run("umount", str(part), str(mounted / "hidden"))


def test_a_budget_of_writes_decides_the_status(loop: str, tmp_path: Path) -> None:
    out = str(tmp_path / "t.parquet")
    script = f"dd if=/dev/zero of={loop} bs=1M count=1 oflag=direct status=none"
    for budget, status, sentence in (
        ("--max-host-bytes=1MiB", 0, ""),
        ("--max-host-bytes=1MB", 3, "the host wrote 1 MiB, above --max-host-bytes 1 MB"),
        ("--max-tb-year=1", 2, "--max-tb-year needs --repeat-every"),
        ("--min-years=1 --repeat-every=1h", 2, "--min-years needs --rated-tbw"),
        (
            "--min-years=1e6 --repeat-every=1h --rated-tbw=600",
            3,
            "at 0.00919 TB a year, the rated 600 TB last 65,3",
        ),
    ):
        words = command(loop, "--json", "--force", "--out", out, *budget.split(), "--", script)
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert (done.returncode, sentence in done.stderr) == (status, True), done.stderr
        if status != 2:
            assert [row["holds"] for row in json.loads(done.stdout)["budgets"]] == [not status]


# A program that appends to a log, and truncates it at 4 MiB. Each write adds a row: the time, its
# bytes, and the bytes that the kernel counts for the disk.
LOGGER = """
import os, sys, time
log, statistics, counts, ended = sys.argv[1:]
at = os.open(log, os.O_CREAT | os.O_WRONLY)
with open(counts, "w") as rows:
    written = 0
    while not os.path.exists(ended):
        if written % (64 << 16) == 0:
            os.ftruncate(at, os.lseek(at, 0, os.SEEK_SET))
        written += os.write(at, os.urandom(1 << 16))
        os.fsync(at)
        sectors = int(open(statistics).read().split()[6])
        print(time.monotonic_ns(), written, sectors * 512, file=rows, flush=True)
        time.sleep(0.02)
"""


def tb_a_year_within(times: Any, counted: Any, duration_s: float) -> tuple[float, float]:
    """Return the least and the greatest TB a year of all windows of a duration."""
    begins = times[times + duration_s * 1e9 <= times[-1]]
    rises = np.interp(begins + duration_s * 1e9, times, counted) - np.interp(begins, times, counted)
    yearly = rises / duration_s * 365 * 86_400 / 1e12
    return yearly.min(), yearly.max()


@pytest.mark.parametrize("mounted", ["ext4"], indirect=True)
def test_live_names_the_program_that_writes_a_log_and_its_tb_a_year(
    mounted: Path, loop: str, tmp_path: Path
) -> None:
    # Or the kernel zeroes the tables of the new file system meanwhile.
    run("mount", "-o", "remount,noinit_itable", str(mounted))
    ended, counts, page = tmp_path / "ended", tmp_path / "counts", tmp_path / "live.html"
    statistics = f"/sys/class/block/{Path(loop).name}/stat"
    names = [str(mounted / "app.log"), statistics, str(counts), str(ended)]
    writer = subprocess.Popen([sys.executable, "-c", LOGGER, *names])
    try:
        words = [loop, "--files", str(mounted), "--once", "--for", "4s", "--rated-tbw", "600"]
        words += ["--op", "0.1", "--json", "--report", str(page)]
        document = json.loads(run(sys.executable, "-m", "writeamp", "live", *words))
    finally:
        ended.touch()
        writer.wait()
    file, process = document["files"][0], document["processes"][0]
    assert file["name"] == "app.log"
    assert process["name"] == Path(sys.executable).name
    times, of_program, of_disk = np.loadtxt(counts).T
    for found, counted in ((file, of_program), (process, of_program), (document, of_disk)):
        least, most = tb_a_year_within(times, counted, document["duration_s"])
        assert 0.9 * least < found["tb_a_year"] < 1.1 * most
    assert document["wa_low"] <= document["wa"] <= document["wa_high"]
    assert document["years"] == pytest.approx(600 / document["tb_a_year"])
    assert {state["addresses"] for state in document["assumptions"]["states"]} == {
        "as recorded", "everywhere",
    }  # fmt: skip
    assert "added by the drive, estimated" in page.read_text()


def test_the_mount_point_must_be_of_the_device(loop: str, tmp_path: Path) -> None:
    refusals = [
        (tmp_path, f"is not a mount point; give the folder where {loop}"),
        (tmp_path / "no", "does not exist; give the folder"),
        (Path("/"), "is mounted from"),
    ]
    for point, sentence in refusals:
        words = command(loop, "--out", str(tmp_path / "t.parquet"), "--files", str(point))
        refused = subprocess.run(words, capture_output=True, text=True, check=False)
        assert refused.returncode == 2
        assert sentence in refused.stderr
    with pytest.raises(wa.WriteampError, match=f"{loop} is a second device; .* after --$"):
        wa.record("/dev/no", tmp_path / "t.parquet", run=[loop, "--force"])
