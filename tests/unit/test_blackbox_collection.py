"""Collections of measurements: each point once, whatever ends who measures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl
import pytest

from collecting import Formula
from writeamp.errors import Interrupted, WriteampError
from writeamp.learn.blackbox import active
from writeamp.learn.blackbox.active import ProcessLearner, candidates, first_points, next_points
from writeamp.learn.blackbox.collection import collect
from writeamp.learn.blackbox.designs import Design
from writeamp.learn.blackbox.measurement_file import SCHEMA, point_of, read_rows

F64 = npt.NDArray[np.float64]
I64 = npt.NDArray[np.int64]
TEN = Design("grid", 10)


def test_a_collection_measures_every_point_once_and_then_skips_it(tmp_path: Path) -> None:
    out, target = tmp_path / "m.parquet", Formula()
    first = collect(target, out=out, design=TEN)
    again = collect(target, out=out, design=TEN)
    assert (first.points, first.done, first.skipped, first.failed) == (10, 10, 0, 0)
    assert (again.points, again.done, again.skipped, again.failed) == (10, 0, 10, 0)
    assert target.asked == TEN.listed(1 << 30)
    assert target.preparations == [False]
    assert (first.warnings, again.warnings) == (("it is a formula",), ())
    assert [point_of(row) for row in first.to_frame().iter_rows(named=True)] == target.asked


def test_the_file_has_a_column_for_each_characteristic_and_measure(tmp_path: Path) -> None:
    out = tmp_path / "m.parquet"
    collect(Formula(), out=out, design=TEN)
    frame = pl.read_parquet(out)
    assert dict(frame.schema) == dict(SCHEMA)
    assert frame["hash"].n_unique() == 10
    assert frame["error"].null_count() == 10


def test_more_points_of_a_design_measure_only_the_new_ones(tmp_path: Path) -> None:
    out, target = tmp_path / "m.parquet", Formula()
    collect(target, out=out, design=TEN)
    more = collect(target, out=out, design=Design("grid", 14))
    assert (more.done, more.skipped) == (4, 10)
    assert target.preparations == [False, True]


def test_a_damaged_file_is_made_again_from_the_runs_beside_it(tmp_path: Path) -> None:
    out = tmp_path / "m.parquet"
    collect(Formula(), out=out, design=TEN)
    rows = read_rows(out)
    out.write_bytes(out.read_bytes()[:-100])
    with pytest.raises(WriteampError, match=f"remove it to make it again from {out}.runs"):
        collect(Formula(), out=out, design=TEN)
    out.unlink()
    assert collect(Formula(), out=out, design=TEN).skipped == 10
    assert read_rows(out) == rows


def test_other_settings_are_other_measurements(tmp_path: Path) -> None:
    out = tmp_path / "m.parquet"
    collect(Formula(), out=out, design=TEN)
    assert collect(Formula(meaning={"formula": 2}), out=out, design=TEN).done == 10
    assert len(read_rows(out)) == 20


@pytest.mark.parametrize("kind", ["grid", "active"])
def test_an_interrupted_collection_goes_on_where_it_stopped(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(active, "_CANDIDATES", 60)  # to choose among, in less time
    out, design = tmp_path / "m.parquet", Design(kind, 20)
    with pytest.raises(Interrupted) as stopped:
        collect(Formula(interrupted_after=13), out=out, design=design)
    assert stopped.value.finished.done == 13
    assert len(stopped.value.finished.unfinished) == 7
    assert (None in stopped.value.finished.unfinished) == (kind == "active")
    rest = collect(Formula(), out=out, design=design)
    assert (rest.done, rest.skipped) == (7, 13)
    whole = collect(Formula(), out=tmp_path / "other.parquet", design=design)
    frames = [one.to_frame().drop("elapsed_s") for one in (rest, whole)]
    assert frames[0].sort("hash").equals(frames[1].sort("hash"))


def test_failures_are_kept_and_only_run_again_when_asked_for(tmp_path: Path) -> None:
    out = tmp_path / "m.parquet"
    first = collect(Formula(fails=3), out=out, design=TEN)
    assert (first.done, first.failed, first.errors) == (7, 3, ("the formula fails",))
    assert collect(Formula(), out=out, design=TEN).skipped == 10
    again = collect(Formula(), out=out, design=TEN, retry_failed=True)
    assert (again.done, again.skipped) == (3, 7)
    assert [row["error"] for row in read_rows(out)] == [None] * 10


def test_active_learning_measures_failed_points_again_when_asked_for(tmp_path: Path) -> None:
    out, design = tmp_path / "m.parquet", Design("active", 12)
    assert collect(Formula(fails=2), out=out, design=design).failed == 2
    assert collect(Formula(), out=out, design=design).skipped == 12
    again = collect(Formula(), out=out, design=design, retry_failed=True)
    assert (again.done, again.skipped) == (2, 10)


def test_a_collection_that_measured_nothing_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(Interrupted):
        collect(Formula(interrupted_after=0), out=tmp_path / "m.parquet", design=TEN)
    assert not (tmp_path / "m.parquet").exists()
    assert not list(tmp_path.glob("*/part-*"))


@pytest.mark.parametrize(
    ("content", "words"), [("text", "cannot be read"), ("frame", "does not have the columns")]
)
def test_a_file_of_something_else_is_refused_and_kept(
    tmp_path: Path, content: str, words: str
) -> None:
    out = tmp_path / "m.parquet"
    if content == "text":
        out.write_text("what somebody wrote")
    else:
        pl.DataFrame({"op": [0.1]}).write_parquet(out)
    before = out.read_bytes()
    with pytest.raises(WriteampError, match=words):
        collect(Formula(), out=out, design=TEN)
    assert out.read_bytes() == before


class Corner:
    """Knows least where requests are deep and large."""

    def least_known(self, known: F64, target: F64, asked: F64, count: int) -> I64:
        """Return those farthest from the shallow and small corner."""
        return np.argsort(-asked[:, 1] * asked[:, 2])[:count]


def test_active_learning_asks_where_the_model_is_least_certain(tmp_path: Path) -> None:
    out, design = tmp_path / "m.parquet", Design("active", 30)
    collect(Formula(), out=out, design=design, learner=Corner())
    first = set(first_points(30, 0))
    rows = read_rows(out)
    learnt = [point for row in rows if (point := point_of(row)) not in first]
    assert len(rows) == 30
    assert len(learnt) == 22
    assert min(point.queue_depth * point.write_size_bytes for point in learnt) > 64 * 1024


def test_a_batch_of_active_learning_is_of_new_points_unlike_each_other() -> None:
    known = first_points(300, 0)
    target = np.array([100.0 * (1 + point.write_ratio) * point.queue_depth for point in known])
    batch = next_points(known, target, candidates(0), most=6, learner=ProcessLearner(0))
    assert len(set(batch)) == 6
    assert not set(batch) & set(known)
    assert len({(point.queue_depth, point.write_ratio) for point in batch}) > 3


def test_of_one_known_point_nothing_is_learnt_and_the_next_is_the_first_of_the_pool() -> None:
    pool = candidates(0)
    batch = next_points(pool[:1], np.array([1.0]), pool, most=5, learner=ProcessLearner(2**40))
    assert batch == pool[1:2]


def test_active_learning_ends_with_a_sentence_if_nothing_can_be_measured(tmp_path: Path) -> None:
    with pytest.raises(WriteampError, match="all of the first 8 points"):
        collect(Formula(fails=99), out=tmp_path / "m.parquet", design=Design("active", 20))
    assert len(read_rows(tmp_path / "m.parquet")) == 8
