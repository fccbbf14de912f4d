"""Faults of the file system at each call that writes: nothing said to be there is lost."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import polars as pl
import pytest

from faulted import Command, Faulting, Round, Rounds, same_document
from faults import DISK_FULL, EIO, KILLED, KILLED_AMID, SHORT_WRITE, Fault, FaultLayer
from forms import FULL
from studying import DRIVE, NEVER_SAME, STUDIES
from writeamp.drives.histories.store import readings_in

READ_ONLY = Fault("EROFS", lasts=True)
FAULTS = [EIO, DISK_FULL, SHORT_WRITE, READ_ONLY, KILLED, KILLED_AMID]
REASONS = {
    "EIO": "Input/output error",
    "ENOSPC": "No space left on device",
    "EROFS": "Read-only file system",
}
# SQLite has sentences of its own.
HISTORY = "the history 'out.sqlite' cannot be used"
COMPARE = [sys.executable, "-m", "writeamp", "compare", "--json", "--out", "kept", "--threads", "1",
           "--managers", "single,sepgc", "--blocks", "64", "--op", "0.25",
           *(word for name, value in DRIVE.items()
             for word in (f"--{name.replace('_', '-')}", str(value)))]  # fmt: skip


def check_ending(one: Round, *, words: str = "") -> None:
    """Check that a command ended well, or with one sentence that has the reason."""
    status, err = one.faulted.status, one.faulted.err
    if one.fault.kills:
        assert status == -9 or not one.call.failed, (one.call, err)
        return
    assert status in ((0,) if one.fault == SHORT_WRITE else (0, 2)), (one.call, err)
    if status == 2:
        said = [line for line in err.splitlines() if ": note: " not in line]
        assert len(said) == 1, (one.call, err)
        assert (words or REASONS[one.fault.error]) in said[0], (one.call, err)


def check_drafts(one: Round) -> None:
    """Check that none is left: those of a killed process go with the next run."""
    for ending in (one.again,) if one.fault.kills else (one.faulted, one.again):
        assert not [file for file in ending.files if ".writeamp-" in file], one.call


@pytest.fixture(scope="module")
def faulting(fault_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Faulting]:
    """Give a process for all commands."""
    found = Faulting(fault_library, tmp_path_factory.mktemp("faulting"))
    yield found
    found.end()


@pytest.mark.parametrize("name", STUDIES)
def test_a_study_loses_no_run_that_it_kept(name: str, tmp_path: Path, faulting: Faulting) -> None:
    study = STUDIES[name]
    arguments = f"{study.command(tmp_path, Path('out.runs'))} --json"
    found = faulting.rounds_of(Command(study.verb, arguments), FAULTS, tmp_path)
    assert json.loads(found.whole.out)["skipped"] == 0
    for one in found.rounds:
        check_ending(one)
        if one.faulted.status == 0:
            assert same_document(one.faulted.out, found.whole.out, but=NEVER_SAME), one.call
        assert one.again.status == 0, (one.call, one.again.err)
        assert same_document(one.again.out, found.whole.out, but=NEVER_SAME), one.call
        kept = rows_in(one.faulted.files)
        assert json.loads(one.again.out)["skipped"] == len(kept), one.call
        assert rows_in(one.again.files) == rows_in(found.whole.files), one.call
        check_drafts(one)


def rows_in(files: dict[str, bytes]) -> set[str]:
    parts = [content for file, content in files.items() if "/part-" in file]
    return {key for part in parts for key in pl.read_parquet(io.BytesIO(part))["hash"]}


def written_by(verb: str, arguments: str, *inputs: str) -> tuple[str, str, tuple[str, ...]]:
    return verb, arguments, inputs


# Each of its runs draws for a second; the writer of files is the same for all.
DRAWING = "pictures, page and experiment"
FAULTS_WHILE_DRAWING = FAULTS if FULL else [EIO, DISK_FULL, KILLED_AMID]
# What each writes is the same each time, but for the page, which holds the speed.
WRITERS = {
    DRAWING: written_by(
        "simulate", "--blocks 64 --pages-per-block 16 --op 0.2 --writes 5000 --plot out.svg "
        "--report out.html --save-config out.toml"
    ),
    "capture": written_by(
        "simulate", "--device ssd-m --size 16MiB --timed --rb-capture out.vcd --writes 500 "
        "--warmup 0 --replicas 1"
    ),
    "Parquet trace": written_by("trace convert", "in.csv out.parquet --from msr --force", "in.csv"),
    "text trace": written_by("trace convert", "in.csv out.msr --from msr --force", "in.csv"),
    "fleet": written_by("volumes make", "--volumes 3 --requests 1000 --seed 1 --out out.csv"),
    "packed fleet": written_by(
        "volumes make", "--volumes 3 --requests 1000 --seed 1 --out out.csv.zst"
    ),
    "split fleet": written_by(
        "volumes split", "fleet.csv --format alibaba --out out --threads 1", "fleet.csv"
    ),
    "plan": written_by("twin plan", "--capacity 64MiB --out out.toml"),
    "model": written_by(
        "blackbox train", "in.parquet --model linear-tree --features basic --out out.model",
        "in.parquet",
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make the files that the writers read."""
    from in_process import run  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("inputs")
    lines = (b"%d,host,0,Write,%d,4096,0\n" % (10 * at, at % 64 * 4096) for at in range(1000))
    (folder / "in.csv").write_bytes(b"".join(lines))
    made = run("volumes make", f"--volumes 3 --requests 1000 --seed 1 --out {folder}/fleet.csv")
    assert made.status == 0, made.err
    collected = run(
        "blackbox collect",
        f"--target generic --size 64MiB --time 100ms --points 30 --out {folder}/in.parquet",
    )
    assert collected.status in (0, 1), collected.err  # 1: a point took too long
    return folder


@pytest.mark.parametrize("name", WRITERS)
def test_a_file_is_whole_or_as_it_was(
    name: str, tmp_path: Path, faulting: Faulting, inputs: Path
) -> None:
    verb, arguments, needed = WRITERS[name]
    places = tuple(str(inputs / one) for one in needed)
    command = Command(verb, arguments, places)
    faults = FAULTS_WHILE_DRAWING if name == DRAWING else FAULTS
    found = faulting.rounds_of(command, faults, tmp_path)
    for one in found.rounds:
        check_ending(one)
        if one.faulted.status == 0:
            assert one.faulted.files.keys() == found.whole.files.keys(), one.call
        check_files(one.faulted.files, found, one)
        assert one.again.status == 0, (one.call, one.again.err)
        assert one.again.files.keys() == found.whole.files.keys(), one.call
        check_files(one.again.files, found, one)
        check_drafts(one)


def check_files(files: dict[str, bytes], found: Rounds, one: Round) -> None:
    for file, content in files.items():
        # What a split has done that goes on there, and the draft of a process that was killed.
        if file.startswith("out/.split/") or (one.fault.kills and ".writeamp-" in file):
            continue
        assert file in found.whole.files, (file, one.call)
        if file.endswith(".html"):
            assert content.endswith(found.whole.files[file][-20:]), (file, one.call)
        else:
            assert content in (found.whole.files[file], found.before.get(file)), (file, one.call)


def test_a_history_has_each_reading_that_was_acknowledged(
    tmp_path: Path, faulting: Faulting
) -> None:
    source = tmp_path / "smart.json"
    source.write_text(json.dumps({"data_units_written": 100, "percent_used": 1}))
    command = Command("measure watch", "smart.json --db out.sqlite --once", (str(source),))
    faults = [EIO, DISK_FULL, SHORT_WRITE, KILLED, KILLED_AMID]
    found = faulting.rounds_of(command, faults, tmp_path)
    for at, one in enumerate(found.rounds):
        check_ending(one, words=HISTORY)
        assert one.again.status == 0, (one.call, one.again.err)
        for ending in (one.faulted, one.again):
            if ending.status == 0:
                folder = tmp_path / f"{at}-{ending is one.again}"
                folder.mkdir()
                for file, content in ending.files.items():
                    (folder / Path(file).name).write_bytes(content)
                assert len(list(readings_in(folder / "out.sqlite"))) == 1, one.call


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return what the comparison prints that nobody ends."""
    done = subprocess.run(
        COMPARE, cwd=tmp_path_factory.mktemp("compared"), capture_output=True, text=True, check=True
    )
    return done.stdout


def check_rest(folder: Path, compared: str) -> None:
    """Run the comparison again without a fault: it is as of one call, and nothing is left over."""
    done = subprocess.run(COMPARE, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert same_document(done.stdout, compared, but=NEVER_SAME)
    assert not list(folder.rglob(".writeamp-*"))


def test_of_two_studies_in_a_folder_one_that_fails_takes_nothing_from_the_other(
    tmp_path: Path, fault_layer: FaultLayer, compared: str
) -> None:
    for number in range(5, 60, 5 if FULL else 50):
        folder = tmp_path / str(number)
        folder.mkdir()
        fault_layer.arm(number)
        both = [
            subprocess.Popen(
                COMPARE, cwd=folder, env=os.environ | fault_layer.environment, text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            )
            for _ in range(2)
        ]  # fmt: skip
        endings = [(*one.communicate(), one.returncode) for one in both]
        fault_layer.disarm()
        for out, err, status in endings:
            assert status in (0, 2), err
            if status == 0:
                assert same_document(out, compared, but=NEVER_SAME)
            else:
                assert err.count("\n") == 1
                assert REASONS["EIO"] in err
        assert 0 in [status for _, _, status in endings]
        check_rest(folder, compared)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a folder on a disk of 8 KiB."""
    place = tmp_path / "disk"
    place.mkdir()
    if os.geteuid() or not mount(place, "size=8k"):
        pytest.skip("only the superuser mounts a disk to fill")
    yield place
    subprocess.run(["umount", str(place)], check=True)


def mount(place: Path, options: str) -> bool:
    words: Sequence[str] = ["mount", "-t", "tmpfs", "-o", options, "none", str(place)]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


def test_a_study_goes_on_when_a_full_disk_has_room_again(small_disk: Path, compared: str) -> None:
    done = subprocess.run(COMPARE, cwd=small_disk, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert REASONS["ENOSPC"] in done.stderr
    assert done.stderr.count("\n") == 1
    assert mount(small_disk, "remount,size=1m")
    check_rest(small_disk, compared)


# What each number is of the calls of the program: its log without descriptors that are only read.
CALLS = ["mkdir", "open", "pwrite64", "write", "fdatasync", "fsync", "ftruncate", "close", "rename"]
PROGRAM = """
import os
os.mkdir("new")
file = os.open("new/draft", os.O_CREAT | os.O_WRONLY)
done = os.pwrite(file, b"12345678", 0), os.write(file, b"abcd")
os.fdatasync(file)
os.fsync(file)
os.ftruncate(file, 8)
os.close(file)
os.replace("new/draft", "new/file")
print(*done)
"""
COMMAND = [sys.executable, "-I", "-S", "-c", PROGRAM]


def test_calls_that_write_are_counted(tmp_path: Path, fault_layer: FaultLayer) -> None:
    done = fault_layer.run(COMMAND, tmp_path)
    assert (done.returncode, done.stdout) == (0, "8 4\n")
    assert [call.name for call in fault_layer.calls] == CALLS
    assert [call.number for call in fault_layer.calls] == [*range(1, len(CALLS) + 1)]
    assert {call.written_bytes for call in fault_layer.calls} == {0, 4, 8}
    assert fault_layer.hits == 0


@pytest.mark.parametrize(
    ("number", "fault", "ends"),
    [
        *((CALLS.index(name) + 1, EIO, (1, "Errno 5")) for name in CALLS),
        (3, SHORT_WRITE, (0, "4 4")),
        (4, SHORT_WRITE, (0, "8 2")),
        (5, SHORT_WRITE, (0, "8 4")),
        (3, DISK_FULL, (1, "Errno 28")),
        (6, Fault("EDQUOT"), (1, "Errno 122")),
        (3, KILLED_AMID, (-9, "")),
    ],
)
def test_a_seeded_fault_is_hit(
    tmp_path: Path, fault_layer: FaultLayer, number: int, fault: Fault, ends: tuple[int, str]
) -> None:
    done = fault_layer.run(COMMAND, tmp_path, number, fault)
    assert done.returncode == ends[0]
    assert ends[1] in done.stdout + done.stderr
    failed = [call.number for call in fault_layer.calls if call.failed]
    assert len(failed) == fault_layer.hits
    assert failed[:1] == ([] if (number, fault) == (5, SHORT_WRITE) else [number])


def test_files_elsewhere_do_not_fail(tmp_path: Path, fault_library: Path) -> None:
    (tmp_path / "watched").mkdir()
    layer = FaultLayer(fault_library, tmp_path / "watched", tmp_path / "orders")
    assert layer.run(COMMAND, tmp_path, 1).returncode == 0
    assert layer.calls == []
