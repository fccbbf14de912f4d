"""Characteristics of fio jobs, workloads and traces: the three agree, and are paper 2's."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from writeamp.errors import WriteampError
from writeamp.learn.blackbox.features import (
    FEATURE_SETS,
    Characteristics,
    DriveUse,
    find_feature_set,
    of_fio_job,
    of_trace,
    of_workload,
    read_fio_jobs,
)
from writeamp.learn.blackbox.features.footprints import (
    skew_of_counts,
    skew_of_hot_cold,
    skew_of_zipf,
)
from writeamp.traces.trace import SCHEMA, Trace

GIB = 2**30
USE = DriveUse(GIB, fill=0.8, recent_write_bytes=1e6)


def trace_of(**columns: Any) -> Trace:
    rows = len(columns["offset"])
    given = {"timestamp_ns": range(rows), "device": [0] * rows, "length": [4096] * rows, **columns}
    frame = pl.DataFrame({name: given[name] for name in SCHEMA}).cast(SCHEMA)  # type: ignore[arg-type]
    return Trace(frame, "test", "test", ["a", "b"])


def stream(rng: np.random.Generator, requests: int, size: int, random: float, stride: int) -> Any:
    """Return offsets of one direction as docs/workloads.md says of `io`."""
    offsets, last = [], 0
    for is_random in rng.random(requests) < random:
        last = int(rng.integers(0, GIB // size)) * size if is_random else last + size + stride
        offsets.append(last)
    return offsets


def test_the_sets_are_those_of_equations_2_and_4_and_a_third() -> None:
    symbols = {name: [one.symbol for one in found.features] for name, found in FEATURE_SETS.items()}
    assert symbols["basic"] == ["wr_ratio", "q_dep", "req_size", "rand"]
    extended = ["wr_ratio", "q_dep"] + [
        f"{one}_{what}" for what in ("size", "rand", "stride") for one in ("wr", "rd")
    ]
    assert symbols["extended"] == extended
    assert symbols["modern"] == [*extended, "", "", "", ""]


def test_the_basic_vector_is_the_mean_over_all_requests() -> None:
    found = of_workload(
        "io:write=0.25,qd=4,write_size=64k,read_size=4k,write_random=0,read_random=1"
    )
    (row,) = find_feature_set("basic").of(found.frame()).rows()
    assert row == (0.25, 4.0, (65536 + 3 * 4096) / 4, 0.75)


@pytest.mark.parametrize(
    ("workload", "job"),
    [
        (
            "random:bs=8k,write=0.3,qd=8",
            {"rw": "randrw", "bs": "8k", "rwmixread": 70, "iodepth": 8, "ioengine": "libaio"},
        ),
        (
            "io:write=1,qd=4,write_size=16k,write_random=0,write_stride=64k",
            {"rw": "write:64k", "bs": "16k", "iodepth": 4, "ioengine": "io_uring"},
        ),
        (
            "io:write=0.5,qd=6,write_size=4k,read_size=32k,write_random=0.2,read_random=0.6",
            {"rw": "randrw", "bs": "32k,4k", "percentage_random": "60,20", "numjobs": 6},
        ),
        ("sequential:bs=128k,write=0", {"rw": "read", "bs": "128k", "iodepth": 32}),
        ("random:bs=4k,access=zipf(s=1.1)", {"rw": "randwrite", "random_distribution": "zipf:1.1"}),
    ],
)
def test_a_fio_job_and_the_same_workload_have_the_same_characteristics(
    workload: str, job: dict[str, object]
) -> None:
    ours, theirs = of_workload(workload, use=USE).frame(), of_fio_job(job, USE).frame()
    assert ours.row(0) == pytest.approx(theirs.row(0))


def test_what_does_not_happen_has_no_characteristics() -> None:
    one = of_workload("io:write=0,read_size=8k,write_size=4k").frame()
    other = of_workload("io:write=0,read_size=8k,write_size=64k,write_random=0.1,read_stride=4k")
    assert one.equals(other.frame())


@pytest.mark.parametrize(
    ("write_ratio", "random", "stride"),
    [(0.5, (0.5, 0.0), (0, 65536)), (0.2, (0.0, 1.0), (4096, 0))],
)
def test_a_window_of_a_trace_has_the_characteristics_of_the_workload_behind_it(
    write_ratio: float, random: tuple[float, float], stride: tuple[int, int]
) -> None:
    rng, requests, sizes = np.random.default_rng(1), 20_000, (4096, 16384)
    is_write = rng.random(requests) < write_ratio
    offset, length = np.zeros(requests, dtype=int), np.where(is_write, *sizes)
    for chosen, size, share, gap in zip((is_write, ~is_write), sizes, random, stride, strict=True):
        offset[chosen] = stream(rng, int(chosen.sum()), size, share, gap)
    op = np.where(is_write, "write", "read")
    found = of_trace(
        trace_of(offset=offset, length=length, op=op), 1.0, latency_us=np.zeros(requests)
    )
    expected = Characteristics(write_ratio, 1, *sizes, *random, *stride).frame()
    row = found.select(find_feature_set("extended").needs).row(0)
    assert row == pytest.approx(expected.row(0)[:8], abs=0.015, rel=0.03)


def test_windows_follow_the_clock_and_leave_out_those_without_requests() -> None:
    seconds = np.array([0.0, 0.5, 1.0, 4.2])
    trace = trace_of(
        timestamp_ns=(7 + seconds * 1e9).astype(int), offset=[0] * 4, op=["write"] * 3 + ["flush"]
    )
    found = of_trace(trace, 1.0)
    assert found.select("window", "start_s", "requests").rows() == [(0, 0.0, 2), (1, 1.0, 1)]


def test_each_device_continues_from_its_own_requests() -> None:
    offsets, devices = [0, 0, 4096, 4096, 8192, 8192], [0, 1] * 3
    found = of_trace(trace_of(offset=offsets, device=devices, op=["read"] * 6))
    assert found["read_randomness"].item() == pytest.approx(2 / 6)


def test_the_depth_is_that_of_the_measured_latencies() -> None:
    trace = trace_of(timestamp_ns=[0, 1000, 2000, 9000], offset=[0] * 4, op=["read"] * 4)
    found = of_trace(trace, latency_us=[1.5, 3, 1, 1])
    assert found["queue_depth"].item() == (1 + 2 + 2 + 1) / 4


def test_the_depth_without_latencies_is_that_of_a_queue_at_one_server() -> None:
    at_us = np.array([0, 10, 20, 500, 510])
    trace = trace_of(timestamp_ns=at_us * 1000, offset=[0] * 5, op=["read"] * 5)
    waits_us = [0, 90, 180, 0, 90]
    found = of_trace(trace, service_us=100)
    assert found["queue_depth"].item() == pytest.approx(1 + np.mean(waits_us) / 100)


def test_what_a_window_comes_to_is_counted_by_pages() -> None:
    # Ten pages are written once and one of them nine times more; then two are read.
    writes = [page * 4096 for page in range(10)] + [3 * 4096] * 9
    trace = trace_of(
        timestamp_ns=[0] * 19 + [int(1.5e9)] * 2,
        offset=[*writes, 0, 40 * 4096],
        op=["write"] * 19 + ["read"] * 2,
    )
    found = of_trace(trace, 1.0, features="modern", capacity_bytes=100 * 4096)
    rows = found.select("working_set_bytes", "fill", "recent_write_bytes", "skew").rows()
    assert rows == [(10 * 4096, 0.1, 0, 11 / 19), (2 * 4096, 0.1, 19 * 4096, 0)]


def test_the_footprint_of_many_chunks_is_that_of_one(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    trace = trace_of(
        timestamp_ns=np.sort(rng.integers(0, 10**10, 500)),
        offset=rng.integers(0, 10**6, 500) * 512,
        device=rng.integers(0, 2, 500),
        length=rng.integers(1, 10**5, 500),
        op=rng.choice(["read", "write"], 500),
    )
    whole = of_trace(trace, 1.0, features="modern", capacity_bytes=GIB)
    monkeypatch.setattr("writeamp.learn.blackbox.features.footprints._CHUNK_PAGES", 100)
    assert of_trace(trace, 1.0, features="modern", capacity_bytes=GIB).equals(whole)


@given(st.lists(st.integers(1, 50), min_size=1, max_size=40))
def test_the_skew_of_counts_is_their_lorenz_curve_at_a_fifth(counts: list[int]) -> None:
    _, (found,) = skew_of_counts(np.array(counts), np.zeros(len(counts), dtype=np.int64))
    held = np.r_[0, np.cumsum(sorted(counts, reverse=True))] / sum(counts)
    assert found == pytest.approx(np.interp(0.2 * len(counts), np.arange(len(counts) + 1), held))


@pytest.mark.parametrize("exponent", [0, 0.5, 0.99, 1, 1.2, 3])
@pytest.mark.parametrize("slots", [1, 7, 100_000])
def test_the_skew_of_zipf_is_the_sum_of_its_probabilities(exponent: float, slots: int) -> None:
    held = np.r_[0, np.cumsum(np.arange(1.0, slots + 1) ** -exponent)]
    expected = np.interp(0.2 * slots, np.arange(slots + 1), held) / held[-1]
    assert skew_of_zipf(exponent, slots) == pytest.approx(expected, rel=1e-9)


def test_the_skew_of_hot_and_cold_pages_counts_the_hotter_ones_first() -> None:
    assert skew_of_hot_cold(0.1, 0.9) == pytest.approx(0.9 + 0.1 / 9)
    assert skew_of_hot_cold(0.9, 0.1) == pytest.approx(0.9 + 0.1 / 9)
    assert skew_of_hot_cold(0.4, 0.8) == pytest.approx(0.4)


def test_jobs_of_a_file_have_the_global_options() -> None:
    text = "[global]\nbs=16k\nioengine=libaio\ndirect\n[a]\nrw=randwrite\n[b]\nrw=read\nbs=4k\n"
    jobs = read_fio_jobs(text)
    assert jobs["a"] == {"bs": "16k", "ioengine": "libaio", "direct": "", "rw": "randwrite"}
    assert jobs["b"]["bs"] == "4k"


@pytest.mark.parametrize(
    ("job", "says"),
    [
        ({"rw": "randreed"}, "did you mean 'randread'"),
        ({"rw": "trim"}, "unknown fio pattern"),
        ({"bs": "big"}, "'big' is not a size"),
        ({"bs": "0"}, "above 0"),
        ({"bs": "9" * 400}, "is not a size"),
        ({"iodepth": "many"}, "iodepth is 'many'"),
        ({"rw": "randrw", "rwmixwrite": 101}, "from 0 to 100"),
        ({"bssplit": "4k/50:8k/50"}, "bssplit is not supported"),
    ],
)
def test_a_fio_option_that_cannot_be_followed_is_refused(job: dict[str, object], says: str) -> None:
    with pytest.raises(WriteampError, match=says):
        of_fio_job(job)


@pytest.mark.parametrize("text", ["", "bs=4k", "[a\nbs=4k", "[a]\n[a]\n"])
def test_a_text_that_is_no_job_file_is_refused(text: str) -> None:
    with pytest.raises(WriteampError, match="fio job file"):
        read_fio_jobs(text)


@pytest.mark.parametrize(
    ("workload", "says"), [("random:bs=4k,rate=100", "has a rate"), ("tpcc", "do not determine")]
)
def test_a_workload_without_stated_characteristics_is_refused(workload: str, says: str) -> None:
    with pytest.raises(WriteampError, match=says):
        of_workload(workload)


def test_a_set_refuses_what_is_missing_or_not_known() -> None:
    modern, frame = find_feature_set("modern"), of_workload("uniform").frame()
    with pytest.raises(WriteampError, match="working_set_bytes is unknown in row 0"):
        modern.of(frame)
    with pytest.raises(WriteampError, match="need the column fill"):
        modern.of(frame.drop("fill"))
    with pytest.raises(WriteampError, match="need the column queue_depth"):
        find_feature_set("basic").of(frame.drop("queue_depth"))
    with pytest.raises(WriteampError, match="did you mean 'basic'"):
        find_feature_set("basics")


def test_a_trace_that_cannot_be_windowed_is_refused() -> None:
    with pytest.raises(WriteampError, match="it has no reads or writes"):
        of_trace(trace_of(offset=[0], op=["trim"]))
    trace = trace_of(offset=[0], op=["write"])
    for arguments, says in (
        ({"window_s": 0}, "window_s is 0"),
        ({"latency_us": [1, 2]}, "each of the 1 requests"),
        ({"features": "modern"}, "capacity_bytes"),
        ({"features": "modern", "capacity_bytes": GIB, "fill": 2}, "fill is 2"),
    ):
        with pytest.raises(WriteampError, match=says):
            of_trace(trace, **arguments)  # type: ignore[arg-type]


def test_a_characteristic_outside_its_domain_is_refused() -> None:
    with pytest.raises(WriteampError, match=r"write_ratio is 1\.5"):
        Characteristics(1.5, 1, 1, 1, 1, 1, 0, 0)
    with pytest.raises(WriteampError, match="fill is 0"):
        DriveUse(GIB, fill=0)


def test_a_bare_sequential_workload_writes_page_after_page() -> None:
    bare, stated = of_workload("sequential"), of_workload("sequential:bs=pages")
    assert bare == stated
    assert (bare.write_size_bytes, bare.write_randomness) == (4096, 0)
