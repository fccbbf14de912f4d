"""Workloads of applications above the host: B-trees, rewritten logs, and object caches."""

from __future__ import annotations

from typing import Any

import pytest

import writeamp as wa
from writeamp.reports.headlines.runs import of_wa

RUN: dict[str, Any] = {"blocks": 256, "pages_per_block": 32, "op": 0.25, "writes": 60_000}


def layers(load: str, **changes: Any) -> dict[str, float]:
    """Return the bytes of the application, and those of the layers below."""
    found = wa.simulate(**RUN | {"warmup": 20_000} | changes, workload=load)
    return dict(found.to_dict()["application"])


@pytest.mark.parametrize(
    ("growth", "discard", "factor"), [("1", "on", 2), ("0.5", "on", 3), ("0.25", "off", 5)]
)
def test_a_rewritten_log_costs_its_data_once_in_each_growth(
    growth: str, discard: str, factor: float
) -> None:
    load = f"log-rewrite:growth={growth},discard={discard},used=20%,bs=16k"
    application = layers(load)
    measured = application["host_bytes_per_application_byte"]
    assert measured == pytest.approx(factor, rel=0.03)


def test_a_deleted_log_is_spare_space_only_if_it_is_trimmed() -> None:
    run = RUN | {"warmup": 20_000, "writes": 100_000}
    on, off = (
        wa.simulate(**run, workload=f"log-rewrite:bs=16k,discard={discard}")
        for discard in ("on", "off")
    )
    assert on.wa < off.wa
    assert on.host["trimmed_pages"] > 0
    assert off.held_pages == off.device.logical_pages


def test_a_leaf_of_a_btree_is_written_twice_with_a_doublewrite_area() -> None:
    # The log has no part in these writes: 10,000 updates are committed together.
    load = "btree:row=64,commit=10000,log=10%,batch=8,protect="
    twice, once = (
        layers(load + protect)["host_bytes_per_application_byte"]
        for protect in ("doublewrite", "none")
    )
    assert twice == pytest.approx(2 * once, rel=0.05)
    # Of 64 bytes, an update of a leaf that the pool lacks costs 16 KiB.
    assert once == pytest.approx(0.9 * 256, rel=0.05)


def test_a_btree_counts_its_rows_on_any_mapping_unit_and_states_them() -> None:
    load = "btree:batch=8,log=5%,row=200"
    run = RUN | {"warmup": 10_000}
    result = wa.simulate(**run, workload=load)
    document = result.to_dict()
    application = document["application"]
    assert application["written_bytes"] % 200 == 0
    flash_factor = application["flash_bytes_per_application_byte"]
    assert flash_factor == pytest.approx(
        document["wa"] * application["host_bytes_per_application_byte"], rel=1e-3
    )
    assert f"{flash_factor:.4g} bytes of flash" in of_wa(document)
    # A unit of 16 KiB is a leaf, of which the host writes each page in a write of its own.
    units = layers(load, mapping_unit="16KiB")
    assert units["written_bytes"] % 200 == 0
    assert units["host_bytes_per_application_byte"] > 0


@pytest.mark.parametrize(
    "load",
    [
        "lsm:table=1%,log=none",
        "btree:batch=8,log=5%,commit=1000,protect=none",
        "log-rewrite:bs=64k",
        "kv-offload:objects=64k,space=1,writes=1,bs=64k",
    ],
)
def test_large_writes_of_an_application_cover_most_mapping_units_as_a_whole(load: str) -> None:
    result = wa.simulate(**RUN, warmup=0, workload=load, mapping_unit="16KiB")
    causes = result.causes
    # Leaves, extents and objects begin at any page, so their first and last unit may be in part.
    assert causes["read_modify_write"] < 2.01 * causes["host"]
    assert 1 <= result.partial_page_factor < 1.8


def test_an_application_that_writes_nothing_for_a_time_has_no_steady_ratio() -> None:
    result = wa.simulate(
        **RUN | {"writes": 2000}, warmup=500, workload="log-rewrite:logs=1,growth=0.0001"
    )
    document = result.to_dict()
    assert document["application"]["steady"] is False
    (warning,) = [text for text in document["warnings"] if "per application byte" in text]
    assert "wrote nothing in one half" in warning


@pytest.mark.parametrize("unit", [None, "16KiB"])
def test_a_cache_of_objects_has_a_handle_for_each_class(unit: str | None) -> None:
    load = "kv-offload:objects=8k/64k,space=1/3,writes=1/1,bs=16k"
    alone, separate = (
        wa.simulate(**RUN | {"writes": 100_000}, workload=load, manager=manager, mapping_unit=unit)
        for manager in ("single", "nvme-fdp")
    )
    assert separate.wa < alone.wa
    assert "application" not in alone.to_dict()
    assert str(wa.workload("kv-offload")).startswith("kv-offload:writes=45/270/180/180/180")


def test_objects_larger_than_erase_units_are_overwritten_as_a_whole() -> None:
    large, small = (
        wa.simulate(**RUN, workload=f"kv-offload:objects={size},space=1,writes=1,bs=128k")
        for size in ("512k", "16k")
    )
    assert large.wa < 1.2 < small.wa


@pytest.mark.parametrize(
    "spec",
    [
        "btree:batch=60000",
        "btree:row=70000",
        "btree:log=0.01%",
        "log-rewrite:logs=60000",
        "log-rewrite:growth=0",
        "kv-offload:objects=1G,space=1,writes=1",
        "kv-offload:objects=1M/2M",
        "kv-offload:reuse=1",
        "mix:sizes=1,weights=1,of=btree",
    ],
)
def test_an_application_that_does_not_fit_is_refused(spec: str) -> None:
    with pytest.raises(wa.WriteampError) as refused:
        wa.simulate(**RUN, workload=spec)
    assert "\n" not in str(refused.value)
