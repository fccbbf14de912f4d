"""Mapping units larger than the host's writes: counters, and the closed form of their cost."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

import writeamp as wa

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
        trace=requests, mapping="as-is", size="64MiB", mapping_unit="16KiB",
        repeat=1, warmup=0, precondition="none",
    )  # fmt: skip
    assert run.causes["host"] == 1 + 40  # units that were written as a whole
    assert run.causes["read_modify_write"] == 1 + 2 * 40
    assert run.host["written_bytes"] == sum(length for _, length, op in rows if op == "write")
    assert run.host["trimmed_pages"] == 0  # no whole unit


def test_life_in_bytes_takes_the_cost_of_partial_units_into_account() -> None:
    drive = {"workload": "jesd219", "op": 0.28, "blocks": 200, "pages_per_block": 64}
    lives = {
        unit: wa.endurance(**drive, w_max=300, replicas=2, mapping_unit=unit)
        for unit in (4096, 16384)
    }
    for unit, life in lives.items():
        factor = closed_form(JESD219, unit)
        pages = life.host_pages * unit / life.host_bytes
        assert pages == pytest.approx(factor, rel=0.01)
        writes = life.tbw * 1e12 / life.capacity_bytes
        assert writes == pytest.approx(life.host_bytes / life.capacity_bytes)
    assert lives[4096].tbw > 2 * lives[16384].tbw


@pytest.mark.parametrize(
    ("settings", "sentence"),
    [
        ({"mapping_unit": "6KiB"}, "mapping_unit is 6144 bytes; it must be a multiple of the page"),
        ({"mapping_unit": 2048}, "multiple of the page, 4096 bytes"),
        ({"mapping_unit": "512KiB"}, "a block of 524288 bytes must be two of them or more"),
        (
            {"mapping_unit": "16KiB", "logical_pages": 100_001, "blocks": None},
            "must be a multiple of the 4 pages",
        ),
        (
            {"mapping_unit": "16KiB", "device": "ssd-v", "blocks": 256, "time": 1},
            "mapping_unit is for untimed runs",
        ),
        (
            {
                "mapping_unit": "16KiB",
                "workload": "phases:writes=1e5/2e5,of=uniform/random(bs=20k,align=512),turns=2",
            },
            "leave turns= out",
        ),
        (
            {"mapping_unit": "16KiB", "workload": "hot-cold:f=0.1,r=0.9", "manager": "wolf"},
            "needs hints on the group",
        ),
    ],
)
def test_a_wrong_unit_is_refused(settings: dict[str, object], sentence: str) -> None:
    with pytest.raises(wa.WriteampError, match=sentence.replace("(", r"\(")):
        wa.simulate(**({"blocks": 64, "op": 0.28} | settings))  # type: ignore[arg-type]


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
