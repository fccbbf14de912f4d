"""Studies that keep their runs: whatever ends one, a second call does the rest and no more."""

from __future__ import annotations

import errno
import json
import multiprocessing
import os
import pickle
import shutil
import signal
from contextlib import suppress
from multiprocessing import forkserver
from pathlib import Path
from typing import Any, NoReturn

import polars as pl
import pytest

import studying
from in_process import document, run
from stand_in_runners import Backwards, EndsEarly
from studying import STUDIES, be_killed, counts_of, do_beside_others, study_result, to_compare
from writeamp.errors import Interrupted, WriteampError
from writeamp.runners import Here, Threads
from writeamp.runners.local import _JOBS_AHEAD
from writeamp.studies.dataset import KEY

pytestmark = pytest.mark.usefixtures("in_process")

every_study = pytest.mark.parametrize("name", STUDIES)
OTHER = "0.0.1"


@pytest.fixture(scope="module")
def whole() -> dict[str, dict[str, Any]]:
    """Return what each study finds that keeps nothing and that nobody ends."""
    return {name: study_result(name, None) for name in STUDIES}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Return folders in which each study has all of its runs; none may be written to."""
    folder = tmp_path_factory.mktemp("kept")
    for at, name in enumerate(STUDIES):
        STUDIES[name].ask(folder / f"{at}.runs", None)
    return {name: folder / f"{at}.runs" for at, name in enumerate(STUDIES)}


def parts_of(out: Path) -> list[Path]:
    return sorted(out.glob("part-*"))


def rows_in(name: str, out: Path) -> pl.DataFrame:
    return STUDIES[name].contents.open(out).rows()


def replace_rows(name: str, out: Path, source: Path, **columns: pl.Expr) -> None:
    """Write the rows of a folder into another, but for some columns."""
    rows = rows_in(name, source).with_columns(**columns)
    STUDIES[name].contents.make(out).append(rows)


def check_rest(name: str, out: Path, whole: dict[str, Any], *, most_done: int) -> None:
    """Let a study be ended that was begun, and check that it is as of one call."""
    study = STUDIES[name]
    found = study.ask(out, None)
    done, skipped = counts_of(found)
    assert done + skipped == study.runs
    assert done <= most_done
    assert to_compare(found) == whole
    rows = rows_in(name, out)
    assert rows.height == rows.select(KEY).unique().height == study.runs
    assert not list(out.glob(".writeamp-*"))


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no drive be run, though it may be built to see whether it could."""

    class NotRun:
        def __init__(self, *_: Any, **__: Any) -> None:
            pass

        def __getattr__(self, name: str) -> NoReturn:
            raise AssertionError(f"a drive was run: {name}")

    monkeypatch.setattr("writeamp.runs.one_run.EngineSimulation", NotRun)
    monkeypatch.setattr("writeamp.runs.lives.EngineStudy", NotRun)
    monkeypatch.setattr("writeamp.learn.blackbox.targets.simulated.TimedRun", NotRun)


@every_study
def test_neither_the_order_of_the_runs_nor_a_folder_changes_what_is_found(
    name: str, tmp_path: Path, whole: dict[str, dict[str, Any]]
) -> None:
    for at, runner in enumerate((Here(), Threads(1), Threads(2), Backwards())):
        assert study_result(name, tmp_path / f"{at}.runs", runner) == whole[name]
        if not STUDIES[name].counts:
            assert study_result(name, None, runner) == whole[name]


@every_study
@pytest.mark.usefixtures("no_engine")
def test_a_second_call_runs_nothing(
    name: str, kept: dict[str, Path], whole: dict[str, dict[str, Any]]
) -> None:
    study = STUDIES[name]
    for runner in (None, Backwards()):
        found = study.ask(kept[name], runner)
        assert counts_of(found) == (0, study.runs)
        assert to_compare(found) == whole[name]


@every_study
def test_the_command_says_how_many_runs_were_there(
    name: str, tmp_path: Path, kept: dict[str, Path]
) -> None:
    study, out = STUDIES[name], tmp_path / "out.runs"
    first = document(study.verb, study.command(tmp_path, out))
    again = document(study.verb, study.command(tmp_path, out))
    assert (first["skipped"], again["skipped"]) == (0, study.runs)
    assert first["out"] == again["out"] == str(study.out(out))
    if not study.counts:
        assert run(study.verb, study.command(tmp_path, out)).status == 0
        without = document(study.verb, study.words)
        assert {"skipped", "out"}.isdisjoint(without)
        assert set(first) - {"skipped", "out"} == set(without)


@every_study
def test_a_lost_cluster_ends_a_study_with_its_sentence(
    name: str, tmp_path: Path, whole: dict[str, dict[str, Any]]
) -> None:
    def lose() -> NoReturn:
        raise WriteampError("the cluster is lost")

    for after in range(STUDIES[name].runs):
        out, runner = tmp_path / f"{after}.runs", EndsEarly(after, lose)
        with pytest.raises(WriteampError, match=r"^the cluster is lost$"):
            STUDIES[name].ask(out, runner)
        assert runner.begun == after + 1
        check_rest(name, out, whole[name], most_done=STUDIES[name].runs - after)


@every_study
@pytest.mark.parametrize("after", [0, 1, 3])
def test_ctrl_c_in_a_run_costs_that_run(
    name: str, after: int, tmp_path: Path, whole: dict[str, dict[str, Any]]
) -> None:
    out = tmp_path / "out.runs"
    runner = EndsEarly(after, lambda: signal.raise_signal(signal.SIGINT))
    with pytest.raises(KeyboardInterrupt) as stopped:
        STUDIES[name].ask(out, runner)
    assert runner.begun == after + 1
    part = stopped.value.finished if isinstance(stopped.value, Interrupted) else None
    if part is not None:
        assert counts_of(part) == (after, 0)
        check_shown(name, part)
    check_rest(name, out, whole[name], most_done=STUDIES[name].runs - after)


@every_study
def test_ctrl_c_again_and_again_loses_nothing(
    name: str, tmp_path: Path, whole: dict[str, dict[str, Any]]
) -> None:
    out = tmp_path / "out.runs"
    for _ in range(STUDIES[name].runs):
        with suppress(KeyboardInterrupt):
            STUDIES[name].ask(out, EndsEarly(1, lambda: signal.raise_signal(signal.SIGINT)))
    check_rest(name, out, whole[name], most_done=0)


def check_shown(name: str, found: Any) -> None:
    """Check that a result can be pickled, and that its frame is its document."""
    again = pickle.loads(pickle.dumps(found))
    assert again == found
    assert again.to_dict() == found.to_dict()
    said = json.loads(json.dumps(found.to_dict(), allow_nan=False))
    frame = found.to_frame()
    study = STUDIES[name]
    if study.counts:
        assert frame.height == said["done"] + said["skipped"] + said["failed"]
        return
    records = said[study.rows] if study.rows else [said]
    assert frame.height == len(records)
    for row, record in zip(frame.iter_rows(named=True), records, strict=True):
        shared = {key for key, one in record.items() if not isinstance(one, dict | list)}
        assert shared & row.keys() >= {"wa"}
        assert {key: row[key] for key in shared & row.keys()} == {
            key: record[key] for key in shared & row.keys()
        }


@every_study
def test_a_result_can_be_pickled_and_its_frame_is_its_document(
    name: str, kept: dict[str, Path]
) -> None:
    check_shown(name, STUDIES[name].ask(kept[name], None))


@pytest.fixture(scope="module")
def processes() -> Any:
    """Return what starts processes that have imported everything already."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["pytest", "studying"])
    with pytest.MonkeyPatch.context() as environment:
        places = [str(Path(studying.__file__).parent), os.environ.get("PYTHONPATH", "")]
        environment.setenv("PYTHONPATH", os.pathsep.join(filter(None, places)))
        forkserver.ensure_running()
    return context


def kill_amid(processes: Any, name: str, out: Path, *, after: int, threads: int) -> int:
    """Kill a study in the job after so many others, and return how many runs it has kept."""
    killed = processes.Process(target=be_killed, args=(name, out, after, threads))
    killed.start()
    killed.join()
    assert killed.exitcode == -signal.SIGKILL
    return rows_in(name, out).height if out.exists() else 0


@every_study
def test_a_process_that_is_killed_loses_no_more_than_the_runs_in_flight(
    name: str, tmp_path: Path, whole: dict[str, dict[str, Any]], processes: Any
) -> None:
    for after, threads in ((2, 1), (3, 2)):
        out = tmp_path / f"{threads}.runs"
        there = kill_amid(processes, name, out, after=after, threads=threads)
        # Threads are handed more jobs than they do at a time, so that none waits.
        assert there >= after - (0 if threads == 1 else _JOBS_AHEAD * threads)
        check_rest(name, out, whole[name], most_done=STUDIES[name].runs - there)


@every_study
def test_two_processes_share_a_folder_at_the_same_time(
    name: str, tmp_path: Path, whole: dict[str, dict[str, Any]], processes: Any
) -> None:
    out, begin = tmp_path / "out.runs", processes.Barrier(2)
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    both = [
        processes.Process(target=do_beside_others, args=(name, out, file, begin)) for file in files
    ]
    for one in both:
        one.start()
    for one in both:
        one.join()
    expected = json.loads(json.dumps(whole[name]))
    for one, file in zip(both, files, strict=True):
        assert one.exitcode == 0
        assert json.loads(file.read_text()) == expected
    check_rest(name, out, whole[name], most_done=0)


@every_study
def test_runs_of_another_version_are_not_used(
    name: str, tmp_path: Path, kept: dict[str, Path], whole: dict[str, dict[str, Any]]
) -> None:
    study, out = STUDIES[name], tmp_path / "out.runs"
    other = {"version": pl.lit(OTHER)} | ({} if study.plan else {"wa": pl.lit(99.0)})
    replace_rows(name, out, kept[name], **other)
    found = study.ask(out, None)
    assert counts_of(found) == (study.runs, 0)
    if study.notes:
        (note,) = set(found.notes) - set(whole[name]["notes"])
        assert note.startswith(f"run again: {study.runs} runs in {out} by another version")
    assert rows_in(name, out).height == 2 * study.runs
    again = study.ask(out, None)
    assert counts_of(again) == (0, study.runs)
    assert to_compare(again) == whole[name]


def one_sentence(verb: str, words: str) -> str:
    """Return what a command says that is refused."""
    status, out, err = run(verb, words)
    assert (status, out) == (2, ""), err
    (sentence,) = [line for line in err.splitlines() if not line.startswith("writeamp: note: ")]
    assert sentence.startswith("writeamp: ")
    return sentence


@every_study
def test_a_folder_of_other_results_or_files_is_refused_and_left_alone(
    name: str, tmp_path: Path, kept: dict[str, Path]
) -> None:
    study = STUDIES[name]
    for other, out in kept.items():
        if STUDIES[other].contents is not study.contents:
            before = sorted(one.name for one in out.iterdir())
            assert "no results of a" in one_sentence(study.verb, study.command(tmp_path, out))
            assert sorted(one.name for one in out.iterdir()) == before
    thesis = tmp_path / "thesis.runs" / "thesis.runs"
    thesis.parent.mkdir()
    thesis.touch()
    assert "other files" in one_sentence(study.verb, study.command(tmp_path, thesis.parent))
    assert "cannot make folder" in one_sentence(study.verb, study.command(tmp_path, thesis))
    assert list(thesis.parent.iterdir()) == [thesis]


@every_study
def test_a_folder_that_cannot_be_written_is_refused(
    name: str, tmp_path: Path, kept: dict[str, Path]
) -> None:
    study = STUDIES[name]
    nowhere = study.command(tmp_path, Path("/proc/writeamp.runs"))
    assert "cannot" in one_sentence(study.verb, nowhere)
    if os.geteuid() == 0:
        return  # who may write everywhere
    out = tmp_path / "out.runs"
    shutil.copytree(kept[name], out)
    out.chmod(0o500)
    assert "cannot" in one_sentence(study.verb, study.command(tmp_path, out))
    out.chmod(0o700)


@every_study
def test_a_damaged_part_is_named(name: str, tmp_path: Path, kept: dict[str, Path]) -> None:
    study, out = STUDIES[name], tmp_path / "out.runs"
    shutil.copytree(kept[name], out)
    (part,) = parts_of(out)
    content = bytearray(part.read_bytes())
    content[len(content) // 2] ^= 1
    part.write_bytes(content)
    said = one_sentence(study.verb, study.command(tmp_path, out))
    assert part.name in said
    assert "damaged" in said
    part.unlink()
    assert run(study.verb, study.command(tmp_path, out)).status == 0


@pytest.mark.parametrize("name", [name for name in STUDIES if STUDIES[name].plan is None])
@pytest.mark.parametrize(
    "result", ["", "{", "null", "[]", "{}", '{"wa":1}', "[" * 100_000, '{"samples":{}}']
)
def test_a_run_that_no_study_has_written_is_refused(
    name: str, result: str, tmp_path: Path, kept: dict[str, Path]
) -> None:
    study, out = STUDIES[name], tmp_path / "out.runs"
    replace_rows(name, out, kept[name], result=pl.lit(result))
    said = one_sentence(study.verb, study.command(tmp_path, out))
    assert f"{out} has a run that no study wrote" in said


@every_study
def test_studies_of_one_kind_share_a_folder(
    name: str, tmp_path: Path, kept: dict[str, Path], whole: dict[str, dict[str, Any]]
) -> None:
    for other in STUDIES:
        if STUDIES[other].contents is STUDIES[name].contents:
            replace_rows(other, tmp_path / "out.runs", kept[other])
    found = STUDIES[name].ask(tmp_path / "out.runs", None)
    assert counts_of(found) == (0, STUDIES[name].runs)
    assert to_compare(found) == whole[name]


@every_study
def test_a_full_disk_ends_a_study_with_a_sentence_and_what_was_written_stays(
    name: str, tmp_path: Path, whole: dict[str, dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    out, real, written = tmp_path / "out.runs", os.fsync, []

    def fsync(handle: int) -> None:
        written.append(handle)
        if len(written) > 3:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(handle)

    monkeypatch.setattr("writeamp.studies.sink._WRITE_EVERY_S", 0)
    monkeypatch.setattr("writeamp.files.output.os.fsync", fsync)
    with pytest.raises(WriteampError, match="No space left on device"):
        STUDIES[name].ask(out, Here())
    monkeypatch.undo()
    there = rows_in(name, out).height
    assert there > 0
    check_rest(name, out, whole[name], most_done=STUDIES[name].runs - there)
