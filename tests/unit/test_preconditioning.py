"""The state in which a run finds its drive: filled, aged by random writes, aged by a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from in_process import document, refusal, run
from places import TRACE
from writeamp.plots.spec import Line
from writeamp.runs.preconditioning import is_steady

SMALL = {"blocks": 64, "pages_per_block": 32, "op": 0.25}
PAGE = 4096


def trace_file(path: Path, pages: np.ndarray[Any, Any]) -> Path:
    """Write a trace of single page writes."""
    frame = pl.DataFrame(
        {
            "timestamp_ns": np.arange(pages.size) * 1000,
            "device": np.zeros(pages.size, np.uint32),
            "op": ["write"] * pages.size,
            "offset": pages.astype(np.uint64) * PAGE,
            "length": np.full(pages.size, PAGE, np.uint32),
        },
        schema=wa.traces.SCHEMA,
    )
    wa.traces.write(wa.traces.Trace(frame, "parquet", "by hand", ["sda"]), path, "parquet")
    return path


def uniform_trace(path: Path, pages: int, writes: int, seed: int = 1) -> Path:
    """Write a trace of random writes to so many pages."""
    return trace_file(path, np.random.default_rng(seed).integers(0, pages, writes))


def test_a_drive_aged_at_random_begins_in_the_steady_state_of_random_writes() -> None:
    steady = wa.simulate(**SMALL, writes=200_000, warmup=100_000)
    aged = wa.simulate(**SMALL, precondition="random", writes=5_000, warmup=0)
    fresh = wa.simulate(**SMALL, writes=5_000, warmup=0)
    assert aged.wa == pytest.approx(steady.wa, rel=0.03)
    assert fresh.wa < 0.95 * steady.wa
    assert aged.ageing.steady


def test_nothing_that_ages_a_drive_is_counted() -> None:
    result = wa.simulate(**SMALL, precondition="random:3", writes=2_000, warmup=0)
    assert (result.host_pages, result.writes) == (2_000, 2_000)
    assert result.host["written_bytes"] == 2_000 * PAGE
    assert result.erases_of_block.sum() == result.erases
    assert result.series["host_pages"][-1] == 2_000
    assert result.ageing.host_pages == 3 * result.device.logical_pages
    assert len(result.ageing.rounds) == 3


def test_the_seed_decides_the_random_writes_and_they_are_not_those_of_the_run() -> None:
    def rounds(**changes: Any) -> tuple[float, ...]:
        found = wa.simulate(**SMALL, precondition="random:2", **{"writes": 100, **changes}).ageing
        return found.rounds

    assert rounds() == rounds(writes=200) != rounds(seed=2)
    # The run itself writes as it does on a drive that is not aged.
    aged, plain = (
        wa.simulate(**SMALL, workload="sequential", precondition=state, writes=3_000, warmup=0).host
        for state in ("random:2", "full")
    )
    assert aged == plain


def test_rounds_are_steady_as_the_test_specification_has_it() -> None:
    assert is_steady([9, 3, 3.1, 3, 2.9, 3])
    assert not is_steady([3, 3, 3, 3])
    assert not is_steady([3, 3, 3, 3, 3.7])  # within 20% of their mean
    assert not is_steady([3, 3.1, 3.2, 3.3, 3.4])  # the best line moves by at most 10%


def test_random_writes_that_do_not_settle_are_warned_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("writeamp.runs.preconditioning._MOST_RANGE", 0.0)
    result = wa.simulate(**SMALL, precondition="random", writes=1_000)
    assert len(result.ageing.rounds) == 25
    assert any("not steady after 25 drive writes" in warning for warning in result.warnings)


def test_a_trace_ages_the_drive_for_one_pass(tmp_path: Path) -> None:
    path = uniform_trace(tmp_path / "day.parquet", 1000, 5000)
    drive = {"pages_per_block": 16, "op": 0.2, "spread": False, "warmup": 0}
    twice = wa.simulate(trace=path, repeat=2, **drive)
    aged = wa.simulate(trace=path, precondition=f"aged:{path}", **drive)
    # The second pass over a trace is a pass over a drive that it aged.
    assert aged.wa == twice.passes["wa"][1]
    assert aged.ageing.rounds == (twice.passes["wa"][0],)


def test_a_single_pass_over_an_aged_drive_counts_whole_and_shows_its_transient() -> None:
    result = wa.simulate(trace=TRACE, op=0.2, precondition="random:2", spread=False)
    assert result.warmup_pages == 0
    assert result.host_pages == 1_490_653
    assert result.wa == result.passes["wa"][0]
    first = result.series["wa"][:5].to_numpy()
    assert (first > result.wa).all()


def test_wa_of_each_pass_is_in_result_document_and_picture(tmp_path: Path) -> None:
    path = uniform_trace(tmp_path / "day.parquet", 1000, 5000)
    arguments = {"trace": path, "pages_per_block": 16, "op": 0.2, "spread": False}
    result = wa.simulate(**arguments, repeat=4, writes=17_500, warmup=0)
    assert result.passes["pass"].to_list() == [1, 2, 3, 4]
    assert result.passes["host_pages"].to_list() == [5000, 5000, 5000, 2500]
    flash = (result.passes["wa"] * result.passes["host_pages"]).sum()
    assert flash == pytest.approx(result.flash_pages)
    assert result.to_dict()["passes"] == result.passes.to_dicts()
    line: Line = next(
        one for one in result.figure().lines if one.label == "WA of each pass over the trace"
    )
    assert list(line.y) == np.repeat(result.passes["wa"].to_numpy(), 2).tolist()
    assert wa.simulate(**SMALL, writes=1_000).passes.is_empty()


def test_only_pages_that_the_trace_writes_are_filled_for_the_workload(tmp_path: Path) -> None:
    # The first and the last of 2,000 pages, 500 of each.
    random = np.random.default_rng(1)
    pages = random.integers(0, 500, 10_000) + random.choice([0, 1500], 10_000)
    path = trace_file(tmp_path / "ends.parquet", pages)
    drive = {"mapping": "as-is", "blocks": 150, "pages_per_block": 16, "op": 0.2}
    full, own = (
        wa.simulate(trace=path, precondition=state, spread=False, **drive)
        for state in ("full", "workload")
    )
    assert full.held_pages == full.device.logical_pages
    assert own.held_pages == 1000
    assert own.wa < full.wa
    short, long = (
        wa.endurance(trace=path, precondition=state, w_max=20, replicas=1, **drive)
        for state in ("full", "workload")
    )
    assert long.wa < short.wa


def test_a_trace_that_ages_keeps_its_addresses_as_is_and_its_ranks_compact(tmp_path: Path) -> None:
    run_by = uniform_trace(tmp_path / "run.parquet", 1000, 5000)
    beyond = trace_file(tmp_path / "beyond.parquet", np.arange(3000, 3500))
    drive = {"trace": run_by, "pages_per_block": 16, "op": 0.2, "spread": False}
    ranked = wa.simulate(**drive, precondition=f"aged:{beyond}")
    assert any("by its own addresses" in note for note in ranked.notes)
    with pytest.raises(wa.WriteampError, match=r"beyond\.parquet: request 1 ends at byte"):
        wa.simulate(**drive, mapping="as-is", blocks=80, precondition=f"aged:{beyond}")
    many = uniform_trace(tmp_path / "many.parquet", 5000, 20_000)
    with pytest.raises(wa.WriteampError, match=r"many\.parquet: the trace writes \d+ distinct"):
        wa.simulate(**drive, precondition=f"aged:{many}")


def test_a_synthetic_workload_runs_on_a_drive_aged_by_a_trace(tmp_path: Path) -> None:
    path = uniform_trace(tmp_path / "day.parquet", 1000, 5000)
    for manager in ("single", "hcwf", "oracle", "wolf"):
        result = wa.simulate(
            workload="hot-cold:f=0.1,r=0.9",
            manager=manager,
            **{**SMALL, "blocks": 512},
            precondition=f"aged:{path}",
            writes=2_000,
            warmup=0,
        )
        assert result.ageing.host_pages == 5000
    with pytest.raises(wa.WriteampError, match="distinct pages"):
        wa.simulate(**SMALL, utilization=0.1, precondition=f"aged:{path}")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("half", "valid: full, workload, none, random, random:DRIVE_WRITES, aged:TRACE"),
        ("random:", "random:4"),
        ("random:some", "random:4"),
        ("random:0", "above 0"),
        ("random:nan", "above 0"),
        ("random:1e9", "at most 1000"),
        ("aged:", "unknown precondition 'aged:'"),
        ("aged:/nowhere.csv", "/nowhere.csv"),
        ("full:2", "unknown precondition 'full:2'"),
    ],
)
def test_a_precondition_that_is_none_is_refused_with_what_is_valid(text: str, words: str) -> None:
    assert words in refusal("simulate", f"--blocks 64 --precondition {text}")


def test_endurance_refuses_a_drive_that_is_worn_before_its_life_begins() -> None:
    with pytest.raises(wa.WriteampError, match=r"random wears the drive, .* valid are full"):
        wa.endurance(**SMALL, w_max=5, precondition="random")


def test_files_keep_the_precondition_and_find_its_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "there").mkdir()
    uniform_trace(tmp_path / "there" / "day.parquet", 1000, 5000)
    monkeypatch.chdir(tmp_path)
    text = "--blocks 64 --pages-per-block 32 --writes 1000"
    found = run(
        "simulate", f"{text} --precondition aged:there/day.parquet --save-config there/x.toml"
    )
    assert found.status == 0, found.err
    saved = (tmp_path / "there" / "x.toml").read_text("utf-8")
    assert 'precondition = "aged:day.parquet"' in saved
    assert document("simulate", "there/x.toml")["precondition"] == "aged:there/day.parquet"
    experiments = [
        wa.Experiment.of("simulate", precondition=state) for state in ("random:4", "random:4.0")
    ]
    assert experiments[0].hash == experiments[1].hash
    assert experiments[0].hash != wa.Experiment.of("simulate", precondition="random").hash


def test_compare_ages_each_drive() -> None:
    found = wa.compare(managers="single", precondition="random:2", writes=1000, replicas=2, **SMALL)
    assert all(result.ageing is not None for result in found.rows[0].results)
