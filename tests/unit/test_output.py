"""Files that are written: never onto an input, whole or not at all, protected as before."""

from __future__ import annotations

import errno
import fcntl
import io
import os
import resource
import stat
import subprocess
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any, BinaryIO

import polars as pl
import pytest

import writeamp as wa
from in_process import Done, refusal, run
from writeamp.errors import WriteampError
from writeamp.files import inputs, output

TRACE = b"".join(b"%d,host,0,Write,%d,4096,0\n" % (i * 10, i % 64 * 4096) for i in range(4000))
DRIVE = "--blocks 64 --pages-per-block 16 --op 0.2"
SHORT = f"{DRIVE} --writes 20000"
LIFE = f"{DRIVE} --w-max 5 --replicas 2"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the working folder, with a trace, an experiment and a profile in it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "trace.csv").write_bytes(TRACE)
    wa.Experiment.of("simulate", blocks=64, pages_per_block=16, writes=20_000).to_toml("exp.toml")
    return tmp_path


def refused(verb: str, arguments: str, *words: str) -> None:
    """Run a command that must change nothing, and say why in a sentence."""
    before = contents()
    refusal(verb, arguments, *words)
    assert contents() == before


@contextmanager
def full_files() -> Iterator[None]:
    """Limit the size of files, which ends a write as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (200, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def of_a_full_disk(verb: str, arguments: str) -> Done:
    """Run a command that can write no whole file."""
    with full_files():
        return run(verb, arguments)


def contents() -> dict[str, bytes]:
    """Return what is in every file of the working folder."""
    return {path.name: path.read_bytes() for path in Path().iterdir() if path.is_file()}


class TestAnInputIsNeverReplaced:
    @pytest.mark.parametrize(
        "name", ["trace.csv", "./trace.csv", "soft.csv", "hard.csv", "d/t.csv"]
    )
    @pytest.mark.parametrize("force", ["", "--force"])
    def test_a_trace_by_any_name(self, folder: Path, name: str, force: str) -> None:
        Path("soft.csv").symlink_to("trace.csv")
        Path("hard.csv").hardlink_to("trace.csv")
        Path("d").mkdir()
        Path("d/t.csv").symlink_to("../trace.csv")
        refused(
            "trace convert", f"trace.csv {name} --from msr --to msr {force}", "is the input trace"
        )

    @pytest.mark.parametrize(
        ("verb", "arguments", "words"),
        [
            ("simulate", "exp.toml --seed 2 --save-config ./exp.toml", "is the input exp.toml"),
            ("simulate", "--trace trace.csv --save-config t.toml", "is the input trace.csv"),
            ("simulate", "--trace trace.csv --plot t.html", "is the input trace.csv"),
            ("simulate", f"--device d.toml {SHORT} --save-config d.toml", "is the input d.toml"),
            ("endurance", f"{LIFE} --plot a.svg --plot-erases ./a.svg", "the same file"),
            ("endurance", f"{LIFE} --plot a.svg --plot-erases b.svg", "the same file"),
        ],
        ids=["experiment", "trace", "trace by a plot", "profile", "two outputs", "linked outputs"],
    )
    def test_an_input_or_output_of_any_kind(
        self, folder: Path, verb: str, arguments: str, words: str
    ) -> None:
        for name in ("t.toml", "t.html"):
            Path(name).hardlink_to("trace.csv")
        geometry = "[geometry]\nblocks_per_plane = 64\npages_per_block = 16\n"
        Path("d.toml").write_text(geometry + "[management]\nop = 0.2\n")
        Path("b.svg").symlink_to("a.svg")
        refused(verb, arguments, words)


class TestAnExistingTrace:
    def test_it_is_replaced_only_if_that_is_asked_for(self, folder: Path) -> None:
        Path("out.parquet").write_text("precious")
        refused("trace convert", "trace.csv out.parquet --from msr", "exists", "--force")
        assert run("trace convert", "trace.csv out.parquet --from msr --force")[0] == 0
        assert wa.traces.read("out.parquet").requests.height == 4000

    def test_it_is_refused_before_the_trace_is_read(self, folder: Path) -> None:
        Path("broken.csv").write_text("no trace\n")
        Path("out.parquet").write_text("precious")
        refused("trace convert", "broken.csv out.parquet --from msr", "exists")


# How each kind of output is written to `out` with a suffix; plots and experiments replace.
WRITERS = {
    "trace": ("trace convert", "trace.csv out.parquet --from msr --force", "out.parquet"),
    "picture": ("simulate", f"{SHORT} --plot out.svg", "out.svg"),
    "page": ("endurance", f"{LIFE} --plot-erases out.html", "out.html"),
    "experiment": ("simulate", f"{SHORT} --save-config out.toml", "out.toml"),
    "figure": ("meanfield", "--mode hcwf --pages-per-block 8 --op 0.2 --d 4 --hot-fraction 0.2 "
               "--hot-write-fraction 0.8 --plot out.svg", "out.svg"),
}  # fmt: skip
every_writer = pytest.mark.parametrize(("verb", "arguments", "name"), WRITERS.values(), ids=WRITERS)


@every_writer
class TestWhateverIsWritten:
    def test_the_mode_of_a_file_is_kept(
        self, folder: Path, verb: str, arguments: str, name: str
    ) -> None:
        Path(name).write_text("old")
        Path(name).chmod(0o640)
        status, _, err = run(verb, arguments)
        assert status == 0, err
        assert Path(name).read_bytes() != b"old"
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o640

    def test_a_write_protected_file_is_refused(
        self, folder: Path, verb: str, arguments: str, name: str
    ) -> None:
        Path(name).write_text("old")
        Path(name).chmod(0o444)
        refused(verb, arguments, "write-protected")
        assert stat.S_IMODE(Path(name).stat().st_mode) == 0o444

    def test_a_link_stays_one_and_its_target_is_replaced(
        self, folder: Path, verb: str, arguments: str, name: str
    ) -> None:
        Path("real").mkdir()
        Path("real/file").write_text("old")
        Path(name).symlink_to("real/file")
        assert run(verb, arguments)[0] == 0
        assert Path(name).is_symlink()
        assert Path("real/file").read_bytes() != b"old"
        assert os.listdir("real") == ["file"]

    def test_a_loop_of_links_is_refused(
        self, folder: Path, verb: str, arguments: str, name: str
    ) -> None:
        Path(name).symlink_to("other")
        Path("other").symlink_to(name)
        refused(verb, arguments, "symbolic links")

    def test_a_file_that_outgrows_its_disk_is_a_sentence_and_leaves_the_old_one(
        self, folder: Path, verb: str, arguments: str, name: str
    ) -> None:
        Path(name).write_text("old")
        before = contents()
        status, _, err = of_a_full_disk(verb, arguments)
        assert status == 2, err
        assert "cannot write" in err.splitlines()[-1]
        assert contents() == before


@pytest.fixture
def full_disk(folder: Path) -> Iterator[Path]:
    """Return a folder on a disk of 16 KiB."""
    place = folder / "disk"
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=16k", "none", str(place)]
    try:
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        mounted = False
    if not mounted:
        pytest.skip("only the superuser mounts a disk to fill")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("name", ["out.msr", "out.html"])
def test_a_full_disk_keeps_the_old_file_and_nothing_else(full_disk: Path, name: str) -> None:
    target = full_disk / name
    target.write_text("old")
    verb, arguments = {
        "out.msr": ("trace convert", f"trace.csv {target} --from msr --force"),
        "out.html": ("simulate", f"{SHORT} --plot {target}"),
    }[name]
    status, _, err = run(verb, arguments)
    assert status == 2
    assert "No space left on device" in err
    assert target.read_text() == "old"
    assert os.listdir(full_disk) == [name]


def sink_parquet(table: pl.DataFrame, file: BinaryIO) -> None:
    table.lazy().sink_parquet(file)


class TestTheLibrary:
    def test_a_result_is_drawn_onto_what_exists(self, folder: Path) -> None:
        result = wa.simulate(blocks=64, pages_per_block=16, op=0.2, writes=20_000)
        Path("out.svg").write_text("old")
        result.plot("out.svg")
        assert Path("out.svg").read_bytes().startswith(b"<?xml")

    def test_an_experiment_is_written_back_where_it_came_from(self, folder: Path) -> None:
        wa.Experiment.from_toml("exp.toml").with_settings(seed=7).to_toml("exp.toml")
        assert wa.Experiment.from_toml("exp.toml").run.seed == 7

    def test_a_trace_may_be_told_to_replace_nothing(self, folder: Path) -> None:
        Path("out.parquet").write_text("precious")
        trace = wa.traces.read("trace.csv", "msr")
        with pytest.raises(WriteampError, match="exists already"):
            wa.traces.write(trace, "out.parquet", replace=False)
        assert Path("out.parquet").read_text() == "precious"

    def test_a_draft_is_gone_when_the_writer_fails(self, folder: Path) -> None:
        before = contents()
        with pytest.raises(ZeroDivisionError), output.replacing("new", "plot") as file:
            file.write(bytes(1 // 0))
        assert contents() == before

    def test_a_process_that_ends_at_once_can_discard_its_drafts(self, folder: Path) -> None:
        before = contents()
        with output.replacing("new", "plot") as file:
            output.discard_drafts()
            assert contents() == before
            Path(file.name).touch()  # so that there is something to rename

    def test_a_draft_that_nobody_writes_goes_with_the_next_write(self, folder: Path) -> None:
        before = contents()
        Path(".writeamp-0123.tmp").write_text("of a killed process")
        with output.replacing("first", "plot") as first, output.replacing("second", "plot"):
            first.write(b"whole")
        assert contents() == before | {"first": b"whole", "second": b""}

    def test_a_draft_that_is_taken_for_abandoned_as_it_is_made_is_made_anew(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real, taken = fcntl.flock, []

        def flock(file: io.IOBase, how: int) -> None:
            if not taken:  # by another process, between the making and the locking
                taken.extend(folder.glob(output.DRAFTS))
                taken[0].unlink()
            real(file, how)

        monkeypatch.setattr(output, "flock", flock)
        with output.replacing("new", "plot") as file:
            file.write(b"whole")
        assert taken
        assert Path("new").read_bytes() == b"whole"

    @pytest.mark.parametrize(
        "write", [pl.DataFrame.write_parquet, pl.DataFrame.write_csv, sink_parquet],
        ids=["at once", "as text", "as a stream"],
    )  # fmt: skip
    @pytest.mark.parametrize("rows", [100, 100_000], ids=["in the buffer", "beyond the buffer"])
    def test_an_error_of_the_disk_keeps_its_reason_in_a_table_that_polars_writes(
        self, folder: Path, write: Callable[[pl.DataFrame, BinaryIO], None], rows: int
    ) -> None:
        before, table = contents(), pl.DataFrame({"a": range(rows)})
        with (
            full_files(),
            pytest.raises(WriteampError, match=r"^cannot write trace 'new': File too large$"),
            output.replacing("new", "trace") as file,
        ):
            write(table, file)
        assert contents() == before

    @pytest.mark.parametrize(
        ("number", "ending"),
        [
            (errno.EIO, pytest.raises(WriteampError, match="cannot write plot 'new': Input")),
            (errno.EINVAL, nullcontext()),
        ],
    )
    def test_a_folder_that_fails_to_sync_is_said_and_one_that_cannot_is_not(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch, number: int, ending: Any
    ) -> None:
        def fsync(handle: int) -> None:
            if stat.S_ISDIR(os.fstat(handle).st_mode):
                raise OSError(number, os.strerror(number))

        monkeypatch.setattr(output.os, "fsync", fsync)
        with ending, output.replacing("new", "plot") as file:
            file.write(b"whole")
        assert Path("new").read_bytes() == b"whole"

    def test_standard_input_that_cannot_be_kept_is_refused(
        self, folder: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TRACE)))
        room: Callable[[], Any] = full_files
        for _ in range(2):  # the second time with room, but a part of it is gone
            with pytest.raises(WriteampError, match="cannot store the content of standard"), room():
                inputs.local(inputs.STANDARD_INPUT)
            room = nullcontext
