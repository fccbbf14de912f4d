"""Workloads that change or have groups, and simulations that are saved and restored."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import writeamp as wa
from places import ROOT
from writeamp import _engine
from writeamp.errors import WriteampError
from writeamp.registry import Entry, engine_entries
from writeamp.reports.headlines.runs import of_wa

DOCS = (ROOT / "docs" / "workloads.md").read_text()
SMALL: dict[str, Any] = {"blocks": 64, "pages_per_block": 32, "op": 0.25}
LOADS = {entry.name: entry for entry in engine_entries("workloads")}


def series(workload: str) -> list[tuple[float, ...]]:
    """Return the samples of a run of 60,000 writes."""
    result = wa.simulate(**SMALL, workload=workload, writes=60_000, warmup=0)
    return result.series.select("host_pages", "gc_programs", "erases").rows()


def test_a_swap_comes_after_as_many_writes_as_stated_not_counting_the_fill() -> None:
    # The swap makes hot and cold pages, which one frontier mixes at a price, all alike.
    steady = series("groups:sizes=1/9,freq=9/1")
    swapped = series("groups:sizes=1/9,freq=9/1,swap_at=30000")
    until_swap = sum(row[0] <= 30_000 for row in steady)
    assert 0 < until_swap < len(steady)
    assert swapped[:until_swap] == steady[:until_swap]
    runs = (steady, swapped)
    gc_programs = [sum(gc for host, gc, _ in run if 30_000 < host <= 40_000) for run in runs]
    assert gc_programs[1] < 0.8 * gc_programs[0]


def test_a_run_of_fios_zipf_states_the_addresses_that_it_touches() -> None:
    drive = SMALL | {"precondition": "none", "writes": 100_000, "warmup": 50_000}
    result = wa.simulate(**drive, workload="fio-zipf:theta=0.8")
    addresses = result.to_dict()["addresses"]
    assert addresses["count"] == result.device.logical_pages
    # Every reachable page of a drive that small is written in so long a run.
    held = (result.held_pages or 0) / result.device.logical_pages
    assert addresses["touched_share"] == pytest.approx(held, abs=0.01)
    assert addresses["touched_share"] <= addresses["reachable_share"] < 1
    # Untouched pages are spare space.
    assert result.wa < wa.simulate(**drive, workload="zipf:s=0.8").wa - 0.1
    assert "addresses" not in wa.simulate(**drive, workload="uniform").to_dict()


def test_swapping_equal_frequencies_changes_nothing() -> None:
    assert series("groups:sizes=1/3,freq=1/1,swap_at=9,period=7") == series(
        "groups:sizes=1/3,freq=5/5"
    )


def test_frequencies_are_relative_and_written_in_any_order_of_parameters() -> None:
    assert series("groups:sizes=0.5/0.5,freq=0.1/0.9,swap_at=5000000") == series(
        "groups:freq=2/18,swap_at=5e6,sizes=3/3"
    )


def test_by_default_the_first_and_the_last_group_swap() -> None:
    spec = "groups:sizes=1/1/1,freq=1/2/9,swap_at=1e4"
    assert series(spec) == series(f"{spec},swap=0/2") == series(f"{spec},swap=last/first")
    assert series(spec) != series(f"{spec},swap=0/1")


def test_a_hot_set_that_drifts_is_dearer_than_one_that_stays() -> None:
    # Told apart by an oracle, what turns cold still lies among hot pages.
    run = {**SMALL, "manager": "hcwf", "writes": 200_000}
    still = wa.simulate(**run, workload="hot-cold:f=0.1,r=0.9").wa
    drifting = wa.simulate(**run, workload="drift:f=0.1,r=0.9,period=3e4").wa
    assert drifting > 1.1 * still


@pytest.mark.parametrize(("fill", "expected"), [(0.765625, 2.90), (0.70, 2.46)])
def test_tpcc_in_one_group_amplifies_as_others_found(fill: float, expected: float) -> None:
    # An independent simulation of the same histogram, with greedy collection of 128-page blocks.
    found = wa.simulate(blocks=1024, pages_per_block=128, fill=fill, workload="tpcc").wa
    assert found == pytest.approx(expected, rel=0.015)


def test_telling_hot_from_cold_pays_on_tpcc() -> None:
    run: dict[str, Any] = {"blocks": 256, "pages_per_block": 64, "fill": 0.765625}
    run |= {"workload": "tpcc", "writes": 600_000}
    assert wa.simulate(**run, manager="hcwf").wa < 0.75 * wa.simulate(**run).wa


def test_checkpoints_write_in_order_what_evictions_write_at_random() -> None:
    run = {**SMALL, "writes": 200_000}
    evicting = wa.simulate(**run, workload="database:evict=1,updates=uniform")
    lazy = wa.simulate(**run, workload="database:evict=0,updates=uniform")
    assert lazy.wa < evicting.wa


def test_requests_count_the_bytes_they_ask_for_and_every_page_they_touch() -> None:
    run = {**SMALL, "writes": 20_000}
    found = wa.simulate(**run, workload="random:bs=4k,offset=512,write=0.5")
    assert found.partial_page_factor == pytest.approx(2, rel=1e-3)
    assert found.host["read_pages"] * 4096 == 2 * found.host["read_bytes"]
    assert found.host["read_pages"] == pytest.approx(found.host_pages, rel=0.05)


def test_requests_of_whole_pages_amplify_as_page_writes_do() -> None:
    run = {**SMALL, "writes": 100_000}
    requests = wa.simulate(**run, workload="random:bs=4k").wa
    assert requests == pytest.approx(wa.simulate(**run, workload="uniform").wa, rel=0.03)


def test_requests_are_laid_over_the_pages_of_the_drive() -> None:
    run = {**SMALL, "page_bytes": 16384, "writes": 5_000, "warmup": 0}
    assert wa.simulate(**run, workload="random:bs=4k").partial_page_factor == pytest.approx(4)


def test_a_cache_states_both_shares_and_has_a_handle_for_each_part() -> None:
    run: dict[str, Any] = {**SMALL, "op": 0.1, "blocks": 512, "writes": 150_000}
    of_policy = {
        manager: wa.simulate(**run, workload="cachelib:soc=4%", manager=manager)
        for manager in ("single", "nvme-fdp", "nvme-fdp:handles=1")
    }
    stated = "cachelib:soc=4%,soc_writes=0.33"
    for result in of_policy.values():
        assert result.to_dict()["workload"] == stated
        assert ("workload", stated) in result.card().rows
    assert of_policy["nvme-fdp"].wa < 1.1
    assert min(of_policy["single"].wa, of_policy["nvme-fdp:handles=1"].wa) > 2
    percent, number = (wa.workload("cachelib", soc=soc) for soc in ("5%", 0.05))
    assert percent == number
    assert str(wa.workload("cachelib")) == "cachelib:soc=0.04,soc_writes=0.33"


def test_an_lsm_tree_reports_the_bytes_of_its_application() -> None:
    run: dict[str, Any] = {**SMALL, "blocks": 256, "writes": 60_000, "warmup": 20_000}
    result = wa.simulate(**run, workload="lsm:table=0.5%,used=70%")
    document = result.to_dict()
    application = document["application"]
    host_bytes = application["host_bytes_per_application_byte"] * application["written_bytes"]
    assert host_bytes == pytest.approx(document["host"]["written_bytes"])
    flash_factor = application["flash_bytes_per_application_byte"]
    assert flash_factor == pytest.approx(
        document["wa"] * application["host_bytes_per_application_byte"]
    )
    card = dict(result.card().rows)
    assert "of the host" in card["application"]
    headline = of_wa(document)
    assert f"{flash_factor:.4g} bytes of flash" in headline
    assert "application" not in wa.simulate(**run, workload="uniform").to_dict()


def test_the_application_of_an_lsm_tree_is_counted_in_the_measured_interval() -> None:
    run: dict[str, Any] = {**SMALL, "blocks": 256, "warmup": 0}
    load = "lsm:table=0.5%,used=70%,keys=zipf(s=0.99)"
    whole = wa.simulate(**run, workload=load, writes=20_000).application
    start = wa.simulate(**run, workload=load, writes=8_000).application
    rest = wa.simulate(**{**run, "warmup": 8_000}, workload=load, writes=20_000).application
    assert whole is not None
    assert start is not None
    assert rest is not None
    assert rest.host_bytes + start.host_bytes == whole.host_bytes
    assert rest.written_bytes + start.written_bytes == whole.written_bytes
    assert start.written_bytes * whole.host_bytes != whole.written_bytes * start.host_bytes


def test_an_lsm_tree_on_larger_mapping_units_counts_the_same_application_bytes() -> None:
    run: dict[str, Any] = {**SMALL, "writes": 30_000, "warmup": 0}
    load = "lsm:table=2%,used=60%"
    pages = wa.simulate(**run, workload=load).application
    units = wa.simulate(**run, workload=load, mapping_unit="16KiB").application
    assert pages is not None
    assert units is not None
    factors = [layers.host_bytes / layers.written_bytes for layers in (pages, units)]
    assert factors[1] == pytest.approx(factors[0], rel=0.1)


SWAP = "groups(sizes=1/99,freq=99/1,swap_at=20000)"


@pytest.mark.parametrize(("keys", "is_steady"), [("uniform", True), (SWAP, False)])
def test_application_bytes_that_are_not_steady_have_a_warning(keys: str, is_steady: bool) -> None:
    run: dict[str, Any] = {**SMALL, "blocks": 512, "warmup": 20_000, "writes": 400_000}
    result = wa.simulate(**run, workload=f"lsm:table=0.5%,used=70%,keys={keys}")
    document = result.to_dict()
    assert document["application"]["steady"] == is_steady
    warnings = [text for text in document["warnings"] if "per application byte" in text]
    assert len(warnings) == (0 if is_steady else 1)
    for warning in warnings:
        assert re.search(r"change by \+\d+\.\d% from the first to the second half", warning)
    assert ("of flash, not steady" in of_wa(document)) != is_steady


def test_aligned_tables_of_an_lsm_tree_are_cheaper_than_full_ones() -> None:
    run: dict[str, Any] = {**SMALL, "blocks": 512, "warmup": 100_000, "writes": 400_000}
    factors = []
    for ends in ("aligned", "full"):
        application = wa.simulate(**run, workload=f"lsm:table=0.5%,ends={ends}").application
        assert application is not None
        factors.append(application.host_bytes / application.written_bytes)
    # RocksDB's authors measured 12.6% fewer bytes (blog of 2022-10-31).
    assert factors[0] < 0.92 * factors[1]


def test_deleted_tables_are_spare_space_only_if_they_are_trimmed() -> None:
    run: dict[str, Any] = {**SMALL, "blocks": 256, "writes": 100_000, "warmup": 30_000}
    on, off = (
        wa.simulate(**run, workload=f"lsm:table=0.5%,used=60%,discard={discard}")
        for discard in ("on", "off")
    )
    assert on.wa < off.wa
    assert on.host["trimmed_pages"] > 0
    assert off.host["trimmed_pages"] == 0
    assert off.held_pages == off.device.logical_pages


@pytest.mark.parametrize(
    "spec",
    [
        "mix:sizes=1/1,weights=1/1,of=groups(sizes=1/1,freq=1/9,swap_at=100)/tpcc",
        "phases:writes=1e4/1e4,of=drift(f=0.1,r=0.9,period=5e3,steps=50)/database",
        "database:updates=database(updates=tpcc)",
        "database:updates=groups(sizes=1/1,freq=1/9,swap_at=1e3,period=1e3)",
    ],
)
def test_workloads_nest(spec: str) -> None:
    result = wa.simulate(**SMALL, workload=spec, manager="hcwf", writes=30_000)
    assert result.wa >= 1


@pytest.mark.parametrize(
    ("spec", "sentence"),
    [
        ("groups:sizes=1/1", r"needs frequencies="),
        ("groups:sizes=1/1,freq=1/2/3", r"2 sizes and 3 frequencies"),
        ("groups:sizes=1/1,freq=1/9,swap_at=0", r"swap_at=0 is not valid.*never or"),
        ("groups:sizes=1/1,freq=1/9,swap_at=9/8", r"swap_at=8 is not valid.*ascending"),
        ("groups:sizes=1/1,freq=1/9,swap_at=9,swap=0/2", r"swap=0/2 .*from 0 to 1"),
        ("groups:sizes=1/1,freq=1/9,swap_at=9,swap=1/1", r"two different groups"),
        ("groups:sizes=1/1,freq=1/9,period=9", r"period= needs swap_at="),
        ("groups:sizes=1/1e9,freq=1/9", r"at least one of 1638 pages"),
        ("drift:f=0.1,r=0.9", r"needs period="),
        ("drift:f=0.1,r=0.9,period=1e6,steps=1e6", r"steps=1e6 .*from 1 to 1638"),
        ("database:sizes=1/1/1", r"3 sizes; give four"),
        ("database:updates=ziff", r"did you mean 'zipf'"),
        ("tpcc:clusters=0.6/0.6", r"add up to 1.2"),
        ("tpcc:means=25", r"2 clusters, 1 means"),
        ("tpcc:tail=300/200", r"two ascending whole numbers"),
        ("random:bs=4k,write=0", r"only reads, so that its WA is undefined.*write=0.5"),
        ("random:bs=4kb", r"bs is a size from 512 to 67108864 bytes, as 512, 4k"),
        ("io:qd=4,rate=9", r"qd=4 and rate=9 exclude each other"),
        ("sequential:qd=4", r"needs bs=, as in sequential:bs=128k"),
        ("mix:sizes=1,weights=1,of=random", r"random must be a whole workload"),
        ("zones-sequential:active=4", r"needs zone=.*as in zones-sequential:zone=160k"),
        ("zones-sequential:zone=0", r"zone=0 is not valid.*from 512"),
        ("zones-sequential:zone=1k", r"less than half a page of 4096 bytes"),
        ("zones-sequential:zone=8GiB", r"1638 pages hold 0 zones of 2097152 pages"),
        ("zones-sequential:zone=1MiB,active=6", r"hold 6 zones .*active=6 needs at least 7"),
        ("nowa:zone=1MiB,active=4", r"hold 6 zones .*active=4 needs at least 8"),
        ("lsm:trim=0.1", r"writes are those of an application.*leave trim out"),
    ],
)
def test_a_bad_spec_is_refused_in_one_sentence(spec: str, sentence: str) -> None:
    with pytest.raises(wa.WriteampError, match=sentence) as error:
        wa.simulate(**SMALL, workload=spec, writes=1_000)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("entry", LOADS.values(), ids=LOADS)
def test_the_documentation_names_each_workload_with_its_parameters_and_defaults(
    entry: Entry,
) -> None:
    section = DOCS.split(f"\n## {entry.name}\n")[1].split("\n## ")[0]
    for param in entry.params:
        section_or_all = DOCS if param.common else section
        assert f"`{param.name}" in section_or_all, param.name
        if param.default and not param.common:
            written = re.compile(rf"`{param.name}` \((?:default )?{re.escape(param.default)}\)")
            assert written.search(section), param.name


@pytest.mark.parametrize("spec", re.findall(r"--workload ([^`\s]+)", DOCS))
def test_every_example_in_the_documentation_runs(spec: str) -> None:
    assert wa.simulate(**SMALL, workload=spec, writes=2_000).host_pages > 0


def test_a_workload_of_one_turn_is_run_to_its_end_and_no_further() -> None:
    spec = "phases:writes=3000/4000,of=uniform/random(bs=16k),turns=1"
    found = wa.simulate(**SMALL, workload=spec)
    assert found.writes == 7000
    assert wa.compare(**SMALL, workload=spec, managers="single").rows[0].results[0].writes == 7000
    with pytest.raises(wa.WriteampError, match="ends after 7000 page writes; give at most 7000"):
        wa.simulate(**SMALL, workload=spec, writes=7001)


def test_aligned_chunks_of_whole_blocks_amplify_nothing() -> None:
    drive = {"logical_blocks": 48, "pages_per_block": 16, "op": 0.25}
    chunks = "phases:writes=9000,of=random(bs=64k),turns=1"
    pages = "phases:writes=9000,of=random(bs=4k),turns=1"
    assert wa.simulate(**drive, workload=chunks).wa == 1
    assert wa.simulate(**drive, workload=pages).wa > 1.5


def test_zones_amplify_by_what_active_zones_share_and_nowa_does_not() -> None:
    drive: dict[str, Any] = {"logical_pages": 93 * 64, "pages_per_block": 16, "op": 0.44}
    run = drive | {"writes": 400_000, "warmup": 200_000, "replicas": 1}

    def wa_of(workload: str) -> float:
        return wa.simulate(**run, workload=f"{workload},bs=4k").wa

    zones = [wa_of(f"zones-sequential:zone=256k,active={active}") for active in (1, 2, 8, 32)]
    assert zones[0] == 1 < zones[1] < zones[3] < zones[2]
    # Overwritten page by page, zones hold data until then, which leaves less spare space.
    assert wa_of("zones-sequential:zone=256k,active=32,reset=none") > zones[3] + 0.1
    assert wa_of("nowa:zone=256k,active=8") == wa_of("nowa:zone=256k,active=8,reset=none") == 1
    # Zones of 3 pages share each erase unit with zones that are rewritten at other times.
    assert wa_of("zones-sequential:zone=12k") > 1.3


def test_a_result_states_zones_in_pages_and_erase_units() -> None:
    found = wa.simulate(**SMALL, workload="zones-sequential:zone=256k,active=2", writes=2_000)
    assert found.to_dict()["zones"] == {
        "zone_pages": 64,
        "active": 2,
        "erase_unit_pages": 32,
        "zone_erase_units": 2,
        "requested_zone_erase_units": 2,
    }
    row = dict(found.card().rows)["zones"]
    assert row.startswith("2 active of 64 pages = 2 erase units of 32 pages; a request fills an")
    assert "zones" not in wa.simulate(**SMALL, writes=2_000).to_dict()
    # Pages beyond the last zone are trimmed: 1638 pages hold 25 zones.
    assert found.held_pages <= 25 * 64


def simulation(workload: str = "zipf:s=1", seed: int = 7, **policy: str) -> _engine.Simulation:
    geometry = _engine.Geometry(
        channels=2,
        chips_per_channel=1,
        dies_per_chip=1,
        planes_per_die=1,
        blocks_per_plane=40,
        pages_per_block=16,
        superblock=False,
    )
    drive = _engine.Drive(
        geometry=geometry, logical_pages=800, layout="striped-per-lun", manager="sepgc", **policy
    )
    load = _engine.Load.spec(workload, 800)
    return _engine.Simulation(drive, load, seed=seed, batch_pages=64)


def driven(pages: int) -> _engine.Simulation:
    run = simulation()
    run.fill(0, 800)
    run.start_series(100)
    run.run(pages)
    return run


def test_a_restored_simulation_goes_on_as_the_one_that_was_saved():
    saved, other = driven(1234), simulation()
    other.restore(saved.save())
    for run in (saved, other):
        run.run(777)
    assert other.counters() == saved.counters()
    assert np.array_equal(other.erase_counts(), saved.erase_counts())
    assert np.array_equal(other.series()["host"], saved.series()["host"])
    assert other.save() == saved.save()


def test_a_simulation_can_go_back_to_where_it_was():
    run = driven(500)
    state = run.save()
    run.run(300)
    first = run.save()
    run.restore(state)
    run.run(300)
    assert run.save() == first


@pytest.mark.parametrize(
    ("other", "words"),
    [
        ({"seed": 8}, "seed is 7, but here it is 8"),
        ({"workload": "uniform"}, "zipf"),
        ({"victims": "fifo"}, "victim policy is greedy, but here it is fifo"),
    ],
)
def test_a_state_of_another_run_is_refused_by_what_differs(other, words):
    run = simulation(**other)
    run.fill(0, 800)
    before = run.save()
    with pytest.raises(WriteampError, match=words):
        run.restore(driven(100).save())
    assert run.save() == before


def test_damaged_bytes_are_refused():
    state = driven(100).save()
    for wrong in (b"", state[:-1], state[:-1] + bytes([state[-1] ^ 1])):
        with pytest.raises(WriteampError, match="state"):
            simulation().restore(wrong)
