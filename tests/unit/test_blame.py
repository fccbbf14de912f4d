"""Flash writes by tag: which requests have which tag, sums, and the two changed runs."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from in_process import run
from writeamp.reports.headlines.studies import of_blame
from writeamp.studies.blame.changes import length_without, owners, without_tag
from writeamp.traces.pages import PageTrace
from writeamp.traces.tagging import MOST_TAGS, tagged

DRIVE: dict[str, Any] = {"op": 0.3, "pages_per_block": 16}
HOT_PAGES, COLD_PAGES = 128, 1024


def trace_of(**columns: Any) -> wa.traces.Trace:
    """Return a trace of writes of 4 KiB to one page after the other, with these columns."""
    count = len(next(iter(columns.values())))
    return wa.traces.of(pl.DataFrame({"page": range(count), **columns}))


def shares_of(trace: wa.traces.Trace, by: str) -> dict[str, float]:
    tags = tagged(trace, by)
    return dict(zip(tags.names, tags.shares, strict=True))


def hot_and_cold() -> wa.traces.Trace:
    """Return random writes to a few pages, between writes of all others in their order."""
    random = np.random.default_rng(1)
    hot = random.integers(0, HOT_PAGES, 24 * COLD_PAGES)
    cold = HOT_PAGES + np.arange(hot.size) % COLD_PAGES
    pages = np.stack([hot, cold], axis=1).ravel()
    return wa.traces.of(pl.DataFrame({"page": pages, "file": ["hot", "cold"] * hot.size}))


@pytest.fixture(scope="module")
def blamed() -> wa.Blame:
    return wa.blame(hot_and_cold(), "file", **DRIVE)


def test_names_with_at_least_half_a_percent_have_a_tag_of_their_own() -> None:
    names = [*["big"] * 600, *["small"] * 5, *["tiny"] * 4, *["tinier"] * 3, *[None] * 388]
    assert shares_of(trace_of(process=names), "process") == {
        "big": 0.6,
        "small": 0.005,
        "other": 0.007,
        "unknown": 0.388,
    }


def test_at_most_32_tags_and_the_largest_first() -> None:
    names = [f"p{at}" for at in range(40) for _ in range(at + 100)] + [None]
    shares = shares_of(trace_of(process=names), "process")
    assert len(shares) == MOST_TAGS
    assert list(shares)[:2] == ["p39", "p38"]
    assert list(shares)[-2:] == ["other", "unknown"]
    assert sum(shares.values()) == pytest.approx(1)
    exact = shares_of(trace_of(process=[f"p{at}" for at in range(MOST_TAGS)]), "process")
    assert len(exact) == MOST_TAGS
    assert "other" not in exact


def test_names_that_are_words_of_the_result_are_quoted() -> None:
    shares = shares_of(trace_of(process=["other", "unknown", "drive", "x", None]), "process")
    assert set(shares) == {"'other'", "'unknown'", "'drive'", "x", "unknown"}


def test_processes_of_one_name_are_divided_by_their_numbers() -> None:
    pids = pl.Series([1, 2, 2, None], dtype=pl.UInt32)
    trace = trace_of(process=["python3", "python3", "python3", "a"], pid=pids)
    shares = shares_of(trace, "pid")
    assert shares == {"python3 2": 0.5, "python3 1": 0.25, "unknown": 0.25}


def test_directories_are_those_of_the_files() -> None:
    files = ["a/b/c", "a/b/d", "top", "[journal]", "[metadata]", None, r"C:\x\y"]
    shares = shares_of(trace_of(file=files), "directory")
    expected = {"a/b": 2, "/": 1, "[journal]": 1, "[metadata]": 1, "unknown": 1, r"C:\x": 1}
    assert shares == {name: pytest.approx(count / 7) for name, count in expected.items()}


def test_devices_and_ranges_need_no_column() -> None:
    frame = pl.DataFrame({"page": [0, 1, 2, 7, 0, 1], "device": ["a", "a", "a", "a", "b", "b"]})
    trace = wa.traces.of(frame)
    assert shares_of(trace, "device") == {"a": pytest.approx(4 / 6), "b": pytest.approx(2 / 6)}
    assert shares_of(trace, "volume") == shares_of(trace, "device")
    # Device a has pages 0 to 7, and device b follows with pages 8 and 9.
    assert shares_of(trace, "range:2") == {
        "1/2: 0 B to 20 KiB": pytest.approx(3 / 6),
        "2/2: 20 KiB to 40 KiB": pytest.approx(3 / 6),
    }
    assert len(tagged(trace, "range:5").names) == 4  # nothing is written to one range
    # Ranges of a chosen device are those of its own addresses.
    assert tagged(trace, "range:2", "b").names == ("1/2: 0 B to 4 KiB", "2/2: 4 KiB to 8 KiB")
    assert tagged(trace, "range:2", "a").shares == (0.75, 0.25)


def test_requests_of_origins_that_only_read_have_no_tag() -> None:
    frame = pl.DataFrame(
        {"page": [0, 1, 2], "op": ["write", "read", "trim"], "process": ["w", "r", "t"]}
    )
    tags = tagged(wa.traces.of(frame), "process")
    assert tags.names == ("w",)
    assert tags.codes.to_list() == [0, 255, 255]


@pytest.mark.parametrize(
    ("by", "message"),
    [
        ("process", "no process; divide them by file, directory, device or range:N, or record"),
        ("files", "unknown division by 'files'.*file"),
        ("range:0", "by is range:0; valid are range:1 to range:4096"),
        ("range", "unknown division by 'range'"),
        (3, "by is 3; valid are process, pid, file"),
    ],
)
def test_a_division_that_the_trace_does_not_have_is_refused(by: Any, message: str) -> None:
    with pytest.raises(wa.WriteampError, match=message):
        wa.blame(trace_of(file=["a", "b"]), by, **DRIVE)


def pages_of(tags: list[int], **columns: Any) -> PageTrace:
    frame = pl.DataFrame({"op": ["write"] * len(tags), **columns})
    names = tuple(f"t{tag}" for tag in range(max(tags) + 1))
    return wa.traces.to_pages(wa.traces.of(frame), 4096, tag_names=names, tags=np.array(tags))


def test_a_trace_without_a_tag_is_the_trace_of_the_other_requests() -> None:
    columns = {"offset": [0, 4096, 512, 20_480], "length": [4096, 8192, 100, 4096]}
    pages = pages_of([0, 1, 1, 0], **columns)
    others = without_tag(pages, 0)
    assert others is not None
    assert (others.host_pages, others.partial_pages, others.footprint_pages) == (3, 1, 3)
    assert others.logical_pages == pages.logical_pages
    assert others.start.tolist() == [1, 0]
    assert others.tags is None
    assert without_tag(pages_of([0, 0], offset=[0, 0], length=[1, 1]), 0) is None


@pytest.mark.parametrize("trimmer", ["A", "kernel"])
def test_trims_free_no_page_that_only_the_removed_tag_writes(trimmer: str) -> None:
    # No tag writes page 3, and both write page 5.
    rows = [("write", 0, 3, "A"), ("write", 4, 6, "A"), ("write", 5, 1, "B"), ("write", 12, 1, "B")]
    rows += [("trim", 0, 13, trimmer), ("trim", 4, 1, trimmer), ("write", 9, 1, "B")]
    frame = pl.DataFrame(rows, schema=["op", "page", "pages", "process"], orient="row")
    trace = wa.traces.of(frame)
    tags = tagged(trace, "process")
    pages = wa.traces.to_pages(
        trace, mapping="as-is", tag_names=tags.names, tags=tags.codes.to_numpy()
    )
    others = without_tag(pages, tags.names.index("A"))
    assert others is not None
    is_trim = others.op == 1
    trims = list(zip(others.start[is_trim].tolist(), others.count[is_trim].tolist(), strict=True))
    assert trims == ([] if trimmer == "A" else [(3, 1), (5, 1), (9, 4)])
    assert others.start[~is_trim].tolist() == [5, 12, 9]
    assert others.footprint_pages == 3


def test_wa_without_a_tag_does_not_depend_on_the_process_that_trims_its_files() -> None:
    random = np.random.default_rng(1)
    rows: list[tuple[str, int, int]] = []
    for _ in range(40):
        rows += [("A", 64 * int(at), 64) for at in random.integers(0, 16, 2)]
        rows += [("B", int(page), 1) for page in random.integers(1024, 3072, 128)]
        rows.append(("trim", 64 * int(random.integers(0, 16)), 64))
    frame = pl.DataFrame(rows, schema=["process", "page", "pages"], orient="row").with_columns(
        op=pl.when(pl.col("process") == "trim").then(pl.lit("trim")).otherwise(pl.lit("write"))
    )
    without = [
        wa.blame(wa.traces.of(frame.with_columns(process=processes)), "process", repeat=3, **DRIVE)
        for processes in (pl.col("process"), pl.col("process").replace("trim", "A"))
    ]
    of_a = [next(row.without.wa for row in result.tags if row.tag == "A") for result in without]
    assert of_a[0] == of_a[1] > 1


def test_lengths_without_a_tag_are_those_of_the_same_part_of_the_trace() -> None:
    columns = {"offset": [0, 4096, 512, 0], "length": [8192, 8192, 100, 4096]}
    pages = pages_of([0, 1, 1, 0], **columns)
    lengths = [length_without(pages, 0, length) for length in range(8)]
    assert lengths == [0, 0, 0, 1, 2, 3, 3, 3]
    assert length_without(pages, 1, 9) == 6 - 1
    assert length_without(pages, 0, 8192 + 8192 + 50, in_bytes=True) == 8192 + 50
    trace = trace_of(file=["a"] * 2000 + ["b"] * 2000)
    parts: list[dict[str, Any]] = [
        {"writes": 2000},
        {"host_bytes": 2000 * 4096},
        {"warmup": 2000, "repeat": 1},
    ]
    for length in parts:
        rows = {row.tag: row for row in wa.blame(trace, "file", **length, **DRIVE).tags}
        alone = rows["b" if "warmup" in length else "a"]
        assert alone.host_share == 1
        assert alone.without.reason == "no other tag writes in the counted part of the trace"


def test_timed_passes_keep_their_length_without_the_first_or_the_last_tag() -> None:
    pages = pages_of([0, 1, 1, 0], offset=[0, 4096, 512, 0], length=[8192, 8192, 100, 4096])
    timed = replace(pages, at_ns=np.array([0, 10, 20, 90], np.uint64))
    others = without_tag(timed, 0)
    assert others is not None
    assert others.at_ns is not None
    assert others.at_ns.tolist() == [0, 10, 20, 90]
    assert others.op.tolist() == [2, 0, 0, 2]
    assert others.count.tolist() == [1, 2, 1, 1]
    assert others.host_pages == 3


def test_all_runs_of_a_long_pass_count_the_same_part() -> None:
    drive: dict[str, Any] = {"op": 0.2, "pages_per_block": 16, "repeat": 1}
    result = wa.blame(hot_and_cold(), "file", **drive)
    assert result.whole.steady
    assert 0 < result.whole.warmup_pages < result.whole.writes
    given = wa.blame(hot_and_cold(), "file", warmup=result.whole.warmup_pages, **drive)
    assert [row.to_dict() for row in result.tags] == [row.to_dict() for row in given.tags]


def test_a_page_belongs_to_the_tag_that_writes_it_most_often() -> None:
    pages = pages_of([0, 0, 1, 1], offset=[0, 0, 0, 4096], length=[4096, 4096, 8192, 8192])
    assert owners(pages, 2).tolist() == [0, 1, 1]


def test_the_rows_sum_to_the_counts_of_the_run(blamed: wa.Blame) -> None:
    whole = blamed.whole
    assert sum(row.host_bytes for row in blamed.tags) == whole.host["written_bytes"]
    assert sum(row.flash_bytes for row in blamed.tags) == whole.flash_pages * whole.page_bytes
    moved = whole.causes["gc"] + whole.causes["wear_leveling"]
    assert sum(row.moved_pages for row in blamed.tags) == moved
    assert sum(row.host_share for row in blamed.tags) == pytest.approx(1)
    assert blamed.unknown_share == 0
    untagged = wa.simulate(trace=hot_and_cold(), spread=False, **DRIVE)
    assert isinstance(untagged, wa.Result)
    assert (untagged.wa, untagged.causes) == (whole.wa, whole.causes)


@pytest.mark.parametrize("more", [{}, {"repeat": 2}, {"device": "x25-m", "size": "64MiB"}])
def test_the_counts_of_a_short_trace_begin_at_its_start(more: dict[str, Any]) -> None:
    # Data that are written once, at the start, and then random writes to other pages.
    pages = np.r_[np.arange(1000), 1000 + np.random.default_rng(1).integers(0, 9000, 16_000)]
    files = ["early"] * 1000 + ["late"] * 16_000
    trace = wa.traces.of(pl.DataFrame({"page": pages, "file": files}))
    drive = {} if "device" in more else DRIVE
    result = wa.blame(trace, "file", **drive, **more)
    assert not result.whole.steady
    shares = {row.tag: row.host_share for row in result.tags}
    assert shares["early"] == pytest.approx(1 / 17)
    assert sum(row.host_bytes for row in result.tags) == result.whole.writes * 4096
    assert "all counts begin at the start of the trace" in result.notes
    from_start = wa.blame(trace, "file", warmup=0, **drive, **more)
    assert [row.to_dict() for row in result.tags] == [row.to_dict() for row in from_start.tags]
    assert result.wa == from_start.wa


def test_the_counts_of_other_traces_begin_with_a_pass_or_after_the_warmup(blamed: wa.Blame) -> None:
    assert any("all counts begin with pass" in note for note in blamed.notes)
    cut = wa.blame(hot_and_cold(), "file", warmup=5000, repeat=1, **DRIVE)
    words = "all counts begin after 10% of the host's writes; with --warmup 0, they begin at"
    assert any(words in note for note in cut.notes)


def test_without_the_hot_file_and_with_its_own_stream_wa_is_lower(blamed: wa.Blame) -> None:
    hot, cold = (next(row for row in blamed.tags if row.tag == name) for name in ("hot", "cold"))
    assert blamed.wa > 1.1
    assert cold.moved_pages > hot.moved_pages
    assert hot.without.wa == pytest.approx(1, abs=0.01)
    assert 1 <= hot.own_stream.wa < blamed.wa - 0.05
    assert blamed.runs == 7
    assert "cold" in str(blamed)


def test_the_saved_share_is_that_of_the_flash_writes_of_a_pass(blamed: wa.Blame) -> None:
    cold = next(row for row in blamed.tags if row.tag == "cold")
    hot_alone = wa.simulate(
        trace=wa.traces.of(hot_and_cold().requests.filter(pl.col("file") == "hot")),
        logical_pages=blamed.whole.device.logical_pages,
        spread=False,
        **DRIVE,
    )
    assert isinstance(hot_alone, wa.Result)
    assert cold.without.wa == pytest.approx(hot_alone.wa, abs=0.01)
    saved = 1 - hot_alone.wa * 24 * COLD_PAGES / (blamed.wa * 48 * COLD_PAGES)
    assert cold.flash_saved_share == pytest.approx(saved, abs=0.01)
    document = blamed.to_dict()
    assert document["measured_passes"] == blamed.whole.host_pages / (48 * COLD_PAGES) > 1
    of_pass = blamed.wa * 48 * COLD_PAGES * 4096
    shown = blamed.figure()
    assert sum(sum(layer.values) for layer in shown.layers) * 1e6 == pytest.approx(of_pass)
    assert "one pass" in shown.x_label
    assert ">flash/pass" in blamed.card().columns


def test_a_row_that_is_no_writer_is_not_named_and_unsteady_wa_are_marked() -> None:
    # Few random writes make a full drive move mostly data from before the run.
    random = np.random.default_rng(1)
    rows = {"page": random.integers(0, 2000, 1800), "process": ["a", "b", "b"] * 600}
    drive: dict[str, Any] = {
        "size": "8MiB",
        "op": 0.07,
        "pages_per_block": 16,
        "mapping": "as-is",
        "repeat": 1,
    }
    result = wa.blame(wa.traces.of(pl.DataFrame(rows)), "process", **drive)
    assert max(result.tags, key=lambda row: row.flash_bytes).tag == "before the run"
    assert result.most.tag == "b"
    headline = of_blame(result.to_dict())
    assert headline.startswith("b causes")
    assert headline.count("(not steady)") == 3
    assert f"WA is {result.wa:.2f} (not steady)" in headline
    assert str(result.tags[0].without) == f"{result.tags[0].without.wa:.2f}*"


def test_a_warning_on_the_size_of_the_drive_is_that_of_simulate(blamed: wa.Blame) -> None:
    simulated = wa.simulate(trace=hot_and_cold(), **DRIVE)
    assert isinstance(simulated, wa.Result)
    assert simulated.spread == blamed.whole.spread
    assert simulated.warnings == blamed.warnings


def test_an_own_stream_beside_sepgc_equals_two_isolated_placement_handles() -> None:
    # Random writes, two thirds of them to the first half, so that pages of both halves are moved.
    random = np.random.default_rng(1).integers(0, 1500, 9000)
    pages = np.r_[np.arange(1000), np.where(random < 1000, random // 2, random - 500)]
    trace = wa.traces.of(pl.DataFrame({"page": pages}))
    run: dict[str, Any] = {"repeat": 1, "warmup": 0, **DRIVE}
    blamed = wa.blame(trace, "range:2", manager="sepgc", **run)
    handles = "nvme-fdp:handles=2,isolation=persistent,by=range"
    isolated = wa.simulate(trace=trace, manager=handles, spread=False, **run)
    assert blamed.tags[1].tag.startswith("2/2")
    assert blamed.tags[1].own_stream.wa == isolated.wa != blamed.wa


@pytest.mark.parametrize("manager", ["hcwf:detector=bloom", "wolf-interval", "midas", "sfs"])
def test_a_manager_without_own_streams_has_none_and_says_why(manager: str) -> None:
    trace = trace_of(process=["a", "b"] * 2000)
    result = wa.blame(trace, "process", manager=manager, writes=4000, warmup=0, **DRIVE)
    for row in result.tags[:2]:
        assert np.isnan(row.own_stream.wa)
        assert "cannot have an own stream" in str(row.own_stream.reason)
        assert row.without.wa >= 1
    document = result.to_dict()
    assert document["tags"][0]["wa_own_stream"] is None
    assert any("a, b: no WA with a stream of its own, because" in note for note in result.notes)


def test_the_only_tag_has_no_wa_without_it() -> None:
    result = wa.blame(trace_of(process=["a"] * 4000), "process", **DRIVE)
    assert result.tags[0].without.reason == "no other tag writes"
    assert result.tags[0].own_stream.wa == pytest.approx(result.wa)
    assert result.runs == 4
    assert np.isnan(result.tags[0].flash_saved_share)


def test_a_tag_below_the_limit_is_not_run_again() -> None:
    trace = trace_of(process=["a"] * 4000 + ["b"] * 2)
    result = wa.blame(trace, "process", **DRIVE)
    assert result.runs == 5
    assert "less than 0.5%" in str(result.tags[1].without.reason)


def test_timed_runs_count_by_tag_too() -> None:
    trace = trace_of(process=["a", "b"] * 500)
    result = wa.blame(trace, "process", "x25-m", size="64MiB", timed=True)
    assert isinstance(result.whole, wa.TimedResult)
    assert sum(row.flash_bytes for row in result.tags) == (
        result.whole.flash_pages * result.whole.page_bytes
    )


def test_the_command_states_the_runs_and_prints_every_form(tmp_path: Path) -> None:
    path = tmp_path / "t.parquet"
    wa.traces.write(hot_and_cold(), path)
    line = f"{path} --by file --op 0.3 --pages-per-block 16 --repeat 1"
    printed = run("blame", f"{line} --plot {tmp_path}/b.svg --report {tmp_path}/b.html")
    assert printed.status == 0, printed.err
    assert "note: 7 runs: the whole trace (also on drives one block smaller" in printed.err
    assert "and for 2 tags the trace without it and with a stream" in printed.err
    text = " ".join(printed.out.split())
    assert "of the flash writes, with 50% of the host's; without it, the drive writes" in text
    assert "without, own stream: WA without" in text
    assert "drive: generic: 94 blocks × 16 pages, flat, 4.5 MiB for the host, op 0.3056" in text
    assert "fitted to the trace; single, greedy" in text
    assert (tmp_path / "b.svg").stat().st_size > 1000
    page = (tmp_path / "b.html").read_text()
    assert "bytes programmed to flash" in page
    document = json.loads(run("blame", f"{line} --json").out)
    assert {row["tag"] for row in document["tags"]} >= {"hot", "cold"}
    assert {"by", "wa", "unknown_share", "device", "manager", "op", "seed"} <= document.keys()
    table = pl.read_csv(run("blame", f"{line} --csv").out.encode())
    assert table["host_bytes"].sum() == document["host"]["written_bytes"]


def test_the_processes_of_blkparse_are_tags(tmp_path: Path) -> None:
    path = tmp_path / "sda.txt"
    path.write_text(
        "".join(
            f"8,0 1 {at} {at / 1000:.9f} {7 + at % 3} Q W {at * 8 % 8192} + 8 [p{at % 3}]\n"
            for at in range(3000)
        )
    )
    document = json.loads(run("blame", f"{path} --by process --pages-per-block 8 --json").out)
    shares = {row["tag"]: row["host_share"] for row in document["tags"]}
    assert {f"p{at}": pytest.approx(1 / 3, abs=0.01) for at in range(3)} == shares


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("{trace}", ["Missing option '--by'"]),
        ("{trace} --by colour", ["colour", "directory"]),
        ("{trace} --by file", ["its requests have no file", "range:N"]),
        ("{trace} --by device --device spinpoint-m7", ["disk", "flash"]),
        ("{trace} --by device --workload uniform", ["--workload"]),
        ("nosuch.parquet --by device", ["nosuch.parquet"]),
    ],
)
def test_the_command_refuses_in_a_sentence(tmp_path: Path, line: str, words: list[str]) -> None:
    path = tmp_path / "t.parquet"
    wa.traces.write(trace_of(process=["a", "b"] * 2000), path)
    done = run("blame", line.format(trace=path))
    assert done.status == 2
    assert all(word in " ".join(done.err.split()) for word in words), done.err
