"""Results of sweeps on disk: each once, whatever ends who writes them."""

from __future__ import annotations

import errno
import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import writeamp as wa
from patience import await_value
from sweeping import plan, points
from writeamp.errors import WriteampError
from writeamp.files import output
from writeamp.studies.dataset import KEY
from writeamp.studies.sink import Sink
from writeamp.studies.study import RunsDataset
from writeamp.studies.sweep.kinds.kind import PointResult
from writeamp.studies.sweep.points import SCHEMA, Point, PointCodec, PointOutcome, SweepDataset

pytestmark = pytest.mark.usefixtures("in_process")

POINTS = [
    replace(point, place=place)
    for place, point in enumerate(points({"axes": {"op": {"from": 0.1, "to": 1, "num": 40}}}))
]
KEY_AND_ERROR = (*KEY, "error")
Row = dict[str, Any]


def found(point: Point, wa_found: float = 2.0) -> Row:
    return PointCodec().columns(point, PointOutcome(PointResult(wa_found), None, 0.01))


def failed(point: Point, error: str = "it failed") -> Row:
    return PointCodec().columns(point, PointOutcome(None, error, 0.01))


def parts(dataset: SweepDataset) -> list[Path]:
    return sorted(dataset.folder.glob("part-*.parquet"))


@pytest.fixture
def dataset(tmp_path: Path) -> SweepDataset:
    """Return results that have no part yet."""
    return SweepDataset.make(tmp_path)


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let outcomes be written without waiting for others."""
    monkeypatch.setattr("writeamp.studies.sink._WRITE_EVERY_S", 0)


def fill(dataset: SweepDataset, *groups: list[Row]) -> None:
    """Add a part for each group."""
    for group in groups:
        dataset.append(pl.DataFrame(group, schema=SCHEMA))


@pytest.mark.parametrize("folder", ["new/results", "o[1]*"], ids=["new", "like a pattern"])
def test_what_is_added_is_read_again(folder: str, tmp_path: Path) -> None:
    dataset = SweepDataset.make(tmp_path / folder)
    fill(dataset, [found(POINTS[0], 1.5)], [failed(POINTS[1])])
    rows = SweepDataset.open(dataset.folder).rows()
    assert rows["wa"].to_list() == [1.5, None]
    assert rows["error"].to_list() == [None, "it failed"]
    assert rows["hash"].to_list() == [point.hash for point in POINTS[:2]]
    assert json.loads(rows["settings"][0]) == POINTS[0].settings


def test_a_result_stands_once_and_before_an_error(dataset: SweepDataset) -> None:
    first, second, third = POINTS[:3]
    fill(dataset, [found(first), failed(second, "then"), failed(third)])
    fill(dataset, [found(first), failed(second, "now")], [found(third)], [failed(third)])
    rows = dataset.rows().sort("hash")
    by_hash = {row["hash"]: row["error"] for row in rows.iter_rows(named=True)}
    assert by_hash == {first.hash: None, second.hash: "now", third.hash: None}
    assert rows.height == 3


def test_results_of_two_versions_stand_side_by_side(dataset: SweepDataset) -> None:
    older = Point(**{**vars(POINTS[0]), "version": "0.0.1"})
    fill(dataset, [found(POINTS[0])], [found(older)])
    assert dataset.rows(KEY_AND_ERROR).height == 2


def test_merging_keeps_every_row_once_in_one_file(dataset: SweepDataset) -> None:
    fill(dataset, *([found(point)] for point in POINTS), [found(POINTS[0])])
    before = dataset.rows().sort("hash")
    dataset.tidy()
    assert len(parts(dataset)) == 1
    assert dataset.rows().sort("hash").equals(before)


@pytest.mark.parametrize("ends_after", range(4))
def test_a_merge_that_ends_anywhere_loses_and_doubles_nothing(
    dataset: SweepDataset, monkeypatch: pytest.MonkeyPatch, ends_after: int
) -> None:
    fill(dataset, *([found(point)] for point in POINTS[:4]))
    real, removed = Path.unlink, 0

    def unlink(path: Path, **how: Any) -> None:
        nonlocal removed
        if path.suffix == ".parquet":
            if removed == ends_after:
                raise KeyboardInterrupt
            removed += 1
        real(path, **how)

    monkeypatch.setattr(Path, "unlink", unlink)
    with pytest.raises(KeyboardInterrupt):
        dataset.tidy()
    monkeypatch.undo()
    assert len(parts(dataset)) == 5 - ends_after
    assert set(dataset.rows()["hash"]) == {point.hash for point in POINTS[:4]}
    assert dataset.rows().height == 4
    dataset.tidy()
    assert len(parts(dataset)) == 1
    assert dataset.rows().height == 4


@pytest.mark.parametrize("seen", [".writeamp-0123.tmp", "part-1.parquet"])
def test_a_folder_in_which_another_process_begins_at_this_moment_is_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seen: str
) -> None:
    # It is listed before the other one's mark is there.
    listed = iter([tmp_path / seen])
    SweepDataset.make(tmp_path / "other")

    def listing(folder: Path) -> Iterator[Path]:
        (tmp_path / "other" / SweepDataset.contents.mark).replace(
            folder / SweepDataset.contents.mark
        )
        return listed

    monkeypatch.setattr(Path, "iterdir", listing)
    assert SweepDataset.make(tmp_path / "out").folder == tmp_path / "out"


def test_results_are_not_merged_while_another_sweep_adds_some(dataset: SweepDataset) -> None:
    fill(dataset, [found(POINTS[0])], [found(POINTS[1])])
    draft = dataset.folder / ".writeamp-0123.tmp"
    draft.touch()
    with SweepDataset.open(dataset.folder).writing():
        dataset.tidy()
        assert len(parts(dataset)) == 2
        assert draft.exists()
    dataset.tidy()
    assert len(parts(dataset)) == 1
    assert not draft.exists()


def test_a_reader_whose_part_is_merged_away_reads_again(
    dataset: SweepDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(dataset, [found(POINTS[0])], [found(POINTS[1])])
    real, calls = Path.read_bytes, []

    def read(path: Path) -> bytes:
        calls.append(path)
        if len(calls) == 2:  # after the first part, before the second
            monkeypatch.undo()
            SweepDataset.open(dataset.folder).tidy()
        return real(path)

    monkeypatch.setattr(Path, "read_bytes", read)
    assert dataset.rows().height == 2


def test_fast_outcomes_share_a_file_and_all_are_written_at_the_end(
    dataset: SweepDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("writeamp.studies.sink._WRITE_EVERY_S", 3600)
    with Sink(dataset) as sink:
        for point in POINTS:
            sink.add(found(point))
        assert not parts(dataset)
    assert dataset.rows().height == len(POINTS)
    assert len(parts(dataset)) == 1


def test_an_outcome_is_written_though_no_other_comes(dataset: SweepDataset) -> None:
    with Sink(dataset) as sink:
        sink.add(found(POINTS[0]))
        await_value(lambda: parts(dataset))
        assert dataset.rows().height == 1


def test_two_sweeps_that_begin_together_agree_on_one_mark(
    dataset: SweepDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = output.replacing

    def slower(path: Path, what: str, **how: Any) -> Any:
        monkeypatch.undo()
        SweepDataset.make(dataset.folder)
        return real(path, what, **how)

    monkeypatch.setattr("writeamp.studies.dataset.output.replacing", slower)
    assert dataset.rows().is_empty()


@pytest.mark.usefixtures("at_once")
def test_slow_outcomes_are_written_at_once(
    dataset: SweepDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Sink(dataset) as sink:
        for count, point in enumerate(POINTS[:5], 1):
            sink.add(found(point))
            assert dataset.rows().height == count


@pytest.mark.usefixtures("at_once")
def test_a_long_sweep_merges_its_own_files_as_it_goes_on(
    dataset: SweepDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("writeamp.studies.sink._MERGE_PARTS", 8)
    fill(dataset, [found(POINTS[0])])  # of another sweep
    with Sink(dataset) as sink:
        for point in POINTS:
            sink.add(found(point))
            assert len(parts(dataset)) <= 1 + len(POINTS) // 8 + 8
    assert dataset.rows().height == len(POINTS)


@pytest.mark.usefixtures("at_once")
def test_a_full_disk_ends_a_sweep_with_a_sentence_and_keeps_what_was_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real, written = os.fsync, 0

    def fsync(handle: int) -> None:
        nonlocal written
        if os.fstat(handle).st_size > 1000 and os.path.isfile(f"/proc/self/fd/{handle}"):
            written += 1
            if written > 4:
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    monkeypatch.setattr(output.os, "fsync", fsync)
    asked = plan({"axes": {"op": {"from": 0.2, "to": 1, "num": 8}}}, run={"writes": 100})
    with pytest.raises(WriteampError, match="No space left on device") as refused:
        wa.sweep(asked, keep=tmp_path)
    assert str(tmp_path) in str(refused.value)
    monkeypatch.undo()
    assert SweepDataset.open(tmp_path).rows().height == 4
    assert not list(tmp_path.glob(".writeamp-*"))
    again = wa.sweep(asked, keep=tmp_path, runner=wa.runners.Here())
    assert (again.skipped, again.done) == (4, 4)


def test_a_folder_of_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(WriteampError, match="other files"):
        SweepDataset.make(tmp_path)
    assert [one.name for one in tmp_path.iterdir()] == ["thesis.tex"]
    with pytest.raises(WriteampError, match="no results"):
        SweepDataset.open(tmp_path)
    with pytest.raises(WriteampError, match="cannot make folder"):
        SweepDataset.make(tmp_path / "thesis.tex")


def refuse(*_: object) -> None:
    raise WriteampError("the disk is full")


def test_parts_that_cannot_be_merged_stay_and_fail_no_sweep(
    dataset: SweepDataset, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(dataset, [found(POINTS[0])], [found(POINTS[1])])
    monkeypatch.setattr(SweepDataset, "append", refuse)
    dataset.tidy()
    assert len(parts(dataset)) == 2
    assert dataset.rows().height == 2


@pytest.mark.parametrize("ended_by", [KeyboardInterrupt, WriteampError])
def test_results_that_cannot_be_written_are_said_whatever_else_ends_the_study(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ended_by: type[BaseException]
) -> None:
    monkeypatch.setattr(SweepDataset, "append", refuse)
    sink = Sink(SweepDataset.make(tmp_path))

    def end() -> None:
        with sink:
            sink.add(found(POINTS[0]))
            raise ended_by

    with pytest.raises(WriteampError, match="the disk is full"):
        end()
    assert not sink._written


@pytest.mark.usefixtures("at_once")
def test_a_sweep_whose_folder_is_removed_meanwhile_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = plan({"axes": {"op": {"from": 0.2, "to": 1, "num": 5}}}, run={"writes": 100})
    out = tmp_path / "out"

    def progress(done: int, _: int) -> None:
        if done == 2:
            shutil.rmtree(out)

    with pytest.raises(WriteampError, match=f"cannot write results '{out}.*No such file"):
        wa.sweep(asked, keep=out, progress=progress)
    assert wa.sweep(asked, keep=out).done == 5


def test_results_without_a_damaged_mark_are_taken_by_their_own_study_alone(
    dataset: SweepDataset,
) -> None:
    fill(dataset, [found(POINTS[0])])
    mark = dataset.folder / SweepDataset.contents.mark
    mark.write_bytes(b"\0" * 40)
    with pytest.raises(WriteampError, match="is damaged: it is not JSON; remove it"):
        SweepDataset.make(dataset.folder)
    mark.unlink()
    with pytest.raises(WriteampError, match="cannot read results"):
        RunsDataset.make(dataset.folder)
    assert [one.name for one in dataset.folder.iterdir()] == [one.name for one in parts(dataset)]
    assert SweepDataset.make(dataset.folder).rows().height == 1


def test_a_folder_in_which_a_sweep_was_killed_at_once_is_taken(tmp_path: Path) -> None:
    (tmp_path / ".writeamp-0123456789abcdef.tmp").touch()
    assert SweepDataset.make(tmp_path).rows().is_empty()


@pytest.mark.parametrize(
    ("mark", "words"),
    [
        ('{"format": "writeamp sweep", "version": 1}', "results in format 1"),
        ('{"format": "something"}', "is not the mark"),
        ("[]", "is not the mark"),
        ("{", "not JSON"),
    ],
)
def test_results_of_another_format_are_refused(tmp_path: Path, mark: str, words: str) -> None:
    SweepDataset.make(tmp_path)
    (tmp_path / "writeamp-sweep.json").write_text(mark)
    for use in (SweepDataset.open, SweepDataset.make):
        with pytest.raises(WriteampError, match=words):
            use(tmp_path)


def test_a_part_that_is_damaged_or_of_others_is_named(dataset: SweepDataset) -> None:
    fill(dataset, [found(POINTS[0])])
    (part,) = parts(dataset)
    whole = part.read_bytes()
    part.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(WriteampError, match=part.name):
        dataset.rows()
    pl.DataFrame({"hash": [1]}).write_parquet(part)
    for read in (dataset.rows, partial(dataset.rows, KEY_AND_ERROR)):
        with pytest.raises(WriteampError, match=part.name):
            read()
