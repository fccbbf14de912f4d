"""Promises of a simulation, whatever its numbers: exact counts, boundaries, determinism."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import get_args

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from in_process import document, run
from page_traces import page_trace
from places import TRACE
from registered import entries, managers, victims
from writeamp import _engine
from writeamp.devices.geometry import LAYOUTS
from writeamp.devices.policy import Policy
from writeamp.registry import EngineKind, Entry

SMALL = {"blocks": 64, "pages_per_block": 32, "op": 0.25}


def test_writes_and_warmup_are_exact_and_causes_add_up() -> None:
    whole = wa.simulate(**SMALL, writes=12_345, warmup=0)
    assert (whole.host_pages, whole.writes, whole.warmup_pages) == (12_345, 12_345, 0)
    late = wa.simulate(**SMALL, writes=12_345, warmup=2_345)
    early = wa.simulate(**SMALL, writes=2_345, warmup=0)
    assert (late.host_pages, late.warmup_pages) == (10_000, 2_345)
    # The parts before and after the boundary make up the whole, for every counter.
    for cause, pages in whole.causes.items():
        assert early.causes[cause] + late.causes[cause] == pages
    assert early.erases + late.erases == whole.erases
    for found in (whole, late):
        assert sum(found.causes.values()) == found.flash_pages
        assert found.causes["host"] == found.host_pages
        assert found.wa == found.flash_pages / found.host_pages


@pytest.mark.parametrize("manager", ["single", "sepgc", "hcwf"])
def test_maps_valid_pages_and_counters_agree_after_a_run(manager: str) -> None:
    drive = wa.device(**SMALL)
    # Hot pages are written twice within few writes, and every tenth request trims.
    load = _engine.Load.spec("hot-cold:f=0.1,r=0.9,trim=0.1", drive.logical_pages)
    policy = Policy(manager, None, None).drive(drive)
    run = _engine.Simulation(policy, load, seed=1, batch_pages=256)
    run.fill(0, drive.logical_pages)
    run.run(20_000)
    run.assert_invariants()


def test_what_the_host_asks_for_is_counted_apart_from_what_flash_programs() -> None:
    page = 4096
    requests = [
        ("write", 0, 3 * page),
        ("read", 0, 2 * page - 512),
        ("flush", 0, 0),
        ("write", page, page // 2),
        ("trim", 2 * page, page),
        ("write", 0, page),
    ]
    frame = pl.DataFrame(
        [(at, 0, *request) for at, request in enumerate(requests)],
        schema=wa.traces.trace.SCHEMA,
        orient="row",
    )
    trace = wa.traces.Trace(frame, "by-hand", "by-hand", ["sda"])
    result = wa.simulate(trace=trace, blocks=4, pages_per_block=2, warmup=0, precondition="none")
    assert result.host == {
        "written_pages": 5,
        "written_bytes": 4 * page + page // 2,
        "read_pages": 2,
        "read_bytes": 2 * page - 512,
        "trimmed_pages": 1,
        "trimmed_bytes": page,
        "flushes": 1,
    }
    assert result.causes["host"] == result.host_pages == 5
    assert result.to_dict()["host"] == result.host


def test_the_series_adds_up_to_the_counts() -> None:
    result = wa.simulate(**SMALL, writes=10_001, warmup=0)
    assert result.series["host_pages"][-1] == 10_001
    assert result.series["gc_programs"].sum() == result.causes["gc"]
    assert result.series["erases"].sum() == result.erases == result.erases_of_block.sum()


@pytest.mark.registry
@pytest.mark.parametrize("manager", managers(), ids=lambda manager: manager.name)
def test_batches_of_any_size_give_the_same_counters(manager: Entry) -> None:
    shared = {"workload": "hot-cold:f=0.1,r=0.9", "writes": 20_000, "warmup": 3_333, "replicas": 1}
    shared |= {"manager": manager.example} | SMALL
    for policy in victims(manager):
        first, *others = (
            wa.simulate(**shared, victims=policy.example, batch_pages=size)
            for size in (1000, 1, 7, 4096)
        )
        for other in others:
            assert other.causes == first.causes
            assert np.array_equal(other.erases_of_block, first.erases_of_block)


def test_one_seed_gives_the_same_counters_on_any_number_of_threads() -> None:
    def counters(seed: int) -> tuple[dict[str, int], int]:
        result = wa.simulate(**SMALL, victims="d-choices:d=3", seed=seed, writes=50_000)
        return result.causes, result.erases

    alone = [counters(seed) for seed in range(8)]
    for threads in (1, 2, 8):
        with ThreadPoolExecutor(threads) as pool:
            assert list(pool.map(counters, range(8))) == alone
    assert len({str(found) for found in alone}) == 8


@pytest.mark.registry
@pytest.mark.parametrize("workload", [e.example for e in entries("workloads")])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_every_registered_entry_runs_in_every_layout(workload: str, layout: str) -> None:
    # Many small blocks: each group of pages that a workload tells of takes an open one on each LUN.
    drive = wa.device("eagletree", blocks=640, pages_per_block=4, layout=layout)
    shared = {"workload": workload, "writes": 5_000, "replicas": 1, "spread": False}
    for manager in managers(layout):
        for policy in victims(manager):
            policies = {"manager": manager.example, "victims": policy.example}
            result = wa.simulate(drive, **shared, **policies)
            assert result.wa >= 1
            assert result.erases > 0


@pytest.mark.registry
def test_every_entry_documents_itself() -> None:
    for kind in get_args(EngineKind):
        for entry in entries(kind):
            assert entry.summary
            assert "\n" not in entry.summary
            assert entry.example.startswith(entry.name)
            assert entry.small.startswith(entry.name)
            assert all(param.help and param.domain for param in entry.params)


@pytest.mark.registry
def test_what_a_manager_does_not_declare_is_refused_and_what_it_declares_is_not() -> None:
    for manager in entries("managers"):
        for layout in LAYOUTS:
            for policy in entries("victims"):
                serves = layout in manager.declared["layouts"]
                serves = serves and policy.name in manager.declared["victims"]
                combination = {"victims": policy.example, "layout": layout}
                if serves:
                    assert _engine.declared(manager.example, **combination) == manager.declared
                else:
                    with pytest.raises(wa.WriteampError, match=f"{manager.name} .* valid"):
                        _engine.declared(manager.example, **combination)


def test_a_run_too_short_for_steady_state_says_so() -> None:
    result = wa.simulate(**SMALL, writes=1_000)
    assert not result.steady
    assert "not steady" in result.warnings[0]


def test_a_trace_on_a_larger_drive_leaves_the_rest_free_only_if_asked_to() -> None:
    drawn = np.random.default_rng(1).integers(0, 1000, 20_000)
    pages = page_trace(drawn, notes=("made by hand",))
    drive = wa.device(blocks=100, pages_per_block=16, op=0.2)
    full, free = (
        wa.simulate(drive, trace=pages, repeat=3, precondition=precondition, spread=False)
        for precondition in ("full", "workload")
    )
    assert free.wa < 0.9 * full.wa
    assert full.utilization == pytest.approx(1000 / drive.logical_pages)
    assert full.to_dict()["notes"] == ["made by hand", "the trace was looped 3 times"]


def test_whole_passes_are_judged_alike_however_they_were_asked_for() -> None:
    pages = wa.traces.to_pages(wa.traces.read(TRACE))
    by_passes = wa.simulate(trace=pages, op=0.1, repeat=3, spread=False)
    by_writes = wa.simulate(
        trace=pages, op=0.1, repeat=9, writes=3 * pages.host_pages, spread=False
    )
    assert (by_writes.wa, by_writes.ci) == (by_passes.wa, by_passes.ci)


def test_long_runs_on_small_drives_keep_few_samples() -> None:
    result = wa.simulate(blocks=16, pages_per_block=4, op=0.3, writes=500_000)
    assert result.series.height <= 20_001


def test_unwritten_space_serves_as_spare_space() -> None:
    drive = wa.device(blocks=512, pages_per_block=32, op=0.25)
    found = wa.simulate(drive, utilization=0.8).wa
    # 80% of the logical pages on the same flash: the op of a smaller drive.
    same = wa.simulate(blocks=512, pages_per_block=32, op=1.25 / 0.8 - 1).wa
    assert found == pytest.approx(same, rel=0.003)


def test_precondition_decides_what_is_on_the_drive() -> None:
    drive = wa.device(**SMALL)
    half = "mix:sizes=1/1,weights=1/0"
    full = wa.simulate(drive, half, writes=40_000, warmup=20_000)
    empty = wa.simulate(drive, half, writes=40_000, warmup=20_000, precondition="none")
    # Cold data that was never written leaves its space to collection.
    assert empty.wa < full.wa


def test_a_numpy_engine_object_cannot_be_changed_from_python() -> None:
    with pytest.raises(AttributeError):
        wa.device(**SMALL).geometry.blocks = 1
    assert _engine.Simulation.__flags__ & (1 << 10) == 0  # not a base type


def test_a_drive_that_was_never_filled_is_not_steady() -> None:
    for case in (
        {"op": "1000%", "victims": "random", "writes": 100_000},
        {"fill": 0.1, "victims": "random", "precondition": "none", "writes": 100_000},
    ):
        result = wa.simulate(blocks=1024, pages_per_block=128, **case)
        assert not result.steady
        assert "too short" in result.steady_state.reason
    automatic = wa.simulate(blocks=128, pages_per_block=32, op="1000%", victims="random")
    assert automatic.wa == pytest.approx(1.1, rel=0.01)
    assert any("op is a ratio" in warning for warning in automatic.warnings)


def test_an_op_that_whole_blocks_cannot_give_is_noted() -> None:
    result = wa.simulate(logical_pages=100, pages_per_block=64, op=0.1, writes=5_000)
    assert "instead of 0.1, because" in result.notes[0]


def test_a_short_last_interval_is_joined_to_the_one_before() -> None:
    series = wa.simulate(**SMALL, writes=40_007, warmup=0).series
    steps = series["host_pages"].diff().drop_nulls()
    assert 2 * steps[-1] >= steps[-2]
    assert series["host_pages"][-1] == 40_007


def test_a_result_prints_as_a_line() -> None:
    line = repr(wa.simulate(**SMALL, writes=20_000))
    assert line.startswith("<Result: WA ")
    assert "\n" not in line


def test_a_device_of_other_blocks_keeps_its_op() -> None:
    drive = wa.device("eagletree", blocks=64)
    longer = wa.device(drive, pages_per_block=256)
    assert longer.op == pytest.approx(drive.op, rel=1e-3)
    assert longer.physical_pages == 2 * drive.physical_pages


SEQUENTIAL_BESIDE_RANDOM = "mix:sizes=1/1,weights=1/1,of=sequential/uniform"


def test_a_sequential_stream_of_its_own_is_run_on_neighbouring_sizes_of_one_op() -> None:
    settings = {"pages_per_block": 32, "writes": 40_000, "warmup": 10_000, "replicas": 1}
    settings |= {"manager": "nvme-fdp:handles=2", "workload": SEQUENTIAL_BESIDE_RANDOM}
    found = wa.simulate(**settings, blocks=61, op=0.15)
    around = (found.spread.one_block_less, found.spread.one_block_more)
    # The phase of the stream makes the difference, which the interval of one run does not show.
    assert found.spread.smallest_op == pytest.approx(found.spread.largest_op, rel=0.01)
    neighbours = [found.device.with_extra_blocks(extra, keeps_op=True) for extra in (-1, 1)]
    alone = [wa.simulate(drive, **settings, spread=False) for drive in neighbours]
    assert around == tuple(run.wa for run in alone)
    assert not any(found.ci[0] <= wa_there <= found.ci[1] for wa_there in around)
    assert any("the sequential stream locks in phase" in one for one in found.warnings)
    assert found.to_dict()["wa_one_block_less_more"] == list(around)


@pytest.mark.parametrize(
    ("manager", "workload"),
    [
        ("single", SEQUENTIAL_BESIDE_RANDOM),
        ("nvme-fdp:handles=2", "mix:sizes=1/1,weights=1/1,of=permutation/uniform"),
        ("nvme-fdp:handles=2", "sequential"),
    ],
)
def test_other_loads_and_managers_are_run_on_one_size(manager: str, workload: str) -> None:
    found = wa.simulate(
        **SMALL, manager=manager, workload=workload, writes=5000, warmup=1000, replicas=1
    )
    assert found.spread is None


LARGE_PAGES = f"--trace {TRACE} --op 0.2 --page-bytes 16384"


def test_bytes_programmed_per_byte_of_the_host_are_those_that_a_drive_would_count() -> None:
    trace = wa.traces.read(TRACE)
    result = wa.simulate(trace=trace, op=0.2, page_bytes=16384, warmup=0, spread=False)
    host_bytes = wa.traces.info(trace)["bytes_written"]
    assert result.host["written_bytes"] == host_bytes
    assert result.wa_bytes == pytest.approx(result.flash_pages * 16384 / host_bytes)
    assert result.partial_page_factor == pytest.approx(result.host_pages * 16384 / host_bytes)
    assert result.partial_page_factor > 1.5
    # It is no cause: those add up to the pages programmed.
    assert sum(result.causes.values()) == result.flash_pages


@pytest.mark.parametrize("manager", ["single", "oracle"])
def test_the_factor_is_that_of_the_measured_part_of_a_run(manager: str) -> None:
    drive = {"op": 0.2, "page_bytes": 16384, "spread": False, "manager": manager}
    whole, late = (
        wa.simulate(trace=TRACE, repeat=2, warmup=warmup, **drive) for warmup in (0, 1_176_734 // 2)
    )
    # Both passes ask for the same bytes, so that the second is half of them.
    assert late.host_pages * 2 == whole.host_pages
    assert late.host["written_bytes"] * 2 == pytest.approx(whole.host["written_bytes"], abs=2e6)


def test_whole_pages_have_a_factor_of_one() -> None:
    result = wa.simulate(blocks=64, pages_per_block=32, writes=5_000)
    assert (result.wa_bytes, result.partial_page_factor) == (result.wa, 1.0)


def test_bytes_that_nobody_knows_are_null() -> None:
    pages = wa.traces.to_pages(wa.traces.read(TRACE), 16384)
    unknown = replace(pages, head_bytes=None, tail_bytes=None)
    found = wa.simulate(trace=unknown, op=0.2, page_bytes=16384, spread=False).to_dict()
    assert found["wa_bytes"] is found["partial_page_factor"] is None


@pytest.mark.parametrize(
    ("verb", "of_bytes", "of_pages"),
    [
        ("simulate --no-spread", "WA per host byte", "WA per page"),
        ("compare --managers single --replicas 1", "WA/byte", "WA/page"),
    ],
    ids=["simulate", "compare"],
)
def test_bytes_stand_before_pages_where_they_differ(
    verb: str, of_bytes: str, of_pages: str
) -> None:
    out = run(verb, LARGE_PAGES).out
    assert 0 < out.index(of_bytes) < out.index(of_pages)
    assert of_bytes not in run(verb, "--blocks 64 --writes 5000").out
    found = document(verb, LARGE_PAGES)
    [row] = found.get("rows", [found])
    assert row["wa_bytes"] == pytest.approx(row["wa"] * found["partial_page_factor"])
    assert found["partial_page_factor"] > 1.5


def test_the_picture_names_wa_per_byte_first() -> None:
    result = wa.simulate(trace=TRACE, op=0.2, page_bytes=16384, spread=False)
    subtitle = result.figure().subtitle
    assert subtitle.startswith(f"WA per host byte {result.wa_bytes:.3f} = {result.wa:.3f} per page")
    assert "per host byte" not in wa.simulate(blocks=64, writes=5_000).figure().subtitle


HOT_COLD = {"blocks": 400, "pages_per_block": 16, "op": 0.5, "workload": "hot-cold:f=0.1,r=0.9"}
SHORT = {"writes": 20_000, "replicas": 1}


@pytest.mark.parametrize(
    ("manager", "share"),
    [
        ("oracle:spacing=linear,streams=64", "next 64 blocks' worth of writes, 0.24 of the drive"),
        ("oracle:spacing=linear", "next 16 blocks' worth of writes, 0.06 of the drive"),
        ("oracle", None),
        ("oracle:streams=64", None),
        ("sepgc", None),
    ],
)
def test_a_short_horizon_is_warned_of(manager: str, share: str | None) -> None:
    simulated = wa.simulate(manager=manager, **HOT_COLD, **SHORT)
    compared = wa.compare(managers=[manager], **HOT_COLD, **SHORT)
    for warnings in (simulated.warnings, compared.warnings):
        said = [one for one in warnings if "has classes for" in one]
        assert len(said) == (share is not None)
        assert all(str(share) in one for one in said)


def test_a_horizon_of_the_whole_drive_is_no_warning() -> None:
    settings = {"blocks": 100, "pages_per_block": 16, "op": 2.3, **SHORT}
    found = wa.simulate(manager="oracle:spacing=linear,streams=32", workload="zipf", **settings)
    assert not [one for one in found.warnings if "has classes for" in one]
