"""Mapping units larger than the host's writes: counters, and the closed form of their cost."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import writeamp as wa
from writeamp.reports.headlines.runs import of_wa

PAGE = 4096
# Sizes of JESD219's requests in bytes, and their shares, as drive makers print them.
JESD219 = {
    512: 0.04,
    **dict.fromkeys((1024, 1536, 2048, 2560, 3072, 3584), 0.01),
    4096: 0.67,
    8192: 0.10,
    16384: 0.07,
    32768: 0.03,
    65536: 0.03,
}


def closed_form(sizes: dict[int, float], unit: int) -> float:
    """Return the bytes of the units that are written / bytes that the host writes.

    A request of s bytes that begins at a random page covers (⌈s⌉ + u − 4 KiB) / u units on average,
    where ⌈s⌉ is s in whole pages.
    """
    written = sum(share * (-(-size // PAGE) * PAGE + unit - PAGE) for size, share in sizes.items())
    return written / sum(share * size for size, share in sizes.items())


@pytest.mark.parametrize("unit", [4096, 16384, 65536])
def test_the_cost_of_read_modify_write_has_a_closed_form(unit: int) -> None:
    loads = {
        "jesd219": JESD219,
        "random:bs=24k,align=4k": {24576: 1.0},
        "random:bs=512,align=4k": {512: 1.0},
        "uniform": {4096: 1.0},
    }
    drive = {"blocks": 256, "op": 0.28, "mapping_unit": unit}
    for load, sizes in loads.items():
        run = wa.simulate(workload=load, **drive, writes=2_000_000, warmup=0, replicas=1)
        expected = closed_form(sizes, unit)
        assert run.partial_page_factor == pytest.approx(expected, rel=0.005), load
        assert run.wa_bytes == pytest.approx(run.wa * expected, rel=0.005), load
        causes = run.causes
        assert causes["host"] + causes["read_modify_write"] == run.host_pages, load
        assert sum(causes.values()) == run.flash_pages, load


def test_wa_per_unit_is_that_of_a_drive_with_pages_of_this_size() -> None:
    shape = {"workload": "uniform", "op": 0.2, "blocks": 512, "seed": 3}
    units = wa.simulate(**shape, pages_per_block=256, mapping_unit="16KiB")
    pages = wa.simulate(**shape, pages_per_block=64, page_bytes="16KiB")
    assert abs(units.wa - pages.wa) < units.ci[1] - units.ci[0] + pages.ci[1] - pages.ci[0]
    assert (units.device.op, units.device.capacity_bytes) == (
        pages.device.op,
        pages.device.capacity_bytes,
    )


def test_a_unit_of_one_page_changes_no_counter() -> None:
    shape = {"workload": "jesd219", "op": 0.28, "blocks": 128, "writes": 300_000, "replicas": 1}
    plain, units = wa.simulate(**shape), wa.simulate(**shape, mapping_unit="4KiB")
    assert (plain.wa, plain.erases, plain.host) == (units.wa, units.erases, units.host)
    assert "read_modify_write" not in plain.causes
    partial = units.causes["read_modify_write"]
    assert units.causes["host"] + partial == plain.causes["host"]
    assert 0.04 < partial / units.host_pages < 0.06  # 10% of the requests, of 1.9 pages each


def test_a_trace_is_divided_into_units() -> None:
    # A whole unit of 16 KiB, a page of unit 2, and the end of unit 3 with 4 and half of 5.
    rows = [(0, 16384, "write"), (2 * 16384 + 4096, 4096, "write")]
    rows += [(3 * 16384 + 8192, 8192 + 16384 + 8192, "write"), (0, 8192, "trim")] * 40
    requests = pl.DataFrame(rows, schema=["offset", "length", "op"], orient="row")
    run = wa.simulate(
        trace=wa.traces.of(requests), mapping="as-is", size="64MiB", mapping_unit="16KiB",
        repeat=1, warmup=0, precondition="none",
    )  # fmt: skip
    assert run.causes["host"] == 1 + 40  # units that were written as a whole
    assert run.causes["read_modify_write"] == 1 + 2 * 40
    assert run.host["written_bytes"] == sum(length for _, length, op in rows if op == "write")
    assert run.host["trimmed_pages"] == 0  # no whole unit


@pytest.mark.parametrize(
    "load",
    [
        {"workload": "jesd219"},
        {"workload": "phases:writes=5000/5000,of=uniform/jesd219"},
        {"fio_run": "fio --name=a --rw=write --bs=128k --name=b --stonewall --rw=randwrite --bs=512"
         " --norandommap --io_size=20m"},
    ],
)  # fmt: skip
def test_life_counts_the_bytes_that_the_host_writes(load: dict[str, str]) -> None:
    drive = {"op": 0.28, "blocks": 200, "pages_per_block": 64, **load}
    for unit in (None, "16KiB"):
        life = wa.endurance(**drive, w_max=500, replicas=2, mapping_unit=unit)
        run = wa.simulate(
            **drive, writes=round(life.host_pages), warmup=0, replicas=1, mapping_unit=unit
        )
        assert life.host_bytes == pytest.approx(run.host["written_bytes"], rel=0.02)
        assert life.wa_bytes == pytest.approx(run.wa_bytes, rel=0.03)
        assert life.tbw == pytest.approx(run.host["written_bytes"] / 1e12, rel=0.02)
        if unit:
            assert life.causes["read_modify_write"] == pytest.approx(
                run.causes["read_modify_write"], rel=0.02
            )


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"mapping_unit": "6KiB"}, "mapping_unit is 6144 bytes; it must be a multiple of the page"),
        ({"mapping_unit": 2048}, "multiple of the page, 4096 bytes"),
        ({"mapping_unit": "16KiB", "trace": np.arange(999)}, "needs a trace in bytes"),
        (
            {"mapping_unit": "512KiB"},
            "a block of 524288 bytes must hold a whole number of units, at least two",
        ),
        (
            {"mapping_unit": "16KiB", "logical_pages": 100_001, "blocks": None},
            "must be a multiple of the 4 pages",
        ),
        (
            {"mapping_unit": "16KiB", "device": "ssd-v", "blocks": 256, "time": 1},
            "in a timed run it must be at most a flash page of ssd-v, 4096 bytes",
        ),
        (
            {"mapping_unit": "64KiB", "device": "tlc-datacenter", "blocks": None, "size": "1GiB"},
            "must divide a flash page, 16384 bytes",
        ),
        (
            {"mapping_unit": "64KiB", "device": "qlc", "blocks": None, "size": "1GiB"},
            "on qlc it must divide a flash page, 16384 bytes",
        ),
        (
            {
                "mapping_unit": "16KiB",
                "workload": "phases:writes=1e5/2e5,of=uniform/random(bs=20k,align=512),turns=2",
            },
            "leave turns= out",
        ),
        (
            {"mapping_unit": "16KiB", "workload": "zipf:s=0.9", "manager": "wolf"},
            "a mapping unit may have pages of several groups of this workload",
        ),
    ],
)
def test_a_wrong_unit_is_refused(settings: dict[str, object], sentence: str) -> None:
    with pytest.raises(wa.WriteampError, match=sentence.replace("(", r"\(")):
        wa.simulate(**({"blocks": 64, "op": 0.28} | settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("load", ["jesd219", "uniform", "random:bs=24k,align=4k"])
def test_timed_and_untimed_drives_have_the_same_units(load: str) -> None:
    # Without a write cache, each request reaches the flash, as in untimed runs.
    drive = wa.device(
        "tlc-datacenter", size="256MiB", op=0.28, mapping_unit="16KiB",
        write_cache="off", map_cache="all",
    )  # fmt: skip
    shape = {"workload": load, "device": drive, "writes": 30_000, "warmup": 0, "seed": 5}
    timed = wa.simulate(**shape, timed=True)
    untimed = wa.simulate(**shape, timed=False, replicas=1)
    # The timed run ends after as many bytes of requests as these writes have on average.
    assert timed.host_pages == pytest.approx(untimed.host_pages, rel=0.01)
    for cause in ("host", "read_modify_write"):
        shares = [run.causes[cause] / run.host_pages for run in (timed, untimed)]
        assert shares[0] == pytest.approx(shares[1], abs=0.005), cause
    assert timed.causes["host"] + timed.causes["read_modify_write"] == timed.host_pages
    assert timed.partial_page_factor == pytest.approx(untimed.partial_page_factor, rel=0.01)
    assert timed.wa_bytes == pytest.approx(timed.wa * timed.partial_page_factor)


def test_managers_with_groups_take_the_groups_of_units() -> None:
    shape = {"workload": "hot-cold:f=0.1,r=0.9", "blocks": 256, "op": 0.2, "seed": 3}
    units = {"pages_per_block": 256, "mapping_unit": "16KiB"}
    wolf, single = (wa.simulate(**shape, **units, manager=name) for name in ("wolf", "single"))
    pages = wa.simulate(**shape, pages_per_block=64, page_bytes="16KiB", manager="wolf")
    assert wolf.wa == pytest.approx(pages.wa, rel=0.02)
    assert wolf.wa < 0.9 * single.wa


def test_phases_in_units_end_with_their_writes() -> None:
    load = "phases:writes=30000/50000,of=uniform/sequential,turns=2"
    run = wa.simulate(workload=load, blocks=64, op=0.28, mapping_unit="16KiB", warmup=0)
    assert run.writes == 160_000
    assert np.isclose(run.partial_page_factor, 4)


def test_addresses_of_fio_jobs_are_counted_in_pages_of_the_host() -> None:
    run = "fio --name=a --rw=randwrite --bs=4k --norandommap --random_distribution=zipf:0.8"
    shape = {"fio_run": run, "op": 0.28, "blocks": 64, "writes": 20_000, "warmup": 0}
    pages, units = wa.simulate(**shape), wa.simulate(**shape, mapping_unit="16KiB")
    assert pages.touched is not None
    assert units.touched is not None
    assert units.touched.count == pages.touched.count
    assert units.touched.touched_share == pytest.approx(pages.touched.touched_share, rel=0.01)


def test_a_device_with_units_has_no_other_pages() -> None:
    drive = wa.device(size="64MiB", mapping_unit="16KiB", op=0.15)
    assert wa.device(drive, op=0.3).pages_per_unit == 4
    for change in ({"page_bytes": "2KiB"}, {"mapping_unit": "64KiB"}):
        with pytest.raises(wa.WriteampError, match="has mapping units of 16384 bytes"):
            wa.device(drive, **change)
    with pytest.raises(wa.WriteampError, match="must be a multiple of the host's pages"):
        type(drive).from_dict(drive.to_dict() | {"page_bytes": 6144})


@pytest.mark.parametrize(
    ("load", "unit", "is_split"),
    [
        ("kv-offload:objects=64k,space=1,writes=1", "16KiB", False),
        ("btree", "16KiB", False),
        ("zones-sequential:zone=1MiB", "16KiB", True),
        ("zones-sequential:zone=1MiB", "4KiB", False),
        ("uniform", "16KiB", False),
    ],
)
def test_large_requests_that_are_split_into_pages_have_a_warning(
    load: str, unit: str, is_split: bool
) -> None:
    drive = {"op": 0.28, "blocks": 64, "workload": load, "mapping_unit": unit}
    run = wa.simulate(**drive, writes=2_000, warmup=0, replicas=1)
    life = wa.endurance(**drive, w_max=20, replicas=2)
    for sentences in (run.warnings, life.notes):
        found = [text for text in sentences if "counts as a request of its own" in text]
        assert len(found) == is_split


def test_units_written_in_part_do_not_merge_in_the_write_cache() -> None:
    drive = {"device": "tlc-datacenter", "size": "1GiB", "time": "20ms"}
    for unit in (None, "16KiB"):
        run = wa.simulate(**drive, workload="random:bs=4k", mapping_unit=unit)
        assert not any("merges" in note for note in run.notes)


def test_the_headline_has_wa_per_host_byte_only_if_it_differs() -> None:
    drive = {"op": 0.28, "blocks": 64, "mapping_unit": "16KiB"}
    for size, is_equal in (("16k", True), ("4k", False)):
        load = f"random:bs={size}"
        run = wa.simulate(**drive, workload=load, writes=20_000, replicas=1)
        assert ("WA per host byte" in of_wa(run.to_dict())) != is_equal


def test_tables_name_mapping_units() -> None:
    timed = wa.simulate(
        device="tlc-datacenter", size="1GiB", time="5ms", workload="jesd219", mapping_unit="16KiB"
    )
    rows = dict(timed.card().rows)
    assert "1 GiB in mapping units of 16 KiB" in rows["device"]
    assert "mapping units that the host wrote" in rows["counted"]
    drive = {"op": 0.28, "blocks": 64, "workload": "random:bs=4k", "mapping_unit": "16KiB"}
    compared = wa.compare(managers="single", **drive, writes=2_000, replicas=1)
    assert not any("page" in column for column in compared.card().columns)
    rows = wa.endurance(**drive, w_max=20, replicas=2).card().rows
    assert not any("page" in cell for row in rows for cell in row)
