"""Placement hints of traces, and counts by placement handle."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from writeamp import traces
from writeamp.results.handles import handle_row, mean_rows
from writeamp.traces.tagging import hints_of

KIB = 1024
PAGES = 4096
DRIVE: dict[str, Any] = {"op": 0.15, "pages_per_block": 16}
COLUMNS = "columns:offset=offset:bytes,length=length:bytes,op=op:write=write,hint=hint"
RUN: dict[str, Any] = {"repeat": 4, "spread": False}


def hinted(writes: int = 12_000) -> pl.DataFrame:
    """Return writes of three streams, the last of which names no handle."""
    random = np.random.default_rng(1)
    stream = random.integers(0, 3, writes)
    # The streams overlap: they write the same half, the other half, and all addresses.
    spans, starts = np.array([PAGES // 8, PAGES // 2, PAGES]), np.array([0, PAGES // 2, 0])
    pages = starts[stream] + (random.random(writes) * spans[stream]).astype(np.int64)
    return pl.DataFrame(
        {
            "timestamp_ns": np.arange(writes),
            "offset": pages * 4 * KIB,
            "length": np.full(writes, 4 * KIB),
            "op": ["write"] * writes,
            "process": pl.Series(["log", "database", None]).gather(stream),
            "hint": pl.Series([1, 5, None], dtype=pl.UInt8).gather(stream),
        }
    )


def run(trace: Any, manager: str, **settings: Any) -> dict[str, Any]:
    return wa.simulate(trace=trace, manager=manager, **DRIVE, **RUN, **settings).to_dict()


def assert_exact(document: dict[str, Any]) -> None:
    """Check that the counts of the handles sum to those of the run."""
    sums = {
        name: sum(row[name] for row in document["handles"])
        for name in ("host_bytes", "media_bytes", "moved_in", "moved_out")
    }
    moved_bytes = document["causes"]["gc"] * 4096
    assert sums == {
        "host_bytes": document["host_pages"] * 4096,
        "media_bytes": document["flash_pages"] * 4096,
        "moved_in": moved_bytes,
        "moved_out": moved_bytes,
    }


def test_hints_are_kept_by_conversion_and_placed_by_their_numbers(tmp_path: Path) -> None:
    trace = traces.of(hinted())
    assert trace.requests["hint"].dtype == pl.UInt8
    path = tmp_path / "hinted.parquet"
    traces.write(trace, path)
    assert traces.read(path).requests["hint"].equals(trace.requests["hint"])
    document = run(str(path), "nvme-fdp:handles=4")
    assert_exact(document)
    # Hint 5 shares the last handle, and writes without a hint have the default handle.
    assert [row["handle"] for row in document["handles"]] == [0, 1, 3, None]
    assert [row["hints"] for row in document["handles"]] == [[], ["hint 1"], ["hint 5"], []]
    assert document == run(trace, "nvme-fdp:handles=4") | {
        name: document[name] for name in ("elapsed_s", "host_pages_per_s", "workload")
    }
    (warning,) = [text for text in document["warnings"] if "handles" in text]
    assert warning == (
        "the trace gives hints up to 5, but nvme-fdp:handles=4 has 4 handles; writes with hints "
        "from 3 on share the last one; increase handles="
    )


def test_info_has_the_written_bytes_by_hint() -> None:
    info = traces.info(hinted())
    counts = hinted()["hint"].value_counts()
    of_hint = dict(zip(counts["hint"], counts["count"], strict=True))
    assert {row["hint"]: row["bytes_written"] for row in info["written_by_hint"]} == {
        str(hint): of_hint[hint] * 4096 for hint in (1, 5)
    }
    assert info["hint_unknown_share"] == pytest.approx(of_hint[None] / 12_000)


def test_stated_columns_have_hints(tmp_path: Path) -> None:
    path = tmp_path / "trace.csv"
    hinted(2000).select("offset", "length", "op", "hint").write_csv(path)
    trace = traces.read(path, COLUMNS)
    assert trace.requests["hint"].equals(hinted(2000)["hint"])
    document = run(str(path), "nvme-fdp", trace_format=COLUMNS)
    assert {row["handle"] for row in document["handles"]} == {0, 1, 5, None}


@pytest.mark.parametrize(
    ("kind", "wrong"), [("table", -1), ("parquet", -1), ("text", -1), ("text", "x"), ("text", 2.5)]
)
def test_hints_of_any_whole_number_are_read_and_others_refused(
    kind: str, wrong: float | str, tmp_path: Path
) -> None:
    def hints_read(*hints: Any) -> list[int | None]:
        column = pl.Series("hint", hints)
        frame = traces.of(hinted(3)).requests.drop("hint").hstack([column])
        path = tmp_path / kind
        if kind == "text":
            frame.write_csv(path)
        elif kind == "parquet":
            frame.write_parquet(path)
        trace = traces.of(frame) if kind == "table" else traces.read(path, formats[kind])
        return trace.requests["hint"].to_list()

    formats = {"parquet": "parquet", "text": COLUMNS}
    # Hints beyond those of any manager share the last handle, and are not taken for none.
    assert hints_read(3, 70_000, None) == [3, 255, None]
    with pytest.raises(wa.WriteampError, match="valid are whole numbers from 0 on"):
        hints_read(wrong, wrong, None)


@pytest.mark.parametrize("isolation", ["initial", "persistent"])
@pytest.mark.parametrize("by", [None, "process", "range:3", "device"])
def test_counts_of_handles_are_exact(by: str | None, isolation: str) -> None:
    document = run(traces.of(hinted()), f"nvme-fdp:isolation={isolation}", hints_by=by)
    assert_exact(document)
    shared = [row for row in document["handles"] if row["handle"] is None]
    assert len(shared) == (isolation == "initial")
    if isolation == "persistent":
        assert all(row["moved_in"] == row["moved_out"] for row in document["handles"])


def test_names_have_handles_from_1_on_by_their_written_bytes() -> None:
    trace = traces.of(hinted())
    hints = hints_of(trace, "process")
    assert hints is not None
    assert set(hints.names) == {"no hint", "log", "database"}
    of_name = dict(zip(trace.requests["process"], hints.codes, strict=True))
    assert of_name[None] == 255
    assert {hints.names[of_name[name]] for name in ("log", "database")} == {"log", "database"}
    document = run(trace, "nvme-fdp", hints_by="process")
    assert [row["hints"] for row in document["handles"][:1]] == [["no hint"]]


def test_hints_change_no_manager_without_handles() -> None:
    plain, trace = hinted().drop("hint"), traces.of(hinted())
    with pytest.raises(wa.WriteampError, match="a trace provides them with hints_by"):
        run(plain, "nvme-fdp")
    assert run(trace, "sepgc")["wa"] == run(plain, "sepgc")["wa"]
    assert "handles" not in run(trace, "sepgc")


def test_a_comparison_gives_hints_to_managers_with_handles() -> None:
    trace = traces.of(hinted().drop("hint"))
    managers = "single,nvme-fdp,sepbit"
    result = wa.compare(trace=trace, managers=managers, hints_by="range:4", replicas=1, **DRIVE)
    assert [row.hints for row in result.rows] == [None, "handles", None]


def test_a_comparison_has_the_mean_counts_of_its_replicas() -> None:
    load: dict[str, Any] = {"workload": "hot-cold:f=0.1,r=0.9", "op": 0.2, "writes": 100_000}
    drive: dict[str, Any] = {"blocks": 256, "pages_per_block": 16}
    result = wa.compare(managers="nvme-fdp:handles=2,single", replicas=3, **load, **drive)
    of_runs = [run.handles for run in result.rows[0].results]
    assert result.rows[1].handles is None
    with_handles, without = result.to_dict()["rows"]
    assert "handles" not in without
    assert [row["handle"] for row in with_handles["handles"]] == [0, 1, None]
    for at, mean in enumerate(with_handles["handles"]):
        for name in ("host_bytes", "media_bytes", "moved_in", "moved_out"):
            assert mean[name] == sum(run[at][name] for run in of_runs if run) / 3
    media_bytes = sum(row["media_bytes"] for row in with_handles["handles"])
    assert media_bytes == pytest.approx(sum(with_handles["causes"].values()) * 4096, rel=1e-12)
    (table,) = result.card().parts
    assert table.title == "Placement handles of nvme-fdp:handles=2"
    assert "handles" not in result.to_frame().columns


def test_a_handle_that_some_replicas_do_not_use_counts_as_zero_in_them() -> None:
    first = handle_row(0, (10, 20), (0, 5), 4096)
    rows = mean_rows([[first, handle_row(3, (4, 6), (2, 0), 4096)], [first]])
    assert rows == [first, handle_row(3, (4, 6), (2, 0), 2048)]


def test_a_row_that_cannot_run_has_no_counts_by_handle() -> None:
    managers = "nvme-fdp:handles=1,nvme-fdp:handles=100"
    settings: dict[str, Any] = {"blocks": 64, "pages_per_block": 16, "op": 0.2, "writes": 20_000}
    finished, omitted = wa.compare(managers=managers, **settings).to_dict()["rows"]
    assert len(finished["handles"]) == 2
    assert omitted["reason"] is not None
    assert "handles" not in omitted


def test_ranges_of_addresses_ignore_hints() -> None:
    ranges = "nvme-fdp:by=range,handles=4"
    hints, none = run(traces.of(hinted()), ranges), run(hinted().drop("hint"), ranges)
    assert hints["handles"] == none["handles"] != []
    # Hints up to 5 share no handle, as their numbers are ignored.
    assert [text for text in hints["warnings"] if "handles" in text] == []


def test_timed_runs_place_by_hints_and_note_that_they_do_not_count_by_handle() -> None:
    trace = traces.of(hinted(2000).with_columns(timestamp_ns=pl.int_range(pl.len()) * 10_000))
    drive: dict[str, Any] = {"device": "ssd-v", "size": "128MiB", "op": 0.3, "time": "1s"}
    run_of = partial(wa.simulate, trace=trace, **drive)
    document = run_of(manager="nvme-fdp:handles=4").to_dict()
    assert "handles" not in document
    assert any("share the last one" in text for text in document["warnings"])
    assert any("do not count by placement handle" in text for text in document["notes"])
    assert not any("handle" in text for text in run_of(manager="single").notes)


def test_hints_need_a_trace_of_bytes() -> None:
    with pytest.raises(wa.WriteampError, match="hints_by needs a trace; the groups of a"):
        wa.simulate(workload="uniform", hints_by="process")
    with pytest.raises(wa.WriteampError, match="hints_by needs a trace of bytes"):
        run(traces.to_pages(traces.of(hinted(100))), "nvme-fdp", hints_by="process")
    with pytest.raises(wa.WriteampError, match="its requests have no file"):
        run(traces.of(hinted(100)), "nvme-fdp", hints_by="file")


def test_a_reclaim_unit_gives_the_drive_erase_units_of_its_size() -> None:
    result = wa.simulate(
        workload="cachelib:soc=4%",
        manager="nvme-fdp:ru=1MiB",
        op=0.1,
        size="1GiB",
        replicas=1,
        spread=False,
    )
    assert result.device.pages_per_block == 256
    assert_exact(result.to_dict())


def test_without_a_size_reclaim_units_are_those_of_a_terabyte() -> None:
    experiment = wa.Experiment.of("simulate", workload="uniform", manager="nvme-fdp:ru=256MiB")
    assert experiment.device.capacity == 10**12
    assert experiment.device.pages_per_block == 65536
    other = wa.Experiment.from_dict(experiment.to_dict())
    assert other == experiment


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"manager": "nvme-fdp:ru=1000000"}, "it must be a multiple of 4096 bytes for generic"),
        ({"manager": "nvme-fdp:ru=1MiB", "device": "eagletree"}, "give --layout flat, or leave ru"),
        ({"manager": "nvme-fdp:ru=1MiB", "timed": True}, "ru is for runs without timing"),
        ({"manager": "nvme-fdp:ru=1MiB", "size": "1GiB", "pages_per_block": 64}, "must be equal"),
    ],
)
def test_impossible_reclaim_units_are_refused(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(wa.WriteampError, match=message):
        wa.simulate(workload="cachelib:soc=4%", writes=1000, **settings)


def test_managers_with_reclaim_units_are_compared_on_one_drive() -> None:
    with pytest.raises(wa.WriteampError, match="reclaim units of different sizes"):
        wa.compare(workload="cachelib:soc=4%", managers="nvme-fdp:ru=1MiB,nvme-fdp:ru=2MiB")


def test_a_column_of_hints_in_a_table_in_memory_reaches_every_source() -> None:
    pages = np.random.default_rng(1).integers(0, 2000, 20_000)
    table = pl.DataFrame({"offset": pages * 4096, "length": 4096, "op": "write"})
    table = table.with_columns(hint=pl.Series(pages % 3, dtype=pl.UInt8))
    policy = {"manager": "nvme-fdp:handles=3", "op": 0.3, "pages_per_block": 16}
    handles = wa.simulate(trace=table, repeat=1, **policy).handles
    assert handles is not None
    assert {row["handle"] for row in handles} >= {0, 1, 2}
    answer = wa.answer(trace=table, quick=True, **policy)
    by_way = {row.way: row.wa for row in answer.rows}
    assert by_way["timed"] == pytest.approx(by_way["simulate"], rel=0.1)
